/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/check.h"
#include "core/file.h"
#include "core/fork.h"
#include "core/memory.h"
#include "path/batch.h"
#include "path/lane.h"
#include "path/slot.h"
#include "path/vendor_path.h"

#define DEFAULT_CHUNK_BYTES      ((size_t)1 << 20)
#define MAX_CHUNK_BYTES          ((size_t)64 << 20)
#define DEFAULT_CHUNKS_IN_FLIGHT 4
#define MAX_CHUNKS_IN_FLIGHT     64

static int take_options(struct pst_options *to, const struct pst_options *from,
			struct pst_error *err)
{
	if (from && !options_import(to, from, sizeof(*to)))
		return bad_struct(err, "options");
	if (!to->chunk_bytes)
		to->chunk_bytes = DEFAULT_CHUNK_BYTES;
	if (!to->chunks_in_flight)
		to->chunks_in_flight = DEFAULT_CHUNKS_IN_FLIGHT;
	if (to->chunk_bytes < SLOT_MEDIUM_BYTES || to->chunk_bytes > MAX_CHUNK_BYTES ||
	    to->chunk_bytes % SLOT_SMALL_BYTES)
		return bad_argument(err, "chunk_bytes",
				    "must be a multiple of 64 KiB from 256 KiB to 64 MiB");
	if (to->chunks_in_flight > MAX_CHUNKS_IN_FLIGHT)
		return bad_argument(err, "chunks_in_flight", "must be at most 64");
	if (to->engine > PST_ENGINE_VENDOR)
		return bad_argument(err, "engine", "is not a value of enum pst_engine");
	if (to->storage > PST_STORAGE_POSIX)
		return bad_argument(err, "storage", "is not a value of enum pst_storage");
	return 0;
}

static int open_parts(struct pst_context *ctx)
{
	if (ctx->options.vendor_library) {
		ctx->options.vendor_library = strdup(ctx->options.vendor_library);
		if (!ctx->options.vendor_library)
			return -ENOMEM;
	}
	ctx->vendor = vendor_state_new();
	return ctx->vendor ? lane_pool_new(ctx) : -ENOMEM;
}

int pst_open(struct pst_context **out, const struct pst_options *options, struct pst_error *err)
{
	struct pst_context *ctx;
	int rc;

	if (!out)
		return bad_argument(err, "out", "must not be NULL");
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, "context", "out of memory");
	rc = take_options(&ctx->options, options, err);
	if (rc < 0) {
		free(ctx);
		return rc;
	}
	pthread_mutex_init(&ctx->lock, NULL);
	devices_init(&ctx->devices);
	buffers_init(&ctx->buffers);
	counter_registry_init(&ctx->counters);
	fork_guard(ctx);
	rc = open_parts(ctx);
	if (rc < 0) {
		pst_close(ctx);
		return error_set(err, rc, PST_STAGE_OPEN, "context", "cannot open a context: %s",
				 strerror(-rc));
	}
	*out = ctx;
	return 0;
}

void pst_close(struct pst_context *ctx)
{
	bool forked;

	if (!ctx)
		return;
	forked = context_forked(ctx);
	batches_close(ctx);
	while (ctx->files)
		pst_file_close(ctx->files);
	lane_pool_free(ctx);
	vendor_state_free(ctx);
	memory_free_all(ctx, forked);
	devices_destroy(&ctx->devices, forked);
	fork_unguard(ctx);
	buffers_destroy(&ctx->buffers);
	counter_registry_destroy(&ctx->counters);
	pthread_mutex_destroy(&ctx->lock);
	free((char *)ctx->options.vendor_library);
	free(ctx);
}

int pst_stats_get(struct pst_context *ctx, struct pst_stats *stats, struct pst_error *err)
{
	struct pst_stats sum = {.size_bytes = sizeof(sum)};

	if (!ctx)
		return bad_argument(err, "ctx", "must not be NULL");
	if (!stats)
		return bad_argument(err, "stats", "must not be NULL");
	counters_sum(&ctx->counters, &sum);
	sum.size_bytes = sizeof(sum);
	return options_export(stats, &sum, sizeof(sum)) ? 0 : bad_struct(err, "stats");
}

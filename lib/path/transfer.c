/* SPDX-License-Identifier: Apache-2.0 */
#include "path/transfer.h"

#include <errno.h>

#include "core/context.h"
#include "path/pipeline.h"
#include "util/error.h"

static int no_lane(const struct pst_io *io, struct pst_error *err)
{
	return error_set(err, -ENOMEM, PST_STAGE_MEMORY, io->file->path,
			 "cannot start a request on '%s': out of memory", io->file->path);
}

static struct pipeline *pipeline_of(struct lane *lane)
{
	if (!lane->pipeline)
		lane->pipeline = pipeline_new(lane, lane->ctx->options.chunks_in_flight);
	return lane->pipeline;
}

static void drive(struct lane *lane, struct request *request)
{
	struct pipeline *p = lane->pipeline;

	lane_begin(lane);
	pipeline_add(p, request);
	while (request->state != REQUEST_DONE)
		pipeline_advance(p, true);
	pipeline_take(p);
	lane_end(lane);
}

ssize_t transfer_sync(const struct pst_io *io, struct pst_error *err)
{
	struct pst_context *ctx = io->file->ctx;
	struct request request;
	struct lane *lane;
	struct load load = {.in_flight = 1};
	bool large;
	int rc;

	if (context_forked(ctx))
		return forked_transfer(io, err);
	lane = lane_get(ctx);
	if (!lane || !pipeline_of(lane))
		return no_lane(io, err);
	/* Small requests are not cut, so they need not touch a counter that all threads share. */
	large = io->bytes > SLOT_MEDIUM_BYTES;
	if (large)
		load.threads = lane_pool_busy(ctx->lanes, 1);
	rc = request_prepare(&request, lane, io, load, err);
	if (rc == 0 && !host_transfer(lane, &request))
		drive(lane, &request);
	if (large)
		lane_pool_busy(ctx->lanes, -1);
	if (rc < 0)
		return rc;
	if (request.result < 0 && err)
		*err = request.error;
	return request.result;
}

static int explain(struct lane *lane, const struct pst_io *io, struct pst_plan *plan,
		   struct pst_error *err)
{
	struct sto_engine *engine;
	struct request request;
	int rc = request_prepare(&request, lane, io, (struct load){1, 1}, err);

	if (rc < 0)
		return rc;
	plan->storage = PST_STORAGE_POSIX;
	if (lane_engine(lane, request.want_ring, &engine, &request.choice.reasons) ==
	    &sto_uring_ops)
		plan->storage = PST_STORAGE_URING;
	plan->path = request.choice.path;
	plan->reasons = request.choice.reasons;
	plan->device = request.target.device;
	return 0;
}

int transfer_explain(const struct pst_io *io, struct pst_plan *plan, struct pst_error *err)
{
	struct pst_context *ctx = io->file->ctx;
	struct pst_plan answer = {.size_bytes = sizeof(answer)};
	struct lane *lane;
	int rc;

	if (context_forked(ctx)) {
		rc = forked_explain(io, &answer, err);
	} else {
		lane = lane_get(ctx);
		if (!lane)
			return no_lane(io, err);
		lane_begin(lane);
		rc = explain(lane, io, &answer, err);
		lane_end(lane);
	}
	if (rc == 0)
		options_export(plan, &answer, sizeof(answer));
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "path/lane.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "path/pipeline.h"
#include "util/error.h"

static void enlist(struct lane *lane)
{
	struct lane_pool *pool = lane->ctx->lanes;

	pthread_mutex_lock(&pool->lock);
	lane->next_all = pool->all;
	pool->all = lane;
	pthread_mutex_unlock(&pool->lock);
}

static void unlink_lane(struct lane_pool *pool, const struct lane *lane)
{
	for (struct lane **at = &pool->all; *at; at = &(*at)->next_all) {
		if (*at == lane) {
			*at = lane->next_all;
			break;
		}
	}
}

static void delist(struct lane *lane)
{
	struct lane_pool *pool = lane->ctx->lanes;

	pthread_mutex_lock(&pool->lock);
	unlink_lane(pool, lane);
	pthread_mutex_unlock(&pool->lock);
}

struct lane *lane_new(struct pst_context *ctx, unsigned depth)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	enum pst_reason reason;

	if (!lane)
		return NULL;
	lane->ctx = ctx;
	lane->depth = depth;
	if (sto_posix_ops.open(depth, &lane->plain, &reason) < 0) {
		free(lane);
		return NULL;
	}
	pthread_mutex_init(&lane->lock, NULL);
	pthread_mutex_init(&lane->closed_lock, NULL);
	enlist(lane);
	slot_set_init(&lane->slots, ctx->options.chunk_bytes, depth);
	counters_attach(&ctx->counters, &lane->counters);
	return lane;
}

static void close_queue(struct lane *lane, struct lane_queue *entry)
{
	if (!entry->device)
		return;
	slot_set_drop_marks(&lane->slots, entry->queue);
	entry->device->ops->queue_close(entry->queue);
	memset(entry, 0, sizeof(*entry));
}

/* In a child of fork(): what threads of the parent were in the middle of has stopped for ever,
 * and their locks may be held. Only memory of the child goes, and not the few bytes of the
 * engines, which may have been in the middle of an operation. */
static void abandon(struct lane *lane)
{
	unlink_lane(lane->ctx->lanes, lane);
	if (lane->pipeline)
		pipeline_abandon(lane->pipeline);
	slot_set_destroy(&lane->slots, true);
	counters_detach(&lane->ctx->counters, &lane->counters);
	free(lane->closed);
	free(lane);
}

void lane_free(struct lane *lane)
{
	if (context_forked(lane->ctx)) {
		abandon(lane);
		return;
	}
	assert(!lane->entered);
	delist(lane);
	if (lane->pipeline)
		pipeline_free(lane->pipeline);
	for (int i = 0; i < LANE_QUEUES; i++)
		close_queue(lane, &lane->queues[i]);
	if (lane->ring)
		sto_uring_ops.close(lane->ring);
	sto_posix_ops.close(lane->plain);
	slot_set_destroy(&lane->slots, false);
	counters_detach(&lane->ctx->counters, &lane->counters);
	pthread_mutex_destroy(&lane->closed_lock);
	pthread_mutex_destroy(&lane->lock);
	free(lane->closed);
	free(lane);
}

void lane_pool_give_back(struct lane *lane)
{
	struct lane_pool *pool = lane->ctx->lanes;

	pthread_mutex_lock(&pool->lock);
	lane->next_free = pool->free;
	pool->free = lane;
	pthread_mutex_unlock(&pool->lock);
}

int lane_pool_new(struct pst_context *ctx)
{
	struct lane_pool *pool = calloc(1, sizeof(*pool));
	int rc = pool ? lane_threads_start() : -ENOMEM;

	if (rc < 0) {
		free(pool);
		return rc;
	}
	pthread_mutex_init(&pool->lock, NULL);
	ctx->lanes = pool;
	return 0;
}

void lane_pool_free(struct pst_context *ctx)
{
	struct lane_pool *pool = ctx->lanes;

	if (!pool)
		return;
	lane_threads_forget(ctx);
	while (pool->all)
		lane_free(pool->all);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
	ctx->lanes = NULL;
}

struct lane *lane_pool_take(struct pst_context *ctx)
{
	struct lane_pool *pool = ctx->lanes;
	struct lane *lane;

	pthread_mutex_lock(&pool->lock);
	lane = pool->free;
	if (lane)
		pool->free = lane->next_free;
	pthread_mutex_unlock(&pool->lock);
	return lane ? lane : lane_new(ctx, ctx->options.chunks_in_flight);
}

static bool open_ring(struct lane *lane)
{
	if (sto_uring_ops.open(lane->depth, &lane->ring, &lane->ring_reason) == 0)
		return true;
	lane->ring = NULL;
	lane->ring_refused = true;
	context_log(lane->ctx, PST_LOG_NOTICE, "io_uring is not used: %s",
		    pst_reason_text(lane->ring_reason));
	return false;
}

const struct sto_ops *lane_engine(struct lane *lane, bool want_ring, struct sto_engine **engine,
				  uint64_t *reasons)
{
	if (want_ring && (lane->ring || (!lane->ring_refused && open_ring(lane)))) {
		*engine = lane->ring;
		return &sto_uring_ops;
	}
	if (want_ring)
		*reasons |= 1ull << lane->ring_reason;
	*engine = lane->plain;
	return &sto_posix_ops;
}

/* The place of a queue, or one that can be taken: free, or not used longest. NULL: none. */
static struct lane_queue *find_queue(struct lane *lane, struct pst_device *device, void *context)
{
	struct lane_queue *oldest = NULL;

	for (int i = 0; i < LANE_QUEUES; i++) {
		struct lane_queue *entry = &lane->queues[i];

		if (entry->device == device && entry->context == context)
			return entry;
		if (!entry->in_flight && (!oldest || entry->used < oldest->used))
			oldest = entry;
	}
	return oldest;
}

/* Opens a queue in a free place and enters it. */
static int open_queue(struct lane *lane, struct lane_queue *entry, struct pst_device *device,
		      void *context, struct pst_error *err)
{
	int rc = device->ops->queue_open(device->gpu, context, &entry->queue, err);

	if (rc < 0)
		return rc;
	entry->device = device;
	entry->context = context;
	rc = device->ops->enter(entry->queue, &lane->scope, err);
	if (rc < 0)
		close_queue(lane, entry);
	return rc;
}

int lane_enter(struct lane *lane, struct pst_device *device, void *context, struct lane_queue **out,
	       struct pst_error *err)
{
	struct lane_queue *entry = find_queue(lane, device, context);
	bool kept;
	int rc;

	*out = entry;
	if (!entry)
		return -EAGAIN;
	if (lane->entered == entry && entry->device == device && entry->context == context)
		return 0;
	lane_leave(lane);
	kept = entry->device == device && entry->context == context;
	/* A kept queue may be of a context that was destroyed, and another one made at the same
	 * address: then a new queue is the answer. */
	if (!kept || device->ops->enter(entry->queue, &lane->scope, NULL) < 0) {
		close_queue(lane, entry);
		rc = open_queue(lane, entry, device, context, err);
		if (rc < 0)
			return rc;
	}
	entry->used = ++lane->queue_clock;
	lane->entered = entry;
	return 0;
}

void lane_leave(struct lane *lane)
{
	if (!lane->entered)
		return;
	lane->entered->device->ops->leave(lane->entered->queue, &lane->scope);
	lane->entered = NULL;
}

const struct registered_buffer *lane_buffer(struct lane *lane, const void *base)
{
	struct buffer_table *table = &lane->ctx->buffers;
	uint64_t generation = atomic_load_explicit(&table->generation, memory_order_acquire);

	if (!generation)
		return NULL; /* nothing was ever registered */
	if (lane->buffer_generation == generation && lane->buffer.base == base)
		return &lane->buffer;
	if (!buffers_find(table, base, &lane->buffer))
		return NULL;
	lane->buffer_generation = generation;
	return &lane->buffer;
}

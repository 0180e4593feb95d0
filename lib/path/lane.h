/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane is what one thread needs to move bytes: storage engines, slots of pinned memory, queues
 * on devices. A thread that makes synchronous calls keeps one lane between them and gives it back
 * when it ends; a batch has one of its own. A lane is used by one thread at a time.
 */
#ifndef PST_PATH_LANE_H
#define PST_PATH_LANE_H

#include "core/buffers.h"
#include "core/context.h"
#include "core/range_lock.h"
#include "path/slot.h"
#include "storage/storage.h"

#define LANE_QUEUES 32

struct lane_queue {
	struct pst_device *device; /* NULL: free place */
	void *context;             /* driver context that the queue was opened for, NULL any */
	struct dev_queue *queue;
	uint64_t used;      /* for replacing the one that was not used longest */
	unsigned in_flight; /* copies queued and not seen done: not replaced */
};

struct lane {
	struct pst_context *ctx;
	struct lane *next_all, *next_free;
	struct lane_ticket *ticket; /* of the thread that keeps the lane: lane_thread.c */
	struct pst_batch *batch;    /* whose lane this is; NULL: a thread's */

	/* Held by the thread inside a call that may use the ring, and by one that closes a file:
	 * see lane_forget.c. */
	pthread_mutex_t lock;
	pthread_mutex_t closed_lock;
	uint64_t *closed; /* ids of descriptors to forget */
	_Atomic unsigned closed_count;
	unsigned closed_capacity;

	struct counters counters;
	struct sto_engine *plain;
	struct sto_engine *ring; /* NULL until wanted */
	bool ring_refused;
	enum pst_reason ring_reason; /* why, when refused */
	unsigned depth;              /* storage operations in flight at most */
	struct slot_set slots;
	struct lane_queue queues[LANE_QUEUES];
	uint64_t queue_clock;

	/* The device scope that is open now, if any: see dev_ops.enter. */
	struct lane_queue *entered;
	struct dev_scope scope;

	/* The registered buffer that the last request used. */
	struct registered_buffer buffer;
	uint64_t buffer_generation; /* 0: none */

	struct pipeline *pipeline;
	struct range_driver driver; /* of the holds that a batch keeps between calls */
};

struct lane_pool {
	pthread_mutex_t lock;
	struct lane *all;
	struct lane *free;     /* given back by threads that ended */
	_Atomic unsigned busy; /* threads inside a large synchronous call */
};

/* Makes ctx->lanes; frees it with every lane. In a forked child no driver is called. No batch is
 * left. */
int lane_pool_new(struct pst_context *ctx);
void lane_pool_free(struct pst_context *ctx);

/* Adds to the number of threads inside a large synchronous call and returns it. */
static inline unsigned lane_pool_busy(struct lane_pool *pool, int change)
{
	return atomic_fetch_add_explicit(&pool->busy, (unsigned)change, memory_order_relaxed) +
	       (unsigned)change;
}

/* The calling thread's lane, made by its first call. NULL: out of memory. */
struct lane *lane_get(struct pst_context *ctx);

/* Used by lane_get: a lane given back or a new one; and giving one back. */
struct lane *lane_pool_take(struct pst_context *ctx);
void lane_pool_give_back(struct lane *lane);

/* Makes threads forget their lanes of a context, before these are freed: from then on a thread
 * that ends does not touch the context. */
void lane_threads_forget(struct pst_context *ctx);
/* Makes lane_get possible. 0 or -errno. */
int lane_threads_start(void);

/* A lane of the caller's own, for `depth` storage operations in flight. NULL: out of memory. */
struct lane *lane_new(struct pst_context *ctx, unsigned depth);
void lane_free(struct lane *lane);

/* Brackets a call on the lane. */
void lane_begin(struct lane *lane);
void lane_end(struct lane *lane);

/* The same by a thread that does not own the lane: without waiting, and so that the lane may be
 * freed as soon as its lock is given up. */
bool lane_try_begin(struct lane *lane);
void lane_end_for_other(struct lane *lane);

/* Makes every ring of the context drop its reference to the file's descriptors, at once where
 * the lane is idle, else at the end of the call that it is in. */
void lane_forget_file(struct pst_context *ctx, const struct pst_file *file);

/* The engine for a transfer: the ring when wanted and had (opened now if need be), else plain
 * calls; *reasons gets why not. */
const struct sto_ops *lane_engine(struct lane *lane, bool want_ring, struct sto_engine **engine,
				  uint64_t *reasons);

/* Opens the device scope for a queue of the target's context, leaving another one first.
 * -EAGAIN: all places are taken by queues with copies in flight. */
int lane_enter(struct lane *lane, struct pst_device *device, void *context, struct lane_queue **out,
	       struct pst_error *err);
void lane_leave(struct lane *lane);

/* The entry of a registered buffer, or NULL. Valid until the lane's next call of it. */
const struct registered_buffer *lane_buffer(struct lane *lane, const void *base);

#endif

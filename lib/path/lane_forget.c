/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing a file while other threads are busy.
 *
 * A ring that has registered a descriptor keeps the file open: its space is not freed, its file
 * system cannot be unmounted. Only the thread inside a call may touch the lane's ring, and the
 * one that closes must not wait for somebody else's I/O. So it takes the lane's lock if it can,
 * and else leaves a note, which the thread inside reads at the end of its call. Both look again
 * after giving the lock up, so that no note is left unread.
 */
#include <stdlib.h>

#include "core/file.h"
#include "path/lane.h"

static void note(struct lane *lane, uint64_t id)
{
	pthread_mutex_lock(&lane->closed_lock);
	if (lane->closed_count == lane->closed_capacity) {
		unsigned capacity = lane->closed_capacity ? 2 * lane->closed_capacity : 16;
		uint64_t *ids = realloc(lane->closed, capacity * sizeof(*ids));

		if (ids) {
			lane->closed = ids;
			lane->closed_capacity = capacity;
		}
	}
	if (lane->closed_count < lane->closed_capacity)
		lane->closed[lane->closed_count++] = id;
	pthread_mutex_unlock(&lane->closed_lock);
}

/* Under lane->lock. */
static void read_notes(struct lane *lane)
{
	pthread_mutex_lock(&lane->closed_lock);
	for (unsigned i = 0; lane->ring && i < lane->closed_count; i++)
		sto_uring_ops.forget_file(lane->ring, lane->closed[i]);
	lane->closed_count = 0;
	pthread_mutex_unlock(&lane->closed_lock);
}

static void read_notes_if_idle(struct lane *lane)
{
	while (atomic_load(&lane->closed_count) && pthread_mutex_trylock(&lane->lock) == 0) {
		read_notes(lane);
		pthread_mutex_unlock(&lane->lock);
	}
}

void lane_begin(struct lane *lane)
{
	pthread_mutex_lock(&lane->lock);
}

bool lane_try_begin(struct lane *lane)
{
	return pthread_mutex_trylock(&lane->lock) == 0;
}

void lane_end_for_other(struct lane *lane)
{
	lane_leave(lane);
	/* A note left between this look and the unlock waits for the owner's next call. */
	read_notes(lane);
	pthread_mutex_unlock(&lane->lock);
}

void lane_end(struct lane *lane)
{
	lane_leave(lane);
	pthread_mutex_unlock(&lane->lock);
	read_notes_if_idle(lane);
}

void lane_forget_file(struct pst_context *ctx, const struct pst_file *file)
{
	struct lane_pool *pool = ctx->lanes;

	pthread_mutex_lock(&pool->lock);
	for (struct lane *lane = pool->all; lane; lane = lane->next_all) {
		note(lane, file->fd_id);
		note(lane, file->direct_id);
		read_notes_if_idle(lane);
	}
	pthread_mutex_unlock(&pool->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of io_uring. submit writes an entry into the ring, flush hands the entries to the
 * kernel, reap takes completions. Should the kernel stop taking entries (a sandbox that a
 * program enters after it opened the engine, memory that stays short), the calling thread does
 * the operations itself, so that nothing ever hangs.
 */
#include "storage/uring/engine.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long to sleep between looks at the ring when waiting on it is refused. */
#define LOOK_AGAIN_NS 50000

static int uring_open(unsigned depth, struct sto_engine **out, enum pst_reason *reason)
{
	assert(depth > 0 && depth <= STO_MAX_DEPTH);
	struct sto_engine *engine = calloc(1, sizeof(*engine));
	int rc = -ENOMEM;

	if (!engine)
		return rc;
	engine->depth = depth;
	engine->done_last = &engine->done_first;
	engine->pending = calloc(depth, sizeof(*engine->pending));
	if (engine->pending)
		rc = uring_setup(&engine->ring, depth, reason);
	if (rc < 0) {
		free(engine->pending);
		free(engine);
		return rc;
	}
	uring_files_open(engine);
	*out = engine;
	return 0;
}

static void uring_close(struct sto_engine *engine)
{
	if (!engine)
		return;
	assert(engine->accepted == 0);
	io_uring_queue_exit(&engine->ring);
	free(engine->pending);
	free(engine);
}

static void finish(struct sto_engine *engine, struct sto_io *io, ssize_t result)
{
	uring_files_release(engine, io->file_slot);
	io->file_slot = URING_NO_SLOT;
	io->result = result;
	io->next = NULL;
	*engine->done_last = io;
	engine->done_last = &io->next;
}

static void finish_here(struct sto_engine *engine, struct sto_io *io)
{
	finish(engine, io, sto_transfer(io->write, io->fd, io->memory, io->bytes, io->offset));
}

static void prepare(struct io_uring_sqe *entry, const struct sto_io *io)
{
	int fd = io->file_slot == URING_NO_SLOT ? io->fd : io->file_slot;
	unsigned bytes = (unsigned)io->bytes;
	uint64_t offset = (uint64_t)io->offset;

	if (io->fixed_index >= 0 && io->write)
		io_uring_prep_write_fixed(entry, fd, io->memory, bytes, offset, io->fixed_index);
	else if (io->fixed_index >= 0)
		io_uring_prep_read_fixed(entry, fd, io->memory, bytes, offset, io->fixed_index);
	else if (io->write)
		io_uring_prep_write(entry, fd, io->memory, bytes, offset);
	else
		io_uring_prep_read(entry, fd, io->memory, bytes, offset);
	if (io->file_slot != URING_NO_SLOT)
		io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
}

/* Writes an entry into the ring, or does the operation here when the ring has no place left. */
static void enqueue(struct sto_engine *engine, struct sto_io *io)
{
	struct io_uring_sqe *entry = NULL;

	if (engine->pending_count < engine->depth)
		entry = io_uring_get_sqe(&engine->ring);
	if (!entry) {
		finish_here(engine, io);
		return;
	}
	prepare(entry, io);
	io_uring_sqe_set_data(entry, io);
	engine->pending[engine->pending_count++] = (struct uring_pending){io, entry};
}

/* Does in this thread what the kernel does not take. The entries cannot be taken back out of
 * the ring, but they are still ours and can be made to do nothing. */
static void serve_pending_here(struct sto_engine *engine)
{
	for (unsigned i = 0; i < engine->pending_count; i++) {
		struct uring_pending *pending = &engine->pending[i];

		if (!pending->io)
			continue;
		io_uring_prep_nop(pending->entry);
		io_uring_sqe_set_data(pending->entry, NULL);
		finish_here(engine, pending->io);
		pending->io = NULL;
	}
	engine->refusals = 0;
}

static bool has_pending_io(const struct sto_engine *engine)
{
	for (unsigned i = 0; i < engine->pending_count; i++)
		if (engine->pending[i].io)
			return true;
	return false;
}

/* Notes that the kernel took the first `count` entries. */
static void took(struct sto_engine *engine, unsigned count)
{
	assert(count <= engine->pending_count);
	engine->pending_count -= count;
	memmove(engine->pending, engine->pending + count,
		engine->pending_count * sizeof(*engine->pending));
	engine->in_kernel += count;
	engine->refusals = 0;
}

/* Hands entries over, and waits for `wait_for` completions in the same call. 0, -EAGAIN or
 * -EBUSY: there is no room now. */
static int hand_over(struct sto_engine *engine, unsigned wait_for)
{
	while (engine->pending_count > 0) { /* ends: takes entries, or counts a refusal */
		int rc = wait_for ? io_uring_submit_and_wait(&engine->ring, wait_for)
				  : io_uring_submit(&engine->ring);

		if (rc > 0) {
			took(engine, (unsigned)rc);
			continue;
		}
		if (!has_pending_io(engine))
			return 0;
		engine->refusals++;
		bool for_now = rc == -EAGAIN || rc == -EBUSY || rc == -EINTR || rc == 0;
		if (!for_now || engine->refusals > STO_MAX_RETRIES)
			serve_pending_here(engine);
		else if (rc != -EINTR)
			return rc == 0 ? -EAGAIN : rc;
	}
	return 0;
}

/* -ECANCELED: the thread that submitted the operation has ended before it was done. */
static bool worth_a_retry(const struct sto_io *io, int result)
{
	return (result == -EINTR || result == -EAGAIN || result == -ECANCELED) &&
	       io->retries < STO_MAX_RETRIES;
}

/* Moves completions from the ring to the list of finished operations. */
static void take_completions(struct sto_engine *engine)
{
	struct io_uring_cqe *entry;

	while (io_uring_peek_cqe(&engine->ring, &entry) == 0) { /* ends: at most in_kernel */
		struct sto_io *io = io_uring_cqe_get_data(entry);
		int result = entry->res;

		io_uring_cqe_seen(&engine->ring, entry);
		assert(engine->in_kernel > 0);
		engine->in_kernel--;
		if (!io)
			continue;
		if (worth_a_retry(io, result)) {
			io->retries++;
			enqueue(engine, io);
		} else {
			finish(engine, io, result);
		}
	}
}

static int uring_submit(struct sto_engine *engine, struct sto_io *io)
{
	assert(io->bytes <= STO_MAX_BYTES && io->file_id != 0 && io->fixed_index >= -1);
	if (engine->accepted == engine->depth)
		return -EBUSY;
	engine->accepted++;
	io->retries = 0;
	io->next = NULL;
	io->file_slot = uring_files_take(engine, io->fd, io->file_id);
	enqueue(engine, io);
	return 0;
}

static int uring_flush(struct sto_engine *engine)
{
	return hand_over(engine, 0);
}

/* Blocks until something may have completed. */
static void wait_in_kernel(struct sto_engine *engine)
{
	struct io_uring_cqe *entry;
	int rc = io_uring_wait_cqe(&engine->ring, &entry);

	if (rc < 0 && rc != -EINTR) {
		/* Waiting is refused; what the kernel has taken completes all the same. */
		const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};

		nanosleep(&pause, NULL);
	}
}

static struct sto_io *uring_reap(struct sto_engine *engine, bool wait)
{
	while (!engine->done_first) { /* ends: waits for the kernel, or serves here */
		take_completions(engine);
		bool wait_now = wait && !engine->done_first;
		/* One call for both where it can be: it is what a single request waits for. */
		int rc = hand_over(engine, wait_now ? 1 : 0);
		take_completions(engine);
		if (engine->done_first || !wait || engine->accepted == 0)
			break;
		if (engine->in_kernel > 0)
			wait_in_kernel(engine);
		else if (rc < 0)
			nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NS}, NULL);
	}
	struct sto_io *io = engine->done_first;
	if (!io)
		return NULL;
	engine->done_first = io->next;
	if (!engine->done_first)
		engine->done_last = &engine->done_first;
	engine->accepted--;
	io->next = NULL;
	return io;
}

const struct sto_ops sto_uring_ops = {
	.name = "uring",
	.open = uring_open,
	.close = uring_close,
	.add_buffer = uring_buffers_add,
	.remove_buffer = uring_buffers_remove,
	.forget_file = uring_files_forget,
	.submit = uring_submit,
	.flush = uring_flush,
	.reap = uring_reap,
};

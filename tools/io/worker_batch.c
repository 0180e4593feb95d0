/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a worker's slots full of requests through one batch. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/fail.h"
#include "io/worker.h"

/* Requests handed in and events taken by one call. */
#define GROUP_MAX 64

struct batch_run {
	struct io_worker *worker;
	struct pst_batch *batch;
	struct worker_op *ops; /* by slot */
	unsigned *idle;        /* slots without a request */
	unsigned idle_count;
	struct pst_event *events;
	bool *in_flight; /* by slot */
	unsigned held;   /* slot of a write that waits for one in flight, NO_SLOT for none */
	bool ended;      /* nothing more is issued */
};

#define NO_SLOT UINT_MAX

static int open_run(struct batch_run *run, struct io_worker *worker, struct pst_error *err)
{
	unsigned slots = worker->slot_count;

	assert(slots >= 1 && slots <= PST_BATCH_MAX_CAPACITY);
	*run = (struct batch_run){.worker = worker, .idle_count = slots, .held = NO_SLOT};
	run->ops = calloc(slots, sizeof(*run->ops));
	run->idle = calloc(slots, sizeof(*run->idle));
	run->events = calloc(GROUP_MAX, sizeof(*run->events));
	run->in_flight = calloc(slots, sizeof(*run->in_flight));
	if (!run->ops || !run->idle || !run->events || !run->in_flight)
		return fail_set(err, -ENOMEM, -ENOMEM, NULL, "no memory for %u requests in flight",
				slots);
	for (unsigned i = 0; i < slots; i++)
		run->idle[i] = slots - 1 - i;
	return pst_batch_open(worker->crew->ctx, slots, &run->batch, err);
}

static void close_run(struct batch_run *run)
{
	pst_batch_close(run->batch);
	free(run->ops);
	free(run->idle);
	free(run->events);
	free(run->in_flight);
}

static void finish(struct batch_run *run, unsigned slot, ssize_t result, uint64_t end_ns,
		   uint64_t latency_ns, const struct pst_error *err)
{
	worker_account(run->worker, &run->ops[slot], result, end_ns, latency_ns, err);
	run->in_flight[slot] = false;
	run->idle[run->idle_count++] = slot;
}

/* A batch keeps no order, so two writes of one place must not be in flight together: which of them
 * lasted, or which part of each, would be chance. */
static bool must_wait(const struct batch_run *run, unsigned slot)
{
	const struct io_piece *piece = &run->ops[slot].piece;

	if (!run->worker->writes)
		return false;
	for (unsigned i = 0; i < run->worker->slot_count; i++) {
		const struct io_piece *other = &run->ops[i].piece;

		if (run->in_flight[i] && piece->offset_bytes < other->offset_bytes + other->bytes &&
		    other->offset_bytes < piece->offset_bytes + piece->bytes)
			return true;
	}
	return false;
}

/* The slot of the next request: the held one, or a new one. false: none can start now. */
static bool next_slot(struct batch_run *run, unsigned *slot)
{
	*slot = run->held;
	if (*slot == NO_SLOT) {
		if (!run->idle_count || run->ended)
			return false;
		*slot = run->idle[run->idle_count - 1];
		if (!worker_next(run->worker, *slot, &run->ops[*slot])) {
			run->ended = true;
			return false;
		}
		run->idle_count--;
	}
	run->held = must_wait(run, *slot) ? *slot : NO_SLOT;
	return run->held == NO_SLOT;
}

/* Hands in one group. false: there was nothing to hand in. */
static bool submit_group(struct batch_run *run)
{
	struct io_worker *worker = run->worker;
	struct pst_error err = {0};
	struct pst_io ios[GROUP_MAX];
	unsigned count = 0;
	unsigned slot;
	int code;

	while (count < GROUP_MAX && next_slot(run, &slot)) {
		const struct io_piece *piece = &run->ops[slot].piece;

		run->in_flight[slot] = true;
		ios[count++] = (struct pst_io){
			.op = worker->writes ? PST_OP_WRITE : PST_OP_READ,
			.file = worker->file,
			.buffer = worker->buffer,
			.bytes = piece->bytes,
			.file_offset = (off_t)piece->offset_bytes,
			.buffer_offset = (off_t)(slot * worker->slot_bytes),
			.cookie = slot,
		};
	}
	if (!count)
		return false;
	code = pst_batch_submit(run->batch, ios, count, &err);
	for (unsigned i = 0; code < 0 && i < count; i++)
		finish(run, (unsigned)ios[i].cookie, code, crew_now_ns(), 0, &err);
	return true;
}

/* Takes what has finished, at least one. false: the batch itself failed. */
static bool take_events(struct batch_run *run)
{
	struct pst_error err = {0};
	uint64_t end_ns;
	int count = pst_batch_wait(run->batch, 1, GROUP_MAX, run->events, -1, &err);

	end_ns = crew_now_ns();
	for (int i = 0; i < count; i++) {
		const struct pst_event *event = &run->events[i];

		finish(run, (unsigned)event->cookie, event->result, end_ns, event->latency_ns,
		       &event->error);
	}
	if (count >= 0)
		return true;
	/* What is in flight is lost to the account: each counts as failed. */
	for (unsigned slot = 0; slot < run->worker->slot_count; slot++) {
		if (atomic_load_explicit(&run->worker->slots[slot].start_ns, memory_order_relaxed))
			worker_account(run->worker, &run->ops[slot], count, end_ns, 0, &err);
	}
	return false;
}

void worker_run_batch(struct io_worker *worker)
{
	struct pst_error err = {0};
	struct batch_run run;

	if (open_run(&run, worker, &err) < 0) {
		struct io_failure failure = {.error = err,
					     .thread = worker->index,
					     .path = worker->path,
					     .offset_bytes = UINT64_MAX};

		crew_note_failure(worker->crew, &failure);
		atomic_store(&worker->crew->stop, CREW_STOP_ERROR);
		close_run(&run);
		return;
	}
	for (;;) {
		while (submit_group(&run))
			;
		if (run.idle_count == worker->slot_count)
			break;
		if (!take_events(&run))
			break;
	}
	close_run(&run);
}

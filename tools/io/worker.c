/* SPDX-License-Identifier: Apache-2.0 */
#include "io/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/affinity.h"
#include "common/fail.h"
#include "io/fill.h"
#include "io/interrupt.h"
#include "io/target.h"

#define PAGE_BYTES 4096

/* Host memory from which GPU memory is filled. */
#define FILL_BLOCK_BYTES ((size_t)1 << 20)

static const struct io_job *job_of(const struct io_worker *worker)
{
	return worker->crew->plan->job;
}

static int bind_to_node(const struct io_worker *worker, struct pst_error *err)
{
	int node = job_of(worker)->numa_node;
	int code;

	if (node == IO_NO_NODE)
		return 0;
	code = affinity_bind_node(node);
	if (code == -ENOENT)
		return fail_set(err, code, code, NULL,
				"there is no NUMA node %d here; 'lscpu' lists the nodes", node);
	if (code == -ENODEV)
		return fail_set(err, code, code, NULL,
				"NUMA node %d has no CPU that this process may use", node);
	if (code)
		return fail_set(err, code, code, NULL, "cannot bind a thread to NUMA node %d: %s",
				node, strerror(-code));
	return 0;
}

/* Fills the buffer once: writes get incompressible data, and no measured operation is the first
 * to touch a page of it. */
static int fill_first(struct io_worker *worker, struct pst_error *err)
{
	const struct io_job *job = job_of(worker);
	size_t bytes = worker->slot_count * worker->slot_bytes;
	uint64_t op = worker->content_ops++;

	if (!fill_on_device(job)) {
		fill_random(worker->buffer, bytes, job->seed, worker->index, op);
		return 0;
	}
	if (!worker->writes && !job->fill_random)
		return 0;
	worker->block = malloc(FILL_BLOCK_BYTES);
	if (!worker->block)
		return fail_set(err, -ENOMEM, -ENOMEM, NULL, "no memory to fill buffers from");
	return fill_random_device(worker->crew->ctx, worker->buffer, bytes, worker->block,
				  FILL_BLOCK_BYTES, job->seed, worker->index, op, err);
}

/* Has the library choose the path now: opening the vendor's library takes up to seconds, and is no
 * part of any request. */
static int choose_path(const struct io_worker *worker, struct pst_error *err)
{
	const struct io_job *job = job_of(worker);
	struct pst_plan plan = {.size_bytes = sizeof(plan)};

	return pst_explain(worker->file, io_job_writes(job) ? PST_OP_WRITE : PST_OP_READ,
			   worker->buffer, job->io_min_bytes,
			   (off_t)worker->pattern.config.start_bytes, 0, &plan, err);
}

/* Threads that share a file get a handle each. */
static void take_own_file(struct io_worker *worker)
{
	const struct io_plan *plan = worker->crew->plan;

	if (plan->file_count == plan->threads)
		return;
	worker->own_file =
		io_target_again(plan, plan->shares[worker->index].file, worker->crew->ctx);
	if (worker->own_file)
		worker->file = worker->own_file;
}

static int set_up(struct io_worker *worker, struct pst_error *err)
{
	const struct io_job *job = job_of(worker);
	struct io_crew *crew = worker->crew;
	void *memory = NULL;
	size_t bytes;
	int code = bind_to_node(worker, err);

	if (code)
		return code;
	worker->latency = pst_histogram_new();
	worker->slots = calloc(worker->slot_count, sizeof(*worker->slots));
	if (!worker->latency || !worker->slots)
		return fail_set(err, -ENOMEM, -ENOMEM, NULL, "no memory for thread %u",
				worker->index);
	worker->slot_bytes = (job->io_max_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	bytes = worker->slot_count * worker->slot_bytes;
	code = pst_memory_alloc(crew->ctx, crew->device, crew_memory_kind(job), bytes, &memory,
				err);
	if (code < 0)
		return code;
	worker->buffer = memory;
	if (!job->skip_register) {
		code = pst_buffer_register(crew->ctx, worker->buffer, bytes, err);
		if (code < 0)
			return code;
		worker->registered = true;
	}
	take_own_file(worker);
	code = choose_path(worker, err);
	return code < 0 ? code : fill_first(worker, err);
}

static void tear_down(struct io_worker *worker)
{
	struct pst_context *ctx = worker->crew->ctx;

	if (worker->registered)
		pst_buffer_unregister(ctx, worker->buffer, NULL);
	if (worker->buffer)
		pst_memory_free(ctx, worker->buffer, NULL);
	pst_file_close(worker->own_file);
	free(worker->block);
	worker->own_file = NULL;
	worker->registered = false;
	worker->buffer = NULL;
	worker->block = NULL;
}

static void note_failure(struct io_worker *worker, const struct io_piece *piece,
			 const struct pst_error *err)
{
	struct io_failure failure = {
		.error = *err,
		.thread = worker->index,
		.path = worker->path,
		.offset_bytes = piece ? piece->offset_bytes : UINT64_MAX,
		.bytes = piece ? piece->bytes : 0,
	};

	crew_note_failure(worker->crew, &failure);
}

static bool should_stop(const struct io_worker *worker)
{
	return atomic_load_explicit(&worker->crew->stop, memory_order_relaxed) != CREW_RUN ||
	       interrupt_pending();
}

/* Puts the data of a write into its slot. false: a copy to the GPU failed. */
static bool refresh_content(struct io_worker *worker, unsigned slot, const struct io_piece *piece)
{
	unsigned char *memory = worker->buffer + slot * worker->slot_bytes;
	const struct io_job *job = job_of(worker);
	struct pst_error err = {0};

	switch (fill_content(job)) {
	case IO_CONTENT_UNIQUE:
		fill_stamp(memory, piece->bytes, job->seed, worker->index, worker->content_ops++);
		return true;
	case IO_CONTENT_REFILLED:
		break;
	case IO_CONTENT_NONE:
	case IO_CONTENT_REPEATED:
		return true;
	}
	if (!fill_on_device(job)) {
		fill_random(memory, piece->bytes, job->seed, worker->index, worker->content_ops++);
		return true;
	}
	if (!fill_random_device(worker->crew->ctx, memory, piece->bytes, worker->block,
				FILL_BLOCK_BYTES, job->seed, worker->index, worker->content_ops++,
				&err))
		return true;
	note_failure(worker, piece, &err);
	atomic_store(&worker->crew->stop, CREW_STOP_ERROR);
	return false;
}

/* The ramp is over: the measured window has its own first pass. */
static void begin_window(struct io_worker *worker)
{
	struct io_pattern_config config = worker->pattern.config;
	const struct io_plan *plan = worker->crew->plan;

	worker->measuring = true;
	config.wrap = plan->timed;
	pattern_init(&worker->pattern, &config);
}

static void note_share_done(struct io_worker *worker)
{
	int expected = CREW_RUN;

	if (job_of(worker)->stop == IO_STOP_FIRST && pattern_pass_bytes(&worker->pattern))
		atomic_compare_exchange_strong(&worker->crew->stop, &expected, CREW_STOP_FIRST);
}

bool worker_next(struct io_worker *worker, unsigned slot, struct worker_op *op)
{
	struct io_slot *shown = &worker->slots[slot];
	uint64_t now;

	if (should_stop(worker))
		return false;
	if (!pattern_next(&worker->pattern, &op->piece)) {
		note_share_done(worker);
		return false;
	}
	if (worker->writes && !refresh_content(worker, slot, &op->piece))
		return false;
	now = crew_now_ns();
	if (now >= worker->crew->deadline_ns)
		return false;
	if (!worker->measuring && now >= worker->crew->window_ns) {
		begin_window(worker);
		if (!pattern_next(&worker->pattern, &op->piece))
			return false;
	}
	op->slot = slot;
	op->start_ns = now;
	op->measured = worker->measuring;
	if (op->measured) {
		if (!worker->ledger.issued_ops++)
			worker->first_ns = now;
		worker->ledger.issued_bytes += op->piece.bytes;
	}
	atomic_store_explicit(&shown->offset_bytes, op->piece.offset_bytes, memory_order_relaxed);
	atomic_store_explicit(&shown->bytes, op->piece.bytes, memory_order_relaxed);
	atomic_store_explicit(&shown->start_ns, now, memory_order_release);
	return true;
}

static void add_relaxed(_Atomic uint64_t *counter, uint64_t value)
{
	/* Only this thread writes it: no locked instruction is needed. */
	uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, now + value, memory_order_relaxed);
}

static void account_failure(struct io_worker *worker, const struct worker_op *op,
			    const struct pst_error *err)
{
	/* Failures are never hidden, those of the ramp neither. */
	if (!op->measured) {
		worker->ledger.issued_ops++;
		worker->ledger.issued_bytes += op->piece.bytes;
	}
	worker->ledger.failed_ops++;
	worker->ledger.failed_bytes += op->piece.bytes;
	note_failure(worker, &op->piece, err);
}

/* A drive that was pulled out is a device of 0 bytes: reads find its end and no error, writes find
 * no space, as those to a full thin volume do. */
static bool is_gone(const struct io_worker *worker, const struct worker_op *op, ssize_t result,
		    struct pst_error *err)
{
	struct pst_file_info info = {.size_bytes = sizeof(info)};

	if (!worker->block_device || result != (worker->writes ? -ENOSPC : 0))
		return false;
	if (worker->writes && (pst_file_info(worker->file, &info, NULL) < 0 ||
			       info.file_bytes > op->piece.offset_bytes))
		return false;
	fail_set(err, 0, -ENODEV, worker->path,
		 "'%s' has nothing at offset %" PRIu64
		 ", and had when the run began: it was removed or made smaller",
		 worker->path, op->piece.offset_bytes);
	return true;
}

void worker_account(struct io_worker *worker, const struct worker_op *op, ssize_t result,
		    uint64_t end_ns, uint64_t latency_ns, const struct pst_error *err)
{
	struct io_ledger *ledger = &worker->ledger;
	uint64_t moved = result > 0 ? (uint64_t)result : 0;
	struct pst_error gone = {0};

	atomic_store_explicit(&worker->slots[op->slot].start_ns, 0, memory_order_relaxed);
	add_relaxed(&worker->done_ops, 1);
	if (is_gone(worker, op, result, &gone)) {
		account_failure(worker, op, &gone);
		return;
	}
	if (result < 0) {
		account_failure(worker, op, err);
		return;
	}
	if (!op->measured)
		return;
	if (moved < op->piece.bytes) {
		ledger->short_ops++;
		ledger->short_bytes += op->piece.bytes - moved;
	}
	worker->last_ns = end_ns;
	/* A read that found no byte has no rate and no latency. */
	if (!moved)
		return;
	ledger->completed_ops++;
	ledger->completed_bytes += moved;
	add_relaxed(&worker->done_bytes, moved);
	pst_histogram_record(worker->latency, latency_ns);
}

static void run_one_by_one(struct io_worker *worker)
{
	struct pst_error err = {0};
	struct worker_op op;
	uint64_t end_ns;
	ssize_t result;

	while (worker_next(worker, 0, &op)) {
		off_t offset = (off_t)op.piece.offset_bytes;

		if (worker->writes)
			result = pst_write(worker->file, worker->buffer, op.piece.bytes, offset, 0,
					   &err);
		else
			result = pst_read(worker->file, worker->buffer, op.piece.bytes, offset, 0,
					  &err);
		end_ns = crew_now_ns();
		worker_account(worker, &op, result, end_ns, end_ns - op.start_ns, &err);
	}
}

void worker_main(struct io_worker *worker)
{
	struct io_crew *crew = worker->crew;
	struct pst_error err = {0};

	if (set_up(worker, &err))
		note_failure(worker, NULL, &err);
	if (crew_report_ready(crew)) {
		if (job_of(worker)->ramp_time_s <= 0)
			begin_window(worker);
		if (job_of(worker)->xfer == IO_XFER_CPU_ASYNC_GPU)
			worker_run_batch(worker);
		else
			run_one_by_one(worker);
		crew_report_finished(crew);
	}
	tear_down(worker);
}

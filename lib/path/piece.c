/* SPDX-License-Identifier: Apache-2.0 */
/* One piece of a request: from storage to the caller's memory, or back. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "path/pipeline.h"
#include "util/error.h"

static uint32_t block_of(const struct request *request)
{
	return request->choice.direct_fd ? request->file->align.offset_bytes : 1;
}

static void finish(struct pipeline *p, struct piece *piece)
{
	struct request *request = piece->request;

	if (piece->slot)
		slot_put(&p->lane->slots, piece->slot);
	if (piece->queue)
		piece->queue->in_flight--;
	piece->state = PIECE_FREE;
	piece->next = p->free;
	p->free = piece;
	request->pieces--;
}

/* Registers the slot's arena with the ring once; -1 when that is refused. */
static int fixed_index(struct pipeline *p, struct piece *piece)
{
	struct slot_arena *arena = piece->slot ? piece->slot->arena : NULL;

	if (!arena)
		return -1;
	if (arena->fixed_index == -2) {
		arena->fixed_reason = PST_REASON_COUNT;
		arena->fixed_index = sto_uring_ops.add_buffer(p->lane->ring, arena->memory,
							      arena->bytes, &arena->fixed_reason);
		if (arena->fixed_index < 0)
			arena->fixed_index = -1;
	}
	if (arena->fixed_index < 0 && arena->fixed_reason < PST_REASON_COUNT)
		piece->request->choice.reasons |= 1ull << arena->fixed_reason;
	return arena->fixed_index;
}

/* Starts or continues the storage operation of a piece. */
static void start_storage(struct pipeline *p, struct piece *piece)
{
	struct request *request = piece->request;
	const struct pst_file *file = request->file;
	struct sto_engine *engine;
	const struct sto_ops *ops =
		lane_engine(p->lane, request->want_ring, &engine, &request->choice.reasons);
	bool ring = ops == &sto_uring_ops;
	int rc;

	piece->state = PIECE_STORAGE;
	piece->io = (struct sto_io){
		.fd = request->choice.direct_fd ? file->direct_fd : file->fd,
		.file_id = request->choice.direct_fd ? file->direct_id : file->fd_id,
		.write = request->op == PST_OP_WRITE,
		.memory = piece->memory + piece->done,
		.bytes = piece->length - piece->done,
		.offset = (int64_t)(piece->offset + piece->done),
		.fixed_index = ring ? fixed_index(p, piece) : -1,
	};
	counter_add(ring ? &p->lane->counters.uring_requests : &p->lane->counters.posix_requests,
		    1);
	p->storage_in_flight++;
	p->ring_in_flight += ring;
	piece->on_ring = ring;
	rc = ops->submit(engine, &piece->io);
	if (rc < 0) {
		piece->io.result = rc;
		piece_storage_done(p, piece);
	}
}

static int set_mark(struct slot *slot, struct lane_queue *queue, struct pst_error *err)
{
	const struct dev_ops *ops = queue->device->ops;
	int rc;

	if (slot->mark_queue != queue->queue) {
		if (slot->mark)
			slot->mark_ops->mark_free(slot->mark);
		slot->mark = NULL;
		slot->mark_queue = NULL;
		rc = ops->mark_new(queue->queue, &slot->mark, err);
		if (rc < 0)
			return rc;
		slot->mark_queue = queue->queue;
		slot->mark_ops = ops;
	}
	return ops->mark_set(queue->queue, slot->mark, err);
}

static int enter(struct pipeline *p, struct piece *piece, struct pst_error *err)
{
	struct lane_queue *queue;

	return lane_enter(p->lane, piece->request->target.device, piece->request->target.context,
			  &queue, err);
}

/* Starts the copy between slot and device. */
static void start_copy(struct pipeline *p, struct piece *piece, size_t bytes)
{
	const struct dev_ops *ops = piece->queue->device->ops;
	struct dev_queue *queue = piece->queue->queue;
	struct pst_error err = {0};
	uint8_t *host = piece->memory + piece->skip;
	int rc = enter(p, piece, &err);

	if (rc == 0 && piece->request->op == PST_OP_READ)
		rc = ops->copy_in(queue, piece->caller, host, bytes, &err);
	else if (rc == 0)
		rc = ops->copy_out(queue, host, piece->caller, bytes, &err);
	if (rc == 0)
		rc = set_mark(piece->slot, piece->queue, &err);
	if (rc < 0) {
		request_fail(piece->request, &err);
		finish(p, piece);
		return;
	}
	piece->state = PIECE_COPY;
	piece->next = NULL;
	if (p->copies.last)
		p->copies.last->next = piece;
	else
		p->copies.first = piece;
	p->copies.last = piece;
}

/* Brings what was read to the caller. */
static void deliver(struct pipeline *p, struct piece *piece)
{
	size_t valid = piece->done > piece->skip ? piece->done - piece->skip : 0;

	if (valid > piece->want)
		valid = piece->want;
	if (piece->queue && valid) {
		start_copy(p, piece, valid);
		return;
	}
	if (piece->slot && valid)
		memcpy(piece->caller, piece->memory + piece->skip, valid);
	finish(p, piece);
}

static void saw_end(struct request *request, uint64_t offset)
{
	if (offset < request->end_offset)
		request->end_offset = offset;
}

static void read_done(struct pipeline *p, struct piece *piece, size_t got)
{
	bool whole = piece->done % block_of(piece->request) == 0;

	if (piece->done < piece->length && got && whole) {
		counter_add(&p->lane->counters.short_transfers, 1);
		start_storage(p, piece);
		return;
	}
	if (piece->done < piece->length)
		saw_end(piece->request, piece->offset + piece->done);
	deliver(p, piece);
}

static void write_done(struct pipeline *p, struct piece *piece, size_t put)
{
	struct request *request = piece->request;
	size_t before = piece->done - put;

	if (piece->done == piece->length) {
		finish(p, piece);
		return;
	}
	piece->done -= piece->done % block_of(request);
	if (piece->done <= before) { /* no whole block went through */
		request_fail_storage(request, -ENOSPC, piece->offset + before);
		finish(p, piece);
		return;
	}
	counter_add(&p->lane->counters.short_transfers, 1);
	start_storage(p, piece);
}

void piece_storage_done(struct pipeline *p, struct piece *piece)
{
	ssize_t result = piece->io.result;

	p->storage_in_flight--;
	p->ring_in_flight -= piece->on_ring;
	if (result < 0) {
		request_fail_storage(piece->request, (int)result, piece->offset + piece->done);
		finish(p, piece);
		return;
	}
	piece->done += (size_t)result;
	if (piece->request->op == PST_OP_READ)
		read_done(p, piece, (size_t)result);
	else
		write_done(p, piece, (size_t)result);
}

void piece_copy_done(struct pipeline *p, struct piece *piece, const struct pst_error *err)
{
	if (err->code < 0) {
		request_fail(piece->request, err);
		finish(p, piece);
	} else if (piece->request->op == PST_OP_READ) {
		finish(p, piece);
	} else {
		start_storage(p, piece);
	}
}

/* Whether storage can use the caller's own memory for whole blocks from here on. */
static bool in_place(const struct request *request, const uint8_t *caller, uint64_t offset)
{
	if (request->target.device)
		return false;
	if (!request->choice.direct_fd)
		return true;
	return (uintptr_t)caller % request->file->align.memory_bytes == 0 &&
	       offset % request->file->align.offset_bytes == 0;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Lays out the next piece in the caller's memory; false: not even one block fits. */
static bool lay_in_place(struct piece *piece, size_t left, uint32_t block)
{
	piece->length = smaller(left - left % block, STO_MAX_BYTES);
	piece->want = piece->length;
	piece->memory = piece->caller;
	return piece->length > 0;
}

/* Lays out the next piece in a slot; false: no slot now. */
static bool lay_in_slot(struct pipeline *p, struct piece *piece, size_t left, uint32_t block)
{
	struct request *request = piece->request;
	size_t whole;
	bool exhausted;

	piece->skip = piece->offset % block;
	whole = piece->skip + left;
	whole += (block - whole % block) % block;
	piece->slot = slot_get(&p->lane->slots, smaller(whole, request->piece_bytes), &exhausted);
	atomic_store_explicit(&p->lane->counters.slot_bytes, p->lane->slots.total_bytes,
			      memory_order_relaxed);
	if (!piece->slot) {
		if (exhausted)
			request_fail_storage(request, -ENOMEM, piece->offset);
		return false;
	}
	piece->length = smaller(smaller(whole, piece->slot->bytes), request->piece_bytes);
	piece->want = smaller(piece->length - piece->skip, left);
	piece->offset -= piece->skip;
	piece->memory = piece->slot->memory;
	return true;
}

/* Takes the queue of the request's device and pins the slot for it. */
static bool take_queue(struct pipeline *p, struct piece *piece)
{
	struct request *request = piece->request;
	struct pst_error err = {0};
	int rc;

	if (!request->target.device)
		return true;
	rc = lane_enter(p->lane, request->target.device, request->target.context, &piece->queue,
			&err);
	if (rc < 0) {
		piece->queue = NULL;
		if (rc != -EAGAIN)
			request_fail(request, &err);
		return false;
	}
	piece->queue->in_flight++;
	if (!slot_pin(piece->slot, request->target.device))
		request->choice.reasons |= 1ull << PST_REASON_PIN_REFUSED;
	return true;
}

static void begin(struct pipeline *p, struct piece *piece)
{
	if (piece->request->op == PST_OP_READ) {
		start_storage(p, piece);
	} else if (piece->queue) {
		start_copy(p, piece, piece->want);
	} else {
		if (piece->slot)
			memcpy(piece->memory, piece->caller, piece->want);
		start_storage(p, piece);
	}
}

bool piece_start(struct pipeline *p, struct request *request)
{
	struct piece *piece = p->free;
	size_t left = request->middle_end - request->cursor;
	uint32_t block = block_of(request);
	bool ready;

	assert(left > 0);
	if (!piece)
		return false;
	*piece = (struct piece){
		.next = piece->next,
		.request = request,
		.offset = request->offset + request->cursor,
		.caller = request->target.address + request->cursor,
	};
	ready = in_place(request, piece->caller, piece->offset) && lay_in_place(piece, left, block);
	if (!ready && !lay_in_slot(p, piece, left, block))
		return false;
	if (!take_queue(p, piece)) {
		slot_put(&p->lane->slots, piece->slot);
		return false;
	}
	p->free = piece->next;
	request->pieces++;
	request->cursor += piece->want;
	begin(p, piece);
	return true;
}

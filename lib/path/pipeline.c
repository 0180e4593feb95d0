/* SPDX-License-Identifier: Apache-2.0 */
#include "path/pipeline.h"

#include <assert.h>
#include <stdlib.h>

#include "os/clock.h"
#include "path/vendor_path.h"

/* How long to look at storage and copies in turn before sleeping on one of them. */
#define SPIN_NS 50000u

struct pipeline *pipeline_new(struct lane *lane, unsigned pieces)
{
	struct pipeline *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pieces = calloc(pieces, sizeof(*p->pieces));
	if (!p->pieces) {
		free(p);
		return NULL;
	}
	p->lane = lane;
	p->piece_count = pieces;
	for (unsigned i = 0; i < pieces; i++) {
		p->pieces[i].next = p->free;
		p->free = &p->pieces[i];
	}
	return p;
}

void pipeline_abandon(struct pipeline *p)
{
	free(p->pieces);
	free(p);
}

void pipeline_free(struct pipeline *p)
{
	assert(!p->open.first);
	pipeline_abandon(p);
}

static void append(struct request_list *list, struct request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

static struct request *pop(struct request_list *list)
{
	struct request *request = list->first;

	if (!request)
		return NULL;
	list->first = request->next;
	if (!list->first)
		list->last = NULL;
	return request;
}

struct request *pipeline_take(struct pipeline *p)
{
	return pop(&p->done);
}

static void remove_open(struct pipeline *p, struct request *request)
{
	struct request *before = NULL;

	for (struct request *at = p->open.first; at != request; at = at->next)
		before = at;
	if (before)
		before->next = request->next;
	else
		p->open.first = request->next;
	if (p->open.last == request)
		p->open.last = before;
}

static ssize_t result_of(const struct request *request)
{
	uint64_t end = request->offset + request->bytes;

	if (request_failed(request))
		return request->error.code;
	if (request->op == PST_OP_WRITE || request->end_offset >= end)
		return (ssize_t)request->bytes;
	return request->end_offset > request->offset
		       ? (ssize_t)(request->end_offset - request->offset)
		       : 0;
}

/* Counts a request and hands it out. It is in no list. */
static void complete(struct pipeline *p, struct request *request, ssize_t result)
{
	request->state = REQUEST_DONE;
	request->result = result;
	counters_request(&p->lane->counters, request->op, request->choice.path,
			 request->choice.reasons, result);
	append(&p->done, request);
}

static bool by_vendor(const struct request *request)
{
	return request->choice.path == PST_PATH_VENDOR || request->choice.path == PST_PATH_DIRECT;
}

/* The library makes driver calls in this thread: in our scope, they harm no stream capture of the
 * application and meet the right context. */
static ssize_t transfer_by_vendor(struct pipeline *p, struct request *request)
{
	struct lane_queue *queue;
	struct pst_error err = {0};
	int rc = lane_enter(p->lane, request->target.device, request->target.context, &queue, &err);

	if (rc < 0) {
		request_fail(request, &err);
		return request->error.code;
	}
	return vendor_path_transfer(request->file, request->op, request->base, request->bytes,
				    (off_t)request->offset, request->base_offset, &request->error);
}

void pipeline_add(struct pipeline *p, struct request *request)
{
	if (by_vendor(request) && request->op == PST_OP_READ) {
		complete(p, request, transfer_by_vendor(p, request));
		return;
	}
	if (by_vendor(request)) { /* as the ends of our own writes: when nothing is held */
		request->state = REQUEST_EDGES;
		append(&p->open, request);
		p->edges++;
		return;
	}
	request->state = request->op == PST_OP_WRITE ? REQUEST_WAITING : REQUEST_MOVING;
	append(&p->open, request);
}

static bool pieces_left(const struct request *request)
{
	return !request_failed(request) && request->cursor < request->middle_end &&
	       request->offset + request->cursor < request->end_offset;
}

static void give_up_hold(struct pipeline *p, struct request *request)
{
	if (!request->holding)
		return;
	range_unlock(request->file->owner, &request->hold);
	request->holding = false;
	p->holds--;
}

static bool has_edges(const struct request *request)
{
	return request->op == PST_OP_WRITE &&
	       request->middle_end - request->middle_start < request->bytes;
}

/* Moves a request on whose pieces have all ended. */
static bool settle(struct pipeline *p, struct request *request)
{
	if (request->state != REQUEST_MOVING || request->pieces || pieces_left(request))
		return false;
	give_up_hold(p, request);
	if (has_edges(request) && !request_failed(request)) {
		request->state = REQUEST_EDGES;
		p->edges++;
		return true;
	}
	remove_open(p, request);
	complete(p, request, result_of(request));
	return true;
}

/* The range that a write keeps others' read-modify-writes out of. */
static bool hold_range(struct pipeline *p, struct request *request, bool wait)
{
	uint64_t unit = request->file->lock_bytes;
	uint64_t start = request->offset - request->offset % unit;
	uint64_t end = request->offset + request->bytes + unit - 1;

	end -= end % unit;
	if (!range_share(request->file->owner, start, end, p->driver, wait, &request->hold))
		return false;
	request->holding = true;
	request->state = REQUEST_MOVING;
	p->holds++;
	return true;
}

static bool reap(struct pipeline *p, bool ring, bool wait)
{
	const struct sto_ops *ops = ring ? &sto_uring_ops : &sto_posix_ops;
	struct sto_engine *engine = ring ? p->lane->ring : p->lane->plain;
	bool any = false;
	struct sto_io *io;

	while ((io = ops->reap(engine, wait && !any))) {
		piece_storage_done(p, (struct piece *)io);
		any = true;
	}
	return any;
}

/* Starts pieces of one request. Plain transfers end at once: their copies start before the next
 * transfer does, so that both overlap. */
static bool start_pieces(struct pipeline *p, struct request *request)
{
	bool any = false;

	while (pieces_left(request) && request->pieces < request->piece_limit &&
	       piece_start(p, request)) {
		any = true;
		reap(p, false, false);
	}
	return any;
}

static bool start_requests(struct pipeline *p)
{
	struct request *next;
	bool any = false;

	for (struct request *request = p->open.first; request; request = next) {
		next = request->next;
		/* Edges wait until nothing is in flight or held: start nothing new before them, or
		 * a stream of reads would keep them waiting for ever. */
		if (request->state == REQUEST_WAITING && !p->edges)
			any |= hold_range(p, request, false);
		if (request->state == REQUEST_MOVING && (!p->edges || request->holding))
			any |= start_pieces(p, request);
		any |= settle(p, request);
	}
	return any;
}

static int enter_queue(struct pipeline *p, const struct piece *piece, struct pst_error *err)
{
	struct lane_queue *queue;

	return lane_enter(p->lane, piece->queue->device, piece->queue->context, &queue, err);
}

/* 1 when the copy has ended, well or not; 0 not yet. */
static int copy_ended(struct pipeline *p, struct piece *piece, bool wait, struct pst_error *err)
{
	const struct dev_ops *ops = piece->queue->device->ops;

	if (enter_queue(p, piece, err) < 0)
		return 1;
	if (!wait)
		return ops->mark_poll(piece->slot->mark, err) != 0;
	ops->mark_wait(piece->slot->mark, err);
	return 1;
}

/* Takes the ended copies off the list. wait: sleeps until the first has. */
static bool poll_copies(struct pipeline *p, bool wait)
{
	struct piece_list pending = p->copies;
	struct lane_queue *busy = NULL;
	struct piece *next;
	bool any = false;

	p->copies = (struct piece_list){0};
	for (struct piece *piece = pending.first; piece; piece = next) {
		struct pst_error err = {0};

		next = piece->next;
		/* Within a queue, nothing ends before what was queued earlier. */
		if (piece->queue != busy && copy_ended(p, piece, wait, &err)) {
			piece_copy_done(p, piece, &err);
			any = true;
			wait = false;
			continue;
		}
		busy = piece->queue;
		piece->next = NULL;
		if (p->copies.last)
			p->copies.last->next = piece;
		else
			p->copies.first = piece;
		p->copies.last = piece;
	}
	return any;
}

/* The library reads, changes and writes unaligned blocks too, but knows of no locks of ours. */
static ssize_t write_by_vendor(struct pipeline *p, struct request *request)
{
	struct range_owner *owner = request->file->owner;
	uint64_t unit = request->file->lock_bytes;
	uint64_t start = request->offset - request->offset % unit;
	uint64_t end = request->offset + request->bytes + unit - 1;
	bool aligned = request->offset % unit == 0 && request->bytes % unit == 0;
	struct range_hold hold;
	ssize_t result;

	range_lock(owner, start, end - end % unit, !aligned, &hold);
	result = transfer_by_vendor(p, request);
	range_unlock(owner, &hold);
	return result;
}

static bool write_edges(struct pipeline *p)
{
	struct request *next;

	if (!p->edges || p->holds || p->storage_in_flight || p->copies.first)
		return false;
	for (struct request *request = p->open.first; request; request = next) {
		next = request->next;
		if (request->state != REQUEST_EDGES)
			continue;
		p->edges--;
		remove_open(p, request);
		if (by_vendor(request)) {
			complete(p, request, write_by_vendor(p, request));
			continue;
		}
		edges_write(p, request);
		complete(p, request, result_of(request));
	}
	return true;
}

/* Takes off what storage and devices have finished. */
static bool reap_all(struct pipeline *p)
{
	bool any = false;

	if (p->ring_in_flight)
		any |= reap(p, true, false);
	if (p->copies.first)
		any |= poll_copies(p, false);
	if (p->storage_in_flight > p->ring_in_flight) /* writes that followed a copy */
		any |= reap(p, false, false);
	return any;
}

static bool advance_once(struct pipeline *p)
{
	bool any = start_requests(p);

	any |= reap_all(p);
	any |= write_edges(p);
	return any;
}

/* Sleeps until a copy or a storage operation has ended; false: none is in flight. Copies are
 * short and free slots, so they come first. */
static bool sleep_for_transfer(struct pipeline *p)
{
	if (p->copies.first && p->ring_in_flight) {
		uint64_t until_ns = os_now_ns() + SPIN_NS;

		do {
			if (reap(p, true, false) || poll_copies(p, false))
				return true;
		} while (os_now_ns() < until_ns);
	}
	if (p->copies.first)
		return poll_copies(p, true);
	return p->ring_in_flight && reap(p, true, true);
}

/* Sleeps until one thing has moved. */
static void sleep_once(struct pipeline *p)
{
	if (sleep_for_transfer(p))
		return;
	/* Only a range that somebody else holds can keep a request waiting now. */
	for (struct request *request = p->open.first; request; request = request->next) {
		if (request->state == REQUEST_WAITING) {
			hold_range(p, request, true);
			return;
		}
	}
}

void pipeline_advance(struct pipeline *p, bool wait)
{
	if (advance_once(p) || !wait || p->done.first || !p->open.first)
		return;
	sleep_once(p);
	advance_once(p);
}

static bool move_held(struct pipeline *p)
{
	struct request *next;
	bool any = false;

	for (struct request *request = p->open.first; request; request = next) {
		next = request->next;
		if (!request->holding)
			continue;
		any |= start_pieces(p, request);
		any |= settle(p, request);
	}
	return any;
}

void pipeline_end_holds(struct pipeline *p)
{
	while (p->holds) {
		bool any = move_held(p);

		any |= reap_all(p);
		if (!any)
			sleep_for_transfer(p);
	}
}

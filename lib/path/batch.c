/* SPDX-License-Identifier: Apache-2.0 */
#include "path/batch.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "os/clock.h"
#include "path/pipeline.h"

/* Pieces in flight at most; more requests than that take turns. */
#define BATCH_MAX_PIECES 256u
/* Pause between two looks when waiting with a time limit. */
#define POLL_PAUSE_NS 20000

struct pst_batch {
	struct pst_context *ctx;
	struct lane *lane;
	struct pipeline *pipeline;
	unsigned capacity;
	unsigned taken;           /* requests in flight or done and not handed out */
	unsigned done;            /* of them, done */
	struct request *requests; /* capacity of them */
	struct request *free;
	struct request *ready_first, *ready_last;
};

static struct lane *lane_of(struct range_driver *driver)
{
	return (struct lane *)((char *)driver - offsetof(struct lane, driver));
}

static bool begin_driving(struct range_driver *driver)
{
	return lane_try_begin(lane_of(driver));
}

/* In a thread that waits for a range: the batch may be its own, or one that nobody drives now. */
static void end_holds(struct range_driver *driver)
{
	struct lane *lane = lane_of(driver);

	pipeline_end_holds(lane->pipeline);
	lane_end_for_other(lane);
}

static unsigned piece_count(const struct pst_context *ctx, unsigned capacity)
{
	unsigned pieces = capacity * ctx->options.chunks_in_flight;

	return pieces < BATCH_MAX_PIECES ? pieces : BATCH_MAX_PIECES;
}

struct pst_batch *batch_new(struct pst_context *ctx, unsigned capacity)
{
	struct pst_batch *batch = calloc(1, sizeof(*batch));
	unsigned pieces = piece_count(ctx, capacity);

	if (!batch)
		return NULL;
	batch->ctx = ctx;
	batch->capacity = capacity;
	batch->requests = calloc(capacity, sizeof(*batch->requests));
	batch->lane = lane_new(ctx, pieces);
	if (batch->lane)
		batch->pipeline = batch->lane->pipeline = pipeline_new(batch->lane, pieces);
	if (batch->pipeline) {
		batch->lane->driver = (struct range_driver){begin_driving, end_holds};
		batch->pipeline->driver = &batch->lane->driver;
		batch->lane->batch = batch;
	}
	if (!batch->requests || !batch->pipeline) {
		batch_free(batch);
		return NULL;
	}
	for (unsigned i = 0; i < capacity; i++) {
		batch->requests[i].next = batch->free;
		batch->free = &batch->requests[i];
	}
	return batch;
}

static void keep_ready(struct pst_batch *batch, struct request *request)
{
	request->next = NULL;
	if (batch->ready_last)
		batch->ready_last->next = request;
	else
		batch->ready_first = request;
	batch->ready_last = request;
	batch->done++;
}

/* Moves finished requests from the pipeline to the ready list, with the time. */
static void collect(struct pst_batch *batch)
{
	struct request *request;
	uint64_t now_ns = 0;

	while ((request = pipeline_take(batch->pipeline))) {
		if (!now_ns)
			now_ns = os_now_ns();
		request->submitted_ns = now_ns - request->submitted_ns; /* now its latency */
		keep_ready(batch, request);
	}
}

static void drain(struct pst_batch *batch)
{
	lane_begin(batch->lane);
	while (batch->done < batch->taken) {
		pipeline_advance(batch->pipeline, true);
		collect(batch);
	}
	lane_end(batch->lane);
}

void batch_free(struct pst_batch *batch)
{
	if (batch->pipeline && !context_forked(batch->ctx))
		drain(batch);
	if (batch->lane)
		lane_free(batch->lane);
	free(batch->requests);
	free(batch);
}

void batches_close(struct pst_context *ctx)
{
	struct lane *next;

	for (struct lane *lane = ctx->lanes ? ctx->lanes->all : NULL; lane; lane = next) {
		next = lane->next_all;
		if (lane->batch)
			batch_free(lane->batch);
	}
}

unsigned batch_room(const struct pst_batch *batch)
{
	return batch->capacity - batch->taken;
}

struct pst_context *batch_context(const struct pst_batch *batch)
{
	return batch->ctx;
}

static void submit_one(struct pst_batch *batch, const struct pst_io *io)
{
	struct request *request = batch->free;
	struct pst_error err = {0};
	int rc;

	batch->free = request->next;
	batch->taken++;
	rc = request_prepare(request, batch->lane, io, (struct load){batch->capacity, 0}, &err);
	request->submitted_ns = os_now_ns();
	if (rc == 0 && io->bytes) {
		pipeline_add(batch->pipeline, request);
		return;
	}
	request->error = err;
	request->result = rc;
	request->submitted_ns = 0;
	keep_ready(batch, request);
}

void batch_submit(struct pst_batch *batch, const struct pst_io *ios, unsigned count)
{
	assert(count <= batch_room(batch));
	lane_begin(batch->lane);
	for (unsigned i = 0; i < count; i++)
		submit_one(batch, &ios[i]);
	pipeline_advance(batch->pipeline, false);
	collect(batch);
	lane_end(batch->lane);
}

static void hand_out(struct pst_batch *batch, struct pst_event *event)
{
	struct request *request = batch->ready_first;

	batch->ready_first = request->next;
	if (!batch->ready_first)
		batch->ready_last = NULL;
	*event = (struct pst_event){
		.cookie = request->cookie,
		.result = request->result,
		.latency_ns = request->submitted_ns,
	};
	if (request->result < 0)
		event->error = request->error;
	request->next = batch->free;
	batch->free = request;
	batch->taken--;
	batch->done--;
}

/* Drives until min_events are ready, or the time is up. */
static void drive(struct pst_batch *batch, unsigned min_events, int64_t timeout_ns)
{
	const struct timespec pause = {.tv_nsec = POLL_PAUSE_NS};
	uint64_t start_ns = timeout_ns > 0 ? os_now_ns() : 0;

	while (batch->done < min_events) {
		pipeline_advance(batch->pipeline, timeout_ns < 0);
		collect(batch);
		if (batch->done >= min_events || timeout_ns < 0)
			continue;
		if (os_now_ns() - start_ns >= (uint64_t)timeout_ns)
			break;
		nanosleep(&pause, NULL);
	}
}

unsigned batch_wait(struct pst_batch *batch, unsigned min_events, unsigned room,
		    struct pst_event *events, int64_t timeout_ns)
{
	unsigned count = 0;

	if (min_events > batch->taken)
		min_events = batch->taken;
	lane_begin(batch->lane);
	pipeline_advance(batch->pipeline, false);
	collect(batch);
	drive(batch, min_events, timeout_ns);
	lane_end(batch->lane);
	while (count < room && batch->ready_first)
		hand_out(batch, &events[count++]);
	return count;
}

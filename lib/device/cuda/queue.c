/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and copies, and the table that makes this backend one. */
#include "device/cuda/cuda.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* How long a mark is polled without pause: as long as a small copy takes, also with many threads.
 * After that the thread sleeps between looks, which costs a third less CPU time at 1 MiB and, with
 * more threads than a few, leaves the driver's lock to others: the copies get faster, too. */
#define SPIN_NS  40000
#define PAUSE_NS 20000

static void queue_close(struct dev_queue *queue)
{
	struct dev_scope scope;

	if (!queue)
		return;
	/* A context that the application destroyed took our stream with it. */
	if (cuda_enter_alive(queue->gpu, queue->context, queue->context_id, &scope, NULL) == 0) {
		queue->gpu->driver->calls.cuStreamDestroy_v2(queue->stream);
		cuda_restore(queue->gpu->driver, &scope);
	}
	free(queue);
}

static int queue_open(struct dev_gpu *gpu, void *context, struct dev_queue **out,
		      struct pst_error *err)
{
	const struct dev_driver *driver = gpu->driver;
	struct dev_queue *queue = calloc(1, sizeof(*queue));
	struct dev_scope scope;
	int status;
	int rc;

	*out = NULL;
	if (!queue)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, gpu->device->object,
				 "cannot open a queue: out of memory");
	queue->gpu = gpu;
	queue->context = context;
	rc = context ? cuda_enter_context(gpu, context, &scope, err)
		     : cuda_enter_gpu(gpu, &scope, &queue->context, err);
	if (rc < 0) {
		free(queue);
		return rc;
	}
	queue->context_id = cuda_context_id(driver, queue->context);
	status = driver->calls.cuStreamCreateWithPriority(&queue->stream, CU_STREAM_NONBLOCKING, 0);
	cuda_restore(driver, &scope);
	if (status != CU_OK) {
		free(queue);
		return cuda_error(driver, err, PST_STAGE_OPEN, status, gpu->device->object,
				  "cuStreamCreateWithPriority", "make a stream");
	}
	*out = queue;
	return 0;
}

static int enter(struct dev_queue *queue, struct dev_scope *scope, struct pst_error *err)
{
	return cuda_enter_alive(queue->gpu, queue->context, queue->context_id, scope, err);
}

static void leave(struct dev_queue *queue, struct dev_scope *scope)
{
	cuda_restore(queue->gpu->driver, scope);
}

static int copy_failed(const struct dev_queue *queue, struct pst_error *err, int status,
		       const char *call)
{
	return cuda_error(queue->gpu->driver, err, PST_STAGE_COPY, status,
			  queue->gpu->device->object, call, "copy");
}

static int copy_in(struct dev_queue *queue, void *device, const void *host, size_t bytes,
		   struct pst_error *err)
{
	int status;

	if (bytes == 0)
		return 0;
	status = queue->gpu->driver->calls.cuMemcpyHtoDAsync_v2((uintptr_t)device, host, bytes,
								queue->stream);
	return status == CU_OK ? 0 : copy_failed(queue, err, status, "cuMemcpyHtoDAsync");
}

static int copy_out(struct dev_queue *queue, void *host, const void *device, size_t bytes,
		    struct pst_error *err)
{
	int status;

	if (bytes == 0)
		return 0;
	status = queue->gpu->driver->calls.cuMemcpyDtoHAsync_v2(host, (uintptr_t)device, bytes,
								queue->stream);
	return status == CU_OK ? 0 : copy_failed(queue, err, status, "cuMemcpyDtoHAsync");
}

static int copy_within(struct dev_queue *queue, void *to, const void *from, size_t bytes,
		       struct pst_error *err)
{
	int status;

	if (bytes == 0)
		return 0;
	status = queue->gpu->driver->calls.cuMemcpyDtoDAsync_v2((uintptr_t)to, (uintptr_t)from,
								bytes, queue->stream);
	return status == CU_OK ? 0 : copy_failed(queue, err, status, "cuMemcpyDtoDAsync");
}

static int mark_new(struct dev_queue *queue, struct dev_mark **out, struct pst_error *err)
{
	struct dev_mark *mark = calloc(1, sizeof(*mark));
	int status;

	*out = NULL;
	if (!mark)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, queue->gpu->device->object,
				 "cannot make a mark: out of memory");
	mark->gpu = queue->gpu;
	mark->context = queue->context;
	mark->context_id = queue->context_id;
	/* Not CU_EVENT_BLOCKING_SYNC: with it, small copies of many threads are half as fast. */
	status = queue->gpu->driver->calls.cuEventCreate(&mark->event, CU_EVENT_NO_TIMING);
	if (status != CU_OK) {
		free(mark);
		return cuda_error(queue->gpu->driver, err, PST_STAGE_OPEN, status,
				  queue->gpu->device->object, "cuEventCreate", "make an event");
	}
	*out = mark;
	return 0;
}

static void mark_free(struct dev_mark *mark)
{
	struct dev_scope scope;

	if (!mark)
		return;
	if (cuda_enter_alive(mark->gpu, mark->context, mark->context_id, &scope, NULL) == 0) {
		mark->gpu->driver->calls.cuEventDestroy_v2(mark->event);
		cuda_restore(mark->gpu->driver, &scope);
	}
	free(mark);
}

static int mark_set(struct dev_queue *queue, struct dev_mark *mark, struct pst_error *err)
{
	int status = queue->gpu->driver->calls.cuEventRecord(mark->event, queue->stream);

	return status == CU_OK ? 0 : copy_failed(queue, err, status, "cuEventRecord");
}

static int mark_failed(const struct dev_mark *mark, struct pst_error *err, int status,
		       const char *call)
{
	return cuda_error(mark->gpu->driver, err, PST_STAGE_COPY, status, mark->gpu->device->object,
			  call, "copy");
}

static int mark_poll(struct dev_mark *mark, struct pst_error *err)
{
	int status = mark->gpu->driver->calls.cuEventQuery(mark->event);

	if (status == CU_NOT_READY)
		return 0;
	return status == CU_OK ? 1 : mark_failed(mark, err, status, "cuEventQuery");
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Sleeps between looks, as shortly as asked: the usual slack of 50 us would more than triple the
 * pause. The thread's own slack is put back. */
static int wait_with_pauses(struct dev_mark *mark, struct pst_error *err)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int slack_ns = prctl(PR_GET_TIMERSLACK);
	int rc;

	prctl(PR_SET_TIMERSLACK, 1UL);
	while ((rc = mark_poll(mark, err)) == 0)
		nanosleep(&pause, NULL);
	if (slack_ns > 0)
		prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns);
	return rc < 0 ? rc : 0;
}

static int mark_wait(struct dev_mark *mark, struct pst_error *err)
{
	int64_t end_ns = now_ns() + SPIN_NS;

	do {
		int rc = mark_poll(mark, err);

		if (rc != 0)
			return rc < 0 ? rc : 0;
	} while (now_ns() < end_ns);
	return wait_with_pauses(mark, err);
}

const struct dev_ops dev_cuda_ops = {
	.name = "cuda",
	.kind = PST_DEVICE_CUDA,
	.present = cuda_present,
	.load = cuda_load,
	.unload = cuda_unload,
	.count = cuda_count,
	.describe = cuda_describe,
	.gpu_open = cuda_gpu_open,
	.gpu_close = cuda_gpu_close,
	.lookup = cuda_lookup,
	.alloc = cuda_alloc,
	.free = cuda_free,
	.pin = cuda_pin,
	.unpin = cuda_unpin,
	.queue_open = queue_open,
	.queue_close = queue_close,
	.enter = enter,
	.leave = leave,
	.copy_in = copy_in,
	.copy_out = copy_out,
	.copy_within = copy_within,
	.mark_new = mark_new,
	.mark_free = mark_free,
	.mark_set = mark_set,
	.mark_poll = mark_poll,
	.mark_wait = mark_wait,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of the emulated GPU. Jobs are numbered in the order in which they are queued and one
 * thread does them in that order; a mark is the number of a job, reached when that many are done.
 */
#include "device/host/host.h"
#include "util/error.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Looks at a mark this often before the waiting thread goes to sleep: some microseconds. */
#define SPINS 2000

/* Wakes those whose job is done. The lock is held. */
static void wake(struct dev_gpu *gpu, uint64_t finished)
{
	struct host_waiter **link = &gpu->waiters;

	while (*link) {
		struct host_waiter *waiter = *link;

		if (waiter->target > finished) {
			link = &waiter->next;
			continue;
		}
		*link = waiter->next;
		pthread_cond_signal(&waiter->reached);
	}
}

static void *copy_thread(void *arg)
{
	struct dev_gpu *gpu = arg;
	uint64_t finished = 0;

	pthread_mutex_lock(&gpu->lock);
	for (;;) {
		struct host_job job;

		while (finished == gpu->submitted && !gpu->closing)
			pthread_cond_wait(&gpu->work, &gpu->lock);
		if (finished == gpu->submitted)
			break;
		job = gpu->jobs[finished % HOST_JOBS_MAX];
		pthread_mutex_unlock(&gpu->lock);

		/* Both sides may overlap when the caller copies within one allocation. */
		memmove(job.to, job.from, job.bytes);

		pthread_mutex_lock(&gpu->lock);
		if (gpu->submitted - finished == HOST_JOBS_MAX)
			pthread_cond_broadcast(&gpu->room);
		finished++;
		atomic_store_explicit(&gpu->finished, finished, memory_order_release);
		wake(gpu, finished);
	}
	pthread_mutex_unlock(&gpu->lock);
	return NULL;
}

static void gpu_delete(struct dev_gpu *gpu)
{
	pthread_cond_destroy(&gpu->room);
	pthread_cond_destroy(&gpu->work);
	pthread_mutex_destroy(&gpu->lock);
	free(gpu);
}

int host_gpu_open(struct dev_driver *driver, int index, struct dev_gpu **out, struct pst_error *err)
{
	struct dev_gpu *gpu;
	sigset_t all;
	sigset_t old;
	int rc;

	*out = NULL;
	if (index != 0)
		return error_set(err, PST_E_DEVICE_NOT_FOUND, PST_STAGE_OPEN, HOST_OBJECT,
				 "emulated GPU %d asked, there is one, number 0", index);
	gpu = calloc(1, sizeof(*gpu));
	if (!gpu)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, HOST_OBJECT,
				 "cannot open the emulated GPU: out of memory");
	gpu->driver = driver;
	pthread_mutex_init(&gpu->lock, NULL);
	pthread_cond_init(&gpu->work, NULL);
	pthread_cond_init(&gpu->room, NULL);

	/* The application's signal handlers belong in its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&gpu->thread, NULL, copy_thread, gpu);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0) {
		gpu_delete(gpu);
		return error_set(err, -rc, PST_STAGE_OPEN, HOST_OBJECT,
				 "cannot start the copy thread of the emulated GPU: %s",
				 strerror(rc));
	}
	*out = gpu;
	return 0;
}

void host_gpu_close(struct dev_gpu *gpu)
{
	if (!gpu)
		return;
	pthread_mutex_lock(&gpu->lock);
	gpu->closing = true;
	pthread_cond_signal(&gpu->work);
	pthread_mutex_unlock(&gpu->lock);
	pthread_join(gpu->thread, NULL);
	gpu_delete(gpu);
}

static bool is_finished(struct dev_gpu *gpu, uint64_t target)
{
	return atomic_load_explicit(&gpu->finished, memory_order_acquire) >= target;
}

/* The lock is held, and held again on return. */
static void sleep_until(struct dev_gpu *gpu, uint64_t target)
{
	struct host_waiter waiter = {.target = target, .next = gpu->waiters};

	if (is_finished(gpu, target))
		return;
	pthread_cond_init(&waiter.reached, NULL);
	gpu->waiters = &waiter;
	/* wake() unlinks the waiter once the job is done. */
	while (!is_finished(gpu, target))
		pthread_cond_wait(&waiter.reached, &gpu->lock);
	pthread_cond_destroy(&waiter.reached);
}

void host_wait_job(struct dev_gpu *gpu, uint64_t target)
{
	for (int i = 0; i < SPINS; i++)
		if (is_finished(gpu, target))
			return;
	pthread_mutex_lock(&gpu->lock);
	sleep_until(gpu, target);
	pthread_mutex_unlock(&gpu->lock);
}

void host_wait_submitted(struct dev_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	sleep_until(gpu, gpu->submitted);
	pthread_mutex_unlock(&gpu->lock);
}

int host_queue_open(struct dev_gpu *gpu, void *context, struct dev_queue **out,
		    struct pst_error *err)
{
	struct dev_queue *queue;

	(void)context; /* the emulated GPU has no driver contexts */
	*out = NULL;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, HOST_OBJECT,
				 "cannot open a queue: out of memory");
	queue->gpu = gpu;
	*out = queue;
	return 0;
}

void host_queue_close(struct dev_queue *queue)
{
	if (!queue)
		return;
	host_wait_job(queue->gpu, queue->last_job);
	free(queue);
}

static void submit(struct dev_queue *queue, void *to, const void *from, size_t bytes)
{
	struct dev_gpu *gpu = queue->gpu;

	if (bytes == 0)
		return;
	pthread_mutex_lock(&gpu->lock);
	assert(!gpu->closing);
	while (gpu->submitted - atomic_load_explicit(&gpu->finished, memory_order_relaxed) ==
	       HOST_JOBS_MAX)
		pthread_cond_wait(&gpu->room, &gpu->lock);
	gpu->jobs[gpu->submitted % HOST_JOBS_MAX] =
		(struct host_job){.to = to, .from = from, .bytes = bytes};
	gpu->submitted++;
	queue->last_job = gpu->submitted;
	pthread_cond_signal(&gpu->work);
	pthread_mutex_unlock(&gpu->lock);
}

int host_copy_in(struct dev_queue *queue, void *device, const void *host, size_t bytes,
		 struct pst_error *err)
{
	int rc = host_check_device_range(queue->gpu->driver, device, bytes, err);

	if (rc == 0)
		submit(queue, device, host, bytes);
	return rc;
}

int host_copy_out(struct dev_queue *queue, void *host, const void *device, size_t bytes,
		  struct pst_error *err)
{
	int rc = host_check_device_range(queue->gpu->driver, device, bytes, err);

	if (rc == 0)
		submit(queue, host, device, bytes);
	return rc;
}

int host_copy_within(struct dev_queue *queue, void *to, const void *from, size_t bytes,
		     struct pst_error *err)
{
	int rc = host_check_device_range(queue->gpu->driver, to, bytes, err);

	if (rc == 0)
		rc = host_check_device_range(queue->gpu->driver, from, bytes, err);
	if (rc == 0)
		submit(queue, to, from, bytes);
	return rc;
}

int host_mark_new(struct dev_queue *queue, struct dev_mark **out, struct pst_error *err)
{
	struct dev_mark *mark = calloc(1, sizeof(*mark));

	*out = mark;
	if (!mark)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, HOST_OBJECT,
				 "cannot make a mark: out of memory");
	mark->gpu = queue->gpu;
	return 0;
}

void host_mark_free(struct dev_mark *mark)
{
	free(mark);
}

int host_mark_set(struct dev_queue *queue, struct dev_mark *mark, struct pst_error *err)
{
	(void)err;
	assert(mark->gpu == queue->gpu);
	mark->target = queue->last_job;
	return 0;
}

int host_mark_poll(struct dev_mark *mark, struct pst_error *err)
{
	(void)err;
	return is_finished(mark->gpu, mark->target) ? 1 : 0;
}

int host_mark_wait(struct dev_mark *mark, struct pst_error *err)
{
	(void)err;
	host_wait_job(mark->gpu, mark->target);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/crew.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/fail.h"
#include "io/worker.h"

/* Deep enough for the library and the vendor's; the default of 8 MiB would make 4096 threads
 * claim 32 GiB of address space. */
#define STACK_BYTES ((size_t)1 << 20)

#define NS_PER_S 1000000000u

uint64_t crew_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

enum pst_memory_kind crew_memory_kind(const struct io_job *job)
{
	if (job->xfer != IO_XFER_CPU_ONLY)
		return job->memory;
	return job->memory == PST_MEMORY_MMAP ? PST_MEMORY_MMAP : PST_MEMORY_HEAP;
}

bool crew_needs_device(const struct io_job *job)
{
	enum pst_memory_kind kind = crew_memory_kind(job);

	return kind == PST_MEMORY_DEVICE || kind == PST_MEMORY_DEVICE_VMM ||
	       kind == PST_MEMORY_PINNED;
}

static int init_gate(struct io_crew *crew)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&crew->to_leader, &attr);
	pthread_cond_init(&crew->to_workers, &attr);
	pthread_condattr_destroy(&attr);
	return -pthread_mutex_init(&crew->lock, NULL);
}

static void init_worker(struct io_crew *crew, unsigned index)
{
	const struct io_plan *plan = crew->plan;
	const struct io_share *share = &plan->shares[index];
	const struct io_job *job = plan->job;
	struct io_worker *worker = &crew->workers[index];
	struct io_pattern_config config = {
		.start_bytes = share->start_bytes,
		.end_bytes = share->end_bytes,
		.min_bytes = job->io_min_bytes,
		.max_bytes = job->io_max_bytes,
		.step_bytes = job->io_step_bytes,
		.align_bytes = job->random_align_bytes,
		.random = job->type == IO_RANDREAD || job->type == IO_RANDWRITE,
		.unaligned = job->unaligned_random,
		.with_replacement = job->random_with_replacement,
		.wrap = plan->timed || job->ramp_time_s > 0,
		.seed = job->seed,
		.thread = index,
	};

	worker->crew = crew;
	worker->index = index;
	worker->file = plan->files[share->file].handle;
	worker->path = plan->files[share->file].path;
	worker->writes = io_job_writes(job);
	worker->block_device = plan->files[share->file].is_block_device;
	worker->slot_count =
		job->xfer == IO_XFER_CPU_ASYNC_GPU && job->in_flight ? job->in_flight : 1;
	pattern_init(&worker->pattern, &config);
	/* Known even if the window is never reached. */
	if (!plan->timed) {
		worker->ledger.requested_bytes = pattern_pass_bytes(&worker->pattern);
		worker->ledger.requested_ops = pattern_pass_ops(&worker->pattern);
	}
}

static void *run_worker(void *arg)
{
	worker_main(arg);
	return NULL;
}

/* Makes the threads until one cannot be made. */
static int make_threads(struct io_crew *crew, struct pst_error *err)
{
	pthread_attr_t attr;
	int code = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (unsigned i = 0; i < crew->count && !code; i++) {
		struct io_worker *worker = &crew->workers[i];

		code = pthread_create(&worker->thread, &attr, run_worker, worker);
		worker->thread_made = !code;
		if (code)
			fail_set(
				err, 0, -code, NULL,
				"cannot start thread %u of %u: %s; use fewer threads (-w) or raise "
				"'ulimit -u'",
				i + 1, crew->count, strerror(code));
	}
	pthread_attr_destroy(&attr);
	return -code;
}

static unsigned made_threads(const struct io_crew *crew)
{
	unsigned made = 0;

	for (unsigned i = 0; i < crew->count; i++)
		made += crew->workers[i].thread_made;
	return made;
}

static void wait_ready(struct io_crew *crew)
{
	unsigned made = made_threads(crew);

	pthread_mutex_lock(&crew->lock);
	while (crew->ready < made)
		pthread_cond_wait(&crew->to_leader, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}

/* Ends a start that failed. */
static void call_off(struct io_crew *crew)
{
	crew->called_off = true;
	crew_go(crew);
	crew_join(crew);
	crew_free(crew);
}

int crew_start(struct io_crew *crew, const struct io_plan *plan, struct pst_context *ctx,
	       struct pst_device *device, struct pst_error *err)
{
	int code;

	assert(plan->threads >= 1 && plan->threads <= IO_MAX_THREADS);
	*crew = (struct io_crew){.plan = plan, .ctx = ctx, .device = device};
	crew->workers =
		aligned_alloc(alignof(struct io_worker), plan->threads * sizeof(struct io_worker));
	if (!crew->workers)
		return fail_set(err, -ENOMEM, -ENOMEM, NULL, "no memory for %u threads",
				plan->threads);
	memset(crew->workers, 0, plan->threads * sizeof(struct io_worker));
	crew->count = plan->threads;
	code = init_gate(crew);
	if (code) {
		free(crew->workers);
		return fail_set(err, code, code, NULL, "cannot make a lock: %s", strerror(-code));
	}
	for (unsigned i = 0; i < crew->count; i++)
		init_worker(crew, i);
	code = make_threads(crew, err);
	wait_ready(crew);
	if (!code && crew->failure_count) {
		code = crew->failures[0].error.code;
		if (err)
			*err = crew->failures[0].error;
	}
	if (code)
		call_off(crew);
	return code;
}

void crew_go(struct io_crew *crew)
{
	const struct io_job *job = crew->plan->job;

	pthread_mutex_lock(&crew->lock);
	crew->start_ns = crew_now_ns();
	crew->window_ns = crew->start_ns + (uint64_t)(job->ramp_time_s * NS_PER_S);
	crew->deadline_ns = crew->plan->timed
				    ? crew->window_ns + (uint64_t)(job->runtime_s * NS_PER_S)
				    : UINT64_MAX;
	crew->go = true;
	pthread_cond_broadcast(&crew->to_workers);
	pthread_mutex_unlock(&crew->lock);
}

bool crew_wait(struct io_crew *crew, uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
				 .tv_nsec = (long)(until_ns % NS_PER_S)};
	bool finished;
	int code = 0;

	pthread_mutex_lock(&crew->lock);
	while (crew->finished < crew->count && !code)
		code = pthread_cond_timedwait(&crew->to_leader, &crew->lock, &until);
	finished = crew->finished == crew->count;
	pthread_mutex_unlock(&crew->lock);
	return finished;
}

void crew_join(struct io_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->release = true;
	pthread_cond_broadcast(&crew->to_workers);
	pthread_mutex_unlock(&crew->lock);
	for (unsigned i = 0; i < crew->count; i++) {
		if (crew->workers[i].thread_made)
			pthread_join(crew->workers[i].thread, NULL);
		crew->workers[i].thread_made = false;
	}
}

void crew_free(struct io_crew *crew)
{
	if (!crew->workers)
		return;
	for (unsigned i = 0; i < crew->count; i++) {
		pst_histogram_free(crew->workers[i].latency);
		free(crew->workers[i].slots);
	}
	free(crew->workers);
	crew->workers = NULL;
	pthread_cond_destroy(&crew->to_leader);
	pthread_cond_destroy(&crew->to_workers);
	pthread_mutex_destroy(&crew->lock);
}

void crew_progress(const struct io_crew *crew, uint64_t *bytes, uint64_t *ops)
{
	*bytes = 0;
	*ops = 0;
	for (unsigned i = 0; i < crew->count; i++) {
		const struct io_worker *worker = &crew->workers[i];

		*bytes += atomic_load_explicit(&worker->done_bytes, memory_order_relaxed);
		*ops += atomic_load_explicit(&worker->done_ops, memory_order_relaxed);
	}
}

void crew_note_failure(struct io_crew *crew, const struct io_failure *failure)
{
	pthread_mutex_lock(&crew->lock);
	if (crew->failure_count < IO_MAX_FAILURES)
		crew->failures[crew->failure_count++] = *failure;
	pthread_mutex_unlock(&crew->lock);
	if (!crew->plan->job->continue_on_error)
		atomic_store(&crew->stop, CREW_STOP_ERROR);
}

bool crew_report_ready(struct io_crew *crew)
{
	bool called_off;

	pthread_mutex_lock(&crew->lock);
	crew->ready++;
	pthread_cond_signal(&crew->to_leader);
	while (!crew->go)
		pthread_cond_wait(&crew->to_workers, &crew->lock);
	called_off = crew->called_off;
	pthread_mutex_unlock(&crew->lock);
	return !called_off;
}

void crew_report_finished(struct io_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->finished++;
	pthread_cond_signal(&crew->to_leader);
	while (!crew->release)
		pthread_cond_wait(&crew->to_workers, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}

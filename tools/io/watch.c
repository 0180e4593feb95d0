/* SPDX-License-Identifier: Apache-2.0 */
#include "io/watch.h"

#include <stdarg.h>
#include <time.h>

#define NS_PER_S 1000000000u

/* How often the watchdog looks, as a part of its limit. */
#define LOOKS_PER_LIMIT 10

struct waiting {
	const struct io_worker *worker;
	uint64_t start_ns, offset_bytes, bytes;
};

/* The operation that has waited longest. */
static struct waiting oldest_wait(const struct io_crew *crew)
{
	struct waiting oldest = {.start_ns = UINT64_MAX};

	for (unsigned i = 0; i < crew->count; i++) {
		const struct io_worker *worker = &crew->workers[i];

		for (unsigned slot = 0; slot < worker->slot_count; slot++) {
			const struct io_slot *at = &worker->slots[slot];
			uint64_t start = atomic_load_explicit(&at->start_ns, memory_order_acquire);

			if (!start || start >= oldest.start_ns)
				continue;
			oldest.worker = worker;
			oldest.start_ns = start;
			oldest.offset_bytes =
				atomic_load_explicit(&at->offset_bytes, memory_order_relaxed);
			oldest.bytes = atomic_load_explicit(&at->bytes, memory_order_relaxed);
		}
	}
	return oldest;
}

static void speak(const struct io_watch *watch, double still_s)
{
	struct waiting wait = {0};

	if (watch->crew)
		wait = oldest_wait(watch->crew);
	if (wait.worker)
		fprintf(watch->out,
			"%s: no progress for %.0f s: worker %u waits for the %s of %ju bytes at "
			"offset %ju of '%s'\n",
			watch->program, still_s, wait.worker->index,
			wait.worker->writes ? "write" : "read", (uintmax_t)wait.bytes,
			(uintmax_t)wait.offset_bytes, wait.worker->path);
	else
		fprintf(watch->out, "%s: no progress for %.0f s: %s\n", watch->program, still_s,
			watch->phase);
	fflush(watch->out);
}

static uint64_t progress_of(const struct io_watch *watch)
{
	uint64_t bytes = 0;
	uint64_t ops = 0;

	if (watch->crew)
		crew_progress(watch->crew, &bytes, &ops);
	return watch->phases + ops;
}

static void *watch_main(void *arg)
{
	struct io_watch *watch = arg;
	uint64_t limit_ns = (uint64_t)(watch->limit_s * NS_PER_S);
	uint64_t moved_ns = crew_now_ns();
	uint64_t before = 0;
	bool spoken = false;

	pthread_mutex_lock(&watch->lock);
	while (!watch->quit) {
		uint64_t now = crew_now_ns();
		uint64_t progress = progress_of(watch);
		uint64_t until = now + limit_ns / LOOKS_PER_LIMIT;
		struct timespec at = {.tv_sec = (time_t)(until / NS_PER_S),
				      .tv_nsec = (long)(until % NS_PER_S)};

		if (progress != before) {
			before = progress;
			moved_ns = now;
			spoken = false;
		} else if (!spoken && now - moved_ns >= limit_ns) {
			speak(watch, (double)(now - moved_ns) / NS_PER_S);
			spoken = true;
		}
		pthread_cond_timedwait(&watch->changed, &watch->lock, &at);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

void watch_start(struct io_watch *watch, const char *program, double limit_s, FILE *out)
{
	pthread_condattr_t attr;

	*watch = (struct io_watch){.program = program, .limit_s = limit_s, .out = out};
	snprintf(watch->phase, sizeof(watch->phase), "starting");
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->changed, &attr);
	pthread_condattr_destroy(&attr);
	watch->running = !pthread_create(&watch->thread, NULL, watch_main, watch);
}

void watch_stop(struct io_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	watch->quit = true;
	pthread_cond_signal(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	if (watch->running)
		pthread_join(watch->thread, NULL);
	watch->running = false;
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
}

void watch_phase(struct io_watch *watch, const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&watch->lock);
	va_start(args, format);
	vsnprintf(watch->phase, sizeof(watch->phase), format, args);
	va_end(args);
	watch->phases++;
	pthread_mutex_unlock(&watch->lock);
}

void watch_crew(struct io_watch *watch, const struct io_crew *crew)
{
	pthread_mutex_lock(&watch->lock);
	watch->crew = crew;
	watch->phases++;
	pthread_mutex_unlock(&watch->lock);
}

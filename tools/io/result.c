/* SPDX-License-Identifier: Apache-2.0 */
#include "io/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fail.h"
#include "io/interrupt.h"

#define GIB 1073741824.0

int result_init(struct io_result *result, unsigned threads)
{
	*result = (struct io_result){.threads = threads, .mean_latency_us = NAN};
	result->latency = pst_histogram_new();
	result->per_thread = calloc(threads, sizeof(*result->per_thread));
	if (result->latency && result->per_thread)
		return 0;
	result_free(result);
	return -ENOMEM;
}

void result_free(struct io_result *result)
{
	pst_histogram_free(result->latency);
	free(result->per_thread);
	result->latency = NULL;
	result->per_thread = NULL;
}

static void add_ledger(struct io_ledger *into, const struct io_ledger *from)
{
	into->requested_ops += from->requested_ops;
	into->requested_bytes += from->requested_bytes;
	into->issued_ops += from->issued_ops;
	into->issued_bytes += from->issued_bytes;
	into->completed_ops += from->completed_ops;
	into->completed_bytes += from->completed_bytes;
	into->short_ops += from->short_ops;
	into->short_bytes += from->short_bytes;
	into->failed_ops += from->failed_ops;
	into->failed_bytes += from->failed_bytes;
}

static double seconds_since(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

void result_merge(struct io_result *result, const struct io_crew *crew)
{
	uint64_t now_ns = crew_now_ns();
	uint64_t first = UINT64_MAX;
	uint64_t last = 0;

	for (unsigned i = 0; i < crew->count; i++) {
		const struct io_worker *worker = &crew->workers[i];
		struct io_thread_result *thread = &result->per_thread[i];

		add_ledger(&result->ledger, &worker->ledger);
		if (!worker->last_ns)
			continue;
		pst_histogram_merge(result->latency, worker->latency);
		thread->bytes = worker->ledger.completed_bytes;
		thread->ops = worker->ledger.completed_ops;
		thread->first_s = seconds_since(crew->window_ns, worker->first_ns);
		thread->last_s = seconds_since(crew->window_ns, worker->last_ns);
		first = worker->first_ns < first ? worker->first_ns : first;
		last = worker->last_ns > last ? worker->last_ns : last;
	}
	result->elapsed_s = last ? seconds_since(first, last) : 0;
	result->mean_latency_us = pst_histogram_mean(result->latency) / 1e3;
	/* An interrupt may end a run within the ramp. */
	result->ramp_s =
		seconds_since(crew->start_ns, now_ns < crew->window_ns ? now_ns : crew->window_ns);
	result->failure_count = crew->failure_count;
	memcpy(result->failures, crew->failures, sizeof(result->failures));
	result->stopped_by_error = atomic_load(&crew->stop) == CREW_STOP_ERROR;
	result->interrupted = interrupt_pending();
}

uint64_t result_empty_bytes(const struct io_source *source)
{
	if (source->hole_bytes == UINT64_MAX)
		return UINT64_MAX;
	return source->hole_bytes +
	       (source->unwritten_bytes == UINT64_MAX ? 0 : source->unwritten_bytes);
}

bool result_all_hole(const struct io_source *source)
{
	uint64_t empty = result_empty_bytes(source);

	return source->range_bytes && empty != UINT64_MAX && empty >= source->range_bytes;
}

/* Whether the page cache alone tells that it gave more than 10 % of the bytes: more was read than
 * the range had outside it, and it still had the range afterwards. */
static bool cache_gave(const struct io_source *source, double expected_bytes)
{
	double range = (double)source->range_bytes;

	if (source->direct || !source->range_bytes || source->resident_before_bytes == UINT64_MAX ||
	    source->resident_after_bytes == UINT64_MAX)
		return false;
	return (double)source->resident_after_bytes >= RESULT_DEVICE_SHARE * range &&
	       range - (double)source->resident_before_bytes < RESULT_DEVICE_SHARE * expected_bytes;
}

/* The part of a read range without data, rounded down, so that 100 means all. */
static unsigned judge_holes(const struct io_result *result, const struct io_job *job)
{
	const struct io_source *source = &result->source;
	uint64_t empty = result_empty_bytes(source);
	unsigned percent;

	if (io_job_writes(job) || empty == UINT64_MAX || !source->range_bytes)
		return 0;
	percent = result_all_hole(source)
			  ? 100
			  : (unsigned)((double)empty / (double)source->range_bytes * 100);
	return percent < RESULT_HOLE_PERCENT ? 0 : percent;
}

/* O_DIRECT on a range with holes: threads that have the holes are fast and move more than their
 * part, so the device's bytes tell nothing. Pages left in the cache would. */
static bool direct_with_holes(const struct io_source *source)
{
	return source->direct && result_empty_bytes(source) != UINT64_MAX &&
	       result_empty_bytes(source) && source->resident_after_bytes != UINT64_MAX &&
	       (double)source->resident_after_bytes <
		       (1 - RESULT_DEVICE_SHARE) * (double)source->range_bytes;
}

/* Holes are read from no drive either, but they are shown as what they are. */
static bool judge_from_cache(const struct io_result *result, const struct io_job *job)
{
	const struct io_source *source = &result->source;
	double expected = (double)result->ledger.completed_bytes;
	uint64_t empty = result_empty_bytes(source);

	if (io_job_writes(job) || !result->ledger.completed_bytes || source->memory_backed ||
	    direct_with_holes(source))
		return false;
	if (empty != UINT64_MAX && source->range_bytes)
		expected *= 1 - fmin(1, (double)empty / (double)source->range_bytes);
	/* The device's counters have other programs' reads in them, which can hide a cache. */
	if (expected > 0 && cache_gave(source, expected))
		return true;
	if (source->device_read_bytes == UINT64_MAX)
		return !source->direct && source->range_bytes &&
		       source->resident_before_bytes != UINT64_MAX &&
		       (double)source->resident_before_bytes >
			       (1 - RESULT_DEVICE_SHARE) * (double)source->range_bytes;
	return (double)source->device_read_bytes < RESULT_DEVICE_SHARE * expected;
}

uint64_t result_path_bytes(const struct io_result *result, enum pst_path path)
{
	return result->stats.read[path].bytes + result->stats.write[path].bytes;
}

void result_judge(struct io_result *result, const struct io_job *job)
{
	uint64_t cached = result_path_bytes(result, PST_PATH_CACHED) +
			  result_path_bytes(result, PST_PATH_HOST_CACHED);

	result->too_short = result->elapsed_s < RESULT_MIN_SECONDS ||
			    (result->elapsed_s < RESULT_LONG_SECONDS &&
			     result->ledger.completed_ops < RESULT_MIN_OPS);
	result->from_cache = judge_from_cache(result, job);
	result->hole_percent = judge_holes(result, job);
	result->passes = result->source.range_bytes ? (double)result->ledger.completed_bytes /
							      (double)result->source.range_bytes
						    : NAN;
	result->direct_unmet =
		job->require_direct && (!result->source.direct || result->source.memory_backed ||
					cached || result->reasons >> PST_REASON_PAST_END & 1);
}

bool result_incomplete(const struct io_result *result, const struct io_plan *plan)
{
	const struct io_ledger *ledger = &result->ledger;

	if (ledger->failed_ops || ledger->short_ops || result->failure_count ||
	    ledger->issued_ops != ledger->completed_ops)
		return true;
	/* A timed run has no number to reach; the vendor's way of stopping leaves some undone. */
	if (plan->timed || plan->job->stop == IO_STOP_FIRST)
		return false;
	return ledger->completed_bytes != ledger->requested_bytes;
}

int result_exit(const struct io_result *result, const struct io_plan *plan)
{
	if (result->interrupted)
		return TOOL_EXIT_INTERRUPTED;
	if (result_incomplete(result, plan) || result->direct_unmet)
		return TOOL_EXIT_FAILED;
	return TOOL_EXIT_DONE;
}

double result_gib_per_s(const struct io_result *result)
{
	if (!(result->elapsed_s > 0))
		return NAN;
	return (double)result->ledger.completed_bytes / GIB / result->elapsed_s;
}

double result_ops_per_s(const struct io_result *result)
{
	if (!(result->elapsed_s > 0))
		return NAN;
	return (double)result->ledger.completed_ops / result->elapsed_s;
}

double result_latency_us(const struct io_result *result, double percent)
{
	if (!pst_histogram_count(result->latency))
		return NAN;
	if (!(percent > 0))
		return (double)pst_histogram_min(result->latency) / 1e3;
	return (double)pst_histogram_percentile(result->latency, percent) / 1e3;
}

bool result_extremes(const struct io_result *result, unsigned *slowest, unsigned *fastest,
		     double *slowest_gib_per_s, double *fastest_gib_per_s)
{
	unsigned found = 0;

	for (unsigned i = 0; i < result->threads; i++) {
		const struct io_thread_result *thread = &result->per_thread[i];
		double seconds = thread->last_s - thread->first_s;
		double rate = (double)thread->bytes / GIB / seconds;

		if (!thread->bytes || !(seconds > 0))
			continue;
		if (!found || rate < *slowest_gib_per_s) {
			*slowest = i;
			*slowest_gib_per_s = rate;
		}
		if (!found || rate > *fastest_gib_per_s) {
			*fastest = i;
			*fastest_gib_per_s = rate;
		}
		found++;
	}
	return found >= 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/run.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "common/fail.h"
#include "common/progress.h"
#include "io/interrupt.h"
#include "io/result.h"
#include "io/source.h"
#include "io/target.h"

/* How often the leader looks at progress and signals. */
#define TICK_NS 200000000u

/* What is read at both ends of the measured window. */
struct snapshot {
	struct rusage usage;
	struct pst_stats stats;
	bool has_stats;
	struct source_devices devices;
};

static double seconds_from(uint64_t start_ns)
{
	return (double)(crew_now_ns() - start_ns) / 1e9;
}

static double timeval_s(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void take_snapshot(struct snapshot *snapshot, struct pst_context *ctx)
{
	source_read_devices(&snapshot->devices);
	snapshot->stats = (struct pst_stats){.size_bytes = sizeof(snapshot->stats)};
	snapshot->has_stats = pst_stats_get(ctx, &snapshot->stats, NULL) >= 0;
	getrusage(RUSAGE_SELF, &snapshot->usage);
}

static void subtract_path(struct pst_path_counters *from, const struct pst_path_counters *what)
{
	from->requests -= what->requests;
	from->bytes -= what->bytes;
	from->errors -= what->errors;
}

/* Counters are differences over the window; memory held is what it is at its end. */
static void stats_delta(struct io_result *result, const struct pst_stats *before,
			const struct pst_stats *after)
{
	struct pst_stats *delta = &result->stats;

	*delta = *after;
	for (unsigned i = 0; i < PST_PATH_COUNT; i++) {
		subtract_path(&delta->read[i], &before->read[i]);
		subtract_path(&delta->write[i], &before->write[i]);
	}
	for (unsigned i = 0; i < PST_REASON_COUNT; i++) {
		delta->reasons[i] -= before->reasons[i];
		if (delta->reasons[i])
			result->reasons |= (uint64_t)1 << i;
	}
	delta->uring_requests -= before->uring_requests;
	delta->posix_requests -= before->posix_requests;
	delta->short_transfers -= before->short_transfers;
}

static void enter_window(struct io_result *result, const struct snapshot *before,
			 const struct snapshot *after)
{
	result->user_cpu_s = timeval_s(&after->usage.ru_utime) - timeval_s(&before->usage.ru_utime);
	result->system_cpu_s =
		timeval_s(&after->usage.ru_stime) - timeval_s(&before->usage.ru_stime);
	result->peak_resident_bytes = (uint64_t)after->usage.ru_maxrss * 1024;
	result->has_stats = before->has_stats && after->has_stats;
	if (result->has_stats)
		stats_delta(result, &before->stats, &after->stats);
	source_device_delta(&result->source, &before->devices, &after->devices);
}

/* Lets the workers run; returns when all have finished their I/O. */
static void measure(struct io_crew *crew, struct pst_context *ctx, struct snapshot *before,
		    struct snapshot *after)
{
	const struct io_plan *plan = crew->plan;
	const struct io_job *job = plan->job;
	struct progress progress;
	uint64_t bytes, ops;
	bool finished = false;

	progress_begin(&progress, io_job_writes(job) ? "write" : "read",
		       plan->timed ? 0 : plan->requested_bytes, plan->timed ? job->runtime_s : 0);
	take_snapshot(before, ctx);
	crew_go(crew);
	if (job->ramp_time_s > 0) {
		while (!finished && crew_now_ns() < crew->window_ns && !interrupt_pending()) {
			uint64_t tick = crew_now_ns() + TICK_NS;

			finished = crew_wait(crew, tick < crew->window_ns ? tick : crew->window_ns);
		}
		take_snapshot(before, ctx);
	}
	while (!finished) {
		finished = crew_wait(crew, crew_now_ns() + TICK_NS);
		crew_progress(crew, &bytes, &ops);
		progress_update(&progress, bytes, seconds_from(crew->window_ns));
	}
	take_snapshot(after, ctx);
	progress_end(&progress);
}

static int exit_of_start(int code)
{
	switch (code) {
	case -ENOENT: /* no such NUMA node */
	case -ENODEV:
	case PST_E_INVALID_VALUE:
	case PST_E_MEMORY_TYPE:
		return TOOL_EXIT_USAGE;
	default:
		return TOOL_EXIT_ENVIRONMENT;
	}
}

/* Evicts and looks at the files, each timed. */
static int look_before(struct io_plan *plan, struct io_watch *watch, struct io_result *result,
		       struct pst_error *err)
{
	uint64_t start_ns = crew_now_ns();

	if (plan->job->cold) {
		watch_phase(watch, "dropping the files from the page cache");
		if (source_evict(plan, err) < 0)
			return TOOL_EXIT_FAILED;
		result->evict_s = seconds_from(start_ns);
	}
	start_ns = crew_now_ns();
	watch_phase(watch, "looking at holes, zeros and cached pages of the files");
	source_before(&result->source, plan);
	result->source_s = seconds_from(start_ns);
	return 0;
}

static int run_opened(struct io_session *session, struct io_plan *plan, struct io_watch *watch,
		      struct io_result *result, struct pst_error *err)
{
	uint64_t start_ns;
	struct snapshot before = {0};
	struct snapshot after = {0};
	struct io_crew crew;
	int code = look_before(plan, watch, result, err);

	if (code)
		return code;
	start_ns = crew_now_ns();
	watch_phase(watch, "starting %u threads", plan->threads);
	code = crew_start(&crew, plan, session->ctx, session->device, err);
	if (code)
		return exit_of_start(code);
	result->setup_s += seconds_from(start_ns);
	source_find_devices(&before.devices, plan);
	after.devices = before.devices;
	watch_crew(watch, &crew);
	measure(&crew, session->ctx, &before, &after);
	watch_crew(watch, NULL);
	result_merge(result, &crew);
	enter_window(result, &before, &after);
	start_ns = crew_now_ns();
	watch_phase(watch, "looking at the page cache after the run");
	source_after(&result->source, plan);
	result->source_s += seconds_from(start_ns);
	start_ns = crew_now_ns();
	watch_phase(watch, "freeing buffers");
	crew_join(&crew);
	crew_free(&crew);
	result->teardown_s = seconds_from(start_ns);
	return 0;
}

int run_once(struct io_session *session, struct io_plan *plan, struct io_watch *watch,
	     struct io_result *result, struct pst_error *err)
{
	uint64_t start_ns = crew_now_ns();
	struct pst_error why = {0};
	int code;

	if (result_init(result, plan->threads) < 0)
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -ENOMEM, NULL,
				"no memory for the results of %u threads", plan->threads);
	result->cold = plan->job->cold;
	if (session->device) {
		result->device = session->info;
		result->has_device = true;
	}
	watch_phase(watch, "opening %u file%s, the first is '%s'", plan->file_count,
		    plan->file_count == 1 ? "" : "s", plan->files[0].path);
	code = io_targets_open(plan, session->ctx, &why);
	/* A demand on the measurement that is not met is its failure, not the machine's. */
	if (code && plan->job->require_direct && why.code == PST_E_IO_NOT_SUPPORTED)
		code = TOOL_EXIT_FAILED;
	if (code)
		*err = why;
	if (!code) {
		result->setup_s = session->open_s + seconds_from(start_ns);
		code = run_opened(session, plan, watch, result, err);
		start_ns = crew_now_ns();
		watch_phase(watch, "closing the files");
		if (code)
			io_targets_abandon(plan);
		else
			io_targets_close(plan);
		result->teardown_s += seconds_from(start_ns);
	}
	if (code)
		result_free(result);
	else
		result_judge(result, plan->job);
	return code;
}

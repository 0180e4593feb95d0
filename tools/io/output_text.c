/* SPDX-License-Identifier: Apache-2.0 */
#include "io/output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/units.h"
#include "io/output_path.h"
#include "io/result.h"

#define GIB 1073741824.0

/* A number with decimals and its unit, or "n/a". */
static void print_number(FILE *out, const char *before, double value, int decimals,
			 const char *unit)
{
	if (isfinite(value))
		fprintf(out, "%s%.*f%s", before, decimals, value, unit);
	else
		fprintf(out, "%sn/a", before);
}

static void print_latency(FILE *out, const struct io_plan *plan, const struct io_result *result)
{
	static const struct {
		const char *name;
		double percent;
	} points[] = {{"min", 0},      {"p50", 50},       {"p90", 90}, {"p99", 99},
		      {"p99.9", 99.9}, {"p99.99", 99.99}, {"max", 100}};
	const char *interval = plan->job->xfer == IO_XFER_CPU_ASYNC_GPU
				       ? "from submit to seen complete"
				       : "from call to return";

	fprintf(out, "Latency:");
	if (!pst_histogram_count(result->latency)) {
		fprintf(out, " n/a\n");
		return;
	}
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		fprintf(out, " %s %.1f", points[i].name,
			result_latency_us(result, points[i].percent));
	fprintf(out, " us (%s, first operation included)\n", interval);
}

static void print_cpu(FILE *out, const struct io_result *result)
{
	double gib = (double)result->ledger.completed_bytes / GIB;
	double used = result->user_cpu_s + result->system_cpu_s;

	fprintf(out, "CPU:");
	print_number(out, " user ", gib > 0 ? result->user_cpu_s / gib : NAN, 3, " s/GiB");
	print_number(out, ", system ", gib > 0 ? result->system_cpu_s / gib : NAN, 3, " s/GiB");
	print_number(out, ", ", result->elapsed_s > 0 ? used / result->elapsed_s * 100 : NAN, 0,
		     " % of one core");
	fprintf(out, ", peak resident memory %s\n", units_size(result->peak_resident_bytes).text);
}

/* What keeps a rate from being that of a drive with data. */
static void print_marks(FILE *out, const struct io_result *result)
{
	if (result->from_cache)
		fprintf(out, "; from cache");
	if (result->source.memory_backed)
		fprintf(out, "; memory-backed (%s)", result->source.fs_type);
	if (result->hole_percent)
		fprintf(out, "; %u %% hole: zeros made by the kernel", result->hole_percent);
}

static void print_rate(FILE *out, const struct io_result *result)
{
	uint64_t bytes = result->ledger.completed_bytes;

	fprintf(out, "Rate:");
	print_number(out, " ", units_gib_per_s(bytes, result->elapsed_s), 3, " GiB/s");
	print_number(out, " = ", units_gib_per_s(bytes, result->elapsed_s) * GIB / 1e9, 3, " GB/s");
	print_number(out, " = ", units_mib_per_s(bytes, result->elapsed_s), 1, " MiB/s");
	print_number(out, ", ", result_ops_per_s(result), 0, " IOPS");
	if (result->too_short)
		fprintf(out, "; too short (%s, %" PRIu64 " operations): a hint only",
			units_duration(result->elapsed_s).text, result->ledger.completed_ops);
	if (isfinite(result->passes) && result->passes > 1)
		fprintf(out, "; %.1f passes over the data", result->passes);
	print_marks(out, result);
	fprintf(out, "\n");
}

/* Every size of the run in bytes, whatever unit it was given in. */
static void print_sizes(FILE *out, const struct io_plan *plan, const struct io_result *result)
{
	const struct io_job *job = plan->job;

	fprintf(out, "Sizes: %" PRIu64 " of %" PRIu64 " bytes, offset %" PRIu64 " bytes, I/O size ",
		result->ledger.completed_bytes, plan->requested_bytes, job->offset_bytes);
	if (job->io_min_bytes == job->io_max_bytes)
		fprintf(out, "%" PRIu64 " bytes\n", job->io_min_bytes);
	else
		fprintf(out, "%" PRIu64 " to %" PRIu64 " bytes by %" PRIu64 "\n", job->io_min_bytes,
			job->io_max_bytes, job->io_step_bytes);
}

static void print_threads(FILE *out, const struct io_plan *plan, const struct io_result *result)
{
	unsigned slowest, fastest;
	double slow, fast;

	if (plan->job->per_job) {
		for (unsigned i = 0; i < result->threads; i++) {
			const struct io_thread_result *thread = &result->per_thread[i];
			double seconds = thread->last_s - thread->first_s;

			fprintf(out, "Thread %u: %" PRIu64 " ops, %s, from %.6f to %.6f s", i,
				thread->ops, units_size(thread->bytes).text, thread->first_s,
				thread->last_s);
			print_number(out, ", ", units_gib_per_s(thread->bytes, seconds), 3,
				     " GiB/s");
			fprintf(out, "\n");
		}
	}
	if (!result_extremes(result, &slowest, &fastest, &slow, &fast))
		return;
	fprintf(out,
		"Threads: slowest %u with %.3f GiB/s, fastest %u with %.3f GiB/s, ratio %.2f\n",
		slowest, slow, fastest, fast, slow / fast);
}

static void print_phases(FILE *out, const struct io_result *result)
{
	fprintf(out, "Phases: set-up %.3f s", result->setup_s);
	if (result->cold)
		fprintf(out, ", evict %.3f s", result->evict_s);
	fprintf(out, ", looking at files %.3f s", result->source_s);
	if (result->ramp_s > 0)
		fprintf(out, ", ramp %.3f s", result->ramp_s);
	fprintf(out, ", measured %.3f s, tear-down %.3f s\n", result->elapsed_s,
		result->teardown_s);
}

static void print_failures(FILE *out, const struct io_result *result)
{
	for (unsigned i = 0; i < result->failure_count; i++) {
		const struct io_failure *failure = &result->failures[i];

		fprintf(out, "  failed: thread %u, '%s'", failure->thread, failure->path);
		if (failure->offset_bytes != UINT64_MAX)
			fprintf(out, ", %" PRIu64 " bytes at offset %" PRIu64, failure->bytes,
				failure->offset_bytes);
		fprintf(out, ": %s (%s)\n", failure->error.message,
			pst_code_name(failure->error.code));
	}
	if (result->ledger.failed_ops > result->failure_count && result->failure_count)
		fprintf(out, "  failed: the first %u of %" PRIu64 " are shown\n",
			result->failure_count, result->ledger.failed_ops);
}

static void print_ledger(FILE *out, const struct io_plan *plan, const struct io_result *result)
{
	const struct io_ledger *ledger = &result->ledger;

	if (!result_incomplete(result, plan) && !result->interrupted)
		return;
	fprintf(out, "Ledger: requested ");
	if (!plan->timed && ledger->requested_ops)
		fprintf(out, "%" PRIu64 " ops, ", ledger->requested_ops);
	if (plan->timed)
		fprintf(out, "%g s of work", plan->job->runtime_s);
	else
		fprintf(out, "%" PRIu64 " bytes", ledger->requested_bytes);
	fprintf(out,
		"; issued %" PRIu64 " ops, %" PRIu64 " bytes; completed %" PRIu64 " ops, %" PRIu64
		" bytes; short %" PRIu64 " ops, %" PRIu64 " bytes missing; failed %" PRIu64
		" ops, %" PRIu64 " bytes",
		ledger->issued_ops, ledger->issued_bytes, ledger->completed_ops,
		ledger->completed_bytes, ledger->short_ops, ledger->short_bytes, ledger->failed_ops,
		ledger->failed_bytes);
	if (result->interrupted)
		fprintf(out, "; interrupted");
	if (result->stopped_by_error)
		fprintf(out, "; stopped by the first failure");
	fprintf(out, "\n");
	if (ledger->short_ops)
		fprintf(out,
			"  short: a file ended before the range did: it was cut during the run\n");
	print_failures(out, result);
}

static void print_extra(FILE *out, const struct io_plan *plan, const struct io_result *result,
			enum output_detail detail)
{
	bool brief = detail != OUTPUT_FULL;

	/* A run that an error ended has no headline rate. */
	if (!brief && !result->stopped_by_error)
		print_rate(out, result);
	if (!brief)
		print_sizes(out, plan, result);
	output_path(out, plan, result, detail == OUTPUT_BRIEF_AGAIN);
	if (!brief) {
		print_latency(out, plan, result);
		print_cpu(out, result);
	}
	output_source(out, plan, result);
	if (!brief || plan->job->per_job)
		print_threads(out, plan, result);
	if (!brief)
		print_phases(out, result);
}

static void print_direct_unmet(FILE *out, const struct io_job *job, const struct io_result *result)
{
	uint64_t cached = result_path_bytes(result, PST_PATH_CACHED) +
			  result_path_bytes(result, PST_PATH_HOST_CACHED);

	/* The part past the last whole block is not counted apart from its request. */
	fprintf(out, "Direct: --require-direct is not met: %s of the bytes %s\n",
		cached ? units_size(cached).text : "some",
		io_job_writes(job) ? "went through the page cache" : "came through the page cache");
}

void output_text(FILE *out, const struct io_plan *plan, const struct io_result *result,
		 enum output_detail detail)
{
	const struct io_job *job = plan->job;

	if (!job->classic) {
		print_extra(out, plan, result, detail);
	} else if (result->has_device && result->device.emulated) {
		fprintf(out, "emulated: the device is no GPU, its copies are the CPU's\n");
	}
	if (result->direct_unmet)
		print_direct_unmet(out, job, result);
	print_ledger(out, plan, result);
}

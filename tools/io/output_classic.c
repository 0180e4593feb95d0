/* SPDX-License-Identifier: Apache-2.0 */
/* The line that scripts have parsed for years. Every blank and every comma is part of it. */
#include "io/output.h"

#include <inttypes.h>

#define KIB 1024
#define GIB 1073741824.0

const char *output_io_type(const struct io_job *job)
{
	static const char *const names[] = {"READ", "WRITE", "RANDREAD", "RANDWRITE"};

	if (job->unaligned_random && job->type == IO_READ)
		return names[IO_RANDREAD];
	if (job->unaligned_random && job->type == IO_WRITE)
		return names[IO_RANDWRITE];
	return names[job->type];
}

const char *output_xfer_type(const struct io_job *job)
{
	static const char *const names[] = {"GPUD", "CPUONLY", "CPU_GPU", "CPU_ASYNC_GPU",
					    "CPU_CACHED_GPU"};

	return names[job->xfer];
}

const char *output_engine(enum pst_engine engine)
{
	static const char *const names[] = {"auto", "native", "vendor"};

	return names[engine];
}

static void print_io_size(FILE *out, const struct io_job *job)
{
	if (job->io_min_bytes == job->io_max_bytes) {
		fprintf(out, "IOSize: %" PRIu64 "(KiB)", job->io_max_bytes / KIB);
		return;
	}
	fprintf(out, "IOSize: %" PRIu64 "-%" PRIu64 "-%" PRIu64 "(KiB)", job->io_min_bytes / KIB,
		job->io_max_bytes / KIB, job->io_step_bytes / KIB);
}

void output_classic(FILE *out, const struct io_plan *plan, const struct io_result *result)
{
	const struct io_job *job = plan->job;
	const struct io_ledger *ledger = &result->ledger;
	bool any = ledger->completed_ops && result->elapsed_s > 0;
	double rate = any ? (double)ledger->completed_bytes / GIB / result->elapsed_s : 0;

	fprintf(out,
		"IoType: %s XferType: %s Threads: %u DataSetSize: %" PRIu64 "/%" PRIu64 "(KiB) ",
		output_io_type(job), output_xfer_type(job), result->threads,
		ledger->completed_bytes / KIB, plan->requested_bytes / KIB);
	print_io_size(out, job);
	fprintf(out,
		" Throughput: %f GiB/sec, Avg_Latency: %f usecs ops: %" PRIu64
		" total_time %f secs\n",
		rate, any ? result->mean_latency_us : 0, ledger->completed_ops, result->elapsed_s);
}

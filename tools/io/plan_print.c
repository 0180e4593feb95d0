/* SPDX-License-Identifier: Apache-2.0 */
#include "io/plan.h"

#include "common/units.h"
#include "io/limits.h"

#include <errno.h>
#include <inttypes.h>

/* Files and shares beyond this are summed up. */
#define MAX_LINES 16

static const char *const type_names[] = {"read", "write", "randread", "randwrite"};
static const char *const xfer_names[] = {"gpu-direct", "cpu-only", "cpu-gpu", "cpu-async-gpu",
					 "cpu-cached-gpu"};
static const char *const memory_names[] = {"device", "device (vmm)", "pinned", "heap", "mmap"};
static const char *const stop_names[] = {"all threads do all of their share",
					 "when the first thread is done"};

static bool is_write(const struct io_job *job)
{
	return job->type == IO_WRITE || job->type == IO_RANDWRITE;
}

static const char *fate(const struct io_job *job, const struct io_file_plan *f)
{
	if (!is_write(job))
		return "read only";
	if (f->create)
		return "would be made";
	if (f->is_block_device)
		return "block device, would be overwritten";
	return f->ours ? "made by this tool, would be overwritten"
		       : "would be overwritten (--overwrite)";
}

static void print_files(const struct io_plan *plan, FILE *out)
{
	for (unsigned i = 0; i < plan->file_count && i < MAX_LINES; i++) {
		const struct io_file_plan *f = &plan->files[i];

		fprintf(out, "  file %u: %s: %s", i, f->path, fate(plan->job, f));
		if (!f->create)
			fprintf(out, ", %" PRIu64 " bytes now", f->file_bytes);
		fprintf(out, ", range %" PRIu64 " to %" PRIu64 " (%" PRIu64 " bytes)%s\n",
			f->start_bytes, f->end_bytes, f->end_bytes - f->start_bytes,
			f->clipped ? ", cut at the end of the file" : "");
	}
	if (plan->file_count > MAX_LINES)
		fprintf(out, "  ... %u more files\n", plan->file_count - MAX_LINES);
}

static uint64_t share_bytes(const struct io_share *share)
{
	return share->end_bytes - share->start_bytes;
}

/* Threads with equal shares on one line: "threads 0-63: 6291456 bytes each". */
static void print_shares(const struct io_plan *plan, FILE *out)
{
	unsigned lines = 0;

	for (unsigned t = 0, next; t < plan->threads; t = next) {
		for (next = t + 1; next < plan->threads; next++)
			if (share_bytes(&plan->shares[next]) != share_bytes(&plan->shares[t]))
				break;
		if (lines++ == MAX_LINES) {
			fprintf(out, "  ... threads %u-%u\n", t, plan->threads - 1);
			return;
		}
		if (next - t == 1)
			fprintf(out, "  thread %u: file %u, %" PRIu64 " to %" PRIu64, t,
				plan->shares[t].file, plan->shares[t].start_bytes,
				plan->shares[t].end_bytes);
		else if (plan->job->directory)
			fprintf(out, "  threads %u-%u: one file each", t, next - 1);
		else
			fprintf(out, "  threads %u-%u: from %" PRIu64 " on", t, next - 1,
				plan->shares[t].start_bytes);
		fprintf(out, ", %" PRIu64 " bytes%s%s\n", share_bytes(&plan->shares[t]),
			next - t == 1 ? "" : " each",
			share_bytes(&plan->shares[t]) ? "" : ": nothing to do");
	}
}

static void print_io_size(const struct io_job *job, FILE *out)
{
	if (job->io_min_bytes == job->io_max_bytes)
		fprintf(out, "I/O size: %s\n", units_size_both(job->io_max_bytes).text);
	else
		fprintf(out,
			"I/O size: %" PRIu64 " to %" PRIu64 " bytes in steps of %" PRIu64
			" bytes\n",
			job->io_min_bytes, job->io_max_bytes, job->io_step_bytes);
}

static void print_placement(const struct io_plan *plan, FILE *out)
{
	const struct io_job *job = plan->job;

	if (job->xfer == IO_XFER_CPU_ONLY)
		fprintf(out, "Device: none, host memory");
	else
		fprintf(out, "Device: %s (not opened now), memory %s",
			job->device ? job->device : "0", memory_names[job->memory]);
	if (job->numa_node != IO_NO_NODE)
		fprintf(out, ", NUMA node %d", job->numa_node);
	fprintf(out, "\nBuffers: %s, %u in flight for each thread\n",
		units_size_both(plan->memory_bytes).text, io_job_depth(job));
}

int io_plan_print(const struct io_plan *plan, FILE *out)
{
	const struct io_job *job = plan->job;

	fprintf(out, "Plan: %s, -x %d (%s), %u thread%s\n", type_names[job->type], (int)job->xfer,
		xfer_names[job->xfer], plan->threads, plan->threads == 1 ? "" : "s");
	fprintf(out, "Data: %s in all, offset %" PRIu64 " bytes\n",
		units_size_both(plan->requested_bytes).text, job->offset_bytes);
	print_io_size(job, out);
	print_placement(plan, out);
	if (plan->timed)
		fprintf(out, "Time: %s%s\n", units_duration(job->runtime_s).text,
			job->size_bytes ? "; time wins, the range is repeated"
					: "; the range is repeated");
	else
		fprintf(out, "End: %s\n", stop_names[job->stop]);
	print_files(plan, out);
	print_shares(plan, out);
	fprintf(out, "Nothing was opened for writing, made or changed.\n");
	return fflush(out) || ferror(out) ? -EIO : 0;
}

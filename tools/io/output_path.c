/* SPDX-License-Identifier: Apache-2.0 */
/* The Path and Device lines: which way the bytes went, and why no better one. */
#include "io/output_path.h"

#include <inttypes.h>

#include "common/units.h"
#include "io/fill.h"
#include "io/output.h"
#include "io/result.h"

const char *output_reason_text(const struct io_job *job, enum pst_reason reason)
{
	if (reason == PST_REASON_CALLER_CHOICE && job->xfer == IO_XFER_CPU_CACHED_GPU)
		return "-x 4 asks for the page cache";
	if (reason == PST_REASON_CALLER_CHOICE && job->cached)
		return "-O 1 (--direct=0) asks for the page cache";
	if (reason == PST_REASON_HOST_MEMORY && job->xfer == IO_XFER_CPU_ONLY)
		return "-x 1 asks for host memory: no GPU takes part";
	if (reason == PST_REASON_HOST_MEMORY)
		return "-m asks for host memory: no GPU takes part";
	if (reason == PST_REASON_EMULATED_DEVICE)
		return "-d host asks for the emulated device: only a GPU has DMA";
	return pst_reason_text(reason);
}

unsigned output_reasons(const struct io_result *result, enum pst_reason reasons[PST_REASON_COUNT])
{
	const uint64_t *requests = result->stats.reasons;
	unsigned count = 0;

	/* What touched more requests goes first. Ties keep the order of the enum, in which what was
	 * asked for comes before what the machine lacks, and that before what a request lacked. */
	for (unsigned i = 0; i < PST_REASON_COUNT; i++) {
		unsigned at = count;

		if (!(result->reasons >> i & 1))
			continue;
		while (at > 0 && requests[reasons[at - 1]] < requests[i]) {
			reasons[at] = reasons[at - 1];
			at--;
		}
		reasons[at] = (enum pst_reason)i;
		count++;
	}
	return count;
}

struct output_way output_way(const struct io_result *result)
{
	struct output_way way = {.known = result->has_stats, .reasons = result->reasons};

	way.uring = result->stats.uring_requests > 0;
	way.posix = result->stats.posix_requests > 0;
	for (unsigned i = 1; i < PST_PATH_COUNT; i++)
		if (result_path_bytes(result, (enum pst_path)i))
			way.paths |= (uint64_t)1 << i;
	return way;
}

bool output_same_way(const struct output_way *a, const struct output_way *b)
{
	return a->known && b->known && a->uring == b->uring && a->posix == b->posix &&
	       a->paths == b->paths && a->reasons == b->reasons;
}

/* The bytes of each path that was taken, one a line, best first. */
static void print_paths(FILE *out, const struct io_result *result)
{
	const char *before = "Path: ";
	bool any = false;

	for (unsigned i = 1; i < PST_PATH_COUNT; i++) {
		uint64_t bytes = result_path_bytes(result, (enum pst_path)i);

		if (!bytes)
			continue;
		fprintf(out, "%s%s (%s) %s", before, pst_path_name((enum pst_path)i),
			pst_path_text((enum pst_path)i), units_size(bytes).text);
		before = "\n  and: ";
		any = true;
	}
	if (!any)
		fprintf(out, "Path: %s", result->has_stats ? "none" : "n/a");
}

static void print_reasons(FILE *out, const struct io_job *job, const struct io_result *result)
{
	enum pst_reason reasons[PST_REASON_COUNT];
	unsigned count = output_reasons(result, reasons);

	for (unsigned i = 0; i < count; i++)
		fprintf(out, "  because: %s (%s, %" PRIu64 " request%s)\n",
			output_reason_text(job, reasons[i]), pst_reason_name(reasons[i]),
			result->stats.reasons[reasons[i]],
			result->stats.reasons[reasons[i]] == 1 ? "" : "s");
}

static void print_device(FILE *out, const struct io_result *result)
{
	const struct pst_device_info *device = &result->device;

	if (!result->has_device) {
		fprintf(out, "no GPU");
		return;
	}
	if (device->emulated)
		fprintf(out, "emulated device '%s'", device->name);
	else
		fprintf(out, "GPU %d = %s", device->index, device->name);
	if (device->bus_id[0])
		fprintf(out, " (%s)", device->bus_id);
	if (device->uuid[0])
		fprintf(out, " %s", device->uuid);
}

static void print_storage(FILE *out, const struct io_result *result)
{
	uint64_t uring = result->stats.uring_requests;
	uint64_t posix = result->stats.posix_requests;

	if (uring && posix)
		fprintf(out, "io_uring %" PRIu64 ", posix %" PRIu64 " requests", uring, posix);
	else if (uring || posix)
		fprintf(out, "%s", uring ? "io_uring" : "posix");
	else
		fprintf(out, "n/a");
}

void output_path(FILE *out, const struct io_plan *plan, const struct io_result *result, bool again)
{
	const struct io_job *job = plan->job;

	print_paths(out, result);
	if (fill_content_name(fill_content(job)))
		fprintf(out, "; data incompressible, %s", fill_content_name(fill_content(job)));
	if (again) {
		fprintf(out, "; because and device as above\n");
		return;
	}
	fprintf(out, "\n");
	print_reasons(out, job, result);
	fprintf(out, "Device: ");
	print_device(out, result);
	/* The engine serves GPU memory alone. */
	if (result->has_device)
		fprintf(out, "; engine %s", output_engine(job->engine));
	fprintf(out, "; storage ");
	print_storage(out, result);
	fprintf(out, "\n");
}

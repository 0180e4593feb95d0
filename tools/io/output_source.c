/* SPDX-License-Identifier: Apache-2.0 */
/* The Source line: what the bytes came from or went to. */
#include "io/output.h"

#include <inttypes.h>
#include <math.h>

#include "common/units.h"
#include "io/result.h"

/* "37 %" of a whole, "n/a" when either is not known. */
static struct units_text share(uint64_t part, uint64_t whole)
{
	struct units_text text;
	double percent;

	if (part == UINT64_MAX || whole == UINT64_MAX || !whole) {
		snprintf(text.text, sizeof(text.text), "n/a");
		return text;
	}
	percent = fmin(100, (double)part / (double)whole * 100);
	/* Neither end is claimed by rounding. */
	if (percent > 99.9 && part < whole)
		percent = 99.9;
	if (percent > 0 && percent < 0.1)
		percent = 0.1;
	snprintf(text.text, sizeof(text.text), "%.*f %%", percent == 0 || percent == 100 ? 0 : 1,
		 percent);
	return text;
}

static void print_kind(FILE *out, const struct io_source *source)
{
	fprintf(out, "%s", source->fs_type[0] ? source->fs_type : "file system n/a");
	if (source->block_name[0])
		fprintf(out, " on %s", source->block_name);
	if (source->memory_backed)
		fprintf(out, ", memory-backed (%s): no drive below", source->fs_type);
	if (source->network_backed)
		fprintf(out, ", over the network");
	fprintf(out, ", %s", source->direct ? "O_DIRECT" : "through the page cache");
}

static void print_emptiness(FILE *out, const struct io_source *source)
{
	uint64_t empty = result_empty_bytes(source);

	fprintf(out, "; hole %s, unwritten %s, all-zero %s of samples",
		share(source->hole_bytes, source->range_bytes).text,
		share(source->unwritten_bytes, source->range_bytes).text,
		share(source->zero_bytes, source->sampled_bytes).text);
	if (result_all_hole(source))
		fprintf(out, ": no data was read");
	else if (empty != UINT64_MAX && empty)
		fprintf(out, "; holes are read from no drive");
}

static void print_bytes(FILE *out, const char *before, uint64_t bytes)
{
	fprintf(out, "%s%s", before, bytes == UINT64_MAX ? "n/a" : units_size(bytes).text);
}

void output_source(FILE *out, const struct io_plan *plan, const struct io_result *result)
{
	const struct io_source *source = &result->source;
	bool read = !io_job_writes(plan->job);

	fprintf(out, "Source: ");
	print_kind(out, source);
	fprintf(out, "; in page cache %s before, %s after",
		share(source->resident_before_bytes, source->range_bytes).text,
		share(source->resident_after_bytes, source->range_bytes).text);
	if (read)
		print_emptiness(out, source);
	print_bytes(out, read ? "; the drive read " : "; the drive wrote ",
		    read ? source->device_read_bytes : source->device_written_bytes);
	print_bytes(out, ", the run moved ", result->ledger.completed_bytes);
	if (result->from_cache)
		fprintf(out, "; from cache");
	fprintf(out, "\n");
	if (result->cold && source->resident_before_bytes == UINT64_MAX)
		fprintf(out, "  cold or not is unknown: the cached pages of a file that belongs to "
			     "another user cannot be seen\n");
	else if (result->cold && source->resident_before_bytes)
		fprintf(out, "  not cold: the kernel kept pages\n");
	if (source->clipped)
		fprintf(out, "  range cut at the end of the file: %s\n",
			units_size_both(source->range_bytes).text);
}

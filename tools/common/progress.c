/* SPDX-License-Identifier: Apache-2.0 */
#include "common/progress.h"

#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_S 0.2

void progress_begin(struct progress *progress, const char *what, uint64_t total_bytes,
		    double total_s)
{
	*progress = (struct progress){.shown = isatty(STDERR_FILENO) == 1,
				      .what = what,
				      .total_bytes = total_bytes,
				      .total_s = total_s,
				      .last_s = -INTERVAL_S};
}

struct progress_line progress_text(const struct progress *progress, uint64_t done_bytes,
				   double elapsed_s)
{
	struct progress_line line;
	double share = NAN, left_s = NAN;
	size_t used;

	if (progress->total_s > 0) {
		share = elapsed_s / progress->total_s;
		left_s = progress->total_s - elapsed_s;
	} else if (progress->total_bytes) {
		share = (double)done_bytes / (double)progress->total_bytes;
		if (share > 0)
			left_s = elapsed_s / share - elapsed_s;
	}
	snprintf(line.text, sizeof(line.text), "%s: %s", progress->what,
		 units_size(done_bytes).text);
	used = strlen(line.text);
	if (share >= 0) {
		snprintf(line.text + used, sizeof(line.text) - used, ", %.0f %%",
			 share < 1 ? floor(share * 100) : 100);
		used = strlen(line.text);
	}
	snprintf(line.text + used, sizeof(line.text) - used, ", %s",
		 units_rate(done_bytes, elapsed_s).text);
	used = strlen(line.text);
	if (!isnan(left_s))
		snprintf(line.text + used, sizeof(line.text) - used, ", %s left",
			 units_duration(left_s < 0 ? 0 : left_s).text);
	return line;
}

void progress_update(struct progress *progress, uint64_t done_bytes, double elapsed_s)
{
	struct progress_line line;
	unsigned width;

	if (!progress->shown || elapsed_s - progress->last_s < INTERVAL_S)
		return;
	line = progress_text(progress, done_bytes, elapsed_s);
	width = (unsigned)strlen(line.text);
	fprintf(stderr, "\r%s%*s", line.text,
		progress->width > width ? (int)(progress->width - width) : 0, "");
	fflush(stderr);
	progress->width = width;
	progress->last_s = elapsed_s;
}

void progress_end(struct progress *progress)
{
	if (progress->shown && progress->width)
		fprintf(stderr, "\r%*s\r", (int)progress->width, "");
	progress->width = 0;
	progress->shown = false;
}

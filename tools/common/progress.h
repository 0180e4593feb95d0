/* SPDX-License-Identifier: Apache-2.0 */
/* One line of progress on stderr, only when that is a terminal. One thread uses it. */
#ifndef PENSTOCK_TOOLS_PROGRESS_H
#define PENSTOCK_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;           /* stderr is a terminal, or forced */
	const char *what;     /* "read", "write": begins the line */
	uint64_t total_bytes; /* 0: not known, then total_s counts */
	double total_s;       /* of a timed run, 0: none */
	double last_s;        /* when the line was written last */
	unsigned width;       /* columns of the line on the screen */
};

/* Nothing is written yet. what must outlive the progress. */
void progress_begin(struct progress *progress, const char *what, uint64_t total_bytes,
		    double total_s);

/* Rewrites the line, at most five times a second: percent, rate, time left. */
void progress_update(struct progress *progress, uint64_t done_bytes, double elapsed_s);

/* Takes the line from the screen. */
void progress_end(struct progress *progress);

/* The line for a state, without control characters; for progress_update and its tests. */
struct progress_line {
	char text[160];
};
struct progress_line progress_text(const struct progress *progress, uint64_t done_bytes,
				   double elapsed_s);

#endif

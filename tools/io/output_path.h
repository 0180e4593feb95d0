/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PENSTOCK_IO_OUTPUT_PATH_H
#define PENSTOCK_IO_OUTPUT_PATH_H

#include <stdio.h>

#include "io/job.h"

/* What a reason means for one who gave options: names the option that asked for it, where one
 * did; else the library's sentence. A constant text. */
const char *output_reason_text(const struct io_job *job, enum pst_reason reason);

/* The reasons of a run, each once, the one of most requests first. Returns their number. */
unsigned output_reasons(const struct io_result *result, enum pst_reason reasons[PST_REASON_COUNT]);

/* Which way a run went, without its numbers. */
struct output_way {
	bool known;
	bool uring, posix;
	uint64_t paths; /* set of enum pst_path */
	uint64_t reasons;
};
struct output_way output_way(const struct io_result *result);

/* Whether both are known and the same. */
bool output_same_way(const struct output_way *a, const struct output_way *b);

/* The Path line, a line for each reason, the Device line. again: the Path line alone, since the
 * others stand above and are the same. */
void output_path(FILE *out, const struct io_plan *plan, const struct io_result *result, bool again);

#endif

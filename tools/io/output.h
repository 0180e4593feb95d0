/* SPDX-License-Identifier: Apache-2.0 */
/* Printing results. What each number means is written in docs/METRICS.md. */
#ifndef PENSTOCK_IO_OUTPUT_H
#define PENSTOCK_IO_OUTPUT_H

#include <stdio.h>

#include "io/job.h"

/* Names as the classic line has them: "RANDREAD", "GPUD". */
const char *output_io_type(const struct io_job *job);
const char *output_xfer_type(const struct io_job *job);
const char *output_engine(enum pst_engine engine);

/* The line of gdsio 1.11, byte for byte, with its newline. */
void output_classic(FILE *out, const struct io_plan *plan, const struct io_result *result);

/* The lines below it: Path, Latency, CPU, Source, Rate, Ledger, and threads with -J. --classic
 * leaves only Ledger and the word that a device is emulated. Brief: one of many runs, whose
 * numbers a table shows: Path, Source and Ledger. */
enum output_detail {
	OUTPUT_FULL = 0,
	OUTPUT_BRIEF,
	OUTPUT_BRIEF_AGAIN, /* ... and the run went the same way as the one above it */
};
void output_text(FILE *out, const struct io_plan *plan, const struct io_result *result,
		 enum output_detail detail);

/* The Source line alone, in output_source.c. */
void output_source(FILE *out, const struct io_plan *plan, const struct io_result *result);

#endif

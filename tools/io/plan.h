/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a job to a plan: which files, which range of each, which thread does what. Making a plan
 * looks at files, limits and free space; it opens nothing for writing and creates nothing.
 *
 * Errors of plan and targets: a function returns 0, or the exit status that the command should
 * end with, and then *err says why (code, object, one sentence):
 *
 *	1  the measurement itself fails: a write that the kernel refused at set-up
 *	2  what was asked is wrong: no such file, wrong type, offset beyond the end, nothing to
 *	   read, an existing file without --overwrite, a new file without -s
 *	3  the machine cannot do it: permission, read-only, busy device, space, limits, memory
 */
#ifndef PENSTOCK_IO_PLAN_H
#define PENSTOCK_IO_PLAN_H

#include <stdio.h>

#include "io/job.h"

/*
 * Makes the plan of one run with `threads` threads. job must outlive the plan. *plan is
 * overwritten; after success it is freed with io_plan_free, after failure it holds nothing.
 * A thread for which no I/O block is left has an empty share (start_bytes == end_bytes).
 */
int io_plan_make(struct io_plan *plan, const struct io_job *job, unsigned threads,
		 struct pst_error *err);

/* Frees what a plan holds. Targets must be closed before. A plan of zeros is allowed. */
void io_plan_free(struct io_plan *plan);

/* Prints a plan for --dry-run: files, ranges, shares, sizes in bytes, device, what would be
 * created or overwritten. Returns 0, or -EIO when the stream failed. */
int io_plan_print(const struct io_plan *plan, FILE *out);

/*
 * Splits [start, end) among `threads` threads in whole blocks of block_bytes, as even as can be:
 * the first threads get one block more. The last block may be short. Fills shares[0..threads);
 * each has file = 0. block_bytes and threads are at least 1, start <= end.
 */
void io_plan_split(struct io_share *shares, unsigned threads, uint64_t start_bytes,
		   uint64_t end_bytes, uint64_t block_bytes);

#endif

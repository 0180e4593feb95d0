/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the accounts of the workers to the result of a run. What each number means is written in
 * docs/METRICS.md. Times of a run that measured nothing are 0, its latencies NAN.
 */
#ifndef PENSTOCK_IO_RESULT_H
#define PENSTOCK_IO_RESULT_H

#include "io/crew.h"

/* A shorter run gives a hint only; so does one of few operations, unless they took long. */
#define RESULT_MIN_SECONDS  0.1
#define RESULT_MIN_OPS      100
#define RESULT_LONG_SECONDS 1.0

/* Below this share of the bytes read, the drive did not serve the run. */
#define RESULT_DEVICE_SHARE 0.9

/* From this part of holes on, a rate is marked with it. */
#define RESULT_HOLE_PERCENT 10

/* Room for `threads` threads. 0 or -ENOMEM. Free with result_free, allowed on zeros. */
int result_init(struct io_result *result, unsigned threads);
void result_free(struct io_result *result);

/* Brings the workers' accounts together: ledger, latency, elapsed time, failures. All workers
 * have finished. */
void result_merge(struct io_result *result, const struct io_crew *crew);

/* Sets the marks (too_short, from_cache, direct_unmet) and passes, when all else is filled. */
void result_judge(struct io_result *result, const struct io_job *job);

/* Whether something that was asked for was not done, or done in part: the Ledger line is shown
 * and the exit status is not 0. */
bool result_incomplete(const struct io_result *result, const struct io_plan *plan);

/* The exit status that a run deserves. */
int result_exit(const struct io_result *result, const struct io_plan *plan);

/* Rates over the measured window; NAN when it has no length. */
double result_gib_per_s(const struct io_result *result);
double result_ops_per_s(const struct io_result *result);

/* Microseconds; NAN without operations. percent 0: minimum. */
double result_latency_us(const struct io_result *result, double percent);

/* Threads that did their work slowest and fastest, by their own rate; false when fewer than two
 * threads moved bytes. */
bool result_extremes(const struct io_result *result, unsigned *slowest, unsigned *fastest,
		     double *slowest_gib_per_s, double *fastest_gib_per_s);

/* Bytes of the run by path, reads and writes. */
uint64_t result_path_bytes(const struct io_result *result, enum pst_path path);

/* Bytes of hole and unwritten extents; UINT64_MAX when the holes are not known. */
uint64_t result_empty_bytes(const struct io_source *source);

/* Whether nothing in the range was ever written. false when that is not known. */
bool result_all_hole(const struct io_source *source);

#endif

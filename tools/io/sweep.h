/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several settings (-w 4,8,16) and several rounds (--repeat): a table, the knee, and whether two
 * settings differ.
 *
 * Rounds are interleaved: every setting once, then every setting again. Without --cold the first
 * round of each setting is shown apart, because it may read the drive where later ones read the
 * page cache; with --cold every round starts evicted and all are taken together.
 *
 * Knee: the smallest number of threads that reaches SWEEP_KNEE_SHARE of the best IOPS in the
 * sweep. When that is the largest number tried, the rate may still be rising.
 *
 * Differ: two settings differ when every round of one was faster than every round of the other,
 * with at least SWEEP_MIN_ROUNDS rounds each. Two equal settings look like that by chance in 2
 * of 70 cases with 4 rounds each, and more rarely with more.
 */
#ifndef PENSTOCK_IO_SWEEP_H
#define PENSTOCK_IO_SWEEP_H

#include <stdio.h>

#include "common/json.h"
#include "io/job.h"

#define SWEEP_KNEE_SHARE 0.9
#define SWEEP_MIN_ROUNDS 4

/* Numbers of one run; done false: it took no place, or was cut short. */
struct sweep_run {
	bool done;
	bool from_cache, too_short;
	bool memory_backed, emulated; /* no drive, no GPU */
	unsigned hole_percent;        /* of io_result */
	double gib_per_s, iops, mean_us, p99_us;
};

struct sweep {
	const struct io_job *job;
	unsigned settings, rounds;
	struct sweep_run *runs; /* [setting * rounds + round] */
};

/* Room for the runs of a job. 0 or -ENOMEM. */
int sweep_init(struct sweep *sweep, const struct io_job *job);
void sweep_free(struct sweep *sweep);

/* Enters a run. One that was interrupted, stopped or incomplete has no part in the numbers. */
void sweep_add(struct sweep *sweep, unsigned setting, unsigned round, const struct io_plan *plan,
	       const struct io_result *result);

struct sweep_spread {
	unsigned rounds;
	double median, min, max; /* NAN without rounds */
};

/* Sorts values. */
struct sweep_spread sweep_spread(double *values, unsigned count);

enum sweep_verdict {
	SWEEP_TOO_FEW = 0,
	SWEEP_NO_DIFFERENCE,
	SWEEP_FIRST_FASTER,
	SWEEP_SECOND_FASTER,
};
enum sweep_verdict sweep_compare(const struct sweep_spread *a, const struct sweep_spread *b);

/* Index of the knee; count when no rate is known. rates of settings that were not done: NAN. */
unsigned sweep_knee(const unsigned *threads, const double *rates, unsigned count);

/* Spread of the rates of a setting. first: of the first round alone; else of those that are
 * taken together. */
struct sweep_spread sweep_of(const struct sweep *sweep, unsigned setting, bool first);

/* Prints the table, the knee and, with several rounds, spreads and differences. */
void sweep_print(FILE *out, const struct sweep *sweep);

/* Adds "sweep". */
void sweep_add_json(struct json_object *document, const struct sweep *sweep);

/* 24468.2 as "24,468". */
struct sweep_text {
	char text[48];
};
struct sweep_text sweep_thousands(double value);

/* A median of one number of the runs that are taken together. */
double sweep_median(const struct sweep *sweep, unsigned setting, size_t offset);

#endif

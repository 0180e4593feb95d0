/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog. When nothing has moved for WATCH_LIMIT_S seconds it says on stderr, in one line,
 * what the run waits for: the worker that has waited longest, its operation and file, or the
 * phase that the leader is in. It speaks once for each time that things stand still, and never
 * ends anything.
 */
#ifndef PENSTOCK_IO_WATCH_H
#define PENSTOCK_IO_WATCH_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "io/crew.h"

#define WATCH_LIMIT_S 10

struct io_watch {
	pthread_t thread;
	bool running;
	double limit_s;
	FILE *out;
	const char *program;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool quit;
	uint64_t phases; /* begun so far */
	char phase[160];
	const struct io_crew *crew; /* workers that are doing I/O, or NULL */
};

/* Starts the watchdog. limit_s and out are for tests; normally WATCH_LIMIT_S and stderr. Without
 * a thread to spare the run goes on unwatched. */
void watch_start(struct io_watch *watch, const char *program, double limit_s, FILE *out);
void watch_stop(struct io_watch *watch);

/* The leader begins a phase ("opening '/data/x'"). */
__attribute__((format(printf, 2, 3))) void watch_phase(struct io_watch *watch, const char *format,
						       ...);

/* From crew_go to the end of I/O: crew; then NULL. */
void watch_crew(struct io_watch *watch, const struct io_crew *crew);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers of one run and what they share. Phases, each begun by the thread that runs the
 * crew (the leader):
 *
 *	crew_start	threads are made; each binds itself, allocates, registers and fills its
 *			buffer, then waits
 *	crew_go		all begin at once; operations begun before window_ns (the ramp) are not
 *			counted
 *	crew_wait	returns now and then, and when the last worker has finished its I/O
 *	crew_join	the workers free their buffers; the threads are gone
 *
 * Counters that others may look at while workers run are atomics; everything else of a worker is
 * its own until crew_wait has returned true.
 */
#ifndef PENSTOCK_IO_CREW_H
#define PENSTOCK_IO_CREW_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "io/job.h"
#include "io/pattern.h"

enum crew_stop {
	CREW_RUN = 0,
	CREW_STOP_FIRST, /* the first thread has done its share (--stop first) */
	CREW_STOP_ERROR,
};

/* One operation that a worker waits for. start_ns 0: none. */
struct io_slot {
	_Atomic uint64_t start_ns;
	_Atomic uint64_t offset_bytes;
	_Atomic uint64_t bytes;
};

struct io_crew;

struct io_worker {
	/* Looked at by others while the worker runs. */
	alignas(128) _Atomic uint64_t done_ops; /* succeeded or failed, the ramp included */
	_Atomic uint64_t done_bytes;            /* in the measured window */
	struct io_slot *slots;
	unsigned slot_count;

	/* The worker's own. */
	alignas(128) struct io_crew *crew;
	unsigned index;
	pthread_t thread;
	bool thread_made;
	struct pst_file *file;
	struct pst_file *own_file; /* the same as file when it is the worker's own, else NULL */
	const char *path;
	unsigned char *buffer; /* slot_count pieces of slot_bytes */
	uint64_t slot_bytes;
	bool registered;
	unsigned char *block; /* host memory to fill GPU memory from, or NULL */
	struct io_pattern pattern;
	bool writes;
	bool block_device;
	bool measuring;             /* the ramp is over */
	uint64_t content_ops;       /* fills so far, numbered for their data */
	uint64_t first_ns, last_ns; /* start of the first and end of the last measured operation */
	struct io_ledger ledger;
	struct pst_histogram *latency;
};

struct io_crew {
	const struct io_plan *plan;
	struct pst_context *ctx;
	struct pst_device *device; /* NULL: host memory only */
	struct io_worker *workers;
	unsigned count;

	/* Written by crew_go before the workers begin. */
	uint64_t start_ns;    /* monotonic clock, as all times here */
	uint64_t window_ns;   /* the measured window begins */
	uint64_t deadline_ns; /* no operation begins at or after it; UINT64_MAX: none */

	atomic_int stop; /* enum crew_stop */

	pthread_mutex_t lock;
	pthread_cond_t to_leader;  /* a worker is ready or finished */
	pthread_cond_t to_workers; /* go or release */
	unsigned ready, finished;  /* workers that came so far */
	bool go, release;
	bool called_off; /* set before go: nobody works. A failure may set stop before all see go */

	struct io_failure failures[IO_MAX_FAILURES]; /* under lock */
	unsigned failure_count;
};

uint64_t crew_now_ns(void);

/* The memory that a job's workers use, and whether that or the options need a device. */
enum pst_memory_kind crew_memory_kind(const struct io_job *job);
bool crew_needs_device(const struct io_job *job);

/*
 * Starts the threads and returns when all are ready. The plan's targets are open. Returns 0 or a
 * negative code with *err filled: a thread that could not be made, a buffer that could not be
 * had. After failure nothing is left.
 */
int crew_start(struct io_crew *crew, const struct io_plan *plan, struct pst_context *ctx,
	       struct pst_device *device, struct pst_error *err);

void crew_go(struct io_crew *crew);

/* Waits until every worker has finished its I/O, or until until_ns. true: finished. */
bool crew_wait(struct io_crew *crew, uint64_t until_ns);

/* Ends the threads. The results stay until crew_free. */
void crew_join(struct io_crew *crew);
void crew_free(struct io_crew *crew);

/* Bytes of the measured window and operations so far. */
void crew_progress(const struct io_crew *crew, uint64_t *bytes, uint64_t *ops);

/* For workers: keeps one of the first IO_MAX_FAILURES failures, and stops the crew unless the job
 * goes on past errors. */
void crew_note_failure(struct io_crew *crew, const struct io_failure *failure);

/* For workers: reports readiness and waits for the start; false: the run was called off. */
bool crew_report_ready(struct io_crew *crew);
/* For workers: reports the end of I/O and waits until buffers may go. */
void crew_report_finished(struct io_crew *crew);

#endif

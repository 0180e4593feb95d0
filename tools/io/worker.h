/* SPDX-License-Identifier: Apache-2.0 */
/* One thread of a run: its buffer, its operations, its account of them. */
#ifndef PENSTOCK_IO_WORKER_H
#define PENSTOCK_IO_WORKER_H

#include "io/crew.h"

/* One operation from the pattern to the account. */
struct worker_op {
	struct io_piece piece;
	unsigned slot; /* piece of the buffer that it uses */
	uint64_t start_ns;
	bool measured; /* begun in the measured window */
};

/* The life of a worker, in its own thread. Returns when crew_join lets it. */
void worker_main(struct io_worker *worker);

/* The next operation for a slot, ready to be issued: its data is in the buffer and its start is
 * noted. false: the worker shall issue no more (share done, time over, stopped). */
bool worker_next(struct io_worker *worker, unsigned slot, struct worker_op *op);

/* Enters the result of an operation (bytes or a negative code, then with *err) into the account.
 * end_ns is when it was seen complete. */
void worker_account(struct io_worker *worker, const struct worker_op *op, ssize_t result,
		    uint64_t end_ns, uint64_t latency_ns, const struct pst_error *err);

/* Several requests in flight (-x 3), in worker_batch.c. */
void worker_run_batch(struct io_worker *worker);

#endif

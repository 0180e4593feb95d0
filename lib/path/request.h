/* SPDX-License-Identifier: Apache-2.0 */
/* One read or write on its way: what was asked, what was chosen, how far it is. */
#ifndef PST_PATH_REQUEST_H
#define PST_PATH_REQUEST_H

#include "core/buffers.h"
#include "core/file.h"
#include "path/choose.h"
#include "path/lane.h"

enum request_state {
	REQUEST_WAITING = 0, /* a write that has no hold of its range yet */
	REQUEST_MOVING,      /* pieces are made and moved */
	REQUEST_EDGES,       /* whole blocks are written, the ends are left; or the vendor writes */
	REQUEST_DONE,
};

struct request {
	enum pst_op op;
	struct pst_file *file;
	size_t bytes;
	uint64_t offset; /* in the file */
	void *base;      /* the caller's buffer and offset in it, for the vendor's library */
	off_t base_offset;
	struct target target;
	struct choice choice;
	size_t piece_bytes;   /* largest piece */
	unsigned piece_limit; /* pieces in flight at most */
	bool want_ring;       /* storage should go through io_uring */

	enum request_state state;
	/* The part that goes in pieces, relative to offset: all of a read, the whole blocks of a
	 * direct write. [0, middle_start) and [middle_end, bytes) are edges. */
	size_t middle_start, middle_end;
	size_t cursor;       /* pieces are made up to here */
	unsigned pieces;     /* in flight */
	uint64_t end_offset; /* where the file was seen to end; UINT64_MAX: not seen */
	struct range_hold hold;
	bool holding;

	ssize_t result; /* once done */
	struct pst_error error;
	uint64_t cookie;
	uint64_t submitted_ns;
	struct request *next; /* of the pipeline's list that it is in */
};

/* What else goes on, which decides how finely a request is cut and whether io_uring pays. */
struct load {
	unsigned in_flight; /* requests that the calling thread keeps going at once */
	unsigned threads;   /* threads inside large synchronous calls */
};

/*
 * Resolves the buffer, chooses the path and sizes the pieces. 0, or a code that the request
 * cannot be started with.
 */
int request_prepare(struct request *request, struct lane *lane, const struct pst_io *io,
		    struct load load, struct pst_error *err);

static inline bool request_failed(const struct request *request)
{
	return request->error.code < 0;
}

/* Keeps the first error; no more pieces are made then. Errors of `err` without a code are taken
 * as internal. */
void request_fail(struct request *request, const struct pst_error *err);

/* Fails with a storage error of the file at `offset`. */
void request_fail_storage(struct request *request, int code, uint64_t offset);

#endif

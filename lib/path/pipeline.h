/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one pipeline. A request becomes pieces; each piece goes through a storage operation and,
 * where a device is concerned, a copy, in the order that its direction wants; several pieces are
 * at different stages at once. Synchronous calls and batches only differ in who calls advance.
 */
#ifndef PST_PATH_PIPELINE_H
#define PST_PATH_PIPELINE_H

#include "path/lane.h"
#include "path/request.h"

enum piece_state {
	PIECE_FREE = 0,
	PIECE_STORAGE, /* a storage operation is in flight */
	PIECE_COPY,    /* a copy is in flight */
};

struct piece {
	struct sto_io io; /* first: reaped operations lead back to their piece */
	enum piece_state state;
	bool on_ring; /* the storage operation went to the ring */
	struct request *request;
	struct slot *slot;        /* NULL: storage uses the caller's memory */
	struct lane_queue *queue; /* of the copy */
	uint8_t *memory;          /* where storage reads to or writes from */
	uint64_t offset;          /* in the file, of memory[0] */
	size_t length;            /* of the storage operation, whole blocks for O_DIRECT */
	size_t done;              /* of length */
	size_t skip;              /* bytes at the start that the caller did not ask for */
	size_t want;              /* bytes of the caller, after skip */
	uint8_t *caller;          /* their place in the caller's memory */
	struct piece *next;
};

struct piece_list {
	struct piece *first, *last;
};

struct request_list {
	struct request *first, *last;
};

struct pipeline {
	struct lane *lane;
	unsigned piece_count;
	struct piece *pieces;
	struct piece *free;
	struct piece_list copies; /* in order of queueing */
	unsigned storage_in_flight;
	unsigned ring_in_flight;
	unsigned holds;              /* requests that hold a range */
	unsigned edges;              /* requests in REQUEST_EDGES */
	struct range_driver *driver; /* of its holds, NULL: none is kept between calls */
	struct request_list open;    /* not done, in order of arrival */
	struct request_list done;
};

/* For up to `pieces` pieces in flight. NULL: out of memory. */
struct pipeline *pipeline_new(struct lane *lane, unsigned pieces);
void pipeline_free(struct pipeline *p);    /* nothing is in flight */
void pipeline_abandon(struct pipeline *p); /* the same in a child of fork(), whatever was */

/* Takes a request whose target and choice are set. It is the caller's memory until it is done. */
void pipeline_add(struct pipeline *p, struct request *request);

/* Moves what can be moved. wait: sleeps until something could, if anything is in flight. */
void pipeline_advance(struct pipeline *p, bool wait);

/* Brings requests that hold ranges to the end of their holds. Takes no other range, writes no
 * unaligned ends, and so waits for nobody but the kernel and the device. */
void pipeline_end_holds(struct pipeline *p);

/* Takes a finished request off, or NULL. */
struct request *pipeline_take(struct pipeline *p);

/* Used by the parts of the pipeline. */

/* piece.c: makes the next piece of a request and starts it; false: no room now. */
bool piece_start(struct pipeline *p, struct request *request);
/* A storage operation of the piece has ended. */
void piece_storage_done(struct pipeline *p, struct piece *piece);
/* The copy of the piece has ended, with a code. */
void piece_copy_done(struct pipeline *p, struct piece *piece, const struct pst_error *err);

/* edges.c: writes the unaligned ends of a request in the calling thread. Nothing else of the
 * pipeline is in flight and no range is held. */
void edges_write(struct pipeline *p, struct request *request);

#endif

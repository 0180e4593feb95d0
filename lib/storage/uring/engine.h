/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the io_uring engine, for the files of this folder alone. */
#ifndef PST_STORAGE_URING_ENGINE_H
#define PST_STORAGE_URING_ENGINE_H

#include <liburing.h>

#include "storage/storage.h"

/* Files that one engine keeps registered. */
#define URING_FILES 64

/* A file is registered when it is used so often: below that the call costs more than it saves. */
#define URING_FILE_USES 16

#define URING_NO_SLOT (-1)

struct uring_file {
	uint64_t file_id; /* 0: the slot is free */
	uint64_t last_use;
	unsigned uses;
	unsigned in_flight; /* operations that name the slot */
	bool registered;
};

struct uring_files {
	bool usable; /* the kernel has a table, which takes updates */
	uint64_t clock;
	unsigned last; /* the slot that was looked up last */
	struct uring_file slot[URING_FILES];
};

struct uring_buffers {
	enum {
		URING_BUFFERS_UNTRIED = 0,
		URING_BUFFERS_USABLE,
		URING_BUFFERS_REFUSED
	} state;
	int refusal; /* -errno of the table */
	bool used[STO_MAX_BUFFERS];
};

/* An operation whose entry the kernel has not taken yet. */
struct uring_pending {
	struct sto_io *io; /* NULL: was served otherwise, the entry does nothing */
	struct io_uring_sqe *entry;
};

struct sto_engine {
	struct io_uring ring;
	unsigned depth;
	unsigned accepted;  /* submitted and not reaped */
	unsigned in_kernel; /* entries taken by the kernel and not completed */
	unsigned refusals;  /* times in a row that the kernel took nothing */

	struct uring_pending *pending; /* in the order of the ring; room for depth */
	unsigned pending_count;

	struct sto_io *done_first;
	struct sto_io **done_last;

	struct uring_files files;
	struct uring_buffers buffers;
};

/* files.c: the table of registered files. */
void uring_files_open(struct sto_engine *engine);
/* The slot to use for an operation, or URING_NO_SLOT. Counts it as in flight. */
int uring_files_take(struct sto_engine *engine, int fd, uint64_t file_id);
void uring_files_release(struct sto_engine *engine, int slot);
void uring_files_forget(struct sto_engine *engine, uint64_t file_id);

/* buffers.c: the table of registered buffers, as sto_ops has it. */
int uring_buffers_add(struct sto_engine *engine, void *memory, size_t bytes,
		      enum pst_reason *reason);
void uring_buffers_remove(struct sto_engine *engine, int index);

/* setup.c: makes the ring. 0, or -errno with *reason. */
int uring_setup(struct io_uring *ring, unsigned depth, enum pst_reason *reason);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes between a file and host memory. Two engines fill one table: uring/ keeps many operations
 * in flight, posix/ does each in the calling thread. An engine belongs to one thread at a time;
 * it may be handed from thread to thread. With operations in flight that works too, as long as
 * the thread that submitted them lives.
 *
 * An operation is one transfer attempt: short results are handed on as they are, -EINTR and
 * -EAGAIN are retried inside, up to STO_MAX_RETRIES times. The pipeline continues short transfers.
 */
#ifndef PST_STORAGE_H
#define PST_STORAGE_H

#include "penstock.h"

struct sto_engine;

/* One transfer. The engine keeps a pointer to it until it is reaped. */
struct sto_io {
	int fd;
	uint64_t file_id; /* never 0, never used again for another descriptor: lets an engine keep
			     a registered file without being fooled by a reused fd number */
	bool write;
	void *memory;
	size_t bytes; /* at most STO_MAX_BYTES */
	int64_t offset;
	int fixed_index; /* registered buffer that holds memory, or -1 */
	ssize_t result;  /* bytes or -errno, valid once reaped */
	/* The rest is the engine's, from submit to reap. */
	struct sto_io *next;
	unsigned retries;
	int file_slot;
};

/* Linux moves at most this much in one call. */
#define STO_MAX_BYTES ((size_t)1 << 30)

/* A transfer that still says -EINTR or -EAGAIN after this many attempts fails with it. */
#define STO_MAX_RETRIES 64

/* The deepest engine. */
#define STO_MAX_DEPTH 4096

/* Buffers that one engine registers at most. */
#define STO_MAX_BUFFERS 1024

struct sto_ops {
	const char *name; /* "uring", "posix" */

	/*
	 * Opens an engine for up to `depth` (1 to STO_MAX_DEPTH) operations in flight. On refusal
	 * returns a negative errno and stores why in *reason (PST_REASON_URING_KERNEL, _DENIED,
	 * _MEMLOCK). The posix engine is refused by -ENOMEM alone, which leaves *reason as it is.
	 */
	int (*open)(unsigned depth, struct sto_engine **out, enum pst_reason *reason);
	void (*close)(struct sto_engine *engine); /* nothing may be in flight */

	/*
	 * Registers memory for fixed-buffer operations and returns its index (>= 0), or a negative
	 * errno: the memory is then used with fixed_index -1. Never fatal. *reason is written when
	 * one applies: -ENOMEM, PST_REASON_URING_MEMLOCK: the locked-memory limit is too small;
	 * -EOPNOTSUPP, PST_REASON_URING_KERNEL: the kernel has no table that can grow (before
	 * 5.13). Else it is left as it is: -EOPNOTSUPP and -EFAULT for memory that cannot be
	 * registered (of a driver, say), -ENOSPC with STO_MAX_BUFFERS in use, and the posix
	 * engine, which has no use for it: -EOPNOTSUPP. Memory must stay mapped until
	 * remove_buffer or close. One buffer is at most STO_MAX_BYTES.
	 */
	int (*add_buffer)(struct sto_engine *engine, void *memory, size_t bytes,
			  enum pst_reason *reason);
	/* No operation with this index may be in flight. */
	void (*remove_buffer)(struct sto_engine *engine, int index);

	/* Forgets a file before its descriptor is closed; a registered file would stay open. No
	 * operation on it may be in flight. Unknown ids are ignored. */
	void (*forget_file)(struct sto_engine *engine, uint64_t file_id);

	/*
	 * Accepts an operation. The kernel need not see it before flush. posix does it here. 0, or
	 * -EBUSY when `depth` operations are in flight; then the operation is not accepted.
	 */
	int (*submit)(struct sto_engine *engine, struct sto_io *io);

	/* Hands what was accepted to the kernel. 0, or -EAGAIN or -EBUSY when the kernel has no
	 * room now: the rest stays accepted, and the next flush or reap tries again. */
	int (*flush)(struct sto_engine *engine);

	/* Takes one finished operation: NULL when none is (wait false) or none is in flight.
	 * With wait true, blocks until one finishes. Flushes first. */
	struct sto_io *(*reap)(struct sto_engine *engine, bool wait);
};

extern const struct sto_ops sto_uring_ops;
extern const struct sto_ops sto_posix_ops;

/* One transfer in the calling thread without any engine: bytes or -errno. At most STO_MAX_BYTES
 * are moved. -EINTR and -EAGAIN are retried as by an engine. Thread safe. */
ssize_t sto_transfer(bool write, int fd, void *memory, size_t bytes, int64_t offset);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open file: up to two descriptors of our own on the same inode, one through the page cache
 * and one with O_DIRECT, and what is known of what stands below.
 */
#ifndef PST_CORE_FILE_H
#define PST_CORE_FILE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/range_lock.h"
#include "penstock.h"
#include "storage/facts.h"

struct vendor_file; /* path/vendor.h */

/* Larger blocks of O_DIRECT are not served: an unaligned end needs two of them in a slot. */
#define FILE_MAX_BLOCK_BYTES 32768u

struct pst_file {
	struct pst_context *ctx;
	struct pst_file *next; /* of the context's list */
	char *path;            /* for messages */
	int fd;                /* buffered, always open; facts, locks and attributes go here */
	int direct_fd;         /* -1 when O_DIRECT is not used */
	uint64_t fd_id;        /* see struct sto_io.file_id */
	uint64_t direct_id;
	bool readable, writable;
	bool no_overlap;
	struct sto_facts facts;     /* as of opening */
	struct sto_alignment align; /* of direct_fd */
	uint32_t lock_bytes;        /* unit of range locks: the page or the larger block */
	uint64_t mode_reasons;      /* why direct_fd is -1 */
	struct range_owner *owner;  /* of the inode; NULL when not writable */

	/* The vendor's handle, made by the first request that wants it. */
	pthread_mutex_t vendor_lock;
	_Atomic(struct vendor_file *) vendor_handle;
	_Atomic bool vendor_refused;
};

int file_open(struct pst_context *ctx, const char *path, const struct pst_file_options *options,
	      struct pst_file **out, struct pst_error *err);
int file_from_fd(struct pst_context *ctx, int fd, const struct pst_file_options *options,
		 struct pst_file **out, struct pst_error *err);

/* Closes descriptors and frees. Lanes have forgotten the file and the vendor's handle is closed.
 * Takes the file off the context's list. */
void file_close(struct pst_file *file);

#endif

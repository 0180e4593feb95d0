/* SPDX-License-Identifier: Apache-2.0 */
/* What a target is: before anything is opened for I/O, and again on the open descriptor. */
#ifndef PENSTOCK_IO_TARGET_LOOK_H
#define PENSTOCK_IO_TARGET_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "penstock.h"

struct io_target_facts {
	bool exists;
	bool is_block_device;
	bool is_full_device; /* /dev/full: every write fails with ENOSPC */
	dev_t device;        /* of a block device */
	uint64_t file_bytes; /* size of file or device */
	uint64_t allocated_bytes;
	bool ours;      /* has the mark, see target.h */
	bool signature; /* ... in the data */
};

/*
 * Looks at a path. A missing file is no error: exists = false. For writing, a symbolic link is
 * refused and named with its target. Directories, FIFOs, sockets and character devices are
 * refused with the type named; nothing is waited for. Returns 0 or an exit status, *err filled.
 */
int io_target_look(const char *path, bool write, struct io_target_facts *facts,
		   struct pst_error *err);

/* The same on an open descriptor; path is for messages. */
int io_target_look_fd(int fd, const char *path, bool write, struct io_target_facts *facts,
		      struct pst_error *err);

/* The exit status for an errno of opening or looking at what the user named. */
int io_exit_of_errno(int sys_errno);

/* Refuses writing to an existing target unless it is ours or `overwrite` was given. */
int io_target_may_write(const struct io_target_facts *facts, const char *path, bool overwrite,
			struct pst_error *err);

#endif

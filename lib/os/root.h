/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of /sys and /proc, read below os()->root_fd, so that a recorded machine can stand
 * in for this one. Paths are given as on the real root ("/sys/dev/block/8:0/stat"). Thread safe.
 */
#ifndef PST_OS_ROOT_H
#define PST_OS_ROOT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens a path below the root, close-on-exec. A descriptor or -errno. */
int os_root_open(const char *path, int flags);

/*
 * Reads a text file into buffer, ends it with '\0' and takes off white space at its end.
 * Returns the length, -EFBIG when size (with room for the '\0') does not hold it, or -errno.
 */
ssize_t os_read_text(const char *path, char *buffer, size_t size);

/* Reads a file that holds one unsigned decimal number and nothing else. 0, -EINVAL when it does
 * not, or -errno. */
int os_read_u64(const char *path, uint64_t *value);

/* Where a symbolic link points, '\0' terminated. The length, -ENAMETOOLONG, or -errno. */
ssize_t os_read_link(const char *path, char *buffer, size_t size);

#endif

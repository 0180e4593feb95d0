/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that decide something, behind one table, so that tests can play an old
 * kernel, a full disk or a refusing sandbox. os() gives the table in force.
 *
 * Entries behave as the libc functions of their name, but return -errno instead of setting
 * errno. An entry for a call that this kernel or libc lacks returns -ENOSYS.
 */
#ifndef PST_OS_H
#define PST_OS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>

struct statx;

/* Counts of pages, laid out as the kernel's answer to cachestat. */
struct os_cachestat {
	uint64_t cached;
	uint64_t dirty;
	uint64_t writeback;
	uint64_t evicted;
	uint64_t recently_evicted;
};

struct os_calls {
	int (*open)(const char *path, int flags, mode_t mode);
	int (*close)(int fd);
	ssize_t (*pread)(int fd, void *memory, size_t bytes, off_t offset);
	ssize_t (*pwrite)(int fd, const void *memory, size_t bytes, off_t offset);
	int (*fstat)(int fd, struct stat *st);
	int (*fstatfs)(int fd, struct statfs *st);
	int (*statx)(int fd, const char *path, int flags, unsigned mask, struct statx *stx);
	int (*ioctl)(int fd, unsigned long request, void *arg);
	int (*fcntl)(int fd, int command, void *arg); /* integer commands: (void *)(intptr_t)n */
	off_t (*lseek)(int fd, off_t offset, int whence);
	int (*fadvise)(int fd, off_t offset, off_t bytes, int advice);
	int (*sync_file_range)(int fd, off_t offset, off_t bytes, unsigned flags);
	/* bytes 0: to the end of the file. */
	int (*cachestat)(int fd, uint64_t offset, uint64_t bytes, struct os_cachestat *out);
	/* The one entry that sets errno: MAP_FAILED has no room for it. */
	void *(*mmap)(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
	int (*munmap)(void *addr, size_t bytes);
	int (*madvise)(void *addr, size_t bytes, int advice);
	int (*mincore)(void *addr, size_t bytes, unsigned char *vec);
	/* The root that /sys and /proc are read below: an open directory, or AT_FDCWD for the
	 * real root. See root.h. */
	int root_fd;
};

/* The table in force, the real one unless a test has set another. */
const struct os_calls *os(void);

/* For tests: puts a table in force (NULL: the real one). Not thread safe. */
void os_set(const struct os_calls *calls);

/* The real table, to copy and change. */
extern const struct os_calls os_real_calls;

#endif

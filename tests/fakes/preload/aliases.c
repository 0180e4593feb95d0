/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names without 64: the same functions on a 64-bit system, in a file of their own because
 * _FILE_OFFSET_BITS=64 makes the headers give both names one meaning.
 */
#undef _FILE_OFFSET_BITS
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

_Static_assert(sizeof(off_t) == 8, "the plain names are the 64-bit ones");

EXPORT ssize_t pread(int fd, void *memory, size_t bytes, off_t offset)
{
	return pread64(fd, memory, bytes, offset);
}

EXPORT ssize_t pwrite(int fd, const void *memory, size_t bytes, off_t offset)
{
	return pwrite64(fd, memory, bytes, offset);
}

EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	/* Reading an argument that was not passed gives a value that the kernel ignores. */
	va_start(args, flags);
	mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open64(path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
	va_end(args);
	return openat64(dir, path, flags, mode);
}

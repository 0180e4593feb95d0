/* SPDX-License-Identifier: Apache-2.0 */
#include "os/root.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "util/cleanup.h"

/* The real root takes the path as it is; a directory needs it relative. */
static const char *below_root(const char *path)
{
	assert(path[0] == '/');
	if (os()->root_fd == AT_FDCWD)
		return path;
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

int os_root_open(const char *path, int flags)
{
	int fd = openat(os()->root_fd, below_root(path), flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

ssize_t os_read_text(const char *path, char *buffer, size_t size)
{
	CLEANUP_CLOSE int fd = os_root_open(path, O_RDONLY);
	size_t length = 0;

	assert(size > 0);
	buffer[0] = '\0';
	if (fd < 0)
		return fd;
	for (;;) { /* ends: each round fills some of size, or returns */
		ssize_t n = read(fd, buffer + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			buffer[0] = '\0';
			return -errno;
		}
		if (n == 0)
			break;
		length += (size_t)n;
		if (length == size) {
			buffer[0] = '\0';
			return -EFBIG;
		}
	}
	while (length > 0 && isspace((unsigned char)buffer[length - 1]))
		length--;
	buffer[length] = '\0';
	return (ssize_t)length;
}

int os_read_u64(const char *path, uint64_t *value)
{
	char text[32];
	char *end;
	ssize_t length = os_read_text(path, text, sizeof(text));

	if (length < 0)
		return length == -EFBIG ? -EINVAL : (int)length;
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno || *end)
		return -EINVAL;
	*value = number;
	return 0;
}

ssize_t os_read_link(const char *path, char *buffer, size_t size)
{
	assert(size > 0);
	ssize_t n = readlinkat(os()->root_fd, below_root(path), buffer, size);

	if (n < 0) {
		buffer[0] = '\0';
		return -errno;
	}
	if ((size_t)n == size) {
		buffer[0] = '\0';
		return -ENAMETOOLONG;
	}
	buffer[n] = '\0';
	return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files and directories of a test, away when it ends. */
#ifndef PST_TESTS_SCRATCH_H
#define PST_TESTS_SCRATCH_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file without a name in a directory, or -1 with errno. */
static inline int scratch_file(const char *directory, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/penstock-test-XXXXXX", directory);
	int fd = mkostemp(path, flags | O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Another descriptor of a file without a name. */
static inline int scratch_reopen(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

/* Byte i of what scratch_fill writes: never zero, and another in each block. */
static inline unsigned char scratch_byte(uint64_t i)
{
	return (unsigned char)((i * 2654435761u >> 13) % 255 + 1);
}

/* Writes bytes at the beginning; false on failure. */
static inline int scratch_fill(int fd, size_t bytes)
{
	unsigned char *all = malloc(bytes);
	ssize_t n = -1;

	if (all) {
		for (size_t i = 0; i < bytes; i++)
			all[i] = scratch_byte(i);
		n = pwrite(fd, all, bytes, 0);
	}
	free(all);
	return n == (ssize_t)bytes;
}

/* A root directory for os()->root_fd. */
struct scratch_root {
	char path[64];
	int fd;
};

static inline int scratch_root_open(struct scratch_root *root)
{
	snprintf(root->path, sizeof(root->path), "/tmp/penstock-root-XXXXXX");
	root->fd = mkdtemp(root->path) ? open(root->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return root->fd >= 0;
}

/* Makes the directories above a path below the root. */
static inline void scratch_root_parents(const struct scratch_root *root, const char *path)
{
	char part[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(root->fd, part, 0755);
	}
}

/* Writes a file, its directories too; path without '/' in front. */
static inline int scratch_root_text(const struct scratch_root *root, const char *path,
				    const char *text)
{
	scratch_root_parents(root, path);
	int fd = openat(root->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return 0;
	ssize_t n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

static inline int scratch_root_link(const struct scratch_root *root, const char *path,
				    const char *target)
{
	scratch_root_parents(root, path);
	return symlinkat(target, root->fd, path) == 0;
}

static inline void scratch_root_close(struct scratch_root *root)
{
	char command[128];

	close(root->fd);
	snprintf(command, sizeof(command), "rm -r '%s'", root->path);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", root->path);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for one test, removed with what the test knows to be in it. */
#ifndef PENSTOCK_TESTS_TOOL_FOLDER_H
#define PENSTOCK_TESTS_TOOL_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int folder_make(void **state)
{
	(void)state;
	strcpy(folder, "/var/tmp/penstock-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;

	(void)state;
	while (dir && (e = readdir(dir)))
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	return rmdir(folder);
}

struct folder_path {
	char text[PATH_MAX];
};

static inline struct folder_path in_folder(const char *name)
{
	struct folder_path p;

	snprintf(p.text, sizeof(p.text), "%s/%s", folder, name);
	return p;
}

/* A file of a size, all hole, as somebody else would have made it. */
static inline void make_file(const char *name, off_t bytes)
{
	int fd = open(in_folder(name).text, O_RDWR | O_CREAT | O_EXCL, 0644);

	if (fd < 0 || ftruncate(fd, bytes))
		abort();
	close(fd);
}

static inline unsigned folder_entries(void)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	unsigned n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

#endif

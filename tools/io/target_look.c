/* SPDX-License-Identifier: Apache-2.0 */
#include "io/target_look.h"

#include "common/fail.h"
#include "io/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* /dev/full has this number on every Linux. */
#define FULL_MAJOR 1
#define FULL_MINOR 7

_Static_assert(sizeof(IO_MARK_TEXT) - 1 == IO_MARK_BYTES, "the signature has 64 bytes");

int io_exit_of_errno(int sys_errno)
{
	switch (sys_errno) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
	case ELOOP:
	case EISDIR:
	case EEXIST:
	case EINVAL:
		return TOOL_EXIT_USAGE;
	default:
		return TOOL_EXIT_ENVIRONMENT;
	}
}

static int refuse_type(const struct stat *st, const char *path, struct pst_error *err)
{
	const char *kind = "a file of unknown type";

	if (S_ISDIR(st->st_mode))
		return fail_set(err, TOOL_EXIT_USAGE, PST_E_FILE_TYPE, path,
				"'%s' is a directory: name a file with -f, or files in it with -D",
				path);
	if (S_ISFIFO(st->st_mode))
		kind = "a FIFO";
	else if (S_ISSOCK(st->st_mode))
		kind = "a socket";
	else if (S_ISCHR(st->st_mode))
		kind = "a character device";
	return fail_set(err, TOOL_EXIT_USAGE, PST_E_FILE_TYPE, path,
			"'%s' is %s: only regular files and block devices can be measured", path,
			kind);
}

static int refuse_link(const char *path, struct pst_error *err)
{
	char *real = realpath(path, NULL);
	int rc =
		fail_set(err, TOOL_EXIT_USAGE, -ELOOP, path,
			 "'%s' is a symbolic link, which a write test does not follow: name %s%s%s",
			 path, real ? "'" : "", real ? real : "the file itself", real ? "'" : "");

	free(real);
	return rc;
}

/* Facts that stat gives; refuses wrong types. */
static int take_stat(const struct stat *st, const char *path, bool write,
		     struct io_target_facts *facts, struct pst_error *err)
{
	*facts = (struct io_target_facts){.exists = true};
	if (S_ISBLK(st->st_mode)) {
		facts->is_block_device = true;
		facts->device = st->st_rdev;
		return 0;
	}
	if (write && S_ISCHR(st->st_mode) && st->st_rdev == makedev(FULL_MAJOR, FULL_MINOR)) {
		facts->is_full_device = true;
		return 0;
	}
	if (!S_ISREG(st->st_mode))
		return refuse_type(st, path, err);
	facts->file_bytes = (uint64_t)st->st_size;
	facts->allocated_bytes = (uint64_t)st->st_blocks * 512;
	return 0;
}

/* Size of a block device and mark of a file, from a descriptor that may read. */
static int look_inside(int fd, const char *path, struct io_target_facts *facts,
		       struct pst_error *err)
{
	char text[IO_MARK_BYTES];
	off_t end;

	if (facts->is_block_device) {
		end = lseek(fd, 0, SEEK_END);
		if (end < 0)
			return fail_set(err, TOOL_EXIT_ENVIRONMENT, -errno, path,
					"cannot find the size of '%s': %s", path,
					fail_errno(errno).text);
		facts->file_bytes = (uint64_t)end;
		facts->allocated_bytes = (uint64_t)end;
		return 0;
	}
	if (facts->is_full_device)
		return 0;
	facts->ours = fgetxattr(fd, IO_MARK_ATTRIBUTE, NULL, 0) >= 0;
	if (!facts->ours && pread(fd, text, sizeof(text), 0) == (ssize_t)sizeof(text) &&
	    !memcmp(text, IO_MARK_TEXT, sizeof(text)))
		facts->ours = facts->signature = true;
	return 0;
}

int io_target_look_fd(int fd, const char *path, bool write, struct io_target_facts *facts,
		      struct pst_error *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -errno, path, "cannot look at '%s': %s",
				path, fail_errno(errno).text);
	rc = take_stat(&st, path, write, facts, err);
	return rc ? rc : look_inside(fd, path, facts, err);
}

int io_target_look(const char *path, bool write, struct io_target_facts *facts,
		   struct pst_error *err)
{
	struct stat st;
	int fd, rc;

	*facts = (struct io_target_facts){.exists = false};
	if (write ? lstat(path, &st) : stat(path, &st)) {
		if (errno == ENOENT)
			return 0;
		return fail_set(err, io_exit_of_errno(errno), -errno, path,
				"cannot look at '%s': %s", path, fail_errno(errno).text);
	}
	if (S_ISLNK(st.st_mode))
		return refuse_link(path, err);
	rc = take_stat(&st, path, write, facts, err);
	if (rc || facts->is_full_device)
		return rc;
	/* O_NONBLOCK: should the name have become a FIFO since, nothing is waited for. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && write && !facts->is_block_device) {
		facts->ours = getxattr(path, IO_MARK_ATTRIBUTE, NULL, 0) >= 0;
		return 0; /* opening for writing decides */
	}
	if (fd < 0)
		return fail_set(err, io_exit_of_errno(errno), -errno, path,
				"cannot open '%s' for reading: %s", path, fail_errno(errno).text);
	rc = io_target_look_fd(fd, path, write, facts, err);
	close(fd);
	return rc;
}

int io_target_may_write(const struct io_target_facts *facts, const char *path, bool overwrite,
			struct pst_error *err)
{
	if (overwrite || facts->ours || facts->is_full_device)
		return 0;
	if (facts->is_block_device)
		return fail_set(err, TOOL_EXIT_USAGE, -EEXIST, path,
				"'%s' is a block device and writing destroys what it holds: add "
				"--overwrite if that is meant",
				path);
	return fail_set(
		err, TOOL_EXIT_USAGE, -EEXIST, path,
		"'%s' exists and was not made by this tool: add --overwrite to write over it",
		path);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/target_fd.h"

#include "common/fail.h"
#include "io/block_device.h"
#include "io/target.h"
#include "io/target_look.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NEW_FILE_MODE 0644

static bool is_write(const struct io_job *job)
{
	return job->type == IO_WRITE || job->type == IO_RANDWRITE;
}

static bool write_signature(int fd)
{
	return pwrite(fd, IO_MARK_TEXT, IO_MARK_BYTES, 0) == IO_MARK_BYTES;
}

/* Marks a file that was just made. Where no mark is possible the file stays without one. */
static void mark(struct io_file_plan *f)
{
	f->made = true;
	f->ours = true;
	if (!fsetxattr(f->fd, IO_MARK_ATTRIBUTE, IO_MARK_VALUE, strlen(IO_MARK_VALUE), 0))
		return;
	f->signature = f->end_bytes >= IO_MARK_BYTES && write_signature(f->fd);
}

static int create(struct io_file_plan *f, struct pst_error *err)
{
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, NEW_FILE_MODE);
	if (f->fd < 0)
		return fail_set(err, io_exit_of_errno(errno), -errno, f->path,
				"cannot make '%s': %s", f->path, fail_errno(errno).text);
	mark(f);
	return 0;
}

/* Every write to /dev/full fails: let the kernel say so before threads start. */
static int try_full_device(struct io_file_plan *f, struct pst_error *err)
{
	static const char zeros[4096];
	ssize_t n = pwrite(f->fd, zeros, sizeof(zeros), 0);
	int code = n < 0 ? -errno : PST_E_FILE_TYPE;

	if (n < 0)
		return fail_set(err, TOOL_EXIT_FAILED, code, f->path,
				"cannot write '%s' at offset 0: %s; 0 bytes were written", f->path,
				fail_errno(-code).text);
	return fail_set(err, TOOL_EXIT_USAGE, code, f->path,
			"'%s' is a character device: only regular files and block devices can be "
			"measured",
			f->path);
}

static int refuse_open(const struct io_file_plan *f, bool write, struct pst_error *err)
{
	int e = errno;
	struct block_why why;
	struct stat st;

	if (f->is_block_device && e == EBUSY) {
		if (stat(f->path, &st) ||
		    !block_device_in_use("/sys", "/proc/self/mountinfo", st.st_rdev, &why))
			strcpy(why.text,
			       "the kernel says it is in use (as swap, or by another program)");
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EBUSY, f->path,
				"'%s' is not written: %s; --overwrite does not change that",
				f->path, why.text);
	}
	return fail_set(err, io_exit_of_errno(e), -e, f->path, "cannot open '%s' for %s: %s",
			f->path, write ? "writing" : "reading", fail_errno(e).text);
}

static int open_existing(const struct io_job *job, struct io_file_plan *f, struct pst_error *err)
{
	bool write = is_write(job);
	struct io_target_facts facts;
	struct block_why why;
	int flags = O_CLOEXEC | O_NOCTTY;
	int rc;

	/* Reading: O_NONBLOCK, should the name have become a FIFO since the plan was made. Opening
	 * for both never waits for one. O_EXCL claims a block device for this process. */
	if (write)
		flags |= O_RDWR | O_NOFOLLOW | (f->is_block_device ? O_EXCL : 0);
	else
		flags |= O_RDONLY | (f->is_block_device ? 0 : O_NONBLOCK);
	f->fd = open(f->path, flags);
	if (f->fd < 0)
		return refuse_open(f, write, err);
	rc = io_target_look_fd(f->fd, f->path, write, &facts, err);
	if (rc)
		return rc;
	if (facts.is_full_device)
		return try_full_device(f, err);
	if (facts.is_block_device != f->is_block_device)
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EAGAIN, f->path,
				"'%s' was replaced by another kind of file meanwhile", f->path);
	if (write && facts.is_block_device &&
	    block_device_in_use("/sys", "/proc/self/mountinfo", facts.device, &why))
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EBUSY, f->path,
				"'%s' is not written: %s; --overwrite does not change that",
				f->path, why.text);
	f->ours = facts.ours;
	f->signature = facts.signature;
	if (!write && fcntl(f->fd, F_SETFL, 0))
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -errno, f->path,
				"cannot set flags of '%s': %s", f->path, fail_errno(errno).text);
	return write ? io_target_may_write(&facts, f->path, job->overwrite, err) : 0;
}

int io_target_open_fd(const struct io_job *job, struct io_file_plan *f, struct pst_error *err)
{
	int rc = f->create && is_write(job) ? create(f, err) : open_existing(job, f, err);

	if (rc)
		io_target_close_fd(f);
	return rc;
}

void io_target_unmake(struct io_file_plan *f)
{
	struct stat by_fd, by_name;
	off_t empty = f->signature ? IO_MARK_BYTES : 0;

	if (!f->made || f->fd < 0 || fstat(f->fd, &by_fd) || lstat(f->path, &by_name))
		return;
	if (by_fd.st_dev != by_name.st_dev || by_fd.st_ino != by_name.st_ino ||
	    by_fd.st_size > empty)
		return;
	unlink(f->path);
	f->made = false;
}

void io_target_refresh_signature(const struct io_job *job, const struct io_file_plan *f)
{
	struct stat st;

	if (is_write(job) && f->signature && f->fd >= 0 && !fstat(f->fd, &st) &&
	    st.st_size >= IO_MARK_BYTES)
		(void)!write_signature(f->fd);
}

void io_target_close_fd(struct io_file_plan *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

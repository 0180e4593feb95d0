/* SPDX-License-Identifier: Apache-2.0 */
#include "common/report_file.h"

#include "common/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs that may write the same report at once. */
#define TEMPORARY_MAX 64

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a directory";
	if (S_ISFIFO(mode))
		return "a FIFO";
	if (S_ISSOCK(mode))
		return "a socket";
	return S_ISBLK(mode) ? "a block device" : "a character device";
}

static void clear(struct report_file *report)
{
	free(report->path);
	free(report->temporary);
	*report = (struct report_file){NULL};
}

/* Whether a file is empty or begins as a report of ours does: nothing else is replaced. */
static bool is_report(const char *path)
{
	char head[256] = "";
	FILE *file = fopen(path, "re");
	size_t bytes;

	if (!file)
		return false;
	bytes = fread(head, 1, sizeof(head) - 1, file);
	fclose(file);
	return !bytes || (head[0] == '{' && strstr(head, "\"schema\"") && strstr(head, "penstock"));
}

/* Fills report->path with the name to replace: what a link stands for, else the name itself. */
static int settle_path(struct report_file *report, const char *path, mode_t *mode,
		       struct pst_error *err)
{
	struct stat st;

	if (stat(path, &st)) {
		if (errno != ENOENT)
			return fail_set(err, -errno, -errno, path, "cannot write report '%s': %s",
					path, fail_errno(errno).text);
		report->path = strdup(path);
	} else if (!S_ISREG(st.st_mode)) {
		return fail_set(err, -EINVAL, -EINVAL, path,
				"cannot write report '%s': it is %s; name a file or '-' for "
				"standard output",
				path, kind_of(st.st_mode));
	} else if (!is_report(path)) {
		return fail_set(err, -EEXIST, -EEXIST, path,
				"will not replace '%s': it is no report of penstock; name another "
				"file, or remove it",
				path);
	} else {
		*mode = st.st_mode & 07777;
		report->path = realpath(path, NULL);
	}
	return report->path ? 0 : fail_set(err, -ENOMEM, -ENOMEM, path, "out of memory");
}

/* Opens one name for writing under a lock that ends with its process. -EBUSY: another run has it.
 */
static int open_locked(const char *name)
{
	struct stat opened, named;
	int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int code = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &opened) || !S_ISREG(opened.st_mode) || opened.st_uid != geteuid() ||
	    opened.st_nlink != 1 || flock(fd, LOCK_EX | LOCK_NB) || stat(name, &named) ||
	    named.st_ino != opened.st_ino)
		code = -EBUSY;
	else if (ftruncate(fd, 0))
		code = -errno;
	if (!code)
		return fd;
	close(fd);
	return code;
}

/* The name says whose it is, so that what a killed run has left is used again, not added to. */
static int open_temporary(struct report_file *report)
{
	int fd = -EBUSY;

	for (unsigned other = 0; fd == -EBUSY && other <= TEMPORARY_MAX; other++) {
		free(report->temporary);
		if (asprintf(&report->temporary, "%s.penstock-%u.tmp", report->path, other) < 0) {
			report->temporary = NULL;
			return -ENOMEM;
		}
		fd = open_locked(report->temporary);
	}
	return fd;
}

int report_file_open(struct report_file *report, const char *path, struct pst_error *err)
{
	mode_t mode = 0;
	mode_t mask;
	int fd, rc;

	*report = (struct report_file){NULL};
	if (!strcmp(path, "-")) {
		report->stream = stdout;
		return 0;
	}
	rc = settle_path(report, path, &mode, err);
	if (rc)
		return rc;
	fd = open_temporary(report);
	if (fd < 0) {
		rc = fail_set(err, fd, fd, path,
			      "cannot make report '%s': %s; choose another folder", path,
			      fail_errno(-fd).text);
		clear(report);
		return rc;
	}
	/* It is made 0600: give what an ordinary open, or the older report, would have. */
	if (!mode) {
		mask = umask(0);
		umask(mask);
		mode = 0666 & ~mask;
	}
	report->stream = fchmod(fd, mode) ? NULL : fdopen(fd, "w");
	if (report->stream)
		return 0;
	rc = fail_set(err, -errno, -errno, path, "cannot make report '%s': %s", path,
		      fail_errno(errno).text);
	close(fd);
	unlink(report->temporary);
	clear(report);
	return rc;
}

int report_file_try(const char *path, struct pst_error *err)
{
	struct report_file report;
	int rc = report_file_open(&report, path, err);

	if (!rc)
		report_file_abandon(&report);
	return rc;
}

static int commit_stdout(struct report_file *report, struct pst_error *err)
{
	bool bad = fflush(report->stream) || ferror(report->stream);
	int code = report->failed ? report->failed : errno ? -errno : -EIO;

	clear(report);
	return bad ? fail_set(err, code, code, "-",
			      "cannot write the report to standard output: %s",
			      fail_errno(-code).text)
		   : 0;
}

/* Flushes and closes the stream. Returns 0 or -errno, `failed` where that is set. */
static int finish_stream(FILE *stream, int failed)
{
	int code = failed;

	errno = 0;
	/* What fails after the first failure is not its cause. */
	if (!code && (ferror(stream) || fflush(stream) || fsync(fileno(stream))))
		code = errno ? -errno : -EIO;
	if (fclose(stream) && !code)
		code = -errno;
	return code;
}

int report_file_commit(struct report_file *report, struct pst_error *err)
{
	int code;

	errno = 0;
	if (!report->path)
		return commit_stdout(report, err);
	code = finish_stream(report->stream, report->failed);
	report->stream = NULL;
	if (!code && rename(report->temporary, report->path))
		code = -errno;
	if (code) {
		fail_set(err, code, code, report->path,
			 "cannot write report '%s': %s; nothing was left or replaced", report->path,
			 fail_errno(-code).text);
		unlink(report->temporary);
	}
	clear(report);
	return code;
}

void report_file_abandon(struct report_file *report)
{
	if (report->path) {
		fclose(report->stream);
		unlink(report->temporary);
	}
	clear(report);
}

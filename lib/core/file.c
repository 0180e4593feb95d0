/* SPDX-License-Identifier: Apache-2.0 */
#include "core/file.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "os/os.h"
#include "os/root.h"
#include "util/error.h"

#define PAGE_BYTES 4096u

static uint64_t next_id(void)
{
	static _Atomic uint64_t last;

	return atomic_fetch_add(&last, 1) + 1;
}

static const char *type_name(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
		return "a character device";
	default:
		return "of an unknown type";
	}
}

/* Opens the same inode anew, so that flags of the first descriptor stay as they are. */
static int reopen(int fd, int flags)
{
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return os()->open(link, flags | O_CLOEXEC, 0);
}

static void destroy(struct pst_file *file)
{
	if (file->direct_fd >= 0)
		os()->close(file->direct_fd);
	if (file->fd >= 0)
		os()->close(file->fd);
	if (file->owner && !context_forked(file->ctx)) /* a child has forgotten the parent's */
		range_owner_put(file->owner);
	pthread_mutex_destroy(&file->vendor_lock);
	free(file->path);
	free(file);
}

static struct pst_file *new_file(struct pst_context *ctx, const char *path)
{
	struct pst_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->ctx = ctx;
	file->fd = file->direct_fd = -1;
	file->path = strdup(path);
	pthread_mutex_init(&file->vendor_lock, NULL);
	if (!file->path) {
		destroy(file);
		return NULL;
	}
	return file;
}

/* The reason that best says why O_DIRECT is refused here. */
static uint64_t refusal_reason(const struct sto_facts *facts)
{
	if (facts->memory_backed)
		return 1ull << PST_REASON_FS_MEMORY_BACKED;
	return 1ull << PST_REASON_FS_NO_O_DIRECT;
}

/* A descriptor with O_DIRECT beside file->fd. */
static int reopen_direct(const struct pst_file *file, int access)
{
	int flags = os()->fcntl(file->fd, F_GETFL, NULL);

	if (flags >= 0 && flags & O_DIRECT) /* the caller's, which could not be opened anew */
		return os()->fcntl(file->fd, F_DUPFD_CLOEXEC, NULL);
	return reopen(file->fd, access | O_DIRECT);
}

/* Opens the O_DIRECT descriptor if the mode wants it and the file system gives it. */
static int open_direct(struct pst_file *file, enum pst_file_mode mode, int access,
		       struct pst_error *err)
{
	int rc;

	if (mode == PST_FILE_CACHED) {
		file->mode_reasons |= 1ull << PST_REASON_CALLER_CHOICE;
		return 0;
	}
	/* Newer kernels accept O_DIRECT on tmpfs, where it only forbids what is unaligned. */
	if (mode == PST_FILE_AUTO && file->facts.memory_backed) {
		file->mode_reasons |= 1ull << PST_REASON_FS_MEMORY_BACKED;
		return 0;
	}
	file->direct_fd = reopen_direct(file, access);
	rc = file->direct_fd < 0 ? file->direct_fd
				 : sto_alignment(file->direct_fd, &file->facts, &file->align);
	if (rc >= 0 && file->align.offset_bytes > FILE_MAX_BLOCK_BYTES)
		rc = -EOPNOTSUPP;
	if (rc >= 0)
		return 0;
	if (file->direct_fd >= 0)
		os()->close(file->direct_fd);
	file->direct_fd = -1;
	if (mode == PST_FILE_DIRECT)
		return error_set(
			err, PST_E_IO_NOT_SUPPORTED, PST_STAGE_OPEN, file->path,
			"'%s' cannot be opened with O_DIRECT on %s: %s; use the page cache "
			"or a file on a drive",
			file->path, file->facts.fs_type, strerror(-rc));
	if (rc == -EMFILE || rc == -ENFILE)
		return error_set(err, rc, PST_STAGE_OPEN, file->path,
				 "cannot open a second descriptor for '%s': %s; raise the limit on "
				 "open files (ulimit -n)",
				 file->path, strerror(-rc));
	file->mode_reasons |= refusal_reason(&file->facts);
	return 0;
}

static int check_type(struct pst_file *file, struct pst_error *err)
{
	int rc = sto_facts(file->fd, &file->facts);

	if (rc < 0)
		return error_set(err, rc, PST_STAGE_OPEN, file->path, "cannot inspect '%s': %s",
				 file->path, strerror(-rc));
	if (!S_ISREG(file->facts.mode) && !S_ISBLK(file->facts.mode))
		return error_set(err, PST_E_FILE_TYPE, PST_STAGE_OPEN, file->path,
				 "'%s' is %s; only regular files and block devices can be used",
				 file->path, type_name(file->facts.mode));
	return 0;
}

static void set_access(struct pst_file *file, int access)
{
	file->readable = access != O_WRONLY;
	file->writable = access != O_RDONLY;
}

/* What opening by path and by descriptor have in common, once file->fd is open. */
static int complete(struct pst_file *file, enum pst_file_mode mode, int access,
		    struct pst_error *err)
{
	int rc = check_type(file, err);

	if (rc < 0)
		return rc;
	set_access(file, access);
	rc = open_direct(file, mode, access, err);
	if (rc < 0)
		return rc;
	file->fd_id = next_id();
	file->direct_id = next_id();
	file->lock_bytes = PAGE_BYTES;
	if (file->direct_fd >= 0 && file->align.offset_bytes > PAGE_BYTES)
		file->lock_bytes = file->align.offset_bytes;
	if (!file->writable || context_forked(file->ctx))
		return 0;
	file->owner = range_owner_get(file->facts.device, file->facts.inode);
	if (!file->owner)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, file->path,
				 "cannot open '%s': out of memory", file->path);
	return 0;
}

static void enlist(struct pst_file *file)
{
	pthread_mutex_lock(&file->ctx->lock);
	file->next = file->ctx->files;
	file->ctx->files = file;
	pthread_mutex_unlock(&file->ctx->lock);
}

static int finish(struct pst_file *file, int rc, struct pst_file **out)
{
	if (rc < 0) {
		destroy(file);
		return rc;
	}
	enlist(file);
	*out = file;
	return 0;
}

int file_open(struct pst_context *ctx, const char *path, const struct pst_file_options *options,
	      struct pst_file **out, struct pst_error *err)
{
	/* O_NONBLOCK: opening a FIFO must not wait; regular files and devices ignore it. */
	int flags = (options->open_flags & ~O_DIRECT) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct pst_file *file;

	if (options->open_flags & O_APPEND)
		return error_set(err, PST_E_FILE_FLAGS, PST_STAGE_OPEN, path,
				 "'%s' cannot be used with O_APPEND: it overrides the offset of "
				 "writes; open it without",
				 path);
	file = new_file(ctx, path);
	if (!file)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, path,
				 "cannot open '%s': out of memory", path);
	file->no_overlap = options->no_overlap;
	file->fd = os()->open(path, flags, options->create_mode);
	if (file->fd < 0) {
		int rc = file->fd;

		destroy(file);
		return error_set(err, rc, PST_STAGE_OPEN, path, "cannot open '%s' for %s: %s", path,
				 (flags & O_ACCMODE) == O_RDONLY ? "reading" : "writing",
				 strerror(-rc));
	}
	return finish(file, complete(file, options->mode, flags & O_ACCMODE, err), out);
}

int file_from_fd(struct pst_context *ctx, int fd, const struct pst_file_options *options,
		 struct pst_file **out, struct pst_error *err)
{
	int flags = os()->fcntl(fd, F_GETFL, NULL);
	struct pst_file *file;
	char link[40];
	char name[PATH_MAX];

	/* The path is for messages only: files are told apart by the descriptor. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (os_read_link(link, name, sizeof(name)) < 0 || name[0] != '/')
		snprintf(name, sizeof(name), "descriptor %d", fd);
	if (flags < 0)
		return error_set(err, flags, PST_STAGE_OPEN, name, "cannot use %s: %s", name,
				 strerror(-flags));
	if (flags & (O_APPEND | O_PATH))
		return error_set(err, PST_E_FILE_FLAGS, PST_STAGE_OPEN, name,
				 "%s is open with %s and cannot be used; open the file without it",
				 name, flags & O_APPEND ? "O_APPEND" : "O_PATH");
	file = new_file(ctx, name);
	if (!file)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, name, "cannot use %s: out of memory",
				 name);
	file->no_overlap = options->no_overlap;
	file->fd = reopen(fd, flags & O_ACCMODE);
	/* No /proc, or no right to open it again. A copy shares its flags with the caller's. */
	if (file->fd < 0 && file->fd != -EMFILE && file->fd != -ENFILE) {
		if (flags & O_DIRECT &&
		    ((flags & O_ACCMODE) != O_RDONLY || options->mode == PST_FILE_CACHED)) {
			int rc = file->fd;

			destroy(file);
			return error_set(err, PST_E_FILE_FLAGS, PST_STAGE_OPEN, name,
					 "%s has O_DIRECT, and no buffered descriptor can be "
					 "opened beside it: %s; open the file without O_DIRECT",
					 name, strerror(-rc));
		}
		file->fd = os()->fcntl(fd, F_DUPFD_CLOEXEC, NULL);
	}
	if (file->fd < 0) {
		int rc = file->fd;

		destroy(file);
		return error_set(err, rc, PST_STAGE_OPEN, name,
				 "cannot open a descriptor beside %s: %s", name, strerror(-rc));
	}
	return finish(file, complete(file, options->mode, flags & O_ACCMODE, err), out);
}

void file_close(struct pst_file *file)
{
	struct pst_context *ctx = file->ctx;

	pthread_mutex_lock(&ctx->lock);
	for (struct pst_file **at = &ctx->files; *at; at = &(*at)->next) {
		if (*at == file) {
			*at = file->next;
			break;
		}
	}
	pthread_mutex_unlock(&ctx->lock);
	destroy(file);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "os/mounts.h"

#include <errno.h>
#include <libmount.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "os/os.h"
#include "os/root.h"
#include "util/cleanup.h"

/* Facts about struct statx from Linux 5.8 on, for headers that are older. The struct is 256 bytes
 * in every version. */
#define STATX_WANT_MNT_ID   0x1000u
#define STATX_MNT_ID_OFFSET 144
#define NO_MOUNT_ID         (-1)
#define FDINFO_BYTES        4096

static int mount_id_by_statx(int fd)
{
	struct statx stx;
	uint64_t id;

	memset(&stx, 0, sizeof(stx));
	if (os()->statx(fd, "", AT_EMPTY_PATH, STATX_WANT_MNT_ID, &stx) < 0)
		return NO_MOUNT_ID;
	if (!(stx.stx_mask & STATX_WANT_MNT_ID))
		return NO_MOUNT_ID;
	memcpy(&id, (const char *)&stx + STATX_MNT_ID_OFFSET, sizeof(id));
	return id <= INT_MAX ? (int)id : NO_MOUNT_ID;
}

static int mount_id_by_fdinfo(int fd)
{
	char path[64];
	char text[FDINFO_BYTES];
	int id;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (os_read_text(path, text, sizeof(text)) < 0)
		return NO_MOUNT_ID;
	const char *line = strstr(text, "mnt_id:");
	if (!line || sscanf(line, "mnt_id: %d", &id) != 1)
		return NO_MOUNT_ID;
	return id;
}

/* Whether path lies at or below the mount point. */
static bool lies_below(const char *path, const char *point)
{
	size_t length = strlen(point);

	if (length == 1 && point[0] == '/')
		return true;
	return strncmp(path, point, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static struct libmnt_fs *find_by_id(struct libmnt_table *table, struct libmnt_iter *iter, int id)
{
	struct libmnt_fs *fs;

	mnt_reset_iter(iter, MNT_ITER_FORWARD);
	while (mnt_table_next_fs(table, iter, &fs) == 0)
		if (mnt_fs_get_id(fs) == id)
			return fs;
	return NULL;
}

/* Later mounts hide earlier ones at the same place, so of equals the last is taken. */
static struct libmnt_fs *find_by_device(struct libmnt_table *table, struct libmnt_iter *iter,
					dev_t device, const char *path)
{
	struct libmnt_fs *fs, *best = NULL;
	size_t best_length = 0;

	mnt_reset_iter(iter, MNT_ITER_FORWARD);
	while (mnt_table_next_fs(table, iter, &fs) == 0) {
		const char *point = mnt_fs_get_target(fs);

		if (mnt_fs_get_devno(fs) != device || !point || !lies_below(path, point))
			continue;
		if (!best || strlen(point) >= best_length) {
			best = fs;
			best_length = strlen(point);
		}
	}
	return best;
}

static void copy_cut(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

/* Half an option would be read as another one. */
static void copy_options(char *to, size_t size, const char *from)
{
	copy_cut(to, size, from);
	if (from && strlen(from) >= size) {
		char *comma = strrchr(to, ',');

		*(comma ? comma : to) = '\0';
	}
}

static void describe(struct libmnt_fs *fs, struct os_mount *out)
{
	const char *options = mnt_fs_get_options(fs);

	copy_cut(out->fs_type, sizeof(out->fs_type), mnt_fs_get_fstype(fs));
	copy_cut(out->point, sizeof(out->point), mnt_fs_get_target(fs));
	copy_cut(out->source, sizeof(out->source),
		 mnt_fs_get_srcpath(fs) ? mnt_fs_get_srcpath(fs) : mnt_fs_get_source(fs));
	copy_options(out->options, sizeof(out->options), options);
	/* libmount merges both option lists, and "ro" in either makes the merged list say so. */
	out->read_only = options && mnt_fs_match_options(fs, "ro");
}

static int find(struct libmnt_table *table, struct libmnt_iter *iter, int fd, struct os_mount *out)
{
	struct libmnt_fs *fs = NULL;
	struct stat st;
	char link[64];
	char path[PATH_MAX];
	int id = mount_id_by_statx(fd);

	if (id == NO_MOUNT_ID)
		id = mount_id_by_fdinfo(fd);
	if (id != NO_MOUNT_ID) {
		fs = find_by_id(table, iter, id);
	} else {
		int rc = os()->fstat(fd, &st);

		if (rc < 0)
			return rc;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ssize_t length = os_read_link(link, path, sizeof(path));
		if (length < 0)
			return (int)length;
		fs = find_by_device(table, iter, st.st_dev, path);
	}
	if (!fs)
		return -ENOENT;
	describe(fs, out);
	return 0;
}

/* libmount tells lines that it cannot read from others by this; they are left out. */
static int skip_bad_line(struct libmnt_table *table, const char *file, int line)
{
	(void)table, (void)file, (void)line;
	return 1;
}

int os_mount_of(int fd, struct os_mount *out)
{
	int rc = -ENOMEM;
	int table_fd = os_root_open("/proc/self/mountinfo", O_RDONLY);

	memset(out, 0, sizeof(*out));
	if (table_fd < 0)
		return table_fd;
	FILE *file = fdopen(table_fd, "r");
	if (!file) {
		rc = -errno;
		os()->close(table_fd);
		return rc;
	}
	struct libmnt_table *table = mnt_new_table();
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	if (table && iter) {
		mnt_table_set_parser_errcb(table, skip_bad_line);
		rc = mnt_table_parse_stream(table, file, "/proc/self/mountinfo");
		rc = rc < 0 ? rc : find(table, iter, fd, out);
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
	fclose(file);
	return rc;
}

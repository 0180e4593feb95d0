/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/facts.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "os/mounts.h"
#include "os/os.h"
#include "storage/block.h"
#include "storage/filesystem.h"

/* Of f_flags in struct statfs, which libc gives no names for outside statvfs. */
#define STATFS_READ_ONLY 0x0001
#define STATFS_VALID     0x0020

static int block_device_bytes(int fd, uint64_t *bytes)
{
	return os()->ioctl(fd, BLKGETSIZE64, bytes);
}

int64_t sto_file_bytes(int fd)
{
	struct stat st;
	uint64_t bytes = 0;
	int rc = os()->fstat(fd, &st);

	if (rc < 0)
		return rc;
	if (S_ISREG(st.st_mode))
		return st.st_size;
	if (!S_ISBLK(st.st_mode))
		return -EINVAL;
	rc = block_device_bytes(fd, &bytes);
	return rc < 0 ? rc : (int64_t)bytes;
}

static int describe_block_device(int fd, const struct stat *st, struct sto_facts *facts)
{
	int sector_bytes = 0;

	facts->is_block_device = true;
	snprintf(facts->fs_type, sizeof(facts->fs_type), "block");
	sto_block_describe(major(st->st_rdev), minor(st->st_rdev), facts);
	if (facts->logical_block_bytes == 0 && os()->ioctl(fd, BLKSSZGET, &sector_bytes) >= 0)
		facts->logical_block_bytes = (uint32_t)sector_bytes;
	return block_device_bytes(fd, &facts->file_bytes);
}

/* The device number of the block device that a mount names as its source, 0 if it is none. */
static dev_t device_of_source(const char *source)
{
	struct stat st;
	dev_t device = 0;

	if (source[0] != '/')
		return 0;
	int fd = os()->open(source, O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (os()->fstat(fd, &st) == 0 && S_ISBLK(st.st_mode))
		device = st.st_rdev;
	os()->close(fd);
	return device;
}

static void describe_file_system(int fd, const struct stat *st, struct sto_facts *facts)
{
	struct os_mount mount;
	struct statfs fs;
	uint32_t magic = 0;
	dev_t device = st->st_dev;

	if (os()->fstatfs(fd, &fs) == 0) {
		magic = (uint32_t)fs.f_type;
		if (fs.f_flags & STATFS_VALID)
			facts->read_only_mount = fs.f_flags & STATFS_READ_ONLY;
	}
	if (os_mount_of(fd, &mount) < 0)
		memset(&mount, 0, sizeof(mount));
	facts->read_only_mount = facts->read_only_mount || mount.read_only;
	struct sto_fs known = sto_fs_lookup(magic, mount.fs_type);
	const char *type = mount.fs_type[0] ? mount.fs_type : known.name;
	snprintf(facts->fs_type, sizeof(facts->fs_type), "%s", type ? type : "");
	memcpy(facts->mount_point, mount.point, sizeof(facts->mount_point));
	memcpy(facts->mount_options, mount.options, sizeof(facts->mount_options));

	if (known.kind == STO_FS_MANY_DEVICES && major(device) == 0)
		device = device_of_source(mount.source);
	sto_block_describe(major(device), minor(device), facts);
	facts->memory_backed = known.kind == STO_FS_MEMORY;
	facts->network_backed = known.kind == STO_FS_NETWORK ||
				(known.kind == STO_FS_FUSE && facts->block_major == 0);
}

int sto_facts(int fd, struct sto_facts *facts)
{
	struct stat st;
	int rc = os()->fstat(fd, &st);

	memset(facts, 0, sizeof(*facts));
	if (rc < 0)
		return rc;
	facts->device = st.st_dev;
	facts->inode = st.st_ino;
	facts->mode = st.st_mode;
	if (S_ISBLK(st.st_mode))
		return describe_block_device(fd, &st, facts);
	if (S_ISREG(st.st_mode))
		facts->file_bytes = (uint64_t)st.st_size;
	describe_file_system(fd, &st, facts);
	return 0;
}

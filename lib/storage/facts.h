/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands under a descriptor. Everything is taken from the descriptor itself, each time, so
 * that a path that now means another file cannot mislead. All functions are thread safe, leave
 * the descriptor's file position alone and return 0 (or what is said) or -errno.
 */
#ifndef PST_STORAGE_FACTS_H
#define PST_STORAGE_FACTS_H

#include "penstock.h"

struct sto_facts {
	uint64_t device; /* st_dev */
	uint64_t inode;
	uint32_t mode;       /* st_mode */
	uint64_t file_bytes; /* of a regular file or a block device, else 0 */
	bool is_block_device;
	bool read_only_mount;  /* of a file */
	bool read_only_device; /* of the block device below */
	bool memory_backed;    /* tmpfs, ramfs, hugetlbfs; RAM disks are block devices, not this */
	bool network_backed;   /* no local drive below: NFS, SMB, 9p, FUSE with no block device */
	uint32_t block_major;  /* block device below; 0:0 none, or none that is known */
	uint32_t block_minor;
	uint32_t logical_block_bytes; /* of the block device, 0 unknown */
	char block_name[64];          /* "nvme0n1p1", empty unknown */
	char fs_type[32];             /* "ext4", "overlay"; "block" for a block device */
	char mount_point[256];        /* empty for a block device, and when not found */
	char mount_options[256];
};

/* A part that cannot be found out is left empty, never guessed. Fails only when the descriptor
 * cannot be asked at all. On btrfs, the block device is the one that the mount names. */
int sto_facts(int fd, struct sto_facts *facts);

/* Size of the file or device now: bytes, -EINVAL for anything else, or -errno. */
int64_t sto_file_bytes(int fd);

/* Both are powers of two; 1 is no demand. */
struct sto_alignment {
	uint32_t memory_bytes;
	uint32_t offset_bytes; /* of offsets and sizes */
};

/*
 * What O_DIRECT demands on a descriptor that was opened with it: what statx tells (Linux 6.1),
 * else what a probe by reading finds (never writing), but no less than the logical block of a
 * known block device; a file without readable data: the logical block, else 4096.
 * -EOPNOTSUPP: the kernel says that this file takes no O_DIRECT, or fd was opened without it.
 */
int sto_alignment(int direct_fd, const struct sto_facts *facts, struct sto_alignment *out);

/*
 * Bytes of a range that are holes, and that are allocated but unwritten, by FIEMAP after writing
 * dirty pages out. Without FIEMAP: holes by SEEK_HOLE, and *unwritten_bytes is UINT64_MAX; both
 * UINT64_MAX when neither works. The part of the range beyond the end of the file counts as
 * neither. A block device has none of both.
 */
int sto_extents(int fd, uint64_t offset, uint64_t bytes, uint64_t *hole_bytes,
		uint64_t *unwritten_bytes);

/*
 * Bytes of a range in the page cache, by cachestat or mincore; never more than the part of the
 * range inside the file. -EACCES or -EPERM: the kernel does not tell this user.
 */
int sto_resident(int fd, uint64_t offset, uint64_t bytes, uint64_t *resident_bytes);

#define STO_ZERO_SAMPLES      256
#define STO_ZERO_SAMPLE_BYTES 4096

/*
 * Reads up to STO_ZERO_SAMPLES evenly spread samples of a range and counts the bytes of those
 * that are all zero. Reads through direct_fd if that is not -1, which leaves the page cache as
 * it is. Otherwise reads through fd, and a page that this brought into the cache is dropped
 * again, best effort.
 */
int sto_zero_sample(int fd, int direct_fd, uint64_t offset, uint64_t bytes, uint64_t *sampled_bytes,
		    uint64_t *zero_bytes);

/* Writes dirty pages of the range out and asks the kernel to drop it from the page cache, which
 * it may not do: sto_resident tells. */
int sto_evict(int fd, uint64_t offset, uint64_t bytes);

/* Bytes read and written by a block device or partition since boot. 1 when they may stand still:
 * the kernel's switch for counting is off, which not every kernel heeds on a mapped device. -ENODEV
 * when it has no statistics. */
int sto_device_bytes(uint32_t major, uint32_t minor, uint64_t *read_bytes, uint64_t *written_bytes);

#endif

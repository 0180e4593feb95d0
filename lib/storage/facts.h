/* SPDX-License-Identifier: Apache-2.0 */
/* What stands under a descriptor. Everything is taken from the descriptor itself, each time, so
 * that a path that now means another file cannot mislead. */
#ifndef PST_STORAGE_FACTS_H
#define PST_STORAGE_FACTS_H

#include "penstock.h"

struct sto_facts {
	uint64_t device; /* st_dev */
	uint64_t inode;
	uint32_t mode;	 /* st_mode */
	uint64_t file_bytes; /* of a regular file or a block device */
	bool is_block_device;
	bool read_only_mount;
	bool memory_backed;
	bool network_backed;
	uint32_t block_major, block_minor; /* 0:0 none */
	uint32_t logical_block_bytes;	   /* of the block device, 0 unknown */
	char block_name[64];
	char fs_type[32];
	char mount_point[256];
	char mount_options[256];
};

/* 0 or -errno. A part that cannot be found out is left empty, never guessed. */
int sto_facts(int fd, struct sto_facts *facts);

/* Size of the file or device now: bytes or -errno. */
int64_t sto_file_bytes(int fd);

/* O_DIRECT demands of a descriptor that has O_DIRECT: statx where the kernel tells, else a probe by reading
 * (never writing), else the logical block. Both are powers of two. 0 or -errno (-EOPNOTSUPP: no O_DIRECT). */
struct sto_alignment {
	uint32_t memory_bytes;
	uint32_t offset_bytes;
};
int sto_alignment(int direct_fd, const struct sto_facts *facts, struct sto_alignment *out);

/* Holes and unwritten extents of a range by FIEMAP (SEEK_HOLE as a fallback, then *unwritten is
 * UINT64_MAX). 0 or -errno. */
int sto_extents(int fd, uint64_t offset, uint64_t bytes, uint64_t *hole_bytes,
		uint64_t *unwritten_bytes);

/* Bytes of a range in the page cache, by cachestat or mincore. 0 or -errno. */
int sto_resident(int fd, uint64_t offset, uint64_t bytes, uint64_t *resident_bytes);

/* Reads up to 256 evenly spread samples and counts those that are all zero. direct_fd or -1. */
int sto_zero_sample(int fd, int direct_fd, uint64_t offset, uint64_t bytes,
		    uint64_t *sampled_bytes, uint64_t *zero_bytes);

/* Writes dirty pages of the range and asks the kernel to drop it from the page cache. */
int sto_evict(int fd, uint64_t offset, uint64_t bytes);

/* Bytes read and written by a block device since boot. -ENODEV when it has no statistics. */
int sto_device_bytes(uint32_t major, uint32_t minor, uint64_t *read_bytes,
		     uint64_t *written_bytes);

#endif

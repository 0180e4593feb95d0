/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/facts.h"

#include <assert.h>
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "storage/range.h"
#include "storage/reopen.h"
#include "util/cleanup.h"

#define EXTENTS_PER_CALL 256
/* 16 million extents: a file in more pieces is left with an error instead of a long walk. */
#define MAX_CALLS 65536
#define MAX_SEEKS ((uint64_t)1 << 24)

/* A walk through the extents of a range in order. */
struct walk {
	uint64_t position; /* everything before is accounted for */
	uint64_t end;
	uint64_t hole_bytes;
	uint64_t unwritten_bytes;
	bool last_seen;
};

static void account(struct walk *walk, const struct fiemap_extent *extent)
{
	uint64_t start = extent->fe_logical;
	uint64_t stop = extent->fe_logical + extent->fe_length;

	if (start < walk->position)
		start = walk->position;
	if (start > walk->end)
		start = walk->end;
	if (stop > walk->end)
		stop = walk->end;
	walk->hole_bytes += start - walk->position;
	walk->position = start;
	if (stop > start) {
		if (extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
			walk->unwritten_bytes += stop - start;
		walk->position = stop;
	}
	walk->last_seen = walk->last_seen || (extent->fe_flags & FIEMAP_EXTENT_LAST);
}

static int walk_by_fiemap(int fd, struct walk *walk)
{
	size_t bytes = sizeof(struct fiemap) + EXTENTS_PER_CALL * sizeof(struct fiemap_extent);
	CLEANUP_FREE struct fiemap *map = malloc(bytes);

	if (!map)
		return -ENOMEM;
	for (unsigned call = 0; walk->position < walk->end && !walk->last_seen; call++) {
		uint64_t before = walk->position;

		if (call == MAX_CALLS)
			return -EFBIG;
		memset(map, 0, sizeof(*map));
		map->fm_start = walk->position;
		map->fm_length = walk->end - walk->position;
		map->fm_flags = FIEMAP_FLAG_SYNC;
		map->fm_extent_count = EXTENTS_PER_CALL;
		int rc = os()->ioctl(fd, FS_IOC_FIEMAP, map);
		if (rc < 0)
			return rc;
		for (unsigned i = 0; i < map->fm_mapped_extents; i++)
			account(walk, &map->fm_extents[i]);
		if (map->fm_mapped_extents == 0)
			break;
		if (walk->position == before)
			return -EOPNOTSUPP; /* the answer makes no sense */
	}
	walk->hole_bytes += walk->end - walk->position; /* nothing is mapped there */
	return 0;
}

/* The next data or hole at or after a position, the end of the range if there is none. */
static int64_t next(int fd, uint64_t position, int whence, uint64_t end)
{
	off_t at = os()->lseek(fd, (off_t)position, whence);

	if (at == -ENXIO) /* nothing but a hole up to the end of the file */
		return (int64_t)end;
	return at > (off_t)end ? (int64_t)end : at;
}

/*
 * File systems that know nothing of holes answer that everything is data. Then the allocated
 * size may give it away.
 */
static bool claims_no_holes_but_has(int fd)
{
	struct stat st;

	if (os()->fstat(fd, &st) < 0 || st.st_size == 0)
		return true;
	if (os()->lseek(fd, 0, SEEK_HOLE) != st.st_size)
		return false;
	return st.st_blocks * 512 + st.st_blksize < st.st_size;
}

static int walk_by_seek(int fd, struct walk *walk)
{
	for (uint64_t seek = 0; walk->position < walk->end; seek++) {
		int64_t data = next(fd, walk->position, SEEK_DATA, walk->end);
		int64_t hole = data < 0 ? data : next(fd, (uint64_t)data, SEEK_HOLE, walk->end);

		if (hole < 0)
			return (int)hole;
		if (seek == MAX_SEEKS)
			return -EFBIG;
		walk->hole_bytes += (uint64_t)data - walk->position;
		walk->position = (uint64_t)hole;
	}
	return walk->hole_bytes == 0 && claims_no_holes_but_has(fd) ? -EOPNOTSUPP : 0;
}

static int extents_by_seek(int fd, const struct sto_range *range, uint64_t *hole_bytes)
{
	struct walk walk = {.position = range->start, .end = range->end};
	int own_fd = sto_reopen_for_reading(fd);

	*hole_bytes = UINT64_MAX;
	if (own_fd < 0)
		return 0;
	int rc = walk_by_seek(own_fd, &walk);
	os()->close(own_fd);
	if (rc == 0)
		*hole_bytes = walk.hole_bytes;
	return rc == -EINVAL || rc == -EOPNOTSUPP ? 0 : rc;
}

static bool fiemap_is_missing(int rc)
{
	return rc == -EOPNOTSUPP || rc == -ENOTTY || rc == -ENOSYS || rc == -EINVAL ||
	       rc == -EBADR || rc == -EPERM;
}

int sto_extents(int fd, uint64_t offset, uint64_t bytes, uint64_t *hole_bytes,
		uint64_t *unwritten_bytes)
{
	struct sto_range range;
	struct stat st;
	int rc = os()->fstat(fd, &st);

	rc = rc < 0 ? rc : sto_range_inside(fd, offset, bytes, &range);
	if (rc < 0)
		return rc;
	*hole_bytes = 0;
	*unwritten_bytes = 0;
	if (range.start == range.end || S_ISBLK(st.st_mode))
		return 0;
	struct walk walk = {.position = range.start, .end = range.end};
	rc = walk_by_fiemap(fd, &walk);
	if (fiemap_is_missing(rc)) {
		*unwritten_bytes = UINT64_MAX;
		return extents_by_seek(fd, &range, hole_bytes);
	}
	if (rc < 0)
		return rc;
	assert(walk.hole_bytes + walk.unwritten_bytes <= range.end - range.start);
	*hole_bytes = walk.hole_bytes;
	*unwritten_bytes = walk.unwritten_bytes;
	return 0;
}

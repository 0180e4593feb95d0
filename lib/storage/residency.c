/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/os.h"
#include "storage/range.h"
#include "util/cleanup.h"

/* How much of a file is mapped at once to ask mincore: a byte of memory per page. */
#define WINDOW_BYTES ((uint64_t)1 << 30)

/*
 * To a user who neither owns a file nor may write it, mincore says since Linux 5.2 that all of
 * it is resident. That would be a lie in our mouth.
 */
static int mincore_tells_truth(int fd)
{
	struct stat st;
	char path[64];
	int rc = os()->fstat(fd, &st);

	if (rc < 0)
		return rc;
	if (st.st_uid == geteuid())
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : -EPERM;
}

/* Adds the resident pages of one window, which starts at a page. */
static int count_window(int fd, uint64_t start, size_t bytes, unsigned char *pages,
			size_t page_bytes, uint64_t *resident_pages)
{
	size_t count = (bytes + page_bytes - 1) / page_bytes;
	void *map = os()->mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)start);

	if (map == MAP_FAILED)
		return -errno;
	int rc = os()->mincore(map, bytes, pages);
	os()->munmap(map, bytes);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		*resident_pages += pages[i] & 1;
	return 0;
}

static int count_by_mincore(int fd, const struct sto_range *range, size_t page_bytes,
			    uint64_t *resident_pages)
{
	uint64_t start = range->start / page_bytes * page_bytes;
	CLEANUP_FREE unsigned char *pages = malloc(WINDOW_BYTES / page_bytes);
	int rc = mincore_tells_truth(fd);

	if (rc < 0)
		return rc;
	if (!pages)
		return -ENOMEM;
	*resident_pages = 0;
	for (; start < range->end; start += WINDOW_BYTES) {
		uint64_t left = range->end - start;
		size_t bytes = left < WINDOW_BYTES ? left : WINDOW_BYTES;

		rc = count_window(fd, start, bytes, pages, page_bytes, resident_pages);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int sto_resident(int fd, uint64_t offset, uint64_t bytes, uint64_t *resident_bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct os_cachestat stat;
	struct sto_range range;
	uint64_t pages = 0;
	int rc = sto_range_inside(fd, offset, bytes, &range);

	if (rc < 0)
		return rc;
	uint64_t inside = range.end - range.start;
	if (inside > 0) {
		rc = os()->cachestat(fd, range.start, inside, &stat);
		pages = stat.cached;
		/* Sandboxes may refuse by EPERM a call that they do not know. */
		if (rc == -ENOSYS || rc == -EOPNOTSUPP || rc == -EPERM)
			rc = count_by_mincore(fd, &range, page_bytes, &pages);
		if (rc < 0)
			return rc;
	}
	/* The pages at both ends stick out of the range. */
	uint64_t whole = pages * page_bytes;
	*resident_bytes = whole < inside ? whole : inside;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/facts.h"

#include <errno.h>
#include <unistd.h>

#include "os/os.h"
#include "storage/range.h"

int sto_evict(int fd, uint64_t offset, uint64_t bytes)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct sto_range range;
	int rc = sto_range_inside(fd, offset, bytes, &range);

	if (rc < 0)
		return rc;
	if (range.start == range.end)
		return 0; /* a length of zero would mean "to the end" */
	/* The kernel passes over pages that lie in the range only in part. */
	uint64_t start = range.start / page_bytes * page_bytes;
	uint64_t length = (range.end - start + page_bytes - 1) / page_bytes * page_bytes;
	rc = os()->sync_file_range(fd, (off_t)start, (off_t)length,
				   SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
					   SYNC_FILE_RANGE_WAIT_AFTER);
	/* Where the call is missing, clean pages can still be dropped. */
	if (rc < 0 && rc != -ENOSYS && rc != -EPERM)
		return rc;
	return os()->fadvise(fd, (off_t)start, (off_t)length, POSIX_FADV_DONTNEED);
}

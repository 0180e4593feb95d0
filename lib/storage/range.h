/* SPDX-License-Identifier: Apache-2.0 */
/* A byte range of a file, cut at its end. */
#ifndef PST_STORAGE_RANGE_H
#define PST_STORAGE_RANGE_H

#include "storage/facts.h"

struct sto_range {
	uint64_t start;
	uint64_t end; /* at most the size of the file, unless the range is empty: then start */
};

/* The part of [offset, offset + bytes) inside the file or device. 0 or -errno. */
static inline int sto_range_inside(int fd, uint64_t offset, uint64_t bytes, struct sto_range *out)
{
	int64_t size = sto_file_bytes(fd);

	out->start = offset;
	out->end = offset;
	if (size < 0)
		return (int)size;
	if (offset < (uint64_t)size)
		out->end = bytes < (uint64_t)size - offset ? offset + bytes : (uint64_t)size;
	return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/facts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "storage/range.h"
#include "storage/reopen.h"
#include "storage/storage.h"

struct sampler {
	int fd;        /* for residency and dropping */
	int cached_fd; /* buffered reads, without read-ahead where it could be opened anew */
	int direct_fd; /* -1 none */
	uint64_t page_bytes;
};

static bool all_zero(const char *bytes, size_t count)
{
	return count > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Reads through the page cache and leaves it as it was. */
static ssize_t read_cached(const struct sampler *s, char *sample, uint64_t offset)
{
	uint64_t page = offset / s->page_bytes * s->page_bytes;
	uint64_t resident = 0;
	bool absent = sto_resident(s->fd, page, s->page_bytes, &resident) == 0 && resident == 0;
	ssize_t n =
		sto_transfer(false, s->cached_fd, sample, STO_ZERO_SAMPLE_BYTES, (int64_t)offset);

	if (n > 0 && absent)
		os()->fadvise(s->fd, (off_t)page, (off_t)s->page_bytes, POSIX_FADV_DONTNEED);
	return n;
}

static ssize_t read_sample(struct sampler *s, char *sample, uint64_t offset)
{
	if (s->direct_fd >= 0) {
		ssize_t n = sto_transfer(false, s->direct_fd, sample, STO_ZERO_SAMPLE_BYTES,
					 (int64_t)offset);
		if (n != -EINVAL)
			return n;
		s->direct_fd = -1; /* its blocks are larger than a sample */
	}
	return read_cached(s, sample, offset);
}

static int take_samples(struct sampler *s, const struct sto_range *range, uint64_t *sampled_bytes,
			uint64_t *zero_bytes)
{
	_Alignas(STO_ZERO_SAMPLE_BYTES) char sample[STO_ZERO_SAMPLE_BYTES];
	uint64_t first = range->start / STO_ZERO_SAMPLE_BYTES;
	uint64_t blocks = (range->end + STO_ZERO_SAMPLE_BYTES - 1) / STO_ZERO_SAMPLE_BYTES - first;
	uint64_t count = blocks < STO_ZERO_SAMPLES ? blocks : STO_ZERO_SAMPLES;

	for (uint64_t i = 0; i < count; i++) {
		/* The first block, the last, and the others at even distances between. */
		uint64_t step = count > 1 ? i * (blocks - 1) / (count - 1) : 0;
		uint64_t offset = (first + step) * STO_ZERO_SAMPLE_BYTES;
		ssize_t n = read_sample(s, sample, offset);

		if (n < 0)
			return (int)n;
		uint64_t from = offset < range->start ? range->start : offset;
		uint64_t to = offset + (uint64_t)n < range->end ? offset + (uint64_t)n : range->end;
		if (to <= from)
			continue; /* the file has become shorter */
		*sampled_bytes += to - from;
		if (all_zero(sample + (from - offset), to - from))
			*zero_bytes += to - from;
	}
	return 0;
}

int sto_zero_sample(int fd, int direct_fd, uint64_t offset, uint64_t bytes, uint64_t *sampled_bytes,
		    uint64_t *zero_bytes)
{
	struct sto_range range;
	struct sampler sampler = {.fd = fd, .direct_fd = direct_fd};
	int rc = sto_range_inside(fd, offset, bytes, &range);

	if (rc < 0)
		return rc;
	*sampled_bytes = 0;
	*zero_bytes = 0;
	if (range.start == range.end)
		return 0;
	sampler.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	/* For a file that is used through the page cache too: where residency is hidden from this
	 * user, buffered samples could not be dropped again. */
	int own_direct_fd = direct_fd < 0 ? sto_reopen_direct(fd) : -1;
	if (own_direct_fd >= 0)
		sampler.direct_fd = own_direct_fd;
	int own_fd = sto_reopen_for_reading(fd);
	sampler.cached_fd = own_fd >= 0 ? own_fd : fd;
	if (own_fd >= 0)
		os()->fadvise(own_fd, 0, 0, POSIX_FADV_RANDOM);
	rc = take_samples(&sampler, &range, sampled_bytes, zero_bytes);
	if (own_fd >= 0)
		os()->close(own_fd);
	if (own_direct_fd >= 0)
		os()->close(own_direct_fd);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "storage/reopen.h"
#include "storage/storage.h"
#include "util/cleanup.h"

/* Facts about struct statx from Linux 6.1 on, for headers that are older. The struct is 256 bytes
 * in every version. */
#define STATX_WANT_DIOALIGN     0x2000u
#define STATX_DIO_MEMORY_OFFSET 152
#define STATX_DIO_FILE_OFFSET   156

/* Without any knowledge of the device: no drive in use has larger logical blocks. */
#define CAUTIOUS_BYTES       4096
#define SMALLEST_BLOCK_BYTES 512

static bool is_power_of_two(uint32_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

/* 1 told, 0 not told, -EOPNOTSUPP: told that there is no O_DIRECT. */
static int ask_statx(int fd, struct sto_alignment *out)
{
	struct statx stx;

	memset(&stx, 0, sizeof(stx));
	if (os()->statx(fd, "", AT_EMPTY_PATH, STATX_WANT_DIOALIGN, &stx) < 0)
		return 0;
	if (!(stx.stx_mask & STATX_WANT_DIOALIGN))
		return 0;
	memcpy(&out->memory_bytes, (const char *)&stx + STATX_DIO_MEMORY_OFFSET,
	       sizeof(out->memory_bytes));
	memcpy(&out->offset_bytes, (const char *)&stx + STATX_DIO_FILE_OFFSET,
	       sizeof(out->offset_bytes));
	if (out->memory_bytes == 0 || out->offset_bytes == 0)
		return -EOPNOTSUPP;
	return is_power_of_two(out->memory_bytes) && is_power_of_two(out->offset_bytes);
}

/* Holes are read without asking the device and accept anything, so the probe looks for data.
 * Its offset, a multiple of CAUTIOUS_BYTES inside the file, or -1. */
static int64_t find_data(int fd, int64_t file_bytes)
{
	int own_fd = sto_reopen_for_reading(fd);
	off_t at = 0;

	if (file_bytes <= 0)
		return -1;
	if (own_fd >= 0) {
		at = os()->lseek(own_fd, 0, SEEK_DATA);
		os()->close(own_fd);
	}
	if (at == -ENXIO)
		return -1;
	return at < 0 ? 0 : at / CAUTIOUS_BYTES * CAUTIOUS_BYTES;
}

/* Whether a read of `bytes` at `offset` into `memory` is accepted; -errno when that is no
 * question of alignment. */
static int accepts(int fd, char *memory, size_t bytes, int64_t offset)
{
	ssize_t n = sto_transfer(false, fd, memory, bytes, offset);

	if (n >= 0)
		return 1;
	return n == -EINVAL ? 0 : (int)n;
}

/*
 * Tries a demand on offsets and sizes, then on addresses, each from the smallest up; the buffer
 * is page aligned, so that only one thing is tried at a time. 1 found, 0 nothing is accepted,
 * -errno.
 */
static int probe(int fd, char *memory, int64_t at, uint32_t smallest, struct sto_alignment *out)
{
	int rc = 0;
	uint32_t align;

	for (align = smallest; align <= CAUTIOUS_BYTES; align = align == 1 ? 512 : align * 2) {
		/* Both the size and the offset are multiples of align and of nothing larger. */
		rc = accepts(fd, memory, align, at);
		if (rc > 0)
			rc = accepts(fd, memory, align, at + align);
		if (rc != 0)
			break;
	}
	if (rc <= 0)
		return rc;
	out->offset_bytes = align;
	for (align = smallest; align < CAUTIOUS_BYTES; align = align == 1 ? 512 : align * 2) {
		rc = accepts(fd, memory + align, CAUTIOUS_BYTES, at);
		if (rc != 0)
			break;
	}
	out->memory_bytes = align;
	return rc < 0 ? rc : 1;
}

int sto_alignment(int direct_fd, const struct sto_facts *facts, struct sto_alignment *out)
{
	uint32_t block = facts->logical_block_bytes;
	uint32_t cautious = block ? block : CAUTIOUS_BYTES;
	int flags = os()->fcntl(direct_fd, F_GETFL, NULL);

	if (flags < 0)
		return flags;
	if (!(flags & O_DIRECT))
		return -EOPNOTSUPP;
	int rc = ask_statx(direct_fd, out);
	if (rc != 0)
		return rc < 0 ? rc : 0;

	/* Some file systems serve an unaligned request through the page cache without a word, so
	 * less than a block is believed only where there is no block device. */
	bool byte_wise = facts->memory_backed || facts->network_backed;
	uint32_t smallest = byte_wise ? 1 : block ? block : SMALLEST_BLOCK_BYTES;
	int64_t at = find_data(direct_fd, sto_file_bytes(direct_fd));
	CLEANUP_FREE char *memory = aligned_alloc(CAUTIOUS_BYTES, (size_t)2 * CAUTIOUS_BYTES);
	if (!memory)
		return -ENOMEM;
	if (at >= 0 && (flags & O_ACCMODE) != O_WRONLY)
		rc = probe(direct_fd, memory, at, smallest, out);
	if (rc <= 0)
		*out = (struct sto_alignment){cautious, cautious};
	return 0;
}

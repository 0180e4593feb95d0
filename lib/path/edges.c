/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unaligned ends of O_DIRECT writes.
 *
 * A block that lies inside the file is read, changed and written with O_DIRECT. A block that the
 * file ends in, or that is past its end, goes through the page cache, which keeps the exact size
 * without padding and truncating (that could cut off another writer). Either way the block is
 * held exclusively, within the process by a range lock and between processes by a file lock.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "path/pipeline.h"
#include "util/error.h"

/* One block and the part of it that is written. */
struct edge {
	struct request *request;
	struct counters *counters;
	uint64_t block_start; /* in the file */
	uint32_t block_bytes;
	size_t start, end;   /* the part, relative to the request */
	const uint8_t *data; /* host memory with the part's bytes */
	uint8_t *block;      /* aligned memory of block_bytes */
};

static uint64_t part_offset(const struct edge *edge)
{
	return edge->request->offset + edge->start;
}

static ssize_t transfer_block(struct edge *edge, bool write)
{
	counter_add(&edge->counters->posix_requests, 1);
	return sto_transfer(write, edge->request->file->direct_fd, edge->block, edge->block_bytes,
			    (int64_t)edge->block_start);
}

static int read_modify_write(struct edge *edge)
{
	ssize_t n = transfer_block(edge, false);

	if (n < 0)
		return (int)n;
	if ((size_t)n < edge->block_bytes)
		return -EAGAIN; /* the file was cut meanwhile: the caller looks again */
	memcpy(edge->block + (part_offset(edge) - edge->block_start), edge->data,
	       edge->end - edge->start);
	n = transfer_block(edge, true);
	if (n < 0)
		return (int)n;
	return (size_t)n == edge->block_bytes ? 0 : -EIO;
}

static int write_buffered(struct edge *edge)
{
	size_t bytes = edge->end - edge->start, done = 0;

	while (done < bytes) {
		ssize_t n = sto_transfer(true, edge->request->file->fd, (void *)(edge->data + done),
					 bytes - done, (int64_t)(part_offset(edge) + done));
		counter_add(&edge->counters->posix_requests, 1);
		if (n < 0)
			return (int)n;
		if (n == 0)
			return -ENOSPC;
		done += (size_t)n;
	}
	return 0;
}

/* Under the locks. */
static int write_part(struct edge *edge)
{
	const struct pst_file *file = edge->request->file;
	int64_t file_bytes = sto_file_bytes(file->fd);
	bool inside = edge->block_start + edge->block_bytes <= (uint64_t)file_bytes;
	int rc;

	if (file_bytes < 0)
		return (int)file_bytes;
	edge->request->choice.reasons |=
		1ull << (inside ? PST_REASON_READ_MODIFY_WRITE : PST_REASON_PAST_END);
	/* Of a descriptor that cannot be read, the kernel does the same in its page cache. */
	if (!inside || !file->readable)
		return write_buffered(edge);
	rc = read_modify_write(edge);
	return rc == -EAGAIN ? write_buffered(edge) : rc;
}

static int write_locked(struct edge *edge)
{
	const struct pst_file *file = edge->request->file;
	uint64_t start = edge->block_start - edge->block_start % file->lock_bytes;
	uint64_t end = edge->block_start + edge->block_bytes + file->lock_bytes - 1;
	struct range_hold hold;
	int locked, rc;

	end -= end % file->lock_bytes;
	range_lock(file->owner, start, end, true, &hold);
	locked = range_lock_file(file->fd, start, end, true);
	rc = locked < 0 ? locked : write_part(edge);
	if (locked == 0)
		range_unlock_file(file->fd, start, end);
	range_unlock(file->owner, &hold);
	return rc;
}

/* Brings the part's bytes to host memory. */
static int fetch(struct pipeline *p, struct edge *edge, uint8_t *memory, struct pst_error *err)
{
	const struct target *target = &edge->request->target;
	struct lane_queue *entry;
	struct dev_mark *mark;
	int rc;

	edge->data = target->address + edge->start;
	if (!target->device)
		return 0;
	rc = lane_enter(p->lane, target->device, target->context, &entry, err);
	if (rc < 0)
		return rc;
	rc = entry->device->ops->mark_new(entry->queue, &mark, err);
	if (rc < 0)
		return rc;
	rc = entry->device->ops->copy_out(entry->queue, memory, edge->data, edge->end - edge->start,
					  err);
	if (rc == 0)
		rc = entry->device->ops->mark_set(entry->queue, mark, err);
	if (rc == 0)
		rc = entry->device->ops->mark_wait(mark, err);
	entry->device->ops->mark_free(mark);
	edge->data = memory;
	return rc;
}

/* Writes [start, end) of the request, which lies in one block. */
static void write_edge(struct pipeline *p, struct request *request, struct slot *slot, size_t start,
		       size_t end)
{
	uint32_t block_bytes = request->file->align.offset_bytes;
	uint64_t offset = request->offset + start;
	struct edge edge = {
		.request = request,
		.counters = &p->lane->counters,
		.block_start = offset - offset % block_bytes,
		.block_bytes = block_bytes,
		.start = start,
		.end = end,
		.block = slot->memory,
	};
	struct pst_error err = {0};
	int rc;

	assert(block_bytes <= slot->bytes / 2); /* file_open sees to it */
	rc = fetch(p, &edge, slot->memory + slot->bytes / 2, &err);
	if (rc < 0) {
		request_fail(request, &err);
		return;
	}
	rc = write_locked(&edge);
	if (rc < 0)
		request_fail_storage(request, rc, offset);
}

/* [start, end) of the request, block by block. */
static void write_range(struct pipeline *p, struct request *request, struct slot *slot,
			size_t start, size_t end)
{
	uint32_t block_bytes = request->file->align.offset_bytes;

	while (start < end && !request_failed(request)) {
		size_t in_block = block_bytes - (request->offset + start) % block_bytes;
		size_t part_end = end - start < in_block ? end : start + in_block;

		write_edge(p, request, slot, start, part_end);
		start = part_end;
	}
}

void edges_write(struct pipeline *p, struct request *request)
{
	bool exhausted;
	struct slot *slot = slot_get(&p->lane->slots, SLOT_SMALL_BYTES, &exhausted);

	if (!slot) {
		request_fail_storage(request, -ENOMEM, request->offset);
		return;
	}
	write_range(p, request, slot, 0, request->middle_start);
	write_range(p, request, slot, request->middle_end, request->bytes);
	slot_put(&p->lane->slots, slot);
}

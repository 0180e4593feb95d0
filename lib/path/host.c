/* SPDX-License-Identifier: Apache-2.0 */
/* The host path when nothing stands between the file and the caller's memory. */
#include <errno.h>

#include "path/transfer.h"

static bool usable(const struct request *request)
{
	const struct pst_file *file = request->file;

	if (request->target.device || request->want_ring)
		return false;
	if (!request->choice.direct_fd)
		return true;
	return request->offset % file->align.offset_bytes == 0 &&
	       request->bytes % file->align.offset_bytes == 0 &&
	       (uintptr_t)request->target.address % file->align.memory_bytes == 0;
}

/* Goes on after short transfers; a read ends at the first zero or part of a block. */
static ssize_t transfer_all(struct lane *lane, struct request *request)
{
	const struct pst_file *file = request->file;
	int fd = request->choice.direct_fd ? file->direct_fd : file->fd;
	uint32_t block = request->choice.direct_fd ? file->align.offset_bytes : 1;
	bool write = request->op == PST_OP_WRITE;
	size_t done = 0;

	while (done < request->bytes) {
		size_t left = request->bytes - done;
		size_t asked = left < STO_MAX_BYTES ? left : STO_MAX_BYTES;
		ssize_t n = sto_transfer(write, fd, request->target.address + done, asked,
					 (int64_t)(request->offset + done));

		counter_add(&lane->counters.posix_requests, 1);
		if (n == 0 && write)
			n = -ENOSPC;
		if (n < 0) {
			request_fail_storage(request, (int)n, request->offset + done);
			return request->error.code;
		}
		done += (size_t)n;
		if (n == 0 || done == request->bytes || (done % block && !write))
			break;
		if ((size_t)n < block) { /* no whole block went through */
			request_fail_storage(request, -ENOSPC, request->offset + done);
			return -ENOSPC;
		}
		done -= done % block;
		if ((size_t)n < asked)
			counter_add(&lane->counters.short_transfers, 1);
	}
	return (ssize_t)done;
}

bool host_transfer(struct lane *lane, struct request *request)
{
	const struct pst_file *file = request->file;
	uint64_t unit = file->lock_bytes;
	uint64_t start = request->offset - request->offset % unit;
	uint64_t end = request->offset + request->bytes + unit - 1;
	struct range_hold hold;

	if (!usable(request))
		return false;
	if (request->op == PST_OP_READ) {
		request->result = transfer_all(lane, request);
	} else {
		range_lock(file->owner, start, end - end % unit, false, &hold);
		request->result = transfer_all(lane, request);
		range_unlock(file->owner, &hold);
	}
	request->state = REQUEST_DONE;
	counters_request(&lane->counters, request->op, request->choice.path,
			 request->choice.reasons, request->result);
	return true;
}

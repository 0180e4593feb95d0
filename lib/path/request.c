/* SPDX-License-Identifier: Apache-2.0 */
#include "path/request.h"

#include <errno.h>
#include <string.h>

#include "path/vendor_path.h"
#include "util/error.h"

/* Up to so many threads in synchronous calls, each request is cut. */
#define ALONE_THREADS 2

void request_fail(struct request *request, const struct pst_error *err)
{
	if (request_failed(request))
		return;
	request->error = *err;
	if (request->error.code >= 0)
		error_set(&request->error, PST_E_INTERNAL, PST_STAGE_NONE, request->file->path,
			  "a request on '%s' failed without a cause", request->file->path);
}

void request_fail_storage(struct request *request, int code, uint64_t offset)
{
	struct pst_error err;
	const char *verb = request->op == PST_OP_READ ? "read" : "write";

	if (code == -EFAULT) {
		error_set(&err, PST_E_POINTER_INVALID, PST_STAGE_STORAGE, request->file->path,
			  "cannot %s '%s' at byte %llu: the buffer at %p is not mapped memory that "
			  "allows it; pass memory that lives until the call returns",
			  verb, request->file->path, (unsigned long long)offset,
			  (void *)request->target.address);
		err.sys_errno = EFAULT;
		request_fail(request, &err);
		return;
	}
	error_set(&err, code, PST_STAGE_STORAGE, request->file->path,
		  "cannot %s '%s' at byte %llu: %s", verb, request->file->path,
		  (unsigned long long)offset, strerror(-code));
	request_fail(request, &err);
}

/* The whole blocks of a direct write go in pieces; what is left at both ends are edges. */
static void set_middle(struct request *request)
{
	uint32_t unit = request->choice.direct_fd ? request->file->align.offset_bytes : 1;
	uint64_t first = request->offset + unit - 1;
	uint64_t end = request->offset + request->bytes;

	request->middle_start = 0;
	request->middle_end = request->bytes;
	if (request->op == PST_OP_READ || unit == 1)
		return;
	first -= first % unit;
	end -= end % unit;
	if (end <= first) { /* no whole block */
		request->middle_start = request->middle_end = 0;
		return;
	}
	request->middle_start = first - request->offset;
	request->middle_end = end - request->offset;
}

static void set_pieces(struct request *request, const struct pst_options *options, struct load load)
{
	bool alone = load.in_flight == 1 && load.threads <= ALONE_THREADS;

	request->piece_bytes = options->chunk_bytes;
	request->piece_limit = request->file->no_overlap ? 1 : options->chunks_in_flight;
	/* A lone request of a piece or less overlaps storage and copy only when it is cut. With
	 * many threads, requests overlap each other, and more copies would only cost. */
	if (request->target.device && alone && request->piece_limit > 1 &&
	    request->bytes > SLOT_MEDIUM_BYTES && request->bytes <= options->chunk_bytes)
		request->piece_bytes = SLOT_MEDIUM_BYTES;
	if (!request->choice.direct_fd || options->storage == PST_STORAGE_POSIX)
		return;
	/* Files in memory are copied inside the call that submits: a ring is only a detour. */
	if (request->file->facts.memory_backed && options->storage != PST_STORAGE_URING)
		return;
	request->want_ring = options->storage == PST_STORAGE_URING || load.in_flight > 1 ||
			     (request->target.device && request->bytes > request->piece_bytes &&
			      request->piece_limit > 1);
}

static int choose(struct request *request, struct lane *lane, const struct pst_io *io,
		  struct pst_error *err)
{
	const struct target *target = &request->target;
	bool scope =
		target->device && !target->device->info.emulated && vendor_path_will_open(io->file);
	struct lane_queue *queue;
	int rc = 0;

	if (scope)
		rc = lane_enter(lane, target->device, target->context, &queue, err);
	if (rc == 0)
		rc = path_choose(io->file, target, io->bytes, io->file_offset, &request->choice,
				 err);
	if (scope)
		lane_leave(lane);
	return rc;
}

int request_prepare(struct request *request, struct lane *lane, const struct pst_io *io,
		    struct load load, struct pst_error *err)
{
	int rc;

	*request = (struct request){
		.op = io->op,
		.file = io->file,
		.bytes = io->bytes,
		.offset = (uint64_t)io->file_offset,
		.base = io->buffer,
		.base_offset = io->buffer_offset,
		.end_offset = UINT64_MAX,
		.cookie = io->cookie,
	};
	rc = buffers_resolve(lane->ctx, io->buffer, io->bytes, io->buffer_offset,
			     lane_buffer(lane, io->buffer), &request->target, err);
	if (rc == 0)
		rc = choose(request, lane, io, err);
	if (rc < 0)
		return rc;
	set_middle(request);
	request->cursor = request->middle_start;
	set_pieces(request, &lane->ctx->options, load);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>

#include "api/check.h"
#include "core/file.h"
#include "path/batch.h"
#include "path/transfer.h"

static int check_access(const struct pst_io *io, struct pst_error *err)
{
	const struct pst_file *file = io->file;

	if (io->op == PST_OP_READ ? file->readable : file->writable)
		return 0;
	return error_set(err, -EBADF, PST_STAGE_ARGUMENT, file->path, "'%s' is not open for %s",
			 file->path, io->op == PST_OP_READ ? "reading" : "writing");
}

static int check_io(const struct pst_io *io, struct pst_error *err)
{
	if (!io->file)
		return bad_argument(err, "file", "must not be NULL");
	if (io->op > PST_OP_WRITE)
		return bad_argument(err, "op", "is not a value of enum pst_op");
	if (!io->buffer && io->bytes)
		return bad_argument(err, "buffer", "must not be NULL");
	if (io->bytes > SSIZE_MAX)
		return bad_argument(err, "bytes", "must be at most SSIZE_MAX");
	if (io->file_offset < 0 || io->file_offset > INT64_MAX - (int64_t)io->bytes)
		return bad_argument(err, "file_offset",
				    "must not be negative, and the range must end below 2^63");
	return check_access(io, err);
}

static ssize_t transfer(const struct pst_io *io, struct pst_error *err)
{
	int rc = check_io(io, err);

	if (rc < 0 || !io->bytes)
		return rc;
	return transfer_sync(io, err);
}

ssize_t pst_read(struct pst_file *file, void *buffer, size_t bytes, off_t file_offset,
		 off_t buffer_offset, struct pst_error *err)
{
	const struct pst_io io = {
		.op = PST_OP_READ,
		.file = file,
		.buffer = buffer,
		.bytes = bytes,
		.file_offset = file_offset,
		.buffer_offset = buffer_offset,
	};

	return transfer(&io, err);
}

ssize_t pst_write(struct pst_file *file, const void *buffer, size_t bytes, off_t file_offset,
		  off_t buffer_offset, struct pst_error *err)
{
	const struct pst_io io = {
		.op = PST_OP_WRITE,
		.file = file,
		.buffer = (void *)buffer, /* written from, never to */
		.bytes = bytes,
		.file_offset = file_offset,
		.buffer_offset = buffer_offset,
	};

	return transfer(&io, err);
}

int pst_explain(struct pst_file *file, enum pst_op op, const void *buffer, size_t bytes,
		off_t file_offset, off_t buffer_offset, struct pst_plan *plan,
		struct pst_error *err)
{
	const struct pst_io io = {
		.op = op,
		.file = file,
		.buffer = (void *)buffer,
		.bytes = bytes,
		.file_offset = file_offset,
		.buffer_offset = buffer_offset,
	};
	int rc;

	if (!plan || plan->size_bytes < sizeof(size_t))
		return bad_struct(err, "plan");
	rc = check_io(&io, err);
	return rc < 0 ? rc : transfer_explain(&io, plan, err);
}

int pst_batch_open(struct pst_context *ctx, unsigned capacity, struct pst_batch **out,
		   struct pst_error *err)
{
	if (!ctx || !out)
		return bad_argument(err, ctx ? "out" : "ctx", "must not be NULL");
	if (!capacity || capacity > PST_BATCH_MAX_CAPACITY)
		return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_ARGUMENT, "capacity",
				 "a batch of %u requests is not possible; use 1 to %u", capacity,
				 PST_BATCH_MAX_CAPACITY);
	if (context_forked(ctx))
		return error_set(err, PST_E_FORKED, PST_STAGE_ARGUMENT, "context",
				 "a batch cannot be opened in a child of fork(); use pst_read and "
				 "pst_write with host memory");
	*out = batch_new(ctx, capacity);
	if (*out)
		return 0;
	return error_set(err, -ENOMEM, PST_STAGE_MEMORY, "batch",
			 "cannot open a batch of %u requests: out of memory", capacity);
}

void pst_batch_close(struct pst_batch *batch)
{
	if (batch)
		batch_free(batch);
}

static int check_batch(const struct pst_batch *batch, struct pst_error *err)
{
	if (!batch)
		return bad_argument(err, "batch", "must not be NULL");
	if (context_forked(batch_context(batch)))
		return error_set(err, PST_E_FORKED, PST_STAGE_ARGUMENT, "batch",
				 "a batch of the parent cannot be used in a child of fork()");
	return 0;
}

int pst_batch_submit(struct pst_batch *batch, const struct pst_io *ios, unsigned count,
		     struct pst_error *err)
{
	int rc = check_batch(batch, err);

	if (rc < 0)
		return rc;
	if (!ios || !count)
		return bad_argument(err, ios ? "count" : "ios", "must not be 0");
	if (count > batch_room(batch))
		return error_set(err, PST_E_BATCH_FULL, PST_STAGE_ARGUMENT, "batch",
				 "%u requests do not fit: the batch has room for %u; wait for some "
				 "first",
				 count, batch_room(batch));
	for (unsigned i = 0; i < count; i++) {
		rc = check_io(&ios[i], err);
		if (rc < 0)
			return rc;
		if (ios[i].file->ctx != batch_context(batch))
			return bad_argument(err, "file", "must be of the batch's context");
	}
	batch_submit(batch, ios, count);
	return 0;
}

int pst_batch_wait(struct pst_batch *batch, unsigned min_events, unsigned room,
		   struct pst_event *events, int64_t timeout_ns, struct pst_error *err)
{
	int rc = check_batch(batch, err);

	if (rc < 0)
		return rc;
	if (!events && room)
		return bad_argument(err, "events", "must not be NULL");
	if (min_events > room)
		return bad_argument(err, "min_events", "must not be above room");
	return (int)batch_wait(batch, min_events, room, events, timeout_ns);
}

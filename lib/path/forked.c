/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "path/transfer.h"
#include "util/error.h"

#define FORKED_REASONS (1ull << PST_REASON_FORKED | 1ull << PST_REASON_HOST_MEMORY)

/* Whether the address is host memory as far as can be told without calling a driver. */
static bool is_host(struct pst_context *ctx, const void *buffer, const void *address)
{
	struct registered_buffer known;

	if (buffers_find(&ctx->buffers, buffer, &known))
		return !known.device;
	return !memory_is_device(ctx, address);
}

static int check_forked(const struct pst_io *io, const uint8_t *memory, struct pst_error *err)
{
	/* An address of a real GPU is not mapped here, and the kernel says so with EFAULT. */
	if (is_host(io->file->ctx, io->buffer, memory))
		return 0;
	return error_set(err, PST_E_FORKED, PST_STAGE_CHOOSE, io->file->path,
			 "GPU memory cannot be used in a child of fork(); use host memory, "
			 "or open a context in a program started by exec");
}

int forked_explain(const struct pst_io *io, struct pst_plan *plan, struct pst_error *err)
{
	int rc = check_forked(io, (uint8_t *)io->buffer + io->buffer_offset, err);

	if (rc < 0)
		return rc;
	plan->path = PST_PATH_HOST_CACHED;
	plan->reasons = FORKED_REASONS;
	plan->storage = PST_STORAGE_POSIX;
	return 0;
}

static ssize_t transfer(const struct pst_io *io, struct pst_error *err)
{
	struct pst_file *file = io->file;
	uint8_t *memory = (uint8_t *)io->buffer + io->buffer_offset;
	size_t done = 0;

	if (check_forked(io, memory, err) < 0)
		return PST_E_FORKED;
	while (done < io->bytes) {
		ssize_t n = sto_transfer(io->op == PST_OP_WRITE, file->fd, memory + done,
					 io->bytes - done, io->file_offset + (int64_t)done);

		if (n == -EFAULT)
			return error_set(err, PST_E_FORKED, PST_STAGE_STORAGE, file->path,
					 "the buffer is not host memory of this child of fork(); "
					 "GPU memory cannot be used here");
		if (n == 0 && io->op == PST_OP_WRITE)
			n = -ENOSPC;
		if (n < 0)
			return error_set(err, (int)n, PST_STAGE_STORAGE, file->path,
					 "cannot %s '%s' at byte %lld: %s",
					 io->op == PST_OP_WRITE ? "write" : "read", file->path,
					 (long long)io->file_offset + (long long)done,
					 strerror((int)-n));
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t forked_transfer(const struct pst_io *io, struct pst_error *err)
{
	ssize_t result = transfer(io, err);

	counters_request_once(&io->file->ctx->counters, io->op, PST_PATH_HOST_CACHED,
			      FORKED_REASONS, result);
	return result;
}

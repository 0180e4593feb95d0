/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "core/context.h"
#include "path/transfer.h"
#include "util/error.h"

/* Whether the address is host memory as far as can be told without calling a driver. */
static bool is_host(struct pst_context *ctx, const void *buffer)
{
	struct registered_buffer known;
	struct dev_driver *driver = atomic_load(&ctx->devices.drivers[PST_DEVICE_HOST].driver);
	struct dev_pointer pointer = {.memory = DEV_MEMORY_HOST};

	if (buffers_find(&ctx->buffers, buffer, &known))
		return !known.device;
	if (driver)
		dev_host_ops.lookup(driver, buffer, &pointer, NULL);
	return pointer.memory == DEV_MEMORY_HOST || pointer.memory == DEV_MEMORY_PINNED;
}

ssize_t forked_transfer(const struct pst_io *io, struct pst_error *err)
{
	struct pst_file *file = io->file;
	uint8_t *memory = (uint8_t *)io->buffer + io->buffer_offset;
	size_t done = 0;

	/* An address of a real GPU is not mapped here, and the kernel says so with EFAULT. */
	if (!is_host(file->ctx, io->buffer))
		return error_set(err, PST_E_FORKED, PST_STAGE_CHOOSE, file->path,
				 "GPU memory cannot be used in a child of fork(); use host memory, "
				 "or open a context in a program started by exec");
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "io_double.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

atomic_uint double_allocations;
atomic_uint double_most_in_flight;
atomic_bool double_refuse_memory;

static int fail(struct pst_error *err, int code, const char *message)
{
	if (err) {
		*err = (struct pst_error){.code = code, .sys_errno = -code};
		snprintf(err->message, sizeof(err->message), "%s", message);
	}
	return code;
}

int pst_memory_alloc(struct pst_context *ctx, struct pst_device *device, enum pst_memory_kind kind,
		     size_t bytes, void **out, struct pst_error *err)
{
	(void)ctx;
	(void)device;
	(void)kind;
	if (atomic_load(&double_refuse_memory))
		return fail(err, -ENOMEM, "no memory");
	*out = aligned_alloc(4096, bytes);
	if (!*out)
		return fail(err, -ENOMEM, "no memory");
	memset(*out, 0, bytes);
	atomic_fetch_add(&double_allocations, 1);
	return 0;
}

int pst_memory_free(struct pst_context *ctx, void *memory, struct pst_error *err)
{
	(void)ctx;
	(void)err;
	free(memory);
	atomic_fetch_sub(&double_allocations, 1);
	return 0;
}

int pst_memory_copy(struct pst_context *ctx, void *destination, const void *source, size_t bytes,
		    struct pst_error *err)
{
	(void)ctx;
	(void)err;
	memcpy(destination, source, bytes);
	return 0;
}

int pst_buffer_register(struct pst_context *ctx, void *base, size_t bytes, struct pst_error *err)
{
	(void)ctx;
	(void)base;
	(void)bytes;
	(void)err;
	return 0;
}

int pst_buffer_unregister(struct pst_context *ctx, void *base, struct pst_error *err)
{
	(void)ctx;
	(void)base;
	(void)err;
	return 0;
}

static ssize_t move(struct pst_file *file, size_t bytes, off_t offset, struct pst_error *err)
{
	unsigned op = atomic_fetch_add(&file->ops, 1) + 1;
	struct timespec delay = {.tv_nsec = (long)file->delay_ns};
	struct timespec look = {.tv_nsec = 1000000};

	while (atomic_load(&file->blocked))
		nanosleep(&look, NULL);
	if (file->delay_ns)
		nanosleep(&delay, NULL);
	if (file->fail_every && op % file->fail_every == 0)
		return fail(err, -EIO, "the drive failed");
	if ((uint64_t)offset >= file->bytes)
		return 0;
	if (bytes > file->bytes - (uint64_t)offset)
		bytes = file->bytes - (uint64_t)offset;
	for (size_t i = 0; file->touched && i < bytes; i++)
		file->touched[(uint64_t)offset + i]++;
	return (ssize_t)bytes;
}

/* No more handles: workers share those of the plan. */
int pst_file_from_fd(struct pst_context *ctx, int fd, const struct pst_file_options *options,
		     struct pst_file **out, struct pst_error *err)
{
	(void)ctx;
	(void)fd;
	(void)options;
	*out = NULL;
	return fail(err, -EMFILE, "no descriptor left");
}

void pst_file_close(struct pst_file *file)
{
	(void)file;
}

int pst_explain(struct pst_file *file, enum pst_op op, const void *buffer, size_t bytes,
		off_t file_offset, off_t buffer_offset, struct pst_plan *plan,
		struct pst_error *err)
{
	(void)file;
	(void)op;
	(void)buffer;
	(void)bytes;
	(void)file_offset;
	(void)buffer_offset;
	(void)err;
	plan->path = PST_PATH_HOST;
	return 0;
}

ssize_t pst_read(struct pst_file *file, void *buffer, size_t bytes, off_t file_offset,
		 off_t buffer_offset, struct pst_error *err)
{
	(void)buffer;
	(void)buffer_offset;
	return move(file, bytes, file_offset, err);
}

ssize_t pst_write(struct pst_file *file, const void *buffer, size_t bytes, off_t file_offset,
		  off_t buffer_offset, struct pst_error *err)
{
	const unsigned char *data = (const unsigned char *)buffer + buffer_offset;
	size_t i = 0;

	while (i < bytes && !data[i])
		i++;
	if (i == bytes)
		atomic_fetch_add(&file->zeros, 1);
	return move(file, bytes, file_offset, err);
}

struct pst_batch {
	unsigned capacity, count;
	struct pst_event *events;
};

int pst_batch_open(struct pst_context *ctx, unsigned capacity, struct pst_batch **out,
		   struct pst_error *err)
{
	(void)ctx;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return fail(err, -ENOMEM, "no memory");
	(*out)->capacity = capacity;
	(*out)->events = calloc(capacity, sizeof(struct pst_event));
	return 0;
}

void pst_batch_close(struct pst_batch *batch)
{
	if (!batch)
		return;
	free(batch->events);
	free(batch);
}

int pst_batch_submit(struct pst_batch *batch, const struct pst_io *ios, unsigned count,
		     struct pst_error *err)
{
	if (batch->count + count > batch->capacity)
		return fail(err, PST_E_BATCH_FULL, "no room");
	for (unsigned i = 0; i < count; i++) {
		struct pst_event *event = &batch->events[batch->count++];
		const struct pst_io *io = &ios[i];

		*event = (struct pst_event){.cookie = io->cookie, .latency_ns = 5000};
		if (io->op == PST_OP_WRITE)
			event->result = pst_write(io->file, io->buffer, io->bytes, io->file_offset,
						  io->buffer_offset, &event->error);
		else
			event->result = pst_read(io->file, io->buffer, io->bytes, io->file_offset,
						 io->buffer_offset, &event->error);
	}
	if (batch->count > atomic_load(&double_most_in_flight))
		atomic_store(&double_most_in_flight, batch->count);
	return 0;
}

/* Hands out the youngest first, one at a time: in any order is what the header promises. */
int pst_batch_wait(struct pst_batch *batch, unsigned min_events, unsigned room,
		   struct pst_event *events, int64_t timeout_ns, struct pst_error *err)
{
	(void)min_events;
	(void)timeout_ns;
	(void)err;
	if (!batch->count || !room)
		return 0;
	events[0] = batch->events[--batch->count];
	return 1;
}

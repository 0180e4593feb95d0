/* SPDX-License-Identifier: Apache-2.0 */
/* Files, buffers and transfers through the vendor's library. */
#include "path/vendor.h"

#include "path/vendor_abi.h"
#include "util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_MAX_BYTES   ((size_t)1 << 30) /* one call; a multiple of every block */
#define MAX_INTERRUPTIONS 1000              /* of one call by signals, one after another */

struct vendor_file {
	struct vendor *vendor;
	void *handle;
	char path[]; /* for messages */
};

int vendor_file_open(struct vendor *v, int fd, const char *path, struct vendor_file **out,
		     struct pst_error *err)
{
	struct vendor_description description;
	struct vendor_result result;
	struct vendor_file *file;
	size_t length = strlen(path) + 1;

	*out = NULL;
	file = malloc(sizeof(*file) + length);
	if (!file)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, path,
				 "cannot register %s with the vendor's cuFile: out of memory",
				 path);
	file->vendor = v;
	file->handle = NULL;
	memcpy(file->path, path, length);
	/* Padding and the unused half of the union must be zero too. */
	memset(&description, 0, sizeof(description));
	description.kind = VENDOR_HANDLE_FD;
	description.file.fd = fd;
	atomic_store(&v->used, true);
	result = v->calls.handle_register(&file->handle, &description);
	if (result.number) {
		free(file);
		return vendor_refusal(v, fd, path, result, err);
	}
	atomic_fetch_add(&v->files_open, 1);
	*out = file;
	return 0;
}

void vendor_file_close(struct vendor_file *file)
{
	if (!file)
		return;
	file->vendor->calls.handle_deregister(file->handle);
	atomic_fetch_sub(&file->vendor->files_open, 1);
	free(file);
}

static int buffer_failure(struct vendor_result result, const char *what, const void *base,
			  size_t bytes, struct pst_error *err)
{
	char object[32];

	snprintf(object, sizeof(object), "%p", base);
	return error_set_device(
		err, vendor_code(result.number), PST_STAGE_MEMORY, result.cuda_status, object,
		"cannot %s the buffer at %p (%zu bytes) with the vendor's cuFile: error %d "
		"(%s); check that it is one allocation of GPU memory, or use --engine native",
		what, base, bytes, result.number, vendor_number_text(result.number));
}

int vendor_buffer_register(struct vendor *v, void *base, size_t bytes, struct pst_error *err)
{
	struct vendor_result result;

	atomic_store(&v->used, true);
	result = v->calls.buffer_register(base, bytes, 0);
	return result.number ? buffer_failure(result, "register", base, bytes, err) : 0;
}

int vendor_buffer_unregister(struct vendor *v, void *base, struct pst_error *err)
{
	struct vendor_result result = v->calls.buffer_deregister(base);

	return result.number ? buffer_failure(result, "unregister", base, 0, err) : 0;
}

/* One request, which may be moved in several calls. */
struct transfer {
	struct vendor_file *file;
	bool write;
	void *base;
	size_t bytes;
	off_t file_offset;
	off_t buffer_offset;
};

static int io_failure(const struct transfer *t, size_t done, ssize_t result, int errno_after,
		      struct pst_error *err)
{
	struct vendor_failure failure = vendor_decode(result, errno_after);
	const char *verb = t->write ? "write" : "read";
	const char *path = t->file->path;
	size_t bytes = t->bytes - done;
	long long offset = (long long)t->file_offset + (long long)done;

	if (failure.sys_errno)
		return error_set(err, -failure.sys_errno, PST_STAGE_STORAGE, path,
				 "cannot %s %zu bytes at offset %lld of %s through the vendor's "
				 "cuFile: %s",
				 verb, bytes, offset, path, pst_code_text(-failure.sys_errno));
	if (failure.number)
		return error_set(err, vendor_code(failure.number), PST_STAGE_STORAGE, path,
				 "cannot %s %zu bytes at offset %lld of %s through the vendor's "
				 "cuFile: error %d (%s); --engine native does without it",
				 verb, bytes, offset, path, failure.number,
				 vendor_number_text(failure.number));
	return error_set(err, PST_E_VENDOR_LIBRARY, PST_STAGE_STORAGE, path,
			 "cannot %s %zu bytes at offset %lld of %s: the vendor's cuFile returned "
			 "%zd without a cause; --engine native does without it",
			 verb, bytes, offset, path, result);
}

/* One call of the library, repeated when a signal broke it off before it moved a byte. */
static ssize_t one_call(const struct transfer *t, size_t done, size_t bytes, int *errno_after)
{
	const struct vendor_calls *calls = &t->file->vendor->calls;
	off_t file_offset = t->file_offset + (off_t)done;
	off_t buffer_offset = t->buffer_offset + (off_t)done;
	ssize_t result = 0;

	for (unsigned i = 0; i < MAX_INTERRUPTIONS; i++) {
		errno = 0;
		if (t->write)
			result = calls->write(t->file->handle, t->base, bytes, file_offset,
					      buffer_offset);
		else
			result = calls->read(t->file->handle, t->base, bytes, file_offset,
					     buffer_offset);
		*errno_after = errno;
		if (result >= 0 || vendor_decode(result, *errno_after).sys_errno != EINTR)
			break;
	}
	return result;
}

static ssize_t transfer(const struct transfer *t, struct pst_error *err)
{
	int saved_errno = errno;
	int errno_after = 0;
	ssize_t result;
	size_t done = 0;
	size_t piece;

	while (done < t->bytes) {
		piece = t->bytes - done < PIECE_MAX_BYTES ? t->bytes - done : PIECE_MAX_BYTES;
		result = one_call(t, done, piece, &errno_after);
		if (result < 0 || (size_t)result > piece) {
			errno = saved_errno;
			return io_failure(t, done, result, errno_after, err);
		}
		if (result == 0)
			break;
		done += (size_t)result;
	}
	errno = saved_errno;
	return (ssize_t)done;
}

ssize_t vendor_read(struct vendor_file *file, void *base, size_t bytes, off_t file_offset,
		    off_t buffer_offset, struct pst_error *err)
{
	struct transfer t = {
		.file = file,
		.write = false,
		.base = base,
		.bytes = bytes,
		.file_offset = file_offset,
		.buffer_offset = buffer_offset,
	};

	return transfer(&t, err);
}

ssize_t vendor_write(struct vendor_file *file, const void *base, size_t bytes, off_t file_offset,
		     off_t buffer_offset, struct pst_error *err)
{
	struct transfer t = {
		.file = file,
		.write = true,
		.base = (void *)(uintptr_t)base,
		.bytes = bytes,
		.file_offset = file_offset,
		.buffer_offset = buffer_offset,
	};
	ssize_t done = transfer(&t, err);

	if (done < 0 || (size_t)done == bytes)
		return done;
	return error_set(
		err, -EIO, PST_STAGE_STORAGE, file->path,
		"cannot write %zu bytes at offset %lld of %s: the vendor's cuFile took %zd "
		"and then no more; look at the free space and limits of the file system",
		bytes, (long long)file_offset, file->path, done);
}

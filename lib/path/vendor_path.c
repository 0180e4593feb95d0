/* SPDX-License-Identifier: Apache-2.0 */
#include "path/vendor_path.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/context.h"
#include "path/vendor.h"
#include "util/error.h"

#define REASON(name) (1ull << PST_REASON_##name)

struct vendor_state {
	pthread_mutex_t lock;
	struct vendor *library; /* set once, under the lock */
	bool tried;
	struct pst_error error; /* of opening */
};

struct vendor_state *vendor_state_new(void)
{
	struct vendor_state *state = calloc(1, sizeof(*state));

	if (state)
		pthread_mutex_init(&state->lock, NULL);
	return state;
}

static void unregister_buffer(void *arg, const struct registered_buffer *buffer)
{
	if (buffer->device && !buffer->device->info.emulated)
		vendor_buffer_unregister(arg, buffer->base, NULL);
}

void vendor_state_free(struct pst_context *ctx)
{
	struct vendor_state *state = ctx->vendor;

	if (!state)
		return;
	if (state->library && !context_forked(ctx)) {
		buffers_each(&ctx->buffers, unregister_buffer, state->library);
		vendor_close(state->library);
	}
	pthread_mutex_destroy(&state->lock);
	free(state);
	ctx->vendor = NULL;
}

static void register_buffer(void *arg, const struct registered_buffer *buffer)
{
	if (buffer->device && !buffer->device->info.emulated)
		vendor_buffer_register(arg, buffer->base, buffer->bytes, NULL);
}

/* The library, or NULL with the error of opening it. */
static struct vendor *open_library(struct pst_context *ctx, struct pst_error *err)
{
	struct vendor_state *state = ctx->vendor;
	struct vendor *library;

	pthread_mutex_lock(&state->lock);
	if (!state->tried) {
		state->tried = true;
		if (vendor_open(ctx->options.vendor_library, &state->library, &state->error) == 0) {
			buffers_each(&ctx->buffers, register_buffer, state->library);
			context_log(ctx, PST_LOG_NOTICE, "vendor library '%s' opened, %s",
				    vendor_path(state->library),
				    vendor_is_direct(state->library) ? "with kernel support"
								     : "in compatibility mode");
		}
	}
	library = state->library;
	if (!library && err)
		*err = state->error;
	pthread_mutex_unlock(&state->lock);
	return library;
}

/* The library's handle of the file; made once. A refusal is remembered. */
static int open_handle(struct vendor *library, struct pst_file *file, struct pst_error *err)
{
	int fd = file->direct_fd >= 0 ? file->direct_fd : file->fd;
	int rc = 0;

	pthread_mutex_lock(&file->vendor_lock);
	if (!file->vendor_handle && !(file->vendor_refused && !err)) {
		rc = vendor_file_open(library, fd, file->path, &file->vendor_handle, err);
		file->vendor_refused = rc < 0;
	} else if (!file->vendor_handle) {
		rc = PST_E_IO_NOT_SUPPORTED;
	}
	pthread_mutex_unlock(&file->vendor_lock);
	return rc;
}

static int choose_required(struct pst_file *file, struct choice *out, struct pst_error *err)
{
	struct vendor *library = open_library(file->ctx, err);
	int rc;

	if (!library)
		return err ? err->code : PST_E_VENDOR_LIBRARY;
	rc = open_handle(library, file, err);
	if (rc < 0)
		return rc;
	out->path = vendor_is_direct(library) ? PST_PATH_DIRECT : PST_PATH_VENDOR;
	out->reasons |= REASON(CALLER_CHOICE);
	if (out->path == PST_PATH_VENDOR)
		out->reasons |= REASON(NO_NVIDIA_FS);
	return 0;
}

/* The vendor's library is worth its cost only where it goes direct. */
static void choose_if_direct(struct pst_file *file, struct choice *out)
{
	struct vendor *library;

	if (!vendor_kernel_support()) {
		out->reasons |= REASON(NO_NVIDIA_FS);
		return;
	}
	library = open_library(file->ctx, NULL);
	if (!library)
		out->reasons |= REASON(NO_VENDOR_LIBRARY);
	else if (open_handle(library, file, NULL) < 0)
		out->reasons |= REASON(VENDOR_REFUSED_FILE);
	else
		out->path = PST_PATH_DIRECT;
}

int vendor_path_choose(struct pst_file *file, struct choice *out, struct pst_error *err)
{
	switch (file->ctx->options.engine) {
	case PST_ENGINE_VENDOR:
		return choose_required(file, out, err);
	case PST_ENGINE_NATIVE:
		out->reasons |= REASON(ENGINE_NATIVE);
		return 0;
	default:
		if (file->direct_fd >= 0)
			choose_if_direct(file, out);
		return 0;
	}
}

ssize_t vendor_path_transfer(struct pst_file *file, enum pst_op op, void *base, size_t bytes,
			     off_t file_offset, off_t buffer_offset, struct pst_error *err)
{
	if (op == PST_OP_READ)
		return vendor_read(file->vendor_handle, base, bytes, file_offset, buffer_offset,
				   err);
	return vendor_write(file->vendor_handle, base, bytes, file_offset, buffer_offset, err);
}

void vendor_path_buffer(struct pst_context *ctx, void *base, size_t bytes, bool add)
{
	struct vendor_state *state = ctx->vendor;

	pthread_mutex_lock(&state->lock);
	if (state->library && add)
		vendor_buffer_register(state->library, base, bytes, NULL);
	else if (state->library)
		vendor_buffer_unregister(state->library, base, NULL);
	pthread_mutex_unlock(&state->lock);
}

void vendor_path_forget(struct pst_file *file)
{
	if (file->vendor_handle)
		vendor_file_close(file->vendor_handle);
	file->vendor_handle = NULL;
}

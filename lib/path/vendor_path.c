/* SPDX-License-Identifier: Apache-2.0 */
#include "path/vendor_path.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/context.h"
#include "path/lane.h"
#include "path/vendor.h"
#include "util/error.h"

#define REASON(name) (1ull << PST_REASON_##name)

struct vendor_state {
	pthread_mutex_t lock;
	_Atomic(struct vendor *) library; /* set once, under the lock */
	bool tried;
	struct pst_error error; /* of opening */
	bool kernel_support;    /* asked once, when the context was opened */
	bool direct;            /* what the library accepts goes by DMA; set before library */
};

struct vendor_state *vendor_state_new(void)
{
	struct vendor_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	pthread_mutex_init(&state->lock, NULL);
	state->kernel_support = vendor_kernel_support();
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
	struct vendor *library;

	if (!state)
		return;
	library = atomic_load(&state->library);
	if (library && !context_forked(ctx)) {
		buffers_each(&ctx->buffers, unregister_buffer, library);
		vendor_close(library);
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

/* Under the lock. */
static void load_library(struct pst_context *ctx)
{
	struct vendor_state *state = ctx->vendor;
	struct vendor *library;

	state->tried = true;
	if (vendor_open(ctx->options.vendor_library, &library, &state->error) < 0)
		return;
	/* Who asks for the vendor's library as such gets it as it is. */
	if (ctx->options.engine != PST_ENGINE_VENDOR)
		vendor_forbid_compat(library);
	state->direct = vendor_is_direct(library);
	buffers_each(&ctx->buffers, register_buffer, library);
	atomic_store(&state->library, library);
	context_log(ctx, PST_LOG_NOTICE, "vendor library '%s' opened, %s", vendor_path(library),
		    state->direct           ? "for DMA only"
		    : state->kernel_support ? "with kernel support, compatibility mode allowed"
					    : "in compatibility mode");
}

/* The library, or NULL with the error of opening it. */
static struct vendor *open_library(struct pst_context *ctx, struct pst_error *err)
{
	struct vendor_state *state = ctx->vendor;
	struct vendor *library = atomic_load(&state->library);

	if (library)
		return library;
	pthread_mutex_lock(&state->lock);
	if (!state->tried)
		load_library(ctx);
	library = atomic_load(&state->library);
	if (!library && err)
		*err = state->error;
	pthread_mutex_unlock(&state->lock);
	return library;
}

/* The library's handle of the file; made once. A refusal is remembered. */
static int open_handle(struct vendor *library, struct pst_file *file, struct pst_error *err)
{
	int fd = file->direct_fd >= 0 ? file->direct_fd : file->fd;
	struct vendor_file *handle;
	int rc = 0;

	if (atomic_load(&file->vendor_handle))
		return 0;
	if (atomic_load(&file->vendor_refused) && !err)
		return PST_E_IO_NOT_SUPPORTED;
	pthread_mutex_lock(&file->vendor_lock);
	if (!atomic_load(&file->vendor_handle)) {
		rc = vendor_file_open(library, fd, file->path, &handle, err);
		if (rc < 0)
			atomic_store(&file->vendor_refused, true);
		else
			atomic_store(&file->vendor_handle, handle);
	}
	pthread_mutex_unlock(&file->vendor_lock);
	return rc;
}

/* The path of a file that the library has accepted. */
static enum pst_path accepted_path(const struct vendor_state *state)
{
	return state->direct ? PST_PATH_DIRECT : PST_PATH_VENDOR;
}

static int choose_required(struct pst_file *file, struct choice *out, struct pst_error *err)
{
	struct pst_error cause;
	struct vendor *library;
	int rc;

	if (!err)
		err = &cause;
	library = open_library(file->ctx, err);
	if (!library)
		return err->code;
	rc = open_handle(library, file, err);
	if (rc < 0)
		return rc;
	out->path = accepted_path(file->ctx->vendor);
	out->reasons |= REASON(CALLER_CHOICE);
	if (!file->ctx->vendor->kernel_support)
		out->reasons |= REASON(NO_NVIDIA_FS);
	return 0;
}

/* The vendor's library is worth its cost only where it can go direct. */
static void choose_if_direct(struct pst_file *file, struct choice *out)
{
	struct vendor *library;

	if (!file->ctx->vendor->kernel_support) {
		out->reasons |= REASON(NO_NVIDIA_FS);
		return;
	}
	library = open_library(file->ctx, NULL);
	if (!library)
		out->reasons |= REASON(NO_VENDOR_LIBRARY);
	else if (open_handle(library, file, NULL) < 0)
		out->reasons |= REASON(VENDOR_REFUSED_FILE);
	else
		out->path = accepted_path(file->ctx->vendor);
}

bool vendor_path_will_open(const struct pst_file *file)
{
	enum pst_engine engine = file->ctx->options.engine;

	if (engine == PST_ENGINE_NATIVE || atomic_load(&file->vendor_handle))
		return false;
	if (engine == PST_ENGINE_VENDOR)
		return true;
	return file->direct_fd >= 0 && file->ctx->vendor->kernel_support &&
	       !atomic_load(&file->vendor_refused);
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
	struct vendor_file *handle = atomic_load(&file->vendor_handle);

	if (op == PST_OP_READ)
		return vendor_read(handle, base, bytes, file_offset, buffer_offset, err);
	return vendor_write(handle, base, bytes, file_offset, buffer_offset, err);
}

void vendor_path_buffer(struct pst_context *ctx, void *base, bool add)
{
	struct vendor_state *state = ctx->vendor;
	struct registered_buffer buffer;
	struct vendor *library;
	struct lane *lane;

	if (!buffers_find(&ctx->buffers, base, &buffer) || !buffer.device ||
	    buffer.device->info.emulated)
		return;
	/* The library asks the driver, so it needs a device scope. */
	lane = lane_get(ctx);
	if (!lane)
		return;
	lane_begin(lane);
	pthread_mutex_lock(&state->lock);
	library = atomic_load(&state->library);
	if (library && lane_enter(lane, buffer.device, buffer.context, &(struct lane_queue *){NULL},
				  NULL) == 0) {
		if (add)
			vendor_buffer_register(library, base, buffer.bytes, NULL);
		else
			vendor_buffer_unregister(library, base, NULL);
	}
	pthread_mutex_unlock(&state->lock);
	lane_end(lane);
}

void vendor_path_forget(struct pst_file *file)
{
	vendor_file_close(atomic_exchange(&file->vendor_handle, NULL));
}

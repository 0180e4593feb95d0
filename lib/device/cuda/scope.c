/* SPDX-License-Identifier: Apache-2.0 */
/* Capture mode and current context: set before driver calls, put back after them. Errors. */
#include "device/cuda/cuda.h"
#include "util/error.h"

#include <assert.h>

/* What a scope remembers. */
enum {
	SAVED_MODE = 0,   /* the capture mode before */
	SAVED_PUSHED = 1, /* the context that was pushed, NULL if none */
};

/* What to do about a status, as the end of a sentence. */
static const char *hint(int status)
{
	switch (status) {
	case CU_OUT_OF_MEMORY:
		return "; free memory of the GPU or ask for less";
	case CU_INVALID_CONTEXT:
	case CU_CONTEXT_IS_DESTROYED:
		return "; the context was destroyed while it was in use";
	case CU_ECC_UNCORRECTABLE:
		return "; the GPU's memory is damaged, see the kernel log";
	case CU_ILLEGAL_ADDRESS:
	case CU_LAUNCH_FAILED:
		return "; the context cannot be used any more, restart the program";
	default:
		return "; see the kernel log for lines with NVRM or Xid";
	}
}

int cuda_error(const struct dev_driver *driver, struct pst_error *err, enum pst_stage stage,
	       int status, const char *object, const char *call, const char *what)
{
	const char *name = NULL;
	const char *text = NULL;

	assert(status != CU_OK);
	if (driver->calls.cuGetErrorName(status, &name) != CU_OK || !name)
		name = "unknown status";
	if (driver->calls.cuGetErrorString(status, &text) != CU_OK || !text)
		text = "no explanation";
	return error_set_device(err, PST_E_DEVICE_DRIVER, stage, status, object,
				"%s: cannot %s: %s gave %s (%d, %s)%s", object, what, call, name,
				status, text, hint(status));
}

int cuda_relax(const struct dev_driver *driver, struct dev_scope *scope, struct pst_error *err)
{
	int mode = CU_CAPTURE_RELAXED;
	int status = driver->calls.cuThreadExchangeStreamCaptureMode(&mode);

	if (status != CU_OK)
		return cuda_error(driver, err, PST_STAGE_COPY, status, CUDA_OBJECT,
				  "cuThreadExchangeStreamCaptureMode",
				  "protect stream captures of the application");
	scope->saved[SAVED_MODE] = (void *)(intptr_t)mode;
	scope->saved[SAVED_PUSHED] = NULL;
	return 0;
}

void cuda_restore(const struct dev_driver *driver, struct dev_scope *scope)
{
	int mode = (int)(intptr_t)scope->saved[SAVED_MODE];
	cu_context popped;

	/* A context that the application destroyed meanwhile is popped like any other; there is
	 * nobody to tell about a failure, and nothing that could be done about it. */
	if (scope->saved[SAVED_PUSHED])
		driver->calls.cuCtxPopCurrent_v2(&popped);
	driver->calls.cuThreadExchangeStreamCaptureMode(&mode);
}

static cu_context current_context(const struct dev_driver *driver)
{
	cu_context current = NULL;

	if (driver->calls.cuCtxGetCurrent(&current) != CU_OK)
		return NULL;
	return current;
}

/* In relaxed mode. On failure the mode is put back too. */
static int push(const struct dev_gpu *gpu, cu_context context, struct dev_scope *scope,
		struct pst_error *err)
{
	const struct dev_driver *driver = gpu->driver;
	int status;

	if (current_context(driver) == context)
		return 0;
	status = driver->calls.cuCtxPushCurrent_v2(context);
	if (status != CU_OK) {
		cuda_restore(driver, scope);
		return cuda_error(driver, err, PST_STAGE_COPY, status, gpu->device->object,
				  "cuCtxPushCurrent", "use the GPU");
	}
	scope->saved[SAVED_PUSHED] = context;
	return 0;
}

int cuda_enter_context(const struct dev_gpu *gpu, cu_context context, struct dev_scope *scope,
		       struct pst_error *err)
{
	int rc = cuda_relax(gpu->driver, scope, err);

	return rc < 0 ? rc : push(gpu, context, scope, err);
}

/* The primary context, retained once for as long as the GPU is open. */
static int primary_context(struct dev_gpu *gpu, cu_context *out, struct pst_error *err)
{
	int status = CU_OK;

	pthread_mutex_lock(&gpu->lock);
	if (!gpu->primary) {
		status = gpu->driver->calls.cuDevicePrimaryCtxRetain(&gpu->primary,
								     gpu->device->ordinal);
		if (status != CU_OK)
			gpu->primary = NULL;
	}
	*out = gpu->primary;
	pthread_mutex_unlock(&gpu->lock);
	if (status != CU_OK)
		return cuda_error(gpu->driver, err, PST_STAGE_OPEN, status, gpu->device->object,
				  "cuDevicePrimaryCtxRetain", "make a context on the GPU");
	return 0;
}

int cuda_enter_gpu(struct dev_gpu *gpu, struct dev_scope *scope, cu_context *context,
		   struct pst_error *err)
{
	const struct dev_driver *driver = gpu->driver;
	cu_context chosen;
	cu_device device;
	int rc = cuda_relax(driver, scope, err);

	if (rc < 0)
		return rc;
	chosen = current_context(driver);
	if (!chosen || driver->calls.cuCtxGetDevice(&device) != CU_OK ||
	    device != gpu->device->ordinal) {
		rc = primary_context(gpu, &chosen, err);
		if (rc < 0) {
			cuda_restore(driver, scope);
			return rc;
		}
	}
	rc = push(gpu, chosen, scope, err);
	if (rc == 0 && context)
		*context = chosen;
	return rc;
}

unsigned long long cuda_context_id(const struct dev_driver *driver, cu_context context)
{
	unsigned long long id = 0;

	if (!driver->calls.cuCtxGetId || driver->calls.cuCtxGetId(context, &id) != CU_OK)
		return 0;
	return id;
}

int cuda_enter_alive(const struct dev_gpu *gpu, cu_context context, unsigned long long id,
		     struct dev_scope *scope, struct pst_error *err)
{
	int rc = cuda_relax(gpu->driver, scope, err);

	if (rc < 0)
		return rc;
	/* The driver lets a destroyed context be made current, so ask before. */
	if (cuda_context_id(gpu->driver, context) == id)
		return push(gpu, context, scope, err);
	cuda_restore(gpu->driver, scope);
	return cuda_error(gpu->driver, err, PST_STAGE_COPY, CU_CONTEXT_IS_DESTROYED,
			  gpu->device->object, "cuCtxGetId", "use the GPU");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, primary and made by the application, and each thread's stack of them. */
#include "fake.h"

#include <stdlib.h>

static _Thread_local void *stack[FAKE_STACK_MAX];
static _Thread_local int depth;

static struct fake_context *primaries[FAKE_DEVICES_MAX];

static struct fake_context *context_get(const void *handle)
{
	return fake_handle_get(FAKECUDA_CONTEXTS, handle);
}

int fake_current(struct fake_context **out)
{
	if (depth == 0 || !stack[depth - 1])
		return FAKE_INVALID_CONTEXT;
	*out = context_get(stack[depth - 1]);
	if (!*out)
		return FAKE_CONTEXT_IS_DESTROYED;
	return (*out)->broken;
}

int fakecuda_context_depth(void)
{
	return depth;
}

static struct fake_context *context_new(int device)
{
	struct fake_context *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->device = device;
	context->id = fake_next_id();
	context->handle = fake_handle_new(FAKECUDA_CONTEXTS, context);
	if (!context->handle) {
		free(context);
		return NULL;
	}
	return context;
}

/* Everything made in a context goes with it. */
static void context_delete(struct fake_context *context)
{
	fake_streams_end_context(context);
	fake_memory_end_context(context);
	fake_handle_drop(context->handle);
	free(context);
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	int status = fake_begin(FAKE_CALL_cuDevicePrimaryCtxRetain);

	if (status != FAKE_OK)
		return status;
	if (device < 0 || device >= fake_device_count())
		return FAKE_INVALID_DEVICE;
	pthread_mutex_lock(&fake_lock);
	if (!primaries[device])
		primaries[device] = context_new(device);
	if (primaries[device]) {
		primaries[device]->retains++;
		*context = primaries[device]->handle;
	} else {
		status = FAKE_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	int status = fake_begin(FAKE_CALL_cuDevicePrimaryCtxRelease_v2);
	struct fake_context *context;

	if (status != FAKE_OK)
		return status;
	if (device < 0 || device >= fake_device_count())
		return FAKE_INVALID_DEVICE;
	pthread_mutex_lock(&fake_lock);
	context = primaries[device];
	if (!context) {
		status = FAKE_INVALID_CONTEXT;
	} else if (--context->retains == 0) {
		primaries[device] = NULL;
		context_delete(context);
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
	int status = fake_begin(FAKE_CALL_cuCtxCreate_v2);
	struct fake_context *made;

	(void)flags;
	if (status != FAKE_OK)
		return status;
	if (device < 0 || device >= fake_device_count())
		return FAKE_INVALID_DEVICE;
	if (depth == FAKE_STACK_MAX)
		return FAKE_OUT_OF_MEMORY;
	pthread_mutex_lock(&fake_lock);
	made = context_new(device);
	if (made) {
		stack[depth++] = made->handle;
		*context = made->handle;
	} else {
		status = FAKE_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuCtxDestroy_v2(void *context)
{
	int status = fake_begin(FAKE_CALL_cuCtxDestroy_v2);
	struct fake_context *found;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	found = context_get(context);
	if (!found || found->retains > 0) {
		status = FAKE_INVALID_CONTEXT;
	} else {
		if (depth > 0 && stack[depth - 1] == context)
			depth--;
		context_delete(found);
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuCtxGetCurrent(void **context)
{
	int status = fake_begin(FAKE_CALL_cuCtxGetCurrent);

	if (status == FAKE_OK)
		*context = depth > 0 ? stack[depth - 1] : NULL;
	return status;
}

static int check(const void *context)
{
	bool known;

	pthread_mutex_lock(&fake_lock);
	known = context_get(context) != NULL;
	pthread_mutex_unlock(&fake_lock);
	return known ? FAKE_OK : FAKE_INVALID_CONTEXT;
}

int cuCtxSetCurrent(void *context)
{
	int status = fake_begin(FAKE_CALL_cuCtxSetCurrent);

	if (status == FAKE_OK && context)
		status = check(context);
	if (status != FAKE_OK)
		return status;
	if (!context)
		depth -= depth > 0;
	else if (depth > 0)
		stack[depth - 1] = context;
	else
		stack[depth++] = context;
	return FAKE_OK;
}

int cuCtxGetDevice(int *device)
{
	int status = fake_begin(FAKE_CALL_cuCtxGetDevice);
	struct fake_context *context;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	status = fake_current(&context);
	if (status == FAKE_OK)
		*device = context->device;
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuCtxGetId(void *context, unsigned long long *id)
{
	int status = fake_begin(FAKE_CALL_cuCtxGetId);
	struct fake_context *found = NULL;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	if (context)
		found = context_get(context);
	else
		status = fake_current(&found);
	if (found)
		*id = found->id;
	else if (status == FAKE_OK)
		status = FAKE_CONTEXT_IS_DESTROYED;
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuCtxPushCurrent_v2(void *context)
{
	int status = fake_begin(FAKE_CALL_cuCtxPushCurrent_v2);

	if (status == FAKE_OK) {
		/* A destroyed context can be pushed: the calls that need one fail then. (Seen on an
		 * H200, driver 580.) */
		pthread_mutex_lock(&fake_lock);
		if (!fake_handle_was(FAKECUDA_CONTEXTS, context))
			status = FAKE_INVALID_CONTEXT;
		pthread_mutex_unlock(&fake_lock);
	}
	if (status == FAKE_OK && depth == FAKE_STACK_MAX)
		status = FAKE_OUT_OF_MEMORY;
	if (status == FAKE_OK)
		stack[depth++] = context;
	return status;
}

int cuCtxPopCurrent_v2(void **context)
{
	int status = fake_begin(FAKE_CALL_cuCtxPopCurrent_v2);

	if (status != FAKE_OK)
		return status;
	if (depth == 0)
		return FAKE_INVALID_CONTEXT;
	depth--;
	if (context)
		*context = stack[depth];
	return FAKE_OK;
}

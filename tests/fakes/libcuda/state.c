/* SPDX-License-Identifier: Apache-2.0 */
/* What every entry point starts with, handles, counters, names of errors. */
#include "fake.h"

#include <stdatomic.h>
#include <string.h>

#define HANDLES_MAX 65536

enum call_class {
	ALWAYS,
	SAFE,
	UNSAFE,
};

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_progress = PTHREAD_COND_INITIALIZER;

static const struct {
	const char *name;
	enum call_class class;
} calls[FAKE_FAULT_POINTS] = {
#define FAKE_ROW(class, name, arguments) {#name, class},
	FAKE_CALLS(FAKE_ROW)
#undef FAKE_ROW
		{"stream_copy", ALWAYS},
};

static _Atomic long call_counts[FAKE_CALL_COUNT];
static _Atomic long not_relaxed;
static atomic_bool initialized;
static unsigned long long last_id; /* guarded by fake_lock */

static struct {
	void *object;
	enum fakecuda_kind kind;
	uint32_t generation;
} handles[HANDLES_MAX];
static size_t handles_used; /* places ever used */

int fake_begin(enum fake_call call)
{
	enum call_class class = calls[call].class;
	int status = FAKE_OK;

	atomic_fetch_add(&call_counts[call], 1);
	status = fake_fault_at(call);
	if (status != FAKE_OK || class == ALWAYS)
		return status;
	if (!atomic_load(&initialized))
		return FAKE_NOT_INITIALIZED;
	pthread_mutex_lock(&fake_lock);
	if (!fake_capture_relaxed())
		atomic_fetch_add(&not_relaxed, 1);
	if (class == UNSAFE && fake_capture_forbids())
		status = FAKE_CAPTURE_UNSUPPORTED;
	pthread_mutex_unlock(&fake_lock);
	return status;
}

void fake_set_initialized(void)
{
	atomic_store(&initialized, true);
}

const char *fake_point_name(enum fake_call point)
{
	return calls[point].name;
}

unsigned long long fake_next_id(void)
{
	return ++last_id;
}

void *fake_handle_new(enum fakecuda_kind kind, void *object)
{
	size_t at = 0;

	while (at < handles_used && handles[at].object)
		at++;
	if (at == HANDLES_MAX)
		return NULL;
	if (at == handles_used)
		handles_used++;
	handles[at].object = object;
	handles[at].kind = kind;
	handles[at].generation++;
	return (void *)(((uintptr_t)handles[at].generation << 24) | (uintptr_t)(at << 4) | 8);
}

static size_t handle_place(const void *handle)
{
	return ((uintptr_t)handle >> 4) & (HANDLES_MAX - 1);
}

void *fake_handle_get(enum fakecuda_kind kind, const void *handle)
{
	size_t at = handle_place(handle);
	uintptr_t number = (uintptr_t)handle;

	if ((number & 15) != 8 || handles[at].kind != kind ||
	    number >> 24 != handles[at].generation)
		return NULL;
	return handles[at].object;
}

bool fake_handle_was(enum fakecuda_kind kind, const void *handle)
{
	size_t at = handle_place(handle);
	uintptr_t number = (uintptr_t)handle;

	return (number & 15) == 8 && handles[at].kind == kind && number >> 24 > 0 &&
	       number >> 24 <= handles[at].generation;
}

void fake_handle_drop(void *handle)
{
	handles[handle_place(handle)].object = NULL;
}

void *fake_handle_next(enum fakecuda_kind kind, size_t *at)
{
	while (*at < handles_used) {
		size_t i = (*at)++;

		if (handles[i].object && handles[i].kind == kind)
			return handles[i].object;
	}
	return NULL;
}

long fake_handle_count(enum fakecuda_kind kind)
{
	size_t at = 0;
	long count = 0;

	while (fake_handle_next(kind, &at))
		count++;
	return count;
}

static const struct {
	int status;
	const char *name;
	const char *text;
} statuses[] = {
	{FAKE_OK, "CUDA_SUCCESS", "no error"},
	{FAKE_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "a value is not allowed"},
	{FAKE_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "no memory left"},
	{FAKE_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "cuInit was not called"},
	{FAKE_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no GPU is visible"},
	{FAKE_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "no such GPU"},
	{FAKE_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "no usable context"},
	{FAKE_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "no such object"},
	{FAKE_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "not possible now"},
	{FAKE_NOT_READY, "CUDA_ERROR_NOT_READY", "not finished"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "a bad address was used"},
	{FAKE_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context is gone"},
	{FAKE_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "pinned already"},
	{FAKE_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "not pinned"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed"},
	{FAKE_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "the fake driver cannot do this"},
	{FAKE_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "capture goes on"},
	{FAKE_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "capture was spoilt"},
};

int cuGetErrorName(int status, const char **name)
{
	fake_begin(FAKE_CALL_cuGetErrorName);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].status == status) {
			*name = statuses[i].name;
			return FAKE_OK;
		}
	}
	*name = NULL;
	return FAKE_INVALID_VALUE;
}

int cuGetErrorString(int status, const char **text)
{
	fake_begin(FAKE_CALL_cuGetErrorString);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].status == status) {
			*text = statuses[i].text;
			return FAKE_OK;
		}
	}
	*text = NULL;
	return FAKE_INVALID_VALUE;
}

long fakecuda_calls(const char *name)
{
	for (size_t i = 0; i < FAKE_CALL_COUNT; i++)
		if (strcmp(calls[i].name, name) == 0)
			return atomic_load(&call_counts[i]);
	return -1;
}

long fakecuda_calls_total(void)
{
	long total = 0;

	for (size_t i = 0; i < FAKE_CALL_COUNT; i++)
		total += atomic_load(&call_counts[i]);
	return total;
}

long fakecuda_calls_not_relaxed(void)
{
	return atomic_load(&not_relaxed);
}

long fakecuda_live(enum fakecuda_kind kind)
{
	long count;

	pthread_mutex_lock(&fake_lock);
	count = kind <= FAKECUDA_GRAPHS ? fake_handle_count(kind) : fake_memory_count(kind);
	pthread_mutex_unlock(&fake_lock);
	return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What an address is, and memory of a GPU and for it. */
#include "device/cuda/cuda.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

int cuda_lookup(struct dev_driver *driver, const void *address, struct dev_pointer *out,
		struct pst_error *err)
{
	static const int attributes[] = {
		CU_POINTER_MEMORY_TYPE, CU_POINTER_DEVICE_ORDINAL, CU_POINTER_CONTEXT,
		CU_POINTER_RANGE_START, CU_POINTER_RANGE_SIZE,     CU_POINTER_BUFFER_ID,
		CU_POINTER_IS_MANAGED,
	};
	unsigned type = CU_MEMORY_UNKNOWN;
	int ordinal = -1;
	cu_context context = NULL;
	cu_pointer start = 0;
	size_t bytes = 0;
	unsigned long long id = 0;
	unsigned managed = 0;
	void *values[] = {&type, &ordinal, &context, &start, &bytes, &id, &managed};
	struct dev_scope scope;
	int status;
	int rc;

	*out = (struct dev_pointer){.memory = DEV_MEMORY_HOST, .device_index = -1};
	if (driver->count == 0)
		return 0;
	rc = cuda_relax(driver, &scope, err);
	if (rc < 0)
		return rc;
	status = driver->calls.cuPointerGetAttributes(sizeof(attributes) / sizeof(attributes[0]),
						      attributes, values, (uintptr_t)address);
	cuda_restore(driver, &scope);
	if (status == CU_INVALID_VALUE || (status == CU_OK && type == CU_MEMORY_UNKNOWN))
		return 0;
	if (status != CU_OK)
		return cuda_error(driver, err, PST_STAGE_MEMORY, status, CUDA_OBJECT,
				  "cuPointerGetAttributes", "find out what an address is");

	if (managed)
		out->memory = DEV_MEMORY_MANAGED;
	else
		out->memory = type == CU_MEMORY_HOST ? DEV_MEMORY_PINNED : DEV_MEMORY_DEVICE;
	if (out->memory != DEV_MEMORY_PINNED)
		out->device_index = cuda_index_of(driver, ordinal);
	out->context = context;
	out->base = (uintptr_t)start;
	out->bytes = bytes;
	out->allocation_id = id;
	return 0;
}

static int alloc_in_context(struct dev_gpu *gpu, enum pst_memory_kind kind, size_t bytes,
			    void **out, struct pst_error *err)
{
	const struct cuda_calls *calls = &gpu->driver->calls;
	cu_pointer memory = 0;
	int status;
	int rc = 0;

	switch (kind) {
	case PST_MEMORY_DEVICE:
		status = calls->cuMemAlloc_v2(&memory, bytes);
		if (status != CU_OK)
			return cuda_error(gpu->driver, err, PST_STAGE_MEMORY, status,
					  gpu->device->object, "cuMemAlloc",
					  "allocate memory of the GPU");
		break;
	case PST_MEMORY_DEVICE_VMM:
		rc = cuda_vmm_alloc(gpu, bytes, &memory, err);
		break;
	default:
		status = calls->cuMemHostAlloc(out, bytes, CU_HOST_PORTABLE);
		if (status != CU_OK) {
			*out = NULL;
			return cuda_error(gpu->driver, err, PST_STAGE_MEMORY, status,
					  gpu->device->object, "cuMemHostAlloc",
					  "allocate page-locked host memory");
		}
		return 0;
	}
	if (rc == 0)
		*out = (void *)(uintptr_t)memory;
	return rc;
}

int cuda_alloc(struct dev_gpu *gpu, enum pst_memory_kind kind, size_t bytes, void **out,
	       struct pst_error *err)
{
	struct dev_scope scope;
	int rc;

	*out = NULL;
	if (kind != PST_MEMORY_DEVICE && kind != PST_MEMORY_DEVICE_VMM && kind != PST_MEMORY_PINNED)
		return error_set(err, PST_E_MEMORY_TYPE, PST_STAGE_MEMORY, gpu->device->object,
				 "cannot allocate memory of kind %d on a device", (int)kind);
	if (bytes == 0)
		return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_MEMORY, gpu->device->object,
				 "cannot allocate 0 bytes of memory");
	if (bytes > SIZE_MAX / 2)
		return error_set(err, -ENOMEM, PST_STAGE_MEMORY, gpu->device->object,
				 "cannot allocate %zu bytes of memory: more than there can be",
				 bytes);
	rc = cuda_enter_gpu(gpu, &scope, NULL, err);
	if (rc < 0)
		return rc;
	rc = alloc_in_context(gpu, kind, bytes, out, err);
	cuda_restore(gpu->driver, &scope);
	return rc;
}

int cuda_free(struct dev_gpu *gpu, enum pst_memory_kind kind, void *memory, size_t bytes,
	      struct pst_error *err)
{
	const struct dev_driver *driver = gpu->driver;
	struct dev_pointer at;
	struct dev_scope scope;
	int status;
	int rc = cuda_lookup(gpu->driver, memory, &at, err);

	if (rc < 0)
		return rc;
	/* The allocation belongs to the context that was current when it was made. */
	rc = at.context ? cuda_enter_context(gpu, at.context, &scope, err)
			: cuda_enter_gpu(gpu, &scope, NULL, err);
	if (rc < 0)
		return rc;
	switch (kind) {
	case PST_MEMORY_DEVICE:
		status = driver->calls.cuMemFree_v2((uintptr_t)memory);
		if (status != CU_OK)
			rc = cuda_error(driver, err, PST_STAGE_MEMORY, status, gpu->device->object,
					"cuMemFree", "free memory of the GPU");
		break;
	case PST_MEMORY_DEVICE_VMM:
		rc = cuda_vmm_free(gpu, (uintptr_t)memory, bytes, err);
		break;
	case PST_MEMORY_PINNED:
		status = driver->calls.cuMemFreeHost(memory);
		if (status != CU_OK)
			rc = cuda_error(driver, err, PST_STAGE_MEMORY, status, gpu->device->object,
					"cuMemFreeHost", "free page-locked host memory");
		break;
	default:
		rc = error_set(err, PST_E_MEMORY_TYPE, PST_STAGE_MEMORY, gpu->device->object,
			       "cannot free memory of kind %d on a device", (int)kind);
	}
	cuda_restore(driver, &scope);
	return rc;
}

/* Remembers a range that was pinned by somebody else, so that unpin leaves it alone. */
static int remember_foreign(struct dev_driver *driver, void *memory, struct pst_error *err)
{
	struct cuda_foreign_pin *pin = malloc(sizeof(*pin));
	bool added = false;

	pthread_mutex_lock(&driver->lock);
	if (pin && driver->foreign_pin_count < CUDA_FOREIGN_PINS_MAX) {
		*pin = (struct cuda_foreign_pin){.memory = memory, .next = driver->foreign_pins};
		driver->foreign_pins = pin;
		driver->foreign_pin_count++;
		added = true;
	}
	pthread_mutex_unlock(&driver->lock);
	if (added)
		return 0;
	free(pin);
	return error_set(err, -ENOMEM, PST_STAGE_MEMORY, CUDA_OBJECT,
			 "cannot remember memory that is pinned already: out of memory, or more "
			 "than %d ranges",
			 CUDA_FOREIGN_PINS_MAX);
}

static bool forget_foreign(struct dev_driver *driver, const void *memory)
{
	struct cuda_foreign_pin *pin = NULL;

	pthread_mutex_lock(&driver->lock);
	for (struct cuda_foreign_pin **link = &driver->foreign_pins; *link; link = &(*link)->next) {
		if ((*link)->memory != memory)
			continue;
		pin = *link;
		*link = pin->next;
		driver->foreign_pin_count--;
		break;
	}
	pthread_mutex_unlock(&driver->lock);
	free(pin);
	return pin != NULL;
}

int cuda_pin(struct dev_gpu *gpu, void *memory, size_t bytes, struct pst_error *err)
{
	const struct dev_driver *driver = gpu->driver;
	struct dev_scope scope;
	int status;
	int rc = cuda_enter_gpu(gpu, &scope, NULL, err);

	if (rc < 0)
		return rc;
	status = driver->calls.cuMemHostRegister_v2(memory, bytes, CU_HOST_REGISTER_PORTABLE);
	cuda_restore(driver, &scope);
	if (status == CU_ALREADY_REGISTERED)
		return remember_foreign(gpu->driver, memory, err);
	if (status != CU_OK)
		return cuda_error(driver, err, PST_STAGE_MEMORY, status, gpu->device->object,
				  "cuMemHostRegister", "pin host memory");
	return 0;
}

int cuda_unpin(struct dev_gpu *gpu, void *memory, struct pst_error *err)
{
	const struct dev_driver *driver = gpu->driver;
	struct dev_scope scope;
	int status;
	int rc;

	if (forget_foreign(gpu->driver, memory))
		return 0;
	rc = cuda_enter_gpu(gpu, &scope, NULL, err);
	if (rc < 0)
		return rc;
	status = driver->calls.cuMemHostUnregister(memory);
	cuda_restore(driver, &scope);
	if (status != CU_OK)
		return cuda_error(driver, err, PST_STAGE_MEMORY, status, gpu->device->object,
				  "cuMemHostUnregister", "unpin host memory");
	return 0;
}

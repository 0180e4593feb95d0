/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of cuMemCreate: an address range and an allocation mapped there. It belongs to no
 * context. */
#include "device/cuda/cuda.h"
#include "util/error.h"

static struct cu_allocation_properties properties(const struct dev_gpu *gpu)
{
	return (struct cu_allocation_properties){
		.type = CU_ALLOCATION_PINNED,
		.location = {.type = CU_LOCATION_DEVICE, .id = gpu->device->ordinal},
		.gpu_direct_rdma = gpu->rdma_with_vmm,
	};
}

/* Rounds up to what cuMemCreate takes; asks the driver the first time. */
static int whole_bytes(struct dev_gpu *gpu, size_t bytes, size_t *out, struct pst_error *err)
{
	const struct cuda_calls *calls = &gpu->driver->calls;
	int status = CU_OK;
	size_t granularity;

	pthread_mutex_lock(&gpu->lock);
	if (gpu->granularity == 0) {
		struct cu_allocation_properties asked;
		int rdma = 0;

		/* Lets the vendor's direct path and network cards reach the memory. */
		gpu->rdma_with_vmm = calls->cuDeviceGetAttribute(&rdma, CU_DEVICE_GDR_WITH_VMM,
								 gpu->device->ordinal) == CU_OK &&
				     rdma != 0;
		asked = properties(gpu);
		status = calls->cuMemGetAllocationGranularity(&gpu->granularity, &asked,
							      CU_GRANULARITY_MINIMUM);
		if (status != CU_OK)
			gpu->granularity = 0;
		else if (gpu->granularity == 0)
			status = CU_NOT_SUPPORTED;
	}
	granularity = gpu->granularity;
	pthread_mutex_unlock(&gpu->lock);
	if (status != CU_OK)
		return cuda_error(gpu->driver, err, PST_STAGE_MEMORY, status, gpu->device->object,
				  "cuMemGetAllocationGranularity", "allocate mapped GPU memory");
	*out = (bytes + granularity - 1) / granularity * granularity;
	return 0;
}

static int fail(struct dev_gpu *gpu, struct pst_error *err, int status, const char *call)
{
	return cuda_error(gpu->driver, err, PST_STAGE_MEMORY, status, gpu->device->object, call,
			  "allocate mapped GPU memory");
}

int cuda_vmm_alloc(struct dev_gpu *gpu, size_t bytes, cu_pointer *out, struct pst_error *err)
{
	const struct cuda_calls *calls = &gpu->driver->calls;
	struct cu_access access = {
		.location = {.type = CU_LOCATION_DEVICE, .id = gpu->device->ordinal},
		.flags = CU_ACCESS_READ_WRITE,
	};
	struct cu_allocation_properties asked;
	cu_allocation allocation;
	cu_pointer address = 0;
	size_t whole = 0;
	int status;
	int rc = whole_bytes(gpu, bytes, &whole, err);

	if (rc < 0)
		return rc;
	asked = properties(gpu);
	status = calls->cuMemAddressReserve(&address, whole, 0, 0, 0);
	if (status != CU_OK)
		return fail(gpu, err, status, "cuMemAddressReserve");
	status = calls->cuMemCreate(&allocation, whole, &asked, 0);
	if (status != CU_OK) {
		calls->cuMemAddressFree(address, whole);
		return fail(gpu, err, status, "cuMemCreate");
	}
	status = calls->cuMemMap(address, whole, 0, allocation, 0);
	/* The mapping keeps the allocation alive; without one it goes now. */
	calls->cuMemRelease(allocation);
	if (status != CU_OK) {
		calls->cuMemAddressFree(address, whole);
		return fail(gpu, err, status, "cuMemMap");
	}
	status = calls->cuMemSetAccess(address, whole, &access, 1);
	if (status != CU_OK) {
		calls->cuMemUnmap(address, whole);
		calls->cuMemAddressFree(address, whole);
		return fail(gpu, err, status, "cuMemSetAccess");
	}
	*out = address;
	return 0;
}

int cuda_vmm_free(struct dev_gpu *gpu, cu_pointer memory, size_t bytes, struct pst_error *err)
{
	const struct cuda_calls *calls = &gpu->driver->calls;
	size_t whole = 0;
	int status;
	int rc = whole_bytes(gpu, bytes, &whole, err);

	if (rc < 0)
		return rc;
	status = calls->cuMemUnmap(memory, whole);
	if (status != CU_OK)
		return cuda_error(gpu->driver, err, PST_STAGE_MEMORY, status, gpu->device->object,
				  "cuMemUnmap", "free mapped GPU memory");
	status = calls->cuMemAddressFree(memory, whole);
	if (status != CU_OK)
		return cuda_error(gpu->driver, err, PST_STAGE_MEMORY, status, gpu->device->object,
				  "cuMemAddressFree", "free mapped GPU memory");
	return 0;
}

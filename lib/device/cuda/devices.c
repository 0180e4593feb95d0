/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs there are, in PCI bus order, and opening one. Finding makes no context. */
#include "device/cuda/cuda.h"
#include "util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text form of a UUID. A slice of a GPU has "MIG" in its name and its UUID says so too. */
static void format_uuid(const struct cu_uuid *uuid, const char *device_name, char out[48])
{
	size_t used = (size_t)snprintf(out, 48, strstr(device_name, " MIG ") ? "MIG" : "GPU");

	for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
		const char *dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

		used += (size_t)snprintf(out + used, 48 - used, "%s%02x", dash, uuid->bytes[i]);
	}
}

/* Facts that are only shown stay empty when the driver will not tell. */
static int fill_device(const struct dev_driver *driver, int ordinal, struct cuda_device *device,
		       struct pst_error *err)
{
	const struct cuda_calls *calls = &driver->calls;
	struct pst_device_info *info = &device->info;
	struct cu_uuid uuid;
	char bus_id[32] = "";
	size_t memory_bytes = 0;
	int status = calls->cuDeviceGet(&device->ordinal, ordinal);

	if (status != CU_OK)
		return cuda_error(driver, err, PST_STAGE_OPEN, status, CUDA_OBJECT, "cuDeviceGet",
				  "look at the GPUs");
	*info = (struct pst_device_info){.size_bytes = sizeof(*info), .kind = PST_DEVICE_CUDA};
	if (calls->cuDeviceGetName(info->name, sizeof(info->name), device->ordinal) != CU_OK)
		snprintf(info->name, sizeof(info->name), "NVIDIA GPU");

	status = calls->cuDeviceGetUuid_v2 ? calls->cuDeviceGetUuid_v2(&uuid, device->ordinal)
					   : calls->cuDeviceGetUuid(&uuid, device->ordinal);
	if (status == CU_OK)
		format_uuid(&uuid, info->name, info->uuid);

	if (calls->cuDeviceGetPCIBusId(bus_id, sizeof(bus_id), device->ordinal) != CU_OK ||
	    !dev_parse_bus_id(bus_id, info->bus_id))
		info->bus_id[0] = '\0';
	status = calls->cuDeviceTotalMem_v2(&memory_bytes, device->ordinal);
	info->memory_bytes = status == CU_OK ? memory_bytes : UINT64_MAX;
	return 0;
}

/* By domain, bus, device, function; what has the same place (slices of one GPU) keeps the
 * driver's order, and what has none comes last. */
static int compare(const void *left, const void *right)
{
	const struct cuda_device *a = left;
	const struct cuda_device *b = right;
	unsigned long domain[2];
	int by_place;

	if (!a->info.bus_id[0] || !b->info.bus_id[0])
		by_place = (a->info.bus_id[0] == '\0') - (b->info.bus_id[0] == '\0');
	else {
		domain[0] = strtoul(a->info.bus_id, NULL, 16);
		domain[1] = strtoul(b->info.bus_id, NULL, 16);
		by_place = (domain[0] > domain[1]) - (domain[0] < domain[1]);
		if (by_place == 0)
			by_place = strcmp(a->info.bus_id, b->info.bus_id);
	}
	return by_place ? by_place : a->ordinal - b->ordinal;
}

int cuda_devices_find(struct dev_driver *driver, struct pst_error *err)
{
	int count = 0;
	int status = driver->calls.cuDeviceGetCount(&count);

	if (status != CU_OK)
		return cuda_error(driver, err, PST_STAGE_OPEN, status, CUDA_OBJECT,
				  "cuDeviceGetCount", "count the GPUs");
	if (count > CUDA_DEVICES_MAX)
		return error_set(err, PST_E_DEVICE_NOT_SUPPORTED, PST_STAGE_OPEN, CUDA_OBJECT,
				 "cannot use %d GPUs, the limit is %d; choose some with "
				 "CUDA_VISIBLE_DEVICES",
				 count, CUDA_DEVICES_MAX);
	for (int i = 0; i < count; i++) {
		int rc = fill_device(driver, i, &driver->devices[i], err);

		if (rc < 0)
			return rc;
	}
	qsort(driver->devices, (size_t)count, sizeof(driver->devices[0]), compare);
	for (int i = 0; i < count; i++) {
		struct cuda_device *device = &driver->devices[i];

		device->info.index = i;
		snprintf(device->object, sizeof(device->object), "GPU %d (%s)", i,
			 device->info.bus_id[0] ? device->info.bus_id : device->info.uuid);
	}
	driver->count = count;
	if (count == 0)
		driver->no_device_status = CU_NO_DEVICE;
	return 0;
}

int cuda_count(struct dev_driver *driver)
{
	return driver->count;
}

int cuda_index_of(const struct dev_driver *driver, int ordinal)
{
	for (int i = 0; i < driver->count; i++)
		if (driver->devices[i].ordinal == ordinal)
			return i;
	return -1;
}

static int check_index(const struct dev_driver *driver, int index, struct pst_error *err)
{
	if (index >= 0 && index < driver->count)
		return 0;
	if (driver->count == 0)
		return error_set_device(err, PST_E_DEVICE_NOT_FOUND, PST_STAGE_OPEN,
					driver->no_device_status, CUDA_OBJECT,
					"the NVIDIA driver sees no GPU (CUDA_ERROR_NO_DEVICE, "
					"%d); check nvidia-smi and CUDA_VISIBLE_DEVICES, or use "
					"the emulated device 'host'",
					driver->no_device_status);
	return error_set(err, PST_E_DEVICE_NOT_FOUND, PST_STAGE_OPEN, CUDA_OBJECT,
			 "GPU %d asked, %d visible", index, driver->count);
}

int cuda_describe(struct dev_driver *driver, int index, struct pst_device_info *info,
		  struct pst_error *err)
{
	int rc = check_index(driver, index, err);

	if (rc == 0)
		*info = driver->devices[index].info;
	return rc;
}

int cuda_gpu_open(struct dev_driver *driver, int index, struct dev_gpu **out, struct pst_error *err)
{
	struct dev_gpu *gpu;
	int rc = check_index(driver, index, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	gpu = calloc(1, sizeof(*gpu));
	if (!gpu)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, driver->devices[index].object,
				 "cannot open the GPU: out of memory");
	gpu->driver = driver;
	gpu->device = &driver->devices[index];
	pthread_mutex_init(&gpu->lock, NULL);
	*out = gpu;
	return 0;
}

void cuda_gpu_close(struct dev_gpu *gpu)
{
	struct dev_scope scope;

	if (!gpu)
		return;
	if (gpu->primary && cuda_relax(gpu->driver, &scope, NULL) == 0) {
		gpu->driver->calls.cuDevicePrimaryCtxRelease_v2(gpu->device->ordinal);
		cuda_restore(gpu->driver, &scope);
	}
	pthread_mutex_destroy(&gpu->lock);
	free(gpu);
}

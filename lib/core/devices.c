/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "util/error.h"

void devices_init(struct device_table *table)
{
	memset(table, 0, sizeof(*table));
	pthread_mutex_init(&table->lock, NULL);
	table->drivers[PST_DEVICE_CUDA].ops = &dev_cuda_ops;
	table->drivers[PST_DEVICE_HOST].ops = &dev_host_ops;
}

void devices_destroy(struct device_table *table, bool forked)
{
	struct pst_device *next;

	for (struct pst_device *device = atomic_load(&table->opened); device; device = next) {
		next = device->next;
		if (!forked)
			device->ops->gpu_close(device->gpu);
		free(device);
	}
	for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
		struct dev_driver *driver = atomic_load(&table->drivers[kind].driver);

		if (driver && !forked)
			table->drivers[kind].ops->unload(driver);
	}
	pthread_mutex_destroy(&table->lock);
}

static void load_locked(struct device_driver *driver)
{
	struct dev_driver *loaded = NULL;

	if (driver->ops->load(&loaded, &driver->error) < 0)
		atomic_store(&driver->failed, true);
	else
		atomic_store(&driver->driver, loaded);
}

static int load_failed(const struct device_driver *driver, struct pst_error *err)
{
	if (err)
		*err = driver->error;
	return driver->error.code;
}

int devices_driver(struct device_table *table, enum pst_device_kind kind, struct dev_driver **out,
		   struct pst_error *err)
{
	struct device_driver *driver = &table->drivers[kind];

	*out = atomic_load(&driver->driver);
	if (*out)
		return 0;
	if (!atomic_load(&driver->failed)) {
		pthread_mutex_lock(&table->lock);
		if (!atomic_load(&driver->driver) && !atomic_load(&driver->failed))
			load_locked(driver);
		*out = atomic_load(&driver->driver);
		pthread_mutex_unlock(&table->lock);
	}
	return *out ? 0 : load_failed(driver, err);
}

static struct pst_device *find_opened(struct device_table *table, enum pst_device_kind kind,
				      int index)
{
	struct pst_device *device = atomic_load(&table->opened);

	while (device && (device->info.kind != kind || device->info.index != index))
		device = device->next;
	return device;
}

static int open_locked(struct pst_context *ctx, struct dev_driver *driver,
		       const struct dev_ops *ops, int index, struct pst_device **out,
		       struct pst_error *err)
{
	struct pst_device *device = calloc(1, sizeof(*device));
	int rc;

	if (!device)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, ops->name,
				 "cannot open device %d of '%s': out of memory", index, ops->name);
	device->ctx = ctx;
	device->ops = ops;
	device->info.size_bytes = sizeof(device->info);
	rc = ops->describe(driver, index, &device->info, err);
	if (rc == 0)
		rc = ops->gpu_open(driver, index, &device->gpu, err);
	if (rc < 0) {
		free(device);
		return rc;
	}
	device->next = atomic_load(&ctx->devices.opened);
	atomic_store(&ctx->devices.opened, device);
	*out = device;
	return 0;
}

int devices_open(struct pst_context *ctx, enum pst_device_kind kind, int index,
		 struct pst_device **out, struct pst_error *err)
{
	struct device_table *table = &ctx->devices;
	struct dev_driver *driver;
	int rc = devices_driver(table, kind, &driver, err);

	if (rc < 0)
		return rc;
	*out = find_opened(table, kind, index);
	if (*out) /* nearly always: without the lock */
		return 0;
	pthread_mutex_lock(&table->lock);
	*out = find_opened(table, kind, index);
	if (!*out)
		rc = open_locked(ctx, driver, table->drivers[kind].ops, index, out, err);
	pthread_mutex_unlock(&table->lock);
	return rc;
}

/* A driver that is loaded, or whose library the application has brought into the process. */
static struct dev_driver *driver_in_process(struct device_table *table, enum pst_device_kind kind)
{
	struct device_driver *entry = &table->drivers[kind];
	struct dev_driver *driver = atomic_load(&entry->driver);

	if (!driver && entry->ops->present())
		devices_driver(table, kind, &driver, NULL);
	return driver;
}

int devices_lookup(struct pst_context *ctx, const void *address, struct dev_pointer *pointer,
		   struct pst_device **device, struct pst_error *err)
{
	*pointer = (struct dev_pointer){.memory = DEV_MEMORY_HOST, .device_index = -1};
	*device = NULL;
	for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
		struct dev_driver *driver = driver_in_process(&ctx->devices, kind);
		int rc;

		if (!driver)
			continue;
		rc = ctx->devices.drivers[kind].ops->lookup(driver, address, pointer, err);
		if (rc < 0)
			return rc;
		if (pointer->memory == DEV_MEMORY_HOST)
			continue;
		if (pointer->memory == DEV_MEMORY_PINNED)
			return 0;
		return devices_open(ctx, kind, pointer->device_index, device, err);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated GPU as a driver: one device, and the table that makes it one. */
#include "device/host/host.h"
#include "util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int load(struct dev_driver **out, struct pst_error *err)
{
	struct dev_driver *driver = calloc(1, sizeof(*driver));

	*out = driver;
	if (!driver)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, HOST_OBJECT,
				 "cannot load the emulated GPU: out of memory");
	pthread_rwlock_init(&driver->lock, NULL);
	return 0;
}

static void unload(struct dev_driver *driver)
{
	if (!driver)
		return;
	host_memory_end(driver);
	pthread_rwlock_destroy(&driver->lock);
	free(driver);
}

/* Only we can bring the emulated device into a process. */
static bool present(void)
{
	return false;
}

static int count(struct dev_driver *driver)
{
	(void)driver;
	return 1;
}

static int describe(struct dev_driver *driver, int index, struct pst_device_info *info,
		    struct pst_error *err)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	size_t size_bytes = info->size_bytes;

	(void)driver;
	if (index != 0)
		return error_set(err, PST_E_DEVICE_NOT_FOUND, PST_STAGE_OPEN, HOST_OBJECT,
				 "emulated GPU %d asked, there is one, number 0", index);
	*info = (struct pst_device_info){
		.size_bytes = size_bytes,
		.kind = PST_DEVICE_HOST,
		.emulated = true,
		.memory_bytes =
			pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX,
	};
	snprintf(info->name, sizeof(info->name), "Emulated GPU (host memory)");
	return 0;
}

static int enter(struct dev_queue *queue, struct dev_scope *scope, struct pst_error *err)
{
	(void)queue;
	(void)err;
	*scope = (struct dev_scope){0};
	return 0;
}

static void leave(struct dev_queue *queue, struct dev_scope *scope)
{
	(void)queue;
	(void)scope;
}

const struct dev_ops dev_host_ops = {
	.name = "host",
	.kind = PST_DEVICE_HOST,
	.present = present,
	.load = load,
	.unload = unload,
	.count = count,
	.describe = describe,
	.gpu_open = host_gpu_open,
	.gpu_close = host_gpu_close,
	.lookup = host_lookup,
	.alloc = host_alloc,
	.free = host_free,
	.pin = host_pin,
	.unpin = host_unpin,
	.queue_open = host_queue_open,
	.queue_close = host_queue_close,
	.enter = enter,
	.leave = leave,
	.copy_in = host_copy_in,
	.copy_out = host_copy_out,
	.copy_within = host_copy_within,
	.mark_new = host_mark_new,
	.mark_free = host_mark_free,
	.mark_set = host_mark_set,
	.mark_poll = host_mark_poll,
	.mark_wait = host_mark_wait,
};

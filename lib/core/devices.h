/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers loaded on demand, devices opened on demand, and what an address belongs to. */
#ifndef PST_CORE_DEVICES_H
#define PST_CORE_DEVICES_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/device.h"

#define DEVICE_KIND_COUNT 2

struct pst_device {
	struct pst_context *ctx;
	const struct dev_ops *ops;
	struct dev_gpu *gpu;
	struct pst_device_info info;
	struct pst_device *next;
};

struct device_driver {
	const struct dev_ops *ops;
	_Atomic(struct dev_driver *) driver; /* NULL until loaded */
	_Atomic bool failed;                 /* loading was tried and failed with error */
	struct pst_error error;              /* written before failed is set, never again */
};

struct device_table {
	pthread_mutex_t lock;
	struct device_driver drivers[DEVICE_KIND_COUNT]; /* by enum pst_device_kind */
	_Atomic(struct pst_device *) opened;             /* grows at its head, under the lock */
};

void devices_init(struct device_table *table);
/* Closes devices and drivers: everything that uses them is gone. In a forked child the driver
 * is not called. */
void devices_destroy(struct device_table *table, bool forked);

/* The driver of a kind, loaded now if it was not. */
int devices_driver(struct device_table *table, enum pst_device_kind kind, struct dev_driver **out,
		   struct pst_error *err);

/* Opens a device once and hands out the same one afterwards. */
int devices_open(struct pst_context *ctx, enum pst_device_kind kind, int index,
		 struct pst_device **out, struct pst_error *err);

/*
 * What an address belongs to. *device is the opened device of device or managed memory, else
 * NULL. No driver is loaded for the question: memory of a driver that is not in the process
 * cannot exist. pointer->memory is DEV_MEMORY_HOST for everything unknown.
 */
int devices_lookup(struct pst_context *ctx, const void *address, struct dev_pointer *pointer,
		   struct pst_device **device, struct pst_error *err);

#endif

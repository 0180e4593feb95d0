/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs behind one table: memory, copies, streams, events. cuda/ and host/ fill it; nothing
 * above this room knows which of them it talks to.
 *
 * Scopes. Calls marked [scope] are made only between dev_ops.enter and dev_ops.leave of their
 * queue, by the thread that entered. A scope makes the queue's driver context current and sets
 * the thread's stream-capture mode to relaxed (a driver call of ours would otherwise destroy a
 * graph capture that another thread of the application is making); leave restores both. Calls
 * not marked take care of themselves. No call ever synchronises a whole context or device.
 *
 * Errors: 0 or a code of penstock.h; err may be NULL and is filled with the driver's status and
 * a sentence.
 */
#ifndef PST_DEVICE_H
#define PST_DEVICE_H

#include "penstock.h"

struct dev_driver; /* one loaded backend */
struct dev_gpu;    /* one opened device of it */
struct dev_queue;  /* a stream on a device, in one driver context, used by one thread at a time */
struct dev_mark;   /* a point in a queue that can be waited for */

enum dev_memory {
	DEV_MEMORY_HOST = 0, /* plain memory of the process, unknown to the driver */
	DEV_MEMORY_PINNED,   /* page-locked by the driver */
	DEV_MEMORY_DEVICE,
	DEV_MEMORY_MANAGED,
};

/* What a driver knows of an address. */
struct dev_pointer {
	enum dev_memory memory;
	int device_index; /* -1 for host memory */
	void *context;    /* driver context that owns the memory; NULL if none does */
	uintptr_t base;   /* start of the allocation; for host memory unknown to the driver, 0 */
	size_t bytes;     /* of the allocation; 0 unknown */
	uint64_t allocation_id; /* never the same for two allocations; 0 unknown */
};

/* State that enter saves and leave restores. Opaque to callers. */
struct dev_scope {
	void *saved[4];
};

struct dev_ops {
	const char *name; /* "cuda", "host" */
	enum pst_device_kind kind;

	/* Whether the driver's library is in the process already, brought by the application.
	 * Cheap; loads nothing. false for the emulated device, which only we can bring. */
	bool (*present)(void);

	/* Loads the driver. *out is NULL on failure: PST_E_DEVICE_NOT_SUPPORTED when the driver
	 * library is missing or too old. Makes no context on any GPU. */
	int (*load)(struct dev_driver **out, struct pst_error *err);
	void (*unload)(struct dev_driver *driver);

	/* Devices in PCI bus order within the visible list. */
	int (*count)(struct dev_driver *driver);
	int (*describe)(struct dev_driver *driver, int index, struct pst_device_info *info,
			struct pst_error *err);

	/* Opens a device: the only call that may create or retain a context. */
	int (*gpu_open)(struct dev_driver *driver, int index, struct dev_gpu **out,
			struct pst_error *err);
	void (*gpu_close)(struct dev_gpu *gpu);

	/* Classifies an address. An address unknown to the driver is DEV_MEMORY_HOST, not an
	 * error. Makes no context. */
	int (*lookup)(struct dev_driver *driver, const void *address, struct dev_pointer *out,
		      struct pst_error *err);

	/* PST_MEMORY_DEVICE, _DEVICE_VMM and _PINNED. free takes the base address. */
	int (*alloc)(struct dev_gpu *gpu, enum pst_memory_kind kind, size_t bytes, void **out,
		     struct pst_error *err);
	int (*free)(struct dev_gpu *gpu, enum pst_memory_kind kind, void *memory, size_t bytes,
		    struct pst_error *err);

	/* Page-locks memory of ours for fast copies by every device of the driver. */
	int (*pin)(struct dev_gpu *gpu, void *memory, size_t bytes, struct pst_error *err);
	int (*unpin)(struct dev_gpu *gpu, void *memory, struct pst_error *err);

	/* A queue of our own (non-blocking stream) in `context`; NULL: the caller's current
	 * context when it belongs to this device, else the device's primary one. */
	int (*queue_open)(struct dev_gpu *gpu, void *context, struct dev_queue **out,
			  struct pst_error *err);
	void (*queue_close)(struct dev_queue *queue);

	int (*enter)(struct dev_queue *queue, struct dev_scope *scope, struct pst_error *err);
	void (*leave)(struct dev_queue *queue, struct dev_scope *scope);

	/* [scope] Asynchronous copies in queue order. `device` is an address of device or managed
	 * memory of this device; `host` stays valid until a later mark is done. */
	int (*copy_in)(struct dev_queue *queue, void *device, const void *host, size_t bytes,
		       struct pst_error *err);
	int (*copy_out)(struct dev_queue *queue, void *host, const void *device, size_t bytes,
			struct pst_error *err);
	/* [scope] Device to device on one device. */
	int (*copy_within)(struct dev_queue *queue, void *to, const void *from, size_t bytes,
			   struct pst_error *err);

	/* Marks are made once and used again and again. [scope] for all but mark_free. */
	int (*mark_new)(struct dev_queue *queue, struct dev_mark **out, struct pst_error *err);
	void (*mark_free)(struct dev_mark *mark);
	/* [scope] Puts the mark behind everything queued so far. */
	int (*mark_set)(struct dev_queue *queue, struct dev_mark *mark, struct pst_error *err);
	/* [scope] 1 reached, 0 not yet, negative: the work before it failed. */
	int (*mark_poll)(struct dev_mark *mark, struct pst_error *err);
	/* [scope] Returns when reached: 0, or negative when the work before it failed. */
	int (*mark_wait)(struct dev_mark *mark, struct pst_error *err);
};

extern const struct dev_ops dev_cuda_ops;
extern const struct dev_ops dev_host_ops;

/*
 * Finds the index of the device that `name` means among the driver's visible devices: index,
 * UUID or its unique beginning, PCI bus id. PST_E_DEVICE_NOT_FOUND lists what is visible:
 * "GPU 1 asked, 1 visible: 0 = NVIDIA H200 (0000:17:00.0)".
 */
int dev_find(const struct dev_ops *ops, struct dev_driver *driver, const char *name,
	     struct pst_error *err);

/* Parses a PCI bus id ("00000008:06:00.0", "8:06:00.0", "06:00.0", any case) into its canonical
 * form "0008:06:00.0" (domain as at least four digits). false: not a bus id. */
bool dev_parse_bus_id(const char *text, char out[24]);

#endif

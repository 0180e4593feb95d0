/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA GPUs through the driver's library, for this backend's own files only.
 *
 * Three rules hold for every driver call: it is made in relaxed capture mode; the calling
 * thread's context is afterwards what it was before; nothing waits for more than one stream.
 */
#ifndef PST_DEVICE_CUDA_H
#define PST_DEVICE_CUDA_H

#include "device/cuda/driver.h"
#include "device/device.h"

#include <pthread.h>

#define CUDA_LIBRARY     "libcuda.so.1"
#define CUDA_VERSION_MIN 11000 /* as cuDriverGetVersion counts: 11.0 */
#define CUDA_DEVICES_MAX 64
#define CUDA_OBJECT      "NVIDIA driver"

/* Ranges that somebody else had pinned before us, and that we must not unpin. */
#define CUDA_FOREIGN_PINS_MAX 65536

struct cuda_device {
	cu_device ordinal; /* in the driver's order */
	struct pst_device_info info;
	char object[80]; /* "GPU 0 (0000:17:00.0)" for errors */
};

struct cuda_foreign_pin {
	void *memory;
	struct cuda_foreign_pin *next;
};

struct dev_driver {
	void *library;
	struct cuda_calls calls;
	int version;
	int no_device_status; /* what cuInit said when there is no GPU; 0 otherwise */
	int count;
	struct cuda_device devices[CUDA_DEVICES_MAX]; /* in PCI bus order; constant after load */
	pthread_mutex_t lock;                         /* guards the pins below */
	struct cuda_foreign_pin *foreign_pins;
	unsigned foreign_pin_count;
};

struct dev_gpu {
	struct dev_driver *driver;
	const struct cuda_device *device;
	pthread_mutex_t lock; /* guards what is found when first needed */
	cu_context primary;   /* NULL: not retained yet */
	size_t granularity;   /* of cuMemCreate, 0: not asked yet */
	bool rdma_with_vmm;   /* known together with granularity */
};

struct dev_queue {
	struct dev_gpu *gpu;
	cu_context context;
	unsigned long long context_id; /* tells the context from a later one at its address */
	cu_stream stream;
};

struct dev_mark {
	struct dev_gpu *gpu;
	cu_context context;
	unsigned long long context_id;
	cu_event event;
};

/* load.c */
bool cuda_present(void);
int cuda_load(struct dev_driver **out, struct pst_error *err);
void cuda_unload(struct dev_driver *driver);

/* devices.c */
/* Fills driver->devices. */
int cuda_devices_find(struct dev_driver *driver, struct pst_error *err);
int cuda_count(struct dev_driver *driver);
int cuda_describe(struct dev_driver *driver, int index, struct pst_device_info *info,
		  struct pst_error *err);
int cuda_gpu_open(struct dev_driver *driver, int index, struct dev_gpu **out,
		  struct pst_error *err);
void cuda_gpu_close(struct dev_gpu *gpu);
/* Our index of the driver's ordinal, -1 if it is none of the visible ones. */
int cuda_index_of(const struct dev_driver *driver, int ordinal);

/* scope.c */
/* Only the capture mode. */
int cuda_relax(const struct dev_driver *driver, struct dev_scope *scope, struct pst_error *err);
/* Capture mode and a given context. */
int cuda_enter_context(const struct dev_gpu *gpu, cu_context context, struct dev_scope *scope,
		       struct pst_error *err);
/* Capture mode and the caller's current context if it is on this GPU, else the primary one,
 * which is retained now if it was not. *context, if not NULL, tells which. */
int cuda_enter_gpu(struct dev_gpu *gpu, struct dev_scope *scope, cu_context *context,
		   struct pst_error *err);
/* Ends any of these. */
void cuda_restore(const struct dev_driver *driver, struct dev_scope *scope);
/* The number of a context that no other ever has; 0 when the driver cannot tell. */
unsigned long long cuda_context_id(const struct dev_driver *driver, cu_context context);
/* As cuda_enter_context, but fails, with nothing entered, when the context is no longer the one
 * that had this id: the application destroyed it, and what was made in it. */
int cuda_enter_alive(const struct dev_gpu *gpu, cu_context context, unsigned long long id,
		     struct dev_scope *scope, struct pst_error *err);
/* Fills err from a failed driver call: "cannot `what`: `call` gave NAME (number), ...". */
int cuda_error(const struct dev_driver *driver, struct pst_error *err, enum pst_stage stage,
	       int status, const char *object, const char *call, const char *what);

/* memory.c */
int cuda_lookup(struct dev_driver *driver, const void *address, struct dev_pointer *out,
		struct pst_error *err);
int cuda_alloc(struct dev_gpu *gpu, enum pst_memory_kind kind, size_t bytes, void **out,
	       struct pst_error *err);
int cuda_free(struct dev_gpu *gpu, enum pst_memory_kind kind, void *memory, size_t bytes,
	      struct pst_error *err);
int cuda_pin(struct dev_gpu *gpu, void *memory, size_t bytes, struct pst_error *err);
int cuda_unpin(struct dev_gpu *gpu, void *memory, struct pst_error *err);

/* vmm.c: memory of cuMemCreate. A context of the GPU is entered. */
int cuda_vmm_alloc(struct dev_gpu *gpu, size_t bytes, cu_pointer *out, struct pst_error *err);
int cuda_vmm_free(struct dev_gpu *gpu, cu_pointer memory, size_t bytes, struct pst_error *err);

#endif

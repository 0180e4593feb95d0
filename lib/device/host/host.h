/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated GPU, for its own files only. Device memory is memory of the process that is found
 * again by its address; copies are carried out by one thread of the device, in the order in which
 * they were queued, so that everything above sees real asynchrony.
 */
#ifndef PST_DEVICE_HOST_H
#define PST_DEVICE_HOST_H

#include "device/device.h"

#include <pthread.h>
#include <stdatomic.h>

#define HOST_OBJECT "emulated GPU"

/* Most ranges (allocations and pins) known at once. */
#define HOST_RANGES_MAX (1u << 20)

/* Copies queued and not yet done; one more waits for room, as with a real driver. */
#define HOST_JOBS_MAX 1024u

/* One allocation or pinned range. */
struct host_range {
	uintptr_t base;
	size_t bytes;        /* as asked for */
	size_t mapped_bytes; /* whole pages to unmap; 0: pinned memory of the caller */
	uint64_t id;
	enum dev_memory memory;
	enum pst_memory_kind kind; /* as allocated; unused for pinned memory of the caller */
};

struct dev_driver {
	pthread_rwlock_t lock;     /* guards the table */
	struct host_range *ranges; /* sorted by base, never overlapping */
	size_t count;
	size_t room;
};

struct host_job {
	void *to;
	const void *from;
	size_t bytes;
};

/* A thread that waits for a job number. Lives on its stack; linked under dev_gpu.lock. */
struct host_waiter {
	uint64_t target;
	pthread_cond_t reached;
	struct host_waiter *next;
};

struct dev_gpu {
	struct dev_driver *driver;
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below but `finished`, which is written under it */
	pthread_cond_t work;  /* a job came, or closing */
	pthread_cond_t room;  /* a job left a full ring */
	struct host_job jobs[HOST_JOBS_MAX];
	uint64_t submitted;        /* number of the last job queued; the first is 1 */
	_Atomic uint64_t finished; /* number of the last job done */
	struct host_waiter *waiters;
	bool closing;
};

struct dev_queue {
	struct dev_gpu *gpu;
	uint64_t last_job; /* number of the last job of this queue */
};

struct dev_mark {
	struct dev_gpu *gpu;
	uint64_t target; /* reached when this job is done; 0: never set */
};

/* memory.c */
int host_lookup(struct dev_driver *driver, const void *address, struct dev_pointer *out,
		struct pst_error *err);
int host_alloc(struct dev_gpu *gpu, enum pst_memory_kind kind, size_t bytes, void **out,
	       struct pst_error *err);
int host_free(struct dev_gpu *gpu, enum pst_memory_kind kind, void *memory, size_t bytes,
	      struct pst_error *err);
int host_pin(struct dev_gpu *gpu, void *memory, size_t bytes, struct pst_error *err);
int host_unpin(struct dev_gpu *gpu, void *memory, struct pst_error *err);
/* 0 when [address, address + bytes) lies in one allocation of device memory. */
int host_check_device_range(struct dev_driver *driver, const void *address, size_t bytes,
			    struct pst_error *err);
/* Unmaps what is left; the driver is being unloaded. */
void host_memory_end(struct dev_driver *driver);

/* queue.c */
int host_gpu_open(struct dev_driver *driver, int index, struct dev_gpu **out,
		  struct pst_error *err);
void host_gpu_close(struct dev_gpu *gpu);
/* Returns when all jobs up to `target` are done. */
void host_wait_job(struct dev_gpu *gpu, uint64_t target);
/* Returns when everything queued before the call is done. */
void host_wait_submitted(struct dev_gpu *gpu);
int host_queue_open(struct dev_gpu *gpu, void *context, struct dev_queue **out,
		    struct pst_error *err);
void host_queue_close(struct dev_queue *queue);
int host_copy_in(struct dev_queue *queue, void *device, const void *host, size_t bytes,
		 struct pst_error *err);
int host_copy_out(struct dev_queue *queue, void *host, const void *device, size_t bytes,
		  struct pst_error *err);
int host_copy_within(struct dev_queue *queue, void *to, const void *from, size_t bytes,
		     struct pst_error *err);
int host_mark_new(struct dev_queue *queue, struct dev_mark **out, struct pst_error *err);
void host_mark_free(struct dev_mark *mark);
int host_mark_set(struct dev_queue *queue, struct dev_mark *mark, struct pst_error *err);
int host_mark_poll(struct dev_mark *mark, struct pst_error *err);
int host_mark_wait(struct dev_mark *mark, struct pst_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Registered buffers, and the question what a caller's buffer is. */
#ifndef PST_CORE_BUFFERS_H
#define PST_CORE_BUFFERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/device.h"

/* What the memory of a request is: a device address range, or host memory. */
struct target {
	uint8_t *address;          /* of the first byte of the request */
	struct pst_device *device; /* NULL: host memory */
	void *context;             /* driver context of the memory, NULL none */
	bool managed;
	bool registered;
};

struct registered_buffer {
	uint8_t *base;
	size_t bytes;
	struct pst_device *device;
	void *context;
};

struct buffer_table {
	pthread_rwlock_t lock;
	struct registered_buffer *entries; /* sorted by base */
	size_t count, capacity;
	_Atomic uint64_t generation; /* moves with every change: lets lanes keep one entry */
};

void buffers_init(struct buffer_table *table);
void buffers_destroy(struct buffer_table *table);

int buffers_add(struct pst_context *ctx, void *base, size_t bytes, struct pst_error *err);
int buffers_remove(struct pst_context *ctx, void *base, struct pst_error *err);

/* The entry whose base is `base`, copied to *out. */
bool buffers_find(struct buffer_table *table, const void *base, struct registered_buffer *out);

/* Calls visit for every entry (for the vendor's registration). */
void buffers_each(struct buffer_table *table,
		  void (*visit)(void *arg, const struct registered_buffer *buffer), void *arg);

/*
 * Finds out what buffer + buffer_offset is, and that `bytes` from there lie inside.
 * Registered: PST_E_MAPPING_SIZE outside the registered length. Else the driver is asked:
 * PST_E_POINTER_RANGE outside the allocation. Host memory is taken on trust.
 */
int buffers_resolve(struct pst_context *ctx, void *buffer, size_t bytes, off_t buffer_offset,
		    const struct registered_buffer *known, struct target *out,
		    struct pst_error *err);

#endif

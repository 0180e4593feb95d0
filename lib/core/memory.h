/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that callers ask the library for, by kind. */
#ifndef PST_CORE_MEMORY_H
#define PST_CORE_MEMORY_H

#include "core/devices.h"

int memory_alloc(struct pst_context *ctx, struct pst_device *device, enum pst_memory_kind kind,
		 size_t bytes, void **out, struct pst_error *err);
int memory_free(struct pst_context *ctx, void *memory, struct pst_error *err);

/* Whether the address is in device memory of memory_alloc: asked of no driver. */
bool memory_is_device(struct pst_context *ctx, const void *address);

/* Frees what callers left, before devices are closed. */
void memory_free_all(struct pst_context *ctx, bool forked);

#endif

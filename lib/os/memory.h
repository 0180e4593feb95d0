/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that slots are made of. */
#ifndef PST_OS_MEMORY_H
#define PST_OS_MEMORY_H

#include <stddef.h>

#define OS_HUGE_PAGE_BYTES ((size_t)2 << 20)

/*
 * Maps zeroed memory of at least `bytes`, page aligned; from OS_HUGE_PAGE_BYTES on aligned to
 * that and advised to use huge pages. A child of fork() does not get it: a device may be writing
 * to it, and copy-on-write would move it away from under the device. 0 or -errno.
 */
int os_slot_map(size_t bytes, void **out);

/* Unmaps what os_slot_map gave, with the same size. NULL is allowed. */
void os_slot_unmap(void *memory, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/context.h"
#include "os/memory.h"
#include "os/os.h"
#include "util/error.h"

#define HOST_ALIGN_BYTES ((size_t)4096)

struct context_memory {
	void *memory;
	size_t bytes;
	enum pst_memory_kind kind;
	struct pst_device *device;
	struct context_memory *next;
};

/* From a quarter of a huge page on, heap memory is made of huge pages where the kernel has them:
 * an O_DIRECT transfer of 1 MiB is then one run of memory for the drive, not 256. */
static int alloc_heap(size_t bytes, void **out)
{
	size_t whole = (bytes + OS_HUGE_PAGE_BYTES - 1) / OS_HUGE_PAGE_BYTES * OS_HUGE_PAGE_BYTES;
	int rc;

	if (bytes < OS_HUGE_PAGE_BYTES / 4 || whole < bytes)
		return -posix_memalign(out, HOST_ALIGN_BYTES, bytes);
	rc = posix_memalign(out, OS_HUGE_PAGE_BYTES, whole);
	if (rc == 0)
		os()->madvise(*out, whole, MADV_HUGEPAGE); /* a wish */
	return -rc;
}

static int alloc_host(enum pst_memory_kind kind, size_t bytes, void **out)
{
	if (kind == PST_MEMORY_HEAP)
		return alloc_heap(bytes, out);
	*out = os()->mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *out == MAP_FAILED ? -errno : 0;
}

static bool is_host(enum pst_memory_kind kind)
{
	return kind == PST_MEMORY_HEAP || kind == PST_MEMORY_MMAP;
}

static int release(const struct context_memory *entry, struct pst_error *err)
{
	if (entry->kind == PST_MEMORY_HEAP)
		free(entry->memory);
	else if (entry->kind == PST_MEMORY_MMAP)
		os()->munmap(entry->memory, entry->bytes);
	else
		return entry->device->ops->free(entry->device->gpu, entry->kind, entry->memory,
						entry->bytes, err);
	return 0;
}

int memory_alloc(struct pst_context *ctx, struct pst_device *device, enum pst_memory_kind kind,
		 size_t bytes, void **out, struct pst_error *err)
{
	struct context_memory *entry = calloc(1, sizeof(*entry));
	bool driver_spoke = false;
	int rc = -ENOMEM;

	if (entry && is_host(kind)) {
		rc = alloc_host(kind, bytes, &entry->memory);
	} else if (entry) {
		rc = device->ops->alloc(device->gpu, kind, bytes, &entry->memory, err);
		driver_spoke = true;
	}
	if (rc < 0) {
		free(entry);
		return driver_spoke ? rc
				    : error_set(err, rc, PST_STAGE_MEMORY, "host memory",
						"cannot allocate %zu bytes of host memory: %s",
						bytes, strerror(-rc));
	}
	entry->bytes = bytes;
	entry->kind = kind;
	entry->device = device;
	*out = entry->memory;
	pthread_mutex_lock(&ctx->lock);
	entry->next = ctx->memory;
	ctx->memory = entry;
	pthread_mutex_unlock(&ctx->lock);
	return 0;
}

static struct context_memory *take(struct pst_context *ctx, void *memory)
{
	struct context_memory *entry = NULL;

	pthread_mutex_lock(&ctx->lock);
	for (struct context_memory **at = &ctx->memory; *at; at = &(*at)->next) {
		if ((*at)->memory == memory) {
			entry = *at;
			*at = entry->next;
			break;
		}
	}
	pthread_mutex_unlock(&ctx->lock);
	return entry;
}

int memory_free(struct pst_context *ctx, void *memory, struct pst_error *err)
{
	struct context_memory *entry = take(ctx, memory);
	char address[24];
	int rc;

	snprintf(address, sizeof(address), "%p", memory);
	if (!entry)
		return error_set(err, PST_E_POINTER_INVALID, PST_STAGE_ARGUMENT, address,
				 "%p is not the base of memory from pst_memory_alloc", memory);
	rc = release(entry, err);
	free(entry);
	return rc;
}

bool memory_is_device(struct pst_context *ctx, const void *address)
{
	bool found = false;

	pthread_mutex_lock(&ctx->lock);
	for (struct context_memory *entry = ctx->memory; entry && !found; entry = entry->next)
		found = entry->kind <= PST_MEMORY_DEVICE_VMM &&
			(uintptr_t)address - (uintptr_t)entry->memory < entry->bytes;
	pthread_mutex_unlock(&ctx->lock);
	return found;
}

void memory_free_all(struct pst_context *ctx, bool forked)
{
	struct context_memory *next;

	for (struct context_memory *entry = ctx->memory; entry; entry = next) {
		next = entry->next;
		if (is_host(entry->kind) || !forked)
			release(entry, NULL);
		free(entry);
	}
	ctx->memory = NULL;
}

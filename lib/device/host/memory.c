/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the emulated GPU: one table of address ranges, sorted, so that any address is found
 * again by binary search. */
#include "device/host/host.h"
#include "util/error.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Allocations of at least this size ask for huge pages. */
#define HUGE_BYTES ((size_t)2 << 20)

/* Ids are unique in the process: a second driver must not repeat those of a first. */
static _Atomic uint64_t last_id;

/* Index of the first range with base above the address. */
static size_t upper_bound(const struct dev_driver *driver, uintptr_t address)
{
	size_t low = 0;
	size_t high = driver->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (driver->ranges[middle].base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The range that holds the address, or NULL. The table's lock is held. */
static struct host_range *find(const struct dev_driver *driver, uintptr_t address)
{
	size_t above = upper_bound(driver, address);
	struct host_range *range;

	if (above == 0)
		return NULL;
	range = &driver->ranges[above - 1];
	return address - range->base < range->bytes ? range : NULL;
}

static int grow(struct dev_driver *driver)
{
	size_t room = driver->room ? driver->room * 2 : 64;
	struct host_range *ranges;

	if (driver->count < driver->room)
		return 0;
	if (room > HOST_RANGES_MAX)
		return -ENOMEM;
	ranges = realloc(driver->ranges, room * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	driver->ranges = ranges;
	driver->room = room;
	return 0;
}

/* Adds a range. -EEXIST when it overlaps one that is there. */
static int insert(struct dev_driver *driver, const struct host_range *range)
{
	size_t at;
	int rc;

	pthread_rwlock_wrlock(&driver->lock);
	at = upper_bound(driver, range->base);
	if ((at > 0 && range->base - driver->ranges[at - 1].base < driver->ranges[at - 1].bytes) ||
	    (at < driver->count && driver->ranges[at].base - range->base < range->bytes)) {
		rc = -EEXIST;
	} else {
		rc = grow(driver);
	}
	if (rc == 0) {
		memmove(&driver->ranges[at + 1], &driver->ranges[at],
			(driver->count - at) * sizeof(*range));
		driver->ranges[at] = *range;
		driver->count++;
	}
	pthread_rwlock_unlock(&driver->lock);
	return rc;
}

/* Takes out the range that starts at `base` and is an allocation of `kind`, or, with
 * mapped false, memory that host_pin remembers. */
static bool take(struct dev_driver *driver, uintptr_t base, bool mapped, enum pst_memory_kind kind,
		 struct host_range *out)
{
	struct host_range *range;
	bool found;

	pthread_rwlock_wrlock(&driver->lock);
	range = find(driver, base);
	found = range && range->base == base && (range->mapped_bytes != 0) == mapped &&
		(!mapped || range->kind == kind);
	if (found) {
		size_t at = (size_t)(range - driver->ranges);

		*out = *range;
		driver->count--;
		memmove(range, range + 1, (driver->count - at) * sizeof(*range));
	}
	pthread_rwlock_unlock(&driver->lock);
	return found;
}

int host_lookup(struct dev_driver *driver, const void *address, struct dev_pointer *out,
		struct pst_error *err)
{
	const struct host_range *range;

	(void)err;
	*out = (struct dev_pointer){.memory = DEV_MEMORY_HOST, .device_index = -1};
	pthread_rwlock_rdlock(&driver->lock);
	range = find(driver, (uintptr_t)address);
	if (range) {
		out->memory = range->memory;
		out->device_index = range->memory == DEV_MEMORY_DEVICE ? 0 : -1;
		out->base = range->base;
		out->bytes = range->bytes;
		out->allocation_id = range->id;
	}
	pthread_rwlock_unlock(&driver->lock);
	return 0;
}

int host_check_device_range(struct dev_driver *driver, const void *address, size_t bytes,
			    struct pst_error *err)
{
	struct dev_pointer at;

	host_lookup(driver, address, &at, NULL);
	if (at.memory != DEV_MEMORY_DEVICE)
		return error_set(err, PST_E_POINTER_RANGE, PST_STAGE_COPY, HOST_OBJECT,
				 "cannot copy: %p is not in device memory of the emulated GPU",
				 address);
	if (bytes > at.bytes - ((uintptr_t)address - at.base))
		return error_set(err, PST_E_POINTER_RANGE, PST_STAGE_COPY, HOST_OBJECT,
				 "cannot copy %zu bytes at %p: the allocation of %zu bytes at "
				 "0x%" PRIxPTR " ends before",
				 bytes, address, at.bytes, at.base);
	return 0;
}

int host_alloc(struct dev_gpu *gpu, enum pst_memory_kind kind, size_t bytes, void **out,
	       struct pst_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct host_range range = {.bytes = bytes, .kind = kind};
	void *memory;
	int rc;

	*out = NULL;
	if (kind != PST_MEMORY_DEVICE && kind != PST_MEMORY_DEVICE_VMM && kind != PST_MEMORY_PINNED)
		return error_set(err, PST_E_MEMORY_TYPE, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot allocate memory of kind %d on a device", (int)kind);
	if (bytes == 0)
		return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot allocate 0 bytes of memory");
	if (bytes > SIZE_MAX / 2)
		return error_set(err, -ENOMEM, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot allocate %zu bytes of memory: more than there can be",
				 bytes);
	range.mapped_bytes = (bytes + page - 1) / page * page;
	range.memory = kind == PST_MEMORY_PINNED ? DEV_MEMORY_PINNED : DEV_MEMORY_DEVICE;
	range.id = atomic_fetch_add(&last_id, 1) + 1;
	memory = mmap(NULL, range.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		return error_set(err, -errno, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot map %zu bytes of memory: %s", bytes, strerror(errno));
	if (bytes >= HUGE_BYTES)
		madvise(memory, range.mapped_bytes, MADV_HUGEPAGE);
	range.base = (uintptr_t)memory;
	rc = insert(gpu->driver, &range);
	if (rc < 0) {
		munmap(memory, range.mapped_bytes);
		return error_set(err, rc, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot remember an allocation: out of memory, or more than %u "
				 "of them",
				 HOST_RANGES_MAX);
	}
	*out = memory;
	return 0;
}

int host_free(struct dev_gpu *gpu, enum pst_memory_kind kind, void *memory, size_t bytes,
	      struct pst_error *err)
{
	struct host_range range;

	(void)bytes;
	/* Copies queued before may still use the memory; a real driver waits for them too. */
	host_wait_submitted(gpu);
	if (!take(gpu->driver, (uintptr_t)memory, true, kind, &range))
		return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot free %p: no allocation of this kind starts there", memory);
	munmap(memory, range.mapped_bytes);
	return 0;
}

int host_pin(struct dev_gpu *gpu, void *memory, size_t bytes, struct pst_error *err)
{
	struct host_range range = {
		.base = (uintptr_t)memory,
		.bytes = bytes,
		.id = atomic_fetch_add(&last_id, 1) + 1,
		.memory = DEV_MEMORY_PINNED,
	};
	int rc;

	if (bytes == 0)
		return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot pin 0 bytes of memory");
	rc = insert(gpu->driver, &range);
	if (rc < 0 && rc != -EEXIST)
		return error_set(err, rc, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot remember pinned memory: out of memory, or more than %u "
				 "ranges",
				 HOST_RANGES_MAX);
	return 0;
}

int host_unpin(struct dev_gpu *gpu, void *memory, struct pst_error *err)
{
	struct host_range range;

	if (!take(gpu->driver, (uintptr_t)memory, false, PST_MEMORY_PINNED, &range))
		return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_MEMORY, HOST_OBJECT,
				 "cannot unpin %p: no pinned memory starts there", memory);
	return 0;
}

void host_memory_end(struct dev_driver *driver)
{
	for (size_t i = 0; i < driver->count; i++)
		if (driver->ranges[i].mapped_bytes)
			munmap((void *)driver->ranges[i].base, driver->ranges[i].mapped_bytes);
	free(driver->ranges);
	driver->ranges = NULL;
	driver->count = 0;
	driver->room = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in two halves: reserved address ranges, and allocations that are mapped there. */
#include "fake.h"

#include <stdlib.h>

#define GRANULARITY ((size_t)2 << 20)

struct fake_allocation {
	unsigned long long id; /* the handle */
	size_t bytes;
	int device;
	char *storage;
	bool released;   /* by its maker */
	unsigned mapped; /* mappings that keep it alive */
	struct fake_allocation *next;
};

static struct fake_allocation *allocations;

static void drop_unused(struct fake_allocation *allocation)
{
	struct fake_allocation **link = &allocations;

	if (!allocation->released || allocation->mapped > 0)
		return;
	while (*link != allocation)
		link = &(*link)->next;
	*link = allocation->next;
	fake_unmap(allocation->storage, allocation->bytes);
	fake_device_give(allocation->device, allocation->bytes);
	free(allocation);
}

void fake_vmm_unmapped(struct fake_memory *memory)
{
	struct fake_allocation *allocation = memory->backing;

	fake_memory_remove(memory);
	allocation->mapped--;
	drop_unused(allocation);
}

long fake_vmm_count(void)
{
	long count = 0;

	for (const struct fake_allocation *a = allocations; a; a = a->next)
		count++;
	return count;
}

static bool whole(size_t bytes)
{
	return bytes > 0 && bytes % GRANULARITY == 0;
}

static bool properties_good(const struct fake_properties *properties)
{
	return properties && properties->type == 1 && properties->place.type == 1 &&
	       properties->place.id >= 0 && properties->place.id < fake_device_count();
}

int cuMemGetAllocationGranularity(size_t *bytes, const struct fake_properties *properties,
				  int option)
{
	int status = fake_begin(FAKE_CALL_cuMemGetAllocationGranularity);

	if (status != FAKE_OK)
		return status;
	if (!bytes || !properties_good(properties) || option < 0 || option > 1)
		return FAKE_INVALID_VALUE;
	*bytes = GRANULARITY;
	return FAKE_OK;
}

int cuMemAddressReserve(fake_address *address, size_t bytes, size_t alignment, fake_address wish,
			unsigned long long flags)
{
	int status = fake_begin(FAKE_CALL_cuMemAddressReserve);
	struct fake_memory range = {.type = FAKE_RESERVATION, .bytes = bytes};

	(void)wish;
	if (status != FAKE_OK)
		return status;
	if (!address || !whole(bytes) || (alignment & (alignment - 1)) != 0 || flags != 0)
		return FAKE_INVALID_VALUE;
	range.base = (uintptr_t)fake_map(bytes, false);
	if (!range.base)
		return FAKE_OUT_OF_MEMORY;
	pthread_mutex_lock(&fake_lock);
	if (!fake_memory_add(&range)) {
		fake_unmap((void *)range.base, bytes);
		status = FAKE_OUT_OF_MEMORY;
	} else {
		*address = range.base;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuMemAddressFree(fake_address address, size_t bytes)
{
	int status = fake_begin(FAKE_CALL_cuMemAddressFree);
	struct fake_memory *range;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	/* A mapping there would be found first. */
	range = fake_memory_find(address);
	if (range && range->type == FAKE_RESERVATION && range->base == address &&
	    range->bytes == bytes) {
		fake_memory_remove(range);
		fake_unmap((void *)(uintptr_t)address, bytes);
	} else {
		status = FAKE_INVALID_VALUE;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuMemCreate(unsigned long long *allocation, size_t bytes,
		const struct fake_properties *properties, unsigned long long flags)
{
	int status = fake_begin(FAKE_CALL_cuMemCreate);
	struct fake_allocation *made;
	bool taken;

	if (status != FAKE_OK)
		return status;
	if (!allocation || !whole(bytes) || !properties_good(properties) || flags != 0)
		return FAKE_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return FAKE_OUT_OF_MEMORY;
	pthread_mutex_lock(&fake_lock);
	taken = fake_device_take(properties->place.id, bytes);
	made->storage = taken ? fake_map(bytes, true) : NULL;
	if (made->storage) {
		made->id = fake_next_id();
		made->bytes = bytes;
		made->device = properties->place.id;
		made->next = allocations;
		allocations = made;
		*allocation = made->id;
	} else {
		if (taken)
			fake_device_give(properties->place.id, bytes);
		free(made);
		status = FAKE_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

static struct fake_allocation *find(unsigned long long id)
{
	for (struct fake_allocation *a = allocations; a; a = a->next)
		if (a->id == id && !a->released)
			return a;
	return NULL;
}

int cuMemRelease(unsigned long long allocation)
{
	int status = fake_begin(FAKE_CALL_cuMemRelease);
	struct fake_allocation *found;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	found = find(allocation);
	if (found) {
		found->released = true;
		drop_unused(found);
	} else {
		status = FAKE_INVALID_VALUE;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuMemMap(fake_address address, size_t bytes, size_t offset, unsigned long long allocation,
	     unsigned long long flags)
{
	int status = fake_begin(FAKE_CALL_cuMemMap);
	struct fake_allocation *found;
	struct fake_memory *range;

	if (status != FAKE_OK)
		return status;
	if (!whole(bytes) || offset != 0 || flags != 0)
		return FAKE_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	found = find(allocation);
	range = fake_memory_find(address);
	if (!found || found->bytes < bytes || !range || range->type != FAKE_RESERVATION ||
	    bytes > range->bytes - (address - range->base)) {
		status = FAKE_INVALID_VALUE;
	} else {
		struct fake_memory mapping = {
			.type = FAKE_MAPPED,
			.base = address,
			.bytes = bytes,
			.storage = found->storage,
			.device = found->device,
			.backing = found,
		};

		if (fake_memory_add(&mapping))
			found->mapped++;
		else
			status = FAKE_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

/* The mapping of exactly this range. */
static struct fake_memory *mapping_of(fake_address address, size_t bytes)
{
	struct fake_memory *memory = fake_memory_find(address);

	if (!memory || memory->type != FAKE_MAPPED || memory->base != address ||
	    memory->bytes != bytes)
		return NULL;
	return memory;
}

int cuMemUnmap(fake_address address, size_t bytes)
{
	int status = fake_begin(FAKE_CALL_cuMemUnmap);
	struct fake_memory *memory;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	memory = mapping_of(address, bytes);
	if (memory)
		fake_vmm_unmapped(memory);
	else
		status = FAKE_INVALID_VALUE;
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuMemSetAccess(fake_address address, size_t bytes, const struct fake_access *access,
		   size_t count)
{
	int status = fake_begin(FAKE_CALL_cuMemSetAccess);
	struct fake_memory *memory;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	memory = mapping_of(address, bytes);
	if (!memory || !access || count == 0)
		status = FAKE_INVALID_VALUE;
	for (size_t i = 0; i < count && status == FAKE_OK; i++) {
		if (access[i].place.type != 1)
			status = FAKE_INVALID_VALUE;
		else if (access[i].place.id == memory->device)
			memory->access = access[i].flags == 3;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

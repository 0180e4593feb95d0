/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory. Device memory is mapped twice: the address range that is handed out cannot be touched
 * by the CPU, and the bytes are elsewhere, where only the fake's streams find them.
 */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct fake_memory *memories;

void *fake_map(size_t bytes, bool accessible)
{
	void *memory;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	memory = mmap(NULL, bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void fake_unmap(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

struct fake_memory *fake_memory_find(uintptr_t address)
{
	struct fake_memory *reservation = NULL;

	for (struct fake_memory *memory = memories; memory; memory = memory->next) {
		if (address - memory->base >= memory->bytes)
			continue;
		if (memory->type != FAKE_RESERVATION)
			return memory;
		reservation = memory;
	}
	return reservation;
}

struct fake_memory *fake_memory_find_range(uintptr_t address, size_t bytes)
{
	struct fake_memory *memory = fake_memory_find(address);

	if (!memory || memory->type == FAKE_RESERVATION)
		return NULL;
	return bytes <= memory->bytes - (address - memory->base) ? memory : NULL;
}

struct fake_memory *fake_memory_add(const struct fake_memory *memory)
{
	struct fake_memory *added = malloc(sizeof(*added));

	if (!added)
		return NULL;
	*added = *memory;
	added->id = fake_next_id();
	added->next = memories;
	memories = added;
	return added;
}

void fake_memory_remove(struct fake_memory *memory)
{
	struct fake_memory **link = &memories;

	/* Two frees at once of the same memory are a test's mistake: the second crashes. */
	while (*link != memory)
		link = &(*link)->next;
	*link = memory->next;
	/* Streams that still use it are waited for, as the real driver does. */
	while (memory->in_flight > 0)
		pthread_cond_wait(&fake_progress, &fake_lock);
	fake_keep(memory);
	free(memory);
}

/* Ends memory of any type but a reservation. */
static void end(struct fake_memory *memory)
{
	struct fake_memory copy = *memory;

	fake_memory_remove(memory);
	switch (copy.type) {
	case FAKE_DEVICE:
		fake_unmap(copy.storage, copy.bytes);
		fake_unmap((void *)copy.base, copy.bytes);
		fake_device_give(copy.device, copy.bytes);
		break;
	case FAKE_MANAGED:
		fake_device_give(copy.device, copy.bytes);
		fake_unmap(copy.storage, copy.bytes);
		break;
	case FAKE_HOST:
		fake_unmap(copy.storage, copy.bytes);
		break;
	case FAKE_PIN:
	case FAKE_MAPPED:
	case FAKE_RESERVATION:
		break;
	}
}

/* Mapped memory and pins belong to no context. */
void fake_memory_end_context(const struct fake_context *context)
{
	struct fake_memory *memory = memories;

	while (memory) {
		if (memory->context == context->handle) {
			end(memory);
			memory = memories; /* the list may have changed meanwhile */
		} else {
			memory = memory->next;
		}
	}
}

long fake_memory_count(enum fakecuda_kind kind)
{
	long count = kind == FAKECUDA_ALLOCATIONS ? fake_vmm_count() : 0;

	for (const struct fake_memory *memory = memories; memory; memory = memory->next) {
		switch (memory->type) {
		case FAKE_DEVICE:
		case FAKE_MANAGED:
			count += kind == FAKECUDA_ALLOCATIONS;
			break;
		case FAKE_HOST:
			count += kind == FAKECUDA_HOST_ALLOCATIONS;
			break;
		case FAKE_PIN:
			count += kind == FAKECUDA_PINS;
			break;
		case FAKE_RESERVATION:
			count += kind == FAKECUDA_RESERVATIONS;
			break;
		case FAKE_MAPPED:
			break; /* its allocation is counted */
		}
	}
	return count;
}

/* Makes memory of the current context. */
static int allocate(enum fake_call call, enum fake_memory_type type, size_t bytes, uintptr_t *out)
{
	int status = fake_begin(call);
	struct fake_context *context;
	struct fake_memory memory = {.type = type, .bytes = bytes};
	bool taken;

	if (status != FAKE_OK)
		return status;
	if (!out || bytes == 0)
		return FAKE_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	status = fake_current(&context);
	if (status != FAKE_OK)
		goto unlock;
	memory.context = context->handle;
	memory.device = context->device;
	taken = type == FAKE_HOST || fake_device_take(context->device, bytes);
	memory.storage = taken ? fake_map(bytes, true) : NULL;
	memory.base = (uintptr_t)memory.storage;
	if (type == FAKE_DEVICE && memory.storage)
		memory.base = (uintptr_t)fake_map(bytes, false);
	if (!memory.base || !fake_memory_add(&memory)) {
		status = FAKE_OUT_OF_MEMORY;
		if (memory.base && type == FAKE_DEVICE)
			fake_unmap((void *)memory.base, bytes);
		if (memory.storage)
			fake_unmap(memory.storage, bytes);
		if (taken && type != FAKE_HOST)
			fake_device_give(context->device, bytes);
		goto unlock;
	}
	*out = memory.base;
unlock:
	pthread_mutex_unlock(&fake_lock);
	return status;
}

/* Frees memory whose type is one of two. */
static int release(enum fake_call call, uintptr_t base, enum fake_memory_type one,
		   enum fake_memory_type other, int unknown_status)
{
	int status = fake_begin(call);
	struct fake_context *context;
	struct fake_memory *memory;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	status = fake_current(&context);
	if (status == FAKE_OK) {
		memory = fake_memory_find(base);
		if (memory && memory->base == base &&
		    (memory->type == one || memory->type == other))
			end(memory);
		else
			status = unknown_status;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuMemAlloc_v2(fake_address *memory, size_t bytes)
{
	uintptr_t base = 0;
	int status = allocate(FAKE_CALL_cuMemAlloc_v2, FAKE_DEVICE, bytes, &base);

	if (status == FAKE_OK)
		*memory = base;
	return status;
}

int cuMemAllocManaged(fake_address *memory, size_t bytes, unsigned flags)
{
	uintptr_t base = 0;
	int status = allocate(FAKE_CALL_cuMemAllocManaged, FAKE_MANAGED, bytes, &base);

	(void)flags;
	if (status == FAKE_OK)
		*memory = base;
	return status;
}

int cuMemFree_v2(fake_address memory)
{
	return release(FAKE_CALL_cuMemFree_v2, memory, FAKE_DEVICE, FAKE_MANAGED,
		       FAKE_INVALID_VALUE);
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	uintptr_t base = 0;
	int status = allocate(FAKE_CALL_cuMemHostAlloc, FAKE_HOST, bytes, &base);

	(void)flags;
	if (status == FAKE_OK)
		*memory = (void *)base;
	return status;
}

int cuMemFreeHost(void *memory)
{
	return release(FAKE_CALL_cuMemFreeHost, (uintptr_t)memory, FAKE_HOST, FAKE_HOST,
		       FAKE_INVALID_VALUE);
}

static bool overlaps_known(uintptr_t base, size_t bytes)
{
	for (const struct fake_memory *memory = memories; memory; memory = memory->next)
		if (base < memory->base + memory->bytes && memory->base < base + bytes)
			return true;
	return false;
}

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
	int status = fake_begin(FAKE_CALL_cuMemHostRegister_v2);
	struct fake_context *context;
	struct fake_memory pin = {
		.type = FAKE_PIN, .base = (uintptr_t)memory, .bytes = bytes, .storage = memory};

	if (status != FAKE_OK)
		return status;
	if (!memory || bytes == 0 || flags > 15)
		return FAKE_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	status = fake_current(&context);
	if (status == FAKE_OK) {
		pin.device = context->device;
		if (overlaps_known(pin.base, bytes))
			status = FAKE_ALREADY_REGISTERED;
		else if (!fake_memory_add(&pin))
			status = FAKE_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuMemHostUnregister(void *memory)
{
	return release(FAKE_CALL_cuMemHostUnregister, (uintptr_t)memory, FAKE_PIN, FAKE_PIN,
		       FAKE_NOT_REGISTERED);
}

/* One attribute. Memory that is not known gives what the real driver gives: nothing. */
static int attribute_get(const struct fake_memory *memory, int attribute, void *value)
{
	bool on_cpu = memory && (memory->type == FAKE_HOST || memory->type == FAKE_PIN);

	switch (attribute) {
	case 1: /* context */
		*(void **)value = memory ? memory->context : NULL;
		return FAKE_OK;
	case 2: /* memory type: 1 host, 2 device */
		*(unsigned *)value = !memory ? 0 : on_cpu ? 1 : 2;
		return FAKE_OK;
	case 7: /* buffer id */
		*(unsigned long long *)value = memory ? memory->id : 0;
		return FAKE_OK;
	case 8: /* managed */
		*(bool *)value = memory && memory->type == FAKE_MANAGED;
		return FAKE_OK;
	case 9: /* device */
		*(int *)value = memory ? memory->device : -2;
		return FAKE_OK;
	case 11: /* start of the range */
		*(fake_address *)value = memory ? memory->base : 0;
		return FAKE_OK;
	case 12: /* its size */
		*(size_t *)value = memory ? memory->bytes : 0;
		return FAKE_OK;
	default:
		return FAKE_INVALID_VALUE;
	}
}

int cuPointerGetAttributes(unsigned count, const int *attributes, void **values,
			   fake_address address)
{
	int status = fake_begin(FAKE_CALL_cuPointerGetAttributes);
	const struct fake_memory *memory;

	if (status != FAKE_OK)
		return status;
	if (count == 0 || !attributes || !values)
		return FAKE_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	memory = fake_memory_find(address);
	if (memory && memory->type == FAKE_RESERVATION)
		memory = NULL;
	for (unsigned i = 0; i < count && status == FAKE_OK; i++)
		status = attribute_get(memory, attributes[i], values[i]);
	pthread_mutex_unlock(&fake_lock);
	return status;
}

void *fakecuda_peek(const void *address)
{
	const struct fake_memory *memory;
	void *storage = NULL;

	pthread_mutex_lock(&fake_lock);
	memory = fake_memory_find((uintptr_t)address);
	if (memory && memory->storage)
		storage = memory->storage + ((uintptr_t)address - memory->base);
	pthread_mutex_unlock(&fake_lock);
	return storage;
}

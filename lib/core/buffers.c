/* SPDX-License-Identifier: Apache-2.0 */
#include "core/buffers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "util/error.h"

void buffers_init(struct buffer_table *table)
{
	memset(table, 0, sizeof(*table));
	pthread_rwlock_init(&table->lock, NULL);
}

void buffers_destroy(struct buffer_table *table)
{
	free(table->entries);
	pthread_rwlock_destroy(&table->lock);
}

static const char *address_text(const void *address)
{
	static _Thread_local char text[24];

	snprintf(text, sizeof(text), "%p", address);
	return text;
}

/* Index of the first entry whose base is not below `base`. */
static size_t position(const struct buffer_table *table, const void *base)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)table->entries[middle].base < (uintptr_t)base)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int grow(struct buffer_table *table)
{
	size_t capacity = table->capacity ? table->capacity * 2 : 16;
	struct registered_buffer *entries;

	if (table->count < table->capacity)
		return 0;
	entries = realloc(table->entries, capacity * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	table->entries = entries;
	table->capacity = capacity;
	return 0;
}

static int insert(struct buffer_table *table, const struct registered_buffer *buffer,
		  struct pst_error *err)
{
	size_t at = position(table, buffer->base);

	if (at < table->count && table->entries[at].base == buffer->base)
		return error_set(err, PST_E_ALREADY_REGISTERED, PST_STAGE_MEMORY,
				 address_text(buffer->base),
				 "buffer %p is registered already; unregister it first",
				 (void *)buffer->base);
	if (grow(table) < 0)
		return error_set(err, -ENOMEM, PST_STAGE_MEMORY, address_text(buffer->base),
				 "cannot register buffer %p: out of memory", (void *)buffer->base);
	memmove(&table->entries[at + 1], &table->entries[at],
		(table->count - at) * sizeof(*table->entries));
	table->entries[at] = *buffer;
	table->count++;
	atomic_fetch_add(&table->generation, 1);
	return 0;
}

static int check_range(const struct dev_pointer *pointer, const uint8_t *address, size_t bytes,
		       struct pst_error *err)
{
	uintptr_t start = (uintptr_t)address;

	if (!pointer->bytes)
		return 0;
	if (start >= pointer->base && bytes <= pointer->bytes &&
	    start - pointer->base <= pointer->bytes - bytes)
		return 0;
	return error_set(err, PST_E_POINTER_RANGE, PST_STAGE_MEMORY, address_text(address),
			 "%zu bytes at %p leave their allocation of %zu bytes at %#lx", bytes,
			 (const void *)address, pointer->bytes, (unsigned long)pointer->base);
}

int buffers_add(struct pst_context *ctx, void *base, size_t bytes, struct pst_error *err)
{
	struct registered_buffer buffer = {.base = base, .bytes = bytes};
	struct dev_pointer pointer;
	int rc = devices_lookup(ctx, base, &pointer, &buffer.device, err);

	if (rc == 0 && pointer.memory == DEV_MEMORY_MANAGED)
		rc = error_set(err, PST_E_MEMORY_TYPE, PST_STAGE_MEMORY, address_text(base),
			       "managed memory at %p cannot be registered; use it unregistered",
			       base);
	if (rc == 0)
		rc = check_range(&pointer, base, bytes, err);
	if (rc < 0)
		return rc;
	buffer.context = pointer.context;
	pthread_rwlock_wrlock(&ctx->buffers.lock);
	rc = insert(&ctx->buffers, &buffer, err);
	pthread_rwlock_unlock(&ctx->buffers.lock);
	return rc;
}

int buffers_remove(struct pst_context *ctx, void *base, struct pst_error *err)
{
	struct buffer_table *table = &ctx->buffers;
	int rc = 0;
	size_t at;

	pthread_rwlock_wrlock(&table->lock);
	at = position(table, base);
	if (at < table->count && table->entries[at].base == base) {
		memmove(&table->entries[at], &table->entries[at + 1],
			(table->count - at - 1) * sizeof(*table->entries));
		table->count--;
		atomic_fetch_add(&table->generation, 1);
	} else {
		rc = error_set(err, PST_E_NOT_REGISTERED, PST_STAGE_MEMORY, address_text(base),
			       "no buffer is registered at %p; pass the base that was registered",
			       base);
	}
	pthread_rwlock_unlock(&table->lock);
	return rc;
}

bool buffers_find(struct buffer_table *table, const void *base, struct registered_buffer *out)
{
	bool found;
	size_t at;

	pthread_rwlock_rdlock(&table->lock);
	at = position(table, base);
	found = at < table->count && table->entries[at].base == base;
	if (found)
		*out = table->entries[at];
	pthread_rwlock_unlock(&table->lock);
	return found;
}

void buffers_each(struct buffer_table *table,
		  void (*visit)(void *arg, const struct registered_buffer *buffer), void *arg)
{
	pthread_rwlock_rdlock(&table->lock);
	for (size_t i = 0; i < table->count; i++)
		visit(arg, &table->entries[i]);
	pthread_rwlock_unlock(&table->lock);
}

static int resolve_registered(const struct registered_buffer *known, size_t bytes,
			      off_t buffer_offset, struct target *out, struct pst_error *err)
{
	if (buffer_offset < 0 || (size_t)buffer_offset > known->bytes ||
	    bytes > known->bytes - (size_t)buffer_offset)
		return error_set(
			err, PST_E_MAPPING_SIZE, PST_STAGE_MEMORY, address_text(known->base),
			"%zu bytes at offset %lld leave the registered buffer of %zu bytes", bytes,
			(long long)buffer_offset, known->bytes);
	*out = (struct target){
		.address = known->base + buffer_offset,
		.device = known->device,
		.context = known->context,
		.registered = true,
	};
	return 0;
}

int buffers_resolve(struct pst_context *ctx, void *buffer, size_t bytes, off_t buffer_offset,
		    const struct registered_buffer *known, struct target *out,
		    struct pst_error *err)
{
	/* By number: a wild offset is the driver's or the kernel's to refuse. */
	uint8_t *address = (uint8_t *)((uintptr_t)buffer + (uintptr_t)buffer_offset);
	struct dev_pointer pointer;
	struct pst_device *device;
	int rc;

	*out = (struct target){0};
	if (known)
		return resolve_registered(known, bytes, buffer_offset, out, err);
	rc = devices_lookup(ctx, address, &pointer, &device, err);
	if (rc == 0)
		rc = check_range(&pointer, address, bytes, err);
	if (rc < 0)
		return rc;
	*out = (struct target){
		.address = address,
		.device = device,
		.context = pointer.context,
		.managed = pointer.memory == DEV_MEMORY_MANAGED,
	};
	return 0;
}

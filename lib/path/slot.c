/* SPDX-License-Identifier: Apache-2.0 */
#include "path/slot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/devices.h"
#include "os/memory.h"

static const unsigned most[SLOT_CLASSES] = {128, 32, 16};

void slot_set_init(struct slot_set *set, size_t large_bytes, unsigned depth)
{
	const size_t bytes[SLOT_CLASSES] = {SLOT_SMALL_BYTES, SLOT_MEDIUM_BYTES, large_bytes};

	memset(set, 0, sizeof(*set));
	for (int i = 0; i < SLOT_CLASSES; i++) {
		set->class_bytes[i] = bytes[i];
		set->limit[i] = depth < most[i] ? depth : most[i];
	}
}

void slot_set_destroy(struct slot_set *set, bool forked)
{
	struct slot *next;

	for (struct slot *slot = set->all; slot; slot = next) {
		next = slot->chain;
		if (slot->mark && !forked)
			slot->mark_ops->mark_free(slot->mark);
		free(slot);
	}
	for (unsigned i = 0; i < set->arena_count; i++) {
		struct slot_arena *arena = &set->arenas[i];
		struct pst_device *device = arena->pinned_by;

		if (device && !forked)
			device->ops->unpin(device->gpu, arena->memory, NULL);
		if (!forked) /* a child never had the mapping */
			os_slot_unmap(arena->memory, arena->bytes);
	}
	memset(set, 0, sizeof(*set));
}

/* Slots share huge pages, except that small ones of a thread with few requests in flight come
 * alone, so that it holds little. */
static size_t arena_bytes(const struct slot_set *set, unsigned class_index)
{
	size_t bytes = set->class_bytes[class_index];

	if (class_index == 0 && set->limit[0] * bytes < OS_HUGE_PAGE_BYTES)
		return bytes;
	return bytes < OS_HUGE_PAGE_BYTES ? OS_HUGE_PAGE_BYTES : bytes;
}

static bool add_slot(struct slot_set *set, unsigned class_index, struct slot_arena *arena,
		     size_t offset)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return false;
	slot->memory = arena->memory + offset;
	slot->bytes = set->class_bytes[class_index];
	slot->arena = arena;
	slot->class_index = class_index;
	slot->chain = set->all;
	set->all = slot;
	set->made[class_index]++;
	slot_put(set, slot);
	return true;
}

static bool make_slots(struct slot_set *set, unsigned class_index)
{
	size_t bytes = arena_bytes(set, class_index);
	size_t each = set->class_bytes[class_index];
	struct slot_arena *arena;
	void *memory;

	if (set->arena_count == SLOT_MAX_ARENAS || os_slot_map(bytes, &memory) < 0)
		return false;
	arena = &set->arenas[set->arena_count++];
	*arena = (struct slot_arena){.memory = memory, .bytes = bytes, .fixed_index = -2};
	set->total_bytes += bytes;
	for (size_t offset = 0; offset + each <= bytes; offset += each) {
		if (!add_slot(set, class_index, arena, offset))
			break;
	}
	return set->free[class_index] != NULL;
}

struct slot *slot_get(struct slot_set *set, size_t bytes, bool *exhausted)
{
	unsigned class_index = 0;
	struct slot *slot;

	*exhausted = false;
	while (class_index < SLOT_CLASSES - 1 && set->class_bytes[class_index] < bytes)
		class_index++;
	if (!set->free[class_index] && set->made[class_index] < set->limit[class_index] &&
	    !make_slots(set, class_index) && !set->made[class_index])
		*exhausted = true;
	slot = set->free[class_index];
	if (slot)
		set->free[class_index] = slot->next;
	return slot;
}

void slot_put(struct slot_set *set, struct slot *slot)
{
	slot->next = set->free[slot->class_index];
	set->free[slot->class_index] = slot;
}

bool slot_pin(struct slot *slot, struct pst_device *device)
{
	struct slot_arena *arena = slot->arena;

	if (arena->pinned_by && arena->pinned_by->ops == device->ops)
		return true;
	if (arena->pin_refused)
		return false;
	if (arena->pinned_by) /* of another driver: one at a time */
		arena->pinned_by->ops->unpin(arena->pinned_by->gpu, arena->memory, NULL);
	arena->pinned_by = NULL;
	if (device->ops->pin(device->gpu, arena->memory, arena->bytes, NULL) < 0) {
		arena->pin_refused = true;
		return false;
	}
	arena->pinned_by = device;
	return true;
}

void slot_set_drop_marks(struct slot_set *set, struct dev_queue *queue)
{
	for (struct slot *slot = set->all; slot; slot = slot->chain) {
		if (slot->mark_queue != queue || !slot->mark)
			continue;
		slot->mark_ops->mark_free(slot->mark);
		slot->mark = NULL;
		slot->mark_queue = NULL;
	}
}

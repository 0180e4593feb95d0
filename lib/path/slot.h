/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: pieces of anonymous memory that storage fills and devices copy from. Anonymous and
 * pinned afterwards, since older kernels refuse driver-allocated memory as fixed buffers.
 *
 * A set belongs to one lane. Slots come in three sizes and are made when first wanted, up to a
 * limit of each; memory is mapped in arenas that hold several slots and can be huge pages.
 */
#ifndef PST_PATH_SLOT_H
#define PST_PATH_SLOT_H

#include "device/device.h"

#define SLOT_SMALL_BYTES  ((size_t)64 << 10)
#define SLOT_MEDIUM_BYTES ((size_t)256 << 10)
#define SLOT_CLASSES      3
#define SLOT_MAX_ARENAS   64

struct slot_arena {
	uint8_t *memory;
	size_t bytes;
	struct pst_device *pinned_by; /* NULL: not pinned */
	bool pin_refused;
	int fixed_index;              /* of the ring, -1 not registered, -2 not tried */
	enum pst_reason fixed_reason; /* why it is not; PST_REASON_COUNT: no reason was given */
};

struct slot {
	uint8_t *memory;
	size_t bytes;
	struct slot_arena *arena;
	struct dev_mark *mark; /* made on first use; belongs to mark_queue */
	struct dev_queue *mark_queue;
	const struct dev_ops *mark_ops;
	struct slot *next;  /* free list of its class */
	struct slot *chain; /* all slots of the set */
	unsigned class_index;
};

struct slot_set {
	size_t class_bytes[SLOT_CLASSES];
	unsigned limit[SLOT_CLASSES]; /* slots of the class at most */
	unsigned made[SLOT_CLASSES];
	struct slot *free[SLOT_CLASSES];
	struct slot *all;
	struct slot_arena arenas[SLOT_MAX_ARENAS];
	unsigned arena_count;
	size_t total_bytes;
};

/* `large_bytes` is the size of the largest class, `depth` how many slots are wanted at once; the
 * larger classes get fewer, and requests take turns with them. */
void slot_set_init(struct slot_set *set, size_t large_bytes, unsigned depth);

/* Unpins (unless `forked`) and unmaps everything. All slots are free. */
void slot_set_destroy(struct slot_set *set, bool forked);

/* A slot of the smallest class that holds `bytes`, or of the largest. NULL: none free and no more
 * may or can be made; *exhausted tells whether that is for want of memory with nothing to wait
 * for. */
struct slot *slot_get(struct slot_set *set, size_t bytes, bool *exhausted);
void slot_put(struct slot_set *set, struct slot *slot);

/* Pins the slot's arena for a device if it is not; false when the driver refuses. */
bool slot_pin(struct slot *slot, struct pst_device *device);

/* Frees marks that belong to a queue which is about to be closed. */
void slot_set_drop_marks(struct slot_set *set, struct dev_queue *queue);

#endif

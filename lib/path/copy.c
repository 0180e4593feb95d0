/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between any two kinds of memory, through slots where host memory is not pinned. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/context.h"
#include "path/transfer.h"
#include "util/error.h"

struct copy {
	struct lane *lane;
	struct slot *slot;
	struct lane_queue *queue;
	struct dev_mark *mark;
};

static int wait_for(struct copy *copy, struct pst_error *err)
{
	const struct dev_ops *ops = copy->queue->device->ops;
	int rc = ops->mark_set(copy->queue->queue, copy->mark, err);

	return rc < 0 ? rc : ops->mark_wait(copy->mark, err);
}

/* Host and device, piece by piece through the slot. */
static int through_slot(struct copy *copy, uint8_t *to, const uint8_t *from, size_t bytes,
			bool inward, struct pst_error *err)
{
	const struct dev_ops *ops = copy->queue->device->ops;
	struct dev_queue *queue = copy->queue->queue;
	int rc = 0;

	assert(to && from);
	for (size_t at = 0, n; rc == 0 && at < bytes; at += n) {
		n = bytes - at < copy->slot->bytes ? bytes - at : copy->slot->bytes;
		if (inward) {
			memcpy(copy->slot->memory, from + at, n);
			rc = ops->copy_in(queue, to + at, copy->slot->memory, n, err);
		} else {
			rc = ops->copy_out(queue, copy->slot->memory, from + at, n, err);
		}
		if (rc == 0)
			rc = wait_for(copy, err);
		if (rc == 0 && !inward)
			memcpy(to + at, copy->slot->memory, n);
	}
	return rc;
}

static int within(struct copy *copy, uint8_t *to, const uint8_t *from, size_t bytes,
		  struct pst_error *err)
{
	int rc = copy->queue->device->ops->copy_within(copy->queue->queue, to, from, bytes, err);

	return rc < 0 ? rc : wait_for(copy, err);
}

static int on_device(struct lane *lane, const struct target *to, const struct target *from,
		     size_t bytes, struct pst_error *err)
{
	const struct target *side = to->device ? to : from;
	struct copy copy = {.lane = lane};
	bool exhausted;
	int rc = lane_enter(lane, side->device, side->context, &copy.queue, err);

	if (rc < 0)
		return rc;
	rc = side->device->ops->mark_new(copy.queue->queue, &copy.mark, err);
	if (rc < 0)
		return rc;
	copy.slot = slot_get(&lane->slots, bytes, &exhausted);
	if (to->device && from->device)
		rc = within(&copy, to->address, from->address, bytes, err);
	else if (!copy.slot)
		rc = error_set(err, -ENOMEM, PST_STAGE_MEMORY, "copy",
			       "cannot copy %zu bytes: out of memory for a slot", bytes);
	else
		rc = through_slot(&copy, to->address, from->address, bytes, to->device != NULL,
				  err);
	if (copy.slot)
		slot_put(&lane->slots, copy.slot);
	side->device->ops->mark_free(copy.mark);
	return rc;
}

int transfer_copy(struct pst_context *ctx, void *to, const void *from, size_t bytes,
		  struct pst_error *err)
{
	struct lane *lane = context_forked(ctx) ? NULL : lane_get(ctx);
	struct target destination = {0}, source = {0};
	int rc;

	if (!lane)
		return error_set(err, context_forked(ctx) ? PST_E_FORKED : -ENOMEM,
				 PST_STAGE_MEMORY, "copy", "cannot copy: %s",
				 context_forked(ctx) ? "this is a child of fork()"
						     : "out of memory");
	rc = buffers_resolve(ctx, to, bytes, 0, NULL, &destination, err);
	if (rc == 0)
		rc = buffers_resolve(ctx, (void *)from, bytes, 0, NULL, &source, err);
	if (rc < 0)
		return rc;
	if (!destination.device && !source.device) {
		memmove(to, from, bytes);
		return 0;
	}
	if (destination.device && source.device && destination.device != source.device)
		return error_set(err, PST_E_MEMORY_TYPE, PST_STAGE_MEMORY, "copy",
				 "source and destination are on two devices; copy through host "
				 "memory");
	lane_begin(lane);
	rc = on_device(lane, &destination, &source, bytes, err);
	lane_end(lane);
	return rc;
}

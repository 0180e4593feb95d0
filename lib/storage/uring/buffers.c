/* SPDX-License-Identifier: Apache-2.0 */
/* Registered buffers: their pages stay pinned, so that an operation need not pin them. */
#include "storage/uring/engine.h"

#include <assert.h>
#include <errno.h>

/* Registers an empty table to be filled one by one: by flag since Linux 5.19, by empty entries
 * since 5.13. Older kernels take all buffers at once or none. */
static int make_table(struct sto_engine *engine)
{
	static const struct iovec empty[STO_MAX_BUFFERS];
	int rc = io_uring_register_buffers_sparse(&engine->ring, STO_MAX_BUFFERS);

	if (rc == -EINVAL)
		rc = io_uring_register_buffers(&engine->ring, empty, STO_MAX_BUFFERS);
	if (rc == -EFAULT || rc == -EINVAL)
		rc = -EOPNOTSUPP;
	return rc;
}

static int set_entry(struct sto_engine *engine, unsigned index, void *memory, size_t bytes)
{
	struct iovec entry = {.iov_base = memory, .iov_len = bytes};
	__u64 tag = 0;
	int rc = io_uring_register_buffers_update_tag(&engine->ring, index, &entry, &tag, 1);

	return rc < 0 ? rc : 0;
}

static int open_table(struct sto_engine *engine, enum pst_reason *reason)
{
	struct uring_buffers *buffers = &engine->buffers;

	if (buffers->state == URING_BUFFERS_UNTRIED) {
		buffers->refusal = make_table(engine);
		buffers->state =
			buffers->refusal < 0 ? URING_BUFFERS_REFUSED : URING_BUFFERS_USABLE;
	}
	if (buffers->state == URING_BUFFERS_USABLE)
		return 0;
	*reason = buffers->refusal == -ENOMEM ? PST_REASON_URING_MEMLOCK : PST_REASON_URING_KERNEL;
	return buffers->refusal;
}

int uring_buffers_add(struct sto_engine *engine, void *memory, size_t bytes,
		      enum pst_reason *reason)
{
	assert(memory && bytes > 0);
	int rc = open_table(engine, reason);

	if (rc < 0)
		return rc;
	unsigned index = 0;
	while (index < STO_MAX_BUFFERS && engine->buffers.used[index])
		index++;
	if (index == STO_MAX_BUFFERS)
		return -ENOSPC;
	rc = set_entry(engine, index, memory, bytes);
	if (rc == -ENOMEM)
		*reason = PST_REASON_URING_MEMLOCK;
	if (rc < 0)
		return rc;
	engine->buffers.used[index] = true;
	return (int)index;
}

void uring_buffers_remove(struct sto_engine *engine, int index)
{
	assert(index >= 0 && index < STO_MAX_BUFFERS && engine->buffers.used[index]);
	/* Should the kernel refuse, the index stays taken: the next buffer must not be this one. */
	if (set_entry(engine, (unsigned)index, NULL, 0) == 0)
		engine->buffers.used[index] = false;
}

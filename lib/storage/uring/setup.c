/* SPDX-License-Identifier: Apache-2.0 */
/* Making a ring on kernels old and new, and saying why there is none. */
#include "storage/uring/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/root.h"

/*
 * COOP_TASKRUN (Linux 5.19) spares the interrupt of the submitting thread for each completion;
 * TASKRUN_FLAG lets a reap without waiting see that there is something to fetch.
 * SINGLE_ISSUER and DEFER_TASKRUN would save more, but bind the ring to its first thread, and an
 * engine may change hands.
 */
#define WANTED_FLAGS (IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG)

static enum pst_reason reason_of(int error)
{
	uint64_t disabled;

	if (error == -EPERM || error == -EACCES) {
		bool by_sysctl =
			os_read_u64("/proc/sys/kernel/io_uring_disabled", &disabled) == 0 &&
			disabled != 0;

		return by_sysctl ? PST_REASON_URING_KERNEL : PST_REASON_URING_DENIED;
	}
	/* Rings count as locked memory before Linux 5.12. */
	if (error == -ENOMEM || error == -EAGAIN)
		return PST_REASON_URING_MEMLOCK;
	return PST_REASON_URING_KERNEL;
}

/* Plain reads and writes came later (5.6) than rings did (5.1). */
static bool has_read_and_write(struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);

	if (!probe)
		return false;
	bool has = io_uring_opcode_supported(probe, IORING_OP_READ) &&
		   io_uring_opcode_supported(probe, IORING_OP_WRITE);
	io_uring_free_probe(probe);
	return has;
}

static int make_ring(struct io_uring *ring, unsigned depth, unsigned flags)
{
	struct io_uring_params params;

	memset(&params, 0, sizeof(params));
	params.flags = flags;
	return io_uring_queue_init_params(depth, ring, &params);
}

int uring_setup(struct io_uring *ring, unsigned depth, enum pst_reason *reason)
{
	int rc = make_ring(ring, depth, WANTED_FLAGS);

	if (rc == -EINVAL)
		rc = make_ring(ring, depth, 0);
	if (rc == 0 && !has_read_and_write(ring)) {
		io_uring_queue_exit(ring);
		rc = -ENOSYS;
	}
	if (rc < 0)
		*reason = reason_of(rc);
	return rc;
}

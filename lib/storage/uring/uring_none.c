/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the io_uring engine in a build without liburing: open refuses. */
#include "storage/storage.h"

#include <errno.h>

static int none_open(unsigned depth, struct sto_engine **out, enum pst_reason *reason)
{
	(void)depth, (void)out;
	*reason = PST_REASON_URING_KERNEL;
	return -ENOSYS;
}

/* No engine was ever opened, so that the other entries cannot be reached. */
const struct sto_ops sto_uring_ops = {
	.name = "uring",
	.open = none_open,
};

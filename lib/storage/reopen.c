/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/reopen.h"

#include <stdio.h>

#include "os/os.h"

static int reopen(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return os()->open(path, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
}

int sto_reopen_for_reading(int fd)
{
	return reopen(fd, 0);
}

int sto_reopen_direct(int fd)
{
	return reopen(fd, O_DIRECT);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/reopen.h"

#include <stdio.h>

#include "os/os.h"

int sto_reopen_for_reading(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return os()->open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/storage.h"

#include <errno.h>
#include <sched.h>

#include "os/os.h"

ssize_t sto_transfer(bool write, int fd, void *memory, size_t bytes, int64_t offset)
{
	size_t length = bytes < STO_MAX_BYTES ? bytes : STO_MAX_BYTES;
	ssize_t n = 0;

	for (unsigned attempt = 0; attempt <= STO_MAX_RETRIES; attempt++) {
		n = write ? os()->pwrite(fd, memory, length, offset)
			  : os()->pread(fd, memory, length, offset);
		if (n == -EAGAIN)
			sched_yield(); /* the file system waits for something that others do */
		else if (n != -EINTR)
			break;
	}
	return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed leaves its bytes in a file, so that a test of a program can look at what
 * arrived on the GPU. */
#include "fake.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *kind_name(const struct fake_memory *memory)
{
	switch (memory->type) {
	case FAKE_DEVICE:
		return "device";
	case FAKE_MAPPED:
		return "mapped";
	case FAKE_HOST:
		return "host";
	case FAKE_MANAGED:
	case FAKE_PIN:
	case FAKE_RESERVATION:
		break;
	}
	return NULL;
}

void fake_keep(const struct fake_memory *memory)
{
	const char *folder = getenv("FAKE_CUDA_KEEP");
	char path[4096];
	int fd;

	if (!folder || !*folder || !kind_name(memory))
		return;
	snprintf(path, sizeof(path), "%s/%s-%llu", folder, kind_name(memory), memory->id);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	/* A test that finds no file, or too short a one, fails: nothing passes unseen. */
	if (fd < 0)
		return;
	for (size_t done = 0; done < memory->bytes;) {
		ssize_t n = write(fd, memory->storage + done, memory->bytes - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	close(fd);
}

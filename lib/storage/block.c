/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/block.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "os/root.h"

/* The last part of where /sys/dev/block/M:m points. /sys writes '!' for a '/' in a name. */
static void read_name(uint32_t major, uint32_t minor, char *name, size_t size)
{
	char path[64];
	char target[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	if (os_read_link(path, target, sizeof(target)) < 0)
		return;
	const char *slash = strrchr(target, '/');
	const char *last = slash ? slash + 1 : target;
	size_t length = strlen(last);

	if (length >= size)
		return; /* a cut name would be another device's */
	memcpy(name, last, length + 1);
	for (char *c = name; *c; c++)
		if (*c == '!')
			*c = '/';
}

/* A partition has no queue of its own: its disk is the directory above. */
static uint32_t read_logical_block(uint32_t major, uint32_t minor)
{
	static const char *const places[] = {
		"/sys/dev/block/%u:%u/queue/logical_block_size",
		"/sys/dev/block/%u:%u/../queue/logical_block_size",
	};
	char path[96];
	uint64_t bytes;

	snprintf(path, sizeof(path), places[0], major, minor);
	if (os_read_u64(path, &bytes) < 0) {
		snprintf(path, sizeof(path), places[1], major, minor);
		if (os_read_u64(path, &bytes) < 0)
			return 0;
	}
	bool power_of_two = bytes > 0 && (bytes & (bytes - 1)) == 0;
	return power_of_two && bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

void sto_block_describe(uint32_t major, uint32_t minor, struct sto_facts *facts)
{
	char path[64];
	uint64_t read_only;

	if (major == 0)
		return;
	facts->block_major = major;
	facts->block_minor = minor;
	read_name(major, minor, facts->block_name, sizeof(facts->block_name));
	facts->logical_block_bytes = read_logical_block(major, minor);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/ro", major, minor);
	facts->read_only_device = os_read_u64(path, &read_only) == 0 && read_only != 0;
}

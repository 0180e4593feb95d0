/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "os/root.h"

/* Of /sys, whatever the device's own sector is. */
#define STAT_SECTOR_BYTES 512

/* A device that does not count shows zeros. */
static bool counting_is_off(uint32_t major, uint32_t minor)
{
	static const char *const places[] = {"queue", "../queue"};
	char path[96];
	uint64_t on;

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/iostats", major, minor,
			 places[i]);
		if (os_read_u64(path, &on) == 0)
			return on == 0;
	}
	return false;
}

/* Mapped devices (LVM, dm-crypt) have the switch off by default on older kernels, and count
 * nevertheless. Newer kernels turn it on, and heed it. */
static bool counts_regardless(uint32_t major, uint32_t minor)
{
	char path[96], name[256];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/dm/name", major, minor);
	return os_read_text(path, name, sizeof(name)) > 0;
}

int sto_device_bytes(uint32_t major, uint32_t minor, uint64_t *read_bytes, uint64_t *written_bytes)
{
	char path[64];
	char text[512];
	uint64_t read_sectors, written_sectors;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", major, minor);
	ssize_t length = os_read_text(path, text, sizeof(text));
	if (length == -ENOENT)
		return -ENODEV;
	if (length < 0)
		return (int)length;
	bool off = counting_is_off(major, minor);
	if (off && !counts_regardless(major, minor))
		return -ENODEV;
	/* Requests, merges, sectors and milliseconds of reads; then the same of writes. */
	if (sscanf(text, "%*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, &read_sectors,
		   &written_sectors) != 2)
		return -EINVAL;
	*read_bytes = read_sectors * STAT_SECTOR_BYTES;
	*written_bytes = written_sectors * STAT_SECTOR_BYTES;
	return off;
}

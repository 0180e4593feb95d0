/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a block device may be written at all. */
#ifndef PENSTOCK_IO_BLOCK_DEVICE_H
#define PENSTOCK_IO_BLOCK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct block_why {
	char text[256]; /* "it is mounted on /data" */
};

/*
 * Looks for a reason against writing: the device, or a partition of it, is read only, mounted or
 * held by another device (RAID, LVM, dm-crypt). sysfs_root is "/sys" and mountinfo
 * "/proc/self/mountinfo" but in tests. Returns true with *why filled when there is one. What
 * only the kernel knows (swap, another program) shows when O_EXCL fails with EBUSY.
 */
bool block_device_in_use(const char *sysfs_root, const char *mountinfo, dev_t device,
			 struct block_why *why);

#endif

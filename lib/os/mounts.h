/* SPDX-License-Identifier: Apache-2.0 */
/* The mount that a descriptor lies on, from /proc/self/mountinfo below the root. */
#ifndef PST_OS_MOUNTS_H
#define PST_OS_MOUNTS_H

#include <stdbool.h>

struct os_mount {
	char fs_type[32];  /* "ext4", "fuse.sshfs" */
	char point[256];   /* as this process sees it */
	char options[256]; /* of the mount and its file system, cut at the last whole option */
	char source[256];  /* "/dev/sda1", "server:/export", "tmpfs" */
	bool read_only;
};

/*
 * Finds the mount of fd by the mount id that the kernel tells (statx, else fdinfo), else by
 * device: of the mounts of that device the one with the longest mount point above the file.
 * A text that does not fit is cut. Thread safe. 0, -ENOENT when no mount fits (a pipe, a memfd,
 * a descriptor of another mount namespace), or -errno.
 */
int os_mount_of(int fd, struct os_mount *out);

#endif

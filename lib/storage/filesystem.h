/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about file systems by their kind. */
#ifndef PST_STORAGE_FILESYSTEM_H
#define PST_STORAGE_FILESYSTEM_H

#include <stdint.h>

enum sto_fs_kind {
	STO_FS_OTHER = 0,    /* on a block device, or a layer over other file systems */
	STO_FS_MEMORY,       /* pages are all there is */
	STO_FS_NETWORK,      /* another machine, or another program, holds the bytes */
	STO_FS_FUSE,         /* network unless it has a block device */
	STO_FS_MANY_DEVICES, /* anonymous device number; the mount names a block device */
};

struct sto_fs {
	enum sto_fs_kind kind;
	const char *name; /* for use when the mount table does not tell; NULL unknown */
};

/* Kind by the magic number of statfs, or by the type name of the mount table ("" unknown). */
struct sto_fs sto_fs_lookup(uint32_t magic, const char *type);

#endif

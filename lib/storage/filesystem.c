/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/filesystem.h"

#include <stddef.h>
#include <string.h>

/* Magic 0: out-of-tree file systems, known by their name alone. */
static const struct {
	uint32_t magic;
	enum sto_fs_kind kind;
	const char *name;
} known[] = {
	{0x01021994, STO_FS_MEMORY, "tmpfs"},
	{0x858458f6, STO_FS_MEMORY, "ramfs"},
	{0x958458f6, STO_FS_MEMORY, "hugetlbfs"},
	{0x00006969, STO_FS_NETWORK, "nfs"},
	{0x00006969, STO_FS_NETWORK, "nfs4"},
	{0xff534d42, STO_FS_NETWORK, "cifs"},
	{0xfe534d42, STO_FS_NETWORK, "smb3"},
	{0x0000517b, STO_FS_NETWORK, "smbfs"},
	{0x01021997, STO_FS_NETWORK, "9p"},
	{0x00c36400, STO_FS_NETWORK, "ceph"},
	{0x0bd00bd0, STO_FS_NETWORK, "lustre"},
	{0x19830326, STO_FS_NETWORK, "beegfs"},
	{0x47504653, STO_FS_NETWORK, "gpfs"},
	{0xaad7aaea, STO_FS_NETWORK, "panfs"},
	{0x20030528, STO_FS_NETWORK, "pvfs2"},
	{0x5346414f, STO_FS_NETWORK, "afs"},
	{0x73757245, STO_FS_NETWORK, "coda"},
	{0, STO_FS_NETWORK, "wekafs"},
	{0, STO_FS_NETWORK, "virtiofs"}, /* has the magic of FUSE: found by name first */
	{0x65735546, STO_FS_FUSE, "fuse"},
	{0x65735546, STO_FS_FUSE, "fuseblk"},
	{0x9123683e, STO_FS_MANY_DEVICES, "btrfs"},
	{0xca451a4e, STO_FS_MANY_DEVICES, "bcachefs"},
	{0x0000ef53, STO_FS_OTHER, "ext4"},
	{0x58465342, STO_FS_OTHER, "xfs"},
	{0xf2f52010, STO_FS_OTHER, "f2fs"},
	{0x794c7630, STO_FS_OTHER, "overlay"},
	{0x2fc12fc1, STO_FS_OTHER, "zfs"},
	{0x00009fa0, STO_FS_OTHER, "proc"},
	{0x62656572, STO_FS_OTHER, "sysfs"},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

struct sto_fs sto_fs_lookup(uint32_t magic, const char *type)
{
	struct sto_fs fs = {STO_FS_OTHER, NULL};

	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if (strcmp(known[i].name, type) == 0)
			return (struct sto_fs){known[i].kind, known[i].name};
	for (size_t i = 0; i < KNOWN_COUNT && magic != 0; i++)
		if (known[i].magic == magic)
			return (struct sto_fs){known[i].kind, known[i].name};
	if (strncmp(type, "fuse.", 5) == 0)
		fs.kind = STO_FS_FUSE;
	return fs;
}

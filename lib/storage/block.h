/* SPDX-License-Identifier: Apache-2.0 */
/* Block devices as /sys/dev/block shows them. */
#ifndef PST_STORAGE_BLOCK_H
#define PST_STORAGE_BLOCK_H

#include "storage/facts.h"

/* Fills the block_ fields, logical_block_bytes and read_only_device of facts. Leaves them empty
 * where /sys does not know the device; an anonymous device (major 0) is not a block device. */
void sto_block_describe(uint32_t major, uint32_t minor, struct sto_facts *facts);

#endif

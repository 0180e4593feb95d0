/* SPDX-License-Identifier: Apache-2.0 */
/* The option table of `penstock io`, shared by parsing and help. */
#ifndef PENSTOCK_IO_OPTION_TABLE_H
#define PENSTOCK_IO_OPTION_TABLE_H

#include "common/options.h"

/* Its target is struct io_job. classic: under the name gdsio. */
const struct option_table *io_option_table(bool classic);

/* The option list and transfer-type legend as `gdsio -h` users know them. Returns 0 or -EIO. */
int io_classic_help(void);

#endif

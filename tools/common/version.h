/* SPDX-License-Identifier: Apache-2.0 */
/* What `--version` prints. */
#ifndef PENSTOCK_TOOLS_VERSION_H
#define PENSTOCK_TOOLS_VERSION_H

/* "penstock 0.1.0", and the library's version when it differs from the tool's. On stdout;
 * returns 0, or -EIO. */
int version_print(void);

#endif

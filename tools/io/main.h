/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PENSTOCK_IO_MAIN_H
#define PENSTOCK_IO_MAIN_H

#include <stdbool.h>

/* The command `penstock io`. argv[0] is the name it was called by; gdsio_name: as gdsio. Returns
 * the exit status. */
int io_main(int argc, char **argv, bool gdsio_name);

#endif

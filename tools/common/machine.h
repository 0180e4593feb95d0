/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a report was made on. */
#ifndef PENSTOCK_COMMON_MACHINE_H
#define PENSTOCK_COMMON_MACHINE_H

#include "common/json.h"

/* Adds "machine": kernel, architecture, CPU model, CPUs that this process may use, memory. What
 * cannot be found out is null. No host name and no serial number. */
void machine_add(struct json_object *parent);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Binding threads to the CPUs of a NUMA node, and reading CPU lists. */
#ifndef PENSTOCK_COMMON_AFFINITY_H
#define PENSTOCK_COMMON_AFFINITY_H

#include <sched.h>
#include <stdbool.h>

/*
 * Binds the calling thread to the CPUs of a node; memory that it touches first then comes from
 * there. Returns 0, -ENOENT when there is no such node, -ENODEV when it has no CPU that this
 * process may use, -EINVAL when its CPU list cannot be understood, or -errno.
 */
int affinity_bind_node(int node);

/* Parses a list of CPUs as the kernel writes it ("0-3,8,10-11\n"; empty is no CPU) into *set.
 * false: not such a list, or a number of CPU_SETSIZE and above. */
bool affinity_parse_list(const char *text, cpu_set_t *set);

#endif

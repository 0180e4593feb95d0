/* SPDX-License-Identifier: Apache-2.0 */
/* Binding the calling thread to a NUMA node. */
#ifndef PST_OS_AFFINITY_H
#define PST_OS_AFFINITY_H

/* The highest CPU and node numbers that are understood: the kernel's own largest build. */
#define OS_MAX_CPUS  8192
#define OS_MAX_NODES 1024

/*
 * Lets the calling thread run only on the CPUs of a node, as /sys/devices/system/node lists
 * them. 0, -ENOENT: no such node; -ENXIO: the node has no CPUs (memory only); -EINVAL: none of
 * its CPUs is allowed to this process, or the list cannot be understood; -errno.
 */
int os_bind_to_node(unsigned node);

/*
 * Makes the calling thread take new memory from a node as long as it has some. 0 done; 1 the
 * kernel or a sandbox does not let this process choose, nothing is changed; -ENOENT: no such
 * node; -EINVAL: the node has no memory, or none that this process may use; -errno.
 */
int os_prefer_node_memory(unsigned node);

#endif

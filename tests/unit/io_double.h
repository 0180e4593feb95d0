/* SPDX-License-Identifier: Apache-2.0 */
/* A library of memory files for tests of the tool's workers: it plays penstock.h's I/O calls,
 * counts which bytes are moved, and fails or waits where a test says so. */
#ifndef TEST_IO_DOUBLE_H
#define TEST_IO_DOUBLE_H

#include <stdatomic.h>

#include "penstock.h"

struct pst_file {
	uint64_t bytes;         /* its size; reads end there */
	unsigned char *touched; /* how often each byte was moved, or NULL */
	atomic_uint ops;
	unsigned fail_every; /* every n-th operation fails with EIO; 0: none */
	uint64_t delay_ns;   /* of each operation */
	atomic_bool blocked; /* operations wait while set */
	atomic_uint zeros;   /* writes whose buffer was all zero */
};

extern atomic_uint double_allocations; /* buffers that are not freed */
extern atomic_uint double_most_in_flight;
extern atomic_bool double_refuse_memory;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases of pst_read, pst_write and batches that hold for every device. The emulated GPU, the
 * fake driver and real hardware run the same ones.
 */
#ifndef TESTS_TRANSFER_CASES_H
#define TESTS_TRANSFER_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "penstock.h"

/* What a run is made with. */
struct transfer_setup {
	const char *device;    /* of pst_device_open; NULL: host memory */
	const char *directory; /* where files are made */
	enum pst_memory_kind memory;
	enum pst_file_mode mode;
	enum pst_storage storage;
	bool no_overlap;
	bool registered;
	uint64_t large_bytes; /* size of the large transfer; 0: 9 MiB + 5 */
};

/* All ways of using GPU 0 of the CUDA driver, with files in a directory on a drive. */
int transfer_cases_cuda(const char *directory, uint64_t large_bytes);

/* Runs all cases with a setup; the number of failed ones. */
int transfer_cases_run(const char *name, const struct transfer_setup *setup);

#endif

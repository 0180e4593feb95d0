/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases that every device backend must pass: run on the emulated GPU, on the fake driver and, in
 * tests/gpu, on hardware.
 */
#ifndef PST_TESTS_DEVICE_CASES_H
#define PST_TESTS_DEVICE_CASES_H

#include "device/device.h"

/* What the cases run on. Opened once for all of them. */
struct device_bench {
	const struct dev_ops *ops;
	struct dev_driver *driver;
	struct dev_gpu *gpu;
	/* Memory for the far-offset case: 0 leaves it out. */
	size_t far_bytes;
};

/* Loads the driver and opens device 0; false, with the reason in err, when that fails. */
bool device_bench_open(struct device_bench *bench, const struct dev_ops *ops,
		       struct pst_error *err);
void device_bench_close(struct device_bench *bench);

/* Runs all common cases as a cmocka group; returns the number of failed ones. */
int device_cases_run(struct device_bench *bench, const char *group_name);

#endif

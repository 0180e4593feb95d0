/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the NVIDIA backend beside an application that uses the driver itself: run on the
 * fake driver and on hardware. */
#ifndef PST_TESTS_DEVICE_CASES_CUDA_H
#define PST_TESTS_DEVICE_CASES_CUDA_H

#include "cuda_app.h"
#include "device_cases.h"

struct cuda_bench {
	struct device_bench device;
	struct cuda_app app;
	void *library;
};

bool cuda_bench_open(struct cuda_bench *bench, struct pst_error *err);
void cuda_bench_close(struct cuda_bench *bench);

/* Returns the number of failed cases. */
int device_cases_cuda_run(struct cuda_bench *bench, const char *group_name);

#endif

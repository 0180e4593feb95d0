/* SPDX-License-Identifier: Apache-2.0 */
/* The device cases on a real GPU, so that the fake driver stays honest. Opt-in: runs with
 * PENSTOCK_TEST_GPU=1, else ends with 77 (skipped). Uses GPU 0 and 4.1 GiB of its memory. */
#include "../unit/device_cases_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

int main(void)
{
	const char *wanted = getenv("PENSTOCK_TEST_GPU");
	struct cuda_bench bench;
	struct pst_device_info info = {.size_bytes = sizeof(info)};
	struct pst_error err = {0};
	int failed;

	if (!wanted || strcmp(wanted, "1") != 0) {
		fprintf(stderr, "skipped: set PENSTOCK_TEST_GPU=1 to use GPU 0\n");
		return SKIPPED;
	}
	if (!cuda_bench_open(&bench, &err)) {
		fprintf(stderr, "cannot open GPU 0: %s\n", err.message);
		return 1;
	}
	bench.device.far_bytes = ((size_t)4 << 30) + ((size_t)1 << 20);
	if (bench.device.ops->describe(bench.device.driver, 0, &info, &err) == 0)
		printf("GPU 0: %s, %s, %s\n", info.name, info.uuid, info.bus_id);
	failed = device_cases_memory_run(&bench.device, "gpu-device-memory");
	failed += device_cases_copy_run(&bench.device, "gpu-device-copy");
	failed += device_cases_cuda_run(&bench, "gpu-device-application");
	cuda_bench_close(&bench);
	return failed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The device cases on the NVIDIA backend over the fake driver, and afterwards: nothing is left
 * there, and no call is made after unload or at exit. */
#include "../fakes/libcuda/fakecuda.h"
#include "device_cases_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static long (*calls_total)(void);
static long calls_at_end = -1;

/* Runs after the destructors of the library under test, which have a later number. */
__attribute__((destructor(101))) static void check_no_call_at_exit(void)
{
	static const char text[] = "a driver call was made at exit\n";

	if (calls_at_end >= 0 && calls_total() != calls_at_end) {
		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			_exit(3);
		_exit(2);
	}
}

static int check_nothing_left(void *library)
{
	long (*live)(enum fakecuda_kind kind);
	int left = 0;

	*(void **)&live = dlsym(library, "fakecuda_live");
	for (int kind = 0; kind < FAKECUDA_KIND_COUNT; kind++) {
		long count = live(kind);

		if (count != 0) {
			fprintf(stderr, "%ld objects of kind %d are left\n", count, kind);
			left++;
		}
	}
	return left;
}

int main(void)
{
	struct cuda_bench bench;
	struct pst_error err = {0};
	int failed;

	if (!cuda_bench_open(&bench, &err)) {
		fprintf(stderr, "cannot open the fake driver: %s\n", err.message);
		return 1;
	}
	bench.device.far_bytes = ((size_t)4 << 30) + ((size_t)1 << 20);
	failed = device_cases_memory_run(&bench.device, "device-cuda-fake-memory");
	failed += device_cases_copy_run(&bench.device, "device-cuda-fake-copy");
	failed += device_cases_cuda_run(&bench, "device-cuda-fake-application");
	cuda_bench_close(&bench);
	failed += check_nothing_left(bench.library);
	*(void **)&calls_total = dlsym(bench.library, "fakecuda_calls_total");
	calls_at_end = calls_total();
	return failed;
}

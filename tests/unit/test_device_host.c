/* SPDX-License-Identifier: Apache-2.0 */
/* The common device cases on the emulated GPU. */
#include "device_cases.h"

#include <stdio.h>
#include <unistd.h>

int main(void)
{
	struct device_bench bench;
	struct pst_error err = {0};
	int failed;

	if (!device_bench_open(&bench, &dev_host_ops, &err)) {
		fprintf(stderr, "cannot open the emulated GPU: %s\n", err.message);
		return 1;
	}
	if (sysconf(_SC_PHYS_PAGES) > (8L << 30) / sysconf(_SC_PAGESIZE))
		bench.far_bytes = ((size_t)4 << 30) + ((size_t)1 << 20);
	failed = device_cases_run(&bench, "device-host");
	device_bench_close(&bench);
	return failed;
}

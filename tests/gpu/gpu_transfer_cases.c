/* SPDX-License-Identifier: Apache-2.0 */
/* The transfer cases on a real GPU, with a request of 3 GiB + 5. Opt-in: runs with
 * PENSTOCK_TEST_GPU=1, else ends with 77 (skipped). Uses GPU 0, 3.1 GiB of its memory, and as much
 * room in TEST_DIRECTORY (default /var/tmp). */
#include "../unit/transfer_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

int main(void)
{
	const char *wanted = getenv("PENSTOCK_TEST_GPU");
	const char *directory = getenv("TEST_DIRECTORY");

	if (!wanted || strcmp(wanted, "1") != 0) {
		fprintf(stderr, "skipped: set PENSTOCK_TEST_GPU=1 to use GPU 0\n");
		return SKIPPED;
	}
	return transfer_cases_cuda(directory ? directory : "/var/tmp", ((uint64_t)3 << 30) + 5);
}

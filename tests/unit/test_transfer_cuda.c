/* SPDX-License-Identifier: Apache-2.0 */
/* The transfer cases on the fake CUDA driver. */
#include "transfer_cases.h"

#include <stdlib.h>

int main(void)
{
	const char *directory = getenv("TEST_DIRECTORY");

	return transfer_cases_cuda(directory ? directory : "/var/tmp", ((uint64_t)64 << 20) + 5);
}

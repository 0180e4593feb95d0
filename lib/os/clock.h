/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all measured times: monotonic, the same for every process of this machine. */
#ifndef PST_OS_CLOCK_H
#define PST_OS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t os_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif

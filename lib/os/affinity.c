/* SPDX-License-Identifier: Apache-2.0 */
#include "os/affinity.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/root.h"

/* Room for the longest list: every second CPU of OS_MAX_CPUS, five characters each. */
#define CPULIST_BYTES (OS_MAX_CPUS / 2 * 5 + 1)

/* From the kernel's interface; libc has no wrapper and libnuma is not needed for one call. */
#define MEMORY_POLICY_PREFERRED 1

#define BITS_PER_LONG (sizeof(unsigned long) * CHAR_BIT)

struct cpu_mask {
	unsigned long bits[OS_MAX_CPUS / (sizeof(unsigned long) * CHAR_BIT)];
};

static bool take_number(const char **text, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*number = strtoul(*text, &end, 10);
	*text = end;
	return *number < OS_MAX_CPUS;
}

/* Reads "0-3,8,10-11". How many CPUs it names, or -EINVAL. */
static int parse_cpulist(const char *text, struct cpu_mask *mask)
{
	int count = 0;

	memset(mask, 0, sizeof(*mask));
	while (*text) { /* ends: every round takes a number off the text */
		unsigned long first, last;

		if (!take_number(&text, &first))
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (!take_number(&text, &last) || last < first)
				return -EINVAL;
		}
		for (unsigned long cpu = first; cpu <= last; cpu++, count++)
			mask->bits[cpu / BITS_PER_LONG] |= 1ul << cpu % BITS_PER_LONG;
		if (*text == ',' && text[1])
			text++;
		else if (*text)
			return -EINVAL;
	}
	return count;
}

int os_bind_to_node(unsigned node)
{
	struct cpu_mask mask;
	char path[64];
	char *text = malloc(CPULIST_BYTES);

	if (!text)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
	ssize_t length = os_read_text(path, text, CPULIST_BYTES);
	int count = length < 0 ? (int)length : parse_cpulist(text, &mask);
	free(text);
	if (count < 0)
		return count;
	if (count == 0)
		return -ENXIO;
	return sched_setaffinity(0, sizeof(mask), (const cpu_set_t *)(const void *)&mask) < 0
		       ? -errno
		       : 0;
}

int os_prefer_node_memory(unsigned node)
{
	unsigned long bits[OS_MAX_NODES / BITS_PER_LONG] = {0};
	char path[64];
	char text[4096];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
	ssize_t length = os_read_text(path, text, sizeof(text));
	if (length == -ENOENT || node >= OS_MAX_NODES)
		return -ENOENT;
	bits[node / BITS_PER_LONG] = 1ul << node % BITS_PER_LONG;
	/* The kernel takes one off the number of bits that it is told. */
	if (syscall(SYS_set_mempolicy, MEMORY_POLICY_PREFERRED, bits, OS_MAX_NODES + 1) == 0)
		return 0;
	return errno == ENOSYS || errno == EPERM ? 1 : -errno;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/affinity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of 1024 CPUs in its longest form is shorter. */
#define LIST_BYTES 8192

static bool parse_number(const char **at, unsigned *out)
{
	unsigned value = 0;

	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		value = value * 10 + (unsigned)(**at - '0');
		if (value >= CPU_SETSIZE)
			return false;
	}
	*out = value;
	return true;
}

bool affinity_parse_list(const char *text, cpu_set_t *set)
{
	const char *at = text;
	unsigned first = 0, last;

	CPU_ZERO(set);
	if (!*at || *at == '\n')
		return true;
	for (;;) {
		if (!parse_number(&at, &first))
			return false;
		last = first;
		if (*at == '-') {
			at++;
			if (!parse_number(&at, &last) || last < first)
				return false;
		}
		for (unsigned cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, set);
		if (*at != ',')
			break;
		at++;
	}
	return !*at || (*at == '\n' && !at[1]);
}

static int read_node_list(int node, char list[LIST_BYTES])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (!fgets(list, LIST_BYTES, file))
		list[0] = '\0';
	fclose(file);
	return 0;
}

int affinity_bind_node(int node)
{
	cpu_set_t wanted, allowed;
	char list[LIST_BYTES] = "";
	int code = read_node_list(node, list);

	if (code < 0)
		return code;
	if (!affinity_parse_list(list, &wanted))
		return -EINVAL;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -errno;
	CPU_AND(&wanted, &wanted, &allowed);
	if (!CPU_COUNT(&wanted))
		return -ENODEV;
	return sched_setaffinity(0, sizeof(wanted), &wanted) < 0 ? -errno : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* "model name : text" of the first CPU that has one; false: the kernel tells none. */
static bool cpu_model(char *out, size_t room)
{
	char line[512];
	bool found = false;
	FILE *file = fopen("/proc/cpuinfo", "re");

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(out, room, "%s", colon);
		found = true;
	}
	fclose(file);
	return found;
}

static uint64_t usable_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return UINT64_MAX;
	return (uint64_t)CPU_COUNT(&set);
}

static uint64_t memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

void machine_add(struct json_object *parent)
{
	struct json_object *machine = json_add_object(parent, "machine");
	struct utsname kernel;
	char model[256];
	bool known = uname(&kernel) == 0;

	json_add_text(machine, "kernel", known ? kernel.release : NULL);
	json_add_text(machine, "architecture", known ? kernel.machine : NULL);
	json_add_text(machine, "cpu_model", cpu_model(model, sizeof(model)) ? model : NULL);
	json_add_u64(machine, "cpus_usable", usable_cpus());
	json_add_u64(machine, "memory_bytes", memory_bytes());
}

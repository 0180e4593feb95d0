/* SPDX-License-Identifier: Apache-2.0 */
#include "io/block_device.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* "4294967295:4294967295" and room. */
#define MAX_NUMBER_TEXT 32

/* First line of a small file without newline; false when it cannot be read. */
static bool read_line(const char *path, char *line, int room)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(line, room, f);
	fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

/* The name of the first entry of a folder that is not hidden. */
static bool first_entry(const char *path, char *name, size_t room)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		found = entry->d_name[0] != '.';
		if (found)
			snprintf(name, room, "%.*s", (int)room - 1, entry->d_name);
	}
	closedir(dir);
	return found;
}

/* Fields of a mountinfo line: id, parent, major:minor, root, mount point, ... Blanks inside a
 * path are written as \040, so blanks separate fields. */
static bool is_mounted(const char *mountinfo, const char *number, struct block_why *why)
{
	FILE *f = fopen(mountinfo, "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	if (!f)
		return false;
	while (!found && getline(&line, &room, f) > 0) {
		char seen[MAX_NUMBER_TEXT];
		int at = 0;

		if (sscanf(line, "%*s %*s %31s %*s %n", seen, &at) != 1 || !at)
			continue;
		found = !strcmp(seen, number);
		if (found)
			snprintf(why->text, sizeof(why->text), "it is mounted on %.*s",
				 (int)strcspn(line + at, " \n"), line + at);
	}
	free(line);
	fclose(f);
	return found;
}

/* One device or partition; sys is its folder. */
static bool one_in_use(const char *sys, const char *mountinfo, const char *number,
		       struct block_why *why)
{
	char path[PATH_MAX], text[64];

	snprintf(path, sizeof(path), "%s/ro", sys);
	if (read_line(path, text, sizeof(text)) && strcmp(text, "0")) {
		snprintf(why->text, sizeof(why->text), "it is read only");
		return true;
	}
	if (is_mounted(mountinfo, number, why))
		return true;
	snprintf(path, sizeof(path), "%s/holders", sys);
	if (first_entry(path, text, sizeof(text))) {
		snprintf(why->text, sizeof(why->text), "it is held by %s", text);
		return true;
	}
	return false;
}

/* The partitions of a disk are folders with a file "partition" in its folder. */
static bool partition_in_use(const char *sys, const char *mountinfo, struct block_why *why)
{
	DIR *dir = opendir(sys);
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		char part[PATH_MAX], path[PATH_MAX + 16], number[MAX_NUMBER_TEXT];
		struct block_why inner;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(part, sizeof(part), "%s/%s", sys, entry->d_name);
		snprintf(path, sizeof(path), "%s/partition", part);
		if (access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), "%s/dev", part);
		if (!read_line(path, number, sizeof(number)))
			continue;
		found = one_in_use(part, mountinfo, number, &inner);
		if (found)
			snprintf(why->text, sizeof(why->text), "of its partition %.64s: %.150s",
				 entry->d_name, inner.text);
	}
	closedir(dir);
	return found;
}

bool block_device_in_use(const char *sysfs_root, const char *mountinfo, dev_t device,
			 struct block_why *why)
{
	char sys[256], number[MAX_NUMBER_TEXT];

	snprintf(number, sizeof(number), "%u:%u", major(device), minor(device));
	snprintf(sys, sizeof(sys), "%s/dev/block/%s", sysfs_root, number);
	return one_in_use(sys, mountinfo, number, why) || partition_in_use(sys, mountinfo, why);
}

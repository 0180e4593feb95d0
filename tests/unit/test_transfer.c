/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transfer cases on host memory and on the emulated GPU, on a drive and on tmpfs.
 *
 *	test_transfer [TEXT...]		only the set-ups whose name contains one of the words
 *
 * TEST_DIRECTORY: where the files are made, /var/tmp unless given.
 */
#include "transfer_cases.h"

#include <stdlib.h>
#include <string.h>

#define LARGE_BYTES (((uint64_t)64 << 20) + 5)

static bool is_chosen(const char *name, int words, char **word)
{
	bool chosen = words == 0;

	for (int i = 0; i < words; i++)
		chosen = chosen || strstr(name, word[i]);
	return chosen;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		struct transfer_setup setup;
	} runs[] = {
		{"host memory, O_DIRECT", {.memory = PST_MEMORY_HEAP, .large_bytes = LARGE_BYTES}},
		{"host memory, page cache",
		 {.memory = PST_MEMORY_MMAP, .mode = PST_FILE_CACHED, .registered = true}},
		{"host memory, io_uring",
		 {.memory = PST_MEMORY_HEAP, .storage = PST_STORAGE_URING}},
		{"emulated, O_DIRECT", {.device = "host", .large_bytes = LARGE_BYTES}},
		{"emulated, plain calls, registered",
		 {.device = "host", .storage = PST_STORAGE_POSIX, .registered = true}},
		{"emulated, io_uring always", {.device = "host", .storage = PST_STORAGE_URING}},
		{"emulated, page cache, VMM",
		 {.device = "host", .memory = PST_MEMORY_DEVICE_VMM, .mode = PST_FILE_CACHED}},
		{"emulated, no overlap", {.device = "host", .no_overlap = true}},
		{"emulated, pinned memory", {.device = "host", .memory = PST_MEMORY_PINNED}},
		{"emulated, tmpfs", {.device = "host", .directory = "/dev/shm"}},
	};
	const char *directory = getenv("TEST_DIRECTORY");
	int failed = 0, ran = 0;

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct transfer_setup setup = runs[i].setup;

		if (!is_chosen(runs[i].name, argc - 1, argv + 1))
			continue;
		if (!setup.directory)
			setup.directory = directory ? directory : "/var/tmp";
		failed += transfer_cases_run(runs[i].name, &setup);
		ran++;
	}
	return failed || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}

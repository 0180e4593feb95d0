/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_cases.h"

int transfer_cases_cuda(const char *directory, uint64_t large_bytes)
{
	const struct {
		const char *name;
		struct transfer_setup setup;
	} runs[] = {
		{"GPU, O_DIRECT", {.large_bytes = large_bytes}},
		{"GPU, registered", {.registered = true}},
		{"GPU, io_uring always", {.storage = PST_STORAGE_URING}},
		{"GPU, plain calls, VMM",
		 {.storage = PST_STORAGE_POSIX, .memory = PST_MEMORY_DEVICE_VMM}},
		{"GPU, page cache", {.mode = PST_FILE_CACHED, .large_bytes = large_bytes}},
		{"GPU, no overlap", {.no_overlap = true}},
		{"pinned host memory", {.memory = PST_MEMORY_PINNED}},
		{"plain host memory beside a GPU", {.memory = PST_MEMORY_HEAP}},
	};
	int failed = 0;

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct transfer_setup setup = runs[i].setup;

		setup.device = "0";
		setup.directory = directory;
		failed += transfer_cases_run(runs[i].name, &setup);
	}
	return failed;
}

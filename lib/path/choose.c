/* SPDX-License-Identifier: Apache-2.0 */
#include "path/choose.h"

#include "core/context.h"
#include "path/vendor_path.h"
#include "util/error.h"

#define REASON(name) (1ull << PST_REASON_##name)

static uint64_t backing_reasons(const struct pst_file *file)
{
	uint64_t reasons = 0;

	if (file->facts.memory_backed)
		reasons |= REASON(FS_MEMORY_BACKED);
	if (file->facts.network_backed)
		reasons |= REASON(FS_NETWORK);
	return reasons;
}

static uint64_t alignment_reasons(const struct pst_file *file, const struct target *target,
				  size_t bytes, off_t file_offset)
{
	uint64_t reasons = 0;

	if ((uint64_t)file_offset % file->align.offset_bytes)
		reasons |= REASON(UNALIGNED_OFFSET);
	if (bytes % file->align.offset_bytes)
		reasons |= REASON(UNALIGNED_SIZE);
	if (!target->device && (uintptr_t)target->address % file->align.memory_bytes)
		reasons |= REASON(UNALIGNED_POINTER);
	return reasons;
}

static void choose_host(struct pst_file *file, struct choice *out)
{
	out->path = file->direct_fd >= 0 ? PST_PATH_HOST : PST_PATH_HOST_CACHED;
	out->reasons |= REASON(HOST_MEMORY);
}

static void choose_native(struct pst_file *file, struct choice *out)
{
	out->path = file->direct_fd >= 0 ? PST_PATH_STAGED : PST_PATH_CACHED;
}

static int choose_gpu(struct pst_file *file, const struct target *target, struct choice *out,
		      struct pst_error *err)
{
	if (context_forked(file->ctx))
		return error_set(err, PST_E_FORKED, PST_STAGE_CHOOSE, file->path,
				 "GPU memory cannot be used in a child of fork(); open a new "
				 "context in a process started by exec, or use host memory");
	if (target->managed)
		out->reasons |= REASON(MANAGED_MEMORY);
	if (target->device->info.emulated) {
		out->reasons |= REASON(EMULATED_DEVICE);
		choose_native(file, out);
		return 0;
	}
	return vendor_path_choose(file, out, err);
}

int path_choose(struct pst_file *file, const struct target *target, size_t bytes, off_t file_offset,
		struct choice *out, struct pst_error *err)
{
	int rc = 0;

	*out = (struct choice){.reasons = backing_reasons(file)};
	if (target->device)
		rc = choose_gpu(file, target, out, err);
	else
		choose_host(file, out);
	if (rc < 0)
		return rc;
	if (out->path == PST_PATH_NONE)
		choose_native(file, out);
	if (out->path == PST_PATH_DIRECT || out->path == PST_PATH_VENDOR)
		return 0;
	out->direct_fd = file->direct_fd >= 0;
	if (out->direct_fd)
		out->reasons |= alignment_reasons(file, target, bytes, file_offset);
	else
		out->reasons |= file->mode_reasons;
	return 0;
}

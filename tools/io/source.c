/* SPDX-License-Identifier: Apache-2.0 */
#include "io/source.h"

#include <string.h>

/* Adds a part that may be unknown: the sum is unknown as soon as one part is. */
static void add_known(uint64_t *sum, uint64_t part)
{
	if (*sum != UINT64_MAX && part != UINT64_MAX)
		*sum += part;
	else
		*sum = UINT64_MAX;
}

static void look_at(const struct io_file_plan *file, unsigned flags, struct pst_file_source *seen)
{
	uint64_t bytes = file->end_bytes - file->start_bytes;

	*seen = (struct pst_file_source){.size_bytes = sizeof(*seen)};
	if (pst_file_source(file->handle, file->start_bytes, bytes, flags, seen, NULL) >= 0)
		return;
	seen->resident_bytes = UINT64_MAX;
	seen->hole_bytes = UINT64_MAX;
	seen->unwritten_bytes = UINT64_MAX;
	seen->sampled_bytes = UINT64_MAX;
	seen->zero_bytes = UINT64_MAX;
}

static void add_file_kind(struct io_source *source, const struct io_file_plan *file, bool first)
{
	struct pst_file_info info = {.size_bytes = sizeof(info)};

	source->clipped |= file->clipped;
	if (pst_file_info(file->handle, &info, NULL) < 0) {
		source->direct = false;
		return;
	}
	source->direct = (first || source->direct) && info.o_direct;
	source->memory_backed |= info.memory_backed;
	source->network_backed |= info.network_backed;
	if (info.direct_offset_align_bytes > source->offset_align_bytes)
		source->offset_align_bytes = info.direct_offset_align_bytes;
	if (info.direct_memory_align_bytes > source->memory_align_bytes)
		source->memory_align_bytes = info.direct_memory_align_bytes;
	if (!first)
		return;
	memcpy(source->fs_type, info.fs_type, sizeof(source->fs_type));
	memcpy(source->block_name, info.block_name, sizeof(source->block_name));
}

void source_before(struct io_source *source, const struct io_plan *plan)
{
	unsigned step =
		(plan->file_count + SOURCE_MAX_SAMPLED_FILES - 1) / SOURCE_MAX_SAMPLED_FILES;
	bool read = !io_job_writes(plan->job);

	*source = (struct io_source){
		.resident_after_bytes = UINT64_MAX,
		.device_read_bytes = UINT64_MAX,
		.device_written_bytes = UINT64_MAX,
	};
	if (!read) {
		source->hole_bytes = UINT64_MAX;
		source->unwritten_bytes = UINT64_MAX;
		source->sampled_bytes = UINT64_MAX;
		source->zero_bytes = UINT64_MAX;
	}
	for (unsigned i = 0; i < plan->file_count; i++) {
		const struct io_file_plan *file = &plan->files[i];
		bool sample = read && i % step == 0;
		unsigned flags = PST_SOURCE_RESIDENT | (read ? PST_SOURCE_EXTENTS : 0) |
				 (sample ? PST_SOURCE_ZEROS : 0);
		struct pst_file_source seen;

		add_file_kind(source, file, i == 0);
		source->range_bytes += file->end_bytes - file->start_bytes;
		look_at(file, flags, &seen);
		add_known(&source->resident_before_bytes, seen.resident_bytes);
		if (read) {
			add_known(&source->hole_bytes, seen.hole_bytes);
			add_known(&source->unwritten_bytes, seen.unwritten_bytes);
		}
		if (sample) {
			add_known(&source->sampled_bytes, seen.sampled_bytes);
			add_known(&source->zero_bytes, seen.zero_bytes);
		}
	}
}

void source_after(struct io_source *source, const struct io_plan *plan)
{
	struct pst_file_source seen;

	source->resident_after_bytes = 0;
	for (unsigned i = 0; i < plan->file_count; i++) {
		look_at(&plan->files[i], PST_SOURCE_RESIDENT, &seen);
		add_known(&source->resident_after_bytes, seen.resident_bytes);
	}
}

void source_find_devices(struct source_devices *devices, const struct io_plan *plan)
{
	struct pst_file_info known[SOURCE_MAX_DEVICES] = {{0}};

	*devices = (struct source_devices){.known = true};
	for (unsigned i = 0; i < plan->file_count; i++) {
		struct pst_file_info info = {.size_bytes = sizeof(info)};
		unsigned at = 0;

		if (pst_file_info(plan->files[i].handle, &info, NULL) < 0 ||
		    (!info.block_major && !info.block_minor)) {
			devices->known = false;
			return;
		}
		while (at < devices->count && (known[at].block_major != info.block_major ||
					       known[at].block_minor != info.block_minor))
			at++;
		if (at < devices->count)
			continue;
		if (at == SOURCE_MAX_DEVICES) {
			devices->known = false;
			return;
		}
		known[at] = info;
		devices->files[at] = plan->files[i].handle;
		devices->count++;
	}
}

void source_read_devices(struct source_devices *devices)
{
	devices->read_bytes = 0;
	devices->written_bytes = 0;
	for (unsigned i = 0; devices->known && i < devices->count; i++) {
		uint64_t read = 0;
		uint64_t written = 0;
		int rc = pst_file_device_bytes(devices->files[i], &read, &written, NULL);

		if (rc < 0)
			devices->known = false;
		devices->may_stand_still |= rc > 0;
		devices->read_bytes += read;
		devices->written_bytes += written;
	}
}

void source_device_delta(struct io_source *source, const struct source_devices *before,
			 const struct source_devices *after)
{
	bool changed = after->read_bytes != before->read_bytes ||
		       after->written_bytes != before->written_bytes;

	if (!before->known || !after->known || !after->count)
		return;
	/* A change proves that one device counts, and nothing of the others. */
	if (after->may_stand_still && (!changed || after->count > 1))
		return;
	source->device_read_bytes = after->read_bytes - before->read_bytes;
	source->device_written_bytes = after->written_bytes - before->written_bytes;
}

/* The whole file, not the range alone: the kernel may hold it in folios of megabytes and keeps one
 * that lies across the edge of what it is told to drop. */
int source_evict(const struct io_plan *plan, struct pst_error *err)
{
	for (unsigned i = 0; i < plan->file_count; i++) {
		const struct io_file_plan *file = &plan->files[i];
		uint64_t bytes =
			file->file_bytes > file->end_bytes ? file->file_bytes : file->end_bytes;
		int code = pst_file_evict(file->handle, 0, bytes, err);

		if (code < 0)
			return code;
	}
	return 0;
}

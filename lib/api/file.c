/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/check.h"
#include "core/file.h"
#include "path/lane.h"
#include "path/vendor_path.h"

static int take_options(struct pst_file_options *to, const struct pst_file_options *from,
			struct pst_error *err)
{
	*to = (struct pst_file_options){.size_bytes = sizeof(*to)};
	if (from && !options_import(to, from, sizeof(*to)))
		return bad_struct(err, "options");
	if (to->mode > PST_FILE_CACHED)
		return bad_argument(err, "mode", "is not a value of enum pst_file_mode");
	return 0;
}

int pst_file_open(struct pst_context *ctx, const char *path, const struct pst_file_options *options,
		  struct pst_file **out, struct pst_error *err)
{
	struct pst_file_options resolved;
	int rc;

	if (!ctx || !path || !out)
		return bad_argument(err, !ctx ? "ctx" : !path ? "path" : "out", "must not be NULL");
	rc = take_options(&resolved, options, err);
	return rc < 0 ? rc : file_open(ctx, path, &resolved, out, err);
}

int pst_file_from_fd(struct pst_context *ctx, int fd, const struct pst_file_options *options,
		     struct pst_file **out, struct pst_error *err)
{
	struct pst_file_options resolved;
	int rc;

	if (!ctx || !out)
		return bad_argument(err, ctx ? "out" : "ctx", "must not be NULL");
	rc = take_options(&resolved, options, err);
	return rc < 0 ? rc : file_from_fd(ctx, fd, &resolved, out, err);
}

void pst_file_close(struct pst_file *file)
{
	if (!file)
		return;
	if (!context_forked(file->ctx)) {
		vendor_path_forget(file);
		lane_forget_file(file->ctx, file);
	}
	file_close(file);
}

int pst_file_descriptor(const struct pst_file *file)
{
	return file ? file->fd : -EINVAL;
}

static void copy_facts(const struct pst_file *file, const struct sto_facts *facts,
		       struct pst_file_info *out)
{
	out->file_bytes = facts->file_bytes;
	out->is_block_device = facts->is_block_device;
	out->read_only = facts->read_only_mount || !file->writable;
	out->memory_backed = facts->memory_backed;
	out->network_backed = facts->network_backed;
	out->o_direct = file->direct_fd >= 0;
	if (out->o_direct) {
		out->direct_memory_align_bytes = file->align.memory_bytes;
		out->direct_offset_align_bytes = file->align.offset_bytes;
	}
	out->block_major = facts->block_major;
	out->block_minor = facts->block_minor;
	memcpy(out->fs_type, facts->fs_type, sizeof(out->fs_type));
	memcpy(out->mount_point, facts->mount_point, sizeof(out->mount_point));
	memcpy(out->mount_options, facts->mount_options, sizeof(out->mount_options));
	memcpy(out->block_name, facts->block_name, sizeof(out->block_name));
	out->mode_reasons = file->mode_reasons;
}

_Static_assert(sizeof(((struct sto_facts *)0)->fs_type) ==
		       sizeof(((struct pst_file_info *)0)->fs_type),
	       "copied whole");
_Static_assert(sizeof(((struct sto_facts *)0)->mount_point) ==
		       sizeof(((struct pst_file_info *)0)->mount_point),
	       "copied whole");
_Static_assert(sizeof(((struct sto_facts *)0)->mount_options) ==
		       sizeof(((struct pst_file_info *)0)->mount_options),
	       "copied whole");
_Static_assert(sizeof(((struct sto_facts *)0)->block_name) ==
		       sizeof(((struct pst_file_info *)0)->block_name),
	       "copied whole");

/* A failed look at a file becomes an error that names it. */
static int file_error(const struct pst_file *file, int rc, const char *what, struct pst_error *err)
{
	if (rc >= 0)
		return rc;
	return error_set(err, rc, PST_STAGE_STORAGE, file->path, "cannot %s of '%s': %s", what,
			 file->path, strerror(-rc));
}

int pst_file_info(struct pst_file *file, struct pst_file_info *info, struct pst_error *err)
{
	struct pst_file_info answer = {.size_bytes = sizeof(answer)};
	struct sto_facts facts;
	int rc;

	if (!file || !info)
		return bad_argument(err, file ? "info" : "file", "must not be NULL");
	rc = file_error(file, sto_facts(file->fd, &facts), "find out the facts", err);
	if (rc < 0)
		return rc;
	copy_facts(file, &facts, &answer);
	return options_export(info, &answer, sizeof(answer)) ? 0 : bad_struct(err, "info");
}

/* Each part is asked for on its own: what cannot be told stays unknown. */
static void look(struct pst_file *file, uint64_t offset, uint64_t bytes, unsigned flags,
		 struct pst_file_source *out)
{
	uint64_t a, b;

	if (flags & PST_SOURCE_RESIDENT && sto_resident(file->fd, offset, bytes, &a) == 0)
		out->resident_bytes = a;
	if (flags & PST_SOURCE_EXTENTS && sto_extents(file->fd, offset, bytes, &a, &b) == 0) {
		out->hole_bytes = a;
		out->unwritten_bytes = b;
	}
	if (flags & PST_SOURCE_ZEROS && file->readable &&
	    sto_zero_sample(file->fd, file->direct_fd, offset, bytes, &a, &b) == 0) {
		out->sampled_bytes = a;
		out->zero_bytes = b;
	}
}

int pst_file_source(struct pst_file *file, uint64_t offset, uint64_t bytes, unsigned flags,
		    struct pst_file_source *source, struct pst_error *err)
{
	struct pst_file_source answer = {
		.size_bytes = sizeof(answer),
		.resident_bytes = UINT64_MAX,
		.hole_bytes = UINT64_MAX,
		.unwritten_bytes = UINT64_MAX,
		.sampled_bytes = UINT64_MAX,
		.zero_bytes = UINT64_MAX,
	};
	int64_t file_bytes;

	if (!file || !source)
		return bad_argument(err, file ? "source" : "file", "must not be NULL");
	file_bytes = sto_file_bytes(file->fd);
	if (file_bytes < 0)
		return file_error(file, (int)file_bytes, "find out the size", err);
	if (offset < (uint64_t)file_bytes)
		answer.range_bytes = (uint64_t)file_bytes - offset;
	if (answer.range_bytes > bytes)
		answer.range_bytes = bytes;
	if (answer.range_bytes)
		look(file, offset, answer.range_bytes, flags, &answer);
	return options_export(source, &answer, sizeof(answer)) ? 0 : bad_struct(err, "source");
}

int pst_file_device_bytes(struct pst_file *file, uint64_t *read_bytes, uint64_t *written_bytes,
			  struct pst_error *err)
{
	int rc = -ENODEV;

	if (!file || !read_bytes || !written_bytes)
		return bad_argument(err, file ? "read_bytes" : "file", "must not be NULL");
	if (file->facts.block_major || file->facts.block_minor)
		rc = sto_device_bytes(file->facts.block_major, file->facts.block_minor, read_bytes,
				      written_bytes);
	return file_error(file, rc, "read the statistics of the block device", err);
}

int pst_file_evict(struct pst_file *file, uint64_t offset, uint64_t bytes, struct pst_error *err)
{
	if (!file)
		return bad_argument(err, "file", "must not be NULL");
	return file_error(file, sto_evict(file->fd, offset, bytes), "drop the cached pages", err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/target.h"

#include "common/fail.h"
#include "io/target_fd.h"

static enum pst_file_mode mode_of(const struct io_job *job)
{
	if (job->cached || job->xfer == IO_XFER_CPU_CACHED_GPU)
		return PST_FILE_CACHED;
	return job->require_direct ? PST_FILE_DIRECT : PST_FILE_AUTO;
}

/* --require-direct: O_DIRECT on a drive; some kernels accept O_DIRECT on tmpfs. */
static int check_direct(const struct io_file_plan *f, const struct pst_file_info *info,
			struct pst_error *err)
{
	if (info->memory_backed)
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, PST_E_IO_NOT_SUPPORTED, f->path,
				"--require-direct: '%s' is memory-backed (%s), there is no drive "
				"below it",
				f->path, info->fs_type);
	if (!info->o_direct)
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, PST_E_IO_NOT_SUPPORTED, f->path,
				"--require-direct: '%s' (%s) is not read or written with O_DIRECT",
				f->path, info->fs_type);
	return 0;
}

static int make_handle(const struct io_job *job, int fd, struct pst_context *ctx,
		       struct pst_file **out, struct pst_error *err)
{
	struct pst_file_options options = {.size_bytes = sizeof(options),
					   .mode = mode_of(job),
					   .no_overlap = job->xfer == IO_XFER_CPU_GPU};
	int rc = pst_file_from_fd(ctx, fd, &options, out, err);

	if (rc < 0)
		*out = NULL;
	return rc;
}

struct pst_file *io_target_again(const struct io_plan *plan, unsigned file, struct pst_context *ctx)
{
	struct pst_file *handle;

	make_handle(plan->job, plan->files[file].fd, ctx, &handle, NULL);
	return handle;
}

static int open_handle(struct io_plan *plan, struct io_file_plan *f, struct pst_context *ctx,
		       struct pst_error *err)
{
	const struct io_job *job = plan->job;
	struct pst_file_info info = {.size_bytes = sizeof(info)};

	if (make_handle(job, f->fd, ctx, &f->handle, err) < 0)
		return TOOL_EXIT_ENVIRONMENT;
	if (pst_file_info(f->handle, &info, err) < 0)
		return TOOL_EXIT_ENVIRONMENT;
	if (info.direct_offset_align_bytes > plan->block_bytes)
		plan->block_bytes = info.direct_offset_align_bytes;
	return job->require_direct ? check_direct(f, &info, err) : 0;
}

int io_targets_open(struct io_plan *plan, struct pst_context *ctx, struct pst_error *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < plan->file_count; i++) {
		rc = io_target_open_fd(plan->job, &plan->files[i], err);
		if (!rc && ctx)
			rc = open_handle(plan, &plan->files[i], ctx, err);
	}
	if (rc)
		io_targets_abandon(plan);
	return rc;
}

void io_targets_abandon(struct io_plan *plan)
{
	for (unsigned i = 0; i < plan->file_count; i++) {
		struct io_file_plan *f = &plan->files[i];

		pst_file_close(f->handle);
		f->handle = NULL;
		io_target_unmake(f);
		io_target_close_fd(f);
	}
}

void io_targets_close(struct io_plan *plan)
{
	for (unsigned i = 0; i < plan->file_count; i++) {
		struct io_file_plan *f = &plan->files[i];

		pst_file_close(f->handle);
		f->handle = NULL;
		io_target_refresh_signature(plan->job, f);
		io_target_close_fd(f);
	}
}

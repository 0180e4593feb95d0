/* SPDX-License-Identifier: Apache-2.0 */
#include "io/plan.h"

#include "common/fail.h"
#include "common/units.h"
#include "io/block_device.h"
#include "io/limits.h"
#include "io/target_look.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Shares of a size range start at multiples of this, so that O_DIRECT stays possible. */
#define RANGE_UNIT_BYTES 4096

static bool is_write(const struct io_job *job)
{
	return job->type == IO_WRITE || job->type == IO_RANDWRITE;
}

void io_plan_split(struct io_share *shares, unsigned threads, uint64_t start_bytes,
		   uint64_t end_bytes, uint64_t block_bytes)
{
	uint64_t range = end_bytes - start_bytes;
	uint64_t blocks = range / block_bytes + (range % block_bytes != 0);
	uint64_t at = start_bytes;

	assert(threads >= 1 && block_bytes >= 1 && start_bytes <= end_bytes);
	for (unsigned t = 0; t < threads; t++) {
		uint64_t mine = blocks / threads + (t < blocks % threads);

		shares[t].file = 0;
		shares[t].start_bytes = at;
		/* Not mine * block_bytes first: the last block may be short, and the product may
		 * pass 2^64 then. */
		if (mine && (end_bytes - at) / block_bytes >= mine)
			at += mine * block_bytes;
		else if (mine)
			at = end_bytes;
		shares[t].end_bytes = at;
	}
	assert(at == end_bytes);
}

/* Shares are cut in I/Os; with a range of sizes in the smallest, rounded up to whole pages. */
static uint64_t share_unit(const struct io_job *job)
{
	uint64_t unit = job->io_min_bytes;

	if (job->io_min_bytes != job->io_max_bytes)
		unit = (unit + RANGE_UNIT_BYTES - 1) / RANGE_UNIT_BYTES * RANGE_UNIT_BYTES;
	return unit;
}

/* The command that makes the files of a -D read. */
static int refuse_missing(const struct io_job *job, unsigned threads, const char *path,
			  struct pst_error *err)
{
	char size[32] = "SIZE";

	if (!job->directory)
		return fail_set(err, TOOL_EXIT_USAGE, -ENOENT, path, "there is no file '%s'", path);
	if (job->size_bytes)
		snprintf(size, sizeof(size), "%" PRIu64, job->size_bytes);
	return fail_set(err, TOOL_EXIT_USAGE, -ENOENT, path,
			"there is no file '%s': make the files with %s -D %s -w %u -s %s -I 1",
			path, job->gdsio_name ? "gdsio" : "penstock io", job->directory, threads,
			size);
}

/* The range of a read: clipped at the end of the file. */
static int read_range(const struct io_job *job, struct io_file_plan *f, struct pst_error *err)
{
	const char *kind = f->is_block_device ? "device" : "file";

	if (!f->file_bytes)
		return fail_set(err, TOOL_EXIT_USAGE, -ENODATA, f->path,
				"nothing to read: '%s' is empty", f->path);
	if (job->offset_bytes >= f->file_bytes)
		return fail_set(
			err, TOOL_EXIT_USAGE, -EINVAL, f->path,
			"nothing to read: offset %" PRIu64 " is %s the end of '%s', a %s of "
			"%" PRIu64 " bytes",
			job->offset_bytes, job->offset_bytes == f->file_bytes ? "at" : "beyond",
			f->path, kind, f->file_bytes);
	f->start_bytes = job->offset_bytes;
	f->end_bytes = f->file_bytes;
	if (job->size_bytes && job->size_bytes <= f->file_bytes - job->offset_bytes)
		f->end_bytes = job->offset_bytes + job->size_bytes;
	else if (job->size_bytes)
		f->clipped = true;
	return 0;
}

static int write_range(const struct io_job *job, struct io_file_plan *f, struct pst_error *err)
{
	f->start_bytes = job->offset_bytes;
	f->end_bytes = job->size_bytes ? job->offset_bytes + job->size_bytes : f->file_bytes;
	if (!job->size_bytes && f->end_bytes <= f->start_bytes)
		return fail_set(err, TOOL_EXIT_USAGE, -EINVAL, f->path,
				f->create
					? "'%s' is a new file: say how large with -s"
					: "nothing to write: '%s' ends before the offset; say how "
					  "much with -s",
				f->path);
	if (f->is_block_device && f->end_bytes > f->file_bytes)
		return fail_set(err, TOOL_EXIT_USAGE, -ENOSPC, f->path,
				"'%s' is a device of %" PRIu64 " bytes: offset %" PRIu64
				" and size %" PRIu64 " end beyond it",
				f->path, f->file_bytes, job->offset_bytes,
				f->end_bytes - f->start_bytes);
	return 0;
}

/* Bytes of free space that writing the range takes at most. */
static uint64_t space_needed(const struct io_file_plan *f, const struct io_target_facts *facts)
{
	uint64_t range = f->end_bytes - f->start_bytes;
	uint64_t begin = f->file_bytes > f->start_bytes ? f->file_bytes : f->start_bytes;
	uint64_t growth = f->end_bytes > begin ? f->end_bytes - begin : 0;
	uint64_t unallocated = range > facts->allocated_bytes ? range - facts->allocated_bytes : 0;

	if (f->is_block_device || facts->is_full_device)
		return 0;
	return growth > unallocated ? growth : unallocated;
}

static int check_block_device(const char *path, const struct io_target_facts *facts,
			      struct pst_error *err)
{
	struct block_why why;

	if (!facts->is_block_device ||
	    !block_device_in_use("/sys", "/proc/self/mountinfo", facts->device, &why))
		return 0;
	return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EBUSY, path,
			"'%s' is not written: %s; --overwrite does not change that", path,
			why.text);
}

static int plan_file(struct io_plan *plan, struct io_file_plan *f, uint64_t *need,
		     struct pst_error *err)
{
	const struct io_job *job = plan->job;
	struct io_target_facts facts;
	int rc = io_target_look(f->path, is_write(job), &facts, err);

	if (rc)
		return rc;
	f->file_bytes = facts.file_bytes;
	f->is_block_device = facts.is_block_device;
	f->ours = facts.ours;
	f->signature = facts.signature;
	f->create = !facts.exists;
	if (!is_write(job))
		return f->create ? refuse_missing(job, plan->threads, f->path, err)
				 : read_range(job, f, err);
	rc = check_block_device(f->path, &facts, err);
	if (!rc && facts.exists)
		rc = io_target_may_write(&facts, f->path, job->overwrite, err);
	if (!rc)
		rc = write_range(job, f, err);
	if (!rc)
		*need += space_needed(f, &facts);
	return rc;
}

/* The files and their names: one, or one for each thread in a folder. */
static int name_files(struct io_plan *plan, struct pst_error *err)
{
	const struct io_job *job = plan->job;
	struct stat st;

	plan->file_count = job->directory ? plan->threads : 1;
	plan->files = calloc(plan->file_count, sizeof(*plan->files));
	plan->shares = calloc(plan->threads, sizeof(*plan->shares));
	if (!plan->files || !plan->shares)
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -ENOMEM, NULL, "out of memory");
	if (job->directory && stat(job->directory, &st))
		return fail_set(err, io_exit_of_errno(errno), -errno, job->directory,
				"cannot use folder '%s': %s", job->directory,
				fail_errno(errno).text);
	if (job->directory && !S_ISDIR(st.st_mode))
		return fail_set(err, TOOL_EXIT_USAGE, -ENOTDIR, job->directory,
				"'%s' is no folder: name a file with -f", job->directory);
	for (unsigned i = 0; i < plan->file_count; i++) {
		struct io_file_plan *f = &plan->files[i];

		f->fd = -1;
		if (job->directory ? asprintf(&f->path, "%s/gdsio.%u", job->directory, i) < 0
				   : !(f->path = strdup(job->file))) {
			f->path = NULL;
			return fail_set(err, TOOL_EXIT_ENVIRONMENT, -ENOMEM, NULL, "out of memory");
		}
	}
	return 0;
}

static void make_shares(struct io_plan *plan)
{
	if (!plan->job->directory) {
		io_plan_split(plan->shares, plan->threads, plan->files[0].start_bytes,
			      plan->files[0].end_bytes, share_unit(plan->job));
		return;
	}
	for (unsigned t = 0; t < plan->threads; t++)
		plan->shares[t] = (struct io_share){.file = t,
						    .start_bytes = plan->files[t].start_bytes,
						    .end_bytes = plan->files[t].end_bytes};
}

/* With -a, at least one share has a place for a block: nothing done is no success. */
static int check_alignment(const struct io_plan *plan, struct pst_error *err)
{
	const struct io_job *job = plan->job;
	uint64_t align = job->random_align_bytes;

	if (!align || (job->type != IO_RANDREAD && job->type != IO_RANDWRITE))
		return 0;
	for (unsigned t = 0; t < plan->threads; t++) {
		const struct io_share *share = &plan->shares[t];
		uint64_t past = share->start_bytes % align;
		uint64_t gap = past ? align - past : 0;

		if (gap < share->end_bytes - share->start_bytes)
			return 0;
	}
	return fail_set(err, TOOL_EXIT_USAGE, -EINVAL, plan->files[0].path,
			"no multiple of -a %" PRIu64 " bytes lies in the range of %" PRIu64
			" bytes at offset %" PRIu64 " of '%s': nothing would be done",
			align, plan->files[0].end_bytes - plan->files[0].start_bytes,
			plan->files[0].start_bytes, plan->files[0].path);
}

static int make(struct io_plan *plan, struct pst_error *err)
{
	const struct io_job *job = plan->job;
	uint64_t need = 0;
	int rc = name_files(plan, err);

	for (unsigned i = 0; !rc && i < plan->file_count; i++) {
		rc = plan_file(plan, &plan->files[i], &need, err);
		plan->requested_bytes += plan->files[i].end_bytes - plan->files[i].start_bytes;
	}
	if (rc)
		return rc;
	make_shares(plan);
	rc = check_alignment(plan, err);
	if (rc)
		return rc;
	if (__builtin_mul_overflow(job->io_max_bytes, (uint64_t)plan->threads * io_job_depth(job),
				   &plan->memory_bytes))
		plan->memory_bytes = UINT64_MAX;
	rc = io_limits_space(job->directory ? job->directory : job->file, need, err);
	return rc ? rc : io_limits_check(plan, err);
}

int io_plan_make(struct io_plan *plan, const struct io_job *job, unsigned threads,
		 struct pst_error *err)
{
	int rc;

	assert(threads >= 1 && threads <= IO_MAX_THREADS);
	*plan = (struct io_plan){.job = job, .threads = threads, .timed = job->runtime_s > 0};
	rc = make(plan, err);
	if (rc)
		io_plan_free(plan);
	return rc;
}

void io_plan_free(struct io_plan *plan)
{
	for (unsigned i = 0; plan->files && i < plan->file_count; i++) {
		assert(!plan->files[i].handle);
		free(plan->files[i].path);
	}
	free(plan->files);
	free(plan->shares);
	*plan = (struct io_plan){.job = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/limits.h"

#include "common/fail.h"
#include "common/units.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Threads of a run besides the workers: main, progress, device helpers. */
#define SPARE_THREADS 8

unsigned io_job_depth(const struct io_job *job)
{
	return job->xfer == IO_XFER_CPU_ASYNC_GPU ? job->in_flight : 1;
}

bool io_job_host_buffers(const struct io_job *job)
{
	/* The emulated device keeps its memory in host memory too. */
	return job->xfer == IO_XFER_CPU_ONLY || job->memory >= PST_MEMORY_PINNED ||
	       (job->device && !strcmp(job->device, "host"));
}

/* A number from a one-line file; UINT64_MAX when absent or "max". */
static uint64_t read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	uint64_t value = UINT64_MAX;

	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%" SCNu64, &value) != 1)
		value = UINT64_MAX;
	fclose(f);
	return value;
}

static uint64_t available_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	uint64_t kib = UINT64_MAX;

	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
			break;
	fclose(f);
	return kib == UINT64_MAX ? kib : kib * 1024;
}

/* The soft limit is a default for programs that use select(); up to the hard one it may be raised.
 */
static bool raise_descriptors(struct rlimit *limit, uint64_t need)
{
	struct rlimit raised = *limit;

	if (limit->rlim_max != RLIM_INFINITY && need > limit->rlim_max)
		return false;
	raised.rlim_cur = need;
	return !setrlimit(RLIMIT_NOFILE, &raised);
}

static int check_descriptors(const struct io_plan *plan, struct pst_error *err)
{
	struct rlimit limit;
	uint64_t need = (uint64_t)plan->file_count * IO_DESCRIPTORS_PER_FILE + IO_DESCRIPTORS_SPARE;
	uint64_t fit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    need <= limit.rlim_cur || raise_descriptors(&limit, need))
		return 0;
	fit = limit.rlim_max > IO_DESCRIPTORS_SPARE
		      ? (limit.rlim_max - IO_DESCRIPTORS_SPARE) / IO_DESCRIPTORS_PER_FILE
		      : 0;
	return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EMFILE, "RLIMIT_NOFILE",
			"%u files need up to %" PRIu64
			" open descriptors and RLIMIT_NOFILE (ulimit "
			"-n) is %" PRIu64 ": at most %" PRIu64 " files fit, or raise the limit",
			plan->file_count, need, (uint64_t)limit.rlim_max, fit);
}

static int check_file_size(const struct io_plan *plan, struct pst_error *err)
{
	struct rlimit limit;

	if (plan->job->type != IO_WRITE && plan->job->type != IO_RANDWRITE)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	for (unsigned i = 0; i < plan->file_count; i++) {
		const struct io_file_plan *f = &plan->files[i];

		if (!f->is_block_device && f->end_bytes > limit.rlim_cur)
			return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EFBIG, f->path,
					"'%s' would grow to %" PRIu64 " bytes and RLIMIT_FSIZE "
					"(ulimit -f) is %" PRIu64 " bytes, the largest that fits",
					f->path, f->end_bytes, (uint64_t)limit.rlim_cur);
	}
	return 0;
}

static int check_threads(const struct io_plan *plan, struct pst_error *err)
{
	static const char *const files[] = {"/proc/sys/kernel/threads-max",
					    "/sys/fs/cgroup/pids.max"};
	uint64_t need = (uint64_t)plan->threads + SPARE_THREADS;
	struct rlimit limit;

	/* RLIMIT_NPROC counts all threads of the user, not of root; ours alone may be too many. */
	if (geteuid() && !getrlimit(RLIMIT_NPROC, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    need > limit.rlim_cur)
		return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EAGAIN, "RLIMIT_NPROC",
				"%u threads do not fit: RLIMIT_NPROC (ulimit -u) is %" PRIu64
				", so at most %" PRIu64 " threads",
				plan->threads, (uint64_t)limit.rlim_cur,
				limit.rlim_cur > SPARE_THREADS
					? (uint64_t)limit.rlim_cur - SPARE_THREADS
					: 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		uint64_t max = read_number(files[i]);

		if (need > max)
			return fail_set(err, TOOL_EXIT_ENVIRONMENT, -EAGAIN, files[i],
					"%u threads do not fit: %s is %" PRIu64
					", so at most %" PRIu64 " threads",
					plan->threads, files[i], max,
					max > SPARE_THREADS ? max - SPARE_THREADS : 0);
	}
	return 0;
}

static int check_memory(const struct io_plan *plan, struct pst_error *err)
{
	uint64_t available = available_memory();
	uint64_t group = read_number("/sys/fs/cgroup/memory.max");
	uint64_t each;

	if (group < available)
		available = group;
	if (!io_job_host_buffers(plan->job) || plan->memory_bytes <= available)
		return 0;
	each = available / ((uint64_t)plan->threads * io_job_depth(plan->job));
	return fail_set(
		err, TOOL_EXIT_ENVIRONMENT, -ENOMEM, "memory",
		"the buffers need %s (%u threads x %u in flight x %" PRIu64
		" bytes) and %s of memory are available: the largest -i that fits is %" PRIu64
		" bytes",
		units_size_both(plan->memory_bytes).text, plan->threads, io_job_depth(plan->job),
		plan->job->io_max_bytes, units_size_both(available).text, each);
}

int io_limits_check(const struct io_plan *plan, struct pst_error *err)
{
	int rc = check_descriptors(plan, err);

	if (!rc)
		rc = check_file_size(plan, err);
	if (!rc)
		rc = check_threads(plan, err);
	return rc ? rc : check_memory(plan, err);
}

int io_limits_space(const char *path, uint64_t need_bytes, struct pst_error *err)
{
	struct statvfs fs;
	char folder[PATH_MAX];
	uint64_t free_blocks, free_bytes;

	if (!need_bytes)
		return 0;
	snprintf(folder, sizeof(folder), "%s", path);
	if (statvfs(path, &fs) && statvfs(dirname(folder), &fs))
		return 0; /* opening will say what is wrong */
	/* A file system of 0 blocks does not tell (some FUSE ones). */
	if (!fs.f_blocks)
		return 0;
	free_blocks = geteuid() ? fs.f_bavail : fs.f_bfree;
	if (__builtin_mul_overflow(free_blocks, (uint64_t)fs.f_frsize, &free_bytes) ||
	    need_bytes <= free_bytes)
		return 0;
	return fail_set(err, TOOL_EXIT_ENVIRONMENT, -ENOSPC, path,
			"not enough space for '%s': needs %s, free %s", path,
			units_size_both(need_bytes).text, units_size_both(free_bytes).text);
}

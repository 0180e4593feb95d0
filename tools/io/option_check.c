/* SPDX-License-Identifier: Apache-2.0 */
#include "io/option_check.h"

#include "io/option_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_IO_BYTES  ((uint64_t)1 << 20)
#define DEFAULT_SEED      1
#define DEFAULT_IN_FLIGHT 4

static void set_defaults(struct io_job *job, int argc, char **argv, bool gdsio_name)
{
	*job = (struct io_job){
		.numa_node = IO_NO_NODE,
		.memory = PST_MEMORY_DEVICE,
		.threads = {1},
		.thread_counts = 1,
		.io_min_bytes = DEFAULT_IO_BYTES,
		.io_max_bytes = DEFAULT_IO_BYTES,
		.xfer = IO_XFER_GPU_DIRECT,
		.type = IO_READ,
		.in_flight = DEFAULT_IN_FLIGHT,
		.seed = DEFAULT_SEED,
		.repeat = 1,
		.gdsio_name = gdsio_name,
		.argc = argc,
		.argv = argv,
	};
}

static bool is_random(const struct io_job *job)
{
	return job->type == IO_RANDREAD || job->type == IO_RANDWRITE;
}

static bool is_write(const struct io_job *job)
{
	return job->type == IO_WRITE || job->type == IO_RANDWRITE;
}

static int check_positional(const struct option_table *table, const struct options_result *result)
{
	const char *text = result->positional[0];
	size_t length;

	if (!result->positional_count)
		return 0;
	length = strlen(text);
	if (length > 6 && !strcmp(text + length - 6, ".gdsio"))
		return options_usage_error(
			table, "job file '%s': running job files comes with a later release", text);
	return options_usage_error(table, "'%s' is no option: name the file with -f", text);
}

static int check_target(const struct option_table *table, const struct io_job *job)
{
	if (!job->file && !job->directory)
		return options_usage_error(table, "nothing to work on: give -f FILE or -D DIR");
	if (job->file && job->directory)
		return options_usage_error(table, "-f and -D exclude each other: one file for all "
						  "threads, or one for each");
	return 0;
}

static int check_sizes(const struct option_table *table, const struct options_result *result,
		       const struct io_job *job)
{
	if (options_given(table, result, "s") && !job->size_bytes)
		return options_usage_error(table, "-s 0: a size of 0 bytes leaves nothing to do");
	if (job->offset_bytes > INT64_MAX ||
	    job->size_bytes > (uint64_t)INT64_MAX - job->offset_bytes)
		return options_usage_error(table,
					   "-o and -s end at byte %" PRIu64 " + %" PRIu64
					   ", above the largest file (9223372036854775807 bytes)",
					   job->offset_bytes, job->size_bytes);
	if (job->io_size_given && job->size_bytes && job->io_max_bytes > job->size_bytes)
		return options_usage_error(table,
					   "-i %" PRIu64 " bytes is above -s %" PRIu64
					   " bytes: no whole I/O fits",
					   job->io_max_bytes, job->size_bytes);
	return 0;
}

/* Named limits of the queue: which, its value, and the largest plan that fits. */
static int check_depth(const struct option_table *table, const struct io_job *job)
{
	if (job->in_flight > PST_BATCH_MAX_CAPACITY)
		return options_usage_error(table,
					   "-B %u is above PST_BATCH_MAX_CAPACITY (%d requests in "
					   "flight for each thread): the largest is -B %d",
					   job->in_flight, PST_BATCH_MAX_CAPACITY,
					   PST_BATCH_MAX_CAPACITY);
	return 0;
}

static int check_combinations(const struct option_table *table, const struct options_result *result,
			      const struct io_job *job)
{
	if (options_given(table, result, "O") && options_given(table, result, "direct"))
		return options_usage_error(table, "-O and --direct say the same: give one");
	if (job->memory >= PST_MEMORY_PINNED && job->xfer != IO_XFER_GPU_DIRECT &&
	    job->xfer != IO_XFER_CPU_ONLY)
		return options_usage_error(table,
					   "-m %d (host memory) works with -x 0 only, not with "
					   "-x %d",
					   (int)job->memory, (int)job->xfer);
	if (job->unaligned_random && job->random_align_bytes)
		return options_usage_error(table, "-U and -a exclude each other");
	if (options_given(table, result, "T") && job->runtime_s <= 0)
		return options_usage_error(table, "-T 0: a run of 0 seconds measures nothing");
	if (job->require_direct && (job->cached || job->xfer == IO_XFER_CPU_CACHED_GPU))
		return options_usage_error(table,
					   "--require-direct and the page cache (%s) exclude "
					   "each other",
					   job->cached ? "-O 1, --direct=0" : "-x 4");
	if (job->dry_run && job->json)
		return options_usage_error(table,
					   "--dry-run and --json exclude each other: the plan "
					   "is text, there is no result to report");
	if (job->json && job->file && !strcmp(job->json, job->file))
		return options_usage_error(table, "-f and --json name the same file '%s'",
					   job->json);
	if (job->engine == PST_ENGINE_VENDOR && job->device && !strcmp(job->device, "host"))
		return options_usage_error(table, "--engine vendor and -d host exclude each other: "
						  "the vendor's library needs a GPU");
	if (job->stop == IO_STOP_FIRST && job->runtime_s > 0)
		return options_usage_error(table, "--stop first and -T exclude each other: with -T "
						  "all threads end when the time is up");
	return 0;
}

/* -U asks for random offsets, so the type becomes random, as users of gdsio know it. */
static void make_random(const struct option_table *table, struct io_job *job)
{
	if (!job->unaligned_random || is_random(job))
		return;
	options_warn(table, "-U means random offsets: -I %d is taken as -I %d", (int)job->type,
		     is_write(job) ? IO_RANDWRITE : IO_RANDREAD);
	job->type = is_write(job) ? IO_RANDWRITE : IO_RANDREAD;
}

/* Options that are right but do nothing here. */
static void warn_without_effect(const struct option_table *table,
				const struct options_result *result, const struct io_job *job)
{
	static const char *const random_only[] = {"a", "random-with-replacement"};
	static const char *const write_only[] = {"R", "F", "overwrite"};

	for (size_t i = 0; i < sizeof(random_only) / sizeof(random_only[0]); i++)
		if (options_given(table, result, random_only[i]) && !is_random(job))
			options_warn(table, "%s%s has no effect without random access (-I 2, -I 3)",
				     random_only[i][1] ? "--" : "-", random_only[i]);
	if (options_given(table, result, "k") && !is_random(job) && !is_write(job))
		options_warn(table, "-k has no effect on sequential reads");
	for (size_t i = 0; i < sizeof(write_only) / sizeof(write_only[0]); i++)
		if (options_given(table, result, write_only[i]) && !is_write(job))
			options_warn(table, "%s%s has no effect when reading",
				     write_only[i][1] ? "--" : "-", write_only[i]);
	if (options_given(table, result, "B") && job->xfer != IO_XFER_CPU_ASYNC_GPU)
		options_warn(table, "-B has no effect without -x 3: one request in flight for each "
				    "thread");
	if (job->xfer == IO_XFER_CPU_ONLY) {
		if (options_given(table, result, "d"))
			options_warn(table, "-d has no effect with -x 1: no GPU is used");
		if (options_given(table, result, "m"))
			options_warn(table,
				     "-m has no effect with -x 1: the memory is host memory");
	}
	if (options_given(table, result, "T") && job->size_bytes)
		options_warn(table, "-T and -s together: time wins, the range is repeated until "
				    "the time is up");
}

int io_options_read(struct io_job *job, int argc, char **argv, bool gdsio_name,
		    enum options_action *action)
{
	const struct option_table *table = io_option_table(gdsio_name);
	struct options_result result;
	int rc;

	set_defaults(job, argc, argv, gdsio_name);
	*action = OPTIONS_GO;
	rc = options_parse(table, job, argc, argv, &result);
	if (rc)
		return rc;
	*action = result.action;
	if (result.action != OPTIONS_GO)
		return 0;
	rc = check_positional(table, &result);
	if (!rc)
		rc = check_target(table, job);
	if (!rc)
		rc = check_sizes(table, &result, job);
	if (!rc)
		rc = check_depth(table, job);
	if (!rc)
		rc = check_combinations(table, &result, job);
	if (rc)
		return rc;
	make_random(table, job);
	warn_without_effect(table, &result, job);
	return 0;
}

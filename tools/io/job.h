/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one `penstock io` command is asked to do, and the plan made of it. options.c fills
 * struct io_job from the command line; plan.c checks it against the world and makes struct
 * io_plan; run.c carries the plan out; the output files print struct io_result.
 */
#ifndef PENSTOCK_IO_JOB_H
#define PENSTOCK_IO_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "penstock.h"

enum io_type { /* numbered as gdsio -I */
	IO_READ = 0,
	IO_WRITE,
	IO_RANDREAD,
	IO_RANDWRITE,
};

enum io_xfer { /* numbered as gdsio -x */
	IO_XFER_GPU_DIRECT = 0,
	IO_XFER_CPU_ONLY,
	IO_XFER_CPU_GPU,
	IO_XFER_CPU_ASYNC_GPU,
	IO_XFER_CPU_CACHED_GPU,
};

enum io_stop {
	IO_STOP_ALL = 0, /* every thread does all of its share */
	IO_STOP_FIRST,   /* the run ends when the first thread is done, as the vendor's tool */
};

#define IO_MAX_THREADS  4096
#define IO_MAX_SWEEP    32
#define IO_MAX_IO_BYTES ((uint64_t)1 << 40)
#define IO_NO_NODE      (-1)

struct io_job {
	/* target: exactly one of file and directory */
	const char *file;
	const char *directory;

	const char *device; /* as given to -d; NULL: "0" */
	int numa_node;      /* -n; IO_NO_NODE: not given */
	enum pst_memory_kind memory;

	unsigned threads[IO_MAX_SWEEP]; /* -w list; a sweep when thread_counts > 1 */
	unsigned thread_counts;

	uint64_t size_bytes; /* -s; 0: not given */
	uint64_t offset_bytes;
	uint64_t io_min_bytes; /* -i; the three are equal for one size */
	uint64_t io_max_bytes;
	uint64_t io_step_bytes; /* 0 when min == max */

	enum io_xfer xfer;
	enum io_type type;
	enum pst_engine engine;   /* --engine */
	enum pst_storage storage; /* --storage */
	enum io_stop stop;
	unsigned in_flight; /* -B: requests in flight per thread, for -x 3 */

	double runtime_s;            /* -T; 0: until done */
	double ramp_time_s;          /* --ramp-time */
	uint64_t seed;               /* -k */
	bool unaligned_random;       /* -U */
	uint64_t random_align_bytes; /* -a; 0: 4 KiB, or the I/O size for whole blocks */
	bool random_with_replacement;
	bool fill_random;   /* -R */
	bool refill;        /* -F */
	bool skip_register; /* -b */
	bool peer_access;   /* -p */
	bool per_job;       /* -J */
	bool cached;        /* -O 1, --direct=0: no O_DIRECT */

	bool overwrite;         /* --overwrite */
	bool require_direct;    /* --require-direct: O_DIRECT on a real drive, or exit not 0 */
	bool continue_on_error; /* --continue-on-error: go on past failed requests */
	unsigned repeat;        /* --repeat; 1: once */
	bool cold;              /* --cold: evict the files before each run */

	bool gdsio_name; /* called as gdsio: stdout carries only the classic line */
	bool classic;    /* --classic: no extra lines but Ledger and emulated */
	bool dry_run;
	const char *json; /* --json FILE or "-"; NULL: none */

	int argc; /* the command line, for the report */
	char **argv;

	bool io_size_given; /* -i was given: it must not exceed -s */
};

/* One file of the plan. */
struct io_file_plan {
	char *path;
	uint64_t file_bytes;  /* size now; 0 for a new file */
	uint64_t start_bytes; /* range of I/O in this file */
	uint64_t end_bytes;
	bool create;  /* does not exist yet */
	bool clipped; /* the range was cut at the end of the file */
	bool is_block_device;
	struct pst_file *handle; /* opened by target.c */
	int fd;                  /* target.c's own descriptor below handle, -1 when closed */
	bool made;               /* created by this run */
	bool ours;               /* carries the mark of the tool, see target.h */
	bool signature;          /* ... as a signature in the data, not as an attribute */
};

/* What one thread does. Threads of a -f run share one file; of a -D run each has its own. */
struct io_share {
	unsigned file; /* index into io_plan.files */
	uint64_t start_bytes;
	uint64_t end_bytes;
};

struct io_plan {
	const struct io_job *job;
	unsigned threads; /* of this run */
	struct io_file_plan *files;
	unsigned file_count;
	struct io_share *shares;  /* one for each thread */
	uint64_t requested_bytes; /* as printed in DataSetSize */
	uint64_t block_bytes;     /* offset alignment for O_DIRECT, 0 unknown */
	bool timed;
	uint64_t memory_bytes; /* buffers that the run will hold */
};

/* Requested, issued, completed, short, failed: operations and bytes. */
struct io_ledger {
	uint64_t requested_ops; /* 0 in a timed run: not known before */
	uint64_t requested_bytes;
	uint64_t issued_ops, issued_bytes;
	uint64_t completed_ops, completed_bytes;
	uint64_t short_ops, short_bytes; /* short_bytes: what was missing */
	uint64_t failed_ops, failed_bytes;
};

/* The first failures, kept for the report. */
struct io_failure {
	struct pst_error error;
	unsigned thread;
	const char *path; /* of the plan */
	uint64_t offset_bytes;
	uint64_t bytes;
};
#define IO_MAX_FAILURES 8

struct io_thread_result {
	uint64_t bytes, ops;
	double first_s,
		last_s; /* since the start of the measured window: start and end of its work */
};

/* UINT64_MAX marks a value that could not be found out. */
struct io_source {
	uint64_t range_bytes;
	uint64_t resident_before_bytes, resident_after_bytes;
	uint64_t hole_bytes, unwritten_bytes;
	uint64_t sampled_bytes, zero_bytes;
	uint64_t device_read_bytes,
		device_written_bytes; /* by the block device below, in the run */
	bool clipped;
	bool memory_backed, network_backed, direct;
	uint32_t offset_align_bytes, memory_align_bytes; /* for O_DIRECT; largest, 0 unknown */
	char fs_type[32];
	char block_name[64];
};

struct io_result {
	unsigned threads;
	double elapsed_s;                   /* measured window: first start to last end */
	double setup_s, ramp_s, teardown_s; /* phases outside it */
	struct io_ledger ledger;
	struct pst_histogram *latency; /* of every measured operation */
	double mean_latency_us;
	double user_cpu_s, system_cpu_s; /* in the window */
	uint64_t peak_resident_bytes;
	struct io_source source;
	struct pst_stats stats; /* difference over the window */
	uint64_t reasons;       /* set of enum pst_reason seen */
	struct pst_device_info device;
	bool has_device;
	struct io_thread_result *per_thread;
	struct io_failure failures[IO_MAX_FAILURES];
	unsigned failure_count; /* kept, at most IO_MAX_FAILURES */
	bool interrupted;
	bool stopped_by_error;
	unsigned hole_percent; /* reading: part of the range that is hole or unwritten, when it is
				  RESULT_HOLE_PERCENT or more; 100 only when all of it is */
	bool too_short;        /* below RESULT_MIN_SECONDS, or too few operations: a hint only */
	bool from_cache;       /* the drive moved less than 90 % of the bytes read */
	double passes;         /* bytes done / bytes of the range */

	double evict_s, source_s; /* phases outside the window: --cold, looking at the files */
	bool has_stats;           /* stats and reasons could be read */
	bool direct_unmet;        /* --require-direct, and some bytes took another way */
	bool cold;                /* the files were evicted before this run */
};

/* Whether the files are written. */
static inline bool io_job_writes(const struct io_job *job)
{
	return job->type == IO_WRITE || job->type == IO_RANDWRITE;
}

#endif

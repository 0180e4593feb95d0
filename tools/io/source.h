/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of a run come from, over all files of a plan. */
#ifndef PENSTOCK_IO_SOURCE_H
#define PENSTOCK_IO_SOURCE_H

#include "io/job.h"

/* Files whose contents are sampled for zeros, spread over the plan: sampling reads the drive. */
#define SOURCE_MAX_SAMPLED_FILES 16
/* Block devices below the files; with more, their bytes are not known. */
#define SOURCE_MAX_DEVICES 64

/* Bytes that the block devices below the files have moved since boot, each device once. */
struct source_devices {
	struct pst_file *files[SOURCE_MAX_DEVICES]; /* one on each device */
	unsigned count;
	bool known;
	bool may_stand_still; /* of a device that may not count: only a change can be believed */
	uint64_t read_bytes, written_bytes;
};

/* Fills *source before a run: kind of file system, residency, holes, zeros (the last two for
 * reads alone). The targets are open. What cannot be found out is UINT64_MAX. */
void source_before(struct io_source *source, const struct io_plan *plan);

/* Fills resident_after_bytes. */
void source_after(struct io_source *source, const struct io_plan *plan);

/* Finds the devices below the files. */
void source_find_devices(struct source_devices *devices, const struct io_plan *plan);
/* Reads their counters now. */
void source_read_devices(struct source_devices *devices);
/* The difference between two readings, into *source. */
void source_device_delta(struct io_source *source, const struct source_devices *before,
			 const struct source_devices *after);

/* Drops the files of the plan from the page cache as far as the kernel does. */
int source_evict(const struct io_plan *plan, struct pst_error *err);

#endif

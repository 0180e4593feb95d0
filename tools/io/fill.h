/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is written. Data of a write test never repeats and cannot be compressed, so that file
 * systems and drives which compress or find equal blocks are measured by real work:
 *
 *	host memory	the buffer is filled once per thread; before each write, 16 bytes of every
 *			4 KiB are replaced, so no two blocks of a run are equal ("unique")
 *	GPU memory	the buffer is filled once per thread and written again and again
 *			("repeated"): changing it would add a copy to every write
 *	-F		the whole buffer is filled anew before each write ("refilled"); for GPU
 *memory in host memory first, then by a copy
 *
 * Filling happens between operations: not in their latency, but in the elapsed time.
 */
#ifndef PENSTOCK_IO_FILL_H
#define PENSTOCK_IO_FILL_H

#include "io/job.h"

enum io_content {
	IO_CONTENT_NONE = 0, /* nothing is written */
	IO_CONTENT_UNIQUE,
	IO_CONTENT_REPEATED,
	IO_CONTENT_REFILLED,
};

/* Which content a job writes, and its name in reports ("unique"); NULL for a read. */
enum io_content fill_content(const struct io_job *job);
const char *fill_content_name(enum io_content content);

/* Whether the job's buffers are GPU memory, which the CPU cannot fill by its pointer. */
bool fill_on_device(const struct io_job *job);

/* Fills memory with random bytes that belong to (seed, thread, op): the same for the same three,
 * without any relation to those of others. */
void fill_random(void *memory, size_t bytes, uint64_t seed, unsigned thread, uint64_t op);

/* Replaces the first 16 bytes (fewer at the end) of every 4 KiB of memory by bytes that belong
 * to (seed, thread, op). */
void fill_stamp(void *memory, size_t bytes, uint64_t seed, unsigned thread, uint64_t op);

/* As fill_random for memory of a device, through host memory of `block_bytes` at `block`.
 * Errors: those of pst_memory_copy. */
int fill_random_device(struct pst_context *ctx, void *memory, size_t bytes, void *block,
		       size_t block_bytes, uint64_t seed, unsigned thread, uint64_t op,
		       struct pst_error *err);

#endif

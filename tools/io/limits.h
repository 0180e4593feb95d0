/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine must have for a plan: looked at before the first byte and the first thread. */
#ifndef PENSTOCK_IO_LIMITS_H
#define PENSTOCK_IO_LIMITS_H

#include "io/job.h"

/* Descriptors of each file: our own, one with O_DIRECT, one through the page cache. */
#define IO_DESCRIPTORS_PER_FILE 3
/* Descriptors besides: standard streams, GPU driver, event descriptors, report. */
#define IO_DESCRIPTORS_SPARE 64

/*
 * Checks open files (raising the soft limit of this process where the hard one allows), file size
 * limit, threads and memory of a plan. Each message names the limit, its value and the largest plan
 * that fits. A limit that cannot be found out is not checked. Returns 0 or an exit status with *err
 * filled.
 */
int io_limits_check(const struct io_plan *plan, struct pst_error *err);

/* Refuses when the file system that holds `path` (or its folder) has less than need_bytes free. */
int io_limits_space(const char *path, uint64_t need_bytes, struct pst_error *err);

/* Requests in flight of one thread: -B counts with -x 3 only. */
unsigned io_job_depth(const struct io_job *job);

/* Whether the buffers lie in host memory. */
bool io_job_host_buffers(const struct io_job *job);

#endif

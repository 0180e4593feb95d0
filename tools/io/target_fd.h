/* SPDX-License-Identifier: Apache-2.0 */
/* Opening one target safely, by descriptor; target.c puts library handles on top. */
#ifndef PENSTOCK_IO_TARGET_FD_H
#define PENSTOCK_IO_TARGET_FD_H

#include "io/job.h"

/*
 * Opens or makes one file of a plan and sets f->fd, made, ours and signature. All that
 * target.h promises is checked on the descriptor. Returns 0 or an exit status with *err filled;
 * then f->fd is -1 and a file made here is gone again.
 */
int io_target_open_fd(const struct io_job *job, struct io_file_plan *f, struct pst_error *err);

/* Removes a file that this run made, if nothing but a signature is in it. Needs f->fd. */
void io_target_unmake(struct io_file_plan *f);

/* Writes the signature anew after a write run, where the file carries one. Needs f->fd. */
void io_target_refresh_signature(const struct io_job *job, const struct io_file_plan *f);

/* Closes f->fd; -1 is allowed. */
void io_target_close_fd(struct io_file_plan *f);

#endif

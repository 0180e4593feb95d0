/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a plan: opened without destroying anything by surprise.
 *
 * Reading opens read only. Writing to an existing file needs a mark that says the tool made it,
 * or --overwrite; the mark is looked for on the open descriptor. Block devices are opened with
 * O_EXCL, and one that is mounted, held or read only is refused even with --overwrite. New files
 * are made with O_CREAT | O_EXCL | O_NOFOLLOW, mode 0644, and marked at once.
 *
 * The mark is the attribute "user.penstock". Where the file system has no such attributes it is a
 * signature: the first 64 bytes of the file are IO_MARK_TEXT. It is written when the file is
 * made, and again when a write run ends, since the run writes over it; a file whose planned end
 * is below 64 bytes gets none. A run that is killed may leave a file without signature: the next
 * one then asks for --overwrite, which errs on the safe side. What checks contents later must
 * expect the signature in the first 64 bytes of a file without the attribute.
 */
#ifndef PENSTOCK_IO_TARGET_H
#define PENSTOCK_IO_TARGET_H

#include "io/job.h"

#define IO_MARK_ATTRIBUTE "user.penstock"
#define IO_MARK_VALUE     "io 1"
#define IO_MARK_BYTES     64
#define IO_MARK_TEXT      "penstock io test file 1: its contents may be overwritten freely\n"

/*
 * Opens every file of the plan and makes those that do not exist. ctx NULL: only the descriptors
 * (io_file_plan.fd), no handles. Returns 0 or an exit status with *err filled, as plan.h says;
 * then nothing stays open, and files that this call made are removed again if still empty.
 */
int io_targets_open(struct io_plan *plan, struct pst_context *ctx, struct pst_error *err);

/*
 * One more handle of an open target, for a thread of its own: threads that share a descriptor
 * fight for its reference count in every system call. The caller closes it. NULL when there is no
 * descriptor left; the shared handle then does.
 */
struct pst_file *io_target_again(const struct io_plan *plan, unsigned file,
				 struct pst_context *ctx);

/* Closes them after a start that failed: files that the open made go again if still empty. */
void io_targets_abandon(struct io_plan *plan);

/* Closes the handles and descriptors of a plan; refreshes signatures after a write run. May be
 * called on a plan whose targets were never opened. No request may be running. */
void io_targets_close(struct io_plan *plan);

#endif

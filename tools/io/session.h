/* SPDX-License-Identifier: Apache-2.0 */
/* The context and the device that all runs of one command use. */
#ifndef PENSTOCK_IO_SESSION_H
#define PENSTOCK_IO_SESSION_H

#include "io/job.h"

struct io_session {
	struct pst_context *ctx;
	struct pst_device *device; /* NULL: the job uses host memory only */
	struct pst_device_info info;
	double open_s;
};

/*
 * Opens the context, and the device if the job's buffers need one: a job with host buffers
 * touches no GPU. Returns 0, or the exit status to leave with and *err: 2 when the named device
 * is not among the visible ones, 3 when there is none.
 */
int session_open(struct io_session *session, const struct io_job *job, struct pst_error *err);

/* Allowed after a failed open. */
void session_close(struct io_session *session);

#endif

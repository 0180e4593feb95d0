/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `penstock io` and `gdsio`. */
#ifndef PENSTOCK_IO_OPTIONS_H
#define PENSTOCK_IO_OPTIONS_H

#include "io/job.h"

/* What io_options_parse returns when the command should end: this plus the exit status. */
#define IO_OPTIONS_LEAVE 1

/*
 * Fills *job from the command line. argv[0] is skipped and argv must outlive the job, which
 * points into it. gdsio_name: called as gdsio (sizes and help in its manner).
 * Returns 0 to go on, or IO_OPTIONS_LEAVE + the exit status to leave with: 0 after --help and
 * --version (printed on stdout), 2 after a usage error (three lines on stderr). Warnings about
 * options without effect go to stderr. Looks at nothing but the command line.
 */
int io_options_parse(struct io_job *job, int argc, char **argv, bool gdsio_name);

#endif

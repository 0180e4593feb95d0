/* SPDX-License-Identifier: Apache-2.0 */
/* From a command line to a checked job, without printing help or version. */
#ifndef PENSTOCK_IO_OPTION_CHECK_H
#define PENSTOCK_IO_OPTION_CHECK_H

#include "common/options.h"
#include "io/job.h"

/*
 * Fills *job as io_options_parse does. Returns 0, or 2 after a usage error on stderr. *action
 * says whether help or the version was asked for; the job is then not checked.
 */
int io_options_read(struct io_job *job, int argc, char **argv, bool gdsio_name,
		    enum options_action *action);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/options.h"

#include "common/fail.h"
#include "common/version.h"
#include "io/option_check.h"
#include "io/option_table.h"

int io_options_parse(struct io_job *job, int argc, char **argv, bool gdsio_name)
{
	enum options_action action;
	int rc = io_options_read(job, argc, argv, gdsio_name, &action);

	if (rc)
		return IO_OPTIONS_LEAVE + rc;
	switch (action) {
	case OPTIONS_HELP:
		rc = gdsio_name ? io_classic_help() : options_help(io_option_table(false), false);
		break;
	case OPTIONS_HELP_ALL:
		rc = options_help(io_option_table(gdsio_name), true);
		break;
	case OPTIONS_VERSION:
		rc = version_print();
		break;
	case OPTIONS_GO:
		return 0;
	}
	return IO_OPTIONS_LEAVE + (rc ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE);
}

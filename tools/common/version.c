/* SPDX-License-Identifier: Apache-2.0 */
#include "common/version.h"

#include "penstock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int version_print(void)
{
	char tool[32];

	snprintf(tool, sizeof(tool), "%d.%d.%d", PST_VERSION_MAJOR, PST_VERSION_MINOR,
		 PST_VERSION_PATCH);
	if (strcmp(tool, pst_version()))
		printf("penstock %s (libpenstock %s)\n", tool, pst_version());
	else
		printf("penstock %s\n", tool);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

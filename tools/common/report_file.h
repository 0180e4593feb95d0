/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a report without ever leaving half of one: the text goes to a temporary file in the same
 * folder, which is synced and renamed over the name at the end. An older report under that name
 * stays as it is until then, and for good when anything fails. The temporary file is locked by the
 * process that writes it; one that a killed run has left is used again.
 */
#ifndef PENSTOCK_TOOLS_REPORT_FILE_H
#define PENSTOCK_TOOLS_REPORT_FILE_H

#include <stdio.h>

#include "penstock.h"

struct report_file {
	FILE *stream; /* write here */
	char *path;   /* NULL: standard output */
	char *temporary;
	int failed; /* -errno of a write to the stream that failed, set by who saw it; 0: none */
};

/*
 * Opens a report; path "-" is standard output. An older report (or a link to one, which is kept
 * and followed) will be replaced at commit; any other file that is not empty is refused, as is a
 * directory or special file.
 * Returns 0, or -errno with *err filled; then there is nothing to close.
 */
int report_file_open(struct report_file *report, const char *path, struct pst_error *err);

/* Whether report_file_open would work, without leaving anything: a name that cannot be written is
 * to be known before the work begins. Returns and fills *err as report_file_open. */
int report_file_try(const char *path, struct pst_error *err);

/* Puts the report in place and closes it. On failure the temporary file is removed and *err says
 * why. Either way the report is closed. */
int report_file_commit(struct report_file *report, struct pst_error *err);

/* Drops what was written and closes. Allowed after commit, and on a struct of zeros. */
void report_file_abandon(struct report_file *report);

#endif

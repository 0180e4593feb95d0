/* SPDX-License-Identifier: Apache-2.0 */
/* Filling struct pst_error in tools, which see nothing of the library's inside. */
#ifndef PENSTOCK_TOOLS_FAIL_H
#define PENSTOCK_TOOLS_FAIL_H

#include "penstock.h"

/* Exit statuses of every tool. */
enum tool_exit {
	TOOL_EXIT_DONE = 0,
	TOOL_EXIT_FAILED = 1,      /* the measurement or check failed */
	TOOL_EXIT_USAGE = 2,       /* what was asked is wrong */
	TOOL_EXIT_ENVIRONMENT = 3, /* the machine cannot do it */
	TOOL_EXIT_INTERRUPTED = 130,
};

/*
 * Fills *err (if not NULL) and returns `result`, so that a function can end with
 * `return fail_set(err, TOOL_EXIT_USAGE, -ENOENT, path, "...")`. code is -errno or enum pst_code,
 * object may be NULL. The sentence is lower case, without final stop. Thread safe.
 */
__attribute__((format(printf, 5, 6))) int fail_set(struct pst_error *err, int result, int code,
						   const char *object, const char *format, ...);

/* "permission denied (EACCES)": what an errno means, with its name where it is a common one. */
struct fail_text {
	char text[128];
};
struct fail_text fail_errno(int sys_errno);

#endif

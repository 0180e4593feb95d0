/* SPDX-License-Identifier: Apache-2.0 */
/* Filling struct pst_error. Knows the public error types and nothing else of ours. */
#ifndef PST_UTIL_ERROR_H
#define PST_UTIL_ERROR_H

#include "penstock.h"

/*
 * Fills *err (if not NULL) and returns code, so that a failing function can end with
 * `return error_set(err, -EIO, PST_STAGE_STORAGE, path, "cannot read ...")`. A code that is an
 * errno is stored in sys_errno too. The sentence says what failed, on what, why, and what to do
 * next; lower case, no final stop, no newline.
 */
__attribute__((format(printf, 5, 6))) int error_set(struct pst_error *err, int code,
						    enum pst_stage stage, const char *object,
						    const char *format, ...);

/* The same with a driver status. */
__attribute__((format(printf, 6, 7))) int error_set_device(struct pst_error *err, int code,
							   enum pst_stage stage, int status,
							   const char *object, const char *format,
							   ...);

#endif

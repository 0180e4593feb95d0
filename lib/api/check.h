/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that exported functions share. */
#ifndef PST_API_CHECK_H
#define PST_API_CHECK_H

#include "core/context.h"
#include "util/error.h"

/* Fails with PST_E_INVALID_VALUE, naming the argument and what it must be. */
static inline int bad_argument(struct pst_error *err, const char *argument, const char *rule)
{
	return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_ARGUMENT, argument, "argument '%s' %s",
			 argument, rule);
}

static inline int bad_struct(struct pst_error *err, const char *argument)
{
	return bad_argument(err, argument,
			    "must start with its size_bytes and set no field that this version "
			    "does not know");
}

#endif

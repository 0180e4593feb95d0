/* SPDX-License-Identifier: Apache-2.0 */
#include "common/fail.h"

#include <stdarg.h>
#include <stdio.h>

int fail_set(struct pst_error *err, int result, int code, const char *object, const char *format,
	     ...)
{
	va_list args;

	if (!err)
		return result;
	err->code = code;
	err->stage = PST_STAGE_OPEN;
	err->sys_errno = code < 0 && code >= -4095 ? -code : 0;
	err->device_status = 0;
	snprintf(err->object, sizeof(err->object), "%s", object ? object : "");
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return result;
}

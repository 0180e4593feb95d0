/* SPDX-License-Identifier: Apache-2.0 */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 6, 0))) static void fill(struct pst_error *err, int code,
						       enum pst_stage stage, int status,
						       const char *object, const char *format,
						       va_list args)
{
	err->code = code;
	err->stage = stage;
	err->sys_errno = code < 0 && code >= -4095 ? -code : 0;
	err->device_status = status;
	snprintf(err->object, sizeof(err->object), "%s", object ? object : "");
	vsnprintf(err->message, sizeof(err->message), format, args);
}

int error_set(struct pst_error *err, int code, enum pst_stage stage, const char *object,
	      const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	fill(err, code, stage, 0, object, format, args);
	va_end(args);
	return code;
}

int error_set_device(struct pst_error *err, int code, enum pst_stage stage, int status,
		     const char *object, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	fill(err, code, stage, status, object, format, args);
	va_end(args);
	return code;
}

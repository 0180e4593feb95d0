/* SPDX-License-Identifier: Apache-2.0 */
#include "common/fail.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* Names of what opening and writing files commonly meets. */
static const struct {
	int number;
	const char *name;
} names[] = {
	{EACCES, "EACCES"}, {EPERM, "EPERM"},   {EROFS, "EROFS"},   {EBUSY, "EBUSY"},
	{ENOSPC, "ENOSPC"}, {EDQUOT, "EDQUOT"}, {EIO, "EIO"},       {ENOENT, "ENOENT"},
	{EMFILE, "EMFILE"}, {ENFILE, "ENFILE"}, {ENOMEM, "ENOMEM"}, {ETXTBSY, "ETXTBSY"},
	{EFBIG, "EFBIG"},   {EINVAL, "EINVAL"}, {EEXIST, "EEXIST"}, {ELOOP, "ELOOP"},
	{EBADF, "EBADF"},   {EPIPE, "EPIPE"},
};

struct fail_text fail_errno(int sys_errno)
{
	struct fail_text out;
	const char *name = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == sys_errno)
			name = names[i].name;
	if (name)
		snprintf(out.text, sizeof(out.text), "%s (%s)", strerror(sys_errno), name);
	else
		snprintf(out.text, sizeof(out.text), "%s (errno %d)", strerror(sys_errno),
			 sys_errno);
	out.text[0] = (char)tolower((unsigned char)out.text[0]);
	return out;
}

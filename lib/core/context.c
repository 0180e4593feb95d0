/* SPDX-License-Identifier: Apache-2.0 */
#include "core/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/fork.h"

bool context_forked(const struct pst_context *ctx)
{
	return ctx->fork_generation != fork_generation();
}

void context_log(const struct pst_context *ctx, enum pst_log_level level, const char *format, ...)
{
	char message[768];
	va_list args;

	if (!ctx->options.log || level > ctx->options.log_level)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	ctx->options.log(ctx->options.log_arg, level, message);
}

static size_t struct_size(const void *s)
{
	size_t size_bytes;

	memcpy(&size_bytes, s, sizeof(size_bytes));
	return size_bytes;
}

bool options_import(void *to, const void *from, size_t bytes)
{
	size_t given = struct_size(from);

	if (given < sizeof(size_t))
		return false;
	for (size_t i = bytes; i < given; i++) {
		if (((const unsigned char *)from)[i])
			return false;
	}
	memset(to, 0, bytes);
	memcpy(to, from, given < bytes ? given : bytes);
	memcpy(to, &bytes, sizeof(bytes));
	return true;
}

bool options_export(void *to, const void *from, size_t bytes)
{
	size_t given = struct_size(to);

	if (given < sizeof(size_t))
		return false;
	memcpy(to, from, given < bytes ? given : bytes);
	if (given > bytes)
		memset((unsigned char *)to + bytes, 0, given - bytes);
	memcpy(to, &given, sizeof(given));
	return true;
}

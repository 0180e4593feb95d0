/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool prints on a stream, caught in a file. For tests of one thread. */
#ifndef PENSTOCK_TESTS_TOOL_CAPTURE_H
#define PENSTOCK_TESTS_TOOL_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPTURE_MAX 16384

struct capture {
	FILE *stream;
	int saved;
	FILE *file;
	char text[CAPTURE_MAX];
};

static inline void capture_begin(struct capture *c, FILE *stream)
{
	fflush(stream);
	c->stream = stream;
	c->file = tmpfile();
	c->saved = dup(fileno(stream));
	if (!c->file || c->saved < 0 || dup2(fileno(c->file), fileno(stream)) < 0)
		abort();
}

/* Ends catching; the text is in c->text. */
static inline void capture_end(struct capture *c)
{
	size_t n;

	fflush(c->stream);
	if (dup2(c->saved, fileno(c->stream)) < 0)
		abort();
	close(c->saved);
	rewind(c->file);
	n = fread(c->text, 1, sizeof(c->text) - 1, c->file);
	c->text[n] = '\0';
	fclose(c->file);
}

static inline unsigned capture_lines(const struct capture *c)
{
	unsigned lines = 0;

	for (const char *p = c->text; *p; p++)
		lines += *p == '\n';
	return lines;
}

#endif

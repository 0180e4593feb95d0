/* SPDX-License-Identifier: Apache-2.0 */
#include "common/suggest.h"

#include <ctype.h>
#include <string.h>

/* A beginning of this many letters is enough to know what is meant. */
#define MIN_PREFIX 3

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned suggest_distance(const char *a, const char *b)
{
	/* Three rows of the usual table: two back for swaps, one back, the current one. */
	unsigned rows[3][SUGGEST_MAX_NAME + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];
	size_t a_len = strnlen(a, SUGGEST_MAX_NAME), b_len = strnlen(b, SUGGEST_MAX_NAME);

	for (size_t j = 0; j <= b_len; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned *spare = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			int x = tolower((unsigned char)a[i - 1]);
			int y = tolower((unsigned char)b[j - 1]);

			row[j] = min2(min2(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]))
				row[j] = min2(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[b_len];
}

const char *suggest_nearest(const char *text, const char *const *names, size_t count)
{
	size_t length = strlen(text);
	unsigned limit = (unsigned)(length + 2) / 3;
	const char *best = NULL;

	if (length > SUGGEST_MAX_NAME)
		return NULL;
	for (size_t i = 0; length >= MIN_PREFIX && i < count; i++)
		if (!strncasecmp(names[i], text, length))
			return names[i];
	for (size_t i = 0; i < count; i++) {
		unsigned d = suggest_distance(text, names[i]);

		if (d > limit || d >= length)
			continue;
		limit = d;
		if (!best || d < suggest_distance(text, best))
			best = names[i];
	}
	return best;
}

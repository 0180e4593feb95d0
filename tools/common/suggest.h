/* SPDX-License-Identifier: Apache-2.0 */
/* The nearest of a set of names, for "did you mean". */
#ifndef PENSTOCK_TOOLS_SUGGEST_H
#define PENSTOCK_TOOLS_SUGGEST_H

#include <stddef.h>

/* Names longer than this are compared by their beginning only. */
#define SUGGEST_MAX_NAME 63

/* Changes of one letter (put in, taken out, replaced, two neighbours swapped) from a to b; letter
 * case counts as no change. */
unsigned suggest_distance(const char *a, const char *b);

/* The first name that `text` (three letters or more) begins; else the nearest, or NULL when none
 * is near: more than one change in three letters, or
 * every letter changed. Of equally near ones the first. */
const char *suggest_nearest(const char *text, const char *const *names, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 30
#define HELP_WIDTH  100

/* Prints text from the help column on, broken at blanks; the line so far has `used` columns. */
static void print_wrapped(const char *text, size_t used)
{
	if (used >= HELP_COLUMN) {
		putchar('\n');
		used = 0;
	}
	printf("%*s", (int)(HELP_COLUMN - used), "");
	used = HELP_COLUMN;
	while (*text) {
		size_t word = strcspn(text, " ");

		if (used > HELP_COLUMN && used + 1 + word > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			used = HELP_COLUMN;
		} else if (used > HELP_COLUMN) {
			putchar(' ');
			used++;
		}
		printf("%.*s", (int)word, text);
		used += word;
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_entry(const struct option_entry *e)
{
	char left[128], text[512];
	char letter[4] = "   ";

	if (e->letter)
		snprintf(letter, sizeof(letter), "-%c%s", e->letter, e->long_name ? "," : "");
	snprintf(left, sizeof(left), "  %s %s%s%s%s%s%s", letter, e->long_name ? "--" : "",
		 e->long_name ? e->long_name : "", e->long_alias ? ", --" : "",
		 e->long_alias ? e->long_alias : "", e->argument ? " " : "",
		 e->argument ? e->argument : "");
	if (e->later)
		snprintf(text, sizeof(text), "%s (%s)", e->help, e->later);
	else if (e->default_text)
		snprintf(text, sizeof(text), "%s [%s]", e->help, e->default_text);
	else
		snprintf(text, sizeof(text), "%s", e->help);
	fputs(left, stdout);
	print_wrapped(text, strlen(left) + 1);
	for (const struct option_value *v = e->values; v && v->name; v++) {
		if (!v->help)
			continue;
		snprintf(text, sizeof(text), "%s%s%s: %s%s%s", v->name, v->alias ? " " : "",
			 v->alias ? v->alias : "", v->help, v->later ? "; " : "",
			 v->later ? v->later : "");
		print_wrapped(text, 0);
	}
}

int options_help(const struct option_table *table, bool all)
{
	const char *group = NULL;

	printf("usage: %s\n", table->usage);
	if (table->head)
		printf("\n%s\n", table->head);
	if (!all)
		printf("\nCommon options\n");
	for (size_t i = 0; i < table->count; i++) {
		const struct option_entry *e = &table->entries[i];

		if (!all && !e->common)
			continue;
		if (all && (!group || strcmp(group, e->group)))
			printf("\n%s\n", e->group);
		group = e->group;
		print_entry(e);
	}
	if (!all && table->more)
		printf("\n%s\n", table->more);
	if (table->foot)
		printf("\n%s\n", table->foot);
	fflush(stdout);
	return ferror(stdout) ? -EIO : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/options.h"

#include "common/suggest.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_OPTION_NAME 63

struct parser {
	const struct option_table *table;
	void *base;
	char **argv;
	int argc;
	int next; /* index of the argument to look at next */
	struct options_result *result;
};

static int usage_error_v(const struct option_table *table, const char *format, va_list args)
{
	fprintf(stderr, "%s: ", table->program);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\nusage: %s\nsee '%s'\n", table->usage, table->help_name);
	return 2;
}

int options_usage_error(const struct option_table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	usage_error_v(table, format, args);
	va_end(args);
	return 2;
}

void options_warn(const struct option_table *table, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: warning: ", table->program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static bool takes_value(const struct option_entry *e)
{
	return e->kind != OPTION_FLAG && e->kind != OPTION_HELP && e->kind != OPTION_HELP_ALL &&
	       e->kind != OPTION_VERSION && !(e->later && !e->argument);
}

static int find_letter(const struct option_table *table, char letter)
{
	for (size_t i = 0; i < table->count; i++)
		if (letter && table->entries[i].letter == letter)
			return (int)i;
	return -1;
}

static int find_long(const struct option_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct option_entry *e = &table->entries[i];

		if ((e->long_name && !strcmp(e->long_name, name)) ||
		    (e->long_alias && !strcmp(e->long_alias, name)))
			return (int)i;
	}
	return -1;
}

bool options_given(const struct option_table *table, const struct options_result *result,
		   const char *name)
{
	int i = name[1] ? find_long(table, name) : find_letter(table, name[0]);

	assert(i >= 0);
	return i >= 0 && result->given[i];
}

static int unknown_letter(const struct parser *p, char letter)
{
	char other = (char)(islower((unsigned char)letter) ? toupper((unsigned char)letter)
							   : tolower((unsigned char)letter));

	if (other != letter && find_letter(p->table, other) >= 0)
		return options_usage_error(p->table, "unknown option -%c: did you mean -%c?",
					   letter, other);
	return options_usage_error(p->table, "unknown option -%c", letter);
}

static int unknown_long(const struct parser *p, const char *name)
{
	const char *names[2 * OPTIONS_MAX];
	size_t count = 0;
	const char *nearest;

	for (size_t i = 0; i < p->table->count; i++) {
		if (p->table->entries[i].long_name)
			names[count++] = p->table->entries[i].long_name;
		if (p->table->entries[i].long_alias)
			names[count++] = p->table->entries[i].long_alias;
	}
	nearest = suggest_nearest(name, names, count);
	if (nearest)
		return options_usage_error(p->table, "unknown option --%s: did you mean --%s?",
					   name, nearest);
	return options_usage_error(p->table, "unknown option --%s", name);
}

/* A value that is itself an option of the table: the argument was forgotten. */
static bool looks_like_option(const struct parser *p, const char *text)
{
	char name[MAX_OPTION_NAME + 1];

	if (text[0] != '-' || !text[1])
		return false;
	if (text[1] != '-')
		return !text[2] && find_letter(p->table, text[1]) >= 0;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text + 2, "="), text + 2);
	return find_long(p->table, name) >= 0;
}

static int refuse_choice(const struct parser *p, const struct option_entry *e, const char *shown,
			 const char *text)
{
	char list[512] = "";
	size_t used = 0;

	for (const struct option_value *v = e->values; v->name; v++) {
		int n = snprintf(list + used, sizeof(list) - used, "%s%s%s%s", used ? ", " : "",
				 v->name, v->alias ? " or " : "", v->alias ? v->alias : "");

		if (n < 0 || (size_t)n >= sizeof(list) - used)
			break;
		used += (size_t)n;
	}
	return options_usage_error(p->table, "option %s: '%s' is none of: %s", shown, text, list);
}

static int store_choice(const struct parser *p, const struct option_entry *e, const char *shown,
			const char *text, void *target)
{
	for (const struct option_value *v = e->values; v->name; v++) {
		if (strcmp(v->name, text) && (!v->alias || strcmp(v->alias, text)))
			continue;
		if (v->later)
			return options_usage_error(p->table, "option %s %s: %s", shown, text,
						   v->later);
		memcpy(target, &v->value, sizeof(v->value));
		return 0;
	}
	return refuse_choice(p, e, shown, text);
}

static int store(const struct parser *p, const struct option_entry *e, const char *shown,
		 const char *text)
{
	void *target = (char *)p->base + e->offset;
	struct units_why why = {""};
	uint64_t number = 0;
	uint64_t max = e->max ? e->max : UINT64_MAX;
	int rc = 0;

	switch (e->kind) {
	case OPTION_FLAG:
		*(bool *)target = true;
		break;
	case OPTION_TEXT:
		if (!*text)
			return options_usage_error(p->table, "option %s: the text is empty", shown);
		*(const char **)target = text;
		break;
	case OPTION_SIZE:
		rc = units_parse_size(text, p->table->rules, target, &why);
		break;
	case OPTION_UNSIGNED:
		if (max > UINT32_MAX)
			max = UINT32_MAX;
		rc = units_parse_unsigned(text, e->min, max, &number, &why);
		if (!rc)
			*(unsigned *)target = (unsigned)number;
		break;
	case OPTION_UNSIGNED64:
		rc = units_parse_unsigned(text, e->min, max, target, &why);
		break;
	case OPTION_SECONDS:
		rc = units_parse_seconds(text, target, &why);
		break;
	case OPTION_CHOICE:
		return store_choice(p, e, shown, text, target);
	case OPTION_CUSTOM:
		rc = e->parse(p->base, text, p->table->rules, &why);
		break;
	case OPTION_HELP:
	case OPTION_HELP_ALL:
	case OPTION_VERSION:
		break;
	}
	return rc ? options_usage_error(p->table, "option %s: %s", shown, why.text) : 0;
}

/* One option whose name is known: value attached (may be NULL) or in the next argument. */
static int take(struct parser *p, int index, const char *shown, const char *attached)
{
	const struct option_entry *e = &p->table->entries[index];
	const char *text = attached;

	if (e->later)
		return options_usage_error(p->table, "option %s: %s", shown, e->later);
	if (takes_value(e) && !text) {
		if (p->next >= p->argc || looks_like_option(p, p->argv[p->next]))
			return options_usage_error(p->table, "option %s needs a value: %s", shown,
						   e->argument);
		text = p->argv[p->next++];
	}
	if (!takes_value(e) && text)
		return options_usage_error(p->table, "option %s takes no value, '%s' given", shown,
					   text);
	if (p->result->given[index]) {
		if (takes_value(e))
			return options_usage_error(p->table,
						   "option %s is given twice, with '%s' and '%s'",
						   shown, p->result->text[index], text);
		return options_usage_error(p->table, "option %s is given twice", shown);
	}
	p->result->given[index] = true;
	p->result->text[index] = text;
	if (e->kind == OPTION_HELP)
		p->result->action = OPTIONS_HELP;
	else if (e->kind == OPTION_HELP_ALL)
		p->result->action = OPTIONS_HELP_ALL;
	else if (e->kind == OPTION_VERSION)
		p->result->action = OPTIONS_VERSION;
	return store(p, e, shown, text);
}

static int take_long(struct parser *p, const char *arg)
{
	char name[MAX_OPTION_NAME + 1], shown[MAX_OPTION_NAME + 3];
	size_t length = strcspn(arg + 2, "=");
	const char *value = arg[2 + length] == '=' ? arg + 2 + length + 1 : NULL;
	int index;

	snprintf(name, sizeof(name), "%.*s", (int)length, arg + 2);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	index = length <= MAX_OPTION_NAME ? find_long(p->table, name) : -1;
	if (index < 0)
		return unknown_long(p, name);
	snprintf(shown, sizeof(shown), "--%s", name);
	return take(p, index, shown, value);
}

static int take_letters(struct parser *p, const char *arg)
{
	for (const char *c = arg + 1; *c; c++) {
		char shown[3] = {'-', *c, '\0'};
		int index = find_letter(p->table, *c);
		int rc;

		if (index < 0)
			return unknown_letter(p, *c);
		if (takes_value(&p->table->entries[index]))
			return take(p, index, shown, c[1] ? c + 1 : NULL);
		rc = take(p, index, shown, NULL);
		if (rc || p->result->action != OPTIONS_GO)
			return rc;
	}
	return 0;
}

int options_parse(const struct option_table *table, void *base, int argc, char **argv,
		  struct options_result *result)
{
	struct parser p = {table, base, argv, argc, 1, result};
	bool only_positional = false;

	assert(table->count <= OPTIONS_MAX);
	*result = (struct options_result){.action = OPTIONS_GO};
	while (p.next < argc) {
		const char *arg = argv[p.next++];
		int rc = 0;

		if (!only_positional && !strcmp(arg, "--")) {
			only_positional = true;
		} else if (only_positional || arg[0] != '-' || !arg[1]) {
			if (result->positional_count >= OPTIONS_MAX_POSITIONAL)
				return options_usage_error(table, "more than %d arguments: '%s'",
							   OPTIONS_MAX_POSITIONAL, arg);
			result->positional[result->positional_count++] = arg;
		} else if (arg[1] == '-') {
			rc = take_long(&p, arg);
		} else {
			rc = take_letters(&p, arg);
		}
		if (rc || result->action != OPTIONS_GO)
			return rc;
	}
	return 0;
}

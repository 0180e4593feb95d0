/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options for each tool. It produces parsing, help and usage errors.
 *
 * Accepted: --name=value, --name value, -n value, -nvalue, flags together (-UR), '_' for '-' in
 * long names, "--" before positional arguments. Values are taken whole or refused. An option
 * given twice is refused, an unknown one is answered with the nearest name. What options mean
 * together is the tool's affair: it looks at options_result.given.
 */
#ifndef PENSTOCK_TOOLS_OPTIONS_H
#define PENSTOCK_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/units.h"

#define OPTIONS_MAX            64 /* entries of a table */
#define OPTIONS_MAX_POSITIONAL 8

enum option_kind {         /* type of the target field */
	OPTION_FLAG = 0,   /* bool: set to true */
	OPTION_TEXT,       /* const char *: points into argv */
	OPTION_SIZE,       /* uint64_t, bytes, by the rules of the table */
	OPTION_UNSIGNED,   /* unsigned, in [min, max] */
	OPTION_UNSIGNED64, /* uint64_t, in [min, max] */
	OPTION_SECONDS,    /* double */
	OPTION_CHOICE,     /* an enum (int-sized): one of values */
	OPTION_CUSTOM,     /* parse() does it */
	OPTION_HELP,       /* no target: options_parse reports it */
	OPTION_HELP_ALL,
	OPTION_VERSION,
};

/* A value of OPTION_CHOICE. A list ends with name NULL. */
struct option_value {
	const char *name;
	const char *alias; /* second spelling, or NULL */
	int value;
	const char *help;  /* may be NULL */
	const char *later; /* not NULL: known, but refused with this sentence */
};

struct option_entry {
	const char *long_name;  /* without dashes, or NULL */
	const char *long_alias; /* or NULL */
	char letter;            /* or 0 */
	bool common;            /* shown by the short help as well */
	enum option_kind kind;
	const char *argument; /* "SIZE"; NULL for flags */
	const char *group;    /* heading in the help; same group: adjacent entries */
	const char *help;
	const char *default_text; /* or NULL */
	size_t offset;            /* of the target field, by OPTION_FIELD */
	uint64_t min, max;        /* for numbers; max 0: no limit but the type's */
	const struct option_value *values;
	/* Custom: base is the target struct. Returns 0 or negative with *why filled. */
	int (*parse)(void *base, const char *text, enum units_rules rules, struct units_why *why);
	const char *later;   /* not NULL: known, but refused with this sentence */
	const char *classic; /* argument text in a classic option list, NULL: not listed */
};

/* Offset of a field that must have the given type: another type does not compile. */
#define OPTION_FIELD(structure, field, type)                                                       \
	(offsetof(structure, field) + 0 * sizeof((type *)0 == &((structure *)0)->field))

struct option_table {
	const char *program;   /* "penstock io", begins every message */
	const char *usage;     /* one line: "penstock io -f FILE | -D DIR [options]" */
	const char *help_name; /* what to type for help: "penstock io --help" */
	const char *head;      /* help: what the tool does; may be NULL */
	const char *foot;      /* help: examples; may be NULL */
	const char *more;      /* short help: where the whole one is */
	enum units_rules rules;
	const struct option_entry *entries;
	size_t count; /* at most OPTIONS_MAX */
};

enum options_action {
	OPTIONS_GO = 0,
	OPTIONS_HELP,
	OPTIONS_HELP_ALL,
	OPTIONS_VERSION,
};

struct options_result {
	bool given[OPTIONS_MAX];       /* by index of the entry */
	const char *text[OPTIONS_MAX]; /* as given; NULL for flags */
	const char *positional[OPTIONS_MAX_POSITIONAL];
	unsigned positional_count;
	enum options_action action; /* help wins over errors that come after it */
};

/*
 * Parses argv[1..argc) into the struct at base. Returns 0, or 2 after a usage error that was
 * printed on stderr. Fields of options that are not given are left alone.
 */
int options_parse(const struct option_table *table, void *base, int argc, char **argv,
		  struct options_result *result);

/* Prints the help on stdout, grouped: of all options, or of the common ones alone, which fit on one
 * screen. Returns 0, or -EIO when stdout failed. */
int options_help(const struct option_table *table, bool all);

/* Prints a usage error in three lines on stderr (what, usage, where help is) and returns 2. */
__attribute__((format(printf, 2, 3))) int options_usage_error(const struct option_table *table,
							      const char *format, ...);

/* Whether the entry with this letter or long name was given. Unknown names are a caller's bug. */
bool options_given(const struct option_table *table, const struct options_result *result,
		   const char *name);

/* Prints "program: warning: ..." on stderr. */
__attribute__((format(printf, 2, 3))) void options_warn(const struct option_table *table,
							const char *format, ...);

#endif

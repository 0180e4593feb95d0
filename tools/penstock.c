/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program: `penstock COMMAND ...`, and each command that has a well-known name of its own under
 * that name too.
 */
#include "common/fail.h"
#include "common/suggest.h"
#include "common/version.h"
#include "io/main.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct command {
	const char *name;
	const char *other_name; /* as argv[0] */
	int (*run)(int argc, char **argv, bool other_name);
	const char *help;
};

static const struct command commands[] = {
	{"io", "gdsio", io_main, "measure reading and writing files to and from GPU memory"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	fprintf(out, "usage: penstock COMMAND [options]\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s (also called as %s)\n", commands[i].name, commands[i].help,
			commands[i].other_name);
	fprintf(out,
		"'penstock help COMMAND' says more; 'penstock --version' prints the version\n");
}

static int refuse(const char *name)
{
	const char *names[COMMANDS];
	const char *nearest;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	nearest = suggest_nearest(name, names, COMMANDS);
	fprintf(stderr, "penstock: unknown %s '%s'", name[0] == '-' ? "option" : "command", name);
	if (nearest)
		fprintf(stderr, ": did you mean '%s'?", nearest);
	fprintf(stderr, "\nusage: penstock COMMAND [options]\nsee 'penstock --help'\n");
	return TOOL_EXIT_USAGE;
}

static int help_of(const struct command *command)
{
	char help[] = "--help";
	char name[16];
	char *argv[] = {name, help, NULL};

	snprintf(name, sizeof(name), "%s", command->name);
	return command->run(2, argv, false);
}

/* `penstock help`, `penstock help COMMAND` */
static int help(const char *name)
{
	if (!name) {
		print_usage(stdout);
		return fflush(stdout) || ferror(stdout) ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name) || !strcmp(name, commands[i].other_name))
			return help_of(&commands[i]);
	return refuse(name);
}

/*
 * Started with a standard stream closed, the next file to be opened would take its number, and what
 * is printed would end up in that file. /dev/null takes the place, opened the wrong way round, so
 * that writing results still fails and is reported. false: it cannot be opened.
 */
static bool hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *called = argc > 0 ? (slash ? slash + 1 : argv[0]) : "penstock";

	if (!hold_standard_streams())
		return TOOL_EXIT_ENVIRONMENT;
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(called, commands[i].other_name))
			return commands[i].run(argc, argv, true);
	if (argc < 2) {
		print_usage(stderr);
		return TOOL_EXIT_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (argc == 3 && !strcmp(argv[2], "help"))
			return help_of(&commands[i]);
		return commands[i].run(argc - 1, argv + 1, false);
	}
	if (!strcmp(argv[1], "--version"))
		return version_print() ? TOOL_EXIT_FAILED : TOOL_EXIT_DONE;
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(NULL);
	if (!strcmp(argv[1], "help"))
		return help(argc > 2 ? argv[2] : NULL);
	return refuse(argv[1]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `penstock io` from the command line to the exit status. */
#include "io/main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "common/report_file.h"
#include "io/interrupt.h"
#include "io/options.h"
#include "io/output.h"
#include "io/output_json.h"
#include "io/output_path.h"
#include "io/plan.h"
#include "io/result.h"
#include "io/run.h"
#include "io/sweep.h"
#include "io/target_look.h"

struct command {
	struct io_job job;
	const char *name; /* begins messages */
	FILE *classic;    /* where the classic line goes */
	FILE *text;       /* ... and the lines below it */
	struct io_session session;
	struct io_watch watch;
	struct sweep sweep;
	struct output_way way;        /* of the run before */
	struct json_object *document; /* NULL: no --json */
	struct pst_error error;       /* that kept a run from starting; code 0: none */
	int exit_status;
};

/* The first reason for an exit other than 0 stays; an interrupt goes before all. */
static void set_exit(struct command *command, int status)
{
	if (!command->exit_status || status == TOOL_EXIT_INTERRUPTED)
		command->exit_status = status;
}

static void print_error(const struct command *command, const struct pst_error *err)
{
	const char *code = pst_code_name(err->code);

	if (strstr(err->message, code))
		fprintf(stderr, "%s: %s\n", command->name, err->message);
	else
		fprintf(stderr, "%s: %s (%s)\n", command->name, err->message, code);
}

static bool many_runs(const struct command *command)
{
	return command->sweep.settings > 1 || command->sweep.rounds > 1;
}

static void report_run(struct command *command, const struct io_plan *plan,
		       const struct io_result *result, unsigned round)
{
	struct output_way way = output_way(result);
	enum output_detail detail = OUTPUT_FULL;

	if (many_runs(command))
		detail = output_same_way(&way, &command->way) ? OUTPUT_BRIEF_AGAIN : OUTPUT_BRIEF;
	/* A run that an error ended has no line that could be taken for a measurement. */
	if (!result->stopped_by_error)
		output_classic(command->classic, plan, result);
	fflush(command->classic);
	output_text(command->text, plan, result, detail);
	command->way = way;
	if (command->document)
		output_json_add(command->document, plan, result, round);
	set_exit(command, result_exit(result, plan));
}

/* One setting, once. false: go on with no further run. */
static bool run_setting(struct command *command, unsigned setting, unsigned round)
{
	struct io_result result;
	struct io_plan plan;
	int code;

	watch_phase(&command->watch, "looking at the files");
	code = io_plan_make(&plan, &command->job, command->job.threads[setting], &command->error);
	if (!code) {
		code = run_once(&command->session, &plan, &command->watch, &result,
				&command->error);
		if (!code) {
			sweep_add(&command->sweep, setting, round, &plan, &result);
			report_run(command, &plan, &result, round);
			result_free(&result);
		}
		io_plan_free(&plan);
	}
	if (code) {
		print_error(command, &command->error);
		set_exit(command, code);
		return false;
	}
	return !interrupt_pending() && (!command->exit_status || command->job.continue_on_error);
}

static void run_all(struct command *command)
{
	bool going = true;

	for (unsigned round = 0; going && round < command->sweep.rounds; round++) {
		for (unsigned setting = 0; going && setting < command->sweep.settings; setting++)
			going = run_setting(command, setting, round);
	}
	if (interrupt_pending())
		set_exit(command, TOOL_EXIT_INTERRUPTED);
	if (many_runs(command) && !command->job.classic)
		sweep_print(command->text, &command->sweep);
}

/* Writes the document, and finds out whether all output has arrived. */
static void finish_output(struct command *command)
{
	struct pst_error err = {0};

	if (command->document) {
		if (many_runs(command))
			sweep_add_json(command->document, &command->sweep);
		output_json_end(command->document, command->exit_status, interrupt_pending(),
				command->error.code ? &command->error : NULL);
		if (json_write(command->document, command->job.json, &err) < 0) {
			print_error(command, &err);
			set_exit(command, TOOL_EXIT_FAILED);
		}
		json_object_put(command->document);
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: not all results could be written to standard output\n",
			command->name);
		set_exit(command, TOOL_EXIT_FAILED);
	}
}

static int run_command(struct command *command)
{
	int code = command->job.json ? report_file_try(command->job.json, &command->error) : 0;

	if (code) {
		print_error(command, &command->error);
		return io_exit_of_errno(-code);
	}
	if (sweep_init(&command->sweep, &command->job) < 0) {
		fprintf(stderr, "%s: no memory for the results\n", command->name);
		return TOOL_EXIT_ENVIRONMENT;
	}
	if (command->job.json)
		command->document = output_json_new(&command->job);
	interrupt_install();
	watch_start(&command->watch, command->name, WATCH_LIMIT_S, stderr);
	watch_phase(&command->watch, "opening the device");
	code = session_open(&command->session, &command->job, &command->error);
	if (code) {
		print_error(command, &command->error);
		set_exit(command, code);
	} else {
		run_all(command);
		watch_phase(&command->watch, "closing the device");
		session_close(&command->session);
	}
	watch_stop(&command->watch);
	finish_output(command);
	sweep_free(&command->sweep);
	return command->exit_status;
}

static int dry_run(struct command *command)
{
	for (unsigned i = 0; i < command->job.thread_counts; i++) {
		struct io_plan plan;
		int code = io_plan_make(&plan, &command->job, command->job.threads[i],
					&command->error);

		if (code) {
			print_error(command, &command->error);
			return code;
		}
		code = io_plan_print(&plan, stdout);
		io_plan_free(&plan);
		if (code < 0)
			return TOOL_EXIT_FAILED;
	}
	return TOOL_EXIT_DONE;
}

int io_main(int argc, char **argv, bool gdsio_name)
{
	struct command command = {.name = gdsio_name ? "gdsio" : "penstock io"};
	int code = io_options_parse(&command.job, argc, argv, gdsio_name);
	bool document_alone;

	if (code)
		return code - IO_OPTIONS_LEAVE;
	if (command.job.dry_run)
		return dry_run(&command);
	document_alone = command.job.json && !strcmp(command.job.json, "-");
	command.classic = document_alone ? stderr : stdout;
	command.text = document_alone || gdsio_name ? stderr : stdout;
	return run_command(&command);
}

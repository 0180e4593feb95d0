/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a command as one JSON document, schema "penstock.io" version 1. Units are in the
 * key names; what is not known is null. Rates of a run that an error ended are null.
 */
#ifndef PENSTOCK_IO_OUTPUT_JSON_H
#define PENSTOCK_IO_OUTPUT_JSON_H

#include "common/json.h"
#include "io/job.h"

#define OUTPUT_JSON_SCHEMA  "penstock.io"
#define OUTPUT_JSON_VERSION 1

/* A document with command line, machine and job; results are added in the order of the runs.
 * Free with json_object_put. */
struct json_object *output_json_new(const struct io_job *job);

/* Adds the result of one run. round counts the repeats from 0. */
void output_json_add(struct json_object *document, const struct io_plan *plan,
		     const struct io_result *result, unsigned round);

/* Adds how it ended: exit status, whether a signal came, the error that kept a run from
 * starting (NULL: none). */
void output_json_end(struct json_object *document, int exit_status, bool interrupted,
		     const struct pst_error *error);

/* Parts in output_json_result.c. */
void output_json_result(struct json_object *to, const struct io_plan *plan,
			const struct io_result *result);

#endif

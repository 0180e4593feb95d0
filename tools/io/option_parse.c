/* SPDX-License-Identifier: Apache-2.0 */
#include "io/option_parse.h"

#include "io/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_SIZE_TEXT 63

static int refuse(struct units_why *why, const char *text, const char *what)
{
	snprintf(why->text, sizeof(why->text), "'%.80s': %s", text, what);
	return -EINVAL;
}

static int check_io_size(const char *text, uint64_t bytes, struct units_why *why)
{
	if (!bytes)
		return refuse(why, text, "an I/O size of 0 bytes moves nothing");
	if (bytes > IO_MAX_IO_BYTES)
		return refuse(why, text, "the largest I/O size is 1 TiB (1099511627776 bytes)");
	return 0;
}

/* MIN:MAX:STEP into three sizes. */
static int parse_range(const char *text, uint64_t sizes[3], struct units_why *why)
{
	const char *at = text;

	for (unsigned i = 0; i < 3; i++) {
		char part[MAX_SIZE_TEXT + 1];
		size_t length = strcspn(at, ":");
		int rc;

		if (length > MAX_SIZE_TEXT)
			return refuse(why, text, "a size is longer than 63 characters");
		if ((i < 2) != (at[length] == ':'))
			return refuse(why, text, "a range is MIN:MAX:STEP");
		memcpy(part, at, length);
		part[length] = '\0';
		/* Block sizes have the units of gdsio under every name. */
		rc = units_parse_size(part, UNITS_GDSIO, &sizes[i], why);
		if (rc)
			return rc;
		at += length + 1;
	}
	return 0;
}

int io_parse_io_size(void *base, const char *text, enum units_rules rules, struct units_why *why)
{
	struct io_job *job = base;
	uint64_t sizes[3] = {0};
	int rc;

	(void)rules;
	if (strchr(text, ':')) {
		rc = parse_range(text, sizes, why);
	} else {
		rc = units_parse_size(text, UNITS_GDSIO, &sizes[0], why);
		sizes[1] = sizes[0];
	}
	if (!rc)
		rc = check_io_size(text, sizes[0], why);
	if (!rc)
		rc = check_io_size(text, sizes[1], why);
	if (rc)
		return rc;
	if (sizes[0] > sizes[1])
		return refuse(why, text, "the smallest size is above the largest");
	if (sizes[0] < sizes[1] && !sizes[2])
		return refuse(why, text, "a step of 0 never reaches the largest size");
	if (sizes[0] == sizes[1])
		sizes[2] = 0;
	job->io_min_bytes = sizes[0];
	job->io_max_bytes = sizes[1];
	job->io_step_bytes = sizes[2];
	job->io_size_given = true;
	return 0;
}

int io_parse_threads(void *base, const char *text, enum units_rules rules, struct units_why *why)
{
	struct io_job *job = base;
	int rc;

	(void)rules;
	rc = units_parse_list(text, 1, IO_MAX_THREADS, job->threads, IO_MAX_SWEEP,
			      &job->thread_counts, why);
	if (rc)
		return rc;
	for (unsigned i = 0; i < job->thread_counts; i++)
		for (unsigned k = 0; k < i; k++)
			if (job->threads[i] == job->threads[k])
				return refuse(why, text, "a thread count stands in the list twice");
	return 0;
}

int io_parse_alignment(void *base, const char *text, enum units_rules rules, struct units_why *why)
{
	struct io_job *job = base;
	uint64_t bytes;
	int rc;

	(void)rules;
	rc = units_parse_size(text, UNITS_GDSIO, &bytes, why);
	if (rc)
		return rc;
	if (!bytes || bytes > IO_MAX_IO_BYTES)
		return refuse(why, text, "an alignment is 1 byte to 1 TiB");
	job->random_align_bytes = bytes;
	return 0;
}

int io_parse_node(void *base, const char *text, enum units_rules rules, struct units_why *why)
{
	struct io_job *job = base;
	uint64_t node;
	int rc;

	(void)rules;
	rc = units_parse_unsigned(text, 0, IO_MAX_NUMA_NODE, &node, why);
	if (!rc)
		job->numa_node = (int)node;
	return rc;
}

static int parse_switch(const char *text, bool *on, struct units_why *why)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return refuse(why, text, "is none of: 0, 1");
	*on = *text == '1';
	return 0;
}

int io_parse_cached(void *base, const char *text, enum units_rules rules, struct units_why *why)
{
	struct io_job *job = base;

	(void)rules;
	return parse_switch(text, &job->cached, why);
}

int io_parse_direct(void *base, const char *text, enum units_rules rules, struct units_why *why)
{
	struct io_job *job = base;
	bool direct;
	int rc;

	(void)rules;
	rc = parse_switch(text, &direct, why);
	if (!rc)
		job->cached = !direct;
	return rc;
}

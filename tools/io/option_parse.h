/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of single values of `penstock io`, for its option table. base is a struct io_job. */
#ifndef PENSTOCK_IO_OPTION_PARSE_H
#define PENSTOCK_IO_OPTION_PARSE_H

#include "common/units.h"

#define IO_MAX_REPEAT    1000
#define IO_MAX_NUMA_NODE 1023

int io_parse_io_size(void *base, const char *text, enum units_rules rules, struct units_why *why);
int io_parse_threads(void *base, const char *text, enum units_rules rules, struct units_why *why);
int io_parse_alignment(void *base, const char *text, enum units_rules rules, struct units_why *why);
int io_parse_node(void *base, const char *text, enum units_rules rules, struct units_why *why);
int io_parse_cached(void *base, const char *text, enum units_rules rules, struct units_why *why);
int io_parse_direct(void *base, const char *text, enum units_rules rules, struct units_why *why);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a context is made of. Each part has its own header; this one only holds them together. */
#ifndef PST_CORE_CONTEXT_H
#define PST_CORE_CONTEXT_H

#include <pthread.h>

#include "core/buffers.h"
#include "core/devices.h"
#include "penstock.h"
#include "stats/counters.h"

struct lane_pool;    /* path/lane.h */
struct vendor_state; /* path/vendor_path.h */

struct pst_context {
	struct pst_options options;    /* defaults filled in; vendor_library is a copy */
	unsigned fork_generation;      /* of the process that opened the context */
	struct pst_context *next_open; /* of all open contexts: core/fork.c */
	struct device_table devices;
	struct buffer_table buffers;
	struct counter_registry counters;

	pthread_mutex_t lock; /* of the lists below */
	struct pst_file *files;
	struct context_memory *memory;

	struct lane_pool *lanes;     /* owned by the path room */
	struct vendor_state *vendor; /* owned by the path room */
};

/* Whether the calling process is a child of the one that opened the context. */
bool context_forked(const struct pst_context *ctx);

/* Makes a message through the context's log callback. */
__attribute__((format(printf, 3, 4))) void
context_log(const struct pst_context *ctx, enum pst_log_level level, const char *format, ...);

/* Copies `from`, whose first field is its size, over a zeroed struct of `bytes`: fields that the
 * caller's version lacks stay zero. false: the size is zero or larger than what is known and the
 * unknown part is not zero. */
bool options_import(void *to, const void *from, size_t bytes);

/* Copies the first min(known, caller's size) bytes to a caller's struct and keeps its size. */
bool options_export(void *to, const void *from, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Several requests in flight: a lane and a pipeline of their own, driven by the caller. */
#ifndef PST_PATH_BATCH_H
#define PST_PATH_BATCH_H

#include "path/request.h"

struct pst_batch;

struct pst_batch *batch_new(struct pst_context *ctx, unsigned capacity);
void batch_free(struct pst_batch *batch);
/* Frees the context's batches that are left, when no thread uses them. */
void batches_close(struct pst_context *ctx);
unsigned batch_room(const struct pst_batch *batch);
struct pst_context *batch_context(const struct pst_batch *batch);
/* There is room for all. */
void batch_submit(struct pst_batch *batch, const struct pst_io *ios, unsigned count);
unsigned batch_wait(struct pst_batch *batch, unsigned min_events, unsigned room,
		    struct pst_event *events, int64_t timeout_ns);

#endif

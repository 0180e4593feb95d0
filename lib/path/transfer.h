/* SPDX-License-Identifier: Apache-2.0 */
/* The ways into the pipeline for the api room. Arguments are checked. */
#ifndef PST_PATH_TRANSFER_H
#define PST_PATH_TRANSFER_H

#include "path/request.h"

/* One request, driven by the calling thread until it is done. Bytes or a code. */
ssize_t transfer_sync(const struct pst_io *io, struct pst_error *err);

/* The choice for a request that is not made. */
int transfer_explain(const struct pst_io *io, struct pst_plan *plan, struct pst_error *err);

/* host.c: a request between a file and host memory that storage can use as it is, in one or few
 * plain calls. false: not such a request, nothing done. */
bool host_transfer(struct lane *lane, struct request *request);

/* forked.c: host memory in a child of fork(): plain calls through the page cache, since locks,
 * rings and slots of the parent mean nothing here. */
ssize_t forked_transfer(const struct pst_io *io, struct pst_error *err);
int forked_explain(const struct pst_io *io, struct pst_plan *plan, struct pst_error *err);

/* Copies between any kinds of memory and waits. */
int transfer_copy(struct pst_context *ctx, void *to, const void *from, size_t bytes,
		  struct pst_error *err);

#endif

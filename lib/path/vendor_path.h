/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the vendor's cuFile library serves. */
#ifndef PST_PATH_VENDOR_PATH_H
#define PST_PATH_VENDOR_PATH_H

#include "path/choose.h"

/* Of a context: the vendor's library, opened by the first request that wants it. */
struct vendor_state;

struct vendor_state *vendor_state_new(void);
/* Closes the library. All files of the context are closed. */
void vendor_state_free(struct pst_context *ctx);

/*
 * Sets out->path to PST_PATH_DIRECT or PST_PATH_VENDOR when the library serves this file, else
 * leaves PST_PATH_NONE and adds the reasons. With PST_ENGINE_VENDOR a refusal is an error.
 */
int vendor_path_choose(struct pst_file *file, struct choice *out, struct pst_error *err);

/* Whether vendor_path_choose will call the library, which makes driver calls: the caller then has
 * a device scope open. */
bool vendor_path_will_open(const struct pst_file *file);

/* Carries out a request chosen so. base is registered with the library when the caller
 * registered it with us. Bytes or a code. */
ssize_t vendor_path_transfer(struct pst_file *file, enum pst_op op, void *base, size_t bytes,
			     off_t file_offset, off_t buffer_offset, struct pst_error *err);

/* Makes a buffer known to the library, if it is in use. Never fails: it is only faster so. */
void vendor_path_buffer(struct pst_context *ctx, void *base, bool add);

/* Closes the library's handle of a file, if there is one. */
void vendor_path_forget(struct pst_file *file);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which path a request takes, and why not a better one. */
#ifndef PST_PATH_CHOOSE_H
#define PST_PATH_CHOOSE_H

#include "core/buffers.h"
#include "core/file.h"

struct choice {
	enum pst_path path;
	uint64_t reasons; /* set of enum pst_reason */
	bool direct_fd;   /* storage goes through file->direct_fd */
};

/*
 * Chooses for a request on `target`. Opens the vendor's library and its handle of the file when
 * the context wants them. Fails only where the caller required what cannot be had
 * (PST_ENGINE_VENDOR, or a GPU in a forked child).
 */
int path_choose(struct pst_file *file, const struct target *target, size_t bytes, off_t file_offset,
		struct choice *out, struct pst_error *err);

#endif

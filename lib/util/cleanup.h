/* SPDX-License-Identifier: Apache-2.0 */
/* What a function owns is released when its scope ends. */
#ifndef PST_UTIL_CLEANUP_H
#define PST_UTIL_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define CLEANUP_FREE  __attribute__((cleanup(cleanup_free_)))
#define CLEANUP_CLOSE __attribute__((cleanup(cleanup_close_)))

#endif

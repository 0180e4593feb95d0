/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of an application that uses the NVIDIA driver itself, beside the library under test:
 * contexts, managed memory, stream capture. Loads the same driver, the fake one or the real one.
 */
#ifndef PST_TESTS_CUDA_APP_H
#define PST_TESTS_CUDA_APP_H

#include <stdbool.h>
#include <stddef.h>

struct cuda_app {
	int (*init)(unsigned flags);
	int (*ctx_create)(void **context, unsigned flags, int device);
	int (*ctx_destroy)(void *context);
	int (*ctx_get)(void **context);
	int (*ctx_set)(void *context);
	int (*managed_alloc)(unsigned long long *memory, size_t bytes, unsigned flags);
	int (*mem_free)(unsigned long long memory);
	int (*stream_create)(void **stream, unsigned flags, int priority);
	int (*stream_destroy)(void *stream);
	int (*capture_begin)(void *stream, int mode);
	int (*capture_end)(void *stream, void **graph);
	int (*graph_destroy)(void *graph);
	int (*host_register)(void *memory, size_t bytes, unsigned flags);
	int (*host_unregister)(void *memory);
};

/* Loads the library that PENSTOCK_LIBCUDA names, else libcuda.so.1. *library, if not NULL, is
 * its dlopen handle. */
bool cuda_app_load(struct cuda_app *app, void **library);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_app.h"

#include <dlfcn.h>
#include <stdlib.h>

bool cuda_app_load(struct cuda_app *app, void **library)
{
	const char *name = getenv("PENSTOCK_LIBCUDA");
	void *handle = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	const struct {
		const char *name;
		void *place;
	} entries[] = {
		{"cuInit", &app->init},
		{"cuCtxCreate_v2", &app->ctx_create},
		{"cuCtxDestroy_v2", &app->ctx_destroy},
		{"cuCtxGetCurrent", &app->ctx_get},
		{"cuCtxSetCurrent", &app->ctx_set},
		{"cuMemAllocManaged", &app->managed_alloc},
		{"cuMemFree_v2", &app->mem_free},
		{"cuStreamCreateWithPriority", &app->stream_create},
		{"cuStreamDestroy_v2", &app->stream_destroy},
		{"cuStreamBeginCapture_v2", &app->capture_begin},
		{"cuStreamEndCapture", &app->capture_end},
		{"cuGraphDestroy", &app->graph_destroy},
		{"cuMemHostRegister_v2", &app->host_register},
		{"cuMemHostUnregister", &app->host_unregister},
	};

	if (!handle)
		return false;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		*(void **)entries[i].place = dlsym(handle, entries[i].name);
		if (!*(void **)entries[i].place)
			return false;
	}
	if (library)
		*library = handle;
	return app->init(0) == 0;
}

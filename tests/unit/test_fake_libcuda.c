/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver by itself: it refuses what the real one refuses, and its streams run beside
 * the caller and each other. */
#include "../fakes/libcuda/fakecuda.h"
#include "cuda_app.h"
#include "device/cuda/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES ((size_t)65536)

static struct cuda_app app;
static struct cuda_calls cu;
static bool (*set_fault)(const char *text);
/* Looks at an event until what is before it has ended. */
static int wait_for(cu_event event)
{
	int status;

	do
		status = cu.cuEventQuery(event);
	while (status == CU_NOT_READY);
	return status;
}

static void *(*peek)(const void *address);

static int in_context(void **state)
{
	void *context = NULL;

	if (app.ctx_create(&context, 0, 0) != 0)
		return -1;
	*state = context;
	return 0;
}

static int out_of_context(void **state)
{
	set_fault(NULL);
	return app.ctx_destroy(*state);
}

static void *number(uint64_t value)
{
	return (void *)(uintptr_t)value;
}

static void needs_context(void **state)
{
	cu_pointer memory;
	cu_stream stream;
	cu_event event;
	void *host;

	(void)state;
	assert_int_equal(cu.cuMemAlloc_v2(&memory, BYTES), CU_INVALID_CONTEXT);
	assert_int_equal(cu.cuMemHostAlloc(&host, BYTES, 0), CU_INVALID_CONTEXT);
	assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), CU_INVALID_CONTEXT);
	assert_int_equal(cu.cuEventCreate(&event, 0), CU_INVALID_CONTEXT);
	assert_int_equal(cu.cuCtxPopCurrent_v2(NULL), CU_INVALID_CONTEXT);
	assert_int_equal(cu.cuCtxPushCurrent_v2(number(0x1238)), CU_INVALID_CONTEXT);
}

static void stale_handles(void **state)
{
	cu_stream stream;
	cu_event event;

	(void)state;
	assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), 0);
	assert_int_equal(cu.cuEventCreate(&event, 2), 0);
	assert_int_equal(cu.cuEventRecord(event, stream), 0);
	assert_int_equal(wait_for(event), 0);
	assert_int_equal(cu.cuStreamDestroy_v2(stream), 0);
	assert_int_equal(cu.cuStreamDestroy_v2(stream), CU_INVALID_HANDLE);
	assert_int_equal(cu.cuEventRecord(event, stream), CU_INVALID_HANDLE);
	assert_int_equal(cu.cuEventDestroy_v2(event), 0);
	assert_int_equal(cu.cuEventQuery(event), CU_INVALID_HANDLE);
	assert_int_equal(cu.cuEventDestroy_v2(event), CU_INVALID_HANDLE);
	assert_int_equal(cu.cuEventQuery(number(0)), CU_INVALID_HANDLE);
}

static void ranges(void **state)
{
	cu_pointer memory;
	cu_stream stream;
	char *host = calloc(1, BYTES);

	(void)state;
	assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), 0);
	assert_int_equal(cu.cuMemAlloc_v2(&memory, 0), CU_INVALID_VALUE);
	assert_int_equal(cu.cuMemAlloc_v2(&memory, BYTES), 0);
	assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, host, BYTES, stream), 0);
	assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory + 1, host, BYTES, stream),
			 CU_INVALID_VALUE);
	assert_int_equal(cu.cuMemcpyDtoHAsync_v2(host, memory - 1, 2, stream), CU_INVALID_VALUE);
	assert_int_equal(cu.cuMemcpyDtoDAsync_v2(memory + BYTES - 1, memory, 2, stream),
			 CU_INVALID_VALUE);
	assert_int_equal(cu.cuMemFree_v2(memory + 1), CU_INVALID_VALUE);
	assert_int_equal(cu.cuMemFree_v2(memory), 0);
	assert_int_equal(cu.cuMemFree_v2(memory), CU_INVALID_VALUE);
	assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, host, 1, stream), CU_INVALID_VALUE);
	assert_int_equal(cu.cuMemHostUnregister(host), CU_NOT_REGISTERED);
	assert_int_equal(cu.cuStreamDestroy_v2(stream), 0);
	free(host);
}

/* The kernel, asked to read a device address as the CPU would, finds nothing there. */
static void device_memory_out_of_reach(void **state)
{
	cu_pointer memory;
	int ends[2];

	(void)state;
	assert_int_equal(cu.cuMemAlloc_v2(&memory, BYTES), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], number(memory), 1), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(write(ends[1], peek(number(memory)), 1), 1);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(cu.cuMemFree_v2(memory), 0);
}

/* The first stream's copy takes long; the second's is done meanwhile. */
static void streams_run_beside_each_other(void **state)
{
	cu_pointer memory;
	cu_stream streams[2];
	cu_event events[2];
	void *host;

	(void)state;
	assert_int_equal(cu.cuMemAlloc_v2(&memory, BYTES), 0);
	assert_int_equal(cu.cuMemHostAlloc(&host, BYTES, 0), 0);
	memset(host, 0x33, BYTES);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(cu.cuStreamCreateWithPriority(&streams[i], 1, 0), 0);
		assert_int_equal(cu.cuEventCreate(&events[i], 3), 0);
	}
	assert_true(set_fault("stream_copy:1:delay_us=800000"));
	assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, host, 100, streams[0]), 0);
	assert_int_equal(cu.cuEventRecord(events[0], streams[0]), 0);
	/* Only once the first has met its delay may the second come. */
	usleep(150000);
	assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory + 200, host, 100, streams[1]), 0);
	assert_int_equal(cu.cuEventRecord(events[1], streams[1]), 0);
	assert_int_equal(wait_for(events[1]), 0);
	assert_int_equal(cu.cuEventQuery(events[0]), CU_NOT_READY);
	assert_memory_equal(peek(number(memory + 200)), host, 100);

	/* Freeing waits for the copy that still uses the memory. */
	assert_int_equal(cu.cuMemFree_v2(memory), 0);
	assert_int_equal(cu.cuEventQuery(events[0]), 0);
	assert_int_equal(cu.cuMemFreeHost(host), 0);
	/* What is left goes with the context. */
}

/* Plain host memory has been read when the call returns, page-locked memory has not. */
static void plain_memory_is_copied_at_once(void **state)
{
	cu_pointer memory;
	cu_stream stream;
	cu_event event;
	char plain[64] = "plain";
	void *host;

	(void)state;
	assert_int_equal(cu.cuMemAlloc_v2(&memory, BYTES), 0);
	assert_int_equal(cu.cuMemHostAlloc(&host, BYTES, 0), 0);
	assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), 0);
	assert_int_equal(cu.cuEventCreate(&event, 3), 0);
	assert_true(set_fault("stream_copy:*:delay_us=100000"));
	assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, plain, sizeof(plain), stream), 0);
	assert_string_equal(peek(number(memory)), "plain");
	memcpy(host, "locked", 7);
	assert_int_equal(cu.cuMemcpyHtoDAsync_v2(memory, host, 7, stream), 0);
	assert_int_equal(cu.cuEventRecord(event, stream), 0);
	assert_int_equal(cu.cuEventQuery(event), CU_NOT_READY);
	assert_int_equal(wait_for(event), 0);
	assert_string_equal(peek(number(memory)), "locked");
	assert_int_equal(cu.cuMemFreeHost(host), 0);
	assert_int_equal(cu.cuMemFree_v2(memory), 0);
}

static bool load(void)
{
	void *library;

	if (!cuda_app_load(&app, &library))
		return false;
#define FIND(name, arguments) *(void **)&cu.name = dlsym(library, #name);
	CUDA_CALLS(FIND)
	CUDA_OPTIONAL_CALLS(FIND)
#undef FIND
	*(void **)&set_fault = dlsym(library, "fakecuda_fault");
	*(void **)&peek = dlsym(library, "fakecuda_peek");
	return set_fault && peek;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_context),
		cmocka_unit_test_setup_teardown(stale_handles, in_context, out_of_context),
		cmocka_unit_test_setup_teardown(ranges, in_context, out_of_context),
		cmocka_unit_test_setup_teardown(device_memory_out_of_reach, in_context,
						out_of_context),
		cmocka_unit_test_setup_teardown(streams_run_beside_each_other, in_context,
						out_of_context),
		cmocka_unit_test_setup_teardown(plain_memory_is_copied_at_once, in_context,
						out_of_context),
	};

	if (!load()) {
		fprintf(stderr, "cannot load the fake driver\n");
		return 1;
	}
	return cmocka_run_group_tests_name("fake-libcuda", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "device_cases_cuda.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define BYTES ((size_t)100003)

#define APP(call) assert_int_equal((call), 0)

bool cuda_bench_open(struct cuda_bench *bench, struct pst_error *err)
{
	if (!device_bench_open(&bench->device, &dev_cuda_ops, err))
		return false;
	if (cuda_app_load(&bench->app, &bench->library))
		return true;
	snprintf(err->message, sizeof(err->message), "the test cannot load the driver itself");
	device_bench_close(&bench->device);
	return false;
}

void cuda_bench_close(struct cuda_bench *bench)
{
	device_bench_close(&bench->device);
}

static void *current(const struct cuda_bench *bench)
{
	void *context = NULL;

	APP(bench->app.ctx_get(&context));
	return context;
}

/* Copies into device memory and back through `queue`; true when the bytes are the same. */
static bool round_trip(const struct dev_ops *ops, struct dev_queue *queue, void *device,
		       struct pst_error *err)
{
	unsigned char *in = malloc(BYTES);
	unsigned char *out = calloc(1, BYTES);
	struct dev_mark *mark = NULL;
	struct dev_scope scope;
	bool good = false;

	for (size_t i = 0; i < BYTES; i++)
		in[i] = (unsigned char)(i * 7 + 3);
	if (ops->enter(queue, &scope, err) == 0) {
		good = ops->mark_new(queue, &mark, err) == 0 &&
		       ops->copy_in(queue, device, in, BYTES, err) == 0 &&
		       ops->copy_out(queue, out, device, BYTES, err) == 0 &&
		       ops->mark_set(queue, mark, err) == 0 && ops->mark_wait(mark, err) == 0 &&
		       memcmp(in, out, BYTES) == 0;
		ops->leave(queue, &scope);
	}
	ops->mark_free(mark);
	free(in);
	free(out);
	return good;
}

/* Every kind of call, once. */
static bool use_everything(const struct cuda_bench *bench, void *context, struct pst_error *err)
{
	const struct dev_ops *ops = bench->device.ops;
	struct dev_gpu *gpu = bench->device.gpu;
	struct dev_queue *queue = NULL;
	struct dev_pointer at;
	void *device = NULL;
	void *mapped = NULL;
	void *pinned = NULL;
	void *plain = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool good = ops->queue_open(gpu, context, &queue, err) == 0 &&
		    ops->alloc(gpu, PST_MEMORY_DEVICE, BYTES, &device, err) == 0 &&
		    ops->alloc(gpu, PST_MEMORY_DEVICE_VMM, BYTES, &mapped, err) == 0 &&
		    ops->alloc(gpu, PST_MEMORY_PINNED, BYTES, &pinned, err) == 0 &&
		    ops->pin(gpu, plain, BYTES, err) == 0 &&
		    ops->lookup(bench->device.driver, device, &at, err) == 0 &&
		    round_trip(ops, queue, device, err) && round_trip(ops, queue, mapped, err) &&
		    ops->unpin(gpu, plain, err) == 0 &&
		    ops->free(gpu, PST_MEMORY_PINNED, pinned, BYTES, err) == 0 &&
		    ops->free(gpu, PST_MEMORY_DEVICE_VMM, mapped, BYTES, err) == 0 &&
		    ops->free(gpu, PST_MEMORY_DEVICE, device, BYTES, err) == 0;

	ops->queue_close(queue);
	munmap(plain, BYTES);
	return good;
}

static void case_no_context_before_or_after(void **state)
{
	const struct cuda_bench *bench = *state;

	assert_null(current(bench));
	assert_true(use_everything(bench, NULL, &why));
	assert_null(current(bench));
}

static void case_callers_context_used_and_kept(void **state)
{
	const struct cuda_bench *bench = *state;
	const struct dev_ops *ops = bench->device.ops;
	struct dev_pointer at;
	void *context = NULL;
	void *memory = NULL;

	APP(bench->app.ctx_create(&context, 0, 0));
	assert_true(use_everything(bench, NULL, &why));
	assert_ptr_equal(current(bench), context);
	OK(ops->alloc(bench->device.gpu, PST_MEMORY_DEVICE, BYTES, &memory, &why));
	OK(ops->lookup(bench->device.driver, memory, &at, &why));
	assert_ptr_equal(at.context, context);
	OK(ops->free(bench->device.gpu, PST_MEMORY_DEVICE, memory, BYTES, &why));
	APP(bench->app.ctx_destroy(context));
	assert_null(current(bench));
}

/* Memory of one context is served while another is current. */
static void case_owning_context_used(void **state)
{
	const struct cuda_bench *bench = *state;
	const struct dev_ops *ops = bench->device.ops;
	struct dev_queue *queue = NULL;
	struct dev_pointer at;
	void *owner = NULL;
	void *other = NULL;
	void *memory = NULL;

	APP(bench->app.ctx_create(&owner, 0, 0));
	OK(ops->alloc(bench->device.gpu, PST_MEMORY_DEVICE, BYTES, &memory, &why));
	APP(bench->app.ctx_create(&other, 0, 0));
	OK(ops->lookup(bench->device.driver, memory, &at, &why));
	assert_ptr_equal(at.context, owner);
	OK(ops->queue_open(bench->device.gpu, at.context, &queue, &why));
	assert_true(round_trip(ops, queue, memory, &why));
	assert_ptr_equal(current(bench), other);
	OK(ops->free(bench->device.gpu, PST_MEMORY_DEVICE, memory, BYTES, &why));
	assert_ptr_equal(current(bench), other);
	ops->queue_close(queue);
	APP(bench->app.ctx_destroy(other));
	APP(bench->app.ctx_destroy(owner));
	assert_null(current(bench));
}

static void case_context_destroyed_under_us(void **state)
{
	const struct cuda_bench *bench = *state;
	const struct dev_ops *ops = bench->device.ops;
	struct dev_queue *queue = NULL;
	struct dev_mark *mark = NULL;
	struct dev_scope scope;
	struct pst_error err = {0};
	void *context = NULL;

	APP(bench->app.ctx_create(&context, 0, 0));
	OK(ops->queue_open(bench->device.gpu, context, &queue, &why));
	OK(ops->enter(queue, &scope, &why));
	OK(ops->mark_new(queue, &mark, &why));
	ops->leave(queue, &scope);
	APP(bench->app.ctx_destroy(context));

	assert_int_equal(ops->enter(queue, &scope, &err), PST_E_DEVICE_DRIVER);
	assert_true(err.device_status != 0);
	assert_true(strlen(err.message) > 0);
	ops->mark_free(mark);
	ops->queue_close(queue);
	assert_null(current(bench));
	assert_true(use_everything(bench, NULL, &why));
}

static void case_managed_memory(void **state)
{
	const struct cuda_bench *bench = *state;
	const struct dev_ops *ops = bench->device.ops;
	struct dev_queue *queue = NULL;
	struct dev_pointer at;
	unsigned long long memory = 0;
	void *context = NULL;

	APP(bench->app.ctx_create(&context, 0, 0));
	APP(bench->app.managed_alloc(&memory, BYTES, 1));
	OK(ops->lookup(bench->device.driver, (char *)(uintptr_t)memory + 17, &at, &why));
	assert_int_equal(at.memory, DEV_MEMORY_MANAGED);
	assert_int_equal(at.base, memory);
	assert_true(at.bytes >= BYTES);
	OK(ops->queue_open(bench->device.gpu, at.context, &queue, &why));
	assert_true(round_trip(ops, queue, (void *)(uintptr_t)memory, &why));
	ops->queue_close(queue);
	APP(bench->app.mem_free(memory));
	APP(bench->app.ctx_destroy(context));
}

/* What the application has pinned stays pinned. */
static void case_foreign_pin_kept(void **state)
{
	const struct cuda_bench *bench = *state;
	const struct dev_ops *ops = bench->device.ops;
	struct dev_pointer at;
	void *context = NULL;
	void *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	APP(bench->app.ctx_create(&context, 0, 0));
	APP(bench->app.host_register(memory, BYTES, 1));
	OK(ops->pin(bench->device.gpu, memory, BYTES, &why));
	OK(ops->unpin(bench->device.gpu, memory, &why));
	OK(ops->lookup(bench->device.driver, memory, &at, &why));
	assert_int_equal(at.memory, DEV_MEMORY_PINNED);
	APP(bench->app.host_unregister(memory));
	OK(ops->lookup(bench->device.driver, memory, &at, &why));
	assert_int_equal(at.memory, DEV_MEMORY_HOST);
	munmap(memory, BYTES);
	APP(bench->app.ctx_destroy(context));
}

/* A thread of the application that captures while we work. */
struct capturer {
	const struct cuda_bench *bench;
	pthread_barrier_t begun;
	pthread_barrier_t used;
	int failures;
	int end_status;
};

static void *capture(void *arg)
{
	struct capturer *capturer = arg;
	const struct cuda_app *app = &capturer->bench->app;
	void *context = NULL;
	void *stream = NULL;
	void *graph = NULL;

	capturer->failures += app->ctx_create(&context, 0, 0) != 0;
	capturer->failures += app->stream_create(&stream, 1, 0) != 0;
	capturer->failures += app->capture_begin(stream, 0) != 0;
	pthread_barrier_wait(&capturer->begun);
	pthread_barrier_wait(&capturer->used);
	capturer->end_status = app->capture_end(stream, &graph);
	if (graph)
		capturer->failures += app->graph_destroy(graph) != 0;
	capturer->failures += app->stream_destroy(stream) != 0;
	capturer->failures += app->ctx_destroy(context) != 0;
	return NULL;
}

/* Runs `use` while another thread captures; what the end of the capture gave. */
static int capture_during(const struct cuda_bench *bench,
			  bool (*use)(const struct cuda_bench *, void *, struct pst_error *),
			  bool *used)
{
	struct capturer capturer = {.bench = bench};
	pthread_t thread;

	pthread_barrier_init(&capturer.begun, NULL, 2);
	pthread_barrier_init(&capturer.used, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, capture, &capturer), 0);
	pthread_barrier_wait(&capturer.begun);
	*used = use(bench, NULL, &why);
	pthread_barrier_wait(&capturer.used);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&capturer.begun);
	pthread_barrier_destroy(&capturer.used);
	assert_int_equal(capturer.failures, 0);
	return capturer.end_status;
}

static bool allocate_without_care(const struct cuda_bench *bench, void *context,
				  struct pst_error *err)
{
	unsigned long long memory = 0;
	void *made = NULL;
	int status;

	(void)context;
	(void)err;
	if (bench->app.ctx_create(&made, 0, 0) != 0)
		return false;
	status = bench->app.managed_alloc(&memory, BYTES, 1);
	if (status == 0)
		bench->app.mem_free(memory);
	bench->app.ctx_destroy(made);
	return status == 0;
}

static void case_capture_of_another_thread(void **state)
{
	const struct cuda_bench *bench = *state;
	bool used;

	assert_int_equal(capture_during(bench, use_everything, &used), 0);
	if (!used)
		fail_msg("%d: %s", why.code, why.message);
	/* The same without the library's care spoils it: the case can tell. */
	assert_int_not_equal(capture_during(bench, allocate_without_care, &used), 0);
	assert_false(used);
}

static void case_names_of_device(void **state)
{
	const struct cuda_bench *bench = *state;
	const struct dev_ops *ops = bench->device.ops;
	struct pst_device_info info = {.size_bytes = sizeof(info)};
	char start[24];

	OK(ops->describe(bench->device.driver, 0, &info, &why));
	assert_int_equal(strlen(info.uuid), 40);
	assert_true(strlen(info.bus_id) >= 12);
	assert_int_equal(dev_find(ops, bench->device.driver, info.uuid, &why), 0);
	assert_int_equal(dev_find(ops, bench->device.driver, info.bus_id, &why), 0);
	snprintf(start, sizeof(start), "%.12s", info.uuid);
	assert_int_equal(dev_find(ops, bench->device.driver, start, &why), 0);
}

int device_cases_cuda_run(struct cuda_bench *bench, const char *group_name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(case_no_context_before_or_after, bench),
		cmocka_unit_test_prestate(case_callers_context_used_and_kept, bench),
		cmocka_unit_test_prestate(case_owning_context_used, bench),
		cmocka_unit_test_prestate(case_context_destroyed_under_us, bench),
		cmocka_unit_test_prestate(case_managed_memory, bench),
		cmocka_unit_test_prestate(case_foreign_pin_kept, bench),
		cmocka_unit_test_prestate(case_capture_of_another_thread, bench),
		cmocka_unit_test_prestate(case_names_of_device, bench),
	};

	return _cmocka_run_group_tests(group_name, tests, sizeof(tests) / sizeof(tests[0]), NULL,
				       NULL);
}

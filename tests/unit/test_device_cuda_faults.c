/* SPDX-License-Identifier: Apache-2.0 */
/* The NVIDIA backend when driver calls fail or are slow: the error says which and why, nothing
 * is left behind, and the rules for driver calls hold. On the fake driver only. */
#include "../fakes/libcuda/fakecuda.h"
#include "device/cuda/driver.h"
#include "device_cases_cuda.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include <cmocka.h>

#define BYTES 8192

static struct {
	bool (*fault)(const char *text);
	long (*calls)(const char *name);
	long (*calls_total)(void);
	long (*not_relaxed)(void);
	int (*depth)(void);
	long (*live)(enum fakecuda_kind kind);
	void *(*peek)(const void *address);
} fake;

static struct cuda_bench bench;
static const struct dev_ops *const ops = &dev_cuda_ops;

static void fake_load(void)
{
	*(void **)&fake.fault = dlsym(bench.library, "fakecuda_fault");
	*(void **)&fake.calls = dlsym(bench.library, "fakecuda_calls");
	*(void **)&fake.calls_total = dlsym(bench.library, "fakecuda_calls_total");
	*(void **)&fake.not_relaxed = dlsym(bench.library, "fakecuda_calls_not_relaxed");
	*(void **)&fake.depth = dlsym(bench.library, "fakecuda_context_depth");
	*(void **)&fake.live = dlsym(bench.library, "fakecuda_live");
	*(void **)&fake.peek = dlsym(bench.library, "fakecuda_peek");
}

static int no_faults(void **state)
{
	(void)state;
	return fake.fault(NULL) ? 0 : -1;
}

/* The fake has every entry point that the library asks for. */
static void fake_is_complete(void **state)
{
	static const char *const names[] = {
#define NAME(name, arguments) #name,
		CUDA_CALLS(NAME) CUDA_OPTIONAL_CALLS(NAME)
#undef NAME
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fake.calls(names[i]) < 0)
			fail_msg("the fake driver does not count %s", names[i]);
		if (!dlsym(bench.library, names[i]))
			fail_msg("the fake driver does not export %s", names[i]);
	}
	assert_int_equal(fake.calls("cuCtxSynchronize"), -1);
}

static void fault_texts(void **state)
{
	static const char *const bad[] = {"cuInit",          "cuInit:1",        "cuInit:0:fail=1",
					  "cuNone:1:fail=1", "cuInit:1:fail=0", "cuInit:x:fail=1",
					  "cuInit:1:slow=3"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(fake.fault(bad[i]));
	assert_true(fake.fault("cuInit:2:fail=3;cuEventQuery:*:delay_us=1"));
}

static long live_all(void)
{
	long sum = 0;

	for (int kind = 0; kind < FAKECUDA_KIND_COUNT; kind++)
		sum += fake.live(kind);
	return sum;
}

static void check_error(const struct pst_error *err, int status, const char *call, const char *name)
{
	assert_int_equal(err->code, PST_E_DEVICE_DRIVER);
	assert_int_equal(err->device_status, status);
	assert_non_null(strstr(err->message, call));
	assert_non_null(strstr(err->message, name));
	assert_string_equal(err->object, "GPU 0 (2000:06:00.0)");
	assert_int_equal(fake.depth(), 0);
}

/* Each call that an allocation of a kind makes fails once: an error, and nothing is left. */
static void allocations_fail(void **state)
{
	static const struct {
		enum pst_memory_kind kind;
		const char *call;
	} cases[] = {
		{PST_MEMORY_DEVICE, "cuMemAlloc_v2"},
		{PST_MEMORY_PINNED, "cuMemHostAlloc"},
		{PST_MEMORY_DEVICE_VMM, "cuMemGetAllocationGranularity"},
		{PST_MEMORY_DEVICE_VMM, "cuMemAddressReserve"},
		{PST_MEMORY_DEVICE_VMM, "cuMemCreate"},
		{PST_MEMORY_DEVICE_VMM, "cuMemMap"},
		{PST_MEMORY_DEVICE_VMM, "cuMemSetAccess"},
		{PST_MEMORY_DEVICE, "cuCtxPushCurrent_v2"},
	};
	struct pst_error err;
	void *memory;

	(void)state;
	/* The primary context stays from here on. */
	assert_int_equal(ops->alloc(bench.device.gpu, PST_MEMORY_DEVICE, 1, &memory, &err), 0);
	assert_int_equal(ops->free(bench.device.gpu, PST_MEMORY_DEVICE, memory, 1, &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		long before = live_all();
		char fault[64];
		char call[64];

		err = (struct pst_error){0};
		snprintf(fault, sizeof(fault), "%s:1:fail=2", cases[i].call);
		assert_true(fake.fault(fault));
		assert_int_equal(ops->alloc(bench.device.gpu, cases[i].kind, BYTES, &memory, &err),
				 PST_E_DEVICE_DRIVER);
		assert_null(memory);
		snprintf(call, sizeof(call), "%.*s", (int)strcspn(cases[i].call, "_"),
			 cases[i].call);
		check_error(&err, 2, call, "CUDA_ERROR_OUT_OF_MEMORY");
		assert_int_equal(live_all(), before);

		/* The next one is well again. */
		assert_int_equal(ops->alloc(bench.device.gpu, cases[i].kind, BYTES, &memory, &err),
				 0);
		assert_int_equal(ops->free(bench.device.gpu, cases[i].kind, memory, BYTES, &err),
				 0);
		assert_int_equal(live_all(), before);
	}
}

static void memory_runs_out(void **state)
{
	struct pst_error err = {0};
	void *memory;

	(void)state;
	/* More than the fake device has. */
	assert_int_equal(
		ops->alloc(bench.device.gpu, PST_MEMORY_DEVICE, (size_t)17 << 30, &memory, &err),
		PST_E_DEVICE_DRIVER);
	check_error(&err, 2, "cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY");
}

static void pins_fail(void **state)
{
	struct pst_error err = {0};
	void *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(fake.fault("cuMemHostRegister_v2:1:fail=801"));
	assert_int_equal(ops->pin(bench.device.gpu, memory, BYTES, &err), PST_E_DEVICE_DRIVER);
	check_error(&err, 801, "cuMemHostRegister", "CUDA_ERROR_NOT_SUPPORTED");
	assert_int_equal(fake.live(FAKECUDA_PINS), 0);
	munmap(memory, BYTES);
}

/* A queue, memory and a mark in a context of the application, which may be broken. */
struct line {
	void *context;
	struct dev_queue *queue;
	struct dev_mark *mark;
	void *device;
	void *host;
};

static struct line line_open(void)
{
	struct line line = {0};
	struct dev_scope scope;
	struct dev_gpu *gpu = bench.device.gpu;

	assert_int_equal(bench.app.ctx_create(&line.context, 0, 0), 0);
	assert_int_equal(ops->queue_open(gpu, NULL, &line.queue, NULL), 0);
	assert_int_equal(ops->alloc(gpu, PST_MEMORY_DEVICE, BYTES, &line.device, NULL), 0);
	assert_int_equal(ops->alloc(gpu, PST_MEMORY_PINNED, BYTES, &line.host, NULL), 0);
	assert_int_equal(bench.app.ctx_set(NULL), 0);
	assert_int_equal(ops->enter(line.queue, &scope, NULL), 0);
	assert_int_equal(ops->mark_new(line.queue, &line.mark, NULL), 0);
	ops->leave(line.queue, &scope);
	memset(line.host, 0x41, BYTES);
	return line;
}

/* Memory goes with the context. */
static void line_close(struct line *line)
{
	ops->mark_free(line->mark);
	ops->queue_close(line->queue);
	assert_int_equal(bench.app.ctx_destroy(line->context), 0);
}

/* What one step gave. */
typedef int (*step_fn)(struct line *line, struct pst_error *err);

static int step_in(struct line *line, struct pst_error *err)
{
	return ops->copy_in(line->queue, line->device, line->host, BYTES, err);
}

static int step_out(struct line *line, struct pst_error *err)
{
	return ops->copy_out(line->queue, line->host, line->device, BYTES, err);
}

static int step_within(struct line *line, struct pst_error *err)
{
	return ops->copy_within(line->queue, line->device, (char *)line->device + 4096, 4096, err);
}

static int step_set(struct line *line, struct pst_error *err)
{
	return ops->mark_set(line->queue, line->mark, err);
}

static int step_poll(struct line *line, struct pst_error *err)
{
	return ops->mark_poll(line->mark, err);
}

static int step_wait(struct line *line, struct pst_error *err)
{
	int rc = ops->mark_set(line->queue, line->mark, err);

	return rc < 0 ? rc : ops->mark_wait(line->mark, err);
}

static void copies_and_marks_fail(void **state)
{
	static const struct {
		step_fn step;
		const char *call;
		const char *fault;
	} cases[] = {
		{step_in, "cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2:1:fail=700"},
		{step_out, "cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2:1:fail=700"},
		{step_within, "cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2:1:fail=700"},
		{step_set, "cuEventRecord", "cuEventRecord:1:fail=700"},
		{step_poll, "cuEventQuery", "cuEventQuery:1:fail=700"},
		{step_wait, "cuEventQuery", "cuEventQuery:1:fail=700"},
		{step_wait, "cuEventQuery", "cuEventQuery:1:fail=600;cuEventQuery:2:fail=700"},
	};
	struct line line = line_open();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pst_error err = {0};
		struct dev_scope scope;

		assert_int_equal(ops->enter(line.queue, &scope, NULL), 0);
		assert_int_equal(fake.depth(), 1);
		assert_true(fake.fault(cases[i].fault));
		assert_int_equal(cases[i].step(&line, &err), PST_E_DEVICE_DRIVER);
		assert_true(fake.fault(NULL));
		ops->leave(line.queue, &scope);
		check_error(&err, 700, cases[i].call, "CUDA_ERROR_ILLEGAL_ADDRESS");
		assert_int_equal(err.stage, PST_STAGE_COPY);
		assert_non_null(strstr(err.message, "restart the program"));
	}
	line_close(&line);
}

static void opening_fails(void **state)
{
	struct dev_queue *queue = NULL;
	struct pst_error err = {0};
	struct line line;
	struct dev_scope scope;
	struct dev_mark *mark;
	long before = live_all();

	(void)state;
	assert_true(fake.fault("cuStreamCreateWithPriority:1:fail=2"));
	assert_int_equal(ops->queue_open(bench.device.gpu, NULL, &queue, &err),
			 PST_E_DEVICE_DRIVER);
	check_error(&err, 2, "cuStreamCreateWithPriority", "CUDA_ERROR_OUT_OF_MEMORY");
	assert_null(queue);

	line = line_open();
	assert_true(fake.fault("cuEventCreate:1:fail=2"));
	assert_int_equal(ops->enter(line.queue, &scope, NULL), 0);
	assert_int_equal(ops->mark_new(line.queue, &mark, &err), PST_E_DEVICE_DRIVER);
	ops->leave(line.queue, &scope);
	check_error(&err, 2, "cuEventCreate", "CUDA_ERROR_OUT_OF_MEMORY");
	assert_null(mark);

	assert_true(fake.fault("cuThreadExchangeStreamCaptureMode:1:fail=3"));
	assert_int_equal(ops->enter(line.queue, &scope, &err), PST_E_DEVICE_DRIVER);
	assert_int_equal(err.device_status, 3);
	line_close(&line);
	assert_int_equal(live_all(), before);
}

/* A copy that fails while the GPU does it shows in the mark behind it, and from then on. */
static void copy_breaks_context(void **state)
{
	struct line line = line_open();
	struct pst_error err = {0};
	struct dev_scope scope;

	(void)state;
	assert_true(fake.fault("stream_copy:1:fail=700"));
	assert_int_equal(ops->enter(line.queue, &scope, NULL), 0);
	assert_int_equal(step_in(&line, NULL), 0);
	assert_int_equal(step_wait(&line, &err), PST_E_DEVICE_DRIVER);
	assert_int_equal(err.device_status, 700);
	assert_int_equal(step_in(&line, &err), PST_E_DEVICE_DRIVER);
	ops->leave(line.queue, &scope);
	check_error(&err, 700, "cuMemcpyHtoDAsync", "CUDA_ERROR_ILLEGAL_ADDRESS");
	line_close(&line);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A copy that takes 50 ms: queueing it does not wait, the mark does. */
static void slow_copy(void **state)
{
	struct line line = line_open();
	struct dev_scope scope;
	double start = seconds();
	int slack_ns = prctl(PR_GET_TIMERSLACK);

	(void)state;
	assert_true(fake.fault("stream_copy:*:delay_us=50000"));
	assert_int_equal(ops->enter(line.queue, &scope, NULL), 0);
	assert_int_equal(step_in(&line, NULL), 0);
	assert_int_equal(step_set(&line, NULL), 0);
	assert_int_equal(step_poll(&line, NULL), 0);
	assert_int_equal(ops->mark_wait(line.mark, NULL), 0);
	assert_true(seconds() - start >= 0.05);
	assert_int_equal(step_poll(&line, NULL), 1);
	ops->leave(line.queue, &scope);
	assert_memory_equal(fake.peek(line.device), line.host, BYTES);
	/* Longer than the spin: the thread slept, and has its own timer slack again. */
	assert_int_equal(prctl(PR_GET_TIMERSLACK), slack_ns);
	line_close(&line);
}

static void every_call_relaxed(void **state)
{
	long before;
	struct line line = line_open();
	struct dev_scope scope;
	struct dev_pointer at;
	void *memory;

	(void)state;
	before = fake.not_relaxed();
	assert_int_equal(ops->enter(line.queue, &scope, NULL), 0);
	assert_int_equal(step_in(&line, NULL), 0);
	assert_int_equal(step_wait(&line, NULL), 0);
	ops->leave(line.queue, &scope);
	assert_int_equal(ops->lookup(bench.device.driver, line.device, &at, NULL), 0);
	for (int kind = PST_MEMORY_DEVICE; kind <= PST_MEMORY_PINNED; kind++) {
		assert_int_equal(ops->alloc(bench.device.gpu, kind, BYTES, &memory, NULL), 0);
		assert_int_equal(ops->free(bench.device.gpu, kind, memory, BYTES, NULL), 0);
	}
	ops->mark_free(line.mark);
	ops->queue_close(line.queue);
	assert_int_equal(fake.not_relaxed(), before);
	/* The count does count. */
	assert_int_equal(bench.app.ctx_destroy(line.context), 0);
	assert_true(fake.not_relaxed() > before);
}

/* Loading, counting, describing, finding and looking up make no context. */
static void no_context_made(void **state)
{
	struct dev_driver *driver;
	struct dev_gpu *gpu;
	struct pst_device_info info = {.size_bytes = sizeof(info)};
	struct dev_pointer at;
	long retains = fake.calls("cuDevicePrimaryCtxRetain");
	long creates = fake.calls("cuCtxCreate_v2");
	long not_relaxed = fake.not_relaxed();
	long total;

	(void)state;
	assert_int_equal(ops->load(&driver, NULL), 0);
	assert_int_equal(ops->count(driver), 1);
	assert_int_equal(ops->describe(driver, 0, &info, NULL), 0);
	assert_int_equal(dev_find(ops, driver, info.uuid, NULL), 0);
	assert_int_equal(ops->lookup(driver, &info, &at, NULL), 0);
	assert_int_equal(ops->gpu_open(driver, 0, &gpu, NULL), 0);
	ops->gpu_close(gpu);
	ops->unload(driver);
	assert_int_equal(fake.calls("cuDevicePrimaryCtxRetain"), retains);
	assert_int_equal(fake.calls("cuCtxCreate_v2"), creates);
	assert_int_equal(fake.not_relaxed(), not_relaxed);
	total = fake.calls_total();
	ops->unload(NULL);
	assert_int_equal(fake.calls_total(), total);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fake_is_complete, no_faults),
		cmocka_unit_test_teardown(fault_texts, no_faults),
		cmocka_unit_test_teardown(no_context_made, no_faults),
		cmocka_unit_test_teardown(allocations_fail, no_faults),
		cmocka_unit_test_teardown(memory_runs_out, no_faults),
		cmocka_unit_test_teardown(pins_fail, no_faults),
		cmocka_unit_test_teardown(copies_and_marks_fail, no_faults),
		cmocka_unit_test_teardown(opening_fails, no_faults),
		cmocka_unit_test_teardown(copy_breaks_context, no_faults),
		cmocka_unit_test_teardown(slow_copy, no_faults),
		cmocka_unit_test_teardown(every_call_relaxed, no_faults),
	};
	struct pst_error err = {0};
	int failed;

	if (!cuda_bench_open(&bench, &err)) {
		fprintf(stderr, "cannot open the fake driver: %s\n", err.message);
		return 1;
	}
	fake_load();
	failed = cmocka_run_group_tests_name("device-cuda-faults", tests, NULL, NULL);
	cuda_bench_close(&bench);
	return failed;
}

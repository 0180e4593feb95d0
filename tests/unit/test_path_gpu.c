/* SPDX-License-Identifier: Apache-2.0 */
/* Whole requests on the fake GPU driver: its failures, its objects, and the vendor's library. */
#include "path_fixture.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "../fakes/libcuda/fakecuda.h"
#include "os/os.h"

#define BYTES   ((size_t)8 << 20)
#define THREADS 50

static struct {
	bool (*fault)(const char *text);
	long (*live)(enum fakecuda_kind kind);
	long (*calls_not_relaxed)(void);
	void *(*peek)(const void *address);
	int (*ctx_get)(void **context);
} fake;

/* What the fake of the vendor's library wants of a driver, played on the fake driver's memory.
 * Each makes a real call of that, which counts whether the thread was in our scope. */
FAKECUDA_EXPORT int cuPointerGetAttribute(void *out, int attribute, uintptr_t address);
FAKECUDA_EXPORT int cuMemcpyHtoD_v2(uintptr_t device, const void *host, size_t bytes);
FAKECUDA_EXPORT int cuMemcpyDtoH_v2(void *host, uintptr_t device, size_t bytes);

int cuPointerGetAttribute(void *out, int attribute, uintptr_t address)
{
	(void)attribute;
	*(unsigned *)out = 2; /* device memory */
	return fake.peek((void *)address) ? 0 : 1;
}

int cuMemcpyHtoD_v2(uintptr_t device, const void *host, size_t bytes)
{
	void *context = NULL;

	if (fake.ctx_get(&context) != 0 || !context)
		return 201;
	memcpy(fake.peek((void *)device), host, bytes);
	return 0;
}

int cuMemcpyDtoH_v2(void *host, uintptr_t device, size_t bytes)
{
	void *context = NULL;

	if (fake.ctx_get(&context) != 0 || !context)
		return 201;
	memcpy(host, fake.peek((void *)device), bytes);
	return 0;
}

static void *find(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		fail_msg("the fake driver has no %s", name);
	return symbol;
}

static int load_fake(void **state)
{
	void *library = dlopen(getenv("PENSTOCK_LIBCUDA"), RTLD_NOW | RTLD_LOCAL);

	(void)state;
	if (!library)
		return -1;
	*(void **)&fake.fault = find(library, "fakecuda_fault");
	*(void **)&fake.live = find(library, "fakecuda_live");
	*(void **)&fake.calls_not_relaxed = find(library, "fakecuda_calls_not_relaxed");
	*(void **)&fake.peek = find(library, "fakecuda_peek");
	*(void **)&fake.ctx_get = find(library, "cuCtxGetCurrent");
	return 0;
}

static int open_gpu(struct path_fixture *f, const struct pst_options *options)
{
	if (pst_open(&f->ctx, options, &f->err) < 0 ||
	    pst_device_open(f->ctx, "0", &f->device, &f->err) < 0) {
		print_error("%s\n", f->err.message);
		return -1;
	}
	return 0;
}

static int set_up(void **state)
{
	int rc = fixture_set_up(state);
	struct path_fixture *f = *state;

	if (rc < 0)
		return rc;
	pst_close(f->ctx);
	return open_gpu(f, NULL);
}

static int tear_down(void **state)
{
	fake.fault(NULL);
	os_set(NULL);
	return fixture_tear_down(state);
}

/* A copy that fails in the middle ends the request with the driver's status, and nothing more. */
static void copies_that_fail(void **state)
{
	static const struct {
		const char *fault;
		enum pst_op op;
	} faults[] = {
		{"cuMemcpyHtoDAsync_v2:3:fail=1", PST_OP_READ},
		{"cuMemcpyDtoHAsync_v2:3:fail=1", PST_OP_WRITE},
		{"cuEventRecord:2:fail=1", PST_OP_READ},
	};
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, BYTES, 3);

	assert_int_equal(pst_write(file, memory, BYTES, 0, 0, &f->err), BYTES);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		ssize_t rc;

		assert_true(fake.fault(faults[i].fault));
		rc = faults[i].op == PST_OP_READ ? pst_read(file, memory, BYTES, 0, 0, &f->err)
						 : pst_write(file, memory, BYTES, 0, 0, &f->err);
		assert_int_equal(rc, PST_E_DEVICE_DRIVER);
		assert_int_equal(f->err.code, PST_E_DEVICE_DRIVER);
		assert_int_equal(f->err.device_status, 1);
		assert_int_equal(f->err.stage, PST_STAGE_COPY);
		assert_int_equal(f->err.sys_errno, 0);
		assert_true(fake.fault(NULL));
		assert_int_equal(pst_read(file, memory, BYTES, 0, 0, &f->err), BYTES);
	}
	fixture_expect(f, 0, BYTES, 3);
	pst_file_close(file);
}

static void *read_once(void *arg)
{
	struct path_fixture *f = arg;
	struct pst_file *file;
	void *memory;

	if (pst_memory_alloc(f->ctx, f->device, PST_MEMORY_DEVICE, 300000, &memory, NULL) == 0 &&
	    pst_file_open(f->ctx, f->path, NULL, &file, NULL) == 0) {
		pst_read(file, memory, 300000, 1, 0, NULL);
		pst_file_close(file);
	}
	pst_memory_free(f->ctx, memory, NULL);
	return NULL;
}

static void expect_nothing_left(struct path_fixture *f)
{
	pst_close(f->ctx);
	f->ctx = NULL;
	assert_int_equal(fake.live(FAKECUDA_STREAMS), 0);
	assert_int_equal(fake.live(FAKECUDA_EVENTS), 0);
	assert_int_equal(fake.live(FAKECUDA_ALLOCATIONS), 0);
	assert_int_equal(fake.live(FAKECUDA_HOST_ALLOCATIONS), 0);
	assert_int_equal(fake.live(FAKECUDA_PINS), 0);
	assert_int_equal(fake.live(FAKECUDA_RESERVATIONS), 0);
}

/* Threads that end leave their streams, marks and pins to the next ones; closing frees all. */
static void objects_of_the_driver(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	long streams = 0, events = 0, pins = 0;

	assert_int_equal(truncate(f->path, 400000), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, read_once, f);
		pthread_join(thread, NULL);
		if (i == 0) {
			streams = fake.live(FAKECUDA_STREAMS);
			events = fake.live(FAKECUDA_EVENTS);
			pins = fake.live(FAKECUDA_PINS);
		}
	}
	assert_true(streams > 0 && events > 0 && pins > 0);
	assert_int_equal(fake.live(FAKECUDA_STREAMS), streams);
	assert_int_equal(fake.live(FAKECUDA_EVENTS), events);
	assert_int_equal(fake.live(FAKECUDA_PINS), pins);
	pst_file_close(file);
	expect_nothing_left(f);
}

static void closed_with_everything_left(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, BYTES, 3);
	uint8_t *vmm = fixture_memory(f, PST_MEMORY_DEVICE_VMM, 4096, 3);
	const struct pst_io io = {
		.op = PST_OP_WRITE, .file = file, .buffer = memory, .bytes = BYTES};
	struct pst_batch *batch;

	fixture_memory(f, PST_MEMORY_PINNED, 5000, 3);
	assert_int_equal(pst_buffer_register(f->ctx, memory, BYTES, &f->err), 0);
	assert_int_equal(pst_buffer_register(f->ctx, vmm, 4096, &f->err), 0);
	assert_int_equal(pst_batch_open(f->ctx, 3, &batch, &f->err), 0);
	assert_int_equal(pst_batch_submit(batch, &io, 1, &f->err), 0);
	expect_nothing_left(f);
	fixture_expect(f, 0, BYTES, 3);
}

/* Offsets in a buffer that do not fit in 32 bits. */
static void device_offsets_beyond_4_gib(void **state)
{
	const off_t far = ((off_t)4 << 30) + 4097;
	const size_t bytes = (1 << 20) + 3;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *near = fixture_memory(f, PST_MEMORY_DEVICE, bytes, 4);
	uint8_t *seen = malloc(bytes);
	void *memory;

	if (pst_memory_alloc(f->ctx, f->device, PST_MEMORY_DEVICE, (size_t)5 << 30, &memory,
			     &f->err) < 0)
		skip();
	assert_int_equal(pst_write(file, near, bytes, 0, 0, &f->err), bytes);
	assert_int_equal(pst_read(file, memory, bytes, 0, far, &f->err), bytes);
	assert_int_equal(pst_memory_copy(f->ctx, seen, (uint8_t *)memory + far, bytes, &f->err), 0);
	assert_true(fixture_all(seen, bytes, 4));
	assert_int_equal(pst_write(file, memory, bytes, 1 << 22, far, &f->err), bytes);
	fixture_expect(f, 1 << 22, bytes, 4);
	assert_int_equal(pst_memory_free(f->ctx, memory, &f->err), 0);
	free(seen);
	pst_file_close(file);
}

static void child_has_no_gpu(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, BYTES, 3);
	uint8_t heap[4096];
	int status = 1;
	pid_t child;

	assert_int_equal(pst_write(file, memory, BYTES, 0, 0, &f->err), BYTES);
	child = fork();
	if (child == 0) {
		struct pst_error err = {0};
		int bad = 0;

		alarm(20);
		bad |= pst_read(file, memory, BYTES, 0, 0, &err) != PST_E_FORKED;
		bad |= pst_read(file, heap, sizeof(heap), 0, 0, &err) != sizeof(heap);
		bad |= pst_device_count(f->ctx, PST_DEVICE_CUDA, &err) != PST_E_FORKED;
		pst_close(f->ctx);
		_exit(bad);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(pst_read(file, memory, BYTES, 0, 0, &f->err), BYTES);
	pst_file_close(file);
}

/* A context, files and host memory need no driver; only the first use of a GPU misses it. */
static void without_any_driver(void **state)
{
	struct path_fixture *f = *state;
	char *driver = strdup(getenv("PENSTOCK_LIBCUDA"));
	struct pst_context *ctx;
	struct pst_device *device;
	struct pst_file *file;
	char memory[100];

	setenv("PENSTOCK_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	assert_int_equal(truncate(f->path, 100), 0);
	assert_int_equal(pst_open(&ctx, NULL, &f->err), 0);
	assert_int_equal(pst_file_open(ctx, f->path, NULL, &file, &f->err), 0);
	assert_int_equal(pst_read(file, memory, 100, 0, 0, &f->err), 100);
	assert_int_equal(pst_device_count(ctx, PST_DEVICE_CUDA, &f->err),
			 PST_E_DEVICE_NOT_SUPPORTED);
	assert_int_equal(pst_device_open(ctx, "0", &device, &f->err), PST_E_DEVICE_NOT_SUPPORTED);
	assert_true(f->err.message[0] != 0);
	pst_close(ctx);
	setenv("PENSTOCK_LIBCUDA", driver, 1);
	free(driver);
}

/* Writes and reads by the vendor's library, which calls the driver in our scope alone. */
static void move_by_vendor(struct path_fixture *f, enum pst_engine engine, enum pst_path path)
{
	const struct pst_options options = {
		.size_bytes = sizeof(options), .engine = engine, .vendor_library = FAKE};
	struct pst_stats stats = {.size_bytes = sizeof(stats)};
	struct pst_plan plan = {.size_bytes = sizeof(plan)};
	struct pst_event events[2];
	struct pst_io ios[2];
	struct pst_batch *batch;
	struct pst_file *file;
	uint8_t *memory;
	long before;

	pst_close(f->ctx);
	assert_int_equal(open_gpu(f, &options), 0);
	file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	memory = fixture_memory(f, PST_MEMORY_DEVICE, BYTES, 3);
	before = fake.calls_not_relaxed();
	assert_int_equal(pst_explain(file, PST_OP_READ, memory, BYTES, 0, 0, &plan, &f->err), 0);
	assert_int_equal(plan.path, path);
	assert_int_equal(pst_write(file, memory, BYTES, 0, 0, &f->err), BYTES);
	assert_int_equal(pst_read(file, memory, BYTES, 0, 0, &f->err), BYTES);
	assert_int_equal(pst_batch_open(f->ctx, 2, &batch, &f->err), 0);
	for (int i = 0; i < 2; i++)
		ios[i] = (struct pst_io){.op = i ? PST_OP_READ : PST_OP_WRITE,
					 .file = file,
					 .buffer = memory,
					 .bytes = 4096,
					 .file_offset = 8192};
	assert_int_equal(pst_batch_submit(batch, ios, 2, &f->err), 0);
	assert_int_equal(pst_batch_wait(batch, 2, 2, events, -1, &f->err), 2);
	assert_int_equal(events[0].result, 4096);
	assert_int_equal(events[1].result, 4096);
	assert_int_equal(fake.calls_not_relaxed(), before);
	assert_int_equal(pst_stats_get(f->ctx, &stats, &f->err), 0);
	assert_int_equal(stats.write[path].requests, 2);
	assert_int_equal(stats.read[path].requests, 2);
	pst_batch_close(batch);
	pst_file_close(file);
	fixture_expect(f, 0, BYTES, 3);
}

static void vendor_where_it_may_go_by_the_cpu(void **state)
{
	move_by_vendor(*state, PST_ENGINE_VENDOR, PST_PATH_VENDOR);
}

/* With kernel support, and the library agreeing to refuse what it cannot do by DMA. */
static void vendor_that_goes_direct(void **state)
{
	struct path_fixture *f = *state;
	struct os_calls calls = os_real_calls;
	struct scratch_root root;

	assert_true(scratch_root_open(&root));
	assert_true(scratch_root_text(&root, "proc/driver/nvidia-fs/version", "version: 2.28\n"));
	calls.root_fd = root.fd;
	os_set(&calls);
	setenv("FAKE_CUFILE_REFUSE_PARAMETER", "5026", 1);
	move_by_vendor(f, PST_ENGINE_AUTO, PST_PATH_VENDOR);
	unsetenv("FAKE_CUFILE_REFUSE_PARAMETER");
	move_by_vendor(f, PST_ENGINE_AUTO, PST_PATH_DIRECT);
	os_set(NULL);
	scratch_root_close(&root);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(copies_that_fail),
		CASE(objects_of_the_driver),
		CASE(closed_with_everything_left),
		CASE(device_offsets_beyond_4_gib),
		CASE(child_has_no_gpu),
		CASE(without_any_driver),
		CASE(vendor_where_it_may_go_by_the_cpu),
		CASE(vendor_that_goes_direct),
	};
#undef CASE

	return cmocka_run_group_tests(tests, load_fake, NULL);
}

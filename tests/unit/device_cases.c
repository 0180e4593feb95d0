/* SPDX-License-Identifier: Apache-2.0 */
#include "device_cases.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB   ((size_t)1 << 20)
#define GUARD 256

bool device_bench_open(struct device_bench *bench, const struct dev_ops *ops, struct pst_error *err)
{
	*bench = (struct device_bench){.ops = ops};
	if (ops->load(&bench->driver, err) < 0)
		return false;
	if (ops->gpu_open(bench->driver, 0, &bench->gpu, err) < 0) {
		ops->unload(bench->driver);
		return false;
	}
	return true;
}

void device_bench_close(struct device_bench *bench)
{
	bench->ops->gpu_close(bench->gpu);
	bench->ops->unload(bench->driver);
}

/* Filled by the calls below; asserted on by the main thread only. */
static struct pst_error why;

/* Fails the test with the sentence of the error. */
#define OK(call)                                                                                   \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %d: %s", #call, why.code, why.message);                      \
	} while (0)

/* Bytes that differ at every place and for every seed. */
static void fill(unsigned char *memory, size_t bytes, unsigned seed)
{
	uint32_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < bytes; i++) {
		x = x * 1664525u + 1013904223u;
		memory[i] = (unsigned char)(x >> 24);
	}
}

/* One queue and one mark, for cases that copy and wait. */
struct line {
	const struct device_bench *bench;
	struct dev_queue *queue;
	struct dev_mark *mark;
};

static struct line line_open(const struct device_bench *bench)
{
	struct line line = {.bench = bench};
	struct dev_scope scope;

	OK(bench->ops->queue_open(bench->gpu, NULL, &line.queue, &why));
	OK(bench->ops->enter(line.queue, &scope, &why));
	OK(bench->ops->mark_new(line.queue, &line.mark, &why));
	bench->ops->leave(line.queue, &scope);
	return line;
}

static void line_close(struct line *line)
{
	line->bench->ops->mark_free(line->mark);
	line->bench->ops->queue_close(line->queue);
}

static void put(struct line *line, void *device, const void *host, size_t bytes)
{
	const struct dev_ops *ops = line->bench->ops;
	struct dev_scope scope;

	OK(ops->enter(line->queue, &scope, &why));
	OK(ops->copy_in(line->queue, device, host, bytes, &why));
	OK(ops->mark_set(line->queue, line->mark, &why));
	OK(ops->mark_wait(line->mark, &why));
	ops->leave(line->queue, &scope);
}

static void get(struct line *line, void *host, const void *device, size_t bytes)
{
	const struct dev_ops *ops = line->bench->ops;
	struct dev_scope scope;

	OK(ops->enter(line->queue, &scope, &why));
	OK(ops->copy_out(line->queue, host, device, bytes, &why));
	OK(ops->mark_set(line->queue, line->mark, &why));
	OK(ops->mark_wait(line->mark, &why));
	ops->leave(line->queue, &scope);
}

static void *device_alloc(const struct device_bench *bench, size_t bytes)
{
	void *memory = NULL;

	OK(bench->ops->alloc(bench->gpu, PST_MEMORY_DEVICE, bytes, &memory, &why));
	assert_non_null(memory);
	return memory;
}

static void device_free(const struct device_bench *bench, void *memory, size_t bytes)
{
	OK(bench->ops->free(bench->gpu, PST_MEMORY_DEVICE, memory, bytes, &why));
}

static void case_describe(void **state)
{
	const struct device_bench *bench = *state;
	struct pst_device_info info = {.size_bytes = sizeof(info)};
	int count = bench->ops->count(bench->driver);

	assert_true(count >= 1);
	OK(bench->ops->describe(bench->driver, 0, &info, &why));
	assert_int_equal(info.index, 0);
	assert_int_equal(info.kind, bench->ops->kind);
	assert_int_equal(info.emulated, bench->ops->kind == PST_DEVICE_HOST);
	assert_true(strlen(info.name) > 0);
	assert_true(info.memory_bytes > MIB);
	assert_true(bench->ops->describe(bench->driver, count, &info, NULL) < 0);
	assert_true(bench->ops->describe(bench->driver, -1, &info, NULL) < 0);
}

static void case_find_index(void **state)
{
	const struct device_bench *bench = *state;
	int count = bench->ops->count(bench->driver);
	struct pst_error err = {0};
	struct pst_device_info info = {.size_bytes = sizeof(info)};
	char name[16];
	char start[64];

	assert_int_equal(dev_find(bench->ops, bench->driver, "0", &err), 0);
	snprintf(name, sizeof(name), "%d", count);
	snprintf(start, sizeof(start), "GPU %d asked, %d visible: 0 = ", count, count);
	assert_int_equal(dev_find(bench->ops, bench->driver, name, &err), PST_E_DEVICE_NOT_FOUND);
	assert_int_equal(bench->ops->describe(bench->driver, 0, &info, NULL), 0);
	assert_memory_equal(err.message, start, strlen(start));
	assert_non_null(strstr(err.message, info.name));
	assert_non_null(strstr(err.message, info.bus_id));
	assert_string_equal(err.object, name);

	const char *bad[] = {
		"", "-1", "0x0", "1e0", " 0", "0 ", "GPU-", "GPU", "99999999999999999999"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(dev_find(bench->ops, bench->driver, bad[i], &err),
				 PST_E_DEVICE_NOT_FOUND);
}

static void case_alloc(void **state)
{
	const struct device_bench *bench = *state;
	const enum pst_memory_kind kinds[] = {PST_MEMORY_DEVICE, PST_MEMORY_DEVICE_VMM,
					      PST_MEMORY_PINNED};
	const size_t sizes[] = {1, 4097, 3 * MIB + 5};
	uint64_t last_id = 0;

	for (size_t k = 0; k < 3; k++) {
		for (size_t s = 0; s < 3; s++) {
			struct dev_pointer at;
			struct dev_pointer middle;
			char *memory = NULL;

			OK(bench->ops->alloc(bench->gpu, kinds[k], sizes[s], (void **)&memory,
					     &why));
			OK(bench->ops->lookup(bench->driver, memory, &at, &why));
			assert_int_equal(at.memory, kinds[k] == PST_MEMORY_PINNED
							    ? DEV_MEMORY_PINNED
							    : DEV_MEMORY_DEVICE);
			assert_int_equal(at.device_index, kinds[k] == PST_MEMORY_PINNED ? -1 : 0);
			assert_int_equal(at.base, (uintptr_t)memory);
			assert_true(at.bytes >= sizes[s]);
			assert_true(at.allocation_id != 0);
			assert_true(at.allocation_id != last_id);
			last_id = at.allocation_id;
			if (kinds[k] == PST_MEMORY_DEVICE_VMM)
				assert_null(at.context);

			OK(bench->ops->lookup(bench->driver, memory + sizes[s] / 2, &middle, &why));
			assert_int_equal(middle.base, at.base);
			assert_int_equal(middle.bytes, at.bytes);
			assert_int_equal(middle.allocation_id, at.allocation_id);

			OK(bench->ops->lookup(bench->driver, memory + at.bytes, &middle, &why));
			assert_true(middle.allocation_id != at.allocation_id);

			if (kinds[k] == PST_MEMORY_PINNED)
				memset(memory, 0x5a, sizes[s]);
			OK(bench->ops->free(bench->gpu, kinds[k], memory, sizes[s], &why));
			OK(bench->ops->lookup(bench->driver, memory, &at, &why));
			assert_true(at.allocation_id != last_id);
		}
	}
}

static void case_alloc_refused(void **state)
{
	const struct device_bench *bench = *state;
	struct pst_error err = {0};
	void *memory = &err;

	assert_int_equal(bench->ops->alloc(bench->gpu, PST_MEMORY_HEAP, 1, &memory, &err),
			 PST_E_MEMORY_TYPE);
	assert_null(memory);
	assert_int_equal(bench->ops->alloc(bench->gpu, PST_MEMORY_DEVICE, 0, &memory, &err),
			 PST_E_INVALID_VALUE);
	assert_true(bench->ops->alloc(bench->gpu, PST_MEMORY_DEVICE, SIZE_MAX, &memory, &err) < 0);
	assert_true(bench->ops->alloc(bench->gpu, PST_MEMORY_DEVICE_VMM, SIZE_MAX - 5, &memory,
				      &err) < 0);
	assert_true(bench->ops->alloc(bench->gpu, PST_MEMORY_DEVICE, (size_t)1 << 50, &memory,
				      &err) < 0);
	assert_null(memory);
	assert_true(strlen(err.message) > 0);
	memory = device_alloc(bench, 8192);
	assert_true(bench->ops->free(bench->gpu, PST_MEMORY_DEVICE, (char *)memory + 4096, 4096,
				     &err) < 0);
	device_free(bench, memory, 8192);
}

static void case_lookup_host(void **state)
{
	const struct device_bench *bench = *state;
	int on_stack = 0;
	void *heap = malloc(100);
	const void *places[] = {&on_stack, heap, NULL, (void *)1, bench};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct dev_pointer at;

		memset(&at, 0xff, sizeof(at));
		OK(bench->ops->lookup(bench->driver, places[i], &at, &why));
		assert_int_equal(at.memory, DEV_MEMORY_HOST);
		assert_int_equal(at.device_index, -1);
		assert_null(at.context);
		assert_int_equal(at.base, 0);
		assert_int_equal(at.bytes, 0);
		assert_int_equal(at.allocation_id, 0);
	}
	free(heap);
}

static void case_pin(void **state)
{
	const struct device_bench *bench = *state;
	char *memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dev_pointer at;

	assert_ptr_not_equal(memory, MAP_FAILED);
	OK(bench->ops->pin(bench->gpu, memory, MIB, &why));
	OK(bench->ops->lookup(bench->driver, memory + 5000, &at, &why));
	assert_int_equal(at.memory, DEV_MEMORY_PINNED);
	assert_int_equal(at.device_index, -1);
	/* A second time is no error. */
	OK(bench->ops->pin(bench->gpu, memory, MIB, &why));

	OK(bench->ops->unpin(bench->gpu, memory, &why));
	OK(bench->ops->lookup(bench->driver, memory + 5000, &at, &why));
	while (at.memory == DEV_MEMORY_PINNED) {
		OK(bench->ops->unpin(bench->gpu, memory, &why));
		OK(bench->ops->lookup(bench->driver, memory + 5000, &at, &why));
	}
	assert_int_equal(at.memory, DEV_MEMORY_HOST);
	assert_true(bench->ops->unpin(bench->gpu, memory, NULL) < 0);
	munmap(memory, MIB);
}

/* Every odd size at every odd offset, pinned and plain host memory; guards on both sides of
 * both. */
static void copy_case(struct line *line, unsigned char *device, size_t device_bytes, size_t offset,
		      size_t bytes, bool pinned)
{
	const struct device_bench *bench = line->bench;
	unsigned char *host;
	unsigned char *expect = malloc(device_bytes);
	unsigned char *back = malloc(device_bytes);

	if (pinned)
		OK(bench->ops->alloc(bench->gpu, PST_MEMORY_PINNED, bytes + 2 * GUARD,
				     (void **)&host, &why));
	else
		host = malloc(bytes + 2 * GUARD);

	fill(expect, device_bytes, 7);
	put(line, device, expect, device_bytes);
	fill(host, bytes + 2 * GUARD, (unsigned)(offset + bytes));
	memcpy(expect + offset, host + GUARD + 1, bytes);
	put(line, device + offset, host + GUARD + 1, bytes);
	get(line, back, device, device_bytes);
	assert_memory_equal(back, expect, device_bytes);

	/* Out again, at another odd place. */
	memset(host, 0xee, bytes + 2 * GUARD);
	get(line, host + GUARD - 3, device + offset, bytes);
	assert_memory_equal(host + GUARD - 3, expect + offset, bytes);
	for (size_t i = 0; i < GUARD - 3; i++)
		assert_int_equal(host[i], 0xee);
	for (size_t i = GUARD - 3 + bytes; i < bytes + 2 * GUARD; i++)
		assert_int_equal(host[i], 0xee);

	if (pinned)
		OK(bench->ops->free(bench->gpu, PST_MEMORY_PINNED, host, bytes + 2 * GUARD, &why));
	else
		free(host);
	free(expect);
	free(back);
}

static void case_copy_odd(void **state)
{
	const struct device_bench *bench = *state;
	const size_t offsets[] = {0, 1, 511, 4095};
	const size_t sizes[] = {1, 511, 4097, MIB + 3};
	struct line line = line_open(bench);

	for (size_t o = 0; o < 4; o++) {
		for (size_t s = 0; s < 4; s++) {
			size_t bytes = offsets[o] + sizes[s] + GUARD;
			void *device = device_alloc(bench, bytes);

			copy_case(&line, device, bytes, offsets[o], sizes[s], false);
			copy_case(&line, device, bytes, offsets[o], sizes[s], true);
			device_free(bench, device, bytes);
		}
	}
	line_close(&line);
}

static void case_copy_within(void **state)
{
	const struct device_bench *bench = *state;
	const struct dev_ops *ops = bench->ops;
	struct line line = line_open(bench);
	struct dev_scope scope;
	unsigned char *device = device_alloc(bench, 2 * MIB);
	unsigned char *expect = malloc(2 * MIB);
	unsigned char *back = malloc(2 * MIB);

	fill(expect, 2 * MIB, 3);
	put(&line, device, expect, 2 * MIB);
	OK(ops->enter(line.queue, &scope, &why));
	OK(ops->copy_within(line.queue, device + MIB + 7, device + 13, 4097, &why));
	OK(ops->mark_set(line.queue, line.mark, &why));
	OK(ops->mark_wait(line.mark, &why));
	ops->leave(line.queue, &scope);
	memcpy(expect + MIB + 7, expect + 13, 4097);
	get(&line, back, device, 2 * MIB);
	assert_memory_equal(back, expect, 2 * MIB);
	free(expect);
	free(back);
	device_free(bench, device, 2 * MIB);
	line_close(&line);
}

static void case_copy_out_of_range(void **state)
{
	const struct device_bench *bench = *state;
	const struct dev_ops *ops = bench->ops;
	struct line line = line_open(bench);
	struct dev_scope scope;
	/* Two MiB, the driver's largest granularity, so that the end is the end. */
	unsigned char *device = device_alloc(bench, 2 * MIB);
	unsigned char *host = calloc(1, 2 * MIB);
	struct pst_error err = {0};
	int rc;

	OK(ops->enter(line.queue, &scope, &why));
	rc = ops->copy_in(line.queue, device + 2 * MIB - 10, host, 2 * MIB, &err);
	assert_true(rc == PST_E_POINTER_RANGE || rc == PST_E_DEVICE_DRIVER);
	assert_int_equal(err.code, rc);
	assert_int_equal(err.stage, PST_STAGE_COPY);
	assert_true(strlen(err.message) > 0);
	rc = ops->copy_out(line.queue, host, device + 2 * MIB - 10, 2 * MIB, NULL);
	assert_true(rc == PST_E_POINTER_RANGE || rc == PST_E_DEVICE_DRIVER);
	ops->leave(line.queue, &scope);

	/* The device goes on working. */
	put(&line, device, host, 2 * MIB);
	free(host);
	device_free(bench, device, 2 * MIB);
	line_close(&line);
}

/* Each copy overwrites the last: only order gives the right end. */
static void case_order(void **state)
{
	const struct device_bench *bench = *state;
	const struct dev_ops *ops = bench->ops;
	struct line line = line_open(bench);
	struct dev_scope scope;
	enum {
		STEPS = 300
	};
	size_t bytes = 8192;
	unsigned char *device = device_alloc(bench, bytes);
	unsigned char *in = NULL;
	unsigned char *out = NULL;

	OK(ops->alloc(bench->gpu, PST_MEMORY_PINNED, bytes * STEPS, (void **)&in, &why));
	OK(ops->alloc(bench->gpu, PST_MEMORY_PINNED, bytes * STEPS, (void **)&out, &why));
	fill(in, bytes * STEPS, 11);
	memset(out, 0, bytes * STEPS);
	OK(ops->enter(line.queue, &scope, &why));
	for (size_t i = 0; i < STEPS; i++) {
		OK(ops->copy_in(line.queue, device, in + i * bytes, bytes, &why));
		OK(ops->copy_out(line.queue, out + i * bytes, device, bytes, &why));
	}
	OK(ops->mark_set(line.queue, line.mark, &why));
	OK(ops->mark_wait(line.mark, &why));
	assert_int_equal(ops->mark_poll(line.mark, NULL), 1);
	ops->leave(line.queue, &scope);
	assert_memory_equal(in, out, bytes * STEPS);
	OK(ops->free(bench->gpu, PST_MEMORY_PINNED, in, bytes * STEPS, &why));
	OK(ops->free(bench->gpu, PST_MEMORY_PINNED, out, bytes * STEPS, &why));
	device_free(bench, device, bytes);
	line_close(&line);
}

/* Queues `copies` long copies and a mark behind them; what the first look at the mark says. */
static int queue_and_poll(struct line *line, void *device, const void *host, size_t bytes,
			  int copies)
{
	const struct dev_ops *ops = line->bench->ops;

	for (int i = 0; i < copies; i++)
		OK(ops->copy_in(line->queue, device, host, bytes, &why));
	OK(ops->mark_set(line->queue, line->mark, &why));
	return ops->mark_poll(line->mark, &why);
}

/* A mark behind long work is first not reached, then reached, and can be used again. */
static void case_marks(void **state)
{
	const struct device_bench *bench = *state;
	const struct dev_ops *ops = bench->ops;
	struct line line = line_open(bench);
	struct dev_scope scope;
	size_t bytes = 64 * MIB;
	unsigned char *device = device_alloc(bench, bytes);
	unsigned char *host = NULL;
	unsigned seen_not_reached = 0;

	OK(ops->alloc(bench->gpu, PST_MEMORY_PINNED, bytes, (void **)&host, &why));
	memset(host, 1, bytes);
	OK(ops->enter(line.queue, &scope, &why));
	/* Never set: nothing to wait for. */
	assert_int_equal(ops->mark_poll(line.mark, NULL), 1);
	OK(ops->mark_wait(line.mark, &why));

	/* A busy machine may stop this thread until the copies are done: several tries. */
	for (int attempt = 0; attempt < 6; attempt++) {
		int polled = queue_and_poll(&line, device, host, bytes, 2);

		seen_not_reached += polled == 0;
		if (attempt % 2) {
			OK(ops->mark_wait(line.mark, &why));
		} else {
			while ((polled = ops->mark_poll(line.mark, &why)) == 0)
				usleep(100);
			assert_int_equal(polled, 1);
		}
		assert_int_equal(ops->mark_poll(line.mark, NULL), 1);
	}
	assert_true(seen_not_reached > 0);
	ops->leave(line.queue, &scope);
	OK(ops->free(bench->gpu, PST_MEMORY_PINNED, host, bytes, &why));
	device_free(bench, device, bytes);
	line_close(&line);
}

static void case_frees_accept_null(void **state)
{
	const struct device_bench *bench = *state;

	bench->ops->mark_free(NULL);
	bench->ops->queue_close(NULL);
	bench->ops->gpu_close(NULL);
	bench->ops->unload(NULL);
	assert_true(bench->ops->count(bench->driver) >= 1);
}

#define THREADS 8
#define ROUNDS  60

struct worker {
	const struct device_bench *bench;
	unsigned seed;
	unsigned failures;
};

/* No cmocka here: its assertions are for the main thread. */
static void *work(void *arg)
{
	struct worker *worker = arg;
	const struct dev_ops *ops = worker->bench->ops;
	struct dev_gpu *gpu = worker->bench->gpu;
	size_t bytes = 20000 + worker->seed;
	unsigned char *in = malloc(bytes);
	unsigned char *out = malloc(bytes);
	struct dev_queue *queue = NULL;
	struct dev_mark *mark = NULL;
	struct dev_scope scope;
	void *device = NULL;

	worker->failures += ops->queue_open(gpu, NULL, &queue, NULL) < 0;
	worker->failures += ops->alloc(gpu, PST_MEMORY_DEVICE, bytes, &device, NULL) < 0;
	worker->failures += ops->enter(queue, &scope, NULL) < 0;
	worker->failures += ops->mark_new(queue, &mark, NULL) < 0;
	for (unsigned i = 0; i < ROUNDS && worker->failures == 0; i++) {
		struct dev_pointer at;

		fill(in, bytes, worker->seed * ROUNDS + i);
		memset(out, 0, bytes);
		worker->failures += ops->copy_in(queue, device, in, bytes, NULL) < 0;
		worker->failures += ops->copy_out(queue, out, device, bytes, NULL) < 0;
		worker->failures += ops->mark_set(queue, mark, NULL) < 0;
		if (i % 2)
			while (ops->mark_poll(mark, NULL) == 0)
				sched_yield();
		worker->failures += ops->mark_wait(mark, NULL) < 0;
		worker->failures += memcmp(in, out, bytes) != 0;
		worker->failures += ops->lookup(worker->bench->driver, device, &at, NULL) < 0 ||
				    at.base != (uintptr_t)device;
	}
	ops->leave(queue, &scope);
	ops->mark_free(mark);
	ops->queue_close(queue);
	worker->failures += ops->free(gpu, PST_MEMORY_DEVICE, device, bytes, NULL) < 0;
	free(in);
	free(out);
	return NULL;
}

static void case_threads(void **state)
{
	const struct device_bench *bench = *state;
	pthread_t threads[THREADS];
	struct worker workers[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.bench = bench, .seed = i};
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].failures, 0);
	}
}

/* Offsets that need more than 32 bits. */
static void case_far_offset(void **state)
{
	const struct device_bench *bench = *state;
	struct line line;
	unsigned char *device;
	unsigned char near[] = "near";
	unsigned char far[] = "far away";
	unsigned char back[sizeof(far)] = {0};
	size_t at = ((size_t)4 << 30) + 3;
	struct dev_pointer pointer;

	if (bench->far_bytes == 0)
		skip();
	assert_true(bench->far_bytes > at + sizeof(far));
	line = line_open(bench);
	device = device_alloc(bench, bench->far_bytes);
	put(&line, device + 3, near, sizeof(near));
	put(&line, device + at, far, sizeof(far));
	get(&line, back, device + at, sizeof(far));
	assert_memory_equal(back, far, sizeof(far));
	get(&line, back, device + 3, sizeof(near));
	assert_memory_equal(back, near, sizeof(near));
	OK(bench->ops->lookup(bench->driver, device + at, &pointer, &why));
	assert_int_equal(pointer.base, (uintptr_t)device);
	device_free(bench, device, bench->far_bytes);
	line_close(&line);
}

int device_cases_run(struct device_bench *bench, const char *group_name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(case_describe, bench),
		cmocka_unit_test_prestate(case_find_index, bench),
		cmocka_unit_test_prestate(case_alloc, bench),
		cmocka_unit_test_prestate(case_alloc_refused, bench),
		cmocka_unit_test_prestate(case_lookup_host, bench),
		cmocka_unit_test_prestate(case_pin, bench),
		cmocka_unit_test_prestate(case_copy_odd, bench),
		cmocka_unit_test_prestate(case_copy_within, bench),
		cmocka_unit_test_prestate(case_copy_out_of_range, bench),
		cmocka_unit_test_prestate(case_order, bench),
		cmocka_unit_test_prestate(case_marks, bench),
		cmocka_unit_test_prestate(case_frees_accept_null, bench),
		cmocka_unit_test_prestate(case_threads, bench),
		cmocka_unit_test_prestate(case_far_offset, bench),
	};

	/* The macro makes the group's name of its argument's spelling. */
	return _cmocka_run_group_tests(group_name, tests, sizeof(tests) / sizeof(tests[0]), NULL,
				       NULL);
}

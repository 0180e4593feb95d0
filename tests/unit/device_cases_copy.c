/* SPDX-License-Identifier: Apache-2.0 */
#include "device_cases.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB   ((size_t)1 << 20)
#define GUARD 256

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
			void *device = bench_alloc(bench, bytes);

			copy_case(&line, device, bytes, offsets[o], sizes[s], false);
			copy_case(&line, device, bytes, offsets[o], sizes[s], true);
			bench_free(bench, device, bytes);
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
	unsigned char *device = bench_alloc(bench, 2 * MIB);
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
	bench_free(bench, device, 2 * MIB);
	line_close(&line);
}

static void case_copy_out_of_range(void **state)
{
	const struct device_bench *bench = *state;
	const struct dev_ops *ops = bench->ops;
	struct line line = line_open(bench);
	struct dev_scope scope;
	/* Two MiB, the driver's largest granularity, so that the end is the end. */
	unsigned char *device = bench_alloc(bench, 2 * MIB);
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
	bench_free(bench, device, 2 * MIB);
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
	unsigned char *device = bench_alloc(bench, bytes);
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
	bench_free(bench, device, bytes);
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
	unsigned char *device = bench_alloc(bench, bytes);
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
	bench_free(bench, device, bytes);
	line_close(&line);
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
	device = bench_alloc(bench, bench->far_bytes);
	put(&line, device + 3, near, sizeof(near));
	put(&line, device + at, far, sizeof(far));
	get(&line, back, device + at, sizeof(far));
	assert_memory_equal(back, far, sizeof(far));
	get(&line, back, device + 3, sizeof(near));
	assert_memory_equal(back, near, sizeof(near));
	OK(bench->ops->lookup(bench->driver, device + at, &pointer, &why));
	assert_int_equal(pointer.base, (uintptr_t)device);
	bench_free(bench, device, bench->far_bytes);
	line_close(&line);
}

int device_cases_copy_run(struct device_bench *bench, const char *group_name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(case_copy_odd, bench),
		cmocka_unit_test_prestate(case_copy_within, bench),
		cmocka_unit_test_prestate(case_copy_out_of_range, bench),
		cmocka_unit_test_prestate(case_order, bench),
		cmocka_unit_test_prestate(case_marks, bench),
		cmocka_unit_test_prestate(case_threads, bench),
		cmocka_unit_test_prestate(case_far_offset, bench),
	};

	/* The macro makes the group's name of its argument's spelling. */
	return _cmocka_run_group_tests(group_name, tests, sizeof(tests) / sizeof(tests[0]), NULL,
				       NULL);
}

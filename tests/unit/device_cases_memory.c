/* SPDX-License-Identifier: Apache-2.0 */
#include "device_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

struct pst_error why;

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

void *bench_alloc(const struct device_bench *bench, size_t bytes)
{
	void *memory = NULL;

	OK(bench->ops->alloc(bench->gpu, PST_MEMORY_DEVICE, bytes, &memory, &why));
	assert_non_null(memory);
	return memory;
}

void bench_free(const struct device_bench *bench, void *memory, size_t bytes)
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
	memory = bench_alloc(bench, 8192);
	assert_true(bench->ops->free(bench->gpu, PST_MEMORY_DEVICE, (char *)memory + 4096, 4096,
				     &err) < 0);
	bench_free(bench, memory, 8192);
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

static void case_frees_accept_null(void **state)
{
	const struct device_bench *bench = *state;

	bench->ops->mark_free(NULL);
	bench->ops->queue_close(NULL);
	bench->ops->gpu_close(NULL);
	bench->ops->unload(NULL);
	assert_true(bench->ops->count(bench->driver) >= 1);
}

int device_cases_memory_run(struct device_bench *bench, const char *group_name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(case_describe, bench),
		cmocka_unit_test_prestate(case_find_index, bench),
		cmocka_unit_test_prestate(case_alloc, bench),
		cmocka_unit_test_prestate(case_alloc_refused, bench),
		cmocka_unit_test_prestate(case_lookup_host, bench),
		cmocka_unit_test_prestate(case_pin, bench),
		cmocka_unit_test_prestate(case_frees_accept_null, bench),
	};

	/* The macro makes the group's name of its argument's spelling. */
	return _cmocka_run_group_tests(group_name, tests, sizeof(tests) / sizeof(tests[0]), NULL,
				       NULL);
}

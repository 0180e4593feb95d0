/* SPDX-License-Identifier: Apache-2.0 */
#include "io/fill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES (1u << 20)

static unsigned char *filled(uint64_t seed, unsigned thread, uint64_t op)
{
	unsigned char *memory = malloc(BYTES);

	assert_non_null(memory);
	fill_random(memory, BYTES, seed, thread, op);
	return memory;
}

static unsigned equal_bytes(const unsigned char *a, const unsigned char *b)
{
	unsigned equal = 0;

	for (size_t i = 0; i < BYTES; i++)
		equal += a[i] == b[i];
	return equal;
}

static void each_key_has_its_data(void **state)
{
	unsigned char *base = filled(1, 2, 3);
	unsigned char *others[4] = {filled(1, 2, 3), filled(2, 2, 3), filled(1, 3, 3),
				    filled(1, 2, 4)};

	(void)state;
	assert_memory_equal(base, others[0], BYTES);
	/* Of unrelated bytes, one in 256 is equal by chance. */
	for (unsigned i = 1; i < 4; i++)
		assert_true(equal_bytes(base, others[i]) < BYTES / 200);
	for (unsigned i = 0; i < 4; i++)
		free(others[i]);
	free(base);
}

/* Every byte value, and every pair of neighbours, comes about equally often. */
static void data_is_even(void **state)
{
	unsigned char *memory = filled(7, 0, 0);
	unsigned *pairs = calloc(65536, sizeof(*pairs));
	unsigned most = 0;

	(void)state;
	assert_non_null(pairs);
	for (size_t i = 0; i < BYTES; i += 2)
		pairs[memory[i] << 8 | memory[i + 1]]++;
	for (size_t i = 0; i < 65536; i++)
		most = pairs[i] > most ? pairs[i] : most;
	assert_true(most < 32); /* 8 expected */
	free(pairs);
	free(memory);
}

static int compare_blocks(const void *a, const void *b)
{
	return memcmp(*(const unsigned char *const *)a, *(const unsigned char *const *)b, 4096);
}

/* CA-11: no 4 KiB block of a write run is equal to another. */
static void stamped_blocks_differ(void **state)
{
	enum {
		ROUNDS = 8,
		BLOCKS = ROUNDS * BYTES / 4096
	};
	unsigned char *written = malloc((size_t)ROUNDS * BYTES);
	unsigned char *memory = filled(5, 0, 0);
	unsigned char *blocks[BLOCKS];

	(void)state;
	assert_non_null(written);
	for (unsigned op = 0; op < ROUNDS; op++) {
		fill_stamp(memory, BYTES, 5, 0, op + 1);
		memcpy(written + (size_t)op * BYTES, memory, BYTES);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		blocks[i] = written + (size_t)i * 4096;
	qsort(blocks, BLOCKS, sizeof(blocks[0]), compare_blocks);
	for (unsigned i = 1; i < BLOCKS; i++)
		assert_int_not_equal(memcmp(blocks[i - 1], blocks[i], 4096), 0);
	free(memory);
	free(written);
}

static void fills_exactly_what_it_should(void **state)
{
	unsigned char memory[4096 * 2 + 64];

	(void)state;
	for (size_t bytes = 0; bytes < sizeof(memory) - 32; bytes += bytes < 40 ? 1 : 4091) {
		memset(memory, 0x5a, sizeof(memory));
		fill_random(memory, bytes, 9, 9, 9);
		fill_stamp(memory, bytes, 9, 9, 9);
		for (size_t i = bytes; i < bytes + 32; i++)
			assert_int_equal(memory[i], 0x5a);
	}
}

static void content_of_jobs(void **state)
{
	struct io_job job = {.type = IO_READ, .memory = PST_MEMORY_DEVICE};

	(void)state;
	assert_int_equal(fill_content(&job), IO_CONTENT_NONE);
	assert_null(fill_content_name(IO_CONTENT_NONE));
	job.type = IO_RANDWRITE;
	assert_int_equal(fill_content(&job), IO_CONTENT_REPEATED);
	job.memory = PST_MEMORY_HEAP;
	assert_int_equal(fill_content(&job), IO_CONTENT_UNIQUE);
	job.memory = PST_MEMORY_DEVICE;
	job.xfer = IO_XFER_CPU_ONLY;
	assert_int_equal(fill_content(&job), IO_CONTENT_UNIQUE);
	job.refill = true;
	assert_int_equal(fill_content(&job), IO_CONTENT_REFILLED);
	assert_string_equal(fill_content_name(IO_CONTENT_REFILLED), "refilled");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_has_its_data),
		cmocka_unit_test(data_is_even),
		cmocka_unit_test(stamped_blocks_differ),
		cmocka_unit_test(fills_exactly_what_it_should),
		cmocka_unit_test(content_of_jobs),
	};

	return cmocka_run_group_tests_name("io fill", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KIB        1024ull
#define MAX_PIECES 100000

static struct io_pattern_config share(uint64_t start, uint64_t end, uint64_t bytes)
{
	return (struct io_pattern_config){
		.start_bytes = start,
		.end_bytes = end,
		.min_bytes = bytes,
		.max_bytes = bytes,
		.seed = 308,
		.thread = 3,
	};
}

/* Walks one pass and counts how often each byte of [start, end) is moved. */
static unsigned walk(const struct io_pattern_config *config, unsigned char *seen)
{
	struct io_pattern pattern;
	struct io_piece piece;
	uint64_t total = 0;
	unsigned pieces = 0;

	pattern_init(&pattern, config);
	while (pattern_next(&pattern, &piece)) {
		assert_true(++pieces < MAX_PIECES);
		assert_true(piece.bytes >= 1 && piece.bytes <= config->max_bytes);
		assert_true(piece.offset_bytes >= config->start_bytes);
		assert_true(piece.offset_bytes + piece.bytes <= config->end_bytes);
		for (uint64_t i = 0; seen && i < piece.bytes; i++)
			seen[piece.offset_bytes - config->start_bytes + i]++;
		total += piece.bytes;
	}
	assert_int_equal(total, pattern_pass_bytes(&pattern));
	if (config->min_bytes == config->max_bytes)
		assert_int_equal(pieces, pattern_pass_ops(&pattern));
	else
		assert_int_equal(pattern_pass_ops(&pattern), 0);
	return pieces;
}

static void assert_every_byte_once(const struct io_pattern_config *config)
{
	size_t bytes = config->end_bytes - config->start_bytes;
	unsigned char *seen = calloc(bytes + 1, 1);

	assert_non_null(seen);
	walk(config, seen);
	for (size_t i = 0; i < bytes; i++) {
		if (seen[i] != 1)
			fail_msg("byte %zu of %zu moved %u times (size %ju, random %d, -U %d)", i,
				 bytes, seen[i], (uintmax_t)config->max_bytes, config->random,
				 config->unaligned);
	}
	free(seen);
}

static const uint64_t lengths[] = {0, 1, 2, 511, 4095, 4096, 4097, 10000, 30000, 65536, 300001};
static const uint64_t starts[] = {0, 1, 4096, 12345};
static const uint64_t sizes[] = {1000, 4096, 5000, 65536, 1048576};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void every_byte_once_per_pass(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT(lengths); l++) {
		for (size_t s = 0; s < COUNT(starts); s++) {
			for (size_t z = 0; z < COUNT(sizes); z++) {
				struct io_pattern_config c =
					share(starts[s], starts[s] + lengths[l], sizes[z]);

				assert_every_byte_once(&c);
				c.random = true;
				assert_every_byte_once(&c);
				c.unaligned = true;
				assert_every_byte_once(&c);
			}
		}
	}
}

static void tiny_sizes_cover_all(void **state)
{
	(void)state;
	for (uint64_t bytes = 1; bytes <= 5; bytes++) {
		for (uint64_t start = 0; start < 3; start++) {
			struct io_pattern_config c = share(start, start + 97, bytes);

			assert_every_byte_once(&c);
			c.random = true;
			assert_every_byte_once(&c);
			c.unaligned = true;
			assert_every_byte_once(&c);
		}
	}
}

static void size_ranges_cover_all(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT(lengths); l++) {
		struct io_pattern_config c = share(4096, 4096 + lengths[l], 0);

		c.min_bytes = 4 * KIB;
		c.max_bytes = 32 * KIB;
		c.step_bytes = 1 * KIB;
		assert_every_byte_once(&c);
		c.random = true;
		assert_every_byte_once(&c);
		c.unaligned = true;
		assert_every_byte_once(&c);
	}
}

static void size_range_draws_all_sizes(void **state)
{
	struct io_pattern_config c = share(0, 4096 * KIB, 0);
	unsigned counts[29] = {0};
	struct io_pattern pattern;
	struct io_piece piece;

	(void)state;
	c.min_bytes = 4 * KIB;
	c.max_bytes = 32 * KIB;
	c.step_bytes = 1 * KIB;
	c.wrap = true;
	pattern_init(&pattern, &c);
	for (unsigned i = 0; i < 10000; i++) {
		assert_true(pattern_next(&pattern, &piece));
		assert_int_equal(piece.bytes % KIB, 0);
		if (piece.offset_bytes + piece.bytes == c.end_bytes)
			continue; /* cut at the end */
		assert_true(piece.bytes >= 4 * KIB);
		counts[piece.bytes / KIB - 4]++;
	}
	for (unsigned i = 0; i < 29; i++)
		assert_true(counts[i] > 200 && counts[i] < 500);
}

static void sequential_is_in_order(void **state)
{
	struct io_pattern_config c = share(4096, 4096 + 30000, 4096);
	struct io_pattern pattern;
	struct io_piece piece;

	(void)state;
	pattern_init(&pattern, &c);
	/* IO-01: eight pieces, the last one of 1,328 bytes. */
	for (unsigned i = 0; i < 8; i++) {
		assert_true(pattern_next(&pattern, &piece));
		assert_int_equal(piece.offset_bytes, 4096 + i * 4096);
		assert_int_equal(piece.bytes, i < 7 ? 4096 : 1328);
	}
	assert_false(pattern_next(&pattern, &piece));
	assert_false(pattern_next(&pattern, &piece));
}

static void random_is_not_in_order(void **state)
{
	struct io_pattern_config c = share(0, 1024 * 4096, 4096);
	struct io_pattern pattern;
	struct io_piece piece;
	uint64_t before = 0;
	unsigned neighbours = 0;

	(void)state;
	c.random = true;
	pattern_init(&pattern, &c);
	while (pattern_next(&pattern, &piece)) {
		assert_int_equal(piece.offset_bytes % 4096, 0);
		if (piece.offset_bytes == before + 4096)
			neighbours++;
		before = piece.offset_bytes;
	}
	assert_true(neighbours < 20);
}

static void same_order(const struct io_pattern_config *a, const struct io_pattern_config *b,
		       bool same)
{
	struct io_pattern left, right;
	struct io_piece l, r;
	unsigned equal = 0;

	pattern_init(&left, a);
	pattern_init(&right, b);
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(pattern_next(&left, &l));
		assert_true(pattern_next(&right, &r));
		equal += l.offset_bytes == r.offset_bytes && l.bytes == r.bytes;
	}
	if (same)
		assert_int_equal(equal, 1000);
	else
		assert_true(equal < 50);
}

static void seed_and_thread_decide(void **state)
{
	struct io_pattern_config a = share(0, 4096 * 4096, 4096);
	struct io_pattern_config b;

	(void)state;
	a.random = true;
	for (unsigned replace = 0; replace < 2; replace++) {
		a.with_replacement = replace;
		b = a;
		same_order(&a, &b, true);
		b.seed = 309;
		same_order(&a, &b, false);
		b = a;
		b.thread = 4;
		same_order(&a, &b, false);
	}
}

static void passes_differ_and_are_counted(void **state)
{
	struct io_pattern_config c = share(0, 100 * 4096, 4096);
	unsigned seen[100] = {0};
	uint64_t first[100];
	struct io_pattern pattern;
	struct io_piece piece;
	unsigned equal = 0;

	(void)state;
	c.random = true;
	c.wrap = true;
	pattern_init(&pattern, &c);
	for (unsigned i = 0; i < 300; i++) {
		assert_true(pattern_next(&pattern, &piece));
		assert_int_equal(pattern.pass, i / 100);
		seen[piece.offset_bytes / 4096]++;
		if (i < 100)
			first[i] = piece.offset_bytes;
		else if (i < 200)
			equal += first[i - 100] == piece.offset_bytes;
	}
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(seen[i], 3);
	assert_true(equal < 20);
}

static void alignment_is_kept(void **state)
{
	struct io_pattern_config c = share(1000, 1000 + 200000, 5000);
	struct io_pattern pattern;
	struct io_piece piece;
	unsigned pieces = 0;

	(void)state;
	c.random = true;
	c.align_bytes = 8192;
	walk(&c, NULL);
	pattern_init(&pattern, &c);
	while (pattern_next(&pattern, &piece)) {
		assert_int_equal(piece.offset_bytes % 8192, 0);
		assert_true(piece.bytes == 5000 || piece.offset_bytes + piece.bytes == c.end_bytes);
		pieces++;
	}
	/* Multiples of 8192 in [1000, 201000): 1 to 24. */
	assert_int_equal(pieces, 24);
	c.with_replacement = true;
	pattern_init(&pattern, &c);
	while (pattern_next(&pattern, &piece))
		assert_int_equal(piece.offset_bytes % 8192, 0);
}

static void unaligned_offsets(void **state)
{
	struct io_pattern_config c = share(0, 4096 * 1000, 4096);
	struct io_pattern pattern;
	struct io_piece piece;

	(void)state;
	c.unaligned = true;
	for (uint64_t seed = 0; seed < 50; seed++) {
		c.seed = seed;
		pattern_init(&pattern, &c);
		while (pattern_next(&pattern, &piece)) {
			/* Only the bytes in front of the first block start at the share's start. */
			if (piece.offset_bytes)
				assert_int_not_equal(piece.offset_bytes % 4096, 0);
			else
				assert_true(piece.bytes < 4096);
		}
	}
	c.with_replacement = true;
	pattern_init(&pattern, &c);
	while (pattern_next(&pattern, &piece))
		assert_int_not_equal(piece.offset_bytes % 4096, 0);
}

static void replacement_leaves_blocks_out(void **state)
{
	struct io_pattern_config c = share(0, 1024 * 65536, 65536);
	unsigned char seen[1024] = {0};
	struct io_pattern pattern;
	struct io_piece piece;
	unsigned pieces = 0;
	unsigned blocks = 0;

	(void)state;
	c.random = true;
	c.with_replacement = true;
	c.align_bytes = 65536;
	pattern_init(&pattern, &c);
	while (pattern_next(&pattern, &piece)) {
		seen[piece.offset_bytes / 65536] = 1;
		pieces++;
	}
	assert_int_equal(pieces, 1024);
	for (unsigned i = 0; i < 1024; i++)
		blocks += seen[i];
	/* VE-05: theory 63.2 %. */
	assert_true(blocks > 600 && blocks < 695);
}

static void empty_share_ends(void **state)
{
	struct io_pattern_config c = share(8192, 8192, 4096);
	struct io_pattern pattern;
	struct io_piece piece;

	(void)state;
	c.wrap = true;
	for (unsigned i = 0; i < 8; i++) {
		c.random = i & 1;
		c.unaligned = i & 2;
		c.with_replacement = i & 4;
		pattern_init(&pattern, &c);
		assert_false(pattern_next(&pattern, &piece));
	}
	/* No multiple of the alignment inside: nothing to move, and no endless loop. */
	c = share(100, 200, 10);
	c.random = true;
	c.wrap = true;
	c.align_bytes = 4096;
	pattern_init(&pattern, &c);
	assert_false(pattern_next(&pattern, &piece));
}

/* SC-01: 1,024 pieces of 1 MiB. Also a share far beyond 4 GiB keeps every block once. */
static void large_shares(void **state)
{
	struct io_pattern_config c = share(0, (uint64_t)1 << 62, 1);
	struct io_pattern pattern;
	struct io_piece piece;

	(void)state;
	c.random = true;
	pattern_init(&pattern, &c);
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(pattern_next(&pattern, &piece));
		assert_true(piece.offset_bytes < c.end_bytes);
	}
	c = share(0, (uint64_t)1 << 30, (uint64_t)1 << 20);
	c.random = true;
	assert_int_equal(walk(&c, NULL), 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_once_per_pass),
		cmocka_unit_test(tiny_sizes_cover_all),
		cmocka_unit_test(size_ranges_cover_all),
		cmocka_unit_test(size_range_draws_all_sizes),
		cmocka_unit_test(sequential_is_in_order),
		cmocka_unit_test(random_is_not_in_order),
		cmocka_unit_test(seed_and_thread_decide),
		cmocka_unit_test(passes_differ_and_are_counted),
		cmocka_unit_test(alignment_is_kept),
		cmocka_unit_test(unaligned_offsets),
		cmocka_unit_test(replacement_leaves_blocks_out),
		cmocka_unit_test(empty_share_ends),
		cmocka_unit_test(large_shares),
	};

	return cmocka_run_group_tests_name("io pattern", tests, NULL, NULL);
}

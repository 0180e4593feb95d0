/* SPDX-License-Identifier: Apache-2.0 */
#include "penstock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define US 1000ull
#define MS 1000000ull
#define S  1000000000ull

static int setup(void **state)
{
	*state = pst_histogram_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	pst_histogram_free(*state);
	return 0;
}

static void assert_within(uint64_t got, uint64_t want, double percent)
{
	double error = fabs((double)got - (double)want) * 100 / (double)want;

	if (error > percent)
		fail_msg("got %ju, want %ju within %g %%", (uintmax_t)got, (uintmax_t)want,
			 percent);
}

/* ST-01: nearest rank. */
static void hundred_samples(void **state)
{
	struct pst_histogram *h = *state;

	for (uint64_t us = 1; us <= 100; us++)
		pst_histogram_record(h, us * US);
	assert_within(pst_histogram_percentile(h, 50), 50 * US, 0.8);
	assert_within(pst_histogram_percentile(h, 90), 90 * US, 0.8);
	assert_within(pst_histogram_percentile(h, 99), 99 * US, 0.8);
	assert_int_equal(pst_histogram_percentile(h, 99.9), 100 * US);
	assert_int_equal(pst_histogram_percentile(h, 100), 100 * US);
	assert_int_equal(pst_histogram_min(h), 1 * US);
	assert_int_equal(pst_histogram_max(h), 100 * US);
	assert_true(pst_histogram_mean(h) == 50500.0);
}

static void ten_samples(void **state)
{
	struct pst_histogram *h = *state;

	for (uint64_t us = 1; us <= 10; us++)
		pst_histogram_record(h, us * US);
	assert_int_equal(pst_histogram_percentile(h, 99), 10 * US);
	assert_int_equal(pst_histogram_max(h), 10 * US);
	assert_within(pst_histogram_percentile(h, 50), 5 * US, 0.8);
	assert_int_equal(pst_histogram_percentile(h, 10), 1 * US);
	assert_within(pst_histogram_percentile(h, 10.1), 2 * US, 0.8);
}

static void one_sample(void **state)
{
	static const double percents[] = {0.001, 1, 50, 90, 99, 99.9, 99.99, 100};
	struct pst_histogram *h = *state;

	pst_histogram_record(h, 123456789);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		assert_int_equal(pst_histogram_percentile(h, percents[i]), 123456789);
	assert_int_equal(pst_histogram_min(h), 123456789);
	assert_int_equal(pst_histogram_max(h), 123456789);
	assert_true(pst_histogram_mean(h) == 123456789.0);
}

static void no_sample(void **state)
{
	struct pst_histogram *h = *state;
	struct pst_bucket bucket;
	uint32_t cursor = 0;

	assert_int_equal(pst_histogram_count(h), 0);
	assert_int_equal(pst_histogram_min(h), 0);
	assert_int_equal(pst_histogram_max(h), 0);
	assert_int_equal(pst_histogram_percentile(h, 99), 0);
	assert_true(isnan(pst_histogram_mean(h)));
	assert_false(pst_histogram_next(h, &cursor, &bucket));
}

/* A percentage that is an exact rank must not be pushed up by floating point. */
static void exact_ranks(void **state)
{
	struct pst_histogram *h = *state;

	for (unsigned i = 0; i < 999; i++)
		pst_histogram_record(h, 100);
	pst_histogram_record(h, 5 * S);
	assert_int_equal(pst_histogram_percentile(h, 99.9), 100);
	assert_int_equal(pst_histogram_percentile(h, 99.91), 5 * S);
}

/* ST-03: very long latencies among short ones. */
static void long_latencies(void **state)
{
	struct pst_histogram *h = *state;

	for (unsigned i = 0; i < 98; i++)
		pst_histogram_record(h, 1 * MS);
	pst_histogram_record(h, 94400 * MS);
	pst_histogram_record(h, 319 * S);
	assert_within(pst_histogram_percentile(h, 50), 1 * MS, 0.8);
	assert_within(pst_histogram_percentile(h, 98), 1 * MS, 0.8);
	assert_within(pst_histogram_percentile(h, 99), 94400 * MS, 0.8);
	assert_int_equal(pst_histogram_percentile(h, 99.9), 319 * S);
	assert_int_equal(pst_histogram_max(h), 319 * S);
	assert_int_equal(pst_histogram_count(h), 100);
}

static void buckets_hold_their_values(void **state)
{
	struct pst_histogram *h = *state;
	struct pst_bucket bucket;

	for (unsigned bit = 0; bit < 64; bit++) {
		for (int delta = -1; delta <= 1; delta++) {
			uint64_t value = ((uint64_t)1 << bit) + (uint64_t)(int64_t)delta;
			uint32_t cursor = 0;

			pst_histogram_reset(h);
			pst_histogram_record(h, value);
			assert_true(pst_histogram_next(h, &cursor, &bucket));
			assert_true(bucket.low_ns <= value && value <= bucket.high_ns);
			assert_true((double)(bucket.high_ns - bucket.low_ns) <=
				    (double)bucket.low_ns * 0.008);
			assert_int_equal(bucket.count, 1);
			assert_false(pst_histogram_next(h, &cursor, &bucket));
			assert_int_equal(pst_histogram_percentile(h, 50), value);
		}
	}
}

static void small_values_are_exact(void **state)
{
	struct pst_histogram *h = *state;
	struct pst_bucket bucket;
	uint32_t cursor = 0;

	for (uint64_t value = 0; value < 256; value++)
		pst_histogram_record(h, value);
	for (uint64_t value = 0; value < 256; value++) {
		assert_true(pst_histogram_next(h, &cursor, &bucket));
		assert_int_equal(bucket.low_ns, value);
		assert_int_equal(bucket.high_ns, value);
	}
	assert_false(pst_histogram_next(h, &cursor, &bucket));
	assert_int_equal(pst_histogram_percentile(h, 50), 127);
}

/* Buckets touch each other: no value between two of them, none in both. */
static void buckets_are_contiguous(void **state)
{
	struct pst_histogram *h = *state;
	struct pst_bucket bucket;
	uint64_t next = 0;
	uint32_t cursor = 0;

	for (uint64_t value = 0; value < 100000; value++)
		pst_histogram_record(h, value);
	while (pst_histogram_next(h, &cursor, &bucket)) {
		assert_int_equal(bucket.low_ns, next);
		if (bucket.high_ns < 100000)
			assert_int_equal(bucket.count, bucket.high_ns - bucket.low_ns + 1);
		next = bucket.high_ns + 1;
	}
	assert_true(next >= 100000);
}

static void whole_range(void **state)
{
	struct pst_histogram *h = *state;

	pst_histogram_record(h, UINT64_MAX);
	pst_histogram_record(h, UINT64_MAX);
	pst_histogram_record(h, 0);
	assert_int_equal(pst_histogram_max(h), UINT64_MAX);
	assert_int_equal(pst_histogram_min(h), 0);
	/* A 64-bit sum would have wrapped. */
	assert_true(pst_histogram_mean(h) > 1.2297e19 && pst_histogram_mean(h) < 1.2299e19);
}

static void merge_equals_one(void **state)
{
	struct pst_histogram *all = *state;
	struct pst_histogram *parts[3];
	struct pst_histogram *sum = pst_histogram_new();
	struct pst_bucket left, right;
	uint32_t left_cursor = 0, right_cursor = 0;
	uint64_t value = 1;

	assert_non_null(sum);
	for (unsigned i = 0; i < 3; i++) {
		parts[i] = pst_histogram_new();
		assert_non_null(parts[i]);
	}
	/* parts[2] stays empty: merging nothing changes nothing. */
	for (unsigned i = 0; i < 5000; i++) {
		value = value * 6364136223846793005ull + 1442695040888963407ull;
		pst_histogram_record(all, value >> (i % 60));
		pst_histogram_record(parts[i % 2], value >> (i % 60));
	}
	for (unsigned i = 0; i < 3; i++) {
		pst_histogram_merge(sum, parts[i]);
		pst_histogram_free(parts[i]);
	}
	while (pst_histogram_next(all, &left_cursor, &left)) {
		assert_true(pst_histogram_next(sum, &right_cursor, &right));
		assert_int_equal(left.low_ns, right.low_ns);
		assert_int_equal(left.count, right.count);
	}
	assert_false(pst_histogram_next(sum, &right_cursor, &right));
	assert_int_equal(pst_histogram_count(all), pst_histogram_count(sum));
	assert_int_equal(pst_histogram_min(all), pst_histogram_min(sum));
	assert_int_equal(pst_histogram_max(all), pst_histogram_max(sum));
	assert_true(pst_histogram_mean(all) == pst_histogram_mean(sum));
	pst_histogram_free(sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hundred_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(ten_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(one_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(no_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(exact_ranks, setup, teardown),
		cmocka_unit_test_setup_teardown(long_latencies, setup, teardown),
		cmocka_unit_test_setup_teardown(buckets_hold_their_values, setup, teardown),
		cmocka_unit_test_setup_teardown(small_values_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(buckets_are_contiguous, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_range, setup, teardown),
		cmocka_unit_test_setup_teardown(merge_equals_one, setup, teardown),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/result.h"

#define GIB 1073741824.0

/* The table that the field knows: 4 to 128 threads on two drives. */
static const unsigned field_threads[] = {4, 8, 16, 32, 64, 128};
static const double field_iops[] = {24468, 49254, 100928, 238245, 484612, 850240};

static void knee_of_a_rising_curve_is_the_end(void **state)
{
	(void)state;
	assert_int_equal(sweep_knee(field_threads, field_iops, 6), 5);
}

static void knee_of_a_flat_end(void **state)
{
	static const double rates[] = {100, 190, 350, 380, 388, 371};
	static const unsigned shuffled[] = {128, 64, 32, 16, 8, 4};
	static const double back[] = {371, 388, 380, 350, 190, 100};

	(void)state;
	/* 0.9 of 388 is 349.2: 16 threads reach it. */
	assert_int_equal(sweep_knee(field_threads, rates, 6), 2);
	/* The order of the list does not matter. */
	assert_int_equal(sweep_knee(shuffled, back, 6), 3);
}

static void knee_without_numbers(void **state)
{
	static const double none[] = {NAN, NAN};
	static const double one[] = {NAN, 5};

	(void)state;
	assert_int_equal(sweep_knee(field_threads, none, 2), 2);
	assert_int_equal(sweep_knee(field_threads, one, 2), 1);
}

static void spreads(void **state)
{
	double odd[] = {3, 1, 2};
	double even[] = {4, 1, 3, 2};
	struct sweep_spread spread = sweep_spread(odd, 3);

	(void)state;
	assert_true(spread.median == 2 && spread.min == 1 && spread.max == 3);
	spread = sweep_spread(even, 4);
	assert_true(spread.median == 2.5 && spread.min == 1 && spread.max == 4);
	spread = sweep_spread(even, 0);
	assert_true(isnan(spread.median) && isnan(spread.min));
}

static void differences(void **state)
{
	struct sweep_spread slow = {.rounds = 4, .median = 2, .min = 1, .max = 3};
	struct sweep_spread fast = {.rounds = 4, .median = 5, .min = 4, .max = 6};
	struct sweep_spread wide = {.rounds = 4, .median = 4, .min = 2, .max = 6};

	(void)state;
	assert_int_equal(sweep_compare(&slow, &fast), SWEEP_SECOND_FASTER);
	assert_int_equal(sweep_compare(&fast, &slow), SWEEP_FIRST_FASTER);
	assert_int_equal(sweep_compare(&slow, &wide), SWEEP_NO_DIFFERENCE);
	fast.rounds = 3;
	assert_int_equal(sweep_compare(&slow, &fast), SWEEP_TOO_FEW);
}

static void thousands(void **state)
{
	(void)state;
	assert_string_equal(sweep_thousands(24468.2).text, "24,468");
	assert_string_equal(sweep_thousands(850240).text, "850,240");
	assert_string_equal(sweep_thousands(0).text, "0");
	assert_string_equal(sweep_thousands(999.4).text, "999");
	assert_string_equal(sweep_thousands(1234567.5).text, "1,234,568");
	assert_string_equal(sweep_thousands(NAN).text, "n/a");
}

struct table {
	struct io_job job;
	struct sweep sweep;
	char *text;
};

static int setup(void **state)
{
	struct table *t = calloc(1, sizeof(*t));

	memcpy(t->job.threads, field_threads, sizeof(field_threads));
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct table *t = *state;

	sweep_free(&t->sweep);
	free(t->text);
	free(t);
	return 0;
}

/* A run of `seconds` that moved 1 GiB by 4 KiB. */
static void enter(struct table *t, unsigned setting, unsigned round, double seconds, uint64_t ops)
{
	struct io_plan plan = {.job = &t->job, .threads = t->job.threads[setting]};
	struct io_result result;

	assert_int_equal(result_init(&result, plan.threads), 0);
	result.elapsed_s = seconds;
	result.ledger.completed_ops = result.ledger.issued_ops = ops;
	result.ledger.completed_bytes = result.ledger.requested_bytes = (uint64_t)GIB;
	result.mean_latency_us = 163.478958;
	sweep_add(&t->sweep, setting, round, &plan, &result);
	result_free(&result);
}

static const char *print(struct table *t)
{
	size_t length;
	FILE *out = open_memstream(&t->text, &length);

	sweep_print(out, &t->sweep);
	fclose(out);
	return t->text;
}

static void table_of_the_field(void **state)
{
	static const uint64_t ops[] = {2934132, 5863720, 12052359, 28525070, 57894180, 101731194};
	static const double seconds[] = {119.917332, 119.049917, 119.415992,
					 119.726070, 119.465109, 119.658960};
	static const char *const iops[] = {"24,468",  "49,254",  "100,928",
					   "238,253", "484,612", "850,176"};
	struct table *t = *state;

	t->job.thread_counts = 6;
	t->job.repeat = 1;
	assert_int_equal(sweep_init(&t->sweep, &t->job), 0);
	for (unsigned i = 0; i < 6; i++)
		enter(t, i, 0, seconds[i], ops[i]);
	print(t);
	assert_non_null(strstr(t->text, "Thread Count (-w)"));
	assert_non_null(strstr(t->text, "IOPS (ops / total_time)"));
	for (unsigned i = 0; i < 6; i++)
		assert_non_null(strstr(t->text, iops[i]));
	assert_non_null(strstr(t->text, "163.5"));
	assert_non_null(strstr(t->text, "Knee: 128 threads"));
	assert_non_null(strstr(t->text, "largest number tried"));
}

/* Rows that measure no drive say so; no line ends in blanks. */
static void rows_are_marked(void **state)
{
	struct table *t = *state;

	t->job.thread_counts = 2;
	t->job.repeat = 1;
	assert_int_equal(sweep_init(&t->sweep, &t->job), 0);
	enter(t, 0, 0, 2, 1000);
	enter(t, 1, 0, 2, 1000);
	t->sweep.runs[1].memory_backed = true;
	t->sweep.runs[1].emulated = true;
	print(t);
	assert_non_null(strstr(t->text, "  memory-backed, emulated\n"));
	assert_null(strstr(t->text, " \n"));
}

/* CA-10: the first round apart from the others. */
static void first_round_is_apart(void **state)
{
	struct table *t = *state;
	struct sweep_spread first, later;

	t->job.thread_counts = 1;
	t->job.repeat = 5;
	assert_int_equal(sweep_init(&t->sweep, &t->job), 0);
	enter(t, 0, 0, 2, 1000);
	for (unsigned i = 1; i < 5; i++)
		enter(t, 0, i, 0.5 + i / 100.0, 1000);
	first = sweep_of(&t->sweep, 0, true);
	later = sweep_of(&t->sweep, 0, false);
	assert_int_equal(first.rounds, 1);
	assert_true(first.median == 0.5);
	assert_int_equal(later.rounds, 4);
	assert_true(later.max < 2 && later.min > 1.8);
	assert_non_null(
		strstr(print(t), "first median 0.500 GiB/s (0.500 .. 0.500, 1 round), later"));
	/* Evicted before each: all rounds are alike. */
	t->job.cold = true;
	later = sweep_of(&t->sweep, 0, false);
	assert_int_equal(later.rounds, 5);
}

static void cut_runs_have_no_part(void **state)
{
	struct table *t = *state;

	t->job.thread_counts = 2;
	t->job.repeat = 1;
	assert_int_equal(sweep_init(&t->sweep, &t->job), 0);
	enter(t, 0, 0, 1, 1000);
	assert_int_equal(sweep_of(&t->sweep, 0, false).rounds, 1);
	assert_int_equal(sweep_of(&t->sweep, 1, false).rounds, 0);
	print(t);
	assert_non_null(strstr(t->text, "n/a"));
	assert_non_null(strstr(t->text, "runs missing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knee_of_a_rising_curve_is_the_end),
		cmocka_unit_test(knee_of_a_flat_end),
		cmocka_unit_test(knee_without_numbers),
		cmocka_unit_test(spreads),
		cmocka_unit_test(differences),
		cmocka_unit_test(thousands),
		cmocka_unit_test_setup_teardown(table_of_the_field, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_are_marked, setup, teardown),
		cmocka_unit_test_setup_teardown(first_round_is_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(cut_runs_have_no_part, setup, teardown),
	};

	return cmocka_run_group_tests_name("io sweep", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/units.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint64_t size_of(const char *text, enum units_rules rules)
{
	struct units_why why = {""};
	uint64_t bytes = 0;
	int rc = units_parse_size(text, rules, &bytes, &why);

	if (rc)
		fail_msg("'%s' refused: %s", text, why.text);
	return bytes;
}

/* AR-01 */
static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(size_of("4k", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("4K", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("4KiB", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("4kib", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("4Ki", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("4KB", UNITS_STANDARD), 4000);
	assert_int_equal(size_of("4kB", UNITS_STANDARD), 4000);
	assert_int_equal(size_of("4kb", UNITS_STANDARD), 4000);
	assert_int_equal(size_of("4KB", UNITS_GDSIO), 4096);
	assert_int_equal(size_of("2GB", UNITS_STANDARD), 2000000000);
	assert_int_equal(size_of("2GB", UNITS_GDSIO), 2147483648);
	assert_int_equal(size_of("500M", UNITS_STANDARD), 524288000);
	assert_int_equal(size_of("1.5G", UNITS_STANDARD), 1610612736);
	assert_int_equal(size_of("1T", UNITS_STANDARD), 1099511627776);
	assert_int_equal(size_of("1TB", UNITS_STANDARD), 1000000000000);
	assert_int_equal(size_of("4096", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("4096B", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("0x1000", UNITS_STANDARD), 4096);
	assert_int_equal(size_of("0X1b", UNITS_STANDARD), 27);
	assert_int_equal(size_of("010", UNITS_STANDARD), 10);
	assert_int_equal(size_of("0.5K", UNITS_STANDARD), 512);
	assert_int_equal(size_of("1.0000", UNITS_STANDARD), 1);
	assert_true(size_of("18446744073709551615", UNITS_STANDARD) == UINT64_MAX);
	assert_true(size_of("16777215T", UNITS_STANDARD) == 18446742974197923840u);
}

static void refused(const char *text, int code, const char *part)
{
	struct units_why why = {""};
	uint64_t bytes = 77;

	assert_int_equal(units_parse_size(text, UNITS_STANDARD, &bytes, &why), code);
	assert_int_equal(bytes, 77);
	if (!strstr(why.text, part))
		fail_msg("'%s': '%s' does not say '%s'", text, why.text, part);
}

/* AR-03 and the like */
static void test_bad_sizes(void **state)
{
	(void)state;
	refused("-1m", -EINVAL, "'-1m' is negative");
	refused("", -EINVAL, "empty");
	refused("+4", -EINVAL, "position 1");
	refused(" 4", -EINVAL, "position 1");
	refused("4 K", -EINVAL, "position 2");
	refused("4K ", -EINVAL, "position 2");
	refused("4X", -EINVAL, "'X' at position 2");
	refused("4KK", -EINVAL, "position 2");
	refused("4iB", -EINVAL, "position 2");
	refused("4P", -EINVAL, "position 2");
	refused("K", -EINVAL, "position 1");
	refused("1.", -EINVAL, "ends at position 3");
	refused(".5G", -EINVAL, "position 1");
	refused("1.0001K", -EINVAL, "whole number");
	refused("0.3", -EINVAL, "whole number");
	refused("1e3", -EINVAL, "position 2");
	refused("0x", -EINVAL, "ends at position 3");
	refused("0x10K", -EINVAL, "position 5");
	refused("18446744073709551616", -ERANGE, "too large");
	refused("16777216T", -ERANGE, "too large");
	refused("99999999999999999999999G", -ERANGE, "too large");
	refused("1.0000000000000000000K", -EINVAL, "18 digits");
}

static void test_seconds(void **state)
{
	struct units_why why;
	double s = 0;

	(void)state;
	assert_int_equal(units_parse_seconds("30", &s, &why), 0);
	assert_true(s == 30);
	assert_int_equal(units_parse_seconds("0.5", &s, &why), 0);
	assert_true(s == 0.5);
	assert_int_equal(units_parse_seconds("250us", &s, &why), 0);
	assert_true(fabs(s - 0.00025) < 1e-12);
	assert_int_equal(units_parse_seconds("500ms", &s, &why), 0);
	assert_true(fabs(s - 0.5) < 1e-12);
	assert_int_equal(units_parse_seconds("2m", &s, &why), 0);
	assert_true(s == 120);
	assert_int_equal(units_parse_seconds("1.5h", &s, &why), 0);
	assert_true(s == 5400);
	assert_int_equal(units_parse_seconds("2d", &s, &why), 0);
	assert_true(s == 172800);
	assert_int_equal(units_parse_seconds("-3", &s, &why), -EINVAL);
	assert_int_equal(units_parse_seconds("3 s", &s, &why), -EINVAL);
	assert_int_equal(units_parse_seconds("3y", &s, &why), -EINVAL);
	assert_non_null(strstr(why.text, "position 2"));
	assert_int_equal(units_parse_seconds("1000000000000", &s, &why), -ERANGE);
	assert_true(s == 172800);
}

static void test_unsigned(void **state)
{
	struct units_why why;
	uint64_t v = 0;

	(void)state;
	assert_int_equal(units_parse_unsigned("0308", 0, UINT64_MAX, &v, &why), 0);
	assert_int_equal(v, 308);
	assert_int_equal(units_parse_unsigned("0xff", 0, UINT64_MAX, &v, &why), 0);
	assert_int_equal(v, 255);
	assert_int_equal(units_parse_unsigned("7", 8, 9, &v, &why), -ERANGE);
	assert_non_null(strstr(why.text, "outside 8 to 9"));
	assert_int_equal(units_parse_unsigned("12a", 0, 99, &v, &why), -EINVAL);
	assert_non_null(strstr(why.text, "'a' at position 3"));
	assert_int_equal(units_parse_unsigned("-1", 0, 99, &v, &why), -EINVAL);
	assert_int_equal(units_parse_unsigned("4K", 0, 9999, &v, &why), -EINVAL);
}

static void test_lists(void **state)
{
	static const unsigned expected[] = {0, 1, 4, 5, 6, 7};
	struct units_why why;
	unsigned values[8], count;

	(void)state;
	assert_int_equal(units_parse_list("0,1,4-7", 0, 100, values, 8, &count, &why), 0);
	assert_int_equal(count, 6);
	assert_memory_equal(values, expected, sizeof(expected));
	assert_int_equal(units_parse_list("0-8", 0, 100, values, 8, &count, &why), -ERANGE);
	assert_non_null(strstr(why.text, "more than 8"));
	assert_int_equal(units_parse_list("1,", 0, 100, values, 8, &count, &why), -EINVAL);
	assert_int_equal(units_parse_list(",1", 0, 100, values, 8, &count, &why), -EINVAL);
	assert_int_equal(units_parse_list("7-4", 0, 100, values, 8, &count, &why), -EINVAL);
	assert_non_null(strstr(why.text, "backwards"));
	assert_int_equal(units_parse_list("1 2", 0, 100, values, 8, &count, &why), -EINVAL);
	assert_int_equal(units_parse_list("0-4294967295", 0, UINT64_MAX, values, 8, &count, &why),
			 -ERANGE);
}

/* AR-08 */
static void test_rates(void **state)
{
	(void)state;
	assert_string_equal(units_rate(1073741824, 1).text, "1.000 GiB/s (1073.74 MB/s)");
	assert_true(units_mib_per_s(1073741824, 1) == 1024);
	assert_true(units_gib_per_s(1073741824, 1) == 1);
	assert_true(fabs(units_mb_per_s(1073741824, 1) - 1073.741824) < 1e-9);
	assert_string_equal(units_rate(1048576, 2).text, "0.500 MiB/s (0.524 MB/s)");
	assert_string_equal(units_rate(5, 0).text, "n/a");
	assert_true(isnan(units_gib_per_s(5, 0)));
}

static void test_texts(void **state)
{
	(void)state;
	assert_string_equal(units_size(0).text, "0 B");
	assert_string_equal(units_size(1023).text, "1023 B");
	assert_string_equal(units_size(4096).text, "4 KiB");
	assert_string_equal(units_size(10000).text, "10000 B");
	assert_string_equal(units_size(1610612736).text, "1.5 GiB");
	assert_string_equal(units_size(10000000).text, "9.537 MiB");
	assert_string_equal(units_size(UINT64_MAX).text, "16 EiB");
	assert_string_equal(units_size_both(1610612736).text, "1610612736 bytes (1.5 GiB)");
	assert_string_equal(units_size_both(10000).text, "10000 bytes");
	assert_string_equal(units_duration(850e-9).text, "850 ns");
	assert_string_equal(units_duration(12.34e-6).text, "12.3 us");
	assert_string_equal(units_duration(0.00456).text, "4.56 ms");
	assert_string_equal(units_duration(7.89).text, "7.89 s");
	assert_string_equal(units_duration(185).text, "3 m 05 s");
	assert_string_equal(units_duration(7440).text, "2 h 04 m");
	assert_string_equal(units_duration(266400).text, "3 d 02 h");
	assert_string_equal(units_duration(NAN).text, "n/a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),   cmocka_unit_test(test_bad_sizes),
		cmocka_unit_test(test_seconds), cmocka_unit_test(test_unsigned),
		cmocka_unit_test(test_lists),   cmocka_unit_test(test_rates),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions, tables and the progress line. */
#include "common/progress.h"
#include "common/suggest.h"
#include "common/text_table.h"
#include "tool_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(suggest_distance("", ""), 0);
	assert_int_equal(suggest_distance("abc", ""), 3);
	assert_int_equal(suggest_distance("", "ab"), 2);
	assert_int_equal(suggest_distance("size", "SIZE"), 0);
	assert_int_equal(suggest_distance("size", "sizes"), 1);
	assert_int_equal(suggest_distance("size", "sze"), 1);
	assert_int_equal(suggest_distance("size", "sixe"), 1);
	assert_int_equal(suggest_distance("size", "szie"), 1);
	assert_int_equal(suggest_distance("kitten", "sitting"), 3);
}

static void test_nearest(void **state)
{
	static const char *const names[] = {"size", "offset", "runtime", "ramp-time", "filename"};
	char longer[300];

	(void)state;
	assert_string_equal(suggest_nearest("siez", names, 5), "size");
	assert_string_equal(suggest_nearest("run-time", names, 5), "runtime");
	assert_string_equal(suggest_nearest("ramptime", names, 5), "ramp-time");
	assert_string_equal(suggest_nearest("file", names, 5), "filename");
	assert_null(suggest_nearest("zzzz", names, 5));
	assert_null(suggest_nearest("a", names, 5));
	assert_null(suggest_nearest("", names, 5));
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_null(suggest_nearest(longer, names, 5));
}

static void test_table(void **state)
{
	static const char *const headings[] = {"<mode", "GiB/s", "p50 µs"};
	struct text_table *table = text_table_new(headings, 3);
	struct capture c;

	(void)state;
	assert_non_null(table);
	assert_true(text_table_cell(table, "staged"));
	assert_true(text_table_cell(table, "%.1f", 12.5));
	assert_true(text_table_cell(table, "%d", 7));
	assert_true(text_table_cell(table, "host"));
	assert_true(text_table_cell(table, "%.1f", 3.0));
	assert_true(text_table_cell(table, "n/a"));
	capture_begin(&c, stdout);
	text_table_print(table, stdout, 2);
	capture_end(&c);
	text_table_free(table);
	assert_string_equal(c.text, "  mode    GiB/s  p50 µs\n"
				    "  ---------------------\n"
				    "  staged   12.5       7\n"
				    "  host      3.0     n/a\n");
}

static void test_progress(void **state)
{
	struct progress p;
	struct capture c;

	(void)state;
	capture_begin(&c, stderr);
	progress_begin(&p, "read", 4096, 0);
	progress_update(&p, 1024, 1);
	progress_end(&p);
	capture_end(&c);
	assert_string_equal(c.text, ""); /* a file is no terminal */

	progress_begin(&p, "read", 4ull << 30, 0);
	assert_string_equal(progress_text(&p, 1ull << 30, 1).text,
			    "read: 1 GiB, 25 %, 1.000 GiB/s (1073.74 MB/s), 3 s left");
	assert_string_equal(progress_text(&p, 0, 0).text, "read: 0 B, 0 %, n/a");
	progress_begin(&p, "write", 0, 120);
	assert_string_equal(progress_text(&p, 1ull << 20, 30).text,
			    "write: 1 MiB, 25 %, 0.033 MiB/s (0.035 MB/s), 1 m 30 s left");

	p.shown = true; /* as on a terminal: rewritten in place, then taken away */
	capture_begin(&c, stderr);
	progress_update(&p, 1ull << 20, 30);
	progress_update(&p, 2ull << 20, 30.05); /* too soon */
	progress_end(&p);
	capture_end(&c);
	assert_int_equal(c.text[0], '\r');
	assert_null(strchr(c.text, '\n'));
	assert_null(strstr(c.text, "2 MiB"));
	assert_int_equal(c.text[strlen(c.text) - 1], '\r');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

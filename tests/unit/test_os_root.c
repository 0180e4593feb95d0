/* SPDX-License-Identifier: Apache-2.0 */
/* Reading small files below a root that stands in for the real one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/os.h"
#include "os/root.h"

#include "scratch.h"

static struct scratch_root root;
static struct os_calls calls;

static int setup(void **state)
{
	(void)state;
	if (!scratch_root_open(&root))
		return -1;
	calls = os_real_calls;
	calls.root_fd = root.fd;
	os_set(&calls);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	os_set(NULL);
	scratch_root_close(&root);
	return 0;
}

static void text_is_read_without_its_last_newline(void **state)
{
	char text[16];

	(void)state;
	assert_true(scratch_root_text(&root, "sys/a/name", "two words \n\n"));
	assert_int_equal(os_read_text("/sys/a/name", text, sizeof(text)), 9);
	assert_string_equal(text, "two words");
}

static void text_that_does_not_fit_is_refused_whole(void **state)
{
	char text[8];

	(void)state;
	assert_true(scratch_root_text(&root, "exact", "1234567"));
	assert_true(scratch_root_text(&root, "long", "12345678"));
	assert_int_equal(os_read_text("/exact", text, sizeof(text)), 7);
	assert_int_equal(os_read_text("/long", text, sizeof(text)), -EFBIG);
	assert_string_equal(text, "");
	assert_int_equal(os_read_text("/absent", text, sizeof(text)), -ENOENT);
}

static void numbers_are_whole_or_refused(void **state)
{
	static const char *const bad[] = {"",    "-1",   "+1",  " 1",
					  "1 2", "0x10", "12a", "18446744073709551616"};
	uint64_t value = 0;

	(void)state;
	assert_true(scratch_root_text(&root, "n", "18446744073709551615\n"));
	assert_int_equal(os_read_u64("/n", &value), 0);
	assert_true(value == UINT64_MAX);
	value = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(scratch_root_text(&root, "n", bad[i]));
		assert_int_equal(os_read_u64("/n", &value), -EINVAL);
	}
	assert_int_equal(value, 7);
	assert_int_equal(os_read_u64("/absent", &value), -ENOENT);
}

static void links_are_read_whole_or_refused(void **state)
{
	char target[9];

	(void)state;
	assert_true(scratch_root_link(&root, "sys/eight", "12345678"));
	assert_true(scratch_root_link(&root, "sys/nine", "123456789"));
	assert_int_equal(os_read_link("/sys/eight", target, sizeof(target)), 8);
	assert_string_equal(target, "12345678");
	assert_int_equal(os_read_link("/sys/nine", target, sizeof(target)), -ENAMETOOLONG);
	assert_int_equal(os_read_link("/sys", target, sizeof(target)), -EINVAL);
}

static void the_real_root_is_the_default(void **state)
{
	char text[64];

	(void)state;
	os_set(NULL);
	assert_true(os_read_text("/proc/self/comm", text, sizeof(text)) > 0);
	assert_string_equal(text, "test_os_root");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_is_read_without_its_last_newline, setup,
						teardown),
		cmocka_unit_test_setup_teardown(text_that_does_not_fit_is_refused_whole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(numbers_are_whole_or_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(links_are_read_whole_or_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_real_root_is_the_default, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names and phrases of codes, stages, paths and reasons. */
#include "penstock.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const int all_codes[] = {
	PST_OK,
	PST_E_DRIVER_NOT_INITIALIZED,
	PST_E_IO_NOT_SUPPORTED,
	PST_E_DEVICE_NOT_SUPPORTED,
	PST_E_DEVICE_DRIVER,
	PST_E_POINTER_INVALID,
	PST_E_MEMORY_TYPE,
	PST_E_POINTER_RANGE,
	PST_E_MAPPING_SIZE,
	PST_E_FILE_TYPE,
	PST_E_FILE_FLAGS,
	PST_E_INVALID_VALUE,
	PST_E_ALREADY_REGISTERED,
	PST_E_NOT_REGISTERED,
	PST_E_DEVICE_NOT_FOUND,
	PST_E_INTERNAL,
	PST_E_BATCH_FULL,
	PST_E_FORKED,
	PST_E_VENDOR_LIBRARY,
};

#define CODES (sizeof(all_codes) / sizeof(all_codes[0]))

/* A text must say something and must not be one of those before it. */
static void check_distinct(const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_non_null(texts[i]);
		assert_true(strlen(texts[i]) >= 2);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(texts[i], texts[j]);
	}
}

static void test_every_code(void **state)
{
	const char *names[CODES];
	const char *texts[CODES];

	(void)state;
	for (size_t i = 0; i < CODES; i++) {
		names[i] = pst_code_name(all_codes[i]);
		texts[i] = pst_code_text(all_codes[i]);
		assert_int_equal(strncmp(names[i], "PST_", 4), 0);
		assert_null(strstr(texts[i], "unknown"));
	}
	check_distinct(names, CODES);
	check_distinct(texts, CODES);
	assert_string_equal(pst_code_name(PST_E_POINTER_INVALID), "PST_E_POINTER_INVALID");
}

static void test_every_path_and_reason(void **state)
{
	const char *names[PST_REASON_COUNT];
	const char *texts[PST_REASON_COUNT];

	(void)state;
	for (int i = 0; i < PST_PATH_COUNT; i++) {
		names[i] = pst_path_name((enum pst_path)i);
		texts[i] = pst_path_text((enum pst_path)i);
	}
	check_distinct(names, PST_PATH_COUNT);
	check_distinct(texts, PST_PATH_COUNT);
	for (int i = 0; i < PST_REASON_COUNT; i++) {
		names[i] = pst_reason_name((enum pst_reason)i);
		texts[i] = pst_reason_text((enum pst_reason)i);
	}
	check_distinct(names, PST_REASON_COUNT);
	check_distinct(texts, PST_REASON_COUNT);
	assert_string_equal(pst_path_name(PST_PATH_STAGED), "staged");
	assert_string_equal(pst_reason_name(PST_REASON_NOT_O_DIRECT), "not-o-direct");
}

static void test_every_stage(void **state)
{
	const char *names[PST_STAGE_COPY + 1];

	(void)state;
	for (int i = 0; i <= PST_STAGE_COPY; i++)
		names[i] = pst_stage_name((enum pst_stage)i);
	check_distinct(names, PST_STAGE_COPY + 1);
	assert_string_equal(names[PST_STAGE_STORAGE], "storage");
}

/* Numbers in either sign, and numbers that are nothing. */
static void test_foreign_numbers(void **state)
{
	(void)state;
	assert_string_equal(pst_code_text(0), "success");
	assert_string_equal(pst_code_text(-EIO), strerror(EIO));
	assert_string_equal(pst_code_text(-EPERM), strerror(EPERM));
	assert_string_equal(pst_code_name(5008), "PST_E_IO_NOT_SUPPORTED");
	assert_string_equal(pst_code_name(-5008), "PST_E_IO_NOT_SUPPORTED");
	assert_string_equal(pst_code_name(5030), "PST_E_INTERNAL");
	assert_string_equal(pst_code_text(5030), pst_code_text(-5030));
	assert_non_null(strstr(pst_code_text(9999), "9999"));
	assert_non_null(strstr(pst_code_text(-9999), "-9999"));
	assert_non_null(strstr(pst_code_name(-9999), "-9999"));
	assert_non_null(strstr(pst_code_name(INT_MIN), "-2147483648"));
	assert_non_null(strstr(pst_code_text(INT_MAX), "2147483647"));
	assert_non_null(strstr(pst_code_text(-4095), "4095"));
	assert_non_null(strstr(pst_code_name(-4095), "4095"));
	assert_non_null(strstr(pst_path_name((enum pst_path)77), "77"));
	assert_non_null(strstr(pst_reason_text((enum pst_reason)78), "78"));
	assert_non_null(strstr(pst_stage_name((enum pst_stage)79), "79"));
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	assert_string_equal(pst_code_name(-ENOSPC), "ENOSPC");
#else
	assert_non_null(strstr(pst_code_name(-ENOSPC), "28"));
#endif
}

static void *other_thread(void *arg)
{
	(void)arg;
	pst_code_name(-8888);
	return (void *)pst_code_text(-8888);
}

/* A text stays while another thread asks, and while this thread asks for the name. */
static void test_storage_of_thread(void **state)
{
	const char *text = pst_code_text(-7777);
	void *others = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, &others), 0);
	assert_ptr_not_equal(others, text);
	assert_non_null(strstr(pst_code_name(-6666), "6666"));
	assert_non_null(strstr(text, "7777"));
}

static void test_version(void **state)
{
	int major = -1;
	int minor = -1;
	int patch = -1;
	char rest = 0;

	(void)state;
	assert_int_equal(sscanf(pst_version(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
	assert_int_equal(major, PST_VERSION_MAJOR);
	assert_int_equal(minor, PST_VERSION_MINOR);
	assert_int_equal(patch, PST_VERSION_PATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code),
		cmocka_unit_test(test_every_path_and_reason),
		cmocka_unit_test(test_every_stage),
		cmocka_unit_test(test_foreign_numbers),
		cmocka_unit_test(test_storage_of_thread),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

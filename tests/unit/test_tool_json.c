/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json.h"
#include "tool_capture.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Writes a document to stdout and parses what came out. */
static struct json_object *round_trip(struct json_object *document, struct capture *c)
{
	struct json_object *parsed;
	struct pst_error err = {0};

	capture_begin(c, stdout);
	assert_int_equal(json_write(document, "-", &err), 0);
	capture_end(c);
	json_object_put(document);
	parsed = json_tokener_parse(c->text);
	assert_non_null(parsed);
	return parsed;
}

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("no key %s", key);
	return value;
}

static void test_values(void **state)
{
	static struct capture c;
	struct json_object *d = json_document("penstock-test", 3), *list;

	(void)state;
	json_add_u64(d, "large_bytes", 18446744073709551614u);
	json_add_u64(d, "unknown_bytes", UINT64_MAX);
	json_add_i64(d, "negative", -5);
	json_add_double(d, "rate", 0.25);
	json_add_double(d, "nan", NAN);
	json_add_double(d, "infinite", INFINITY);
	json_add_bool(d, "emulated", true);
	json_add_text(d, "none", NULL);
	json_add_text(d, "path", "/data/\"x\"\n");
	json_add_text(d, "bad", "a\xff\xc0\xafz\xed\xa0\x80 \xc3\xa9");
	list = json_add_array(d, "list");
	json_append_u64(list, 7);
	json_append_double(list, NAN);
	json_append_text(list, "t");
	json_add_bool(json_append_object(list), "in", false);
	d = round_trip(d, &c);
	assert_string_equal(json_object_get_string(get(d, "schema")), "penstock-test");
	assert_int_equal(json_object_get_int(get(d, "schema_version")), 3);
	assert_true(json_object_get_uint64(get(d, "large_bytes")) == 18446744073709551614u);
	assert_null(get(d, "unknown_bytes"));
	assert_int_equal(json_object_get_int(get(d, "negative")), -5);
	assert_true(json_object_get_double(get(d, "rate")) == 0.25);
	assert_null(get(d, "nan"));
	assert_null(get(d, "infinite"));
	assert_true(json_object_get_boolean(get(d, "emulated")));
	assert_null(get(d, "none"));
	assert_string_equal(json_object_get_string(get(d, "path")), "/data/\"x\"\n");
	assert_string_equal(json_object_get_string(get(d, "bad")),
			    "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd"
			    "\xef\xbf\xbd \xc3\xa9");
	assert_int_equal(json_object_array_length(get(d, "list")), 4);
	assert_null(json_object_array_get_idx(get(d, "list"), 1));
	assert_int_equal(c.text[strlen(c.text) - 1], '\n');
	json_object_put(d);
}

static void test_error(void **state)
{
	static struct capture c;
	struct pst_error err = {.code = -ENOSPC,
				.stage = PST_STAGE_STORAGE,
				.sys_errno = ENOSPC,
				.object = "/data/x",
				.message = "cannot write '/data/x'"};
	struct json_object *d = json_document("penstock-test", 1), *e;

	(void)state;
	json_add_error(d, "error", &err);
	json_add_error(d, "no_error", NULL);
	d = round_trip(d, &c);
	e = get(d, "error");
	assert_int_equal(json_object_get_int(get(e, "errno")), ENOSPC);
	assert_string_equal(json_object_get_string(get(e, "code_name")), "ENOSPC");
	assert_string_equal(json_object_get_string(get(e, "message")), "cannot write '/data/x'");
	assert_null(get(d, "no_error"));
	json_object_put(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

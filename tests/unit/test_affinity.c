/* SPDX-License-Identifier: Apache-2.0 */
#include "common/affinity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void lists_are_parsed(void **state)
{
	cpu_set_t set;

	(void)state;
	assert_true(affinity_parse_list("0-3,8,10-11\n", &set));
	assert_int_equal(CPU_COUNT(&set), 7);
	assert_true(CPU_ISSET(3, &set) && CPU_ISSET(8, &set) && CPU_ISSET(11, &set));
	assert_false(CPU_ISSET(4, &set));
	assert_true(affinity_parse_list("5", &set));
	assert_int_equal(CPU_COUNT(&set), 1);
	/* A node with memory and no CPU. */
	assert_true(affinity_parse_list("\n", &set));
	assert_int_equal(CPU_COUNT(&set), 0);
}

static void other_text_is_refused(void **state)
{
	static const char *const texts[] = {
		"a", "1,", ",1", "3-1", "1-", "-1", "1 2", "1024", "99999999999999999999", "1\n2"};
	cpu_set_t set;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(affinity_parse_list(texts[i], &set));
}

static void missing_node_is_named(void **state)
{
	(void)state;
	assert_int_equal(affinity_bind_node(9999), -ENOENT);
}

static void node_zero_keeps_a_cpu(void **state)
{
	cpu_set_t set;

	(void)state;
	if (access("/sys/devices/system/node/node0/cpulist", R_OK))
		skip();
	assert_int_equal(affinity_bind_node(0), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_true(CPU_COUNT(&set) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_parsed),
		cmocka_unit_test(other_text_is_refused),
		cmocka_unit_test(missing_node_is_named),
		cmocka_unit_test(node_zero_keeps_a_cpu),
	};

	return cmocka_run_group_tests_name("affinity", tests, NULL, NULL);
}

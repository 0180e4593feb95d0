/* SPDX-License-Identifier: Apache-2.0 */
/* Binding to a NUMA node, slot memory, the clock. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "os/affinity.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/os.h"

#include "scratch.h"

static struct scratch_root root;
static struct os_calls calls;
static cpu_set_t before;

static int setup(void **state)
{
	(void)state;
	if (!scratch_root_open(&root) || sched_getaffinity(0, sizeof(before), &before) < 0)
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
	return sched_setaffinity(0, sizeof(before), &before);
}

static int bind_to_list(const char *list)
{
	assert_true(scratch_root_text(&root, "sys/devices/system/node/node3/cpulist", list));
	return os_bind_to_node(3);
}

static int first_allowed_cpu(void)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before))
			return cpu;
	return -1;
}

static void a_thread_runs_on_the_cpus_of_its_node(void **state)
{
	cpu_set_t now;
	char list[64];
	int cpu = first_allowed_cpu();

	(void)state;
	snprintf(list, sizeof(list), "%d,8000-8001\n", cpu);
	assert_int_equal(bind_to_list(list), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_true(CPU_ISSET(cpu, &now));
}

static void ranges_name_every_cpu_in_them(void **state)
{
	cpu_set_t now;

	(void)state;
	assert_int_equal(bind_to_list("0-1023\n"), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_COUNT(&now) >= CPU_COUNT(&before));
}

static void nodes_that_cannot_be_used_are_refused(void **state)
{
	static const char *const bad[] = {
		"x", "1-", "-1", "3-1", "1,", "1,,2", "1 2", "0-8192", "99999999999999999999"};

	(void)state;
	assert_int_equal(os_bind_to_node(4), -ENOENT);
	assert_int_equal(bind_to_list("\n"), -ENXIO);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(bind_to_list(bad[i]), -EINVAL);
	assert_int_equal(bind_to_list("8190-8191"), -EINVAL);
	assert_int_equal(os_prefer_node_memory(4), -ENOENT);
}

static void memory_of_the_real_node_is_preferred_or_not_to_be_chosen(void **state)
{
	(void)state;
	os_set(NULL);
	pid_t child = fork();
	if (child == 0) {
		int rc = os_prefer_node_memory(0);
		_exit(rc == 0 || rc == 1 ||
				      (rc == -ENOENT && access("/sys/devices/system/node", F_OK))
			      ? 0
			      : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void slots_are_aligned_zeroed_and_given_back(void **state)
{
	static const size_t sizes[] = {1, 4096, 65536, 1 << 20, 2 << 20, (3 << 20) + 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *memory = NULL;
		unsigned char resident[1024];
		size_t align = sizes[i] >= OS_HUGE_PAGE_BYTES ? OS_HUGE_PAGE_BYTES : 4096;

		assert_int_equal(os_slot_map(sizes[i], &memory), 0);
		assert_int_equal((uintptr_t)memory % align, 0);
		for (size_t at = 0; at < sizes[i]; at += 4096)
			assert_int_equal(((char *)memory)[at], 0);
		memset(memory, 1, sizes[i]);
		os_slot_unmap(memory, sizes[i]);
		assert_int_equal(mincore(memory, sizes[i], resident), -1);
	}
	void *memory = &memory;
	assert_int_equal(os_slot_map(SIZE_MAX - 5, &memory), -ENOMEM);
	os_slot_unmap(NULL, 4096);
}

static void a_child_has_no_slot(void **state)
{
	void *memory = NULL;

	(void)state;
	assert_int_equal(os_slot_map(4096, &memory), 0);
	pid_t child = fork();
	if (child == 0) {
		unsigned char resident;
		_exit(mincore(memory, 4096, &resident) < 0 && errno == ENOMEM ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	os_slot_unmap(memory, 4096);
}

static int no_dontfork(void *addr, size_t bytes, int advice)
{
	(void)addr, (void)bytes;
	return advice == MADV_DONTFORK ? -EINVAL : 0;
}

static void memory_that_a_child_would_share_is_no_slot(void **state)
{
	void *memory = NULL;

	(void)state;
	calls.madvise = no_dontfork;
	assert_int_equal(os_slot_map(4096, &memory), -EINVAL);
	assert_null(memory);
}

static void the_clock_runs(void **state)
{
	uint64_t start = os_now_ns();
	struct timespec pause = {.tv_nsec = 2000000};

	(void)state;
	nanosleep(&pause, NULL);
	assert_true(os_now_ns() - start >= 2000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_thread_runs_on_the_cpus_of_its_node, setup,
						teardown),
		cmocka_unit_test_setup_teardown(ranges_name_every_cpu_in_them, setup, teardown),
		cmocka_unit_test_setup_teardown(nodes_that_cannot_be_used_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			memory_of_the_real_node_is_preferred_or_not_to_be_chosen, setup, teardown),
		cmocka_unit_test(slots_are_aligned_zeroed_and_given_back),
		cmocka_unit_test(a_child_has_no_slot),
		cmocka_unit_test_setup_teardown(memory_that_a_child_would_share_is_no_slot, setup,
						teardown),
		cmocka_unit_test(the_clock_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

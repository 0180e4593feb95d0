/* SPDX-License-Identifier: Apache-2.0 */
/* Workers and their account, on memory files. */
#include "io/crew.h"
#include "io/interrupt.h"
#include "io/result.h"
#include "io/watch.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/plan.h"
#include "io_double.h"

#define KIB       1024ull
#define FILE_ROOM (1u << 20)
#define MS        1000000ull

struct bench {
	struct io_job job;
	struct io_plan plan;
	struct io_file_plan file_plan;
	struct io_share shares[8];
	struct pst_file file;
	struct io_result result;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->file.touched = calloc(FILE_ROOM, 1);
	b->job = (struct io_job){
		.io_min_bytes = 4 * KIB,
		.io_max_bytes = 4 * KIB,
		.xfer = IO_XFER_CPU_ONLY,
		.memory = PST_MEMORY_HEAP,
		.numa_node = IO_NO_NODE,
		.in_flight = 4,
		.seed = 308,
	};
	interrupt_reset();
	atomic_store(&double_most_in_flight, 0);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	result_free(&b->result);
	free(b->file.touched);
	free(b);
	return atomic_load(&double_allocations);
}

static void make_plan(struct bench *b, unsigned threads, uint64_t bytes)
{
	uint64_t share = (bytes / threads + 4095) / 4096 * 4096;

	b->file.bytes = bytes;
	b->file_plan = (struct io_file_plan){
		.path = (char *)"/memory", .end_bytes = bytes, .handle = &b->file};
	for (unsigned i = 0; i < threads; i++) {
		uint64_t start = i * share < bytes ? i * share : bytes;

		b->shares[i].start_bytes = start;
		b->shares[i].end_bytes = bytes - start < share ? bytes : start + share;
	}
	b->plan = (struct io_plan){.job = &b->job,
				   .threads = threads,
				   .files = &b->file_plan,
				   .file_count = 1,
				   .shares = b->shares,
				   .requested_bytes = bytes,
				   .timed = b->job.runtime_s > 0};
}

static void run(struct bench *b, unsigned threads, uint64_t bytes)
{
	struct pst_error err = {0};
	struct io_crew crew;

	make_plan(b, threads, bytes);
	assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), 0);
	crew_go(&crew);
	while (!crew_wait(&crew, crew_now_ns() + 20 * MS))
		;
	assert_int_equal(result_init(&b->result, threads), 0);
	result_merge(&b->result, &crew);
	crew_join(&crew);
	crew_free(&crew);
	b->result.source.range_bytes = bytes;
	result_judge(&b->result, &b->job);
}

static void assert_touched(const struct bench *b, uint64_t bytes, unsigned times)
{
	for (uint64_t i = 0; i < FILE_ROOM; i++) {
		if (b->file.touched[i] != (i < bytes ? times : 0))
			fail_msg("byte %ju moved %u times", (uintmax_t)i, b->file.touched[i]);
	}
}

/* IO-01 in both ways of working: 8 operations, all 30,000 bytes. */
static void every_byte_is_moved(void **state)
{
	struct bench *b = *state;

	run(b, 1, 30000);
	assert_touched(b, 30000, 1);
	assert_int_equal(b->result.ledger.completed_ops, 8);
	assert_int_equal(b->result.ledger.completed_bytes, 30000);
	assert_int_equal(b->result.ledger.requested_ops, 8);
	assert_int_equal(b->result.ledger.requested_bytes, 30000);
	assert_int_equal(pst_histogram_count(b->result.latency), 8);
	assert_false(result_incomplete(&b->result, &b->plan));
	assert_int_equal(result_exit(&b->result, &b->plan), 0);
	assert_true(b->result.too_short);
}

static void threads_share_the_work(void **state)
{
	struct bench *b = *state;
	uint64_t sum = 0;

	b->job.type = IO_RANDREAD;
	run(b, 8, 1000001);
	assert_touched(b, 1000001, 1);
	for (unsigned i = 0; i < 8; i++)
		sum += b->result.per_thread[i].bytes;
	assert_int_equal(sum, 1000001);
	assert_int_equal(b->result.ledger.completed_bytes, 1000001);
}

static void batch_keeps_requests_in_flight(void **state)
{
	struct bench *b = *state;

	b->job.xfer = IO_XFER_CPU_ASYNC_GPU;
	b->job.type = IO_RANDREAD;
	b->job.in_flight = 7;
	run(b, 3, 500001);
	assert_touched(b, 500001, 1);
	assert_int_equal(atomic_load(&double_most_in_flight), 7);
	assert_int_equal(b->result.ledger.completed_bytes, 500001);
	/* The library's own measure is taken over. */
	assert_true(result_latency_us(&b->result, 50) == 5.0);
	assert_true(b->result.mean_latency_us == 5.0);
	assert_false(result_incomplete(&b->result, &b->plan));
}

/* ST-15: every 10th operation fails; the run goes on. */
static void failures_are_counted(void **state)
{
	struct bench *b = *state;
	struct io_ledger *ledger = &b->result.ledger;

	b->job.continue_on_error = true;
	b->file.fail_every = 10;
	for (unsigned batch = 0; batch < 2; batch++) {
		b->job.xfer = batch ? IO_XFER_CPU_ASYNC_GPU : IO_XFER_CPU_ONLY;
		atomic_store(&b->file.ops, 0);
		run(b, 2, 100 * 4 * KIB);
		assert_int_equal(ledger->requested_ops, 100);
		assert_int_equal(ledger->issued_ops, 100);
		assert_int_equal(ledger->completed_ops, 90);
		assert_int_equal(ledger->failed_ops, 10);
		assert_int_equal(ledger->completed_bytes, 90 * 4 * KIB);
		assert_int_equal(pst_histogram_count(b->result.latency), 90);
		assert_int_equal(b->result.failure_count, IO_MAX_FAILURES);
		assert_int_equal(b->result.failures[0].error.code, -EIO);
		assert_int_equal(b->result.failures[0].bytes, 4 * KIB);
		assert_true(result_incomplete(&b->result, &b->plan));
		assert_int_equal(result_exit(&b->result, &b->plan), 1);
		assert_false(b->result.stopped_by_error);
		if (!batch)
			result_free(&b->result);
	}
}

static void first_failure_stops_all(void **state)
{
	struct bench *b = *state;

	b->file.fail_every = 5;
	b->file.delay_ns = MS;
	run(b, 4, 200 * 4 * KIB);
	assert_true(b->result.stopped_by_error);
	assert_true(b->result.ledger.failed_ops >= 1);
	/* Each thread ends with the operation that it had in flight. */
	assert_true(b->result.ledger.issued_ops <= 12);
	assert_int_equal(b->result.ledger.issued_ops,
			 b->result.ledger.completed_ops + b->result.ledger.failed_ops);
	assert_int_equal(result_exit(&b->result, &b->plan), 1);
}

/* A file that was cut short during the run: what is missing is counted, nothing hangs. */
static void short_transfers_are_counted(void **state)
{
	struct bench *b = *state;

	make_plan(b, 1, 40000);
	run(b, 1, 40000);
	result_free(&b->result);
	memset(b->file.touched, 0, FILE_ROOM);
	{
		struct pst_error err;
		struct io_crew crew;

		b->file.bytes = 10000;
		assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), 0);
		crew_go(&crew);
		while (!crew_wait(&crew, crew_now_ns() + 20 * MS))
			;
		assert_int_equal(result_init(&b->result, 1), 0);
		result_merge(&b->result, &crew);
		crew_join(&crew);
		crew_free(&crew);
	}
	assert_int_equal(b->result.ledger.issued_ops, 10);
	assert_int_equal(b->result.ledger.completed_ops, 3);
	assert_int_equal(b->result.ledger.completed_bytes, 10000);
	assert_int_equal(b->result.ledger.short_ops, 8);
	assert_int_equal(b->result.ledger.short_bytes, 30000);
	assert_true(result_incomplete(&b->result, &b->plan));
}

/* A drive that was pulled out ends at once and reports no error: a failure all the same. */
static void a_device_without_bytes_is_gone(void **state)
{
	struct bench *b = *state;
	struct pst_error err;
	struct io_crew crew;

	make_plan(b, 1, 40000);
	b->file_plan.is_block_device = true;
	b->file.bytes = 3 * 4096;
	b->job.runtime_s = 30;
	b->plan.timed = true;
	assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), 0);
	crew_go(&crew);
	while (!crew_wait(&crew, crew_now_ns() + 20 * MS))
		;
	assert_int_equal(result_init(&b->result, 1), 0);
	result_merge(&b->result, &crew);
	crew_join(&crew);
	crew_free(&crew);
	assert_true(b->result.stopped_by_error);
	assert_int_equal(b->result.ledger.completed_bytes, 12288);
	assert_int_equal(b->result.ledger.failed_ops, 1);
	assert_int_equal(b->result.ledger.short_ops, 0);
	assert_int_equal(b->result.failures[0].error.code, -ENODEV);
	assert_int_equal(b->result.failures[0].offset_bytes, 12288);
	assert_int_equal(result_exit(&b->result, &b->plan), 1);
}

/* ST-06 in small: the ramp is not counted, the run lasts ramp + time. */
static void ramp_is_not_counted(void **state)
{
	struct bench *b = *state;
	uint64_t start_ns = crew_now_ns();
	double took_s;

	b->job.ramp_time_s = 0.3;
	b->job.runtime_s = 0.2;
	b->file.delay_ns = 2 * MS;
	run(b, 2, 64 * KIB);
	took_s = (double)(crew_now_ns() - start_ns) / 1e9;
	assert_true(took_s > 0.49 && took_s < 0.9);
	assert_true(b->result.elapsed_s > 0.15 && b->result.elapsed_s < 0.5);
	assert_true(b->result.ramp_s > 0.29 && b->result.ramp_s < 0.31);
	/* The double saw the operations of both, the ledger those of the window. */
	assert_true(b->result.ledger.completed_ops * 2 < atomic_load(&b->file.ops));
	assert_int_equal(b->result.ledger.completed_ops, b->result.ledger.issued_ops);
	assert_false(result_incomplete(&b->result, &b->plan));
	assert_true(b->result.passes > 1);
}

/* A ramp before a run over the whole share leaves the share whole. */
static void ramp_then_whole_share(void **state)
{
	struct bench *b = *state;

	b->job.ramp_time_s = 0.05;
	b->file.delay_ns = MS;
	run(b, 1, 20 * 4 * KIB);
	assert_int_equal(b->result.ledger.completed_ops, 20);
	assert_int_equal(b->result.ledger.completed_bytes, 20 * 4 * KIB);
	assert_false(result_incomplete(&b->result, &b->plan));
}

static void timed_run_wraps(void **state)
{
	struct bench *b = *state;

	b->job.runtime_s = 0.1;
	b->file.touched[0] = 0;
	free(b->file.touched);
	b->file.touched = NULL;
	run(b, 2, 64 * KIB);
	assert_true(b->result.passes > 10);
	assert_true(b->result.elapsed_s > 0.09 && b->result.elapsed_s < 0.4);
	assert_int_equal(b->result.ledger.requested_bytes, 0);
	assert_int_equal(result_exit(&b->result, &b->plan), 0);
}

/* --stop first: a thread without a share does not end the run at once. */
static void stop_first_stops_all(void **state)
{
	struct bench *b = *state;
	struct pst_error err;
	struct io_crew crew;

	b->job.stop = IO_STOP_FIRST;
	b->file.delay_ns = MS;
	make_plan(b, 3, 200 * 4 * KIB);
	b->shares[0] = (struct io_share){.start_bytes = 0, .end_bytes = 10 * 4 * KIB};
	b->shares[2] = (struct io_share){.start_bytes = 0, .end_bytes = 0};
	assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), 0);
	crew_go(&crew);
	while (!crew_wait(&crew, crew_now_ns() + 20 * MS))
		;
	assert_int_equal(result_init(&b->result, 3), 0);
	result_merge(&b->result, &crew);
	crew_join(&crew);
	crew_free(&crew);
	assert_int_equal(b->result.per_thread[0].ops, 10);
	assert_true(b->result.per_thread[1].ops >= 5 && b->result.per_thread[1].ops < 30);
	assert_int_equal(b->result.per_thread[2].ops, 0);
	assert_int_equal(result_exit(&b->result, &b->plan), 0);
}

static void signal_ends_the_run(void **state)
{
	struct bench *b = *state;
	struct pst_error err;
	struct io_crew crew;

	b->job.runtime_s = 60;
	b->file.delay_ns = MS;
	make_plan(b, 2, 64 * KIB);
	interrupt_install();
	assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), 0);
	crew_go(&crew);
	assert_false(crew_wait(&crew, crew_now_ns() + 50 * MS));
	raise(SIGTERM);
	assert_true(crew_wait(&crew, crew_now_ns() + 2000 * MS));
	assert_int_equal(result_init(&b->result, 2), 0);
	result_merge(&b->result, &crew);
	crew_join(&crew);
	crew_free(&crew);
	assert_true(b->result.interrupted);
	assert_true(b->result.ledger.completed_ops > 0);
	assert_int_equal(result_exit(&b->result, &b->plan), 130);
	interrupt_reset();
}

/* OU-03: the second signal leaves at once, with 130, whatever hangs. */
static void second_signal_leaves(void **state)
{
	pid_t child = fork();
	int status = 0;

	(void)state;
	if (!child) {
		interrupt_install();
		raise(SIGINT);
		raise(SIGHUP);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 130);
}

static void writes_are_not_zeros(void **state)
{
	struct bench *b = *state;

	b->job.type = IO_WRITE;
	for (unsigned refill = 0; refill < 2; refill++) {
		for (unsigned device = 0; device < 2; device++) {
			b->job.refill = refill;
			b->job.memory = device ? PST_MEMORY_DEVICE : PST_MEMORY_HEAP;
			b->job.xfer = device ? IO_XFER_CPU_ASYNC_GPU : IO_XFER_CPU_ONLY;
			result_free(&b->result);
			run(b, 2, 300000);
			assert_int_equal(b->result.ledger.completed_bytes, 300000);
			assert_int_equal(atomic_load(&b->file.zeros), 0);
		}
	}
}

static void failed_set_up_leaves_nothing(void **state)
{
	struct bench *b = *state;
	struct pst_error err = {0};
	struct io_crew crew;

	make_plan(b, 4, 64 * KIB);
	atomic_store(&double_refuse_memory, true);
	assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), -ENOMEM);
	assert_string_equal(err.message, "no memory");
	atomic_store(&double_refuse_memory, false);
	b->job.numa_node = 9999;
	assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.message, "NUMA node 9999"));
	assert_int_equal(atomic_load(&b->file.ops), 0);
}

/* OU-11: one line that names worker, operation and file; then silence until something moves. */
static void watchdog_names_the_worker(void **state)
{
	struct bench *b = *state;
	struct io_watch watch;
	struct pst_error err;
	struct io_crew crew;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	make_plan(b, 2, 2 * 4 * KIB);
	atomic_store(&b->file.blocked, true);
	watch_start(&watch, "tool", 0.1, out);
	watch_phase(&watch, "starting");
	assert_int_equal(crew_start(&crew, &b->plan, NULL, NULL, &err), 0);
	watch_crew(&watch, &crew);
	crew_go(&crew);
	assert_false(crew_wait(&crew, crew_now_ns() + 500 * MS));
	atomic_store(&b->file.blocked, false);
	while (!crew_wait(&crew, crew_now_ns() + 20 * MS))
		;
	watch_crew(&watch, NULL);
	watch_stop(&watch);
	crew_join(&crew);
	crew_free(&crew);
	fclose(out);
	assert_non_null(strstr(text, "tool: no progress for "));
	assert_non_null(strstr(text, " waits for the read of 4096 bytes at offset "));
	assert_non_null(strstr(text, " of '/memory'\n"));
	assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_byte_is_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_share_the_work, setup, teardown),
		cmocka_unit_test_setup_teardown(batch_keeps_requests_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(first_failure_stops_all, setup, teardown),
		cmocka_unit_test_setup_teardown(short_transfers_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_without_bytes_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(ramp_is_not_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(ramp_then_whole_share, setup, teardown),
		cmocka_unit_test_setup_teardown(timed_run_wraps, setup, teardown),
		cmocka_unit_test_setup_teardown(stop_first_stops_all, setup, teardown),
		cmocka_unit_test_setup_teardown(signal_ends_the_run, setup, teardown),
		cmocka_unit_test_setup_teardown(second_signal_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(writes_are_not_zeros, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_set_up_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(watchdog_names_the_worker, setup, teardown),
	};

	return cmocka_run_group_tests_name("io crew", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a child of fork() may do with a context of its parent, whatever other threads did then. */
#include "path_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define BYTES     100000
#define FORKS     30
#define BUSY      3
#define CHILD_MAX 20 /* seconds */

static void expect_child(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child ended with status %#x", status);
}

/* Reports the line that a child's check failed at. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "child: line %d\n", __LINE__);                             \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void host_memory_works(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *heap = fixture_memory(f, PST_MEMORY_HEAP, BYTES, 5);
	uint8_t *device = fixture_memory(f, PST_MEMORY_DEVICE, BYTES, 6);
	struct pst_stats stats = {.size_bytes = sizeof(stats)};
	pid_t child;

	assert_int_equal(pst_write(file, heap, BYTES, 0, 0, &f->err), BYTES);
	assert_int_equal(pst_read(file, device, BYTES, 0, 0, &f->err), BYTES);
	child = fork();
	if (child == 0) {
		struct pst_plan plan = {.size_bytes = sizeof(plan)};
		struct pst_stats seen = {.size_bytes = sizeof(seen)};
		struct pst_error err = {0};
		uint8_t *memory = malloc(BYTES);

		alarm(CHILD_MAX);
		CHECK(pst_read(file, memory, BYTES, 0, 0, &err) == BYTES);
		CHECK(memory[0] == 5 && memory[BYTES - 1] == 5);
		CHECK(pst_read(file, device, 1, 0, 0, &err) == PST_E_FORKED);
		CHECK(err.code == PST_E_FORKED && err.message[0]);
		CHECK(pst_read(file, device, 1, 0, BYTES - 1, &err) == PST_E_FORKED);
		CHECK(pst_explain(file, PST_OP_READ, memory, 1, 0, 0, &plan, &err) == 0);
		CHECK(plan.path == PST_PATH_HOST_CACHED);
		CHECK(plan.reasons >> PST_REASON_FORKED & 1);
		CHECK(pst_explain(file, PST_OP_READ, device, 1, 0, 0, &plan, &err) == PST_E_FORKED);
		CHECK(pst_stats_get(f->ctx, &seen, &err) == 0);
		CHECK(seen.reasons[PST_REASON_FORKED] > 0);
		CHECK(seen.read[PST_PATH_HOST_CACHED].bytes >= BYTES);
		memset(memory, 9, BYTES);
		CHECK(pst_write(file, memory, 10, BYTES, 0, &err) == 10);
		CHECK(pst_memory_free(f->ctx, device, &err) == PST_E_FORKED);
		pst_file_close(file);
		pst_close(f->ctx);
		free(memory);
		_exit(0);
	}
	expect_child(child);
	fixture_expect(f, BYTES, 10, 9);
	assert_int_equal(pst_read(file, device, BYTES, 0, 0, &f->err), BYTES);
	assert_int_equal(pst_stats_get(f->ctx, &stats, &f->err), 0);
	assert_int_equal(stats.reasons[PST_REASON_FORKED], 0);
	pst_file_close(file);
}

struct busy {
	struct path_fixture *f;
	atomic_bool stop;
	_Atomic long errors;
};

/* Takes every lock there is, again and again: requests, files, memory, buffers, statistics. */
static void *keep_busy(void *arg)
{
	struct busy *busy = arg;
	struct path_fixture *f = busy->f;

	while (!atomic_load(&busy->stop)) {
		struct pst_file_options options = {.size_bytes = sizeof(options),
						   .open_flags = O_RDWR};
		struct pst_stats stats = {.size_bytes = sizeof(stats)};
		struct pst_file *file;
		void *memory;

		if (pst_memory_alloc(f->ctx, f->device, PST_MEMORY_DEVICE, 65536, &memory, NULL) ||
		    pst_file_open(f->ctx, f->path, &options, &file, NULL)) {
			atomic_fetch_add(&busy->errors, 1);
			break;
		}
		if (pst_buffer_register(f->ctx, memory, 65536, NULL) ||
		    pst_write(file, memory, 65536, 100, 0, NULL) != 65536 ||
		    pst_stats_get(f->ctx, &stats, NULL) ||
		    pst_buffer_unregister(f->ctx, memory, NULL))
			atomic_fetch_add(&busy->errors, 1);
		pst_file_close(file);
		pst_memory_free(f->ctx, memory, NULL);
	}
	return NULL;
}

static void child_of_busy_threads(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *heap = fixture_memory(f, PST_MEMORY_HEAP, 65536, 5);
	struct busy busy = {.f = f};
	pthread_t threads[BUSY];
	int bad = 0;

	assert_int_equal(pst_write(file, heap, 65536, 0, 0, &f->err), 65536);
	for (int i = 0; i < BUSY; i++)
		pthread_create(&threads[i], NULL, keep_busy, &busy);
	for (int i = 0; i < FORKS; i++) {
		int status;
		pid_t child = fork();

		if (child == 0) {
			struct pst_stats seen = {.size_bytes = sizeof(seen)};
			struct pst_context *own;
			struct pst_file *again;
			const struct pst_file_options options = {.size_bytes = sizeof(options),
								 .open_flags = O_RDWR};

			alarm(CHILD_MAX);
			CHECK(pst_read(file, heap, 4096, 0, 0, NULL) == 4096);
			CHECK(pst_stats_get(f->ctx, &seen, NULL) == 0);
			pst_file_close(file);
			pst_close(f->ctx);
			/* A context of the child's own, on the file whose blocks others hold. */
			CHECK(pst_open(&own, NULL, NULL) == 0);
			CHECK(pst_file_open(own, f->path, &options, &again, NULL) == 0);
			heap = malloc(100);
			memset(heap, 1, 100);
			CHECK(pst_write(again, heap, 100, 1 << 20, 0, NULL) == 100);
			pst_close(own);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			bad++;
	}
	atomic_store(&busy.stop, true);
	for (int i = 0; i < BUSY; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(bad, 0);
	assert_int_equal(atomic_load(&busy.errors), 0);
	pst_file_close(file);
}

/* A batch in flight stays the parent's: the child is refused, and may close. */
static void batch_of_the_parent(void **state)
{
	const size_t bytes = 8 << 20;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	const struct pst_io io = {
		.op = PST_OP_WRITE,
		.file = file,
		.buffer = fixture_memory(f, PST_MEMORY_DEVICE, bytes, 4),
		.bytes = bytes,
	};
	struct pst_batch *batch, *other;
	struct pst_event event;
	pid_t child;

	assert_int_equal(pst_batch_open(f->ctx, 2, &batch, &f->err), 0);
	assert_int_equal(pst_batch_submit(batch, &io, 1, &f->err), 0);
	child = fork();
	if (child == 0) {
		alarm(CHILD_MAX);
		CHECK(pst_batch_submit(batch, &io, 1, NULL) == PST_E_FORKED);
		CHECK(pst_batch_wait(batch, 1, 1, &event, -1, NULL) == PST_E_FORKED);
		CHECK(pst_batch_open(f->ctx, 2, &other, NULL) == PST_E_FORKED);
		pst_batch_close(batch);
		pst_close(f->ctx);
		_exit(0);
	}
	expect_child(child);
	assert_int_equal(pst_batch_wait(batch, 1, 1, &event, -1, &f->err), 1);
	assert_int_equal(event.result, bytes);
	fixture_expect(f, 0, bytes, 4);
	pst_batch_close(batch);
	pst_file_close(file);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, fixture_set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(host_memory_works),
		CASE(child_of_busy_threads),
		CASE(batch_of_the_parent),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}

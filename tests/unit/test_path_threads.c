/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads, threads that come and go, and contexts that are closed around them. */
#include "path_fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define THREADS     64
#define OPERATIONS  40
#define REGION      ((size_t)70000) /* of one thread: borders lie within blocks */
#define SHORT_LIVES 1000
#define CLOSES      200

struct worker {
	struct path_fixture *f;
	struct pst_file *file;
	unsigned index;
	const char *failed;
};

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* One thread's writes and reads of every kind within its own region of the common file. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct path_fixture *f = w->f;
	uint64_t random = 1234567 + w->index * 77;
	off_t start = (off_t)w->index * (off_t)REGION;
	uint8_t *model = calloc(1, REGION), *seen = malloc(REGION);
	void *memory;

	if (pst_memory_alloc(f->ctx, f->device, w->index % 2 ? PST_MEMORY_DEVICE : PST_MEMORY_HEAP,
			     REGION, &memory, NULL))
		return w->failed = "no memory", NULL;
	for (int i = 0; i < OPERATIONS && !w->failed; i++) {
		size_t bytes = 1 + next_random(&random) % REGION;
		size_t at = next_random(&random) % (REGION - bytes + 1);

		if (i % 3 != 2) {
			memset(model + at, i + 1, bytes);
			if (pst_memory_copy(f->ctx, memory, model + at, bytes, NULL) ||
			    pst_write(w->file, memory, bytes, start + (off_t)at, 0, NULL) !=
				    (ssize_t)bytes)
				w->failed = "write";
			continue;
		}
		memset(seen, 0, bytes);
		ssize_t got = pst_read(w->file, memory, bytes, start + (off_t)at, 0, NULL);

		if (got != (ssize_t)bytes || pst_memory_copy(f->ctx, seen, memory, bytes, NULL))
			w->failed = "read";
		else if (memcmp(seen, model + at, bytes) != 0)
			w->failed = "compare";
	}
	pst_memory_free(f->ctx, memory, NULL);
	free(model);
	free(seen);
	return NULL;
}

static void mixed_work_on_one_file(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	assert_int_equal(truncate(f->path, THREADS * (off_t)REGION), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){f, file, i, NULL};
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		if (workers[i].failed)
			fail_msg("thread %u: %s", i, workers[i].failed);
	}
	pst_file_close(file);
}

static void *live_shortly(void *arg)
{
	struct worker *w = arg;
	void *memory;

	w->failed = "short life";
	if (pst_memory_alloc(w->f->ctx, w->f->device, PST_MEMORY_DEVICE, 5000, &memory, NULL))
		return NULL;
	if (pst_read(w->file, memory, 5000, 1, 0, NULL) == 5000)
		w->failed = NULL;
	pst_memory_free(w->f->ctx, memory, NULL);
	return NULL;
}

static uint64_t slot_bytes(struct path_fixture *f)
{
	struct pst_stats stats = {.size_bytes = sizeof(stats)};

	assert_int_equal(pst_stats_get(f->ctx, &stats, &f->err), 0);
	return stats.slot_bytes;
}

/* A new thread takes over what one that ended leaves: memory and descriptors stay as they are. */
static void threads_come_and_go(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	struct worker w = {f, file, 0, NULL};
	uint64_t first = 0;
	int first_fd = -1;

	assert_int_equal(truncate(f->path, 10000), 0);
	for (int i = 0; i < SHORT_LIVES; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, live_shortly, &w), 0);
		pthread_join(thread, NULL);
		assert_null(w.failed);
		if (i == 0) {
			first = slot_bytes(f);
			first_fd = dup(0);
			close(first_fd);
		}
	}
	assert_true(first > 0);
	assert_int_equal(slot_bytes(f), first);
	int last_fd = dup(0);
	assert_int_equal(last_fd, first_fd);
	close(last_fd);
	pst_file_close(file);
}

struct leaver {
	struct pst_context *ctx;
	const char *path;
	sem_t done;
	bool ok;
};

static void *read_and_leave(void *arg)
{
	struct leaver *l = arg;
	struct pst_file *file;
	char memory[100];

	l->ok = pst_file_open(l->ctx, l->path, NULL, &file, NULL) == 0 &&
		pst_read(file, memory, sizeof(memory), 1, 0, NULL) == sizeof(memory);
	sem_post(&l->done); /* the last use; the thread still has its way out before it */
	return NULL;
}

/* A context may go as soon as its last call is over, while the thread that made it still ends. */
static void closed_while_a_thread_ends(void **state)
{
	struct path_fixture *f = *state;

	assert_int_equal(truncate(f->path, 10000), 0);
	for (int i = 0; i < CLOSES; i++) {
		struct leaver l = {.path = f->path};
		pthread_t thread;

		sem_init(&l.done, 0, 0);
		assert_int_equal(pst_open(&l.ctx, NULL, &f->err), 0);
		pthread_create(&thread, NULL, read_and_leave, &l);
		while (sem_wait(&l.done) != 0)
			;
		pst_close(l.ctx);
		pthread_join(thread, NULL);
		assert_true(l.ok);
		sem_destroy(&l.done);
	}
}

/* One thread that outlives many contexts, more than there are keys of thread data. */
static void many_contexts_of_one_thread(void **state)
{
	struct path_fixture *f = *state;

	assert_int_equal(truncate(f->path, 10000), 0);
	for (int i = 0; i < 1100; i++) {
		struct leaver l = {.path = f->path};

		sem_init(&l.done, 0, 0);
		assert_int_equal(pst_open(&l.ctx, NULL, &f->err), 0);
		read_and_leave(&l);
		assert_true(l.ok);
		pst_close(l.ctx);
	}
}

static void closed_with_everything_left(void **state)
{
	const size_t bytes = 4 << 20;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, bytes, 3);
	uint8_t *pinned = fixture_memory(f, PST_MEMORY_PINNED, 5000, 3);
	const struct pst_io io = {
		.op = PST_OP_WRITE, .file = file, .buffer = memory, .bytes = bytes};
	struct pst_batch *batch;

	assert_int_equal(pst_buffer_register(f->ctx, memory, bytes, &f->err), 0);
	assert_int_equal(pst_buffer_register(f->ctx, pinned, 5000, &f->err), 0);
	assert_int_equal(pst_batch_open(f->ctx, 3, &batch, &f->err), 0);
	assert_int_equal(pst_batch_submit(batch, &io, 1, &f->err), 0);
	pst_close(f->ctx);
	f->ctx = NULL;
	fixture_expect(f, 0, bytes, 3);
}

/* Files, devices and memory belong to one context. */
static void contexts_do_not_mix(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	char memory[10] = "";
	const struct pst_io io = {.op = PST_OP_WRITE, .file = file, .buffer = memory, .bytes = 10};
	struct pst_context *other;
	struct pst_batch *batch;
	void *allocated;

	assert_int_equal(pst_open(&other, NULL, &f->err), 0);
	assert_int_equal(pst_batch_open(other, 2, &batch, &f->err), 0);
	assert_int_equal(pst_batch_submit(batch, &io, 1, &f->err), PST_E_INVALID_VALUE);
	assert_int_equal(
		pst_memory_alloc(other, f->device, PST_MEMORY_DEVICE, 10, &allocated, &f->err),
		PST_E_INVALID_VALUE);
	pst_close(other);
	pst_file_close(file);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, fixture_set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(mixed_work_on_one_file),      CASE(threads_come_and_go),
		CASE(closed_while_a_thread_ends),  CASE(many_contexts_of_one_thread),
		CASE(closed_with_everything_left), CASE(contexts_do_not_mix),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}

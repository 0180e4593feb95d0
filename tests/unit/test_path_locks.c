/* SPDX-License-Identifier: Apache-2.0 */
/* Writers of one block: threads, processes, and requests in flight that nobody drives. */
#include "path_fixture.h"

#include <pthread.h>
#include <sys/wait.h>

#define BLOCK_BYTES 4096
#define HALF_BYTES  2048
#define ROUNDS      10000

/* A write of whole blocks in flight, whose thread then writes a part of one of them: the part
 * must not wait for ever for what only its own thread can move on. */
static void write_beside_own_batch(void **state)
{
	const size_t bytes = 8 << 20;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *blocks = fixture_memory(f, PST_MEMORY_DEVICE, bytes, 1);
	uint8_t *part = fixture_memory(f, PST_MEMORY_HEAP, 100, 2);
	const struct pst_io io = {
		.op = PST_OP_WRITE, .file = file, .buffer = blocks, .bytes = bytes};
	struct pst_batch *batch;
	struct pst_event event;

	assert_int_equal(pst_batch_open(f->ctx, 4, &batch, &f->err), 0);
	for (int round = 0; round < 5; round++) {
		assert_int_equal(pst_batch_submit(batch, &io, 1, &f->err), 0);
		assert_int_equal(pst_write(file, part, 100, 50, 0, &f->err), 100);
		assert_int_equal(pst_batch_wait(batch, 1, 1, &event, -1, &f->err), 1);
		assert_int_equal(event.result, bytes);
		fixture_expect(f, 0, 50, 1);
		fixture_expect(f, 150, bytes - 150, 1);
	}
	pst_batch_close(batch);
	pst_file_close(file);
}

struct part_writer {
	struct path_fixture *f;
	struct pst_file *file;
	uint8_t *part;
	ssize_t result;
};

static void *write_part(void *arg)
{
	struct part_writer *w = arg;

	w->result = pst_write(w->file, w->part, 100, 50, 0, NULL);
	return NULL;
}

/* The same from another thread, while the batch's thread is elsewhere. */
static void write_beside_idle_batch(void **state)
{
	const size_t bytes = 8 << 20;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	struct part_writer writer = {f, file, fixture_memory(f, PST_MEMORY_HEAP, 100, 2), 0};
	const struct pst_io io = {
		.op = PST_OP_WRITE,
		.file = file,
		.buffer = fixture_memory(f, PST_MEMORY_DEVICE, bytes, 1),
		.bytes = bytes,
	};
	struct pst_batch *batch;
	struct pst_event event;
	pthread_t thread;

	assert_int_equal(pst_batch_open(f->ctx, 4, &batch, &f->err), 0);
	assert_int_equal(pst_batch_submit(batch, &io, 1, &f->err), 0);
	pthread_create(&thread, NULL, write_part, &writer);
	pthread_join(thread, NULL);
	assert_int_equal(writer.result, 100);
	assert_int_equal(pst_batch_wait(batch, 1, 1, &event, -1, &f->err), 1);
	assert_int_equal(event.result, bytes);
	fixture_expect(f, 50, 100, 2);
	fixture_expect(f, 150, bytes - 150, 1);
	pst_batch_close(batch);
	pst_file_close(file);
}

/* Two batches of one thread, each with an unaligned write in the other's blocks. */
static void two_batches_of_one_thread(void **state)
{
	const size_t bytes = (1 << 20) + 100;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, bytes, 7);
	struct pst_batch *batch[2];
	struct pst_event event;

	assert_int_equal(pst_batch_open(f->ctx, 4, &batch[0], &f->err), 0);
	assert_int_equal(pst_batch_open(f->ctx, 4, &batch[1], &f->err), 0);
	for (int i = 0; i < 2; i++) {
		const struct pst_io io = {
			.op = PST_OP_WRITE,
			.file = file,
			.buffer = memory,
			.bytes = bytes,
			.file_offset = 50 + i * 7000,
		};

		assert_int_equal(pst_batch_submit(batch[i], &io, 1, &f->err), 0);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pst_batch_wait(batch[i], 1, 1, &event, -1, &f->err), 1);
		assert_int_equal(event.result, bytes);
		pst_batch_close(batch[i]);
	}
	fixture_expect(f, 50, bytes + 7000, 7);
	pst_file_close(file);
}

/* A stream of reads in the batch does not keep an unaligned write waiting. */
static void reads_do_not_starve_a_write(void **state)
{
	enum {
		DEPTH = 8,
		PATIENCE = 2000
	};
	const size_t bytes = 256 << 10;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, bytes, 3);
	struct pst_io io = {.op = PST_OP_WRITE, .file = file, .buffer = memory, .bytes = bytes};
	struct pst_event events[DEPTH + 1];
	struct pst_batch *batch;
	bool written = false;
	int waits = 0, done = DEPTH;

	assert_int_equal(pst_write(file, memory, bytes, 0, 0, &f->err), bytes);
	assert_int_equal(pst_batch_open(f->ctx, DEPTH + 1, &batch, &f->err), 0);
	for (io.op = PST_OP_READ; !written; waits++) {
		for (; done > 0; done--)
			assert_int_equal(pst_batch_submit(batch, &io, 1, &f->err), 0);
		if (waits == 0) {
			struct pst_io edge = io;

			edge.op = PST_OP_WRITE;
			edge.bytes = 10;
			edge.cookie = 1;
			assert_int_equal(pst_batch_submit(batch, &edge, 1, &f->err), 0);
		}
		assert_true(waits < PATIENCE);
		done = pst_batch_wait(batch, 1, DEPTH + 1, events, -1, &f->err);
		for (int i = done - 1; i >= 0; i--) {
			if (events[i].cookie == 1) {
				written = true;
				done--;
			}
		}
	}
	pst_batch_close(batch);
	pst_file_close(file);
}

/* Writes one half of the block again and again and looks whether its bytes are there. */
static int write_half(struct pst_file *file, const char *path, int half, unsigned rounds)
{
	uint8_t *memory = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int lost = 0;

	for (unsigned round = 0; round < rounds && !lost; round++) {
		uint8_t seen[HALF_BYTES];

		memset(memory, (int)(round % 251) + 1, HALF_BYTES);
		if (pst_write(file, memory, HALF_BYTES, half * HALF_BYTES, 0, NULL) != HALF_BYTES)
			lost = 1;
		if (round % 16 == 0 &&
		    (pread(fd, seen, HALF_BYTES, half * HALF_BYTES) != HALF_BYTES ||
		     memcmp(seen, memory, HALF_BYTES) != 0))
			lost = 1;
	}
	close(fd);
	free(memory);
	return lost;
}

struct half_writer {
	struct pst_file *file;
	const char *path;
	int half;
	int lost;
};

static void *half_thread(void *arg)
{
	struct half_writer *w = arg;

	w->lost = write_half(w->file, w->path, w->half, ROUNDS);
	return NULL;
}

static void halves_expected(struct path_fixture *f, unsigned rounds)
{
	fixture_expect(f, 0, BLOCK_BYTES, (int)((rounds - 1) % 251) + 1);
}

static void two_threads_share_a_block(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	struct half_writer writers[2];
	pthread_t threads[2];

	assert_int_equal(truncate(f->path, BLOCK_BYTES), 0);
	for (int i = 0; i < 2; i++) {
		writers[i] = (struct half_writer){file, f->path, i, 0};
		pthread_create(&threads[i], NULL, half_thread, &writers[i]);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(writers[i].lost, 0);
	}
	halves_expected(f, ROUNDS);
	pst_file_close(file);
}

/* In a process of its own, with a context of its own. */
static int half_process(const char *path, int half, unsigned rounds)
{
	const struct pst_file_options options = {.size_bytes = sizeof(options),
						 .open_flags = O_RDWR};
	struct pst_context *ctx;
	struct pst_file *file;
	int lost;

	if (pst_open(&ctx, NULL, NULL) < 0 || pst_file_open(ctx, path, &options, &file, NULL) < 0)
		return 2;
	lost = write_half(file, path, half, rounds);
	pst_close(ctx);
	return lost;
}

static void two_processes_share_a_block(void **state)
{
	const unsigned rounds = ROUNDS;
	struct path_fixture *f = *state;
	pid_t children[2];

	assert_int_equal(truncate(f->path, BLOCK_BYTES), 0);
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(half_process(f->path, i, rounds));
	}
	for (int i = 0; i < 2; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	halves_expected(f, rounds);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, fixture_set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(write_beside_own_batch),    CASE(write_beside_idle_batch),
		CASE(two_batches_of_one_thread), CASE(reads_do_not_starve_a_write),
		CASE(two_threads_share_a_block), CASE(two_processes_share_a_block),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as programs make them: tasks of many sizes by many threads, slices of arrays, parts
 * of one block by two writers. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "penstock.h"

#include "scratch.h"

#define MAX_THREADS 16

/* Where GPU memory is wanted: the emulated device, NULL for host memory. */
static struct pst_context *ctx;
static struct pst_device *gpu;
static char path[64];

static int open_all(void **state)
{
	struct pst_error err;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/var/tmp/penstock-shapes-XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0 || pst_open(&ctx, NULL, &err) < 0 ||
	    pst_device_open(ctx, "host", &gpu, &err) < 0)
		return -1;
	return close(fd);
}

static int close_all(void **state)
{
	(void)state;
	unlink(path);
	pst_close(ctx);
	return 0;
}

static struct pst_file *open_file(struct pst_context *in, enum pst_file_mode mode)
{
	struct pst_file_options options = {
		.size_bytes = sizeof(options), .open_flags = O_RDWR, .mode = mode};
	struct pst_error err = {0};
	struct pst_file *file;

	if (pst_file_open(in, path, &options, &file, &err) < 0)
		fail_msg("%s", err.message);
	return file;
}

static void *memory_of(struct pst_device *device, size_t bytes)
{
	struct pst_error err = {0};
	void *memory = NULL;

	if (pst_memory_alloc(ctx, device, device ? PST_MEMORY_DEVICE : PST_MEMORY_HEAP, bytes,
			     &memory, &err) < 0)
		fail_msg("%s", err.message);
	return memory;
}

static void copy(void *to, const void *from, size_t bytes)
{
	struct pst_error err = {0};

	if (pst_memory_copy(ctx, to, from, bytes, &err) < 0)
		fail_msg("%s", err.message);
}

/* The threads of a job take its tasks one after the other. */
struct job {
	struct pst_file *file;
	char *memory;
	size_t bytes, task_bytes;
	bool write;
	atomic_size_t next;
	atomic_size_t moved;
	atomic_bool failed;
};

static void *take_tasks(void *arg)
{
	struct job *job = arg;
	size_t at;

	while ((at = atomic_fetch_add(&job->next, job->task_bytes)) < job->bytes) {
		size_t left = job->bytes - at;
		size_t now = left < job->task_bytes ? left : job->task_bytes;
		ssize_t n =
			job->write
				? pst_write(job->file, job->memory, now, (off_t)at, (off_t)at, NULL)
				: pst_read(job->file, job->memory, now, (off_t)at, (off_t)at, NULL);

		if (n < 0)
			atomic_store(&job->failed, true);
		else
			atomic_fetch_add(&job->moved, (size_t)n);
	}
	return NULL;
}

static void run_job(struct job *job, unsigned threads)
{
	pthread_t ids[MAX_THREADS];

	atomic_store(&job->next, 0);
	atomic_store(&job->moved, 0);
	for (unsigned i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, take_tasks, job), 0);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	assert_false(atomic_load(&job->failed));
	assert_int_equal(atomic_load(&job->moved), job->bytes);
}

/* One size, task size and number of threads: written, looked at by plain calls, read back. */
static void there_and_back(struct pst_device *device, size_t bytes, size_t task_bytes,
			   unsigned threads)
{
	unsigned char data[40960], seen[40960 + 1];
	struct job job = {.bytes = bytes, .task_bytes = task_bytes, .write = true};
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);

	for (size_t i = 0; i < bytes; i++)
		data[i] = scratch_byte(i + bytes * threads);
	job.memory = memory_of(device, bytes);
	job.file = open_file(ctx, PST_FILE_AUTO);
	copy(job.memory, data, bytes);
	run_job(&job, threads);
	assert_int_equal(pread(fd, seen, sizeof(seen), 0), bytes);
	assert_memory_equal(seen, data, bytes);

	memset(seen, 0, sizeof(seen));
	copy(job.memory, seen, bytes);
	job.write = false;
	run_job(&job, threads);
	copy(seen, job.memory, bytes);
	assert_memory_equal(seen, data, bytes);
	pst_file_close(job.file);
	pst_memory_free(ctx, job.memory, NULL);
	close(fd);
}

/* IO-10 */
static void tasks_of_every_size(void **state)
{
	static const size_t sizes[] = {1, 10, 100, 1000, 1024, 4096, 40960};
	static const size_t tasks[] = {199, 1024};
	static const unsigned threads[] = {1, 3, 4, 16};

	(void)state;
	for (size_t s = 0; s < 7; s++)
		for (size_t t = 0; t < 2; t++)
			for (size_t n = 0; n < 4; n++) {
				there_and_back(NULL, sizes[s], tasks[t], threads[n]);
				there_and_back(gpu, sizes[s], tasks[t], threads[n]);
			}
}

/* IO-11: an array of 40,960 items of eight bytes, of which slices are written and read. */
#define ITEMS 40960

static void slice(struct pst_device *device, size_t first, size_t last, size_t task_bytes)
{
	size_t bytes = (last - first) * 8;
	uint64_t *model = malloc(ITEMS * 8), *seen = malloc(ITEMS * 8);
	char *memory = memory_of(device, ITEMS * 8);
	struct pst_file *file = open_file(ctx, PST_FILE_AUTO);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct pst_error err = {0};

	for (size_t i = 0; i < ITEMS; i++)
		model[i] = i;
	assert_int_equal(pwrite(fd, model, ITEMS * 8, 0), ITEMS * 8);
	for (size_t i = first; i < last; i++)
		model[i] = ~(uint64_t)i;
	copy(memory, model, ITEMS * 8);
	for (size_t at = 0; at < bytes; at += task_bytes) {
		size_t now = bytes - at < task_bytes ? bytes - at : task_bytes;
		off_t place = (off_t)(first * 8 + at);

		assert_int_equal(pst_write(file, memory, now, place, place, &err), now);
	}
	assert_int_equal(pread(fd, seen, ITEMS * 8, 0), ITEMS * 8);
	assert_memory_equal(seen, model, ITEMS * 8);

	/* Back to another place of the buffer, whose other bytes stay. */
	memset(seen, 0x5a, ITEMS * 8);
	copy(memory, seen, ITEMS * 8);
	for (size_t at = 0; at < bytes; at += task_bytes) {
		size_t now = bytes - at < task_bytes ? bytes - at : task_bytes;

		assert_int_equal(
			pst_read(file, memory, now, (off_t)(first * 8 + at), (off_t)at, &err), now);
	}
	copy(seen, memory, ITEMS * 8);
	assert_memory_equal(seen, model + first, bytes);
	for (size_t i = last - first; i < ITEMS; i++)
		assert_int_equal(seen[i], 0x5a5a5a5a5a5a5a5au);
	pst_file_close(file);
	pst_memory_free(ctx, memory, NULL);
	close(fd);
	free(model);
	free(seen);
}

static void only_the_slice_changes(void **state)
{
	static const struct {
		size_t first, last;
	} slices[] = {{0, ITEMS},         {0, 1},      {ITEMS - 1, ITEMS}, {1, ITEMS - 1},
		      {511, 513},         {512, 1024}, {42, ITEMS - 42},   {ITEMS / 2, ITEMS},
		      {1000, 1000 + 4096}};
	static const size_t tasks[] = {1000, 4096, 6144, 9420};

	(void)state;
	for (size_t s = 0; s < sizeof(slices) / sizeof(*slices); s++)
		for (size_t t = 0; t < 4; t++)
			slice((s + t) % 2 ? gpu : NULL, slices[s].first, slices[s].last, tasks[t]);
}

/* IO-15: two writers share a block of 4 KiB, and each finds in its part what it wrote last. Parted
 * in the middle, and where no block of any drive ends. */
#define BLOCK_BYTES 4096
#define ROUNDS      2500

static const off_t partings[] = {2048, 2001};

struct part {
	struct pst_file *file;
	off_t offset;
	size_t bytes;
	unsigned rounds;
	const char *wrong; /* NULL: nothing */
};

static struct part part_of(struct pst_file *file, int i, off_t parting, unsigned rounds)
{
	return (struct part){
		.file = file,
		.offset = i ? parting : 0,
		.bytes = (size_t)(i ? BLOCK_BYTES - parting : parting),
		.rounds = rounds,
	};
}

static void *write_part(void *arg)
{
	_Alignas(BLOCK_BYTES) unsigned char out[BLOCK_BYTES], in[BLOCK_BYTES];
	struct part *part = arg;
	ssize_t bytes = (ssize_t)part->bytes;

	for (unsigned round = 1; round <= part->rounds && !part->wrong; round++) {
		memset(out, (int)(round % 251), part->bytes);
		if (pst_write(part->file, out, part->bytes, part->offset, 0, NULL) != bytes)
			part->wrong = "a write failed";
		/* Another writer's old copy of the block would be seen here. */
		else if (round % 4 == 0 &&
			 pst_read(part->file, in, part->bytes, part->offset, 0, NULL) != bytes)
			part->wrong = "a read failed";
		else if (round % 4 == 0 && memcmp(out, in, part->bytes) != 0)
			part->wrong = "an update was lost";
	}
	return NULL;
}

static void block_is(unsigned rounds)
{
	unsigned char block[BLOCK_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_int_equal(pread(fd, block, sizeof(block), 0), BLOCK_BYTES);
	for (size_t i = 0; i < BLOCK_BYTES; i++)
		assert_int_equal(block[i], rounds % 251);
	close(fd);
}

static void parts_of_a_block_by_threads(void **state)
{
	struct pst_file *file;
	pthread_t threads[2];
	struct part parts[2];

	(void)state;
	assert_int_equal(truncate(path, BLOCK_BYTES), 0);
	file = open_file(ctx, PST_FILE_AUTO);
	for (size_t p = 0; p < sizeof(partings) / sizeof(*partings); p++) {
		for (int i = 0; i < 2; i++) {
			parts[i] = part_of(file, i, partings[p], ROUNDS);
			assert_int_equal(pthread_create(&threads[i], NULL, write_part, &parts[i]),
					 0);
		}
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		for (int i = 0; i < 2; i++)
			if (parts[i].wrong)
				fail_msg("%s", parts[i].wrong);
		block_is(ROUNDS);
	}
	pst_file_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_of_every_size),
		cmocka_unit_test(only_the_slice_changes),
		cmocka_unit_test(parts_of_a_block_by_threads),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The same cases on every storage engine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "os/os.h"
#include "storage/storage.h"

#include "scratch.h"

#define FILE_BYTES   10000
#define BUFFER_BYTES 16384
#define DEPTH        64

static const struct sto_ops *const engines[] = {&sto_uring_ops, &sto_posix_ops};

struct fixture {
	const struct sto_ops *ops;
	struct sto_engine *engine;
	int fd;
	int direct_fd; /* -1: the file system takes no O_DIRECT */
	char *memory;
};

static const struct sto_ops *next_ops;

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	enum pst_reason reason = PST_REASON_COUNT;

	*state = f;
	if (!f)
		return -1;
	f->ops = next_ops;
	f->fd = scratch_file("/var/tmp", O_RDWR);
	f->memory = aligned_alloc(4096, (size_t)DEPTH * BUFFER_BYTES);
	if (f->fd < 0 || !f->memory || !scratch_fill(f->fd, FILE_BYTES))
		return -1;
	f->direct_fd = scratch_reopen(f->fd, O_RDWR | O_DIRECT);
	int rc = f->ops->open(DEPTH, &f->engine, &reason);
	if (rc < 0)
		print_message("engine %s: %s, reason %d\n", f->ops->name, strerror(-rc), reason);
	return rc;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	f->ops->close(f->engine);
	close(f->fd);
	if (f->direct_fd >= 0)
		close(f->direct_fd);
	free(f->memory);
	free(f);
	return 0;
}

static struct sto_io io_of(int fd, bool write, void *memory, size_t bytes, int64_t offset)
{
	return (struct sto_io){.fd = fd,
			       .file_id = (uint64_t)fd + 1,
			       .write = write,
			       .memory = memory,
			       .bytes = bytes,
			       .offset = offset,
			       .fixed_index = -1,
			       .result = -12345};
}

/* Does one operation and gives its result. */
static ssize_t one(struct fixture *f, int fd, bool write, void *memory, size_t bytes,
		   int64_t offset)
{
	struct sto_io io = io_of(fd, write, memory, bytes, offset);

	assert_int_equal(f->ops->submit(f->engine, &io), 0);
	assert_ptr_equal(f->ops->reap(f->engine, true), &io);
	return io.result;
}

static void expect_bytes(const char *memory, uint64_t offset, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal((unsigned char)memory[i], scratch_byte(offset + i));
}

static void reads_end_at_the_end_of_the_file(void **state)
{
	static const struct {
		int64_t offset;
		size_t bytes;
		ssize_t result;
	} rows[] = {
		{0, 4096, 4096},  {4096, 4096, 4096}, {8192, 4096, 1808},
		{12288, 4096, 0}, {4096, 8192, 5904}, {10000, 4096, 0},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(one(f, f->fd, false, f->memory, rows[i].bytes, rows[i].offset),
				 rows[i].result);
		expect_bytes(f->memory, (uint64_t)rows[i].offset, (size_t)rows[i].result);
	}
}

static void direct_reads_end_there_too(void **state)
{
	struct fixture *f = *state;

	if (f->direct_fd < 0)
		skip();
	assert_int_equal(one(f, f->direct_fd, false, f->memory, 4096, 4096), 4096);
	assert_int_equal(one(f, f->direct_fd, false, f->memory, 4096, 8192), 1808);
	expect_bytes(f->memory, 8192, 1808);
	assert_int_equal(one(f, f->direct_fd, false, f->memory, 4096, 12288), 0);
	assert_int_equal(one(f, f->direct_fd, false, f->memory, 8192, 4096), 5904);
	expect_bytes(f->memory, 4096, 5904);
	assert_int_equal(one(f, f->direct_fd, false, f->memory + 1, 4096, 0), -EINVAL);
}

/* Keeps `depth` operations in flight until the whole range is done; counts the bytes. */
static uint64_t walk(struct fixture *f, int fd, bool write, unsigned depth, size_t bytes,
		     uint64_t total)
{
	struct sto_io ios[DEPTH];
	uint64_t next = 0, done = 0;
	unsigned in_flight = 0;

	for (unsigned slot = 0; slot < depth && next < total; slot++, in_flight++) {
		ios[slot] = io_of(fd, write, f->memory + (size_t)slot * BUFFER_BYTES, bytes,
				  (int64_t)next);
		if (write)
			for (size_t i = 0; i < bytes; i++)
				((char *)ios[slot].memory)[i] = (char)scratch_byte(next + i);
		assert_int_equal(f->ops->submit(f->engine, &ios[slot]), 0);
		next += bytes;
	}
	while (in_flight > 0) {
		struct sto_io *io = f->ops->reap(f->engine, true);

		assert_non_null(io);
		in_flight--;
		assert_int_equal(io->result, io->bytes);
		if (!write)
			expect_bytes(io->memory, (uint64_t)io->offset, io->bytes);
		done += (uint64_t)io->result;
		if (next >= total)
			continue;
		io->offset = (int64_t)next;
		if (write)
			for (size_t i = 0; i < bytes; i++)
				((char *)io->memory)[i] = (char)scratch_byte(next + i);
		assert_int_equal(f->ops->submit(f->engine, io), 0);
		next += bytes;
		in_flight++;
	}
	assert_null(f->ops->reap(f->engine, true));
	return done;
}

static void bytes_arrive_at_every_depth_and_size(void **state)
{
	static const size_t sizes[] = {512, 1000, 4096, 16384};
	static const unsigned depths[] = {1, 2, 7, 32, 64};
	struct fixture *f = *state;

	for (size_t s = 0; s < 4; s++) {
		for (size_t d = 0; d < 5; d++) {
			uint64_t total = sizes[s] * 100;
			int fd = scratch_file("/var/tmp", O_RDWR);

			assert_int_equal(walk(f, fd, true, depths[d], sizes[s], total), total);
			assert_int_equal(walk(f, fd, false, depths[d], sizes[s], total), total);
			f->ops->forget_file(f->engine, (uint64_t)fd + 1);
			close(fd);
		}
	}
}

static void a_full_engine_accepts_no_more(void **state)
{
	struct fixture *f = *state;
	struct sto_io ios[DEPTH + 1];

	for (unsigned i = 0; i <= DEPTH; i++)
		ios[i] =
			io_of(f->fd, false, f->memory + (size_t)(i % DEPTH) * BUFFER_BYTES, 100, i);
	for (unsigned i = 0; i < DEPTH; i++)
		assert_int_equal(f->ops->submit(f->engine, &ios[i]), 0);
	assert_int_equal(f->ops->submit(f->engine, &ios[DEPTH]), -EBUSY);
	assert_non_null(f->ops->reap(f->engine, true));
	assert_int_equal(f->ops->submit(f->engine, &ios[DEPTH]), 0);
	for (unsigned i = 0; i < DEPTH; i++) {
		struct sto_io *io = f->ops->reap(f->engine, true);

		assert_non_null(io);
		assert_int_equal(io->result, 100);
		expect_bytes(io->memory, (uint64_t)io->offset, 100);
	}
	assert_null(f->ops->reap(f->engine, true));
}

static void reaping_without_waiting_finds_what_was_flushed(void **state)
{
	struct fixture *f = *state;
	struct sto_io io = io_of(f->fd, false, f->memory, 4096, 0);
	struct timespec pause = {.tv_nsec = 1000000};
	struct sto_io *reaped = NULL;

	assert_null(f->ops->reap(f->engine, false));
	assert_int_equal(f->ops->submit(f->engine, &io), 0);
	assert_int_equal(f->ops->flush(f->engine), 0);
	for (int i = 0; i < 5000 && !reaped; i++) {
		reaped = f->ops->reap(f->engine, false);
		if (!reaped)
			nanosleep(&pause, NULL);
	}
	assert_ptr_equal(reaped, &io);
	assert_int_equal(io.result, 4096);
}

static void errors_come_back_as_results(void **state)
{
	struct fixture *f = *state;
	int closed = dup(f->fd);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int directory = open("/var/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int reader = scratch_reopen(f->fd, O_RDONLY);

	close(closed);
	assert_int_equal(one(f, closed, false, f->memory, 4096, 0), -EBADF);
	assert_int_equal(one(f, full, true, f->memory, 4096, 0), -ENOSPC);
	assert_int_equal(one(f, directory, false, f->memory, 4096, 0), -EISDIR);
	assert_int_equal(one(f, reader, true, f->memory, 4096, 0), -EBADF);
	assert_int_equal(one(f, f->fd, false, (void *)4096, 4096, 0), -EFAULT);
	assert_int_equal(one(f, f->fd, false, f->memory, 0, 0), 0);
	assert_int_equal(one(f, f->fd, false, f->memory, 4096, 0), 4096);
	close(full);
	close(directory);
	close(reader);
}

/* Every round gives the same number to another file; a file that is kept registered under its
 * number would be read instead. */
static void a_descriptor_number_used_again_means_the_new_file(void **state)
{
	struct fixture *f = *state;
	uint64_t id = 1000;
	int number = -1;

	for (unsigned round = 0; round < 6; round++, id++) {
		int fd = scratch_file("/var/tmp", O_RDWR);
		char mark[64];

		assert_true(number < 0 || fd == number);
		number = fd;
		memset(mark, 'a' + (int)round, sizeof(mark));
		assert_int_equal(pwrite(fd, mark, sizeof(mark), 0), sizeof(mark));
		for (int use = 0; use < 40; use++) {
			struct sto_io io = io_of(fd, false, f->memory, sizeof(mark), 0);

			io.file_id = id;
			memset(f->memory, 0, sizeof(mark));
			assert_int_equal(f->ops->submit(f->engine, &io), 0);
			assert_ptr_equal(f->ops->reap(f->engine, true), &io);
			assert_int_equal(io.result, sizeof(mark));
			assert_memory_equal(f->memory, mark, sizeof(mark));
		}
		if (round % 2)
			f->ops->forget_file(f->engine, id);
		close(fd);
	}
	f->ops->forget_file(f->engine, 77777);
}

#define MANY_FILES 150

/* More files than an engine keeps registered, each used often enough to be registered. */
static void many_files_are_kept_apart(void **state)
{
	struct fixture *f = *state;
	int fds[MANY_FILES];

	for (int i = 0; i < MANY_FILES; i++) {
		fds[i] = scratch_file("/var/tmp", O_RDWR);
		assert_int_equal(pwrite(fds[i], &i, sizeof(i), 0), sizeof(i));
	}
	for (int pass = 0; pass < 3; pass++) {
		for (int first = 0; first < MANY_FILES; first++) {
			struct sto_io ios[20];

			for (int k = 0; k < 20; k++) {
				int which = (first + k / 2 * pass) % MANY_FILES;

				ios[k] = io_of(fds[which], false, f->memory + k * 64, 4, 0);
				ios[k].file_id = (uint64_t)which + 500;
				assert_int_equal(f->ops->submit(f->engine, &ios[k]), 0);
			}
			for (int k = 0; k < 20; k++) {
				struct sto_io *io = f->ops->reap(f->engine, true);
				int found;

				assert_int_equal(io->result, 4);
				memcpy(&found, io->memory, 4);
				assert_int_equal(found, io->file_id - 500);
			}
		}
	}
	for (int i = 0; i < MANY_FILES; i++) {
		f->ops->forget_file(f->engine, (uint64_t)i + 500);
		close(fds[i]);
	}
}

static void registered_memory_serves_like_any_other(void **state)
{
	struct fixture *f = *state;
	enum pst_reason reason = PST_REASON_COUNT;
	int index = f->ops->add_buffer(f->engine, f->memory, 4 * BUFFER_BYTES, &reason);

	if (f->ops == &sto_posix_ops) {
		assert_int_equal(index, -EOPNOTSUPP);
		assert_int_equal(reason, PST_REASON_COUNT);
		return;
	}
	assert_true(index >= 0);
	for (int64_t offset = 0; offset < 8192; offset += 1024) {
		struct sto_io io = io_of(f->fd, false, f->memory + 4096, 512, offset);

		io.fixed_index = index;
		assert_int_equal(f->ops->submit(f->engine, &io), 0);
		assert_ptr_equal(f->ops->reap(f->engine, true), &io);
		assert_int_equal(io.result, 512);
		expect_bytes(io.memory, (uint64_t)offset, 512);
	}
	struct sto_io io = io_of(f->fd, true, f->memory, 5, FILE_BYTES);
	memcpy(f->memory, "added", 5);
	io.fixed_index = index;
	assert_int_equal(f->ops->submit(f->engine, &io), 0);
	assert_ptr_equal(f->ops->reap(f->engine, true), &io);
	assert_int_equal(io.result, 5);
	assert_int_equal(pread(f->fd, f->memory + 100, 9, FILE_BYTES), 5);
	assert_memory_equal(f->memory + 100, "added", 5);
	f->ops->remove_buffer(f->engine, index);
	assert_int_equal(
		f->ops->add_buffer(f->engine, f->memory + BUFFER_BYTES, BUFFER_BYTES, &reason),
		index);
	f->ops->remove_buffer(f->engine, index);
}

static unsigned calls_left;
static ssize_t interrupted_pread(int fd, void *memory, size_t bytes, off_t offset)
{
	if (calls_left > 0) {
		calls_left--;
		return calls_left % 2 ? -EINTR : -EAGAIN;
	}
	return pread(fd, memory, bytes, offset);
}

static ssize_t counting_pread(int fd, void *memory, size_t bytes, off_t offset)
{
	(void)fd, (void)memory, (void)offset;
	return (ssize_t)bytes;
}

static void a_plain_transfer_retries_but_not_for_ever(void **state)
{
	struct os_calls calls = os_real_calls;
	char memory[64];
	int fd = scratch_file("/var/tmp", O_RDWR);

	(void)state;
	assert_true(scratch_fill(fd, 64));
	calls.pread = interrupted_pread;
	os_set(&calls);
	calls_left = STO_MAX_RETRIES;
	assert_int_equal(sto_transfer(false, fd, memory, 64, 0), 64);
	calls_left = 1000;
	ssize_t n = sto_transfer(false, fd, memory, 64, 0);
	assert_true(n == -EINTR || n == -EAGAIN);
	assert_int_equal(calls_left, 1000 - STO_MAX_RETRIES - 1);
	calls.pread = counting_pread;
	assert_int_equal(sto_transfer(false, fd, memory, (size_t)3 << 30, 0), STO_MAX_BYTES);
	os_set(NULL);
	close(fd);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(reads_end_at_the_end_of_the_file),
		CASE(direct_reads_end_there_too),
		CASE(bytes_arrive_at_every_depth_and_size),
		CASE(a_full_engine_accepts_no_more),
		CASE(reaping_without_waiting_finds_what_was_flushed),
		CASE(errors_come_back_as_results),
		CASE(a_descriptor_number_used_again_means_the_new_file),
		CASE(many_files_are_kept_apart),
		CASE(registered_memory_serves_like_any_other),
	};
	const struct CMUnitTest plain[] = {
		cmocka_unit_test(a_plain_transfer_retries_but_not_for_ever),
	};
	int failed = cmocka_run_group_tests_name("plain", plain, NULL, NULL);

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		struct sto_engine *engine;
		enum pst_reason reason;

		if (engines[i]->open(1, &engine, &reason) < 0) {
			print_message("[  SKIPPED ] engine %s: not on this kernel or build\n",
				      engines[i]->name);
			continue;
		}
		engines[i]->close(engine);
		next_ops = engines[i];
		failed += cmocka_run_group_tests_name(engines[i]->name, tests, NULL, NULL);
	}
	return failed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Storage that fails, stops short, or changes under a request. */
#include "path_fixture.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "os/os.h"

#define BYTES   ((size_t)8 << 20)
#define DEPTH   16
#define PORTION (BYTES / DEPTH)

/* Transfers that touch this byte of a file fail with the error. */
static off_t bad_offset;
static int bad_error;
/* Above 0: no transfer moves more. */
static size_t most_bytes;

static bool hits(size_t bytes, off_t offset)
{
	return bad_error && offset <= bad_offset && bad_offset < offset + (off_t)bytes;
}

static ssize_t faulty_pread(int fd, void *memory, size_t bytes, off_t offset)
{
	if (hits(bytes, offset))
		return -bad_error;
	return os_real_calls.pread(fd, memory,
				   most_bytes && bytes > most_bytes ? most_bytes : bytes, offset);
}

static ssize_t faulty_pwrite(int fd, const void *memory, size_t bytes, off_t offset)
{
	if (hits(bytes, offset))
		return -bad_error;
	return os_real_calls.pwrite(fd, memory,
				    most_bytes && bytes > most_bytes ? most_bytes : bytes, offset);
}

static struct os_calls faulty;

static int set_up(void **state)
{
	const struct pst_options options = {.size_bytes = sizeof(options),
					    .storage = PST_STORAGE_POSIX};
	int rc = fixture_set_up(state);
	struct path_fixture *f = *state;

	if (rc < 0)
		return rc;
	pst_close(f->ctx);
	bad_error = 0;
	most_bytes = 0;
	faulty = os_real_calls;
	faulty.pread = faulty_pread;
	faulty.pwrite = faulty_pwrite;
	os_set(&faulty);
	if (pst_open(&f->ctx, &options, &f->err) < 0)
		return -1;
	return pst_device_open(f->ctx, "host", &f->device, &f->err);
}

static int tear_down(void **state)
{
	bad_error = 0;
	os_set(NULL);
	return fixture_tear_down(state);
}

static void error_within_a_large_request(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory[2] = {fixture_memory(f, PST_MEMORY_DEVICE, BYTES + 5, 3),
			      fixture_memory(f, PST_MEMORY_HEAP, BYTES + 5, 3)};
	struct pst_stats stats = {.size_bytes = sizeof(stats)}, later = stats;

	assert_int_equal(pst_write(file, memory[0], BYTES + 5, 0, 0, &f->err), BYTES + 5);
	bad_offset = BYTES / 2 + 777;
	for (int i = 0; i < 40; i++) {
		for (int kind = 0; kind < 2; kind++) {
			bad_error = EIO;
			assert_int_equal(pst_read(file, memory[kind], BYTES, 3, 0, &f->err), -EIO);
			assert_int_equal(f->err.code, -EIO);
			assert_int_equal(f->err.sys_errno, EIO);
			assert_int_equal(f->err.stage, PST_STAGE_STORAGE);
			assert_string_equal(f->err.object, f->path);
			assert_int_equal(pst_write(file, memory[kind], BYTES, 3, 0, &f->err), -EIO);
			bad_error = 0;
			assert_int_equal(pst_read(file, memory[kind], BYTES, 3, 0, &f->err), BYTES);
		}
		assert_int_equal(pst_stats_get(f->ctx, i == 0 ? &stats : &later, &f->err), 0);
	}
	assert_int_equal(later.slot_bytes, stats.slot_bytes);
	assert_int_equal(later.read[PST_PATH_STAGED].errors, 40);
	assert_int_equal(later.write[PST_PATH_STAGED].errors, 40);
	pst_file_close(file);
}

/* Submits DEPTH portions of the file and expects an error of the one with the bad byte alone. */
static void batch_with_an_error(struct path_fixture *f, enum pst_op op, int error)
{
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, BYTES, 3);
	struct pst_event events[DEPTH];
	struct pst_io ios[DEPTH];
	struct pst_batch *batch;
	int failed = 0;

	assert_int_equal(pst_write(file, memory, BYTES, 0, 0, &f->err), BYTES);
	assert_int_equal(pst_batch_open(f->ctx, DEPTH, &batch, &f->err), 0);
	bad_error = error;
	bad_offset = 5 * PORTION + 100;
	for (unsigned i = 0; i < DEPTH; i++)
		ios[i] = (struct pst_io){
			.op = op,
			.file = file,
			.buffer = memory,
			.bytes = PORTION,
			.file_offset = (off_t)(i * PORTION),
			.buffer_offset = (off_t)(i * PORTION),
			.cookie = i,
		};
	assert_int_equal(pst_batch_submit(batch, ios, DEPTH, &f->err), 0);
	assert_int_equal(pst_batch_wait(batch, DEPTH, DEPTH, events, -1, &f->err), DEPTH);
	for (int i = 0; i < DEPTH; i++) {
		if (events[i].cookie != 5) {
			assert_int_equal(events[i].result, PORTION);
			continue;
		}
		failed++;
		assert_int_equal(events[i].result, -error);
		assert_int_equal(events[i].error.code, -error);
		assert_true(events[i].error.message[0] != 0);
	}
	assert_int_equal(failed, 1);
	/* The batch is as good as before. */
	bad_error = 0;
	assert_int_equal(pst_batch_submit(batch, ios, DEPTH, &f->err), 0);
	assert_int_equal(pst_batch_wait(batch, DEPTH, DEPTH, events, -1, &f->err), DEPTH);
	for (int i = 0; i < DEPTH; i++)
		assert_int_equal(events[i].result, PORTION);
	pst_batch_close(batch);
	pst_file_close(file);
}

static void read_error_in_a_batch(void **state)
{
	batch_with_an_error(*state, PST_OP_READ, EIO);
}

static void no_space_in_a_batch(void **state)
{
	batch_with_an_error(*state, PST_OP_WRITE, ENOSPC);
}

/* Transfers that stop short, at whole blocks or not, are continued to the last byte. */
static void short_transfers(void **state)
{
	static const size_t steps[] = {4096, 5000, 65536 + 512};
	const size_t bytes = (1 << 20) + 77;
	struct path_fixture *f = *state;

	for (int mode = PST_FILE_AUTO; mode <= PST_FILE_CACHED; mode++) {
		struct pst_file *file = fixture_open(f, O_RDWR, (enum pst_file_mode)mode);

		for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
			int value = (int)i + 1 + 10 * mode;
			uint8_t *from = fixture_memory(f, PST_MEMORY_DEVICE, bytes, value);
			uint8_t *to = fixture_memory(f, PST_MEMORY_HEAP, bytes, 0);

			/* The kernel refuses what is no whole block of O_DIRECT in a write. */
			most_bytes = mode == PST_FILE_CACHED || i == 0 ? steps[i] : 0;
			assert_int_equal(pst_write(file, from, bytes, 33, 0, &f->err), bytes);
			fixture_expect(f, 33, bytes, value);
			most_bytes = most_bytes ? most_bytes : 8192;
			assert_int_equal(pst_read(file, to, bytes, 33, 0, &f->err), bytes);
			assert_true(fixture_all(to, bytes, value));
		}
		pst_file_close(file);
	}
}

/* The file is cut while requests on it are queued: each says how much there was. */
static void truncated_between_requests(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, BYTES, 3);

	assert_int_equal(pst_write(file, memory, BYTES, 0, 0, &f->err), BYTES);
	assert_int_equal(pst_read(file, memory, BYTES, 0, 0, &f->err), BYTES);
	assert_int_equal(truncate(f->path, 2 * PORTION + 1000), 0);
	assert_int_equal(pst_read(file, memory, BYTES, 0, 0, &f->err), 2 * PORTION + 1000);
	assert_int_equal(pst_read(file, memory, BYTES, PORTION, 0, &f->err), PORTION + 1000);
	assert_int_equal(pst_read(file, memory, BYTES, 3 * PORTION, 0, &f->err), 0);
	/* A part of a block that was inside and is now past the end. */
	assert_int_equal(pst_write(file, memory, 10, 2 * PORTION + 5000, 0, &f->err), 10);
	assert_int_equal(pst_read(file, memory, BYTES, 0, 0, &f->err), 2 * PORTION + 5010);
	fixture_expect(f, 2 * PORTION + 1000, 4000, 0);
	pst_file_close(file);
}

static void memory_that_is_not_there(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	struct pst_file *cached = fixture_open(f, O_RDWR, PST_FILE_CACHED);
	void *hole = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(truncate(f->path, 65536), 0);
	assert_int_equal(pst_read(file, hole, 65536, 0, 0, &f->err), PST_E_POINTER_INVALID);
	assert_int_equal(f->err.sys_errno, EFAULT);
	assert_int_equal(pst_write(file, hole, 65536, 0, 0, &f->err), PST_E_POINTER_INVALID);
	assert_int_equal(pst_read(cached, hole, 100, 7, 0, &f->err), PST_E_POINTER_INVALID);
	assert_int_equal(f->err.code, PST_E_POINTER_INVALID);
	munmap(hole, 65536);
	pst_file_close(cached);
	pst_file_close(file);
}

static int refuse_links(const char *path, int flags, mode_t mode)
{
	return strncmp(path, "/proc/self/fd/", 14) == 0 ? -ENOENT
							: os_real_calls.open(path, flags, mode);
}

/* A descriptor that cannot be opened anew is used as it is, and never for what it cannot do. */
static void descriptor_without_proc(void **state)
{
	struct path_fixture *f = *state;
	uint8_t *memory = fixture_memory(f, PST_MEMORY_HEAP, 10000, 0);
	uint8_t *source = fixture_memory(f, PST_MEMORY_HEAP, 10000, 7);
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	struct pst_file_info info = {.size_bytes = sizeof(info)};
	int fd = open(f->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	int writable_fd = open(f->path, O_RDWR | O_DIRECT | O_CLOEXEC);

	assert_int_equal(pst_write(file, source, 10000, 0, 0, &f->err), 10000);
	pst_file_close(file);
	faulty.open = refuse_links;
	assert_int_equal(pst_file_from_fd(f->ctx, fd, NULL, &file, &f->err), 0);
	assert_int_equal(pst_file_info(file, &info, &f->err), 0);
	assert_true(info.o_direct);
	assert_int_equal(pst_read(file, memory, 9000, 999, 1, &f->err), 9000);
	assert_memory_equal(memory + 1, source, 9000);
	pst_file_close(file);
	assert_int_equal(pst_file_from_fd(f->ctx, writable_fd, NULL, &file, &f->err),
			 PST_E_FILE_FLAGS);
	close(writable_fd);
	close(fd);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(error_within_a_large_request), CASE(read_error_in_a_batch),
		CASE(no_space_in_a_batch),          CASE(short_transfers),
		CASE(truncated_between_requests),   CASE(memory_that_is_not_there),
		CASE(descriptor_without_proc),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files of every size and place, and what is said of the way that their bytes took. */
#include "path_fixture.h"

#include <errno.h>

#define GIB ((off_t)1 << 30)

/* Three GiB in one call: more than the kernel moves at once. */
static void one_call_beyond_2_gib(void **state)
{
	const size_t bytes = (size_t)3 << 30;
	struct path_fixture *f = *state;
	struct pst_stats stats = {.size_bytes = sizeof(stats)};
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	static const off_t places[] = {0, 2147479552 - 1, 2147479552, 3 * GIB - 1};
	void *memory;
	uint8_t *seen;

	assert_int_equal(truncate(f->path, 3 * GIB), 0);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		assert_int_equal(
			pst_write(file, &(uint8_t){(uint8_t)(i + 1)}, 1, places[i], 0, &f->err), 1);
	assert_int_equal(pst_memory_alloc(f->ctx, NULL, PST_MEMORY_MMAP, bytes, &memory, &f->err),
			 0);
	seen = memory;
	assert_int_equal(pst_read(file, memory, bytes, 0, 0, &f->err), bytes);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		assert_int_equal(seen[places[i]], i + 1);
	assert_int_equal(seen[GIB], 0);
	assert_int_equal(pst_stats_get(f->ctx, &stats, &f->err), 0);
	assert_int_equal(stats.read[PST_PATH_HOST].bytes, bytes);
	assert_int_equal(stats.short_transfers, 0);
	assert_int_equal(pst_memory_free(f->ctx, memory, &f->err), 0);
	pst_file_close(file);
}

/* File offsets that do not fit in 32 bits, off every border. */
static void offsets_beyond_4_gib(void **state)
{
	const size_t bytes = (1 << 20) + 3;
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	struct pst_file_info info = {.size_bytes = sizeof(info)};

	for (int kind = PST_MEMORY_DEVICE; kind < PST_MEMORY_KIND_COUNT; kind++) {
		const off_t offset = 5 * GIB + 123 + kind * GIB;
		uint8_t *from = fixture_memory(f, (enum pst_memory_kind)kind, bytes, kind + 1);
		uint8_t *to = fixture_memory(f, PST_MEMORY_HEAP, bytes + 10, 0);

		assert_int_equal(pst_write(file, from, bytes, offset, 0, &f->err), bytes);
		assert_int_equal(pst_read(file, to, bytes + 10, offset, 0, &f->err), bytes);
		assert_true(fixture_all(to, bytes, kind + 1));
		fixture_expect(f, offset - 123, 123, 0);
		assert_int_equal(pst_file_info(file, &info, &f->err), 0);
		assert_int_equal(info.file_bytes, offset + (off_t)bytes);
	}
	pst_file_close(file);
}

/* A new file of 10,000 bytes written with O_DIRECT: no padding stays. */
static void ten_thousand_bytes(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_DIRECT);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_HEAP, 12288, 8);
	struct stat st;

	assert_int_equal(pst_write(file, memory, 10000, 0, 0, &f->err), 10000);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 10000);
	fixture_expect(f, 0, 10000, 8);
	pst_file_close(file);
}

static void append_is_refused(void **state)
{
	struct path_fixture *f = *state;
	const struct pst_file_options options = {.size_bytes = sizeof(options),
						 .open_flags = O_WRONLY | O_APPEND};
	struct pst_file *file = NULL;
	int fd = open(f->path, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(pst_file_open(f->ctx, f->path, &options, &file, &f->err),
			 PST_E_FILE_FLAGS);
	assert_int_equal(pst_file_from_fd(f->ctx, fd, NULL, &file, &f->err), PST_E_FILE_FLAGS);
	assert_non_null(strstr(f->err.message, "O_APPEND"));
	close(fd);
}

/* The same name on another file system: what stands below is asked of the new descriptor. */
static void same_name_elsewhere(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file_info before = {.size_bytes = sizeof(before)}, after = before;
	char elsewhere[] = "/dev/shm/penstock-path-XXXXXX";
	char content[100] = "elsewhere", seen[100];
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	int fd = mkostemp(elsewhere, O_CLOEXEC);

	assert_int_equal(pst_file_info(file, &before, &f->err), 0);
	pst_file_close(file);
	assert_int_equal(write(fd, content, sizeof(content)), sizeof(content));
	close(fd);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(symlink(elsewhere, f->path), 0);
	file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	assert_int_equal(pst_file_info(file, &after, &f->err), 0);
	assert_string_equal(after.fs_type, "tmpfs");
	assert_string_not_equal(before.fs_type, after.fs_type);
	assert_true(after.memory_backed);
	assert_int_equal(pst_read(file, seen, sizeof(seen), 0, 0, &f->err), sizeof(seen));
	assert_memory_equal(seen, content, sizeof(seen));
	pst_file_close(file);
	unlink(elsewhere);
}

/* There is no drive below a tmpfs, whatever its kernel accepts: neither O_DIRECT nor io_uring. */
static void files_in_memory(void **state)
{
	enum {
		COUNT = 8,
		BYTES = 65536
	};
	struct path_fixture *f = *state;
	char path[] = "/dev/shm/penstock-path-XXXXXX";
	uint8_t *memory = fixture_memory(f, PST_MEMORY_DEVICE, (size_t)COUNT * BYTES, 3);
	struct pst_plan plan = {.size_bytes = sizeof(plan)};
	struct pst_stats stats = {.size_bytes = sizeof(stats)};
	struct pst_event events[COUNT];
	struct pst_io ios[COUNT];
	struct pst_batch *batch;
	struct pst_file *file;
	int fd = mkostemp(path, O_CLOEXEC);

	unlink(f->path);
	snprintf(f->path, sizeof(f->path), "%s", path);
	close(fd);
	file = fixture_open(f, O_RDWR, PST_FILE_AUTO);
	assert_int_equal(pst_explain(file, PST_OP_READ, memory, BYTES, 0, 0, &plan, &f->err), 0);
	assert_int_equal(plan.path, PST_PATH_CACHED);
	assert_int_equal(plan.storage, PST_STORAGE_POSIX);
	assert_true(plan.reasons >> PST_REASON_FS_MEMORY_BACKED & 1);
	assert_false(plan.reasons >> PST_REASON_FS_NO_O_DIRECT & 1);
	assert_int_equal(pst_batch_open(f->ctx, COUNT, &batch, &f->err), 0);
	for (unsigned i = 0; i < COUNT; i++)
		ios[i] = (struct pst_io){
			.op = PST_OP_WRITE,
			.file = file,
			.buffer = memory,
			.bytes = BYTES,
			.file_offset = (off_t)i * BYTES,
			.buffer_offset = (off_t)i * BYTES,
		};
	assert_int_equal(pst_batch_submit(batch, ios, COUNT, &f->err), 0);
	assert_int_equal(pst_batch_wait(batch, COUNT, COUNT, events, -1, &f->err), COUNT);
	assert_int_equal(pst_stats_get(f->ctx, &stats, &f->err), 0);
	assert_int_equal(stats.uring_requests, 0);
	assert_int_equal(stats.posix_requests, COUNT);
	fixture_expect(f, 0, (size_t)COUNT * BYTES, 3);
	pst_batch_close(batch);
	pst_file_close(file);
}

/* The reasons of an unaligned write say how its ends were written. */
static void reasons_of_unaligned_writes(void **state)
{
	struct path_fixture *f = *state;
	struct pst_file *file = fixture_open(f, O_RDWR, PST_FILE_DIRECT);
	struct pst_file *blind = fixture_open(f, O_WRONLY, PST_FILE_DIRECT);
	uint8_t *memory = fixture_memory(f, PST_MEMORY_HEAP, 65536, 8);
	struct pst_stats stats = {.size_bytes = sizeof(stats)};

	assert_int_equal(truncate(f->path, 65536), 0);
	assert_int_equal(pst_write(file, memory, 100, 50, 0, &f->err), 100);
	assert_int_equal(pst_write(blind, memory, 100, 5000, 0, &f->err), 100);
	assert_int_equal(pst_stats_get(f->ctx, &stats, &f->err), 0);
	assert_int_equal(stats.reasons[PST_REASON_READ_MODIFY_WRITE], 2);
	assert_int_equal(stats.reasons[PST_REASON_PAST_END], 0);
	assert_int_equal(stats.posix_requests, 3); /* read and write of a block; one buffered */
	assert_int_equal(pst_write(file, memory, 100, 70000, 0, &f->err), 100);
	assert_int_equal(pst_stats_get(f->ctx, &stats, &f->err), 0);
	assert_int_equal(stats.reasons[PST_REASON_READ_MODIFY_WRITE], 2);
	assert_int_equal(stats.reasons[PST_REASON_PAST_END], 1);
	fixture_expect(f, 50, 100, 8);
	fixture_expect(f, 5000, 100, 8);
	fixture_expect(f, 70000, 100, 8);
	pst_file_close(blind);
	pst_file_close(file);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, fixture_set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(one_call_beyond_2_gib),       CASE(offsets_beyond_4_gib),
		CASE(ten_thousand_bytes),          CASE(append_is_refused),
		CASE(same_name_elsewhere),         CASE(files_in_memory),
		CASE(reasons_of_unaligned_writes),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}

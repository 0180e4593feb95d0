/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_cases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)8 << 20)
/* More than all pieces that can be in flight. */
#define LARGE_BYTES (((uint64_t)9 << 20) + 5)
#define GUARD       0x5a

struct fixture {
	struct transfer_setup setup;
	struct pst_context *ctx;
	struct pst_device *device;
	uint8_t *buffer; /* of the tested kind, BUFFER_BYTES */
	char path[256];
};

static bool on_device(const struct fixture *f)
{
	return f->setup.device && f->setup.memory <= PST_MEMORY_DEVICE_VMM;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* What the file holds at each offset: any byte tells its place. */
static uint8_t content(uint64_t offset, unsigned generation)
{
	uint64_t x = (offset / 8 + 1) * 0x9e3779b97f4a7c15u + generation;

	return (uint8_t)(x >> (offset % 8 * 8));
}

static void fill(uint8_t *to, uint64_t offset, size_t bytes, unsigned generation)
{
	size_t i = 0;

	for (; i < bytes && (offset + i) % 8; i++)
		to[i] = content(offset + i, generation);
	for (; bytes - i >= 8; i += 8) {
		uint64_t x = ((offset + i) / 8 + 1) * 0x9e3779b97f4a7c15u + generation;

		memcpy(to + i, &x, 8); /* content() of eight bytes, on a little-endian machine */
	}
	for (; i < bytes; i++)
		to[i] = content(offset + i, generation);
}

static int setup_fixture(void **state)
{
	const struct transfer_setup *setup = *state;
	struct fixture *f = calloc(1, sizeof(*f));
	struct pst_options options = {.size_bytes = sizeof(options), .storage = setup->storage};
	struct pst_error err;

	f->setup = *setup;
	snprintf(f->path, sizeof(f->path), "%s/transfer-%d", setup->directory, (int)getpid());
	unlink(f->path);
	if (pst_open(&f->ctx, &options, &err) < 0) {
		print_error("%s\n", err.message);
		return -1;
	}
	if (setup->device && pst_device_open(f->ctx, setup->device, &f->device, &err) < 0) {
		print_error("%s\n", err.message);
		return -1;
	}
	if (pst_memory_alloc(f->ctx, f->device, setup->memory, BUFFER_BYTES, (void **)&f->buffer,
			     &err) < 0) {
		print_error("%s\n", err.message);
		return -1;
	}
	if (setup->registered)
		assert_int_equal(pst_buffer_register(f->ctx, f->buffer, BUFFER_BYTES, &err), 0);
	*state = f;
	return 0;
}

static int teardown_fixture(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	pst_close(f->ctx);
	free(f);
	return 0;
}

static struct pst_file *open_file(struct fixture *f, int flags)
{
	struct pst_file_options options = {
		.size_bytes = sizeof(options),
		.open_flags = flags,
		.create_mode = 0644,
		.mode = f->setup.mode,
		.no_overlap = f->setup.no_overlap,
	};
	struct pst_file *file = NULL;
	struct pst_error err;

	if (pst_file_open(f->ctx, f->path, &options, &file, &err) < 0)
		fail_msg("%s", err.message);
	return file;
}

/* Writes the file with plain calls, not with what is tested. */
static void make_file(struct fixture *f, uint64_t bytes)
{
	int fd = open(f->path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	uint8_t *block = malloc(1 << 20);

	assert_true(fd >= 0);
	for (uint64_t at = 0; at < bytes; at += 1 << 20) {
		size_t n = bytes - at < 1 << 20 ? bytes - at : 1 << 20;

		fill(block, at, n, 0);
		assert_int_equal(pwrite(fd, block, n, (off_t)at), n);
	}
	fsync(fd);
	close(fd);
	free(block);
}

static void to_buffer(struct fixture *f, size_t at, const uint8_t *from, size_t bytes)
{
	struct pst_error err;

	if (pst_memory_copy(f->ctx, f->buffer + at, from, bytes, &err) < 0)
		fail_msg("%s", err.message);
}

static void from_buffer(struct fixture *f, uint8_t *to, size_t at, size_t bytes)
{
	struct pst_error err;

	if (pst_memory_copy(f->ctx, to, f->buffer + at, bytes, &err) < 0)
		fail_msg("%s", err.message);
}

/* Reads and compares: exact bytes, exact count, nothing outside what was asked for touched. (The
 * kernel may clear host memory between the end of the file and the end of its block.) */
static void check_read(struct fixture *f, struct pst_file *file, size_t at, size_t bytes,
		       off_t offset, ssize_t expected)
{
	size_t window = bytes + 128;
	uint8_t *seen = malloc(window), *want = malloc(window);
	struct pst_error err = {0};
	ssize_t got;

	memset(seen, GUARD, window);
	memset(want, GUARD, window);
	to_buffer(f, at - 64, seen, window);
	got = pst_read(file, f->buffer, bytes, offset, (off_t)at, &err);
	if (got != expected)
		fail_msg("read of %zu at %lld gave %zd, expected %zd: %s", bytes, (long long)offset,
			 got, expected, err.message);
	from_buffer(f, seen, at - 64, window);
	fill(want + 64, (uint64_t)offset, (size_t)got, 0);
	assert_memory_equal(seen, want, 64 + (size_t)got);
	if (on_device(f))
		assert_memory_equal(seen, want, window);
	else
		assert_memory_equal(seen + 64 + bytes, want + 64 + bytes, 64);
	free(want);
	free(seen);
}

static const size_t sizes[] = {1,      511,     512,     513,           1328,         4095,
			       4096,   4097,    65535,   65536,         65537,        262144,
			       262145, 1000000, 1 << 20, (1 << 20) + 3, (4 << 20) + 5};

static void reads_of_every_shape(void **state)
{
	static const off_t offsets[] = {0, 1, 511, 512, 4095, 4096, 1048575};
	static const size_t places[] = {4096, 4097, 4096 + 511, 8191};
	const uint64_t bytes = ((uint64_t)6 << 20) + 1234;
	struct fixture *f = *state;
	struct pst_file *file;

	make_file(f, bytes);
	file = open_file(f, O_RDONLY);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (size_t o = 0; o < sizeof(offsets) / sizeof(*offsets); o++)
			check_read(f, file, places[(s + o) % 4], sizes[s], offsets[o],
				   (ssize_t)sizes[s]);
	}
	pst_file_close(file);
}

/* The numbers of a file of 10,000 bytes are known from the kernel itself. */
static void reads_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct pst_file *file;

	make_file(f, 10000);
	file = open_file(f, O_RDONLY);
	check_read(f, file, 4096, 4096, 0, 4096);
	check_read(f, file, 4096, 4096, 4096, 4096);
	check_read(f, file, 4096, 4096, 8192, 1808);
	check_read(f, file, 4096, 4096, 12288, 0);
	check_read(f, file, 4096, 8192, 4096, 5904);
	check_read(f, file, 4096, 4096, 10000, 0);
	check_read(f, file, 4096, 4 << 20, 1, 9999);
	check_read(f, file, 4097, 0, 0, 0);
	pst_file_close(file);
}

static void empty_file_and_zero_bytes(void **state)
{
	struct fixture *f = *state;
	struct pst_error err;
	struct pst_file *file;
	struct stat st;

	make_file(f, 0);
	file = open_file(f, O_RDWR);
	check_read(f, file, 4096, 100, 0, 0);
	assert_int_equal(pst_write(file, f->buffer, 0, 0, 0, &err), 0);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 0);
	pst_file_close(file);
}

/* Random writes and reads against a model in memory, across the end of the file. */
static void writes_against_a_model(void **state)
{
	const size_t space = 3 << 20;
	struct fixture *f = *state;
	uint8_t *model = calloc(1, space), *data = malloc(space);
	struct pst_file *file;
	uint64_t random = 88172645463325252u;
	size_t file_bytes = 0;
	int fd;

	make_file(f, 0);
	file = open_file(f, O_RDWR);
	for (unsigned round = 1; round <= 200; round++) {
		size_t limit = round % 4 ? 20000 : 1 << 20;
		size_t bytes = 1 + next_random(&random) % limit;
		size_t offset = next_random(&random) % (space - bytes);
		size_t at = next_random(&random) % 5000;
		struct pst_error err = {0};
		ssize_t put;

		if (round % 3 == 0) {
			offset -= offset % 4096;
			at -= at % 4096;
		}
		fill(data, offset, bytes, round);
		memcpy(model + offset, data, bytes);
		to_buffer(f, at, data, bytes);
		put = pst_write(file, f->buffer, bytes, (off_t)offset, (off_t)at, &err);
		if (put != (ssize_t)bytes)
			fail_msg("write of %zu at %zu gave %zd: %s", bytes, offset, put,
				 err.message);
		if (offset + bytes > file_bytes)
			file_bytes = offset + bytes;
	}
	pst_file_close(file);
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(lseek(fd, 0, SEEK_END), file_bytes);
	assert_int_equal(pread(fd, data, space, 0), file_bytes);
	assert_memory_equal(data, model, file_bytes);
	close(fd);
	free(model);
	free(data);
}

/* A new file is exactly as long as what was written: no padding, no truncation. */
static void size_of_a_new_file(void **state)
{
	struct fixture *f = *state;
	uint8_t *data = malloc(10000);
	struct pst_error err = {0};
	struct pst_file *file;
	struct stat st;

	file = open_file(f, O_RDWR | O_CREAT | O_EXCL);
	fill(data, 0, 10000, 0);
	to_buffer(f, 4096, data, 10000);
	assert_int_equal(pst_write(file, f->buffer, 10000, 0, 4096, &err), 10000);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 10000);
	check_read(f, file, 4096, 20000, 0, 10000);
	pst_file_close(file);
	free(data);
}

/* One request is moved whole, beyond what fits in any one piece. */
static void a_large_request(void **state)
{
	struct fixture *f = *state;
	uint64_t bytes = f->setup.large_bytes;
	uint8_t *block, *want, *large;
	struct pst_error err = {0};
	struct pst_file *file;

	if (!bytes)
		bytes = LARGE_BYTES;
	block = malloc(1 << 20);
	want = malloc(1 << 20);
	make_file(f, bytes);
	file = open_file(f, O_RDONLY);
	if (pst_memory_alloc(f->ctx, f->device, f->setup.memory, bytes + 16, (void **)&large,
			     &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(pst_read(file, large, bytes + 16, 0, 0, &err), bytes);
	for (uint64_t at = 0; at < bytes; at += 1 << 20) {
		size_t n = bytes - at < 1 << 20 ? bytes - at : 1 << 20;

		assert_int_equal(pst_memory_copy(f->ctx, block, large + at, n, &err), 0);
		fill(want, at, n, 0);
		if (memcmp(block, want, n))
			fail_msg("the block at %llu differs", (unsigned long long)at);
	}
	assert_int_equal(pst_memory_free(f->ctx, large, &err), 0);
	pst_file_close(file);
	free(block);
	free(want);
}

static void batches_in_any_order(void **state)
{
	enum {
		COUNT = 64,
		BYTES = 40000,
		CAPACITY = 24
	};
	struct fixture *f = *state;
	struct pst_batch *batch;
	struct pst_error err = {0};
	struct pst_file *file;
	uint8_t *seen = malloc(BYTES), *want = malloc(BYTES);
	unsigned submitted = 0, done = 0;
	bool reported[COUNT] = {false};

	make_file(f, (uint64_t)COUNT * BYTES);
	file = open_file(f, O_RDONLY);
	assert_int_equal(pst_batch_open(f->ctx, CAPACITY, &batch, &err), 0);
	while (done < COUNT) {
		struct pst_event events[5];
		int n;

		while (submitted < COUNT && submitted - done < CAPACITY) {
			struct pst_io io = {
				.file = file,
				.buffer = f->buffer,
				.bytes = BYTES,
				.file_offset = (off_t)submitted * BYTES,
				.buffer_offset = (off_t)submitted * BYTES,
				.cookie = submitted,
			};

			assert_int_equal(pst_batch_submit(batch, &io, 1, &err), 0);
			submitted++;
		}
		n = pst_batch_wait(batch, 1, 5, events, -1, &err);
		assert_in_range(n, 1, 5);
		for (int i = 0; i < n; i++) {
			assert_false(reported[events[i].cookie]);
			reported[events[i].cookie] = true;
			assert_int_equal(events[i].result, BYTES);
			assert_true(events[i].latency_ns > 0);
		}
		done += (unsigned)n;
	}
	for (unsigned i = 0; i < COUNT; i++) {
		from_buffer(f, seen, (size_t)i * BYTES, BYTES);
		fill(want, (uint64_t)i * BYTES, BYTES, 0);
		assert_memory_equal(seen, want, BYTES);
	}
	pst_batch_close(batch);
	pst_file_close(file);
	free(seen);
	free(want);
}

/* Unaligned writes in flight at once in one batch share blocks and all of them survive. */
static void batched_writes_share_blocks(void **state)
{
	enum {
		COUNT = 32,
		BYTES = 6000
	};
	struct fixture *f = *state;
	struct pst_event events[COUNT];
	struct pst_io ios[COUNT];
	struct pst_batch *batch;
	struct pst_error err = {0};
	struct pst_file *file;
	uint8_t *data = malloc((size_t)COUNT * BYTES), *want = malloc((size_t)COUNT * BYTES);
	int fd;

	make_file(f, 0);
	file = open_file(f, O_RDWR);
	fill(want, 0, (size_t)COUNT * BYTES, 7);
	to_buffer(f, 0, want, (size_t)COUNT * BYTES);
	assert_int_equal(pst_batch_open(f->ctx, COUNT, &batch, &err), 0);
	for (unsigned i = 0; i < COUNT; i++) {
		ios[i] = (struct pst_io){
			.op = PST_OP_WRITE,
			.file = file,
			.buffer = f->buffer,
			.bytes = BYTES,
			.file_offset = (off_t)i * BYTES,
			.buffer_offset = (off_t)i * BYTES,
		};
	}
	assert_int_equal(pst_batch_submit(batch, ios, COUNT, &err), 0);
	assert_int_equal(pst_batch_submit(batch, ios, 1, &err), PST_E_BATCH_FULL);
	assert_int_equal(pst_batch_wait(batch, COUNT, COUNT, events, -1, &err), COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(events[i].result, BYTES);
	pst_batch_close(batch);
	pst_file_close(file);
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(lseek(fd, 0, SEEK_END), COUNT * BYTES);
	assert_int_equal(pread(fd, data, (size_t)COUNT * BYTES, 0), COUNT * BYTES);
	assert_memory_equal(data, want, (size_t)COUNT * BYTES);
	close(fd);
	free(data);
	free(want);
}

static void paths_are_counted(void **state)
{
	struct fixture *f = *state;
	struct pst_stats stats = {.size_bytes = sizeof(stats)};
	struct pst_plan plan = {.size_bytes = sizeof(plan)};
	struct pst_error err = {0};
	struct pst_file *file;

	make_file(f, 100000);
	file = open_file(f, O_RDONLY);
	assert_int_equal(pst_explain(file, PST_OP_READ, f->buffer, 8192, 4096, 0, &plan, &err), 0);
	assert_true(plan.path > PST_PATH_NONE && plan.path < PST_PATH_COUNT);
	assert_true((plan.device != NULL) == on_device(f));
	assert_int_equal(pst_read(file, f->buffer, 8192, 4096, 0, &err), 8192);
	assert_int_equal(pst_stats_get(f->ctx, &stats, &err), 0);
	assert_int_equal(stats.read[plan.path].requests, 1);
	assert_int_equal(stats.read[plan.path].bytes, 8192);
	for (int reason = 0; reason < PST_REASON_COUNT; reason++)
		assert_int_equal(stats.reasons[reason], plan.reasons >> reason & 1);
	pst_file_close(file);
}

static void ranges_are_checked(void **state)
{
	struct fixture *f = *state;
	struct pst_error err = {0};
	struct pst_file *file;
	ssize_t rc;

	make_file(f, 1000);
	file = open_file(f, O_RDONLY);
	if (f->setup.registered) {
		rc = pst_read(file, f->buffer, 4096, 0, (off_t)BUFFER_BYTES - 4095, &err);
		assert_int_equal(rc, PST_E_MAPPING_SIZE);
		rc = pst_read(file, f->buffer, 1, 0, -1, &err);
		assert_int_equal(rc, PST_E_MAPPING_SIZE);
	} else if (on_device(f)) {
		rc = pst_read(file, f->buffer, (4 << 20) + 1, 0, 4 << 20, &err);
		assert_int_equal(rc, PST_E_POINTER_RANGE);
	}
	assert_int_equal(pst_read(file, f->buffer, 1, -1, 0, &err), PST_E_INVALID_VALUE);
	assert_int_equal(pst_read(file, NULL, 1, 0, 0, &err), PST_E_INVALID_VALUE);
	assert_int_equal(pst_write(file, f->buffer, 1, 0, 0, &err), -EBADF);
	pst_file_close(file);
}

int transfer_cases_run(const char *name, const struct transfer_setup *setup)
{
	void *initial = (void *)setup;
	const struct CMUnitTest tests[] = {
#define CASE(function) {#function, function, setup_fixture, teardown_fixture, initial}
		CASE(reads_of_every_shape),      CASE(reads_at_the_end),
		CASE(empty_file_and_zero_bytes), CASE(writes_against_a_model),
		CASE(size_of_a_new_file),        CASE(a_large_request),
		CASE(batches_in_any_order),      CASE(batched_writes_share_blocks),
		CASE(paths_are_counted),         CASE(ranges_are_checked),
#undef CASE
	};

	print_message("# %s\n", name);
	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

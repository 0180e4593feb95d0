/* SPDX-License-Identifier: Apache-2.0 */
/* Whole plans opened with the library. */
#include "io/plan.h"
#include "io/target.h"
#include "tool_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include <cmocka.h>

#define TMPFS 0x01021994

static struct pst_context *ctx;
static struct pst_error err;
static struct io_plan plan;

static int begin(void **state)
{
	return pst_open(&ctx, NULL, &err) < 0 || folder_make(state);
}

static int end(void **state)
{
	pst_close(ctx);
	return folder_remove(state);
}

static struct io_job job_of(enum io_type type, uint64_t size)
{
	return (struct io_job){.directory = folder,
			       .type = type,
			       .size_bytes = size,
			       .io_min_bytes = 4096,
			       .io_max_bytes = 4096,
			       .xfer = IO_XFER_CPU_ONLY,
			       .in_flight = 1,
			       .numa_node = IO_NO_NODE};
}

/* Written through the handles, closed, read back in a second plan. */
static void test_write_then_read(void **state)
{
	struct io_job job = job_of(IO_WRITE, 10000);
	char data[10000], back[10000];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 251);
	assert_int_equal(io_plan_make(&plan, &job, 3, &err), 0);
	assert_int_equal(io_targets_open(&plan, ctx, &err), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_non_null(plan.files[i].handle);
		assert_true(plan.files[i].made);
		assert_int_equal(pst_write(plan.files[i].handle, data, sizeof(data), 0, 0, &err),
				 sizeof(data));
	}
	io_targets_close(&plan);
	io_targets_close(&plan); /* allowed */
	io_plan_free(&plan);
	io_plan_free(&plan);

	job = job_of(IO_READ, 0);
	assert_int_equal(io_plan_make(&plan, &job, 3, &err), 0);
	assert_int_equal(plan.requested_bytes, 30000);
	assert_int_equal(io_targets_open(&plan, ctx, &err), 0);
	for (unsigned i = 0; i < 3; i++) {
		size_t from = plan.files[i].signature ? IO_MARK_BYTES : 0;

		assert_int_equal(pst_read(plan.files[i].handle, back, sizeof(back), 0, 0, &err),
				 sizeof(back));
		assert_memory_equal(back + from, data + from, sizeof(back) - from);
	}
	io_targets_close(&plan);
	io_plan_free(&plan);

	job = job_of(IO_WRITE, 10000); /* ours: no --overwrite needed */
	assert_int_equal(io_plan_make(&plan, &job, 3, &err), 0);
	assert_int_equal(io_targets_open(&plan, ctx, &err), 0);
	assert_false(plan.files[0].made);
	io_targets_close(&plan);
	io_plan_free(&plan);
}

/* The third file cannot be made: the first two are not left behind. */
static void test_nothing_left(void **state)
{
	struct io_job job = job_of(IO_WRITE, 10000);

	(void)state;
	assert_int_equal(io_plan_make(&plan, &job, 3, &err), 0);
	make_file("gdsio.2", 5);
	assert_int_equal(io_targets_open(&plan, ctx, &err), 2);
	assert_int_equal(err.code, -EEXIST);
	assert_int_equal(folder_entries(), 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_null(plan.files[i].handle);
		assert_int_equal(plan.files[i].fd, -1);
	}
	io_plan_free(&plan);
}

/* CA-01: on tmpfs --require-direct is not met, whatever the kernel does with O_DIRECT. */
static void test_require_direct(void **state)
{
	char other[] = "/dev/shm/penstock-test-XXXXXX";
	struct io_job job = job_of(IO_WRITE, 10000);
	struct statfs fs;

	(void)state;
	if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS || !mkdtemp(other))
		skip();
	job.directory = other;
	job.require_direct = true;
	assert_int_equal(io_plan_make(&plan, &job, 2, &err), 0);
	assert_int_equal(io_targets_open(&plan, ctx, &err), 3);
	assert_int_equal(err.code, PST_E_IO_NOT_SUPPORTED);
	io_plan_free(&plan);
	assert_int_equal(rmdir(other), 0);
}

/* ramfs has no attributes: the mark is a signature, which a run's end restores. */
static void test_without_attributes(void **state)
{
	struct io_job job = job_of(IO_WRITE, 10000);
	static const char zeros[10000];
	char text[IO_MARK_BYTES];

	(void)state;
	if (mount("none", folder, "ramfs", 0, NULL))
		skip();
	for (unsigned run = 0; run < 2; run++) {
		assert_int_equal(io_plan_make(&plan, &job, 1, &err), 0);
		assert_int_equal(io_targets_open(&plan, ctx, &err), 0);
		assert_true(plan.files[0].signature);
		assert_int_equal(plan.files[0].made, run == 0);
		assert_int_equal(pst_write(plan.files[0].handle, zeros, sizeof(zeros), 0, 0, &err),
				 sizeof(zeros));
		io_targets_close(&plan);
		io_plan_free(&plan);
	}
	job = job_of(IO_READ, 0);
	assert_int_equal(io_plan_make(&plan, &job, 1, &err), 0);
	assert_int_equal(plan.requested_bytes, 10000);
	assert_int_equal(io_targets_open(&plan, ctx, &err), 0);
	assert_int_equal(pread(plan.files[0].fd, text, sizeof(text), 0), IO_MARK_BYTES);
	assert_memory_equal(text, IO_MARK_TEXT, IO_MARK_BYTES);
	io_targets_close(&plan);
	io_plan_free(&plan);
	assert_int_equal(umount(folder), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_write_then_read),
		IN_FOLDER(test_nothing_left),
		IN_FOLDER(test_require_direct),
		IN_FOLDER(test_without_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/limits.h"
#include "io/plan.h"
#include "tool_capture.h"
#include "tool_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct pst_error err;
static struct io_plan plan;

static struct io_job job_of(enum io_type type, const char *file, uint64_t size)
{
	return (struct io_job){.file = file,
			       .type = type,
			       .size_bytes = size,
			       .io_min_bytes = 4096,
			       .io_max_bytes = 4096,
			       .xfer = IO_XFER_CPU_ONLY,
			       .in_flight = 1,
			       .numa_node = IO_NO_NODE,
			       .repeat = 1};
}

static void refused(const struct io_job *job, unsigned threads, int exit_status, const char *part)
{
	memset(&err, 0, sizeof(err));
	assert_int_equal(io_plan_make(&plan, job, threads, &err), exit_status);
	if (!strstr(err.message, part))
		fail_msg("'%s' is not in: %s", part, err.message);
	assert_true(err.code < 0);
	assert_null(plan.files);
}

/* Every byte exactly once, in order, no two shares more than one block apart, starts on blocks. */
static void check_split(unsigned threads, uint64_t start, uint64_t end, uint64_t block)
{
	struct io_share shares[16];
	uint64_t at = start, most = 0, least = UINT64_MAX;

	io_plan_split(shares, threads, start, end, block);
	for (unsigned t = 0; t < threads; t++) {
		uint64_t bytes = shares[t].end_bytes - shares[t].start_bytes;
		uint64_t ops = (bytes + block - 1) / block;

		assert_int_equal(shares[t].start_bytes, at);
		assert_true(shares[t].end_bytes >= at);
		assert_true(!bytes || (at - start) % block == 0);
		at = shares[t].end_bytes;
		most = ops > most ? ops : most;
		least = ops < least ? ops : least;
	}
	assert_int_equal(at, end);
	assert_true(most - least <= 1);
}

static void test_split_exhaustive(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 9; threads++)
		for (uint64_t block = 1; block <= 7; block++)
			for (uint64_t start = 0; start <= 3; start++)
				for (uint64_t bytes = 0; bytes <= 70; bytes++)
					check_split(threads, start, start + bytes, block);
	check_split(3, UINT64_MAX - 10, UINT64_MAX, (uint64_t)1 << 40);
	check_split(16, 5, INT64_MAX, 4096);
}

/* SC-01 */
static void test_192_threads(void **state)
{
	struct io_share shares[192];
	unsigned six = 0, five = 0;

	(void)state;
	io_plan_split(shares, 192, 0, 1073741824, 1048576);
	for (unsigned t = 0; t < 192; t++) {
		six += shares[t].end_bytes - shares[t].start_bytes == 6 * 1048576;
		five += shares[t].end_bytes - shares[t].start_bytes == 5 * 1048576;
	}
	assert_int_equal(six, 64);
	assert_int_equal(five, 128);
}

static void test_read_ranges(void **state)
{
	struct folder_path p = in_folder("data");
	struct io_job job = job_of(IO_READ, p.text, 0);

	(void)state;
	make_file("data", 30000);
	assert_int_equal(io_plan_make(&plan, &job, 3, &err), 0);
	assert_int_equal(plan.requested_bytes, 30000);
	assert_int_equal(plan.file_count, 1);
	assert_false(plan.files[0].clipped);
	assert_int_equal(plan.shares[2].end_bytes, 30000);
	assert_int_equal(plan.memory_bytes, 3 * 4096);
	io_plan_free(&plan);

	job.offset_bytes = 29999;
	job.size_bytes = 4096;
	assert_int_equal(io_plan_make(&plan, &job, 3, &err), 0);
	assert_int_equal(plan.requested_bytes, 1);
	assert_true(plan.files[0].clipped);
	assert_int_equal(plan.shares[0].end_bytes, 30000);
	assert_int_equal(plan.shares[1].start_bytes, plan.shares[1].end_bytes);
	io_plan_free(&plan);

	job.offset_bytes = 10;
	job.size_bytes = 29990;
	assert_int_equal(io_plan_make(&plan, &job, 1, &err), 0);
	assert_false(plan.files[0].clipped);
	io_plan_free(&plan);

	job.size_bytes = 0;
	job.offset_bytes = 30000;
	refused(&job, 1, 2, "offset 30000 is at the end");
	job.offset_bytes = 1073741824; /* IO-05 */
	refused(&job, 1, 2, "offset 1073741824 is beyond the end");
	assert_non_null(strstr(err.message, "30000 bytes"));
}

/* IO-06, a missing file, a folder for a file */
static void test_read_nothing(void **state)
{
	struct folder_path p = in_folder("empty");
	struct io_job job = job_of(IO_READ, p.text, 0);

	(void)state;
	refused(&job, 1, 2, "there is no file");
	make_file("empty", 0);
	refused(&job, 1, 2, "nothing to read");
	job.file = folder;
	refused(&job, 1, 2, "is a directory");
}

static void test_directory(void **state)
{
	struct io_job job = job_of(IO_READ, NULL, 8192);

	(void)state;
	job.directory = folder;
	make_file("gdsio.0", 10000);
	make_file("gdsio.1", 8192);
	assert_int_equal(io_plan_make(&plan, &job, 2, &err), 0);
	assert_int_equal(plan.file_count, 2);
	assert_int_equal(plan.requested_bytes, 16384);
	assert_int_equal(plan.shares[1].file, 1);
	assert_int_equal(plan.shares[1].end_bytes, 8192);
	assert_string_equal(plan.files[1].path, in_folder("gdsio.1").text);
	io_plan_free(&plan);
	refused(&job, 3, 2, "-w 3 -s 8192 -I 1");
	assert_non_null(strstr(err.message, "gdsio.2"));
	job.directory = "/none/such";
	refused(&job, 1, 2, "ENOENT");
	job.directory = "/dev/null";
	refused(&job, 1, 2, "no folder");
}

static void test_write_ranges(void **state)
{
	struct folder_path p = in_folder("new");
	struct io_job job = job_of(IO_WRITE, p.text, 0);

	(void)state;
	refused(&job, 1, 2, "new file: say how large with -s");
	job.size_bytes = 10000;
	job.offset_bytes = 5;
	assert_int_equal(io_plan_make(&plan, &job, 2, &err), 0);
	assert_true(plan.files[0].create);
	assert_int_equal(plan.files[0].end_bytes, 10005);
	assert_int_equal(plan.shares[0].end_bytes, 5 + 8192);
	assert_int_equal(plan.requested_bytes, 10000);
	io_plan_free(&plan);
	assert_int_equal(folder_entries(), 0);

	make_file("new", 20000);
	refused(&job, 1, 2, "add --overwrite");
	job.overwrite = true;
	job.size_bytes = 0;
	assert_int_equal(io_plan_make(&plan, &job, 1, &err), 0);
	assert_int_equal(plan.requested_bytes, 19995);
	io_plan_free(&plan);
}

/* IO-18: refused at once, with the type. */
static void test_types(void **state)
{
	struct folder_path fifo = in_folder("fifo"), sock = in_folder("sock"),
			   link = in_folder("l");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct io_job job = job_of(IO_READ, fifo.text, 4096);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(mkfifo(fifo.text, 0600), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", sock.text);
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(symlink("target", link.text), 0);
	make_file("target", 4096);
	for (unsigned write = 0; write < 2; write++) {
		job.type = write ? IO_RANDWRITE : IO_RANDREAD;
		job.overwrite = write;
		job.file = fifo.text;
		refused(&job, 1, 2, "is a FIFO");
		job.file = sock.text;
		refused(&job, 1, 2, "is a socket");
		job.file = "/dev/null";
		refused(&job, 1, 2, "is a character device");
	}
	job.file = link.text;
	refused(&job, 1, 2, "is a symbolic link");
	assert_non_null(strstr(err.message, in_folder("target").text));
	job.type = IO_READ;
	assert_int_equal(io_plan_make(&plan, &job, 1, &err), 0);
	io_plan_free(&plan);
	close(s);
}

/* OU-08 */
static void test_space(void **state)
{
	struct io_job job = job_of(IO_WRITE, NULL, 0);
	struct statvfs fs;

	(void)state;
	assert_int_equal(statvfs(folder, &fs), 0);
	job.directory = folder;
	job.size_bytes = fs.f_blocks * fs.f_frsize / 3;
	refused(&job, 4, 3, "not enough space");
	assert_non_null(strstr(err.message, "needs"));
	assert_non_null(strstr(err.message, "free"));
	assert_int_equal(err.code, -ENOSPC);
	assert_int_equal(folder_entries(), 0);
}

static void with_limit(int which, rlim_t value, const struct io_job *job, unsigned threads,
		       const char *part)
{
	struct rlimit old, small;

	assert_int_equal(getrlimit(which, &old), 0);
	small = old;
	small.rlim_cur = value;
	assert_int_equal(setrlimit(which, &small), 0);
	memset(&err, 0, sizeof(err));
	assert_int_equal(io_plan_make(&plan, job, threads, &err), 3);
	assert_int_equal(setrlimit(which, &old), 0);
	if (!strstr(err.message, part))
		fail_msg("'%s' is not in: %s", part, err.message);
}

static void test_limits(void **state)
{
	struct io_job job = job_of(IO_WRITE, NULL, 1048576);

	(void)state;
	job.directory = folder;
	with_limit(RLIMIT_FSIZE, 65536, &job, 2, "RLIMIT_FSIZE (ulimit -f) is 65536 bytes");
	job.io_min_bytes = job.io_max_bytes = (uint64_t)1 << 40;
	job.size_bytes = (uint64_t)1 << 20;
	refused(&job, 64, 3, "of memory are available");
	assert_int_equal(err.code, -ENOMEM);
}

/* In a child, since a hard limit that was lowered stays. */
static int files_in_child(rlim_t soft, rlim_t hard, unsigned threads, const char *part)
{
	const struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
	struct io_job job = job_of(IO_WRITE, NULL, 4096);
	struct rlimit now;
	int status = -1;
	pid_t child = fork();

	if (!child) {
		job.directory = folder;
		memset(&err, 0, sizeof(err));
		if (setrlimit(RLIMIT_NOFILE, &limit))
			_exit(100);
		status = io_plan_make(&plan, &job, threads, &err);
		if (!status && (getrlimit(RLIMIT_NOFILE, &now) || now.rlim_cur <= soft))
			_exit(101);
		_exit(status && !strstr(err.message, part) ? 102 : status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_descriptors(void **state)
{
	(void)state;
	assert_int_equal(files_in_child(50, IO_DESCRIPTORS_SPARE + 35, 11, ""), 0);
	assert_int_equal(
		files_in_child(50, IO_DESCRIPTORS_SPARE + 35, 12, "is 99: at most 11 files fit"),
		3);
}

static void test_print(void **state)
{
	struct folder_path p = in_folder("data");
	struct io_job job = job_of(IO_WRITE, p.text, 10000);
	static struct capture c;

	(void)state;
	assert_int_equal(io_plan_make(&plan, &job, 4, &err), 0);
	capture_begin(&c, stdout);
	assert_int_equal(io_plan_print(&plan, stdout), 0);
	capture_end(&c);
	io_plan_free(&plan);
	assert_non_null(strstr(c.text, "would be made"));
	assert_non_null(strstr(c.text, "range 0 to 10000 (10000 bytes)"));
	assert_non_null(strstr(c.text, "threads 0-1: from 0 on, 4096 bytes each"));
	assert_non_null(strstr(c.text, "thread 2: file 0, 8192 to 10000, 1808 bytes"));
	assert_non_null(strstr(c.text, "thread 3: file 0, 10000 to 10000, 0 bytes: nothing"));
	assert_int_equal(folder_entries(), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_exhaustive),
		cmocka_unit_test(test_192_threads),
		IN_FOLDER(test_read_ranges),
		IN_FOLDER(test_read_nothing),
		IN_FOLDER(test_directory),
		IN_FOLDER(test_write_ranges),
		IN_FOLDER(test_types),
		IN_FOLDER(test_space),
		IN_FOLDER(test_limits),
		IN_FOLDER(test_descriptors),
		IN_FOLDER(test_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

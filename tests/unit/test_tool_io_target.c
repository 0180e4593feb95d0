/* SPDX-License-Identifier: Apache-2.0 */
/* Opening targets without destroying anything. */
#include "io/block_device.h"
#include "io/plan.h"
#include "io/target.h"
#include "io/target_fd.h"
#include "tool_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cmocka.h>

#define SKIPPED 77

static struct pst_error err;

static struct io_job job_of(enum io_type type)
{
	return (struct io_job){.type = type};
}

static struct io_file_plan file_of(const char *path, bool create, uint64_t end_bytes)
{
	return (struct io_file_plan){
		.path = (char *)path, .create = create, .end_bytes = end_bytes, .fd = -1};
}

static bool has_attributes(const char *path)
{
	return !setxattr(path, "user.penstock-test", "1", 1, 0);
}

static void test_create_and_mark(void **state)
{
	struct folder_path p = in_folder("new");
	struct io_job job = job_of(IO_WRITE);
	struct io_file_plan f = file_of(p.text, true, 10000);
	struct stat st;
	mode_t old = umask(022);

	(void)state;
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	umask(old);
	assert_true(f.fd >= 0 && f.made && f.ours);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(st.st_size, f.signature ? IO_MARK_BYTES : 0);
	io_target_close_fd(&f);
	assert_int_equal(f.fd, -1);

	/* Again: it exists, and is known to be ours. */
	f = file_of(p.text, false, 10000);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	assert_true(f.ours);
	assert_false(f.made);
	io_target_close_fd(&f);

	/* A name taken since the plan was made is not taken over. */
	f = file_of(p.text, true, 10000);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 2);
	assert_int_equal(err.code, -EEXIST);
	assert_int_equal(f.fd, -1);
}

static void test_foreign(void **state)
{
	struct folder_path p = in_folder("foreign");
	struct io_job job = job_of(IO_RANDWRITE);
	struct io_file_plan f = file_of(p.text, false, 4096);

	(void)state;
	make_file("foreign", 4096);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 2);
	assert_non_null(strstr(err.message, "--overwrite"));
	assert_null(strchr(err.message, '\n'));
	job.overwrite = true;
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	assert_false(f.ours);
	io_target_refresh_signature(&job, &f);
	io_target_close_fd(&f);
	if (has_attributes(p.text))
		assert_true(getxattr(p.text, IO_MARK_ATTRIBUTE, NULL, 0) < 0);
}

/* The signature alone: as on a file system without attributes. */
static void test_signature(void **state)
{
	struct folder_path p = in_folder("signed");
	struct io_job job = job_of(IO_WRITE);
	struct io_file_plan f = file_of(p.text, true, 4096);
	char text[IO_MARK_BYTES];
	static const char zeros[4096];

	(void)state;
	make_file("signed", 0);
	f.create = false;
	f.fd = open(p.text, O_RDWR);
	assert_int_equal(pwrite(f.fd, IO_MARK_TEXT, IO_MARK_BYTES, 0), IO_MARK_BYTES);
	io_target_close_fd(&f);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	assert_true(f.ours && f.signature);
	/* A run writes over it; the end of the run puts it back and changes no other byte. */
	assert_int_equal(pwrite(f.fd, zeros, sizeof(zeros), 0), sizeof(zeros));
	io_target_refresh_signature(&job, &f);
	assert_int_equal(pread(f.fd, text, sizeof(text), 0), IO_MARK_BYTES);
	assert_memory_equal(text, IO_MARK_TEXT, IO_MARK_BYTES);
	assert_int_equal(lseek(f.fd, 0, SEEK_END), 4096);
	/* A killed run leaves a file that needs --overwrite. */
	assert_int_equal(pwrite(f.fd, zeros, sizeof(zeros), 0), sizeof(zeros));
	io_target_close_fd(&f);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 2);
}

static void test_unmake(void **state)
{
	struct folder_path p = in_folder("new");
	struct io_job job = job_of(IO_WRITE);
	struct io_file_plan f = file_of(p.text, true, 4096);

	(void)state;
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	io_target_unmake(&f);
	io_target_close_fd(&f);
	assert_int_equal(folder_entries(), 0);

	f = file_of(p.text, true, 4096);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	assert_int_equal(pwrite(f.fd, "x", 1, 100), 1); /* somebody has data in it now */
	io_target_unmake(&f);
	io_target_close_fd(&f);
	assert_int_equal(folder_entries(), 1);

	f = file_of(p.text, false, 4096);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	io_target_unmake(&f); /* not made by this run */
	io_target_close_fd(&f);
	assert_int_equal(folder_entries(), 1);
}

static void test_read_is_read_only(void **state)
{
	struct folder_path p = in_folder("data");
	struct io_job job = job_of(IO_READ);
	struct io_file_plan f = file_of(p.text, false, 4096);

	(void)state;
	make_file("data", 4096);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 0);
	assert_int_equal(fcntl(f.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(f.fd, F_GETFL) & O_NONBLOCK, 0);
	io_target_close_fd(&f);
}

/* Names that changed after the plan was made: nothing blocks, nothing is followed. */
static void test_swapped(void **state)
{
	struct folder_path p = in_folder("name"), other = in_folder("other");
	struct io_job job = job_of(IO_READ);
	struct io_file_plan f = file_of(p.text, false, 4096);

	(void)state;
	make_file("other", 4096);
	assert_int_equal(mkfifo(p.text, 0600), 0);
	alarm(5);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 2);
	assert_non_null(strstr(err.message, "FIFO"));
	job.type = IO_WRITE;
	job.overwrite = true;
	assert_int_equal(io_target_open_fd(&job, &f, &err), 2);
	assert_non_null(strstr(err.message, "FIFO"));
	alarm(0);
	assert_int_equal(unlink(p.text), 0);
	assert_int_equal(symlink(other.text, p.text), 0);
	assert_int_equal(io_target_open_fd(&job, &f, &err), 2);
	assert_int_equal(err.code, -ELOOP);
}

/* IO-18: the failing write is the kernel's. */
static void test_full_device(void **state)
{
	struct io_job job = job_of(IO_WRITE);
	struct io_file_plan f = file_of("/dev/full", false, 4096);

	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	assert_int_equal(io_target_open_fd(&job, &f, &err), 1);
	assert_int_equal(err.code, -ENOSPC);
	assert_non_null(strstr(err.message, "offset 0"));
	assert_non_null(strstr(err.message, "0 bytes were written"));
}

/* IO-20, in a child that is an ordinary user. */
static void test_ordinary_user(void **state)
{
	struct folder_path p = in_folder("data");
	int status;
	pid_t child;

	(void)state;
	make_file("data", 4096);
	assert_int_equal(chmod(p.text, 0444), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct io_job job = job_of(IO_READ);
		struct io_file_plan f = file_of(p.text, false, 4096);

		if (!geteuid() && (setgid(65534) || setuid(65534)))
			_exit(SKIPPED);
		if (io_target_open_fd(&job, &f, &err))
			_exit(1);
		io_target_close_fd(&f);
		job.type = IO_WRITE;
		job.overwrite = true;
		if (io_target_open_fd(&job, &f, &err) != 3)
			_exit(2);
		_exit(strstr(err.message, "EACCES") ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A made-up /sys with disk 259:0, its partition 259:1, and a mount table. */
static void test_block_device(void **state)
{
	char command[PATH_MAX + 256], root[64], disk[128], path[192], mounts[128];
	struct block_why why;
	dev_t device = makedev(259, 0), part = makedev(259, 1);

	(void)state;
	strcpy(root, "/tmp/penstock-sys-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(disk, sizeof(disk), "%s/dev/block/259:0", root);
	snprintf(command, sizeof(command),
		 "mkdir -p %s/holders %s/n1p1/holders && ln -s 259:0/n1p1 %s/dev/block/259:1", disk,
		 disk, root);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/ro", disk);
	put(path, "0\n");
	snprintf(path, sizeof(path), "%s/n1p1/dev", disk);
	put(path, "259:1\n");
	snprintf(path, sizeof(path), "%s/n1p1/partition", disk);
	put(path, "1\n");
	snprintf(mounts, sizeof(mounts), "%s/mountinfo", root);
	put(mounts, "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	assert_false(block_device_in_use(root, mounts, device, &why));
	assert_false(block_device_in_use(root, mounts, part, &why));

	put(mounts, "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		    "23 1 259:1 /x /my\\040data rw shared:1 - ext4 /dev/n1p1 rw\n");
	assert_true(block_device_in_use(root, mounts, part, &why));
	assert_string_equal(why.text, "it is mounted on /my\\040data");
	assert_true(block_device_in_use(root, mounts, device, &why));
	assert_string_equal(why.text, "of its partition n1p1: it is mounted on /my\\040data");

	put(mounts, "");
	snprintf(path, sizeof(path), "%s/holders/dm-3", disk);
	put(path, "");
	assert_true(block_device_in_use(root, mounts, device, &why));
	assert_string_equal(why.text, "it is held by dm-3");
	snprintf(path, sizeof(path), "%s/ro", disk);
	put(path, "1\n");
	assert_true(block_device_in_use(root, mounts, device, &why));
	assert_string_equal(why.text, "it is read only");
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_create_and_mark),     IN_FOLDER(test_foreign),
		IN_FOLDER(test_signature),           IN_FOLDER(test_unmake),
		IN_FOLDER(test_read_is_read_only),   IN_FOLDER(test_swapped),
		cmocka_unit_test(test_full_device),  IN_FOLDER(test_ordinary_user),
		cmocka_unit_test(test_block_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

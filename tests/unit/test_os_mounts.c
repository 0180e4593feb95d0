/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the mount of a descriptor on kernels that tell its mount id and on those that do not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "os/mounts.h"
#include "os/os.h"

#include "scratch.h"

static struct scratch_root root;
static struct os_calls calls;

static int no_statx(int fd, const char *path, int flags, unsigned mask, struct statx *stx)
{
	(void)fd, (void)path, (void)flags, (void)mask, (void)stx;
	return -ENOSYS;
}

static int setup(void **state)
{
	(void)state;
	if (!scratch_root_open(&root))
		return -1;
	calls = os_real_calls;
	calls.statx = no_statx;
	calls.root_fd = root.fd;
	os_set(&calls);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	os_set(NULL);
	scratch_root_close(&root);
	return 0;
}

static void the_real_table_names_tmpfs(void **state)
{
	struct os_mount mount;
	int fd = scratch_file("/dev/shm", O_RDWR);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(os_mount_of(fd, &mount), 0);
	assert_string_equal(mount.fs_type, "tmpfs");
	assert_string_equal(mount.point, "/dev/shm");
	assert_false(mount.read_only);
	close(fd);
}

static void statx_and_fdinfo_agree(void **state)
{
	struct os_mount by_statx, by_fdinfo;
	struct os_calls old = os_real_calls;
	int fd = scratch_file("/dev/shm", O_RDWR);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(os_mount_of(fd, &by_statx), 0);
	old.statx = no_statx;
	os_set(&old);
	assert_int_equal(os_mount_of(fd, &by_fdinfo), 0);
	os_set(NULL);
	assert_string_equal(by_statx.point, by_fdinfo.point);
	assert_string_equal(by_statx.fs_type, by_fdinfo.fs_type);
	assert_string_equal(by_statx.source, by_fdinfo.source);
	close(fd);
}

static void a_pipe_has_no_mount(void **state)
{
	struct os_mount mount;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(os_mount_of(fds[0], &mount), -ENOENT);
	close(fds[0]);
	close(fds[1]);
}

/* Gives the root a mount table and says where the descriptor is. */
static void record(int fd, const char *mountinfo, const char *path)
{
	char name[64];

	assert_true(scratch_root_text(&root, "proc/self/mountinfo", mountinfo));
	snprintf(name, sizeof(name), "proc/self/fd/%d", fd);
	assert_true(scratch_root_link(&root, name, path));
}

static void without_an_id_the_longest_mount_point_of_the_device_counts(void **state)
{
	struct os_mount mount;
	struct stat st;
	char table[1024];
	int fd = scratch_file("/tmp", O_RDWR);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	unsigned ma = major(st.st_dev), mi = minor(st.st_dev);
	snprintf(table, sizeof(table),
		 "20 1 %u:%u / / rw - xfs /dev/first rw\n"
		 "this line is damaged\n"
		 "21 20 %u:%u /sub /data rw,nosuid - xfs /dev/second ro,noquota\n"
		 "22 20 %u:%u / /data/deep rw - ext4 /dev/other rw\n"
		 "23 20 %u:%u /x /dat rw - xfs /dev/third rw\n",
		 ma, mi, ma, mi, ma, mi + 1, ma, mi);
	record(fd, table, "/data/deep/file");
	assert_int_equal(os_mount_of(fd, &mount), 0);
	assert_string_equal(mount.point, "/data");
	assert_string_equal(mount.source, "/dev/second");
	assert_string_equal(mount.fs_type, "xfs");
	assert_non_null(strstr(mount.options, "nosuid"));
	assert_non_null(strstr(mount.options, "noquota"));
	assert_true(mount.read_only);
	close(fd);
}

static void fdinfo_decides_over_the_device(void **state)
{
	struct os_mount mount;
	char name[64];
	int fd = scratch_file("/tmp", O_RDWR);

	(void)state;
	assert_true(fd >= 0);
	record(fd,
	       "31 1 0:44 / /pool\\040one rw - btrfs /dev/sda2 rw,subvol=/a\n"
	       "32 1 0:44 / /two rw,noro - btrfs /dev/sda2 rw\n",
	       "/nowhere");
	snprintf(name, sizeof(name), "proc/self/fdinfo/%d", fd);
	assert_true(scratch_root_text(&root, name, "pos:\t0\nflags:\t02\nmnt_id:\t31\n"));
	assert_int_equal(os_mount_of(fd, &mount), 0);
	assert_string_equal(mount.point, "/pool one");
	assert_false(mount.read_only);
	assert_true(scratch_root_text(&root, name, "pos:\t0\nflags:\t02\nmnt_id:\t99\n"));
	assert_int_equal(os_mount_of(fd, &mount), -ENOENT);
	assert_string_equal(mount.point, "");
	close(fd);
}

static void options_are_cut_between_two(void **state)
{
	struct os_mount mount;
	char table[2048] = "40 1 0:1 / / rw - overlay overlay rw,lowerdir=/";
	char name[64];
	int fd = scratch_file("/tmp", O_RDWR);

	(void)state;
	memset(table + strlen(table), 'x', 400);
	record(fd, table, "/f");
	snprintf(name, sizeof(name), "proc/self/fdinfo/%d", fd);
	assert_true(scratch_root_text(&root, name, "mnt_id:\t40\n"));
	assert_int_equal(os_mount_of(fd, &mount), 0);
	assert_string_equal(mount.options, "rw");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_real_table_names_tmpfs),
		cmocka_unit_test(statx_and_fdinfo_agree),
		cmocka_unit_test(a_pipe_has_no_mount),
		cmocka_unit_test_setup_teardown(
			without_an_id_the_longest_mount_point_of_the_device_counts, setup,
			teardown),
		cmocka_unit_test_setup_teardown(fdinfo_decides_over_the_device, setup, teardown),
		cmocka_unit_test_setup_teardown(options_are_cut_between_two, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding, loading and understanding the vendor's library, on its fake. The fakes' paths come
 * from the build: FAKE, FAKE_OWN, FAKE_OLD, FAKE_BROKEN.
 */
#include "path/vendor_abi.h"
#include "vendor_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void test_open(void **state)
{
	struct fixture *f = *state;
	struct vendor *v = NULL;
	struct pst_error err;

	assert_string_equal(vendor_path(f->v), FAKE);
	assert_int_equal(vendor_version(f->v), 1150);
	/* Its names must not enter the scope of the process. */
	assert_null(dlsym(RTLD_DEFAULT, "cuFileRead"));

	assert_int_equal(vendor_open(FAKE_OLD, &v, &err), 0);
	assert_int_equal(vendor_version(v), 1070);
	vendor_close(v);
	vendor_close(NULL);

	assert_int_equal(setenv("PENSTOCK_VENDOR_CUFILE", FAKE_OLD, 1), 0);
	assert_int_equal(vendor_open(NULL, &v, &err), 0);
	assert_string_equal(vendor_path(v), FAKE_OLD);
	vendor_close(v);
	/* What is given comes before the environment. */
	assert_int_equal(vendor_open(FAKE, &v, &err), 0);
	assert_string_equal(vendor_path(v), FAKE);
	vendor_close(v);
}

static void test_open_refused(void **state)
{
	struct vendor *v = (struct vendor *)state;
	struct pst_error err;
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(length > 0);
	self[length] = '\0';
	assert_int_equal(vendor_open(FAKE_OWN, &v, &err), PST_E_VENDOR_LIBRARY);
	assert_null(v);
	assert_non_null(strstr(err.message, "penstock's own"));
	assert_string_equal(err.object, FAKE_OWN);
	/* The object that contains our code is refused before it is loaded. */
	assert_int_equal(vendor_open(self, &v, &err), PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "penstock's own"));
	assert_int_equal(vendor_open(FAKE_BROKEN, &v, &err), PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "cuFileWrite"));
	assert_int_equal(vendor_open("/no/such/libcufile.so.0", &v, &err), PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "/no/such/libcufile.so.0"));
	assert_int_equal(err.stage, PST_STAGE_OPEN);
	/* A bare name would be searched for and could find anything. */
	assert_int_equal(vendor_open("libcufile.so.0", &v, &err), PST_E_INVALID_VALUE);
	assert_null(v);
}

static void test_search(void **state)
{
	struct fixture *f = *state;
	char places[2][192];
	char links[4][192];
	const char *patterns[] = {"/no/such/*", places[0], places[1], NULL};
	const char *nothing[] = {"/no/such/*", NULL};
	struct pst_error err;
	struct vendor *v = NULL;

	snprintf(places[0], sizeof(places[0]), "%s/a-*.so", f->dir);
	snprintf(places[1], sizeof(places[1]), "%s/b-*.so", f->dir);
	snprintf(links[0], sizeof(links[0]), "%s/a-1.so", f->dir);
	snprintf(links[1], sizeof(links[1]), "%s/b-9.2.so", f->dir);
	snprintf(links[2], sizeof(links[2]), "%s/b-13.0.so", f->dir);
	assert_int_equal(vendor_open_listed(nothing, &v, &err), PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "PENSTOCK_VENDOR_CUFILE"));

	/* Only our own is there: said so. */
	assert_int_equal(symlink(FAKE_OWN, links[0]), 0);
	assert_int_equal(vendor_open_listed(patterns, &v, &err), PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "penstock's own"));

	/* Our own is passed over; of two versions the newer one is taken. */
	assert_int_equal(symlink(FAKE_OLD, links[1]), 0);
	assert_int_equal(symlink(FAKE, links[2]), 0);
	assert_int_equal(vendor_open_listed(patterns, &v, &err), 0);
	assert_string_equal(vendor_path(v), links[2]);
	assert_int_equal(vendor_version(v), 1150);
	vendor_close(v);
	for (int i = 0; i < 3; i++)
		unlink(links[i]);
}

static void test_decode(void **state)
{
	(void)state;
	assert_int_equal(vendor_decode(-1, ENOSPC).sys_errno, ENOSPC);
	assert_int_equal(vendor_decode(-1, 5027).number, 5027);
	assert_int_equal(vendor_decode(-1, 5027).sys_errno, 0);
	assert_int_equal(vendor_decode(-5027, 0).number, 5027);
	assert_int_equal(vendor_decode(-5027, EIO).sys_errno, 0);
	assert_int_equal(vendor_decode(-EIO, 0).sys_errno, EIO);
	assert_int_equal(vendor_decode(-4999, 0).number, 0);
	assert_int_equal(vendor_decode(-4999, 0).sys_errno, 0);
	assert_int_equal(vendor_decode(-SSIZE_MAX - 1, 0).number, 0);
	assert_int_equal(vendor_code(5008), PST_E_IO_NOT_SUPPORTED);
	assert_int_equal(vendor_code(5030), PST_E_VENDOR_LIBRARY);
	assert_int_equal(vendor_code(123456), PST_E_VENDOR_LIBRARY);
	assert_string_equal(vendor_number_text(5027), "handle not registered");
	for (int number = -1; number < 6000; number++)
		assert_non_null(vendor_number_text(number));
	assert_string_equal(vendor_number_text(5021), vendor_number_text(0));
}

/* What stands below the descriptor, as the test says. */
static struct {
	long fs_type;
	dev_t device;
} played;

static int fstatfs_played(int fd, struct statfs *fs)
{
	(void)fd;
	memset(fs, 0, sizeof(*fs));
	fs->f_type = played.fs_type;
	return 0;
}

static int fstat_played(int fd, struct stat *st)
{
	(void)fd;
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFREG;
	st->st_dev = played.device;
	return 0;
}

static void refuse(struct fixture *f, const char *number, struct pst_error *err, int code)
{
	struct vendor_file *file = (struct vendor_file *)f;

	setenv("FAKE_CUFILE_REFUSE", number, 1);
	memset(err, 0, sizeof(*err));
	assert_int_equal(vendor_file_open(f->v, f->fd, f->path, &file, err), code);
	assert_null(file);
	assert_non_null(strstr(err->message, number));
	assert_non_null(strstr(err->message, "--engine native"));
	assert_non_null(strstr(err->message, "1.15"));
	assert_string_equal(err->object, f->path);
}

static void write_text(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void test_refusals(void **state)
{
	struct fixture *f = *state;
	struct os_calls calls = os_real_calls;
	struct pst_error err;
	int root = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(root >= 0);
	calls.fstatfs = fstatfs_played;
	calls.fstat = fstat_played;
	calls.root_fd = root;
	os_set(&calls);
	played.fs_type = EXT4_SUPER_MAGIC;
	played.device = makedev(259, 3);

	refuse(f, "5001", &err, PST_E_DRIVER_NOT_INITIALIZED);
	assert_non_null(strstr(err.message, "nvidia-fs"));
	assert_non_null(strstr(err.message, "allow_compat_mode"));
	refuse(f, "5008", &err, PST_E_IO_NOT_SUPPORTED);
	assert_non_null(strstr(err.message, "allow_compat_mode"));
	refuse(f, "5011", &err, PST_E_DEVICE_DRIVER);
	assert_int_equal(err.device_status, 2);
	refuse(f, "5999", &err, PST_E_VENDOR_LIBRARY);

	refuse(f, "5027", &err, PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "/run/udev/data/b259:3"));
	refuse(f, "5030", &err, PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "/run/udev/data/b259:3"));
	assert_int_equal(mkdirat(root, "run", 0700), 0);
	assert_int_equal(mkdirat(root, "run/udev", 0700), 0);
	assert_int_equal(mkdirat(root, "run/udev/data", 0700), 0);
	write_text(root, "run/udev/data/b259:3", "E:ID_FS_TYPE=ext4\n");
	refuse(f, "5027", &err, PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "/run/udev/data/b259:3"));
	write_text(root, "run/udev/data/b259:3", "E:ID_FS_TYPE=ext4\nE:ID_FS_USAGE=filesystem\n");
	refuse(f, "5027", &err, PST_E_VENDOR_LIBRARY);
	assert_null(strstr(err.message, "udev"));
	assert_non_null(strstr(err.message, "cufile.log"));

	played.device = makedev(0, 53);
	refuse(f, "5030", &err, PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "0:53"));
	played.fs_type = TMPFS_MAGIC;
	refuse(f, "5027", &err, PST_E_VENDOR_LIBRARY);
	assert_non_null(strstr(err.message, "tmpfs"));
	assert_int_equal(err.stage, PST_STAGE_OPEN);

	unlinkat(root, "run/udev/data/b259:3", 0);
	unlinkat(root, "run/udev/data", AT_REMOVEDIR);
	unlinkat(root, "run/udev", AT_REMOVEDIR);
	unlinkat(root, "run", AT_REMOVEDIR);
	close(root);
}

static void test_direct(void **state)
{
	struct fixture *f = *state;
	struct os_calls calls = os_real_calls;
	int root = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(root >= 0);
	calls.root_fd = root;
	os_set(&calls);
	assert_false(vendor_kernel_support());
	assert_int_equal(mkdirat(root, "proc", 0700), 0);
	write_text(root, "proc/modules",
		   "nvidia_fs_like 1 0 - Live 0x0\next4 2 1 nvidia_fs, Live\n");
	assert_false(vendor_kernel_support());
	write_text(root, "proc/modules", "ext4 2 1 - Live 0x0\nnvidia_fs 1 0 - Live 0x0\n");
	assert_true(vendor_kernel_support());
	unlinkat(root, "proc/modules", 0);
	assert_false(vendor_kernel_support());
	assert_int_equal(mkdirat(root, "proc/driver", 0700), 0);
	assert_int_equal(mkdirat(root, "proc/driver/nvidia-fs", 0700), 0);
	write_text(root, "proc/driver/nvidia-fs/version", "version: 2.28\n");
	assert_true(vendor_kernel_support());
	/* The kernel alone proves nothing while the library may change to compatibility mode. */
	unsetenv("CUFILE_ALLOW_COMPAT_MODE");
	assert_false(vendor_is_direct(f->v));
	setenv("CUFILE_ALLOW_COMPAT_MODE", "true", 1);
	assert_false(vendor_is_direct(f->v));
	setenv("CUFILE_ALLOW_COMPAT_MODE", "false", 1);
	assert_true(vendor_is_direct(f->v));
	unsetenv("CUFILE_ALLOW_COMPAT_MODE");
	setenv("FAKE_CUFILE_REFUSE_PARAMETER", "5026", 1);
	assert_false(vendor_forbid_compat(f->v));
	assert_false(vendor_is_direct(f->v));
	unsetenv("FAKE_CUFILE_REFUSE_PARAMETER");
	assert_true(vendor_forbid_compat(f->v));
	assert_true(vendor_is_direct(f->v));
	unlinkat(root, "proc/driver/nvidia-fs/version", 0);
	unlinkat(root, "proc/driver/nvidia-fs", AT_REMOVEDIR);
	unlinkat(root, "proc/driver", AT_REMOVEDIR);
	unlinkat(root, "proc", AT_REMOVEDIR);
	close(root);
}

static void test_buffers(void **state)
{
	struct fixture *f = *state;
	struct pst_error err;
	char memory[4096];

	assert_int_equal(vendor_buffer_register(f->v, memory, sizeof(memory), &err), 0);
	assert_int_equal(vendor_buffer_register(f->v, memory, sizeof(memory), &err),
			 PST_E_ALREADY_REGISTERED);
	assert_int_equal(err.stage, PST_STAGE_MEMORY);
	assert_int_equal(vendor_buffer_unregister(f->v, memory, &err), 0);
	assert_int_equal(vendor_buffer_unregister(f->v, memory, &err), PST_E_NOT_REGISTERED);
	setenv("FAKE_CUFILE_REFUSE_BUFFER", "5011", 1);
	assert_int_equal(vendor_buffer_register(f->v, memory, sizeof(memory), &err),
			 PST_E_DEVICE_DRIVER);
	assert_int_equal(err.device_status, 2);
	assert_non_null(strstr(err.message, "5011"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_open),     CASE(test_open_refused), CASE(test_search),  CASE(test_decode),
		CASE(test_refusals), CASE(test_direct),       CASE(test_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

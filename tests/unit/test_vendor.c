/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor's library on its fake. The fakes' paths come from the build: FAKE, FAKE_OWN,
 * FAKE_OLD, FAKE_BROKEN. This program plays the GPU driver too: "device" memory is an arena that
 * is reached only by the copies below.
 */
#include "os/os.h"
#include "path/vendor.h"
#include "path/vendor_abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_BYTES  (3 * 1024 * 1024 + 5)
#define ARENA_BYTES ((size_t)4 << 20)
#define FAKE_DEVICE 2

static char *device_addresses; /* no access: a touch by the CPU is a crash */
static char *device_bytes;

#define DRIVER __attribute__((visibility("default")))
DRIVER int cuPointerGetAttribute(void *out, int attribute, uintptr_t address);
DRIVER int cuMemcpyHtoD_v2(uintptr_t device, const void *host, size_t bytes);
DRIVER int cuMemcpyDtoH_v2(void *host, uintptr_t device, size_t bytes);

static bool in_arena(uintptr_t address)
{
	uintptr_t start = (uintptr_t)device_addresses;

	return device_addresses && address >= start && address < start + ARENA_BYTES;
}

DRIVER int cuPointerGetAttribute(void *out, int attribute, uintptr_t address)
{
	if (attribute != 2 || !in_arena(address))
		return 1;
	*(unsigned *)out = FAKE_DEVICE;
	return 0;
}

DRIVER int cuMemcpyHtoD_v2(uintptr_t device, const void *host, size_t bytes)
{
	memcpy(device_bytes + (device - (uintptr_t)device_addresses), host, bytes);
	return 0;
}

DRIVER int cuMemcpyDtoH_v2(void *host, uintptr_t device, size_t bytes)
{
	memcpy(host, device_bytes + (device - (uintptr_t)device_addresses), bytes);
	return 0;
}

struct fixture {
	char dir[128];
	char path[192];
	int fd;
	unsigned char *content;
	struct vendor *v;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint32_t x = 12345;

	if (!f)
		return -1;
	snprintf(f->dir, sizeof(f->dir), "/tmp/test_vendor.XXXXXX");
	f->content = malloc(FILE_BYTES);
	if (!mkdtemp(f->dir) || !f->content)
		return -1;
	for (size_t i = 0; i < FILE_BYTES; i++) {
		x = x * 1664525 + 1013904223;
		f->content[i] = (unsigned char)(x >> 24);
	}
	snprintf(f->path, sizeof(f->path), "%s/file", f->dir);
	f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (f->fd < 0 || write(f->fd, f->content, FILE_BYTES) != FILE_BYTES)
		return -1;
	*state = f;
	return vendor_open(FAKE, &f->v, NULL);
}

static int tear_down(void **state)
{
	static const char *const settings[] = {
		"FAKE_CUFILE_REFUSE",  "FAKE_CUFILE_REFUSE_BUFFER", "FAKE_CUFILE_RETURN",
		"FAKE_CUFILE_ERRNO",   "FAKE_CUFILE_FAIL_AFTER",    "FAKE_CUFILE_MAX_BYTES",
		"FAKE_CUFILE_PRETEND", "PENSTOCK_VENDOR_CUFILE",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		unsetenv(settings[i]);
	os_set(NULL);
	vendor_close(f->v);
	close(f->fd);
	unlink(f->path);
	rmdir(f->dir);
	free(f->content);
	free(f);
	return 0;
}

static struct vendor_file *open_file(struct fixture *f)
{
	struct vendor_file *file = NULL;

	assert_int_equal(vendor_file_open(f->v, f->fd, f->path, &file, NULL), 0);
	return file;
}

/* A variable of the loaded fake. */
static void *of_fake(const char *name)
{
	void *library = dlopen(FAKE, RTLD_NOLOAD | RTLD_NOW);
	void *symbol = library ? dlsym(library, name) : NULL;

	assert_non_null(symbol);
	dlclose(library);
	return symbol;
}

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

static void test_read_and_write(void **state)
{
	struct fixture *f = *state;
	struct vendor_file *file = open_file(f);
	unsigned char *memory = malloc(FILE_BYTES + 4096);
	unsigned char byte = 0;

	assert_non_null(memory);
	/* Whole file into the middle of a buffer, asking for more than there is. */
	memset(memory, 0xee, FILE_BYTES + 4096);
	assert_int_equal(vendor_read(file, memory, FILE_BYTES + 1000, 0, 7, NULL), FILE_BYTES);
	assert_memory_equal(memory + 7, f->content, FILE_BYTES);
	assert_int_equal(memory[6], 0xee);
	assert_int_equal(memory[FILE_BYTES + 7], 0xee);
	assert_int_equal(vendor_read(file, memory, 100, FILE_BYTES, 0, NULL), 0);
	assert_int_equal(vendor_read(file, memory, 0, 0, 0, NULL), 0);
	/* Odd places. */
	assert_int_equal(vendor_read(file, memory, 5, 4093, 3, NULL), 5);
	assert_memory_equal(memory + 3, f->content + 4093, 5);

	memset(memory, 'w', 4096);
	assert_int_equal(vendor_write(file, memory, 10, FILE_BYTES + 100, 20, NULL), 10);
	assert_int_equal(pread(f->fd, &byte, 1, FILE_BYTES + 109), 1);
	assert_int_equal(byte, 'w');
	assert_int_equal(pread(f->fd, &byte, 1, FILE_BYTES + 110), 0);
	vendor_file_close(file);
	vendor_file_close(NULL);
	free(memory);
}

static void test_device_memory(void **state)
{
	struct fixture *f = *state;
	struct vendor_file *file = open_file(f);
	unsigned char *back = malloc(FILE_BYTES);
	char *base;

	device_addresses = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	device_bytes = calloc(1, ARENA_BYTES);
	assert_true(device_addresses != MAP_FAILED && device_bytes && back);
	base = device_addresses + 4096;
	assert_int_equal(vendor_buffer_register(f->v, base, FILE_BYTES + 100, NULL), 0);
	assert_int_equal(vendor_read(file, base, FILE_BYTES, 0, 100, NULL), FILE_BYTES);
	assert_memory_equal(device_bytes + 4196, f->content, FILE_BYTES);
	assert_int_equal(vendor_write(file, base, FILE_BYTES - 1, 0, 101, NULL), FILE_BYTES - 1);
	assert_int_equal(pread(f->fd, back, FILE_BYTES, 0), FILE_BYTES);
	assert_memory_equal(back, f->content + 1, FILE_BYTES - 1);
	assert_int_equal(vendor_buffer_unregister(f->v, base, NULL), 0);
	vendor_file_close(file);
	munmap(device_addresses, ARENA_BYTES);
	device_addresses = NULL;
	free(device_bytes);
	free(back);
}

static void test_short_results_go_on(void **state)
{
	struct fixture *f = *state;
	struct vendor_file *file = open_file(f);
	unsigned char *memory = malloc(FILE_BYTES);

	assert_non_null(memory);
	setenv("FAKE_CUFILE_MAX_BYTES", "100003", 1);
	assert_int_equal(vendor_read(file, memory, FILE_BYTES, 0, 0, NULL), FILE_BYTES);
	assert_memory_equal(memory, f->content, FILE_BYTES);
	assert_int_equal(ftruncate(f->fd, 0), 0);
	assert_int_equal(vendor_write(file, memory, FILE_BYTES, 0, 0, NULL), FILE_BYTES);
	memset(memory, 0, FILE_BYTES);
	assert_int_equal(pread(f->fd, memory, FILE_BYTES, 0), FILE_BYTES);
	assert_memory_equal(memory, f->content, FILE_BYTES);
	vendor_file_close(file);
	free(memory);
}

/* No call of the library is larger than 1 GiB, whatever is asked. */
static void test_pieces(void **state)
{
	struct fixture *f = *state;
	struct vendor_file *file = open_file(f);
	size_t *largest = of_fake("fake_cufile_largest_call");
	unsigned *transfers = of_fake("fake_cufile_transfers");
	ssize_t bytes = (ssize_t)3 * 1024 * 1024 * 1024 + 5;
	char byte;

	setenv("FAKE_CUFILE_PRETEND", "1", 1);
	*largest = 0;
	*transfers = 0;
	assert_true(vendor_read(file, &byte, (size_t)bytes, 0, 0, NULL) == bytes);
	assert_int_equal(*largest, 1 << 30);
	assert_int_equal(*transfers, 4);
	vendor_file_close(file);
}

/* Makes every transfer after the first `after` give this result. */
static void play_failure(const char *result, const char *errno_text, const char *after)
{
	setenv("FAKE_CUFILE_RETURN", result, 1);
	setenv("FAKE_CUFILE_ERRNO", errno_text, 1);
	setenv("FAKE_CUFILE_FAIL_AFTER", after, 1);
}

static void test_failures(void **state)
{
	static const struct {
		const char *result;
		const char *errno_text;
		int code;
		const char *said;
	} cases[] = {
		{"-1", "5", -EIO, "file"},
		{"-5", "0", -EIO, "file"},
		{"-28", "17", -ENOSPC, "file"}, /* errno counts only with -1 */
		{"-5011", "0", PST_E_DEVICE_DRIVER, "5011"},
		{"-1", "5011", PST_E_DEVICE_DRIVER, "5011"},
		{"-1", "5027", PST_E_VENDOR_LIBRARY, "handle not registered"},
		{"-5030", "0", PST_E_VENDOR_LIBRARY, "5030"},
		{"-5016", "0", PST_E_MAPPING_SIZE, "5016"},
		{"-5777", "0", PST_E_VENDOR_LIBRARY, "5777"},
		{"-1", "0", PST_E_VENDOR_LIBRARY, "without a cause"},
		{"-99999", "5", PST_E_VENDOR_LIBRARY, "-99999"},
		{"4097", "0", PST_E_VENDOR_LIBRARY, "4097"}, /* more than was asked */
	};
	struct fixture *f = *state;
	struct vendor_file *file = open_file(f);
	struct pst_error err;
	char memory[4096];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		play_failure(cases[i].result, cases[i].errno_text, "0");
		memset(&err, 0, sizeof(err));
		errno = ENOTTY;
		assert_int_equal(vendor_read(file, memory, 4096, 512, 0, &err), cases[i].code);
		assert_int_equal(errno, ENOTTY);
		assert_int_equal(err.code, cases[i].code);
		assert_int_equal(err.stage, PST_STAGE_STORAGE);
		assert_non_null(strstr(err.message, cases[i].said));
		assert_non_null(strstr(err.message, "offset 512"));
		assert_string_equal(err.object, f->path);
		assert_int_equal(vendor_write(file, memory, 4096, 0, 0, &err), cases[i].code);
		assert_non_null(strstr(err.message, "cannot write"));
	}
	vendor_file_close(file);
}

static void test_failure_after_part(void **state)
{
	struct fixture *f = *state;
	struct vendor_file *file = open_file(f);
	unsigned *transfers = of_fake("fake_cufile_transfers");
	struct pst_error err;
	char memory[4096];

	setenv("FAKE_CUFILE_MAX_BYTES", "1000", 1);
	play_failure("-1", "5", "2");
	assert_int_equal(vendor_read(file, memory, 4096, 0, 0, &err), -EIO);
	assert_non_null(strstr(err.message, "2096 bytes at offset 2000"));
	/* A write that is cut off without an error is one all the same. */
	play_failure("0", "0", "1");
	assert_int_equal(vendor_write(file, memory, 4096, 0, 0, &err), -EIO);
	assert_non_null(strstr(err.message, "1000"));
	/* Signals do not count as failures, but not without end. */
	play_failure("-1", "4", "00");
	*transfers = 0;
	assert_int_equal(vendor_read(file, memory, 4096, 0, 0, &err), -EINTR);
	assert_true(*transfers > 1);
	vendor_file_close(file);
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
	assert_false(vendor_is_direct(f->v));
	assert_int_equal(mkdirat(root, "proc", 0700), 0);
	write_text(root, "proc/modules",
		   "nvidia_fs_like 1 0 - Live 0x0\next4 2 1 nvidia_fs, Live\n");
	assert_false(vendor_is_direct(f->v));
	write_text(root, "proc/modules", "ext4 2 1 - Live 0x0\nnvidia_fs 1 0 - Live 0x0\n");
	assert_true(vendor_is_direct(f->v));
	unlinkat(root, "proc/modules", 0);
	assert_false(vendor_is_direct(f->v));
	assert_int_equal(mkdirat(root, "proc/driver", 0700), 0);
	assert_int_equal(mkdirat(root, "proc/driver/nvidia-fs", 0700), 0);
	write_text(root, "proc/driver/nvidia-fs/version", "version: 2.28\n");
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

static void *read_own_file(void *arg)
{
	struct fixture *f = arg;
	struct vendor_file *file = NULL;
	unsigned char memory[4096];
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	void *failed = NULL;

	for (int i = 0; i < 100 && !failed; i++) {
		off_t offset = (off_t)i * 4096 + i;

		if (vendor_file_open(f->v, fd, f->path, &file, NULL) < 0)
			return f;
		if (vendor_read(file, memory, sizeof(memory), offset, 0, NULL) != 4096 ||
		    memcmp(memory, f->content + offset, sizeof(memory)) != 0)
			failed = f;
		vendor_file_close(file);
	}
	close(fd);
	return failed;
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	unsigned *files = of_fake("fake_cufile_files");
	pthread_t threads[4];
	void *failed;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_own_file, f), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(*files, 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_open),           CASE(test_open_refused),  CASE(test_search),
		CASE(test_read_and_write), CASE(test_device_memory), CASE(test_short_results_go_on),
		CASE(test_pieces),         CASE(test_failures),      CASE(test_failure_after_part),
		CASE(test_decode),         CASE(test_refusals),      CASE(test_direct),
		CASE(test_buffers),        CASE(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

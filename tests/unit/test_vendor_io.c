/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers through the vendor's library, on its fake. This program plays the GPU driver too:
 * "device" memory is an arena that is reached only by the copies below.
 */
#include "vendor_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

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
		CASE(test_read_and_write), CASE(test_device_memory), CASE(test_short_results_go_on),
		CASE(test_pieces),         CASE(test_failures),      CASE(test_failure_after_part),
		CASE(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

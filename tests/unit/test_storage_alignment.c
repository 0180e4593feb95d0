/* SPDX-License-Identifier: Apache-2.0 */
/* What O_DIRECT demands: told by the kernel, or found by reading. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/os.h"
#include "storage/facts.h"

#include "scratch.h"

/* A drive of the test. */
static struct {
	uint32_t memory, offset; /* what it demands */
	bool told;               /* by statx */
	off_t data;              /* where the file has data; before it, anything is accepted */
	off_t size;
	int flags;
	unsigned reads;
} drive;

static struct os_calls calls;

static int drive_statx(int fd, const char *path, int flags, unsigned mask, struct statx *stx)
{
	uint32_t demands[2] = {drive.memory, drive.offset};

	(void)fd, (void)path, (void)flags;
	memset(stx, 0, sizeof(*stx));
	if (!drive.told)
		return mask & 0x2000 ? 0 : -ENOSYS;
	stx->stx_mask = 0x2000;
	memcpy((char *)stx + 152, demands, sizeof(demands));
	return 0;
}

static ssize_t drive_pread(int fd, void *memory, size_t bytes, off_t offset)
{
	(void)fd;
	drive.reads++;
	if ((drive.flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	if (offset < drive.data)
		return (ssize_t)bytes; /* a hole */
	if ((uintptr_t)memory % drive.memory || bytes % drive.offset ||
	    offset % (off_t)drive.offset)
		return -EINVAL;
	off_t left = drive.size - offset;
	return left < 0 ? 0 : left < (off_t)bytes ? left : (ssize_t)bytes;
}

static int drive_fcntl(int fd, int command, void *arg)
{
	(void)fd, (void)command, (void)arg;
	return drive.flags;
}

static int drive_fstat(int fd, struct stat *st)
{
	(void)fd;
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFREG | 0644;
	st->st_size = drive.size;
	return 0;
}

static int drive_open(const char *path, int flags, mode_t mode)
{
	(void)path;
	return os_real_calls.open("/dev/null", flags, mode);
}

static off_t drive_lseek(int fd, off_t offset, int whence)
{
	(void)fd, (void)offset, (void)whence;
	return drive.data < drive.size ? drive.data : -ENXIO;
}

static int setup(void **state)
{
	(void)state;
	memset(&drive, 0, sizeof(drive));
	drive.flags = O_RDWR | O_DIRECT;
	drive.size = 1 << 20;
	calls = os_real_calls;
	calls.statx = drive_statx;
	calls.pread = drive_pread;
	calls.fcntl = drive_fcntl;
	calls.fstat = drive_fstat;
	calls.open = drive_open;
	calls.lseek = drive_lseek;
	os_set(&calls);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	os_set(NULL);
	return 0;
}

static void expect(const struct sto_facts *facts, uint32_t memory, uint32_t offset)
{
	struct sto_alignment found = {0, 0};

	assert_int_equal(sto_alignment(1000, facts, &found), 0);
	assert_int_equal(found.memory_bytes, memory);
	assert_int_equal(found.offset_bytes, offset);
}

static void what_the_kernel_tells_counts(void **state)
{
	struct sto_facts facts = {.logical_block_bytes = 512};
	struct sto_alignment found;

	(void)state;
	drive.told = true;
	drive.memory = 4;
	drive.offset = 4096;
	expect(&facts, 4, 4096);
	assert_int_equal(drive.reads, 0);
	drive.memory = 0;
	drive.offset = 0;
	assert_int_equal(sto_alignment(1000, &facts, &found), -EOPNOTSUPP);
}

static void a_probe_finds_what_is_demanded(void **state)
{
	static const uint32_t sizes[] = {512, 1024, 2048, 4096};
	struct sto_facts facts = {.logical_block_bytes = 0};

	(void)state;
	for (int o = 0; o < 4; o++) {
		for (int m = 0; m <= o; m++) {
			drive.offset = sizes[o];
			drive.memory = sizes[m];
			expect(&facts, sizes[m], sizes[o]);
		}
	}
}

static void a_block_is_the_least_that_is_believed(void **state)
{
	struct sto_facts facts = {.logical_block_bytes = 4096};

	(void)state;
	drive.offset = 1; /* served through the page cache without a word */
	drive.memory = 1;
	expect(&facts, 4096, 4096);
	facts.logical_block_bytes = 0;
	expect(&facts, 512, 512);
	facts.memory_backed = true;
	expect(&facts, 1, 1);
}

static void a_hole_proves_nothing(void **state)
{
	struct sto_facts facts = {.logical_block_bytes = 0};

	(void)state;
	drive.offset = 4096;
	drive.memory = 512;
	drive.data = 65536;
	expect(&facts, 512, 4096);
	drive.data = drive.size; /* nothing but a hole */
	expect(&facts, 4096, 4096);
	facts.logical_block_bytes = 512;
	expect(&facts, 512, 512);
}

static void what_cannot_be_read_gets_the_block(void **state)
{
	struct sto_facts facts = {.logical_block_bytes = 512};

	(void)state;
	drive.offset = 512;
	drive.memory = 512;
	drive.size = 0;
	expect(&facts, 512, 512);
	drive.size = 8192;
	drive.flags = O_WRONLY | O_DIRECT;
	expect(&facts, 512, 512);
	facts.logical_block_bytes = 0;
	expect(&facts, 4096, 4096);
	assert_int_equal(drive.reads, 0);
}

static void without_o_direct_there_is_no_answer(void **state)
{
	struct sto_facts facts = {.logical_block_bytes = 512};
	struct sto_alignment found;

	(void)state;
	drive.flags = O_RDWR;
	assert_int_equal(sto_alignment(1000, &facts, &found), -EOPNOTSUPP);
}

static int no_statx(int fd, const char *path, int flags, unsigned mask, struct statx *stx)
{
	(void)fd, (void)path, (void)flags, (void)mask, (void)stx;
	return -ENOSYS;
}

/* On this machine, what is found must be accepted, with the kernel's help and without. */
static void this_machine_accepts_what_was_found(void **state)
{
	static const char *const places[] = {"/var/tmp", "/dev/shm"};
	struct os_calls old = os_real_calls;
	char *memory = aligned_alloc(4096, 16384);

	(void)state;
	old.statx = no_statx;
	for (int i = 0; i < 4; i++) {
		int fd = scratch_file(places[i / 2], O_RDWR);
		int direct_fd = scratch_reopen(fd, O_RDONLY | O_DIRECT);
		struct sto_alignment found = {0, 0};
		struct sto_facts facts;

		assert_true(scratch_fill(fd, 16384));
		assert_int_equal(sto_facts(fd, &facts), 0);
		os_set(i % 2 ? &old : NULL);
		if (direct_fd >= 0) {
			assert_int_equal(sto_alignment(direct_fd, &facts, &found), 0);
			assert_true(found.offset_bytes > 0 && found.offset_bytes <= 4096);
			assert_int_equal(pread(direct_fd, memory + found.memory_bytes,
					       found.offset_bytes, found.offset_bytes),
					 found.offset_bytes);
			close(direct_fd);
		}
		os_set(NULL);
		close(fd);
	}
	free(memory);
}

#define DRIVE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DRIVE(what_the_kernel_tells_counts),
		DRIVE(a_probe_finds_what_is_demanded),
		DRIVE(a_block_is_the_least_that_is_believed),
		DRIVE(a_hole_proves_nothing),
		DRIVE(what_cannot_be_read_gets_the_block),
		DRIVE(without_o_direct_there_is_no_answer),
		cmocka_unit_test(this_machine_accepts_what_was_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

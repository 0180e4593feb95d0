/* SPDX-License-Identifier: Apache-2.0 */
/* A real block device with 4096-byte sectors: a loop device. Needs root; skips without. */
#include <errno.h>
#include <linux/loop.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/ioctl.h>

#include "os/os.h"
#include "storage/facts.h"
#include "storage/storage.h"

#include "scratch.h"

#define DEVICE_BYTES 1048576
#define ATTEMPTS     8

struct loop {
	int backing_fd;
	int fd; /* -1: no loop device to be had */
	int direct_fd;
	char path[64];
	int number;
};

/* Another program may take the free number first; then the next is tried. */
static bool attach(struct loop *loop, int control_fd)
{
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		loop->number = ioctl(control_fd, LOOP_CTL_GET_FREE);
		if (loop->number < 0)
			return false;
		snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", loop->number);
		loop->fd = open(loop->path, O_RDWR | O_CLOEXEC);
		if (loop->fd < 0)
			return false;
		if (ioctl(loop->fd, LOOP_SET_FD, loop->backing_fd) == 0)
			return ioctl(loop->fd, LOOP_SET_BLOCK_SIZE, 4096) == 0;
		close(loop->fd);
		loop->fd = -1;
	}
	return false;
}

static int setup(void **state)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	int control_fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	*state = loop;
	loop->fd = -1;
	loop->direct_fd = -1;
	loop->backing_fd = scratch_file("/var/tmp", O_RDWR);
	if (control_fd < 0 || !scratch_fill(loop->backing_fd, DEVICE_BYTES)) {
		print_message("no loop device: no right to /dev/loop-control\n");
		return 0;
	}
	if (attach(loop, control_fd))
		loop->direct_fd = open(loop->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	else
		print_message("no loop device: %s\n", strerror(errno));
	close(control_fd);
	return 0;
}

static int teardown(void **state)
{
	struct loop *loop = *state;

	if (loop->direct_fd >= 0)
		close(loop->direct_fd);
	if (loop->fd >= 0) {
		ioctl(loop->fd, LOOP_CLR_FD, 0);
		close(loop->fd);
	}
	close(loop->backing_fd);
	free(loop);
	return 0;
}

static void it_is_described_as_a_block_device(void **state)
{
	struct loop *loop = *state;
	struct sto_facts facts;

	if (loop->direct_fd < 0)
		skip();
	assert_int_equal(sto_facts(loop->fd, &facts), 0);
	assert_true(facts.is_block_device);
	assert_string_equal(facts.block_name, loop->path + strlen("/dev/"));
	assert_string_equal(facts.fs_type, "block");
	assert_string_equal(facts.mount_point, "");
	assert_int_equal(facts.block_major, 7);
	assert_int_equal(facts.logical_block_bytes, 4096);
	assert_int_equal(facts.file_bytes, DEVICE_BYTES);
	assert_int_equal(sto_file_bytes(loop->fd), DEVICE_BYTES);
	assert_false(facts.memory_backed || facts.network_backed || facts.read_only_device);
}

static int no_statx(int fd, const char *path, int flags, unsigned mask, struct statx *stx)
{
	(void)fd, (void)path, (void)flags, (void)mask, (void)stx;
	return -ENOSYS;
}

static void its_sectors_are_demanded(void **state)
{
	struct loop *loop = *state;
	struct os_calls old = os_real_calls;
	struct sto_alignment told, probed;
	struct sto_facts facts, unknown = {.file_bytes = 0};

	if (loop->direct_fd < 0)
		skip();
	assert_int_equal(sto_facts(loop->fd, &facts), 0);
	assert_int_equal(sto_alignment(loop->direct_fd, &facts, &told), 0);
	assert_int_equal(told.offset_bytes, 4096);
	old.statx = no_statx;
	os_set(&old);
	assert_int_equal(sto_alignment(loop->direct_fd, &unknown, &probed), 0);
	os_set(NULL);
	assert_int_equal(probed.offset_bytes, 4096);
	char *memory = aligned_alloc(4096, 12288);
	assert_int_equal(pread(loop->direct_fd, memory + probed.memory_bytes, 4096, 4096), 4096);
	assert_int_equal(pread(loop->direct_fd, memory, 512, 0), -1);
	free(memory);
}

static void its_counters_see_what_is_read(void **state)
{
	struct loop *loop = *state;
	uint64_t read_before, read_after, written;

	if (loop->direct_fd < 0)
		skip();
	char *memory = aligned_alloc(4096, 65536);
	assert_int_equal(sto_device_bytes(7, (uint32_t)loop->number, &read_before, &written), 0);
	assert_int_equal(sto_transfer(false, loop->direct_fd, memory, 65536, 4096), 65536);
	assert_int_equal(sto_device_bytes(7, (uint32_t)loop->number, &read_after, &written), 0);
	assert_int_equal(read_after - read_before, 65536);
	for (uint64_t i = 0; i < 65536; i++)
		assert_int_equal((unsigned char)memory[i], scratch_byte(4096 + i));
	free(memory);
}

static void it_has_no_holes_but_a_cache(void **state)
{
	struct loop *loop = *state;
	uint64_t hole, unwritten, resident, sampled, zero;
	char bytes[4096];

	if (loop->direct_fd < 0)
		skip();
	assert_int_equal(sto_extents(loop->fd, 0, UINT64_MAX, &hole, &unwritten), 0);
	assert_true(hole == 0 && unwritten == 0);
	assert_int_equal(sto_transfer(false, loop->fd, bytes, sizeof(bytes), 8192), sizeof(bytes));
	assert_int_equal(sto_resident(loop->fd, 8192, 4096, &resident), 0);
	assert_int_equal(resident, 4096);
	assert_int_equal(sto_evict(loop->fd, 0, DEVICE_BYTES), 0);
	assert_int_equal(sto_zero_sample(loop->fd, loop->direct_fd, 0, UINT64_MAX, &sampled, &zero),
			 0);
	assert_int_equal(sampled, DEVICE_BYTES);
	assert_int_equal(zero, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_is_described_as_a_block_device),
		CASE(its_sectors_are_demanded),
		CASE(its_counters_see_what_is_read),
		CASE(it_has_no_holes_but_a_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

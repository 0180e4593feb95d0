/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of a file are: holes, unwritten extents, zeros, and pages in the cache. */
#include <errno.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "os/os.h"
#include "storage/facts.h"

#include "scratch.h"

#define MIB ((uint64_t)1 << 20)

static struct os_calls calls;

static int no_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd, (void)request, (void)arg;
	return -EOPNOTSUPP;
}

static int no_cachestat(int fd, uint64_t offset, uint64_t bytes, struct os_cachestat *out)
{
	(void)fd, (void)offset, (void)bytes, (void)out;
	return -ENOSYS;
}

static int setup(void **state)
{
	int *fd = malloc(sizeof(*fd));

	*state = fd;
	calls = os_real_calls;
	*fd = scratch_file("/var/tmp", O_RDWR);
	return *fd < 0;
}

static int teardown(void **state)
{
	os_set(NULL);
	close(*(int *)*state);
	free(*state);
	return 0;
}

static void old_kernel(void)
{
	calls.ioctl = no_ioctl;
	calls.cachestat = no_cachestat;
	os_set(&calls);
}

/* 1 MiB of data, 2 MiB hole, 1 MiB of data, 1 MiB unwritten, 3 MiB hole; false where the file
 * system cannot have them. */
static bool make_pieces(int fd)
{
	char block[4096];

	memset(block, 'd', sizeof(block));
	for (off_t at = 0; at < (off_t)MIB; at += sizeof(block)) {
		assert_int_equal(pwrite(fd, block, sizeof(block), at), sizeof(block));
		assert_int_equal(pwrite(fd, block, sizeof(block), at + (off_t)(3 * MIB)),
				 sizeof(block));
	}
	assert_int_equal(ftruncate(fd, (off_t)(8 * MIB)), 0);
	return fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)(4 * MIB), (off_t)MIB) == 0;
}

static void holes_and_unwritten_parts_are_counted(void **state)
{
	int fd = *(int *)*state;
	uint64_t hole, unwritten;

	if (!make_pieces(fd))
		skip();
	assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
	assert_int_equal(sto_extents(fd, 0, UINT64_MAX, &hole, &unwritten), 0);
	if (unwritten == UINT64_MAX)
		skip();
	assert_int_equal(hole, 5 * MIB);
	assert_int_equal(unwritten, MIB);
	assert_int_equal(sto_extents(fd, MIB / 2, MIB, &hole, &unwritten), 0);
	assert_int_equal(hole, MIB / 2);
	assert_int_equal(unwritten, 0);
	assert_int_equal(sto_extents(fd, 4 * MIB + 10, 100, &hole, &unwritten), 0);
	assert_int_equal(hole, 0);
	assert_int_equal(unwritten, 100);
	assert_int_equal(sto_extents(fd, 8 * MIB, MIB, &hole, &unwritten), 0);
	assert_true(hole == 0 && unwritten == 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 100);
}

static void without_fiemap_only_holes_are_known(void **state)
{
	int fd = *(int *)*state;
	uint64_t hole, unwritten;

	if (!make_pieces(fd))
		skip();
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
	old_kernel();
	assert_int_equal(sto_extents(fd, 0, 4 * MIB, &hole, &unwritten), 0);
	assert_int_equal(hole, 2 * MIB);
	assert_true(unwritten == UINT64_MAX);
	assert_int_equal(sto_extents(fd, 5 * MIB, 3 * MIB, &hole, &unwritten), 0);
	assert_int_equal(hole, 3 * MIB);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 100);
}

static off_t all_is_data(int fd, off_t offset, int whence)
{
	(void)fd;
	return whence == SEEK_HOLE ? (off_t)(8 * MIB) : offset;
}

/* A file system that knows nothing of holes says that there are none. */
static void an_answer_against_the_allocated_size_is_not_believed(void **state)
{
	int fd = *(int *)*state;
	uint64_t hole, unwritten;

	assert_int_equal(ftruncate(fd, (off_t)(8 * MIB)), 0);
	old_kernel();
	calls.lseek = all_is_data;
	assert_int_equal(sto_extents(fd, 0, 8 * MIB, &hole, &unwritten), 0);
	assert_true(hole == UINT64_MAX && unwritten == UINT64_MAX);
}

static void many_extents_take_several_calls(void **state)
{
	int fd = *(int *)*state;
	uint64_t hole, unwritten;
	char block[4096];

	memset(block, 'd', sizeof(block));
	for (off_t i = 0; i < 700; i++)
		assert_int_equal(pwrite(fd, block, sizeof(block), i * 2 * 65536), sizeof(block));
	assert_int_equal(sto_extents(fd, 0, UINT64_MAX, &hole, &unwritten), 0);
	if (unwritten == UINT64_MAX)
		skip();
	assert_int_equal(hole, 699 * (2 * 65536 - 4096));
}

static void a_sparse_tmpfs_file_is_all_hole(void **state)
{
	int fd = scratch_file("/dev/shm", O_RDWR);
	uint64_t hole, unwritten;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)(64 * MIB)), 0);
	assert_int_equal(sto_extents(fd, 0, 64 * MIB, &hole, &unwritten), 0);
	assert_int_equal(hole, 64 * MIB);
	close(fd);
}

static uint64_t resident(int fd, uint64_t offset, uint64_t bytes)
{
	uint64_t found = 1;

	assert_int_equal(sto_resident(fd, offset, bytes, &found), 0);
	return found;
}

/* tmpfs pages stay where they are, so that the counts are exact. */
static void pages_in_memory_are_counted_alike_by_both_calls(void **state)
{
	int fd = scratch_file("/dev/shm", O_RDWR);

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)(4 * MIB)), 0);
	assert_true(scratch_fill(fd, 16384));
	assert_int_equal(pwrite(fd, "x", 1, (off_t)MIB), 1);
	for (int old = 0; old < 2; old++) {
		assert_int_equal(resident(fd, 0, 4 * MIB), 20480);
		assert_int_equal(resident(fd, 4096, 8192), 8192);
		assert_int_equal(resident(fd, 100, 50), 50);
		assert_int_equal(resident(fd, 16384, 4096), 0);
		assert_int_equal(resident(fd, MIB - 4096, UINT64_MAX), 4096);
		assert_int_equal(resident(fd, 4 * MIB, 100), 0);
		assert_int_equal(resident(fd, 0, 0), 0);
		old_kernel();
	}
	close(fd);
}

static void a_reader_without_rights_is_not_told_a_lie(void **state)
{
	int fd = *(int *)*state;
	uint64_t found = 0;

	if (geteuid() != 0)
		skip();
	assert_true(scratch_fill(fd, 8192));
	assert_int_equal(fchmod(fd, 0644), 0);
	pid_t child = fork();
	if (child == 0) {
		if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		old_kernel();
		_exit(sto_resident(fd, 0, 8192, &found) == -EPERM ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void eviction_is_seen_by_residency(void **state)
{
	int fd = *(int *)*state;

	assert_true(scratch_fill(fd, MIB));
	uint64_t before = resident(fd, 0, MIB);
	assert_int_equal(sto_evict(fd, 0, MIB), 0);
	uint64_t after = resident(fd, 0, MIB);
	assert_int_equal(before, MIB);
	assert_true(after <= before);
	old_kernel();
	assert_int_equal(resident(fd, 0, MIB), after);
	assert_int_equal(sto_evict(fd, 2 * MIB, MIB), 0);
}

static off_t evict_start, evict_bytes;
static int seen_fadvise(int fd, off_t offset, off_t bytes, int advice)
{
	(void)fd;
	assert_int_equal(advice, POSIX_FADV_DONTNEED);
	evict_start = offset;
	evict_bytes = bytes;
	return 0;
}

static void eviction_covers_the_pages_at_both_ends(void **state)
{
	int fd = *(int *)*state;
	long page = sysconf(_SC_PAGESIZE);

	assert_true(scratch_fill(fd, MIB));
	calls.fadvise = seen_fadvise;
	os_set(&calls);
	assert_int_equal(sto_evict(fd, (uint64_t)page + 10, (uint64_t)page), 0);
	assert_int_equal(evict_start, page);
	assert_int_equal(evict_bytes, 2 * page);
	evict_bytes = -1;
	assert_int_equal(sto_evict(fd, MIB, 10), 0); /* zero bytes would mean "to the end" */
	assert_int_equal(evict_bytes, -1);
}

static int no_direct_open(const char *path, int flags, mode_t mode)
{
	return flags & O_DIRECT ? -EINVAL : os_real_calls.open(path, flags, mode);
}

static void refuse_direct(void)
{
	calls.open = no_direct_open;
	os_set(&calls);
}

static void zeros_are_sampled_over_the_whole_range(void **state)
{
	int fd = *(int *)*state;
	int direct_fd = scratch_reopen(fd, O_RDONLY | O_DIRECT);
	uint64_t sampled, zero;

	assert_true(scratch_fill(fd, 4 * MIB));
	assert_int_equal(ftruncate(fd, (off_t)(8 * MIB)), 0);
	for (int way = 0; way < 3; way++) {
		int through = way == 0 ? direct_fd : -1;

		if (way == 2)
			refuse_direct();
		assert_int_equal(sto_zero_sample(fd, through, 0, 8 * MIB, &sampled, &zero), 0);
		assert_int_equal(sampled, 256 * 4096);
		assert_int_equal(zero, 128 * 4096);
		assert_int_equal(sto_zero_sample(fd, through, 0, 4 * MIB, &sampled, &zero), 0);
		assert_int_equal(zero, 0);
		assert_int_equal(sto_zero_sample(fd, through, 4 * MIB - 100, 200, &sampled, &zero),
				 0);
		assert_int_equal(sampled, 200);
		assert_int_equal(zero, 100);
		assert_int_equal(sto_zero_sample(fd, through, 8 * MIB - 5000, MIB, &sampled, &zero),
				 0);
		assert_int_equal(sampled, 5000);
		assert_int_equal(zero, 5000);
		assert_int_equal(sto_zero_sample(fd, through, 9 * MIB, MIB, &sampled, &zero), 0);
		assert_true(sampled == 0 && zero == 0);
	}
	if (direct_fd >= 0)
		close(direct_fd);
}

static void one_byte_that_is_not_zero_counts(void **state)
{
	int fd = *(int *)*state;
	uint64_t sampled, zero;

	assert_int_equal(ftruncate(fd, 3 * 4096), 0);
	assert_int_equal(pwrite(fd, "x", 1, 2 * 4096 - 1), 1);
	assert_int_equal(sto_zero_sample(fd, -1, 0, 3 * 4096, &sampled, &zero), 0);
	assert_int_equal(sampled, 3 * 4096);
	assert_int_equal(zero, 2 * 4096);
}

/* Whatever could be evicted before must not be in the cache because of the samples. */
static void samples_leave_the_cache_as_it_was(void **state)
{
	int fd = *(int *)*state;
	int direct_fd = scratch_reopen(fd, O_RDONLY | O_DIRECT);
	uint64_t sampled, zero;

	assert_true(scratch_fill(fd, 4 * MIB));
	assert_int_equal(sto_evict(fd, 0, 4 * MIB), 0);
	uint64_t before = resident(fd, 0, 4 * MIB);
	assert_int_equal(sto_zero_sample(fd, direct_fd, 0, 4 * MIB, &sampled, &zero), 0);
	assert_true(resident(fd, 0, 4 * MIB) <= before);
	/* Used through the page cache: the samples go around it all the same. */
	assert_int_equal(sto_zero_sample(fd, -1, 0, 4 * MIB, &sampled, &zero), 0);
	if (direct_fd >= 0)
		assert_true(resident(fd, 0, 4 * MIB) <= before);
	refuse_direct();
	assert_int_equal(sto_zero_sample(fd, -1, 0, 4 * MIB, &sampled, &zero), 0);
	/* Best effort: a page may be in a list of another CPU when it is to be dropped. */
	assert_true(resident(fd, 0, 4 * MIB) <= before + 8 * 4096);
	if (direct_fd >= 0)
		close(direct_fd);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(holes_and_unwritten_parts_are_counted),
		CASE(without_fiemap_only_holes_are_known),
		CASE(an_answer_against_the_allocated_size_is_not_believed),
		CASE(many_extents_take_several_calls),
		CASE(a_sparse_tmpfs_file_is_all_hole),
		CASE(pages_in_memory_are_counted_alike_by_both_calls),
		CASE(a_reader_without_rights_is_not_told_a_lie),
		CASE(eviction_is_seen_by_residency),
		CASE(eviction_covers_the_pages_at_both_ends),
		CASE(zeros_are_sampled_over_the_whole_range),
		CASE(one_byte_that_is_not_zero_counts),
		CASE(samples_leave_the_cache_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Range holds of threads and range locks of processes. */
#include "core/range_lock.h"
#include "os/os.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4
#define ROUNDS  2000

static void pause_ms(long ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000};

	nanosleep(&ts, NULL);
}

static void test_owner_is_shared(void **state)
{
	struct range_owner *a = range_owner_get(1, 7);
	struct range_owner *same = range_owner_get(1, 7);
	struct range_owner *other_inode = range_owner_get(1, 8);
	struct range_owner *other_device = range_owner_get(2, 7);

	(void)state;
	assert_non_null(a);
	assert_ptr_equal(a, same);
	assert_ptr_not_equal(a, other_inode);
	assert_ptr_not_equal(a, other_device);
	range_owner_put(same);
	same = range_owner_get(1, 7);
	assert_ptr_equal(a, same);
	range_owner_put(a);
	range_owner_put(same);
	range_owner_put(other_inode);
	range_owner_put(other_device);
	range_owner_put(NULL);
}

static void test_conflicts(void **state)
{
	struct range_owner *owner = range_owner_get(3, 1);
	struct range_hold held;
	struct range_hold more;
	struct range_hold third;

	(void)state;
	/* Shared beside shared, not beside exclusive. */
	range_lock(owner, 4096, 8192, false, &held);
	assert_true(range_try_lock(owner, 0, 1 << 20, false, &more));
	assert_false(range_try_lock(owner, 8191, 8192, true, &third));
	range_unlock(owner, &more);
	assert_false(range_try_lock(owner, 8191, 8192, true, &third));
	/* Neighbours do not touch. */
	assert_true(range_try_lock(owner, 8192, 12288, true, &more));
	assert_true(range_try_lock(owner, 0, 4096, true, &third));
	range_unlock(owner, &third);
	range_unlock(owner, &held);
	/* Exclusive keeps shared out, to the very end of the numbers. */
	assert_true(range_try_lock(owner, 12288, UINT64_MAX, true, &held));
	assert_false(range_try_lock(owner, UINT64_MAX - 1, UINT64_MAX, false, &third));
	assert_false(range_try_lock(owner, 0, 8193, false, &third));
	assert_true(range_try_lock(owner, 0, 8192, false, &third));
	range_unlock(owner, &third);
	range_unlock(owner, &more);
	range_unlock(owner, &held);
	range_owner_put(owner);
}

struct cells {
	uint64_t device;
	/* Not atomic on purpose: only the locks keep them right, and a sanitizer sees that. */
	unsigned long cell[3];
	atomic_bool failed;
};

/* Each round changes two neighbouring cells under one exclusive hold of them. */
static void *change_cells(void *arg)
{
	struct cells *cells = arg;
	struct range_owner *owner = range_owner_get(cells->device, 42);
	struct range_hold hold;

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned first = round % 2;

		range_lock(owner, first, first + 2, true, &hold);
		for (unsigned i = first; i < first + 2; i++) {
			unsigned long old = cells->cell[i];

			if (round % 64 == 0)
				sched_yield();
			cells->cell[i] = old + 1;
		}
		range_unlock(owner, &hold);
		range_lock(owner, 0, 3, false, &hold);
		if (cells->cell[0] + cells->cell[2] != cells->cell[1])
			atomic_store(&cells->failed, true);
		range_unlock(owner, &hold);
	}
	range_owner_put(owner);
	return NULL;
}

static void test_no_update_is_lost(void **state)
{
	struct cells cells = {.device = 4};
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, change_cells, &cells), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_false(atomic_load(&cells.failed));
	assert_int_equal(cells.cell[0], (unsigned long)THREADS * ROUNDS / 2);
	assert_int_equal(cells.cell[1], (unsigned long)THREADS * ROUNDS);
	assert_int_equal(cells.cell[2], (unsigned long)THREADS * ROUNDS / 2);
}

struct queue {
	struct range_owner *owner;
	atomic_int order;
	int exclusive_at;
	int shared_at;
};

static void *take_exclusive(void *arg)
{
	struct queue *queue = arg;
	struct range_hold hold;

	range_lock(queue->owner, 0, 100, true, &hold);
	queue->exclusive_at = atomic_fetch_add(&queue->order, 1);
	range_unlock(queue->owner, &hold);
	return NULL;
}

static void *take_shared(void *arg)
{
	struct queue *queue = arg;
	struct range_hold hold;

	range_lock(queue->owner, 50, 60, false, &hold);
	queue->shared_at = atomic_fetch_add(&queue->order, 1);
	range_unlock(queue->owner, &hold);
	return NULL;
}

/* Returns once somebody waits for an exclusive hold of [0, 100): then a shared one elsewhere in
 * that range is refused, which the hold of [0, 10) alone would not do. */
static void until_exclusive_waits(struct range_owner *owner)
{
	struct range_hold probe;

	while (range_try_lock(owner, 90, 91, false, &probe)) {
		range_unlock(owner, &probe);
		pause_ms(1);
	}
}

static void test_first_come_first_served(void **state)
{
	struct queue queue = {.owner = range_owner_get(5, 1)};
	struct range_hold held;
	struct range_hold elsewhere;
	pthread_t exclusive;
	pthread_t shared;

	(void)state;
	range_lock(queue.owner, 0, 10, false, &held);
	assert_int_equal(pthread_create(&exclusive, NULL, take_exclusive, &queue), 0);
	until_exclusive_waits(queue.owner);
	assert_int_equal(pthread_create(&shared, NULL, take_shared, &queue), 0);
	pause_ms(20);
	/* The shared one would be free to go if the waiting exclusive one did not count. */
	assert_int_equal(atomic_load(&queue.order), 0);
	/* What overlaps nobody is not kept back. */
	assert_true(range_try_lock(queue.owner, 100, 200, true, &elsewhere));
	range_unlock(queue.owner, &elsewhere);
	range_unlock(queue.owner, &held);
	assert_int_equal(pthread_join(exclusive, NULL), 0);
	assert_int_equal(pthread_join(shared, NULL), 0);
	assert_int_equal(queue.exclusive_at, 0);
	assert_int_equal(queue.shared_at, 1);
	range_owner_put(queue.owner);
}

static int temporary_file(char *path, size_t size)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, size, "%s/range_lock.XXXXXX", dir ? dir : "/tmp");
	return mkstemp(path);
}

/* Two descriptions of one file stand for two processes: the kernel tells them apart alike. */
static void test_file_locks(void **state)
{
	char path[256];
	int fd = temporary_file(path, sizeof(path));
	int other = open(path, O_RDWR | O_CLOEXEC);
	struct flock ask = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 4095, .l_len = 1};

	(void)state;
	assert_true(fd >= 0 && other >= 0);
	unlink(path);
	assert_int_equal(range_lock_file(fd, 0, 4096, true), 0);
	assert_int_equal(fcntl(other, F_OFD_GETLK, &ask), 0);
	assert_int_equal(ask.l_type, F_WRLCK);
	ask = (struct flock){.l_type = F_WRLCK, .l_start = 4096, .l_len = 4096};
	assert_int_equal(fcntl(other, F_OFD_GETLK, &ask), 0);
	assert_int_equal(ask.l_type, F_UNLCK);
	assert_int_equal(range_unlock_file(fd, 0, 4096), 0);
	ask = (struct flock){.l_type = F_WRLCK, .l_start = 0, .l_len = 4096};
	assert_int_equal(fcntl(other, F_OFD_GETLK, &ask), 0);
	assert_int_equal(ask.l_type, F_UNLCK);

	/* Shared ones go together; an end without limit reaches beyond any offset. */
	assert_int_equal(range_lock_file(fd, 8192, UINT64_MAX, false), 0);
	assert_int_equal(range_lock_file(other, 9000, 9001, false), 0);
	ask = (struct flock){.l_type = F_WRLCK, .l_start = INT64_MAX - 1, .l_len = 1};
	assert_int_equal(fcntl(other, F_OFD_GETLK, &ask), 0);
	assert_int_equal(ask.l_type, F_RDLCK);
	close(fd);
	close(other);
}

static void test_file_lock_waits(void **state)
{
	char path[256];
	int fd = temporary_file(path, sizeof(path));
	int status = -1;
	char byte = 0;
	pid_t child;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(range_lock_file(fd, 0, 10, true), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int own = open(path, O_RDWR | O_CLOEXEC);

		if (own < 0 || range_lock_file(own, 5, 6, true) != 0)
			_exit(2);
		_exit(pread(own, &byte, 1, 0) == 1 && byte == 'x' ? 0 : 1);
	}
	pause_ms(50);
	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(range_unlock_file(fd, 0, 10), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(fd);
	unlink(path);
}

static int fcntl_answer;
static int fcntl_interrupts;
static int fcntl_calls;

static int fcntl_played(int fd, int command, void *arg)
{
	(void)fd;
	(void)arg;
	assert_int_equal(command, F_OFD_SETLKW);
	fcntl_calls++;
	return fcntl_interrupts-- > 0 ? -EINTR : fcntl_answer;
}

static void test_file_lock_answers(void **state)
{
	static const int not_supported[] = {-ENOLCK, -EOPNOTSUPP, -EINVAL, -ENOSYS};
	struct os_calls calls = os_real_calls;

	(void)state;
	calls.fcntl = fcntl_played;
	os_set(&calls);
	for (size_t i = 0; i < sizeof(not_supported) / sizeof(not_supported[0]); i++) {
		fcntl_answer = not_supported[i];
		assert_int_equal(range_lock_file(3, 0, 1, true), RANGE_LOCK_NOT_SUPPORTED);
		assert_int_equal(range_unlock_file(3, 0, 1), RANGE_LOCK_NOT_SUPPORTED);
	}
	fcntl_answer = -EBADF;
	assert_int_equal(range_lock_file(3, 0, 1, true), -EBADF);
	fcntl_answer = 0;
	fcntl_calls = 0;
	fcntl_interrupts = 3;
	assert_int_equal(range_lock_file(3, 0, 1, false), 0);
	assert_int_equal(fcntl_calls, 4);
	os_set(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_is_shared),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_no_update_is_lost),
		cmocka_unit_test(test_first_come_first_served),
		cmocka_unit_test(test_file_locks),
		cmocka_unit_test(test_file_lock_waits),
		cmocka_unit_test(test_file_lock_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

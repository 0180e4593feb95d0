/* SPDX-License-Identifier: Apache-2.0 */
/* What io_uring refuses: as a sandbox, an old kernel or a small limit would. Each case plays in a
 * child process, which cannot take its sandbox off again. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "os/os.h"
#include "storage/storage.h"

#include "scratch.h"

#define NR_IO_URING_SETUP    425
#define NR_IO_URING_ENTER    426
#define NR_IO_URING_REGISTER 427

#define SKIPPED 77

/* In a child: says which expectation failed, and ends the case. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static int in_child(int (*play)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(play());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	return WEXITSTATUS(status);
}

/* From now on a system call fails with an errno. */
static int refuse(unsigned call, unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int open_engine(struct sto_engine **engine)
{
	enum pst_reason reason;

	return sto_uring_ops.open(8, engine, &reason) == 0;
}

/* Six reads and two writes at once; whether every byte is right. */
static int transfers_work(struct sto_engine *engine)
{
	struct sto_io ios[8];
	char memory[8][512];
	int fd = scratch_file("/var/tmp", O_RDWR);
	unsigned reaped = 0;

	EXPECT(fd >= 0 && scratch_fill(fd, 4096));
	memset(memory, 0, sizeof(memory));
	for (unsigned i = 0; i < 8; i++) {
		ios[i] = (struct sto_io){.fd = fd,
					 .file_id = 1,
					 .write = i >= 6,
					 .memory = memory[i],
					 .bytes = 512,
					 .offset = (int64_t)i * 512 + (i >= 6 ? 4096 : 0),
					 .fixed_index = -1};
		EXPECT(sto_uring_ops.submit(engine, &ios[i]) == 0);
	}
	for (struct sto_io *io; (io = sto_uring_ops.reap(engine, true)); reaped++) {
		EXPECT(io->result == 512);
		for (int64_t k = 0; k < 512 && !io->write; k++)
			EXPECT(((unsigned char *)io->memory)[k] ==
			       scratch_byte((uint64_t)(io->offset + k)));
	}
	EXPECT(reaped == 8);
	close(fd);
	return 0;
}

static int refused_at_open(unsigned error, enum pst_reason expected)
{
	struct sto_engine *engine = NULL;
	enum pst_reason reason = PST_REASON_COUNT;

	EXPECT(refuse(NR_IO_URING_SETUP, error));
	EXPECT(sto_uring_ops.open(8, &engine, &reason) == -(int)error);
	EXPECT(engine == NULL && reason == expected);
	return 0;
}

static int play_no_such_call(void)
{
	return refused_at_open(ENOSYS, PST_REASON_URING_KERNEL);
}

static int play_denied(void)
{
	return refused_at_open(EPERM, PST_REASON_URING_DENIED);
}

static int play_no_memory(void)
{
	return refused_at_open(ENOMEM, PST_REASON_URING_MEMLOCK);
}

static int play_disabled_by_sysctl(void)
{
	struct scratch_root root;
	struct os_calls calls = os_real_calls;

	EXPECT(scratch_root_open(&root));
	EXPECT(scratch_root_text(&root, "proc/sys/kernel/io_uring_disabled", "2\n"));
	calls.root_fd = root.fd;
	os_set(&calls);
	int rc = refused_at_open(EPERM, PST_REASON_URING_KERNEL);
	scratch_root_close(&root);
	return rc;
}

/* Registering anything is refused, the probe for operations too, which an old kernel lacks. */
static int play_no_register(void)
{
	struct sto_engine *engine = NULL;
	enum pst_reason reason = PST_REASON_COUNT;

	EXPECT(refuse(NR_IO_URING_REGISTER, EINVAL));
	EXPECT(sto_uring_ops.open(8, &engine, &reason) == -ENOSYS);
	EXPECT(reason == PST_REASON_URING_KERNEL);
	return 0;
}

static int play_no_tables(void)
{
	struct sto_engine *engine;
	enum pst_reason reason = PST_REASON_COUNT;
	static char memory[4096];

	if (!open_engine(&engine))
		return SKIPPED;
	EXPECT(refuse(NR_IO_URING_REGISTER, EINVAL));
	EXPECT(sto_uring_ops.add_buffer(engine, memory, 4096, &reason) == -EOPNOTSUPP);
	EXPECT(reason == PST_REASON_URING_KERNEL);
	for (int i = 0; i < 5; i++) /* often enough for registering the file to be tried */
		EXPECT(transfers_work(engine) == 0);
	sto_uring_ops.close(engine);
	return 0;
}

static int enter_refused(unsigned error)
{
	struct sto_engine *engine;

	if (!open_engine(&engine))
		return SKIPPED;
	EXPECT(transfers_work(engine) == 0);
	EXPECT(refuse(NR_IO_URING_ENTER, error));
	for (int i = 0; i < 5; i++) /* more operations than the ring has entries */
		EXPECT(transfers_work(engine) == 0);
	sto_uring_ops.close(engine);
	return 0;
}

static int play_enter_denied(void)
{
	return enter_refused(EPERM);
}

static int play_enter_busy(void)
{
	return enter_refused(EAGAIN);
}

static int play_small_memlock(void)
{
	const struct rlimit limit = {65536, 65536};
	struct sto_engine *engine = NULL;
	enum pst_reason reason = PST_REASON_COUNT;
	size_t bytes = (size_t)4 << 20;
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (geteuid() != 0)
		return SKIPPED;
	EXPECT(memory != MAP_FAILED);
	EXPECT(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	EXPECT(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	int rc = sto_uring_ops.open(8, &engine, &reason);
	if (rc == -ENOMEM) { /* kernels on which the ring counts too */
		EXPECT(reason == PST_REASON_URING_MEMLOCK);
		return 0;
	}
	if (rc < 0)
		return SKIPPED;
	EXPECT(sto_uring_ops.add_buffer(engine, memory, bytes, &reason) == -ENOMEM);
	EXPECT(reason == PST_REASON_URING_MEMLOCK);
	EXPECT(transfers_work(engine) == 0);
	sto_uring_ops.close(engine);
	return 0;
}

static int play_memory_that_cannot_be_pinned(void)
{
	struct sto_engine *engine;
	enum pst_reason reason = PST_REASON_COUNT;
	static char good[4096];
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!open_engine(&engine))
		return SKIPPED;
	EXPECT(bad != MAP_FAILED);
	EXPECT(sto_uring_ops.add_buffer(engine, bad, 4096, &reason) == -EFAULT);
	EXPECT(reason == PST_REASON_COUNT);
	EXPECT(sto_uring_ops.add_buffer(engine, good, 4096, &reason) == 0);
	EXPECT(transfers_work(engine) == 0);
	sto_uring_ops.close(engine);
	return 0;
}

static int play_full_table(void)
{
	struct sto_engine *engine;
	enum pst_reason reason = PST_REASON_COUNT;
	static char memory[4096];

	if (!open_engine(&engine))
		return SKIPPED;
	for (int i = 0; i < STO_MAX_BUFFERS; i++) {
		int index = sto_uring_ops.add_buffer(engine, memory, 4096, &reason);

		if (index == -ENOMEM && reason == PST_REASON_URING_MEMLOCK)
			return SKIPPED; /* an ordinary user's limit */
		EXPECT(index == i);
	}
	EXPECT(sto_uring_ops.add_buffer(engine, memory, 4096, &reason) == -ENOSPC);
	EXPECT(reason == PST_REASON_COUNT);
	sto_uring_ops.remove_buffer(engine, 500);
	EXPECT(sto_uring_ops.add_buffer(engine, memory, 4096, &reason) == 500);
	sto_uring_ops.close(engine);
	return 0;
}

#define PLAY(name)                                                                                 \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		assert_int_equal(in_child(play_##name), 0);                                        \
	}

PLAY(no_such_call)
PLAY(denied)
PLAY(no_memory)
PLAY(disabled_by_sysctl)
PLAY(no_register)
PLAY(no_tables)
PLAY(enter_denied)
PLAY(enter_busy)
PLAY(small_memlock)
PLAY(memory_that_cannot_be_pinned)
PLAY(full_table)

struct handed {
	struct sto_engine *engine;
	struct sto_io ios[8];
	char *memory;
	int fd;
};

static void *submit_and_end(void *arg)
{
	struct handed *h = arg;

	for (int i = 0; i < 8; i++) {
		h->ios[i] = (struct sto_io){.fd = h->fd,
					    .file_id = 9,
					    .memory = h->memory + i * 4096,
					    .bytes = 4096,
					    .offset = (int64_t)i * 4096,
					    .fixed_index = -1};
		sto_uring_ops.submit(h->engine, &h->ios[i]);
	}
	sto_uring_ops.flush(h->engine);
	return NULL;
}

static void an_engine_changes_hands(void **state)
{
	struct handed h = {.fd = scratch_file("/var/tmp", O_RDWR)};
	pthread_t thread;

	(void)state;
	if (!open_engine(&h.engine))
		skip();
	h.memory = aligned_alloc(4096, (size_t)8 * 4096);
	assert_true(scratch_fill(h.fd, (size_t)8 * 4096));
	int direct_fd = scratch_reopen(h.fd, O_RDONLY | O_DIRECT);
	if (direct_fd >= 0) {
		close(h.fd);
		h.fd = direct_fd;
	}
	for (int round = 0; round < 50; round++) {
		memset(h.memory, 0, (size_t)8 * 4096);
		assert_int_equal(pthread_create(&thread, NULL, submit_and_end, &h), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		for (int i = 0; i < 8; i++) {
			struct sto_io *io = sto_uring_ops.reap(h.engine, true);

			assert_non_null(io);
			assert_int_equal(io->result, 4096);
		}
		for (uint64_t i = 0; i < 8 * 4096; i++)
			assert_int_equal((unsigned char)h.memory[i], scratch_byte(i));
	}
	sto_uring_ops.close(h.engine);
	free(h.memory);
	close(h.fd);
}

#define TABLE_FILES 64

/* With every registered file in flight, one more must not take the place of any. */
static void a_file_in_flight_keeps_its_place(void **state)
{
	static struct sto_io ios[TABLE_FILES + 40];
	static int found[TABLE_FILES + 40];
	struct sto_engine *engine;
	enum pst_reason reason;
	int fds[TABLE_FILES + 1];

	(void)state;
	if (sto_uring_ops.open(TABLE_FILES + 40, &engine, &reason) < 0)
		skip();
	for (int i = 0; i <= TABLE_FILES; i++) {
		fds[i] = scratch_file("/var/tmp", O_RDWR);
		assert_int_equal(pwrite(fds[i], &i, sizeof(i), 0), sizeof(i));
	}
	/* 20 rounds make each of the first files a registered one. */
	for (int round = 0; round <= 20; round++) {
		int count = round < 20 ? TABLE_FILES : TABLE_FILES + 40;

		for (int i = 0; i < count; i++) {
			int which = i < TABLE_FILES ? i : TABLE_FILES;

			ios[i] = (struct sto_io){.fd = fds[which],
						 .file_id = (uint64_t)which + 1,
						 .memory = &found[i],
						 .bytes = sizeof(int),
						 .fixed_index = -1};
			assert_int_equal(sto_uring_ops.submit(engine, &ios[i]), 0);
		}
		while (sto_uring_ops.reap(engine, true)) { /* ends: count operations */
		}
		for (int i = 0; i < count; i++) {
			assert_int_equal(ios[i].result, sizeof(int));
			assert_int_equal(found[i], i < TABLE_FILES ? i : TABLE_FILES);
		}
	}
	sto_uring_ops.close(engine);
	for (int i = 0; i <= TABLE_FILES; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_such_call),
		cmocka_unit_test(denied),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(disabled_by_sysctl),
		cmocka_unit_test(no_register),
		cmocka_unit_test(no_tables),
		cmocka_unit_test(enter_denied),
		cmocka_unit_test(enter_busy),
		cmocka_unit_test(small_memlock),
		cmocka_unit_test(memory_that_cannot_be_pinned),
		cmocka_unit_test(full_table),
		cmocka_unit_test(an_engine_changes_hands),
		cmocka_unit_test(a_file_in_flight_keeps_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

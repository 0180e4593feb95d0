/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes that write parts of one block, and a request larger than one system call moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "penstock.h"

#include "scratch.h"

#define MIB ((size_t)1 << 20)

static char path[64];

static int make_file(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/var/tmp/penstock-apart-XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static struct pst_file *open_file(struct pst_context *ctx)
{
	struct pst_file_options options = {.size_bytes = sizeof(options), .open_flags = O_RDWR};
	struct pst_error err = {0};
	struct pst_file *file;

	if (pst_file_open(ctx, path, &options, &file, &err) < 0)
		fail_msg("%s", err.message);
	return file;
}

/* IO-15, by processes that each have a context of their own. What a process wrote last must be in
 * its part when it looks. */
#define BLOCK_BYTES 4096
#define ROUNDS      500

enum {
	FINE = 0,
	IO_FAILED,
	UPDATE_LOST,
};

static int write_part(struct pst_file *file, off_t offset, size_t bytes)
{
	unsigned char out[BLOCK_BYTES], in[BLOCK_BYTES];

	for (unsigned round = 1; round <= ROUNDS; round++) {
		memset(out, (int)(round % 251), bytes);
		if (pst_write(file, out, bytes, offset, 0, NULL) != (ssize_t)bytes ||
		    pst_read(file, in, bytes, offset, 0, NULL) != (ssize_t)bytes)
			return IO_FAILED;
		if (memcmp(out, in, bytes) != 0)
			return UPDATE_LOST;
	}
	return FINE;
}

static pid_t start_process(off_t offset, size_t bytes)
{
	struct pst_context *ctx;
	pid_t child = fork();
	int status;

	if (child != 0)
		return child;
	if (pst_open(&ctx, NULL, NULL) < 0)
		_exit(IO_FAILED);
	status = write_part(open_file(ctx), offset, bytes);
	pst_close(ctx);
	_exit(status);
}

static int end_of(pid_t child)
{
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void parts_of_a_block_by_processes(void **state)
{
	static const size_t partings[] = {2048, 2001};
	unsigned char block[BLOCK_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(truncate(path, BLOCK_BYTES), 0);
	for (size_t p = 0; p < sizeof(partings) / sizeof(*partings); p++) {
		pid_t first = start_process(0, partings[p]);
		pid_t second = start_process((off_t)partings[p], BLOCK_BYTES - partings[p]);

		assert_true(first > 0 && second > 0);
		assert_int_equal(end_of(first), FINE);
		assert_int_equal(end_of(second), FINE);
		assert_int_equal(pread(fd, block, sizeof(block), 0), BLOCK_BYTES);
		for (size_t i = 0; i < BLOCK_BYTES; i++)
			assert_int_equal(block[i], ROUNDS % 251);
	}
	close(fd);
}

/* IO-08: 3 GiB in one request. A few MiB of memory are mapped again and again, so that the buffer
 * takes no more; the last piece, beyond what one system call moves, lies in memory of its own. */
#define LARGE_BYTES ((size_t)3 << 30)
#define REPEATED    (16 * MIB)

static void more_than_one_call_moves(void **state)
{
	struct pst_context *ctx;
	struct pst_error err = {0};
	char *large = mmap(NULL, LARGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int memory = memfd_create("repeated", MFD_CLOEXEC);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct pst_file *file;
	unsigned char mark[] = "behind two gigabytes";

	(void)state;
	assert_true(large != MAP_FAILED && memory >= 0);
	assert_int_equal(ftruncate(memory, 2 * (off_t)REPEATED), 0);
	for (size_t at = 0; at < LARGE_BYTES; at += REPEATED) {
		off_t from = at + REPEATED == LARGE_BYTES ? (off_t)REPEATED : 0;

		assert_ptr_equal(mmap(large + at, REPEATED, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_FIXED, memory, from),
				 large + at);
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ftruncate(fd, (off_t)LARGE_BYTES), 0);
	assert_int_equal(pwrite(fd, mark, sizeof(mark), (off_t)(LARGE_BYTES - 4096)), sizeof(mark));
	assert_int_equal(pst_open(&ctx, NULL, &err), 0);
	file = open_file(ctx);
	assert_int_equal(pst_read(file, large, LARGE_BYTES, 0, 0, &err), LARGE_BYTES);
	assert_memory_equal(large + LARGE_BYTES - 4096, mark, sizeof(mark));
	pst_close(ctx);
	munmap(large, LARGE_BYTES);
	close(memory);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_block_by_processes),
		cmocka_unit_test(more_than_one_call_moves),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What can be opened as a file, by path and by descriptor, and what is known of it then. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

#include "penstock.h"

#include "scratch.h"

#define DATA_BYTES 10000

struct fixture {
	struct pst_context *ctx;
	char directory[48];
};

static const char *path_of(const struct fixture *f, const char *name)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/%s", f->directory, name);
	return path;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	snprintf(f->directory, sizeof(f->directory), "/var/tmp/penstock-files-XXXXXX");
	if (!mkdtemp(f->directory) || pst_open(&f->ctx, NULL, NULL) < 0)
		return -1;
	fd = open(path_of(f, "data"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0 || !scratch_fill(fd, DATA_BYTES))
		return -1;
	close(fd);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	pst_close(f->ctx);
	snprintf(command, sizeof(command), "rm -r '%s'", f->directory);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", f->directory);
	free(f);
	return 0;
}

static struct pst_file_options with_flags(int flags)
{
	return (struct pst_file_options){
		.size_bytes = sizeof(struct pst_file_options),
		.open_flags = flags,
		.create_mode = 0644,
	};
}

/* Opening fails with a code, names the path, and says a word of why. */
static void refused(struct fixture *f, const char *name, int flags, int code, const char *word)
{
	struct pst_file_options options = with_flags(flags);
	struct pst_error err = {0};
	struct pst_file *file = NULL;
	int rc = pst_file_open(f->ctx, path_of(f, name), &options, &file, &err);

	if (rc != code)
		fail_msg("%s gave %d (%s), expected %d", name, rc, err.message, code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, name));
	if (word && !strstr(err.message, word))
		fail_msg("'%s' does not say '%s'", err.message, word);
}

static void other_kinds_are_refused_by_name(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path_of(f, "socket"));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(mkdir(path_of(f, "folder"), 0755), 0);
	assert_int_equal(mkfifo(path_of(f, "pipe"), 0644), 0);
	refused(f, "folder", O_RDONLY, PST_E_FILE_TYPE, "directory");
	/* Nobody writes to it: waiting would take forever. */
	refused(f, "pipe", O_RDONLY, PST_E_FILE_TYPE, "FIFO");
	refused(f, "pipe", O_RDWR, PST_E_FILE_TYPE, "FIFO");
	refused(f, "socket", O_RDONLY, -ENXIO, NULL);
	refused(f, "absent", O_RDONLY, -ENOENT, NULL);
	refused(f, "data", O_RDWR | O_CREAT | O_EXCL, -EEXIST, NULL);
	close(fd);
}

static void appending_is_refused(void **state)
{
	struct fixture *f = *state;
	struct pst_error err = {0};
	struct pst_file *file;
	struct stat st;
	int fd;

	refused(f, "data", O_RDWR | O_APPEND, PST_E_FILE_FLAGS, "O_APPEND");
	refused(f, "new", O_RDWR | O_APPEND | O_CREAT, PST_E_FILE_FLAGS, "O_APPEND");
	assert_int_equal(stat(path_of(f, "new"), &st), -1);
	fd = open(path_of(f, "data"), O_RDWR | O_APPEND | O_CLOEXEC);
	assert_int_equal(pst_file_from_fd(f->ctx, fd, NULL, &file, &err), PST_E_FILE_FLAGS);
	assert_non_null(strstr(err.message, "O_APPEND"));
	close(fd);
	fd = open(path_of(f, "data"), O_PATH | O_CLOEXEC);
	assert_int_equal(pst_file_from_fd(f->ctx, fd, NULL, &file, &err), PST_E_FILE_FLAGS);
	close(fd);
	assert_int_equal(stat(path_of(f, "data"), &st), 0);
	assert_int_equal(st.st_size, DATA_BYTES);
}

/* The caller's descriptor keeps its flags and its place, and stays open. */
static void a_descriptor_stays_its_owners(void **state)
{
	static const int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_DIRECT};
	struct fixture *f = *state;
	unsigned char bytes[5000];

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		int fd = open(path_of(f, "data"), flags[i] | O_CLOEXEC);
		struct pst_error err = {0};
		struct pst_file *file;
		int before;

		if (fd < 0 && flags[i] & O_DIRECT)
			continue; /* this file system has none */
		assert_true(fd >= 0);
		assert_int_equal(lseek(fd, 512, SEEK_SET), 512);
		before = fcntl(fd, F_GETFL);
		if (pst_file_from_fd(f->ctx, fd, NULL, &file, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(pst_read(file, bytes, sizeof(bytes), 7001, 0, &err),
				 DATA_BYTES - 7001);
		for (unsigned b = 0; b < DATA_BYTES - 7001; b++)
			assert_int_equal(bytes[b], scratch_byte(7001 + b));
		if (flags[i] == O_RDONLY)
			assert_int_equal(pst_write(file, bytes, 1, 0, 0, &err), -EBADF);
		else
			assert_int_equal(pst_write(file, bytes, 2999, 7001, 0, &err), 2999);
		pst_file_close(file);
		assert_int_equal(fcntl(fd, F_GETFL), before);
		assert_int_equal(lseek(fd, 0, SEEK_CUR), 512);
		close(fd);
	}
}

static void bad_descriptors_are_errors(void **state)
{
	struct fixture *f = *state;
	struct pst_error err = {0};
	struct pst_file *file;
	int ends[2];

	assert_int_equal(pst_file_from_fd(f->ctx, -1, NULL, &file, &err), -EBADF);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pst_file_from_fd(f->ctx, ends[0], NULL, &file, &err), PST_E_FILE_TYPE);
	close(ends[0]);
	close(ends[1]);
}

/* A read never opens for writing. */
static void reading_opens_read_only(void **state)
{
	struct fixture *f = *state;
	struct pst_error err = {0};
	struct pst_file *file;

	assert_int_equal(pst_file_open(f->ctx, path_of(f, "data"), NULL, &file, &err), 0);
	assert_int_equal(fcntl(pst_file_descriptor(file), F_GETFL) & O_ACCMODE, O_RDONLY);
	pst_file_close(file);
}

static void describe(struct fixture *f, const char *name, struct pst_file_info *info)
{
	struct pst_error err = {0};
	struct pst_file *file;

	*info = (struct pst_file_info){.size_bytes = sizeof(*info)};
	if (pst_file_open(f->ctx, path_of(f, name), NULL, &file, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(pst_file_info(file, info, &err), 0);
	pst_file_close(file);
}

/* CA-13: the same path leads to another file system the second time; nothing is remembered. */
static void facts_are_those_of_the_open_file(void **state)
{
	char shared[] = "/dev/shm/penstock-files-XXXXXX";
	struct fixture *f = *state;
	struct pst_file_info drive, memory;
	char path[64];
	int fd;

	if (!mkdtemp(shared))
		skip();
	assert_int_equal(mkdir(path_of(f, "one"), 0755), 0);
	assert_int_equal(symlink("one", path_of(f, "way")), 0);
	fd = open(path_of(f, "way/file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	describe(f, "way/file", &drive);
	assert_int_equal(unlink(path_of(f, "way/file")), 0);

	assert_int_equal(unlink(path_of(f, "way")), 0);
	assert_int_equal(symlink(shared, path_of(f, "way")), 0);
	fd = open(path_of(f, "way/file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "xy", 2), 2);
	close(fd);
	describe(f, "way/file", &memory);
	snprintf(path, sizeof(path), "%s/file", shared);
	unlink(path);
	rmdir(shared);

	assert_int_equal(memory.file_bytes, 2);
	if (drive.memory_backed)
		skip();
	assert_true(memory.memory_backed);
	assert_string_not_equal(memory.fs_type, drive.fs_type);
	assert_string_not_equal(memory.mount_point, drive.mount_point);
	assert_string_equal(memory.block_name, "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(other_kinds_are_refused_by_name), CASE(appending_is_refused),
		CASE(a_descriptor_stays_its_owners),   CASE(bad_descriptors_are_errors),
		CASE(reading_opens_read_only),         CASE(facts_are_those_of_the_open_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

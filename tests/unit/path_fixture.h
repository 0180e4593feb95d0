/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of whole requests share: a context, the emulated GPU, a file on a drive. */
#ifndef PST_TEST_PATH_FIXTURE_H
#define PST_TEST_PATH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "penstock.h"
#include "scratch.h"

/* A test that hangs ends here. */
#define FIXTURE_LIMIT_S 120

struct path_fixture {
	struct pst_context *ctx;
	struct pst_device *device; /* emulated */
	struct pst_error err;
	char path[256];
};

static inline const char *fixture_directory(void)
{
	const char *directory = getenv("TEST_DIRECTORY");

	return directory ? directory : "/var/tmp";
}

static inline int fixture_set_up(void **state)
{
	struct path_fixture *f = calloc(1, sizeof(*f));
	int fd;

	alarm(FIXTURE_LIMIT_S);
	snprintf(f->path, sizeof(f->path), "%s/penstock-path-XXXXXX", fixture_directory());
	fd = mkostemp(f->path, O_CLOEXEC);
	if (fd < 0 || pst_open(&f->ctx, NULL, &f->err) < 0 ||
	    pst_device_open(f->ctx, "host", &f->device, &f->err) < 0) {
		print_error("%s\n", f->err.message);
		return -1;
	}
	close(fd);
	*state = f;
	return 0;
}

static inline int fixture_tear_down(void **state)
{
	struct path_fixture *f = *state;

	pst_close(f->ctx);
	unlink(f->path);
	free(f);
	alarm(0);
	return 0;
}

static inline struct pst_file *fixture_open(struct path_fixture *f, int flags,
					    enum pst_file_mode mode)
{
	const struct pst_file_options options = {
		.size_bytes = sizeof(options), .open_flags = flags, .mode = mode};
	struct pst_file *file;

	if (pst_file_open(f->ctx, f->path, &options, &file, &f->err) < 0)
		fail_msg("%s", f->err.message);
	return file;
}

/* Memory of a kind, filled with one byte; it is freed with the context. */
static inline uint8_t *fixture_memory(struct path_fixture *f, enum pst_memory_kind kind,
				      size_t bytes, int value)
{
	uint8_t *plain = malloc(bytes);
	void *memory;

	memset(plain, value, bytes);
	if (pst_memory_alloc(f->ctx, f->device, kind, bytes, &memory, &f->err) < 0 ||
	    pst_memory_copy(f->ctx, memory, plain, bytes, &f->err) < 0)
		fail_msg("%s", f->err.message);
	free(plain);
	return memory;
}

/* All bytes of host memory have this value. */
static inline bool fixture_all(const uint8_t *memory, size_t bytes, int value)
{
	return bytes == 0 || (memory[0] == value && memcmp(memory, memory + 1, bytes - 1) == 0);
}

/* Every byte of [offset, offset + bytes) of the file has this value. */
static inline void fixture_expect(struct path_fixture *f, off_t offset, size_t bytes, int value)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	uint8_t *seen = malloc(bytes);

	assert_int_equal(pread(fd, seen, bytes, offset), bytes);
	for (size_t i = 0; !fixture_all(seen, bytes, value) && i < bytes; i++) {
		if (seen[i] != value)
			fail_msg("byte %lld is %d, not %d", (long long)offset + (long long)i,
				 seen[i], value);
	}
	free(seen);
	close(fd);
}

#endif

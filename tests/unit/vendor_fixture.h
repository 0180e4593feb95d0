/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the vendor's library share: a file with known content and the fake. */
#ifndef PST_TEST_VENDOR_FIXTURE_H
#define PST_TEST_VENDOR_FIXTURE_H

#include "os/os.h"
#include "path/vendor.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_BYTES (3 * 1024 * 1024 + 5)

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

#endif

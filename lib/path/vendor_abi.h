/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the cuFile interface that is used, declared from its documented layouts, and what
 * vendor*.c share. For vendor*.c and their tests only.
 */
#ifndef PST_PATH_VENDOR_ABI_H
#define PST_PATH_VENDOR_ABI_H

#include "path/vendor.h"

#include <assert.h>
#include <stdatomic.h>

/* What status-returning functions give: by value, 8 bytes. */
struct vendor_result {
	int number;      /* 0 or 5001 and up */
	int cuda_status; /* of the driver call that failed, when number is 5011 */
};

enum {
	VENDOR_HANDLE_FD = 1,    /* the file is given by descriptor */
	VENDOR_ALLOW_COMPAT = 1, /* a parameter of set_bool */
};

struct vendor_description {
	int kind;
	union {
		int fd;
		void *opaque;
	} file;
	const void *file_system_calls; /* NULL: the kernel's */
};

static_assert(sizeof(struct vendor_result) == 8, "cuFile status is two ints");
static_assert(sizeof(struct vendor_description) == 24, "cuFile descriptor is 24 bytes");

struct vendor_calls {
	struct vendor_result (*handle_register)(void **handle, struct vendor_description *what);
	void (*handle_deregister)(void *handle);
	struct vendor_result (*buffer_register)(const void *base, size_t bytes, int flags);
	struct vendor_result (*buffer_deregister)(const void *base);
	ssize_t (*read)(void *handle, void *base, size_t bytes, off_t file_offset,
			off_t buffer_offset);
	ssize_t (*write)(void *handle, const void *base, size_t bytes, off_t file_offset,
			 off_t buffer_offset);
	struct vendor_result (*get_version)(int *version);           /* NULL in old libraries */
	struct vendor_result (*set_bool)(int parameter, bool value); /* NULL before 1.14 */
};

struct vendor {
	void *library; /* of dlopen */
	char *path;
	int version;
	struct vendor_calls calls;
	atomic_uint files_open;
	atomic_bool used; /* the driver may be open: the library must stay mapped */
	bool shared;      /* the application had loaded it before */
	bool compat_off;  /* the library was told, and agreed, to refuse what it cannot do by DMA */
};

/*
 * What a failing read or write meant. Libraries in the field say it in three ways: -1 with errno
 * (an errno value or a cuFile number), -errno, or -(cuFile number).
 */
struct vendor_failure {
	int number;    /* cuFile number, 0 if it is none */
	int sys_errno; /* errno value, 0 if it is none */
};

/* result < 0; errno_after: errno as the call left it, set to 0 before the call. Both fields are 0
 * when the library gave no cause that can be understood. */
struct vendor_failure vendor_decode(ssize_t result, int errno_after);

/* The code of penstock.h for a cuFile number: the same one where it means the same. */
int vendor_code(int number);

/* The constant's name without its common beginning, in lower case words: 5027 gives
 * "handle not registered". Never NULL. */
const char *vendor_number_text(int number);

/* Why the library refused a file and what to do about it: fills err and returns the code. */
int vendor_refusal(const struct vendor *v, int fd, const char *path, struct vendor_result result,
		   struct pst_error *err);

/* vendor_open with a list of its own instead of the usual places: glob patterns, ended by NULL. */
int vendor_open_listed(const char *const *patterns, struct vendor **out, struct pst_error *err);

#endif

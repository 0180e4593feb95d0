/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor's cuFile library, as one way for requests to GPU memory. It is opened by full path
 * into a scope of its own, so that its symbols meet neither the application's nor those of our
 * drop-in of the same name, which is never taken for it.
 *
 * The vendor's driver opens itself with the first file or buffer (0.4 to 1.4 s). We never close
 * it: the application may use the same library, and its state is one for the process. Nothing
 * here runs at process exit. After fork() a child must make no call of this header.
 *
 * It makes driver calls in the calling thread. A caller that holds a device scope (device.h) while
 * it calls keeps the application's stream captures safe and gives it the right context.
 *
 * All calls are thread safe, save that closing an object needs all its users gone.
 */
#ifndef PST_PATH_VENDOR_H
#define PST_PATH_VENDOR_H

#include "penstock.h"

struct vendor;      /* a loaded library */
struct vendor_file; /* a file registered with it */

/*
 * Loads the library. path NULL: the file that PENSTOCK_VENDOR_CUFILE names (ignored in set-user-id
 * programs), else the first in the usual places that loads and is not our own. A path that is
 * given must be absolute and is the only one tried. Costs no GPU context and opens no driver.
 * Errors: PST_E_VENDOR_LIBRARY (none found, cannot be loaded, a function is missing, is
 * penstock's own), PST_E_INVALID_VALUE (not an absolute path), -ENOMEM.
 */
int vendor_open(const char *path, struct vendor **out, struct pst_error *err);

/* Frees. All files must be closed and buffers unregistered. NULL is allowed. The library itself
 * stays mapped once it was used, since it may have threads of its own. */
void vendor_close(struct vendor *v);

/* The path it was loaded by. */
const char *vendor_path(const struct vendor *v);

/* 1000 * major + 10 * minor, for example 1150 for 1.15. Libraries that cannot tell: 1070. */
int vendor_version(const struct vendor *v);

/*
 * Whether nvidia-fs is loaded, asked anew each time (one or two small files of /proc are read).
 * true: a file that the library accepts with compatibility mode forbidden goes by DMA. false: the
 * library can serve files in compatibility mode only, through host memory. PCI P2PDMA without
 * nvidia-fs is not detected: false.
 */
bool vendor_kernel_support(void);

/*
 * Makes the library refuse files that it cannot serve by DMA, where it lets itself be told: before
 * its driver is open, in a library that nobody else in the process uses, from version 1.14.
 * Whether it agreed.
 */
bool vendor_forbid_compat(struct vendor *v);

/* Whether every file that the library accepts goes by DMA: there is kernel support, and
 * compatibility mode, to which it would change without a word, is forbidden. Reads /proc. */
bool vendor_is_direct(const struct vendor *v);

/*
 * Registers a file. fd stays the caller's and must stay open until vendor_file_close; one
 * registration for each descriptor number. path is for messages only. A refusal gives a sentence
 * that says what the library needs. Errors: PST_E_IO_NOT_SUPPORTED, PST_E_FILE_TYPE,
 * PST_E_FILE_FLAGS, PST_E_DRIVER_NOT_INITIALIZED, PST_E_DEVICE_DRIVER (device_status),
 * PST_E_VENDOR_LIBRARY for all other numbers, -ENOMEM.
 */
int vendor_file_open(struct vendor *v, int fd, const char *path, struct vendor_file **out,
		     struct pst_error *err);

/* NULL is allowed. */
void vendor_file_close(struct vendor_file *file);

/* Pins GPU memory for the library. [base, base + bytes) lies within one allocation. */
int vendor_buffer_register(struct vendor *v, void *base, size_t bytes, struct pst_error *err);
int vendor_buffer_unregister(struct vendor *v, void *base, struct pst_error *err);

/*
 * Moves bytes between file_offset and base + buffer_offset; base of a registered buffer is its
 * registered base. Goes on after short results until all is moved or the file ends; returns the
 * bytes moved, or a code as pst_read does, also when part was moved before. Errors: -errno, the
 * enum pst_code of the same number, PST_E_VENDOR_LIBRARY for the others.
 */
ssize_t vendor_read(struct vendor_file *file, void *base, size_t bytes, off_t file_offset,
		    off_t buffer_offset, struct pst_error *err);
ssize_t vendor_write(struct vendor_file *file, const void *base, size_t bytes, off_t file_offset,
		     off_t buffer_offset, struct pst_error *err);

#endif

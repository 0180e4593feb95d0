/* SPDX-License-Identifier: Apache-2.0 */
/* A descriptor of our own of the file under another one. */
#ifndef PST_STORAGE_REOPEN_H
#define PST_STORAGE_REOPEN_H

/*
 * Opens the file under fd anew for reading, so that its file position and read-ahead can be
 * changed without touching those of fd. The caller closes it through os(). A descriptor, or
 * -errno (no /proc, no right to read).
 */
int sto_reopen_for_reading(int fd);

/* The same with O_DIRECT; -EINVAL where the file system refuses that. */
int sto_reopen_direct(int fd);

#endif

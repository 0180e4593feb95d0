/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C and its relatives. The first SIGINT, SIGTERM or SIGHUP asks the run to stop after the
 * operations in flight; the second leaves the process at once with exit status 130, whatever
 * hangs. SIGHUP stays ignored where it was when the process started (nohup). SIGPIPE is ignored, so
 * that a closed stdout is a write error like others.
 */
#ifndef PENSTOCK_IO_INTERRUPT_H
#define PENSTOCK_IO_INTERRUPT_H

#include <stdbool.h>

/* Installs the handlers for the whole process. */
void interrupt_install(void);

/* Whether a signal has come. Any thread; costs one load. */
bool interrupt_pending(void);

/* For tests: forgets the signals that have come. */
void interrupt_reset(void);

#endif

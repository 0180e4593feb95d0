/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a child of fork() from the process that made the context: drivers, rings and threads do
 * not live on in a child. */
#ifndef PST_CORE_FORK_H
#define PST_CORE_FORK_H

/* Number of forks between the first process and this one, counted from the first call. */
unsigned fork_generation(void);

struct pst_context;

/* Notes the context's process and keeps its locks usable in children; its locks are made. */
void fork_guard(struct pst_context *ctx);
/* Before the locks go. */
void fork_unguard(struct pst_context *ctx);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fork.h"

#include <pthread.h>

#include "core/context.h"
#include "core/range_lock.h"

/*
 * A child has only the thread that forked: a lock that another one held stays locked for ever,
 * and what it guards may be half changed. So the locks of open contexts that a child needs for
 * host memory, statistics and closing are taken before and given back after a fork.
 */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pst_context *contexts;
static unsigned generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before(void)
{
	pthread_mutex_lock(&list_lock);
	for (struct pst_context *ctx = contexts; ctx; ctx = ctx->next_open) {
		pthread_mutex_lock(&ctx->lock);
		pthread_rwlock_wrlock(&ctx->buffers.lock);
		pthread_mutex_lock(&ctx->counters.lock);
	}
}

static void in_parent(void)
{
	for (struct pst_context *ctx = contexts; ctx; ctx = ctx->next_open) {
		pthread_mutex_unlock(&ctx->counters.lock);
		pthread_rwlock_unlock(&ctx->buffers.lock);
		pthread_mutex_unlock(&ctx->lock);
	}
	pthread_mutex_unlock(&list_lock);
}

/* New locks instead of unlocking: a lock that knows its owner by thread id does not know the
 * child's only thread, and others may have been waiting. */
static void in_child(void)
{
	generation++;
	range_owners_forget();
	for (struct pst_context *ctx = contexts; ctx; ctx = ctx->next_open) {
		pthread_mutex_init(&ctx->counters.lock, NULL);
		pthread_rwlock_init(&ctx->buffers.lock, NULL);
		pthread_mutex_init(&ctx->lock, NULL);
	}
	pthread_mutex_init(&list_lock, NULL);
}

static void watch(void)
{
	pthread_atfork(before, in_parent, in_child);
}

unsigned fork_generation(void)
{
	pthread_once(&once, watch);
	return generation;
}

void fork_guard(struct pst_context *ctx)
{
	ctx->fork_generation = fork_generation();
	pthread_mutex_lock(&list_lock);
	ctx->next_open = contexts;
	contexts = ctx;
	pthread_mutex_unlock(&list_lock);
}

void fork_unguard(struct pst_context *ctx)
{
	struct pst_context **at = &contexts;

	pthread_mutex_lock(&list_lock);
	while (*at != ctx)
		at = &(*at)->next_open;
	*at = ctx->next_open;
	pthread_mutex_unlock(&list_lock);
}

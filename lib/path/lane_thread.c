/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lane a thread keeps for which context.
 *
 * Threads end and contexts are closed in any order, also at the same time: a worker that has done
 * its last request may still be on its way out when the context goes. So neither points straight
 * at the other's memory. Between them is a ticket, which belongs to the thread and is cleared by
 * whoever ends first, under one lock for all.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/fork.h"
#include "path/lane.h"

struct lane_ticket {
	struct pst_context *ctx;
	_Atomic(struct lane *) lane; /* NULL: the context is closed */
	unsigned fork_generation;    /* of the thread's process */
	struct lane_ticket *next;    /* of the thread */
};

static pthread_mutex_t tickets_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* the thread's first ticket */
static int key_error;

static void thread_ended(void *arg)
{
	struct lane_ticket *next;

	for (struct lane_ticket *ticket = arg; ticket; ticket = next) {
		next = ticket->next;
		/* In a child of fork() no lane of the parent is used again. */
		if (ticket->fork_generation == fork_generation()) {
			pthread_mutex_lock(&tickets_lock);
			struct lane *lane = atomic_load(&ticket->lane);

			if (lane) {
				lane->ticket = NULL;
				lane_pool_give_back(lane);
			}
			pthread_mutex_unlock(&tickets_lock);
		}
		free(ticket);
	}
}

/* Another thread may have held it; what it guards is lanes of the parent. */
static void free_lock_in_child(void)
{
	pthread_mutex_init(&tickets_lock, NULL);
}

static void make_key(void)
{
	pthread_atfork(NULL, NULL, free_lock_in_child);
	key_error = pthread_key_create(&key, thread_ended);
}

/* The library may be unloaded before its threads end. */
__attribute__((destructor)) static void delete_key(void)
{
	pthread_once(&once, make_key);
	if (!key_error)
		pthread_key_delete(key);
}

int lane_threads_start(void)
{
	pthread_once(&once, make_key);
	return -key_error;
}

/* Takes the tickets of closed contexts off the calling thread's list. */
static struct lane_ticket *drop_cleared(struct lane_ticket *first)
{
	struct lane_ticket **at = &first;

	while (*at) {
		struct lane_ticket *ticket = *at;

		if (atomic_load(&ticket->lane)) {
			at = &ticket->next;
			continue;
		}
		/* Who cleared it may still hold the lock, but does not look at it again. */
		*at = ticket->next;
		free(ticket);
	}
	return first;
}

static struct lane *new_ticket(struct pst_context *ctx, struct lane_ticket *first)
{
	struct lane_ticket *ticket = calloc(1, sizeof(*ticket));
	struct lane *lane = ticket ? lane_pool_take(ctx) : NULL;

	first = drop_cleared(first);
	if (lane) {
		ticket->ctx = ctx;
		ticket->fork_generation = fork_generation();
		ticket->next = first;
		atomic_store(&ticket->lane, lane);
		if (pthread_setspecific(key, ticket) == 0) {
			lane->ticket = ticket;
			return lane;
		}
		lane_pool_give_back(lane);
	}
	free(ticket);
	pthread_setspecific(key, first);
	return NULL;
}

struct lane *lane_get(struct pst_context *ctx)
{
	struct lane_ticket *first = pthread_getspecific(key);

	for (struct lane_ticket *ticket = first; ticket; ticket = ticket->next) {
		struct lane *lane = atomic_load_explicit(&ticket->lane, memory_order_acquire);

		/* Cleared tickets never match, also when a new context has the old one's address.
		 */
		if (lane && ticket->ctx == ctx)
			return lane;
	}
	return new_ticket(ctx, first);
}

static void clear_tickets(struct pst_context *ctx)
{
	for (struct lane *lane = ctx->lanes->all; lane; lane = lane->next_all) {
		if (lane->ticket)
			atomic_store(&lane->ticket->lane, NULL);
		lane->ticket = NULL;
	}
}

void lane_threads_forget(struct pst_context *ctx)
{
	pthread_mutex_lock(&tickets_lock);
	clear_tickets(ctx);
	pthread_mutex_unlock(&tickets_lock);
}

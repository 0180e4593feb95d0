/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of requests by path and reason. Each set has one writing thread at a time, so that
 * counting costs a load and a store; a reader sums the sets of a context at any time.
 */
#ifndef PST_STATS_COUNTERS_H
#define PST_STATS_COUNTERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "penstock.h"

struct counter_path {
	_Atomic uint64_t requests;
	_Atomic uint64_t bytes;
	_Atomic uint64_t errors;
};

struct counters {
	struct counter_path path[2][PST_PATH_COUNT]; /* by enum pst_op */
	_Atomic uint64_t reasons[PST_REASON_COUNT];
	_Atomic uint64_t slot_bytes;
	_Atomic uint64_t uring_requests;
	_Atomic uint64_t posix_requests;
	_Atomic uint64_t short_transfers;
	struct counters *next; /* of the registry */
};

/* All sets of a context. */
struct counter_registry {
	pthread_mutex_t lock;
	struct counters *sets;
	struct pst_stats retired; /* sums of sets that were detached */
};

void counter_registry_init(struct counter_registry *registry);
void counter_registry_destroy(struct counter_registry *registry);

/* Adds a zeroed set; it stays the caller's memory until detached. */
void counters_attach(struct counter_registry *registry, struct counters *set);
/* Keeps what the set counted, except slot_bytes, which are gone with their owner. */
void counters_detach(struct counter_registry *registry, struct counters *set);
void counters_sum(struct counter_registry *registry, struct pst_stats *out);

/* Counts one finished request without a set, under the registry's lock. */
void counters_request_once(struct counter_registry *registry, enum pst_op op, enum pst_path path,
			   uint64_t reasons, ssize_t result);

/* One more, by the only writer of the set. */
static inline void counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* Counts one finished request: result is its bytes or its error. */
void counters_request(struct counters *set, enum pst_op op, enum pst_path path, uint64_t reasons,
		      ssize_t result);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/counters.h"

#include <string.h>

void counter_registry_init(struct counter_registry *registry)
{
	memset(registry, 0, sizeof(*registry));
	pthread_mutex_init(&registry->lock, NULL);
}

void counter_registry_destroy(struct counter_registry *registry)
{
	pthread_mutex_destroy(&registry->lock);
}

void counters_attach(struct counter_registry *registry, struct counters *set)
{
	pthread_mutex_lock(&registry->lock);
	set->next = registry->sets;
	registry->sets = set;
	pthread_mutex_unlock(&registry->lock);
}

static uint64_t value(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_path(struct pst_path_counters *to, const struct counter_path *from)
{
	to->requests += value(&from->requests);
	to->bytes += value(&from->bytes);
	to->errors += value(&from->errors);
}

static void add_set(struct pst_stats *to, const struct counters *from)
{
	for (int path = 0; path < PST_PATH_COUNT; path++) {
		add_path(&to->read[path], &from->path[PST_OP_READ][path]);
		add_path(&to->write[path], &from->path[PST_OP_WRITE][path]);
	}
	for (int reason = 0; reason < PST_REASON_COUNT; reason++)
		to->reasons[reason] += value(&from->reasons[reason]);
	to->slot_bytes += value(&from->slot_bytes);
	to->uring_requests += value(&from->uring_requests);
	to->posix_requests += value(&from->posix_requests);
	to->short_transfers += value(&from->short_transfers);
}

void counters_detach(struct counter_registry *registry, struct counters *set)
{
	pthread_mutex_lock(&registry->lock);
	for (struct counters **at = &registry->sets; *at; at = &(*at)->next) {
		if (*at == set) {
			*at = set->next;
			break;
		}
	}
	atomic_store(&set->slot_bytes, 0);
	add_set(&registry->retired, set);
	pthread_mutex_unlock(&registry->lock);
}

void counters_sum(struct counter_registry *registry, struct pst_stats *out)
{
	size_t size_bytes = out->size_bytes;

	pthread_mutex_lock(&registry->lock);
	*out = registry->retired;
	for (struct counters *set = registry->sets; set; set = set->next)
		add_set(out, set);
	pthread_mutex_unlock(&registry->lock);
	out->size_bytes = size_bytes;
}

void counters_request(struct counters *set, enum pst_op op, enum pst_path path, uint64_t reasons,
		      ssize_t result)
{
	struct counter_path *counter = &set->path[op][path];

	counter_add(&counter->requests, 1);
	if (result >= 0)
		counter_add(&counter->bytes, (uint64_t)result);
	else
		counter_add(&counter->errors, 1);
	while (reasons) {
		int reason = __builtin_ctzll(reasons);

		counter_add(&set->reasons[reason], 1);
		reasons &= reasons - 1;
	}
}

void counters_request_once(struct counter_registry *registry, enum pst_op op, enum pst_path path,
			   uint64_t reasons, ssize_t result)
{
	struct counters set = {0};

	counters_request(&set, op, path, reasons, result);
	pthread_mutex_lock(&registry->lock);
	add_set(&registry->retired, &set);
	pthread_mutex_unlock(&registry->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log-linear histogram. Each power of two is cut into 128 equal buckets, so a bucket is never
 * wider than 1/128 (0.78 %) of its lowest value; values below 256 ns have a bucket each. The
 * sum is kept in 128 bits: 2^64 values of 2^64 fit, so it is exact whatever is recorded.
 */
#include "penstock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUB_BITS     7
#define SUB_BUCKETS  (1u << SUB_BITS)
#define MAX_SHIFT    (63 - SUB_BITS)
#define BUCKET_COUNT ((MAX_SHIFT + 2) * SUB_BUCKETS)

/* Percentages are compared as integers of 1e-6 percent, so that 99.9 % of 1000 is exactly 999. */
#define PERCENT_SCALE 1000000

struct pst_histogram {
	unsigned __int128 sum;
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t buckets[BUCKET_COUNT];
};

static_assert(sizeof(struct pst_histogram) <= 60 * 1024, "the header promises 60 KiB");

static unsigned index_of(uint64_t value)
{
	unsigned shift;

	if (value < 2 * SUB_BUCKETS)
		return (unsigned)value;
	shift = 63 - (unsigned)__builtin_clzll(value) - SUB_BITS;
	return shift * SUB_BUCKETS + (unsigned)(value >> shift);
}

static void bounds_of(unsigned index, uint64_t *low, uint64_t *high)
{
	unsigned shift;

	assert(index < BUCKET_COUNT);
	if (index < 2 * SUB_BUCKETS) {
		*low = index;
		*high = index;
		return;
	}
	shift = index / SUB_BUCKETS - 1;
	*low = (uint64_t)(index - shift * SUB_BUCKETS) << shift;
	*high = *low + (((uint64_t)1 << shift) - 1);
}

struct pst_histogram *pst_histogram_new(void)
{
	struct pst_histogram *h = calloc(1, sizeof(*h));

	if (h)
		h->min = UINT64_MAX;
	return h;
}

void pst_histogram_free(struct pst_histogram *h)
{
	free(h);
}

void pst_histogram_reset(struct pst_histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void pst_histogram_record(struct pst_histogram *h, uint64_t value_ns)
{
	h->buckets[index_of(value_ns)]++;
	h->count++;
	h->sum += value_ns;
	if (value_ns < h->min)
		h->min = value_ns;
	if (value_ns > h->max)
		h->max = value_ns;
}

void pst_histogram_merge(struct pst_histogram *into, const struct pst_histogram *from)
{
	for (unsigned i = 0; i < BUCKET_COUNT; i++)
		into->buckets[i] += from->buckets[i];
	into->count += from->count;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t pst_histogram_count(const struct pst_histogram *h)
{
	return h->count;
}

uint64_t pst_histogram_min(const struct pst_histogram *h)
{
	return h->count ? h->min : 0;
}

uint64_t pst_histogram_max(const struct pst_histogram *h)
{
	return h->max;
}

double pst_histogram_mean(const struct pst_histogram *h)
{
	if (!h->count)
		return NAN;
	return (double)((long double)h->sum / (long double)h->count);
}

/* The rank, from 1, of the value that a percentage means. */
static uint64_t rank_of(double percent, uint64_t count)
{
	const uint64_t whole = (uint64_t)100 * PERCENT_SCALE;
	unsigned __int128 product;
	uint64_t scaled;
	uint64_t rank;

	if (!(percent > 0))
		return 1;
	if (percent >= 100)
		return count;
	scaled = (uint64_t)llround(percent * PERCENT_SCALE);
	product = (unsigned __int128)scaled * count;
	rank = (uint64_t)((product + whole - 1) / whole);
	return rank ? rank : 1;
}

uint64_t pst_histogram_percentile(const struct pst_histogram *h, double percent)
{
	uint64_t low, high, middle;
	uint64_t seen = 0;
	uint64_t rank;

	if (!h->count)
		return 0;
	rank = rank_of(percent, h->count);
	/* The two ends are known exactly. */
	if (rank == 1)
		return h->min;
	if (rank >= h->count)
		return h->max;
	for (unsigned i = 0; i < BUCKET_COUNT; i++) {
		seen += h->buckets[i];
		if (seen < rank)
			continue;
		bounds_of(i, &low, &high);
		/* The middle halves the worst error. */
		middle = low + (high - low) / 2;
		if (middle < h->min)
			return h->min;
		return middle < h->max ? middle : h->max;
	}
	return h->max;
}

bool pst_histogram_next(const struct pst_histogram *h, uint32_t *cursor, struct pst_bucket *bucket)
{
	for (uint32_t i = *cursor; i < BUCKET_COUNT; i++) {
		if (!h->buckets[i])
			continue;
		bounds_of(i, &bucket->low_ns, &bucket->high_ns);
		bucket->count = h->buckets[i];
		*cursor = i + 1;
		return true;
	}
	*cursor = BUCKET_COUNT;
	return false;
}

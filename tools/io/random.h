/* SPDX-License-Identifier: Apache-2.0 */
/* Small random numbers for offsets and data: fast, seeded, the same on every machine. Not for
 * secrets. */
#ifndef PENSTOCK_IO_RANDOM_H
#define PENSTOCK_IO_RANDOM_H

#include <stdint.h>

/* Mixes all bits of x into all bits of the result, one to one (the finisher of SplitMix64). */
static inline uint64_t random_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* SplitMix64: the next number of a stream whose whole state is one word. */
static inline uint64_t random_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return random_mix(*state);
}

/* A key of its own for each (seed, a, b). */
static inline uint64_t random_key(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t state = seed;
	uint64_t key = random_next(&state);

	state = key ^ a;
	key = random_next(&state);
	state = key ^ b;
	return random_next(&state);
}

/* Evenly from [0, bound), bound >= 1: the high half of a 128-bit product. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)random_next(state) * bound) >> 64);
}

#endif

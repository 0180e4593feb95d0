/* SPDX-License-Identifier: Apache-2.0 */
#include "io/pattern.h"

#include <assert.h>
#include <stddef.h>

#include "io/random.h"

#define PAGE_BYTES 4096

/* Rounds of the Feistel network. Four are enough for an order without visible structure. */
#define ROUNDS 4

/* Streams of one (seed, thread): sizes and offsets, the shift of -U; passes count from 0. */
#define STREAM_DRAW  UINT64_MAX
#define STREAM_SHIFT (UINT64_MAX - 1)

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t share_bytes(const struct io_pattern *p)
{
	return p->config.end_bytes - p->config.start_bytes;
}

/* A keyed permutation of [0, 4^half_bits). */
static uint64_t permute(uint64_t value, uint64_t key, unsigned half_bits)
{
	const uint64_t mask = ((uint64_t)1 << half_bits) - 1;
	uint64_t left = value >> half_bits;
	uint64_t right = value & mask;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t mixed = random_mix(right + key + round * 0x9e3779b97f4a7c15u) & mask;
		uint64_t next = left ^ mixed;

		left = right;
		right = next;
	}
	return left << half_bits | right;
}

/* The block at a place in this pass's order. Walking the cycle until a number falls below
 * `blocks` keeps it one to one; the domain is below 4 times as large, so walks are short. */
static uint64_t block_at(const struct io_pattern *p, uint64_t place)
{
	uint64_t block = place;

	do {
		block = permute(block, p->key, p->half_bits);
	} while (block >= p->blocks);
	return block;
}

static void start_pass(struct io_pattern *p)
{
	p->key = random_key(p->config.seed, p->config.thread, p->pass);
	p->next_block = 0;
	if (p->config.random && p->config.with_replacement) {
		p->at_bytes = 0;
		p->until_bytes = share_bytes(p);
	} else if (p->config.random) {
		p->at_bytes = 0;
		p->until_bytes = 0;
	} else {
		p->at_bytes = p->config.start_bytes;
		p->until_bytes = p->config.end_bytes;
	}
}

/* Lays the grid of blocks over the share. */
static void lay_grid(struct io_pattern *p)
{
	const struct io_pattern_config *c = &p->config;
	uint64_t state = random_key(c->seed, c->thread, STREAM_SHIFT);
	uint64_t limit = min_u64(PAGE_BYTES, c->max_bytes);

	p->first_bytes = c->start_bytes;
	p->stride_bytes = c->max_bytes;
	p->head_bytes = 0;
	if (c->unaligned) {
		/* An odd place in the file: a shift of at least 1, below the block. */
		uint64_t shift = limit < 3 ? limit - 1 : 1 + random_below(&state, limit - 2);

		if (limit >= 3 && (c->start_bytes + shift) % 2 == 0)
			shift++;
		p->head_bytes = min_u64(shift, share_bytes(p));
		p->first_bytes += p->head_bytes;
	} else if (c->align_bytes) {
		p->first_bytes = round_up(c->start_bytes, c->align_bytes);
		p->stride_bytes = round_up(c->max_bytes, c->align_bytes);
	}
	p->blocks = p->head_bytes ? 1 : 0;
	if (p->first_bytes < c->end_bytes)
		p->blocks += (c->end_bytes - p->first_bytes - 1) / p->stride_bytes + 1;
	p->half_bits = 1;
	while (p->half_bits < 32 && ((uint64_t)1 << (2 * p->half_bits)) < p->blocks)
		p->half_bits++;
}

void pattern_init(struct io_pattern *pattern, const struct io_pattern_config *config)
{
	assert(config->start_bytes <= config->end_bytes);
	assert(config->min_bytes >= 1 && config->min_bytes <= config->max_bytes);

	*pattern = (struct io_pattern){.config = *config};
	if (config->unaligned)
		pattern->config.random = true;
	pattern->rng = random_key(config->seed, config->thread, STREAM_DRAW);
	lay_grid(pattern);
	start_pass(pattern);
}

static uint64_t draw_size(struct io_pattern *p)
{
	const struct io_pattern_config *c = &p->config;
	uint64_t step = c->step_bytes ? c->step_bytes : c->max_bytes - c->min_bytes;

	if (c->min_bytes == c->max_bytes)
		return c->max_bytes;
	return c->min_bytes +
	       random_below(&p->rng, (c->max_bytes - c->min_bytes) / step + 1) * step;
}

/* An offset for `bytes` anywhere in the share. */
static uint64_t draw_offset(struct io_pattern *p, uint64_t bytes)
{
	const struct io_pattern_config *c = &p->config;
	uint64_t align = c->align_bytes ? c->align_bytes : PAGE_BYTES;
	uint64_t last = c->end_bytes - bytes;
	uint64_t first = round_up(c->start_bytes, align);
	uint64_t offset;

	if (c->unaligned) {
		offset = c->start_bytes + random_below(&p->rng, last - c->start_bytes + 1);
		if (offset % PAGE_BYTES)
			return offset;
		return offset < last ? offset + 1 : offset - (offset > c->start_bytes);
	}
	/* A share with no aligned place for this size has its start alone. */
	if (first > last)
		return c->start_bytes;
	return first + random_below(&p->rng, (last - first) / align + 1) * align;
}

static bool next_replaced(struct io_pattern *p, struct io_piece *piece)
{
	if (p->at_bytes >= p->until_bytes)
		return false;
	piece->bytes = min_u64(draw_size(p), p->until_bytes - p->at_bytes);
	piece->offset_bytes = draw_offset(p, piece->bytes);
	p->at_bytes += piece->bytes;
	return true;
}

/* Takes the next block of a random pass in hand. */
static bool next_block(struct io_pattern *p)
{
	uint64_t block;

	if (p->next_block >= p->blocks)
		return false;
	block = block_at(p, p->next_block++);
	if (p->head_bytes && block == 0) {
		p->at_bytes = p->config.start_bytes;
		p->until_bytes = p->config.start_bytes + p->head_bytes;
		return true;
	}
	if (p->head_bytes)
		block--;
	p->at_bytes = p->first_bytes + block * p->stride_bytes;
	p->until_bytes = min_u64(p->config.end_bytes - p->at_bytes, p->config.max_bytes);
	p->until_bytes += p->at_bytes;
	return true;
}

static bool next_in_pass(struct io_pattern *p, struct io_piece *piece)
{
	if (p->config.random && p->config.with_replacement)
		return next_replaced(p, piece);
	if (p->at_bytes >= p->until_bytes && !(p->config.random && next_block(p)))
		return false;
	piece->offset_bytes = p->at_bytes;
	piece->bytes = min_u64(draw_size(p), p->until_bytes - p->at_bytes);
	p->at_bytes += piece->bytes;
	return true;
}

bool pattern_next(struct io_pattern *pattern, struct io_piece *piece)
{
	if (next_in_pass(pattern, piece))
		return true;
	if (!pattern->config.wrap || !pattern_pass_bytes(pattern))
		return false;
	pattern->pass++;
	start_pass(pattern);
	return next_in_pass(pattern, piece);
}

uint64_t pattern_pass_bytes(const struct io_pattern *p)
{
	uint64_t last_bytes;

	if (!p->config.random || p->config.with_replacement || p->config.unaligned ||
	    !p->config.align_bytes)
		return share_bytes(p);
	if (!p->blocks)
		return 0;
	last_bytes = p->config.end_bytes - p->first_bytes - (p->blocks - 1) * p->stride_bytes;
	return (p->blocks - 1) * p->config.max_bytes + min_u64(last_bytes, p->config.max_bytes);
}

uint64_t pattern_pass_ops(const struct io_pattern *p)
{
	if (p->config.min_bytes != p->config.max_bytes || !share_bytes(p))
		return 0;
	if (p->config.random && !p->config.with_replacement)
		return p->blocks;
	return (share_bytes(p) - 1) / p->config.max_bytes + 1;
}

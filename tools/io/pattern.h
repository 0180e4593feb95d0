/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes a thread moves, in which order. A pattern walks one share, [start, end) of a file,
 * and hands out pieces (offset and size). It depends on seed and thread alone, so a run with the
 * same seed and number of threads asks for the same pieces. Its memory is constant.
 *
 * Sequential. Pieces follow each other from start to end. With a size range the size of each
 * piece is drawn from min, min + step, ... up to max. The last piece of a pass is cut at the end,
 * so tails and odd sizes are moved. Every byte is moved once per pass.
 *
 * Random. The share is cut into blocks of the largest I/O size, the last one shorter, and each
 * pass visits every block once, in an order of its own. With a size range a visited block is
 * moved from front to back by pieces of drawn sizes, the last one cut at the end of the block.
 * Offsets are start plus whole blocks: with the usual sizes they are multiples of 4 KiB.
 *   -a ALIGN puts every block on a multiple of ALIGN in the file. Where ALIGN does not divide
 *   the I/O size, the bytes between the end of a block and the next multiple are not visited;
 *   those before the first multiple are not visited either.
 *   -U shifts the blocks by an odd number of bytes below 4 KiB, taken from the seed, so that no
 *   block starts at a multiple of 4 KiB (odd I/O sizes meet one now and then). The bytes in
 *   front of the first block are a short block of their own: every byte is moved once per pass.
 *
 * Random with replacement. Offsets are drawn anew for each piece, from the multiples of ALIGN
 * (4 KiB when not given) at which the piece fits; with -U from all offsets that are not multiples
 * of 4 KiB. Blocks may repeat and others stay out: 1 - 1/e (63 %) of the blocks are seen in one
 * pass on average. A pass ends when as many bytes as the share has were handed out.
 *
 * Not thread safe: one pattern belongs to one thread.
 */
#ifndef PENSTOCK_IO_PATTERN_H
#define PENSTOCK_IO_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

struct io_pattern_config {
	uint64_t start_bytes, end_bytes; /* the share; an empty one has no pieces */
	uint64_t min_bytes, max_bytes;   /* I/O size, at least 1; equal for one size */
	uint64_t step_bytes;             /* of a range; 0: only min and max are drawn */
	uint64_t align_bytes;            /* -a; 0: not given */
	bool random;
	bool unaligned; /* -U, implies random */
	bool with_replacement;
	bool wrap; /* begin another pass at the end of one */
	uint64_t seed;
	unsigned thread;
};

struct io_piece {
	uint64_t offset_bytes;
	uint64_t bytes;
};

struct io_pattern {
	struct io_pattern_config config;
	uint64_t first_bytes;  /* offset of block 0 of the grid */
	uint64_t stride_bytes; /* between blocks */
	uint64_t head_bytes;   /* -U: length of the short block before block 0 */
	uint64_t blocks;       /* of a pass, the head included */
	uint64_t pass;         /* passes completed */
	uint64_t next_block;   /* random: place in the order; */
	uint64_t at_bytes; /* next byte of the piece in hand; with replacement: bytes handed out */
	uint64_t until_bytes; /* end of the block in hand */
	uint64_t key;         /* of the order of this pass */
	unsigned half_bits;   /* of the permutation */
	uint64_t rng;
};

void pattern_init(struct io_pattern *pattern, const struct io_pattern_config *config);

/* The next piece; false when the pass is over and the pattern does not wrap, or when the share
 * has nothing to move. */
bool pattern_next(struct io_pattern *pattern, struct io_piece *piece);

/* Bytes that one pass moves: less than the share only where -a leaves gaps. */
uint64_t pattern_pass_bytes(const struct io_pattern *pattern);

/* Pieces of one pass; 0 with a size range, where the number is not known before. */
uint64_t pattern_pass_ops(const struct io_pattern *pattern);

#endif

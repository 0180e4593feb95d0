/* SPDX-License-Identifier: Apache-2.0 */
#include "io/fill.h"

#include <assert.h>
#include <string.h>

#include "io/random.h"

#define BLOCK_BYTES 4096
#define STAMP_BYTES 16

/* Keeps the data of different ops apart from the keys of the patterns. */
#define STREAM_DATA 0x64617461u

enum io_content fill_content(const struct io_job *job)
{
	if (!io_job_writes(job))
		return IO_CONTENT_NONE;
	if (job->refill)
		return IO_CONTENT_REFILLED;
	return fill_on_device(job) ? IO_CONTENT_REPEATED : IO_CONTENT_UNIQUE;
}

const char *fill_content_name(enum io_content content)
{
	switch (content) {
	case IO_CONTENT_UNIQUE:
		return "unique";
	case IO_CONTENT_REPEATED:
		return "repeated";
	case IO_CONTENT_REFILLED:
		return "refilled";
	case IO_CONTENT_NONE:
		break;
	}
	return NULL;
}

bool fill_on_device(const struct io_job *job)
{
	return job->xfer != IO_XFER_CPU_ONLY &&
	       (job->memory == PST_MEMORY_DEVICE || job->memory == PST_MEMORY_DEVICE_VMM);
}

static uint64_t key_of(uint64_t seed, unsigned thread, uint64_t op)
{
	return random_key(seed ^ STREAM_DATA, thread, op);
}

/* Writes the stream of `state` from its current place. */
static void fill_stream(unsigned char *memory, size_t bytes, uint64_t *state)
{
	size_t words = bytes / sizeof(uint64_t);
	uint64_t word;

	for (size_t i = 0; i < words; i++) {
		word = random_next(state);
		memcpy(memory + i * sizeof(word), &word, sizeof(word));
	}
	if (bytes % sizeof(word)) {
		word = random_next(state);
		memcpy(memory + words * sizeof(word), &word, bytes % sizeof(word));
	}
}

void fill_random(void *memory, size_t bytes, uint64_t seed, unsigned thread, uint64_t op)
{
	uint64_t state = key_of(seed, thread, op);

	fill_stream(memory, bytes, &state);
}

void fill_stamp(void *memory, size_t bytes, uint64_t seed, unsigned thread, uint64_t op)
{
	uint64_t state = key_of(~seed, thread, op);
	unsigned char *at = memory;

	for (size_t i = 0; i < bytes; i += BLOCK_BYTES)
		fill_stream(at + i, bytes - i < STAMP_BYTES ? bytes - i : STAMP_BYTES, &state);
}

int fill_random_device(struct pst_context *ctx, void *memory, size_t bytes, void *block,
		       size_t block_bytes, uint64_t seed, unsigned thread, uint64_t op,
		       struct pst_error *err)
{
	uint64_t state = key_of(seed, thread, op);
	unsigned char *at = memory;

	/* Whole words in each block, so that the bytes do not depend on its size. */
	assert(block_bytes > 0 && block_bytes % sizeof(uint64_t) == 0);
	for (size_t done = 0; done < bytes;) {
		size_t now = bytes - done < block_bytes ? bytes - done : block_bytes;
		int code;

		fill_stream(block, now, &state);
		code = pst_memory_copy(ctx, at + done, block, now, err);
		if (code < 0)
			return code;
		done += now;
	}
	return 0;
}

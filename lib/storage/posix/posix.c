/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of plain calls: submit does the whole operation, reap hands it out in that order. */
#include "storage/storage.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct sto_engine {
	unsigned depth;
	unsigned finished;
	struct sto_io *first;
	struct sto_io **last; /* the link that the next operation goes into */
};

static int posix_open(unsigned depth, struct sto_engine **out, enum pst_reason *reason)
{
	(void)reason;
	assert(depth > 0 && depth <= STO_MAX_DEPTH);
	struct sto_engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return -ENOMEM;
	engine->depth = depth;
	engine->last = &engine->first;
	*out = engine;
	return 0;
}

static void posix_close(struct sto_engine *engine)
{
	assert(!engine || !engine->first);
	free(engine);
}

static int posix_add_buffer(struct sto_engine *engine, void *memory, size_t bytes,
			    enum pst_reason *reason)
{
	(void)engine, (void)memory, (void)bytes, (void)reason;
	return -EOPNOTSUPP;
}

static void posix_remove_buffer(struct sto_engine *engine, int index)
{
	(void)engine, (void)index;
}

static void posix_forget_file(struct sto_engine *engine, uint64_t file_id)
{
	(void)engine, (void)file_id;
}

static int posix_submit(struct sto_engine *engine, struct sto_io *io)
{
	assert(io->bytes <= STO_MAX_BYTES && io->file_id != 0);
	if (engine->finished == engine->depth)
		return -EBUSY;
	io->result = sto_transfer(io->write, io->fd, io->memory, io->bytes, io->offset);
	io->next = NULL;
	*engine->last = io;
	engine->last = &io->next;
	engine->finished++;
	return 0;
}

static int posix_flush(struct sto_engine *engine)
{
	(void)engine;
	return 0;
}

static struct sto_io *posix_reap(struct sto_engine *engine, bool wait)
{
	struct sto_io *io = engine->first;

	(void)wait; /* what was submitted is finished */
	if (!io)
		return NULL;
	engine->first = io->next;
	if (!engine->first)
		engine->last = &engine->first;
	engine->finished--;
	io->next = NULL;
	return io;
}

const struct sto_ops sto_posix_ops = {
	.name = "posix",
	.open = posix_open,
	.close = posix_close,
	.add_buffer = posix_add_buffer,
	.remove_buffer = posix_remove_buffer,
	.forget_file = posix_forget_file,
	.submit = posix_submit,
	.flush = posix_flush,
	.reap = posix_reap,
};

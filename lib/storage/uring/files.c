/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered files: the kernel then need not look the descriptor up for each operation. Slots
 * are keyed by file_id, since descriptor numbers are used again; the least recently used slot
 * without an operation in flight gives way.
 */
#include "storage/uring/engine.h"

#include <assert.h>

void uring_files_open(struct sto_engine *engine)
{
	int none[URING_FILES];

	for (unsigned i = 0; i < URING_FILES; i++)
		none[i] = -1;
	/* A table of holes can be given since Linux 5.5, long before the flag for sparse tables. */
	engine->files.usable = io_uring_register_files(&engine->ring, none, URING_FILES) == 0;
}

static int set_slot(struct sto_engine *engine, unsigned slot, int fd)
{
	int rc = io_uring_register_files_update(&engine->ring, slot, &fd, 1);

	return rc < 0 ? rc : 0;
}

static void clear(struct sto_engine *engine, struct uring_file *file)
{
	if (file->registered)
		set_slot(engine, (unsigned)(file - engine->files.slot), -1);
	*file = (struct uring_file){0};
}

static struct uring_file *find(struct uring_files *files, uint64_t file_id)
{
	if (files->slot[files->last].file_id == file_id)
		return &files->slot[files->last];
	for (unsigned i = 0; i < URING_FILES; i++) {
		if (files->slot[i].file_id == file_id) {
			files->last = i;
			return &files->slot[i];
		}
	}
	return NULL;
}

/* A free slot, else the least recently used one; NULL when all have operations in flight. */
static struct uring_file *find_victim(struct uring_files *files)
{
	struct uring_file *victim = NULL;

	for (unsigned i = 0; i < URING_FILES; i++) {
		struct uring_file *file = &files->slot[i];

		if (file->in_flight > 0)
			continue;
		if (!victim || file->last_use < victim->last_use)
			victim = file; /* a free slot was never used */
	}
	return victim;
}

int uring_files_take(struct sto_engine *engine, int fd, uint64_t file_id)
{
	struct uring_files *files = &engine->files;

	if (!files->usable)
		return URING_NO_SLOT;
	struct uring_file *file = find(files, file_id);
	if (!file) {
		file = find_victim(files);
		if (!file)
			return URING_NO_SLOT;
		clear(engine, file);
		file->file_id = file_id;
	}
	file->last_use = ++files->clock;
	if (!file->registered) {
		if (++file->uses < URING_FILE_USES)
			return URING_NO_SLOT;
		if (set_slot(engine, (unsigned)(file - files->slot), fd) < 0) {
			file->uses = 0; /* tried again after as many uses */
			return URING_NO_SLOT;
		}
		file->registered = true;
	}
	file->in_flight++;
	return (int)(file - files->slot);
}

void uring_files_release(struct sto_engine *engine, int slot)
{
	if (slot == URING_NO_SLOT)
		return;
	assert(engine->files.slot[slot].in_flight > 0);
	engine->files.slot[slot].in_flight--;
}

void uring_files_forget(struct sto_engine *engine, uint64_t file_id)
{
	struct uring_file *file = file_id ? find(&engine->files, file_id) : NULL;

	if (!file)
		return;
	assert(file->in_flight == 0);
	clear(engine, file);
}

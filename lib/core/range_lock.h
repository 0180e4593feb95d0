/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte ranges of a file that one writer at a time may change.
 *
 * A write that reads a block, changes a part of it and writes it back would lose what another
 * thread wrote in between. It therefore takes an exclusive hold of the blocks; writes of whole
 * blocks take a shared hold, so that they run side by side but never inside such a change.
 *
 * Who waits for whom. Holds of one file form a queue in order of arrival. A hold is granted as
 * soon as nothing before it in the queue, granted or waiting, conflicts with it. So a waiting
 * exclusive hold keeps later shared ones back and nobody starves.
 *
 * No deadlock. Because a hold may wait for one that is itself waiting, taking ranges in ascending
 * order is not enough. The rule is: a thread that calls range_lock holds nothing. A thread that
 * holds ranges (several requests in flight) takes more with range_try_lock only, and puts the
 * request off when that says no. A lock of range_lock_file is taken last and given up first.
 *
 * Requests in flight that nobody drives. The requests of a batch move only while a thread is in a
 * call of it; one that waits for their range could wait for ever, and for itself when the batch
 * is its own. Such holds name a driver, and who waits for one drives it to the end of its holds.
 */
#ifndef PST_CORE_RANGE_LOCK_H
#define PST_CORE_RANGE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* How to bring the holds of requests in flight to their end, from any thread. */
struct range_driver {
	/* Begins, without waiting; false when a thread is driving already. Called with the queue's
	 * lock held, while a hold of the driver is in the queue: then the driver is alive. */
	bool (*begin)(struct range_driver *driver);
	/* After a begin that said true: ends the driver's holds, takes none, and lets go. */
	void (*drive)(struct range_driver *driver);
};

/* The queue of one file, shared by all that have the same device and inode open. */
struct range_owner;

/* A hold, in memory of the caller, which must stay where it is until range_unlock. Contents are
 * private to range_lock.c. */
struct range_hold {
	uint64_t start;
	uint64_t end;
	bool exclusive;
	bool granted;
	struct range_driver *driver; /* NULL: its thread is in the call and goes on by itself */
	struct range_hold *earlier;
	struct range_hold *later;
};

/*
 * The queue of a file by st_dev and st_ino, counted: each get needs one put. NULL when there is
 * no memory. Thread safe.
 */
struct range_owner *range_owner_get(uint64_t device, uint64_t inode);

/* Gives up one count; the last frees. Nothing of it may be held by this user. NULL is allowed. */
void range_owner_put(struct range_owner *owner);

/*
 * Waits until [start, end) can be held. start < end; UINT64_MAX as end is "to the end of the
 * file and beyond". The calling thread must hold nothing (see above). Thread safe.
 */
void range_lock(struct range_owner *owner, uint64_t start, uint64_t end, bool exclusive,
		struct range_hold *hold);

/* The same without waiting: false when something before it conflicts, and nothing is held then. */
bool range_try_lock(struct range_owner *owner, uint64_t start, uint64_t end, bool exclusive,
		    struct range_hold *hold);

/*
 * A shared hold of a request in flight. driver: who ends it when its thread has left the call;
 * NULL: the thread does not leave before. wait: as range_lock, else as range_try_lock.
 */
bool range_share(struct range_owner *owner, uint64_t start, uint64_t end,
		 struct range_driver *driver, bool wait, struct range_hold *hold);

/* Ends a hold, from any thread. */
void range_unlock(struct range_owner *owner, struct range_hold *hold);

/*
 * Locks [start, end) of the file against other processes that do the same (an open file
 * description lock), and waits for it. write: exclusive, needs a descriptor open for writing;
 * else shared, needs one open for reading. Returns
 *   0		locked,
 *   RANGE_LOCK_NOT_SUPPORTED (positive)	the file system or kernel has no such locks,
 *   -errno	otherwise.
 *
 * The kernel finds no deadlocks among these locks: a process that holds one takes others of the
 * same file in ascending order only. They belong to the open file description, so threads that
 * use one descriptor do not keep each other out, and an unlock takes away whatever the
 * description holds of the range. A caller that shares the descriptor must therefore have an
 * exclusive range_hold of the same range or larger while it has this lock.
 */
int range_lock_file(int fd, uint64_t start, uint64_t end, bool write);

/* Gives back [start, end). 0, RANGE_LOCK_NOT_SUPPORTED or -errno. */
int range_unlock_file(int fd, uint64_t start, uint64_t end);

#define RANGE_LOCK_NOT_SUPPORTED 1

/* In a child of fork(): what other threads of the parent held means nothing. Queues of before are
 * left alone, never freed; new ones start empty. */
void range_owners_forget(void);

#endif

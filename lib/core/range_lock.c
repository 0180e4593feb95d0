/* SPDX-License-Identifier: Apache-2.0 */
#include "core/range_lock.h"

#include "os/os.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Files open at once are spread over this many chains; each chain is as long as it must be. */
#define OWNER_CHAINS 64

/* How long to wait before looking again whether a driver of a hold in the way has come free. */
#define DRIVER_PAUSE_NS 1000000

struct range_owner {
	uint64_t device;
	uint64_t inode;
	unsigned users; /* guarded by table_lock */
	struct range_owner *next;

	pthread_mutex_t lock; /* guards what follows and all holds in the queue */
	pthread_cond_t changed;
	unsigned waiting;
	/* In order of arrival. At most one for each request in flight, so no limit of its own. */
	struct range_hold *first;
	struct range_hold *last;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct range_owner *table[OWNER_CHAINS];

static struct range_owner **chain_of(uint64_t device, uint64_t inode)
{
	uint64_t mixed = (inode ^ (device << 32 | device >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return &table[(mixed >> 32) % OWNER_CHAINS];
}

static struct range_owner *owner_new(uint64_t device, uint64_t inode)
{
	struct range_owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return NULL;
	owner->device = device;
	owner->inode = inode;
	if (pthread_mutex_init(&owner->lock, NULL)) {
		free(owner);
		return NULL;
	}
	if (pthread_cond_init(&owner->changed, NULL)) {
		pthread_mutex_destroy(&owner->lock);
		free(owner);
		return NULL;
	}
	return owner;
}

struct range_owner *range_owner_get(uint64_t device, uint64_t inode)
{
	struct range_owner **chain = chain_of(device, inode);
	struct range_owner *owner;

	pthread_mutex_lock(&table_lock);
	for (owner = *chain; owner; owner = owner->next)
		if (owner->device == device && owner->inode == inode)
			break;
	if (!owner) {
		owner = owner_new(device, inode);
		if (owner) {
			owner->next = *chain;
			*chain = owner;
		}
	}
	if (owner)
		owner->users++;
	pthread_mutex_unlock(&table_lock);
	return owner;
}

void range_owner_put(struct range_owner *owner)
{
	struct range_owner **link;
	bool last;

	if (!owner)
		return;
	pthread_mutex_lock(&table_lock);
	assert(owner->users > 0);
	last = --owner->users == 0;
	if (last) {
		for (link = chain_of(owner->device, owner->inode); *link != owner;
		     link = &(*link)->next)
			;
		*link = owner->next;
	}
	pthread_mutex_unlock(&table_lock);
	if (!last)
		return;
	assert(!owner->first);
	pthread_cond_destroy(&owner->changed);
	pthread_mutex_destroy(&owner->lock);
	free(owner);
}

static bool conflicts(const struct range_hold *a, const struct range_hold *b)
{
	return a->start < b->end && b->start < a->end && (a->exclusive || b->exclusive);
}

/* Whether anything that arrived before `hold` keeps it from being granted. */
static bool is_blocked(const struct range_hold *hold)
{
	for (const struct range_hold *other = hold->earlier; other; other = other->earlier) {
		if (conflicts(hold, other))
			return true;
	}
	return false;
}

/* A driver that could be begun, of a hold in the way; *any says whether one is named at all. */
static struct range_driver *begin_driver(const struct range_hold *hold, bool *any)
{
	*any = false;
	for (const struct range_hold *other = hold->earlier; other; other = other->earlier) {
		if (!other->driver || !conflicts(hold, other))
			continue;
		*any = true;
		if (other->driver->begin(other->driver))
			return other->driver;
	}
	return NULL;
}

/* Under the lock: sleeps until something has changed, or drives what is in the way. */
static void wait_once(struct range_owner *owner, const struct range_hold *hold)
{
	bool driven;
	struct range_driver *driver = begin_driver(hold, &driven);
	struct timespec until;

	if (driver) {
		pthread_mutex_unlock(&owner->lock);
		driver->drive(driver);
		pthread_mutex_lock(&owner->lock);
	} else if (driven) { /* its thread may leave the call with the hold still there */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += DRIVER_PAUSE_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&owner->changed, &owner->lock, &until);
	} else {
		pthread_cond_wait(&owner->changed, &owner->lock);
	}
}

static void append(struct range_owner *owner, struct range_hold *hold)
{
	hold->later = NULL;
	hold->earlier = owner->last;
	if (owner->last)
		owner->last->later = hold;
	else
		owner->first = hold;
	owner->last = hold;
}

static void detach(struct range_owner *owner, struct range_hold *hold)
{
	if (hold->earlier)
		hold->earlier->later = hold->later;
	else
		owner->first = hold->later;
	if (hold->later)
		hold->later->earlier = hold->earlier;
	else
		owner->last = hold->earlier;
	hold->earlier = NULL;
	hold->later = NULL;
	hold->granted = false;
}

static bool take(struct range_owner *owner, struct range_hold *hold, bool wait)
{
	assert(owner && hold && hold->start < hold->end);
	hold->granted = false;
	pthread_mutex_lock(&owner->lock);
	append(owner, hold);
	if (wait) {
		owner->waiting++;
		while (is_blocked(hold))
			wait_once(owner, hold);
		owner->waiting--;
		hold->granted = true;
	} else if (is_blocked(hold)) {
		/* Nobody can have seen it in the queue: the lock was ours all the time. */
		detach(owner, hold);
	} else {
		hold->granted = true;
	}
	wait = hold->granted;
	pthread_mutex_unlock(&owner->lock);
	return wait;
}

void range_lock(struct range_owner *owner, uint64_t start, uint64_t end, bool exclusive,
		struct range_hold *hold)
{
	*hold = (struct range_hold){.start = start, .end = end, .exclusive = exclusive};
	take(owner, hold, true);
}

bool range_try_lock(struct range_owner *owner, uint64_t start, uint64_t end, bool exclusive,
		    struct range_hold *hold)
{
	*hold = (struct range_hold){.start = start, .end = end, .exclusive = exclusive};
	return take(owner, hold, false);
}

bool range_share(struct range_owner *owner, uint64_t start, uint64_t end,
		 struct range_driver *driver, bool wait, struct range_hold *hold)
{
	*hold = (struct range_hold){.start = start, .end = end, .driver = driver};
	return take(owner, hold, wait);
}

void range_unlock(struct range_owner *owner, struct range_hold *hold)
{
	pthread_mutex_lock(&owner->lock);
	assert(hold->granted);
	detach(owner, hold);
	if (owner->waiting > 0)
		pthread_cond_broadcast(&owner->changed);
	pthread_mutex_unlock(&owner->lock);
}

static int lock_file(int fd, uint64_t start, uint64_t end, short type)
{
	/* A length of 0 means "to the end, however far it grows". l_pid must be 0. */
	struct flock range = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)start,
		.l_len = end > INT64_MAX ? 0 : (off_t)(end - start),
	};
	int ret;

	assert(start < end && start <= INT64_MAX);
	do
		ret = os()->fcntl(fd, F_OFD_SETLKW, &range);
	while (ret == -EINTR);
	if (ret == -ENOLCK || ret == -EOPNOTSUPP || ret == -EINVAL || ret == -ENOSYS)
		return RANGE_LOCK_NOT_SUPPORTED;
	return ret < 0 ? ret : 0;
}

int range_lock_file(int fd, uint64_t start, uint64_t end, bool write)
{
	return lock_file(fd, start, end, write ? F_WRLCK : F_RDLCK);
}

int range_unlock_file(int fd, uint64_t start, uint64_t end)
{
	return lock_file(fd, start, end, F_UNLCK);
}

void range_owners_forget(void)
{
	pthread_mutex_init(&table_lock, NULL);
	memset(table, 0, sizeof(table));
}

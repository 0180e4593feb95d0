/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for LD_PRELOAD that fails or delays chosen file calls of a program, so that tests can
 * play a bad drive. What to do is read once from the environment:
 *
 *	PENSTOCK_FAULT="pread:match=shard:nth=5:errno=EIO;pwrite:every=10:delay_ms=20"
 *
 * Rules are separated by ';', their parts by ':'. The first part names the call: pread, pwrite
 * or open (each with its 64-bit and *at forms). Then, each optional:
 *
 *	match=TEXT	only files whose path contains TEXT
 *	direct=1	only opens with O_DIRECT, which is all a file system without it refuses
 *	nth=N		only the N-th call that matches, counted from 1
 *	every=N		every N-th call that matches
 *	from=N		the N-th call that matches and all after it
 *	errno=NAME	fail with this errno (EIO ENOSPC EACCES ENOENT EMFILE EROFS EINTR EAGAIN
 *			EINVAL)
 *	short=N		move at most N bytes (pread, pwrite)
 *	delay_ms=N	wait before the call
 *
 * A rule that cannot be read ends the program with status 99: a fault that is silently not
 * injected would be a test that cannot fail. io_uring goes around libc: choose the plain engine.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_RULES  8
#define MAX_TEXT   512
#define STATUS_BAD 99
#define EXPORT     __attribute__((visibility("default")))

enum call {
	CALL_PREAD,
	CALL_PWRITE,
	CALL_OPEN,
};

struct rule {
	enum call call;
	char match[128];
	bool direct_only;
	uint64_t nth, every, from;
	uint64_t short_bytes;
	bool is_short;
	int error;
	uint64_t delay_ms;
	atomic_uint_fast64_t seen;
};

static struct rule rules[MAX_RULES];
static unsigned rule_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *name;
	int value;
} errors[] = {
	{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EACCES", EACCES},
	{"ENOENT", ENOENT}, {"EMFILE", EMFILE}, {"EROFS", EROFS},
	{"EINTR", EINTR},   {"EAGAIN", EAGAIN}, {"EINVAL", EINVAL},
};

static void refuse(const char *what)
{
	fprintf(stderr, "PENSTOCK_FAULT: cannot read '%s'\n", what);
	_exit(STATUS_BAD);
}

static uint64_t number(const char *text)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		refuse(text);
	return value;
}

static int error_number(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strcmp(name, errors[i].name) == 0)
			return errors[i].value;
	}
	refuse(name);
	return 0;
}

static enum call call_number(const char *name)
{
	if (strcmp(name, "pread") == 0)
		return CALL_PREAD;
	if (strcmp(name, "pwrite") == 0)
		return CALL_PWRITE;
	if (strcmp(name, "open") != 0)
		refuse(name);
	return CALL_OPEN;
}

static void read_part(struct rule *rule, const char *part)
{
	const char *value = strchr(part, '=');
	size_t key_chars = value ? (size_t)(value - part) : 0;

	if (!value)
		refuse(part);
	value++;
	if (strncmp(part, "match", key_chars) == 0)
		snprintf(rule->match, sizeof(rule->match), "%s", value);
	else if (strncmp(part, "direct", key_chars) == 0)
		rule->direct_only = number(value) != 0;
	else if (strncmp(part, "nth", key_chars) == 0)
		rule->nth = number(value);
	else if (strncmp(part, "every", key_chars) == 0)
		rule->every = number(value);
	else if (strncmp(part, "from", key_chars) == 0)
		rule->from = number(value);
	else if (strncmp(part, "errno", key_chars) == 0)
		rule->error = error_number(value);
	else if (strncmp(part, "delay_ms", key_chars) == 0)
		rule->delay_ms = number(value);
	else if (strncmp(part, "short", key_chars) == 0) {
		rule->short_bytes = number(value);
		rule->is_short = true;
	} else {
		refuse(part);
	}
}

static void read_rules(void)
{
	const char *text = getenv("PENSTOCK_FAULT");
	char copy[MAX_TEXT];
	char *rule_end, *part_end;

	if (!text || !*text)
		return;
	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		refuse(text);
	for (char *one = strtok_r(copy, ";", &rule_end); one;
	     one = strtok_r(NULL, ";", &rule_end)) {
		struct rule *rule = &rules[rule_count];
		char *part = strtok_r(one, ":", &part_end);

		if (rule_count == MAX_RULES || !part)
			refuse(one);
		rule->call = call_number(part);
		while ((part = strtok_r(NULL, ":", &part_end)))
			read_part(rule, part);
		rule_count++;
	}
}

static bool path_matches(const struct rule *rule, int fd, const char *path)
{
	char link[64];
	char target[4096];
	ssize_t chars;

	if (!rule->match[0])
		return true;
	if (path)
		return strstr(path, rule->match) != NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	chars = readlink(link, target, sizeof(target) - 1);
	if (chars < 0)
		return false;
	target[chars] = '\0';
	return strstr(target, rule->match) != NULL;
}

static bool strikes(struct rule *rule)
{
	uint64_t n = atomic_fetch_add(&rule->seen, 1) + 1;

	if (rule->nth)
		return n == rule->nth;
	if (rule->every)
		return n % rule->every == 0;
	if (rule->from)
		return n >= rule->from;
	return true;
}

/* Applies the rules to one call. Returns an errno to fail with or 0; may shorten *bytes. */
static int apply(enum call call, int fd, const char *path, int flags, size_t *bytes)
{
	int error = 0;

	pthread_once(&once, read_rules);
	for (unsigned i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];

		if (rule->call != call || (rule->direct_only && !(flags & O_DIRECT)) ||
		    !path_matches(rule, fd, path) || !strikes(rule))
			continue;
		if (rule->delay_ms) {
			struct timespec wait = {
				.tv_sec = (time_t)(rule->delay_ms / 1000),
				.tv_nsec = (long)(rule->delay_ms % 1000) * 1000000,
			};
			nanosleep(&wait, NULL);
		}
		if (rule->is_short && bytes && *bytes > rule->short_bytes)
			*bytes = rule->short_bytes;
		if (rule->error)
			error = rule->error;
	}
	return error;
}

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		refuse(name);
	return found;
}

/* The C library's names are declared by its own headers only under some feature macros. */
EXPORT ssize_t pread64(int fd, void *memory, size_t bytes, off64_t offset);
EXPORT ssize_t pwrite64(int fd, const void *memory, size_t bytes, off64_t offset);
EXPORT int open64(const char *path, int flags, ...);
EXPORT int openat64(int dir, const char *path, int flags, ...);

EXPORT ssize_t pread64(int fd, void *memory, size_t bytes, off64_t offset)
{
	ssize_t (*real)(int, void *, size_t, off64_t) = next("pread64");
	int error = apply(CALL_PREAD, fd, NULL, 0, &bytes);

	if (error) {
		errno = error;
		return -1;
	}
	return real(fd, memory, bytes, offset);
}

EXPORT ssize_t pwrite64(int fd, const void *memory, size_t bytes, off64_t offset)
{
	ssize_t (*real)(int, const void *, size_t, off64_t) = next("pwrite64");
	int error = apply(CALL_PWRITE, fd, NULL, 0, &bytes);

	if (error) {
		errno = error;
		return -1;
	}
	return real(fd, memory, bytes, offset);
}

static int do_open(int dir, const char *path, int flags, mode_t mode)
{
	int (*real)(int, const char *, int, ...) = next("openat64");
	int error = apply(CALL_OPEN, -1, path, flags, NULL);

	if (error) {
		errno = error;
		return -1;
	}
	return real(dir, path, flags, mode);
}

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

EXPORT int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (has_mode(flags))
		mode = va_arg(args, mode_t);
	va_end(args);
	return do_open(AT_FDCWD, path, flags, mode);
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (has_mode(flags))
		mode = va_arg(args, mode_t);
	va_end(args);
	return do_open(dir, path, flags, mode);
}

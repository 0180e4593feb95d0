/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on demand: fail or delay the n-th call of a name, or every one. */
#include "fake.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAULTS_MAX 16

struct fault {
	enum fake_call point;
	long nth; /* 0: every call */
	int status;
	long delay_us;
	long calls; /* seen so far */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault faults[FAULTS_MAX];
static size_t fault_count;
static atomic_bool any; /* spares the lock when there are none */

static bool parse_number(const char *text, long *out)
{
	char *end;

	*out = strtol(text, &end, 10);
	return end != text && *end == '\0' && *out >= 0;
}

/* "NAME:N|*:fail=STATUS|delay_us=N"; the text is taken apart. */
static bool parse_fault(char *text, struct fault *fault)
{
	char *nth = strchr(text, ':');
	char *action = nth ? strchr(nth + 1, ':') : NULL;
	long number;
	int point = 0;

	if (!action)
		return false;
	*nth++ = '\0';
	*action++ = '\0';
	*fault = (struct fault){0};
	while (point < FAKE_FAULT_POINTS && strcmp(fake_point_name(point), text) != 0)
		point++;
	if (point == FAKE_FAULT_POINTS)
		return false;
	fault->point = point;
	if (strcmp(nth, "*") != 0 && (!parse_number(nth, &fault->nth) || fault->nth == 0))
		return false;
	if (strncmp(action, "fail=", 5) == 0 && parse_number(action + 5, &number) && number > 0) {
		fault->status = (int)number;
		return true;
	}
	return strncmp(action, "delay_us=", 9) == 0 && parse_number(action + 9, &fault->delay_us);
}

bool fakecuda_fault(const char *text)
{
	struct fault parsed[FAULTS_MAX];
	size_t count = 0;
	char *copy = strdup(text ? text : "");
	char *rest = NULL;
	bool good = copy != NULL;

	for (char *item = good ? strtok_r(copy, ";", &rest) : NULL; item && good;
	     item = strtok_r(NULL, ";", &rest))
		good = count < FAULTS_MAX && parse_fault(item, &parsed[count++]);
	free(copy);
	if (!good)
		return false;
	pthread_mutex_lock(&lock);
	memcpy(faults, parsed, count * sizeof(parsed[0]));
	fault_count = count;
	atomic_store(&any, count > 0);
	pthread_mutex_unlock(&lock);
	return true;
}

void fake_faults_from_environment(void)
{
	const char *text = getenv("FAKE_CUDA_FAULT");

	/* A mistake in the text must not look like a test that passed. */
	if (text && !fakecuda_fault(text))
		abort();
}

int fake_fault_at(enum fake_call point)
{
	int status = FAKE_OK;
	long delay_us = 0;

	if (!atomic_load(&any))
		return FAKE_OK;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < fault_count; i++) {
		struct fault *fault = &faults[i];

		if (fault->point != point)
			continue;
		fault->calls++;
		if (fault->nth != 0 && fault->calls != fault->nth)
			continue;
		delay_us += fault->delay_us;
		if (fault->status)
			status = fault->status;
	}
	pthread_mutex_unlock(&lock);
	if (delay_us > 0) {
		struct timespec pause = {.tv_sec = delay_us / 1000000,
					 .tv_nsec = delay_us % 1000000 * 1000};

		nanosleep(&pause, NULL);
	}
	return status;
}

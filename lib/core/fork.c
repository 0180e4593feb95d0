/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fork.h"

#include <pthread.h>

static unsigned generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
	generation++;
}

static void watch(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

unsigned fork_generation(void)
{
	pthread_once(&once, watch);
	return generation;
}

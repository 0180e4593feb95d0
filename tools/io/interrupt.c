/* SPDX-License-Identifier: Apache-2.0 */
#include "io/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "common/fail.h"

static atomic_int seen;

static void on_signal(int number)
{
	(void)number;
	if (atomic_fetch_add(&seen, 1) > 0)
		_exit(TOOL_EXIT_INTERRUPTED);
}

void interrupt_install(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction before;
	/* SA_RESTART: the operation in flight is finished, not broken off. */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (signals[i] == SIGHUP && !sigaction(SIGHUP, NULL, &before) &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

bool interrupt_pending(void)
{
	return atomic_load_explicit(&seen, memory_order_relaxed) > 0;
}

void interrupt_reset(void)
{
	atomic_store(&seen, 0);
}

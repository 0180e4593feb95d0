/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measured run of a plan: open the targets, look at them, start the workers, let the ramp
 * pass, measure, take everything down. Each phase is timed apart; only the measured window is in
 * the rate.
 */
#ifndef PENSTOCK_IO_RUN_H
#define PENSTOCK_IO_RUN_H

#include "io/session.h"
#include "io/watch.h"

/*
 * Carries out a plan. Returns 0 when the run took place, whatever became of its operations:
 * *result then tells all and is freed with result_free. Otherwise returns the exit status to
 * leave with, *err says why, and *result holds nothing. The plan's targets are closed again.
 */
int run_once(struct io_session *session, struct io_plan *plan, struct io_watch *watch,
	     struct io_result *result, struct pst_error *err);

#endif

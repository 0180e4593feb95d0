/* SPDX-License-Identifier: Apache-2.0 */
#include "path/transfer.h"

#include <errno.h>

#include "core/context.h"
#include "path/pipeline.h"
#include "util/error.h"

static int no_lane(const struct pst_io *io, struct pst_error *err)
{
	return error_set(err, -ENOMEM, PST_STAGE_MEMORY, io->file->path,
			 "cannot start a request on '%s': out of memory", io->file->path);
}

static struct pipeline *pipeline_of(struct lane *lane)
{
	if (!lane->pipeline)
		lane->pipeline = pipeline_new(lane, lane->ctx->options.chunks_in_flight);
	return lane->pipeline;
}

static void drive(struct lane *lane, struct request *request)
{
	struct pipeline *p = lane->pipeline;

	lane_begin(lane);
	pipeline_add(p, request);
	while (request->state != REQUEST_DONE)
		pipeline_advance(p, true);
	pipeline_take(p);
	lane_end(lane);
}

ssize_t transfer_sync(const struct pst_io *io, struct pst_error *err)
{
	struct pst_context *ctx = io->file->ctx;
	struct request request;
	struct lane *lane;
	struct load load = {.in_flight = 1};
	int rc;

	if (context_forked(ctx))
		return forked_transfer(io, err);
	lane = lane_get(ctx);
	if (!lane || !pipeline_of(lane))
		return no_lane(io, err);
	load.threads = lane_pool_busy(ctx->lanes, 1);
	rc = request_prepare(&request, lane, io, load, err);
	if (rc == 0 && !host_transfer(lane, &request))
		drive(lane, &request);
	lane_pool_busy(ctx->lanes, -1);
	if (rc < 0)
		return rc;
	if (request.result < 0 && err)
		*err = request.error;
	return request.result;
}

int transfer_explain(const struct pst_io *io, struct pst_plan *plan, struct pst_error *err)
{
	struct pst_context *ctx = io->file->ctx;
	struct lane *lane = context_forked(ctx) ? NULL : lane_get(ctx);
	struct pst_plan answer = {.size_bytes = sizeof(answer)};
	struct sto_engine *engine;
	struct request request;
	int rc;

	if (!lane)
		return no_lane(io, err);
	rc = request_prepare(&request, lane, io, (struct load){1, 1}, err);
	if (rc < 0)
		return rc;
	answer.storage = PST_STORAGE_POSIX;
	if (lane_engine(lane, request.want_ring, &engine, &request.choice.reasons) ==
	    &sto_uring_ops)
		answer.storage = PST_STORAGE_URING;
	answer.path = request.choice.path;
	answer.reasons = request.choice.reasons;
	answer.device = request.target.device;
	options_export(plan, &answer, sizeof(answer));
	return 0;
}

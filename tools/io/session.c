/* SPDX-License-Identifier: Apache-2.0 */
#include "io/session.h"

#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "io/crew.h"

#define EMULATED_NAME "host"

/* Whether there is any GPU to choose from. */
static int need_gpu(struct pst_context *ctx, struct pst_error *err)
{
	struct pst_error why = {0};
	int count = pst_device_count(ctx, PST_DEVICE_CUDA, &why);

	if (count > 0)
		return 0;
	if (count == 0)
		snprintf(why.message, sizeof(why.message), "none is visible");
	return fail_set(err, TOOL_EXIT_ENVIRONMENT, count < 0 ? count : PST_E_DEVICE_NOT_FOUND,
			NULL,
			"no GPU can be used here: %s; '-d host' measures with an emulated GPU, "
			"'-x 1' needs no device",
			why.message);
}

static int open_device(struct io_session *session, const char *name, struct pst_error *err)
{
	int code;

	if (strcmp(name, EMULATED_NAME) != 0) {
		code = need_gpu(session->ctx, err);
		if (code)
			return code;
	}
	code = pst_device_open(session->ctx, name, &session->device, err);
	if (code == PST_E_DEVICE_NOT_FOUND)
		return TOOL_EXIT_USAGE;
	if (code < 0)
		return TOOL_EXIT_ENVIRONMENT;
	session->info.size_bytes = sizeof(session->info);
	code = pst_device_info(session->device, &session->info, err);
	return code < 0 ? TOOL_EXIT_ENVIRONMENT : 0;
}

int session_open(struct io_session *session, const struct io_job *job, struct pst_error *err)
{
	struct pst_options options = {
		.size_bytes = sizeof(options),
		.engine = job->engine,
		.storage = job->storage,
	};
	uint64_t start_ns = crew_now_ns();
	int code;

	*session = (struct io_session){0};
	code = pst_open(&session->ctx, &options, err);
	if (code < 0)
		return code == PST_E_INVALID_VALUE ? TOOL_EXIT_USAGE : TOOL_EXIT_ENVIRONMENT;
	if (crew_needs_device(job)) {
		code = open_device(session, job->device ? job->device : "0", err);
		if (code) {
			session_close(session);
			return code;
		}
	}
	session->open_s = (double)(crew_now_ns() - start_ns) / 1e9;
	return 0;
}

void session_close(struct io_session *session)
{
	pst_close(session->ctx);
	*session = (struct io_session){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: only what makes calls of other threads dangerous to it. Nothing is recorded;
 * a graph is an empty object. */
#include "fake.h"

#include <stdlib.h>

#define CAPTURES_MAX 16

enum mode {
	MODE_GLOBAL = 0,
	MODE_THREAD_LOCAL = 1,
	MODE_RELAXED = 2,
};

static _Thread_local enum mode mode = MODE_GLOBAL;

static struct capture {
	void *stream; /* NULL: free */
	pthread_t thread;
	enum mode mode;
	bool valid;
} captures[CAPTURES_MAX];

bool fake_capture_relaxed(void)
{
	return mode == MODE_RELAXED;
}

/* A call that may upset a capture: refused, and the capture is spoilt, when one is going on
 * that this thread's mode minds. */
bool fake_capture_forbids(void)
{
	bool forbids = false;

	if (mode == MODE_RELAXED)
		return false;
	for (int i = 0; i < CAPTURES_MAX; i++) {
		struct capture *capture = &captures[i];
		bool own;

		if (!capture->stream || capture->mode == MODE_RELAXED)
			continue;
		own = pthread_equal(capture->thread, pthread_self());
		if (!own && (mode == MODE_THREAD_LOCAL || capture->mode != MODE_GLOBAL))
			continue;
		capture->valid = false;
		forbids = true;
	}
	return forbids;
}

static struct capture *capture_of(const void *stream)
{
	for (int i = 0; i < CAPTURES_MAX; i++)
		if (captures[i].stream == stream)
			return &captures[i];
	return NULL;
}

void fake_capture_stream_gone(const void *stream)
{
	struct capture *capture = capture_of(stream);

	if (capture)
		capture->stream = NULL;
}

int cuThreadExchangeStreamCaptureMode(int *exchanged)
{
	int status = fake_begin(FAKE_CALL_cuThreadExchangeStreamCaptureMode);
	int old = mode;

	if (status != FAKE_OK)
		return status;
	if (*exchanged < MODE_GLOBAL || *exchanged > MODE_RELAXED)
		return FAKE_INVALID_VALUE;
	mode = *exchanged;
	*exchanged = old;
	return FAKE_OK;
}

int cuStreamBeginCapture_v2(void *stream, int capture_mode)
{
	int status = fake_begin(FAKE_CALL_cuStreamBeginCapture_v2);
	struct capture *capture;

	if (status != FAKE_OK)
		return status;
	if (capture_mode < MODE_GLOBAL || capture_mode > MODE_RELAXED)
		return FAKE_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	capture = capture_of(NULL);
	if (!fake_handle_get(FAKECUDA_STREAMS, stream))
		status = FAKE_INVALID_HANDLE;
	else if (capture_of(stream) || !capture)
		status = FAKE_ILLEGAL_STATE;
	else
		*capture = (struct capture){.stream = stream,
					    .thread = pthread_self(),
					    .mode = capture_mode,
					    .valid = true};
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuStreamEndCapture(void *stream, void **graph)
{
	int status = fake_begin(FAKE_CALL_cuStreamEndCapture);
	struct capture *capture;
	char *object;

	if (status != FAKE_OK)
		return status;
	*graph = NULL;
	pthread_mutex_lock(&fake_lock);
	capture = stream ? capture_of(stream) : NULL;
	if (!capture) {
		status = FAKE_ILLEGAL_STATE;
	} else {
		capture->stream = NULL;
		if (!capture->valid)
			status = FAKE_CAPTURE_INVALIDATED;
	}
	if (status == FAKE_OK) {
		object = malloc(1);
		*graph = object ? fake_handle_new(FAKECUDA_GRAPHS, object) : NULL;
		if (!*graph) {
			free(object);
			status = FAKE_OUT_OF_MEMORY;
		}
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuGraphDestroy(void *graph)
{
	int status = fake_begin(FAKE_CALL_cuGraphDestroy);
	void *object;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	object = fake_handle_get(FAKECUDA_GRAPHS, graph);
	if (object) {
		fake_handle_drop(graph);
		free(object);
	} else {
		status = FAKE_INVALID_HANDLE;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

bool fakecuda_capture_valid(void)
{
	bool going_on = false;
	bool valid = true;

	pthread_mutex_lock(&fake_lock);
	for (int i = 0; i < CAPTURES_MAX; i++) {
		if (!captures[i].stream)
			continue;
		going_on = true;
		valid = valid && captures[i].valid;
	}
	pthread_mutex_unlock(&fake_lock);
	return going_on && valid;
}

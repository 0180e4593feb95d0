/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: a thread each, which does the stream's operations in order. Events. Copies. */
#include "fake.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct event {
	void *handle;
	void *context;
	unsigned long long recorded; /* number of the last record asked for */
	unsigned long long reached;  /* number of the last one that was reached */
	unsigned users;              /* operations and threads that look at it */
	bool destroyed;
};

struct operation {
	struct operation *next;
	/* A copy, or, with event set, a record. */
	char *to;
	const char *from;
	size_t bytes;
	struct fake_memory *used[2]; /* kept alive until done */
	struct event *event;
	unsigned long long record;
	bool *done; /* set at the end, for a caller that waits; may be NULL */
};

struct stream {
	void *handle;
	void *context;
	pthread_t thread;
	pthread_cond_t work;
	struct operation *first;
	struct operation **last;
	bool closing;
};

static void event_put(struct event *event)
{
	event->users--;
	if (event->users == 0 && event->destroyed)
		free(event);
}

/* Failed copies break their context for good, as on the real GPU. */
static void run_copy(const struct operation *operation, const void *context_handle)
{
	int status;

	pthread_mutex_unlock(&fake_lock);
	status = fake_fault_at(FAKE_STREAM_COPY);
	if (status == FAKE_OK)
		memmove(operation->to, operation->from, operation->bytes);
	pthread_mutex_lock(&fake_lock);
	if (status != FAKE_OK) {
		struct fake_context *context = fake_handle_get(FAKECUDA_CONTEXTS, context_handle);

		if (context)
			context->broken = status;
	}
}

static void *stream_thread(void *arg)
{
	struct stream *stream = arg;

	pthread_mutex_lock(&fake_lock);
	for (;;) {
		struct operation *operation = stream->first;

		if (!operation) {
			if (stream->closing)
				break;
			pthread_cond_wait(&stream->work, &fake_lock);
			continue;
		}
		if (operation->event) {
			operation->event->reached = operation->record;
			event_put(operation->event);
		} else {
			run_copy(operation, stream->context);
		}
		stream->first = operation->next;
		if (!stream->first)
			stream->last = &stream->first;
		for (int i = 0; i < 2; i++)
			if (operation->used[i])
				operation->used[i]->in_flight--;
		if (operation->done)
			*operation->done = true;
		free(operation);
		pthread_cond_broadcast(&fake_progress);
	}
	pthread_mutex_unlock(&fake_lock);
	return NULL;
}

/* Finishes the stream's work and ends it. The lock is given up meanwhile. */
static void stream_delete(struct stream *stream)
{
	fake_capture_stream_gone(stream->handle);
	fake_handle_drop(stream->handle);
	stream->closing = true;
	pthread_cond_signal(&stream->work);
	pthread_mutex_unlock(&fake_lock);
	pthread_join(stream->thread, NULL);
	pthread_mutex_lock(&fake_lock);
	pthread_cond_destroy(&stream->work);
	free(stream);
}

static void event_delete(struct event *event)
{
	fake_handle_drop(event->handle);
	event->destroyed = true;
	event->users++;
	event_put(event);
	pthread_cond_broadcast(&fake_progress);
}

void fake_streams_end_context(const struct fake_context *context)
{
	struct stream *stream;
	struct event *event;
	size_t at = 0;

	while ((stream = fake_handle_next(FAKECUDA_STREAMS, &at)))
		if (stream->context == context->handle)
			stream_delete(stream);
	at = 0;
	while ((event = fake_handle_next(FAKECUDA_EVENTS, &at)))
		if (event->context == context->handle)
			event_delete(event);
}

int cuStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
	int status = fake_begin(FAKE_CALL_cuStreamCreateWithPriority);
	struct fake_context *context;
	struct stream *stream;
	sigset_t all;
	sigset_t old;

	(void)priority;
	if (status != FAKE_OK)
		return status;
	if (!out || flags > 1)
		return FAKE_INVALID_VALUE;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return FAKE_OUT_OF_MEMORY;
	stream->last = &stream->first;
	pthread_cond_init(&stream->work, NULL);
	sigfillset(&all);
	pthread_mutex_lock(&fake_lock);
	status = fake_current(&context);
	if (status == FAKE_OK) {
		stream->context = context->handle;
		stream->handle = fake_handle_new(FAKECUDA_STREAMS, stream);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		if (!stream->handle ||
		    pthread_create(&stream->thread, NULL, stream_thread, stream) != 0)
			status = FAKE_OUT_OF_MEMORY;
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	if (status == FAKE_OK)
		*out = stream->handle;
	else if (stream->handle)
		fake_handle_drop(stream->handle);
	pthread_mutex_unlock(&fake_lock);
	if (status != FAKE_OK) {
		pthread_cond_destroy(&stream->work);
		free(stream);
	}
	return status;
}

int cuStreamDestroy_v2(void *handle)
{
	int status = fake_begin(FAKE_CALL_cuStreamDestroy_v2);
	struct stream *stream;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	stream = fake_handle_get(FAKECUDA_STREAMS, handle);
	if (stream)
		stream_delete(stream);
	else
		status = FAKE_INVALID_HANDLE;
	pthread_mutex_unlock(&fake_lock);
	return status;
}

/* The stream, which must be of the calling thread's context. */
static int stream_get(void *handle, struct stream **out)
{
	struct fake_context *context;
	int status = fake_current(&context);

	if (status != FAKE_OK)
		return status;
	*out = fake_handle_get(FAKECUDA_STREAMS, handle);
	return *out && (*out)->context == context->handle ? FAKE_OK : FAKE_INVALID_HANDLE;
}

/* Queues a copy of *wanted, which is copied. */
static int submit(struct stream *stream, const struct operation *wanted)
{
	struct operation *operation = malloc(sizeof(*operation));

	if (!operation)
		return FAKE_OUT_OF_MEMORY;
	*operation = *wanted;
	operation->next = NULL;
	for (int i = 0; i < 2; i++)
		if (operation->used[i])
			operation->used[i]->in_flight++;
	*stream->last = operation;
	stream->last = &operation->next;
	pthread_cond_signal(&stream->work);
	return FAKE_OK;
}

int cuEventCreate(void **out, unsigned flags)
{
	int status = fake_begin(FAKE_CALL_cuEventCreate);
	struct fake_context *context;
	struct event *event;

	if (status != FAKE_OK)
		return status;
	if (!out || flags > 7)
		return FAKE_INVALID_VALUE;
	event = calloc(1, sizeof(*event));
	if (!event)
		return FAKE_OUT_OF_MEMORY;
	pthread_mutex_lock(&fake_lock);
	status = fake_current(&context);
	if (status == FAKE_OK) {
		event->context = context->handle;
		event->handle = fake_handle_new(FAKECUDA_EVENTS, event);
		if (!event->handle)
			status = FAKE_OUT_OF_MEMORY;
	}
	if (status == FAKE_OK)
		*out = event->handle;
	else
		free(event);
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuEventDestroy_v2(void *handle)
{
	int status = fake_begin(FAKE_CALL_cuEventDestroy_v2);
	struct event *event;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	event = fake_handle_get(FAKECUDA_EVENTS, handle);
	if (event)
		event_delete(event);
	else
		status = FAKE_INVALID_HANDLE;
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuEventRecord(void *event_handle, void *stream_handle)
{
	int status = fake_begin(FAKE_CALL_cuEventRecord);
	struct stream *stream;
	struct event *event;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	status = stream_get(stream_handle, &stream);
	event = fake_handle_get(FAKECUDA_EVENTS, event_handle);
	if (status == FAKE_OK && (!event || event->context != stream->context))
		status = FAKE_INVALID_HANDLE;
	if (status == FAKE_OK) {
		struct operation record = {.event = event, .record = event->recorded + 1};

		status = submit(stream, &record);
		if (status == FAKE_OK) {
			event->recorded++;
			event->users++;
		}
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

/* Looks at an event: 0 reached, 600 not yet, or what is wrong. */
static int event_status(const struct event *event)
{
	struct fake_context *context;
	int status = fake_current(&context);

	if (status != FAKE_OK)
		return status;
	if (event->context != context->handle)
		return FAKE_INVALID_CONTEXT;
	return event->reached >= event->recorded ? FAKE_OK : FAKE_NOT_READY;
}

int cuEventQuery(void *handle)
{
	int status = fake_begin(FAKE_CALL_cuEventQuery);
	struct event *event;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	event = fake_handle_get(FAKECUDA_EVENTS, handle);
	status = event ? event_status(event) : FAKE_INVALID_HANDLE;
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuEventSynchronize(void *handle)
{
	int status = fake_begin(FAKE_CALL_cuEventSynchronize);
	struct event *event;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	event = fake_handle_get(FAKECUDA_EVENTS, handle);
	if (event) {
		event->users++;
		while ((status = event_status(event)) == FAKE_NOT_READY && !event->destroyed)
			pthread_cond_wait(&fake_progress, &fake_lock);
		event_put(event);
	} else {
		status = FAKE_INVALID_HANDLE;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

/* Memory of a GPU at an address; the range must lie within one allocation. */
static struct fake_memory *device_side(uintptr_t address, size_t bytes, char **storage)
{
	struct fake_memory *memory = fake_memory_find_range(address, bytes);

	if (!memory || (memory->type == FAKE_MAPPED && !memory->access))
		return NULL;
	*storage = memory->storage + (address - memory->base);
	return memory;
}

/* Whether an address is host memory; *memory is set when the whole range is page-locked. */
static bool host_side(const void *address, size_t bytes, struct fake_memory **memory)
{
	struct fake_memory *known = fake_memory_find((uintptr_t)address);

	if (known && known->type != FAKE_HOST && known->type != FAKE_PIN &&
	    known->type != FAKE_MANAGED)
		return false;
	*memory = fake_memory_find_range((uintptr_t)address, bytes);
	return true;
}

/* Copies between an address of the GPU and the host's. Plain host memory is copied before the
 * call returns, as the real driver may do. */
static int copy_host(enum fake_call call, uintptr_t device, void *host, size_t bytes,
		     void *stream_handle, bool in)
{
	int status = fake_begin(call);
	struct operation copy = {.bytes = bytes};
	struct stream *stream;
	bool done = false;
	char *storage = NULL;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	status = stream_get(stream_handle, &stream);
	if (status == FAKE_OK) {
		copy.used[0] = device_side(device, bytes, &storage);
		if (!copy.used[0] || !host || !host_side(host, bytes, &copy.used[1]))
			status = FAKE_INVALID_VALUE;
	}
	if (status == FAKE_OK) {
		copy.to = in ? storage : host;
		copy.from = in ? host : storage;
		copy.done = copy.used[1] ? NULL : &done;
		status = submit(stream, &copy);
	}
	while (status == FAKE_OK && copy.done && !done)
		pthread_cond_wait(&fake_progress, &fake_lock);
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int cuMemcpyHtoDAsync_v2(fake_address to, const void *from, size_t bytes, void *stream)
{
	return copy_host(FAKE_CALL_cuMemcpyHtoDAsync_v2, to, (void *)(uintptr_t)from, bytes, stream,
			 true);
}

int cuMemcpyDtoHAsync_v2(void *to, fake_address from, size_t bytes, void *stream)
{
	return copy_host(FAKE_CALL_cuMemcpyDtoHAsync_v2, from, to, bytes, stream, false);
}

int cuMemcpyDtoDAsync_v2(fake_address to, fake_address from, size_t bytes, void *stream_handle)
{
	int status = fake_begin(FAKE_CALL_cuMemcpyDtoDAsync_v2);
	struct operation copy = {.bytes = bytes};
	struct stream *stream;
	char *from_storage = NULL;

	if (status != FAKE_OK)
		return status;
	pthread_mutex_lock(&fake_lock);
	status = stream_get(stream_handle, &stream);
	if (status == FAKE_OK) {
		copy.used[0] = device_side(to, bytes, &copy.to);
		copy.used[1] = device_side(from, bytes, &from_storage);
		copy.from = from_storage;
		status = copy.used[0] && copy.used[1] ? submit(stream, &copy) : FAKE_INVALID_VALUE;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

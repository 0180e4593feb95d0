/* SPDX-License-Identifier: Apache-2.0 */
/* State of the fake driver, for its own files. One lock guards all of it. */
#ifndef FAKE_H
#define FAKE_H

#include "entries.h"
#include "fakecuda.h"

#include <pthread.h>
#include <stdint.h>

#define FAKE_DEVICES_MAX 16
#define FAKE_STACK_MAX   32 /* contexts on one thread's stack */

enum fake_status {
	FAKE_OK = 0,
	FAKE_INVALID_VALUE = 1,
	FAKE_OUT_OF_MEMORY = 2,
	FAKE_NOT_INITIALIZED = 3,
	FAKE_NO_DEVICE = 100,
	FAKE_INVALID_DEVICE = 101,
	FAKE_INVALID_CONTEXT = 201,
	FAKE_INVALID_HANDLE = 400,
	FAKE_ILLEGAL_STATE = 401,
	FAKE_NOT_READY = 600,
	FAKE_CONTEXT_IS_DESTROYED = 709,
	FAKE_ALREADY_REGISTERED = 712,
	FAKE_NOT_REGISTERED = 713,
	FAKE_NOT_SUPPORTED = 801,
	FAKE_CAPTURE_UNSUPPORTED = 900,
	FAKE_CAPTURE_INVALIDATED = 901,
};

/* FAKE_CALL_cuInit and so on. */
enum fake_call {
#define FAKE_NUMBER(class, name, arguments) FAKE_CALL_##name,
	FAKE_CALLS(FAKE_NUMBER)
#undef FAKE_NUMBER
	FAKE_CALL_COUNT,
	FAKE_STREAM_COPY = FAKE_CALL_COUNT, /* not an entry point: for faults */
	FAKE_FAULT_POINTS,
};

#define FAKE_PROTOTYPE(class, name, arguments) FAKECUDA_EXPORT int name arguments;
FAKE_CALLS(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE

struct fake_context {
	void *handle;
	unsigned long long id;
	int device;
	unsigned retains; /* of a primary context */
	int broken;       /* status that every further call gives; 0: sound */
};

/* A range of addresses that the driver knows. */
struct fake_memory {
	enum fake_memory_type {
		FAKE_DEVICE,
		FAKE_MANAGED,
		FAKE_HOST,       /* cuMemHostAlloc */
		FAKE_PIN,        /* cuMemHostRegister */
		FAKE_MAPPED,     /* cuMemMap */
		FAKE_RESERVATION /* cuMemAddressReserve */
	} type;
	uintptr_t base; /* as handed out; of device memory, not accessible */
	size_t bytes;
	char *storage; /* the same bytes, accessible; NULL for a reservation */
	int device;
	void *context; /* handle; NULL: of no context */
	unsigned long long id;
	unsigned in_flight;              /* operations of streams that use it */
	bool access;                     /* FAKE_MAPPED: cuMemSetAccess was called */
	struct fake_allocation *backing; /* FAKE_MAPPED */
	struct fake_memory *next;
};

extern pthread_mutex_t fake_lock;
/* Something that a call may wait for has happened. */
extern pthread_cond_t fake_progress;

/* state.c: counts the call, applies faults and the rules for captures. 0 or the status that the
 * entry point returns. The lock is not held. */
int fake_begin(enum fake_call call);
/* Handles are numbers, never dereferenced: a stale one is recognised. The lock is held. */
void *fake_handle_new(enum fakecuda_kind kind, void *object);
void *fake_handle_get(enum fakecuda_kind kind, const void *handle);
/* Whether the handle is, or once was, one of this kind. */
bool fake_handle_was(enum fakecuda_kind kind, const void *handle);
void fake_handle_drop(void *handle);
/* Walks the objects of a kind: start with *at = 0; NULL at the end. */
void *fake_handle_next(enum fakecuda_kind kind, size_t *at);
long fake_handle_count(enum fakecuda_kind kind);
unsigned long long fake_next_id(void);
void fake_set_initialized(void);
const char *fake_point_name(enum fake_call point);

/* faults.c: delays, then returns the status to fail with or 0. The lock is not held. */
int fake_fault_at(enum fake_call point);
void fake_faults_from_environment(void);

/* devices.c; the lock is held */
int fake_device_count(void);
/* Takes `bytes` of a device's memory; false when there is no room. */
bool fake_device_take(int device, size_t bytes);
void fake_device_give(int device, size_t bytes);

/* contexts.c; the lock is held. The calling thread's context: 0, or the status to return. */
int fake_current(struct fake_context **out);

/* memory.c; the lock is held */
struct fake_memory *fake_memory_find(uintptr_t address);
/* Finds the memory that holds the whole range and is not a reservation. */
struct fake_memory *fake_memory_find_range(uintptr_t address, size_t bytes);
struct fake_memory *fake_memory_add(const struct fake_memory *memory);
/* Takes memory out of the list once no stream uses it, and frees the entry. */
void fake_memory_remove(struct fake_memory *memory);
void fake_memory_end_context(const struct fake_context *context);
long fake_memory_count(enum fakecuda_kind kind);
/* Maps bytes of accessible (storage) or reserved memory; NULL: out of memory. */
void *fake_map(size_t bytes, bool accessible);
void fake_unmap(void *memory, size_t bytes);

/* keep.c: writes the bytes of memory that is going to a file, where FAKE_CUDA_KEEP asks for it. */
void fake_keep(const struct fake_memory *memory);

/* vmm.c; the lock is held */
void fake_vmm_unmapped(struct fake_memory *memory);
long fake_vmm_count(void);

/* streams.c; the lock is held, and given up while waiting */
void fake_streams_end_context(const struct fake_context *context);
/* capture.c; the lock is held */
bool fake_capture_forbids(void);
bool fake_capture_relaxed(void);
void fake_capture_stream_gone(const void *stream);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests ask of the fake driver beyond the driver's own interface. The functions are
 * exported by the fake libcuda.so.1; tests find them with dlsym.
 *
 * Environment, read by the first cuInit: FAKE_CUDA_DEVICES (0 to 16, default 1),
 * FAKE_CUDA_MEMORY_MIB (per device, default 16384), FAKE_CUDA_VERSION (default 12080),
 * FAKE_CUDA_FAULT (as fakecuda_fault), CUDA_VISIBLE_DEVICES (indices or UUIDs). Read whenever
 * memory is freed: FAKE_CUDA_KEEP, a folder where its bytes are left, in files device-N, mapped-N
 * (cuMemMap) and host-N (cuMemHostAlloc).
 */
#ifndef FAKECUDA_H
#define FAKECUDA_H

#include <stdbool.h>
#include <stddef.h>

#define FAKECUDA_EXPORT __attribute__((visibility("default")))

enum fakecuda_kind {
	FAKECUDA_CONTEXTS = 0,
	FAKECUDA_STREAMS,
	FAKECUDA_EVENTS,
	FAKECUDA_GRAPHS,
	FAKECUDA_ALLOCATIONS, /* device and managed memory, mapped or not */
	FAKECUDA_HOST_ALLOCATIONS,
	FAKECUDA_PINS,
	FAKECUDA_RESERVATIONS, /* address ranges of cuMemAddressReserve */
	FAKECUDA_KIND_COUNT,
};

/*
 * Replaces all faults: "cuMemcpyHtoDAsync_v2:3:fail=700;cuEventQuery:*:delay_us=200" fails the
 * third call from now on of the first name and delays every call of the second. The name
 * "stream_copy" stands for the copies that streams carry out: failing one breaks its context.
 * NULL or "" for none. false: the text is not understood, and nothing has changed.
 */
FAKECUDA_EXPORT bool fakecuda_fault(const char *text);

/* Calls of an entry point since the start; -1 when the fake has no such entry. */
FAKECUDA_EXPORT long fakecuda_calls(const char *name);
/* Calls of all entry points since the start. */
FAKECUDA_EXPORT long fakecuda_calls_total(void);
/* Calls made by threads that were not in relaxed capture mode, except those that cannot be
 * (starting the driver, versions, error names, changing the mode). */
FAKECUDA_EXPORT long fakecuda_calls_not_relaxed(void);

/* Contexts on the calling thread's stack. */
FAKECUDA_EXPORT int fakecuda_context_depth(void);

/* Objects of a kind that exist now. */
FAKECUDA_EXPORT long fakecuda_live(enum fakecuda_kind kind);

/* Whether a capture is going on and nothing has invalidated it. */
FAKECUDA_EXPORT bool fakecuda_capture_valid(void);

/* Where the bytes of a device address are, so that a test can look at them; NULL: unknown. */
FAKECUDA_EXPORT void *fakecuda_peek(const void *address);

#endif

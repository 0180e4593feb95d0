/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points of the fake driver, with the class of each:
 * ALWAYS   works before cuInit and in any capture mode
 * SAFE     allowed while a thread captures
 * UNSAFE   during a global capture refused with 900, and the end of that capture, unless the
 *          calling thread is in relaxed mode. More calls than the real driver counts as such,
 *          since the library under test has to be in relaxed mode for all of them.
 * Types and numbers are written down again here, apart from the library's own, so that a
 * mistake there shows.
 */
#ifndef FAKE_ENTRIES_H
#define FAKE_ENTRIES_H

#include <stddef.h>

typedef unsigned long long fake_address;

struct fake_uuid {
	char bytes[16];
};

struct fake_place {
	int type;
	int id;
};

struct fake_properties {
	int type;
	int handle_types;
	struct fake_place place;
	void *win32_meta;
	struct {
		unsigned char compression;
		unsigned char gpu_direct_rdma;
		unsigned short usage;
		unsigned char reserved[4];
	} flags;
};

struct fake_access {
	struct fake_place place;
	int flags;
};

#define FAKE_CALLS(X)                                                                              \
	X(ALWAYS, cuInit, (unsigned flags))                                                        \
	X(ALWAYS, cuDriverGetVersion, (int *version))                                              \
	X(ALWAYS, cuGetErrorName, (int status, const char **name))                                 \
	X(ALWAYS, cuGetErrorString, (int status, const char **text))                               \
	X(SAFE, cuDeviceGetCount, (int *count))                                                    \
	X(SAFE, cuDeviceGet, (int *device, int ordinal))                                           \
	X(SAFE, cuDeviceGetName, (char *name, int bytes, int device))                              \
	X(SAFE, cuDeviceGetUuid, (struct fake_uuid * uuid, int device))                            \
	X(SAFE, cuDeviceGetUuid_v2, (struct fake_uuid * uuid, int device))                         \
	X(SAFE, cuDeviceGetPCIBusId, (char *id, int bytes, int device))                            \
	X(SAFE, cuDeviceGetAttribute, (int *value, int attribute, int device))                     \
	X(SAFE, cuDeviceTotalMem_v2, (size_t * bytes, int device))                                 \
	X(UNSAFE, cuDevicePrimaryCtxRetain, (void **context, int device))                          \
	X(UNSAFE, cuDevicePrimaryCtxRelease_v2, (int device))                                      \
	X(UNSAFE, cuCtxCreate_v2, (void **context, unsigned flags, int device))                    \
	X(UNSAFE, cuCtxDestroy_v2, (void *context))                                                \
	X(SAFE, cuCtxGetCurrent, (void **context))                                                 \
	X(SAFE, cuCtxSetCurrent, (void *context))                                                  \
	X(SAFE, cuCtxGetDevice, (int *device))                                                     \
	X(SAFE, cuCtxGetId, (void *context, unsigned long long *id))                               \
	X(SAFE, cuCtxPushCurrent_v2, (void *context))                                              \
	X(SAFE, cuCtxPopCurrent_v2, (void **context))                                              \
	X(ALWAYS, cuThreadExchangeStreamCaptureMode, (int *mode))                                  \
	X(SAFE, cuPointerGetAttributes,                                                            \
	  (unsigned count, const int *attributes, void **values, fake_address address))            \
	X(UNSAFE, cuMemAlloc_v2, (fake_address * memory, size_t bytes))                            \
	X(UNSAFE, cuMemAllocManaged, (fake_address * memory, size_t bytes, unsigned flags))        \
	X(UNSAFE, cuMemFree_v2, (fake_address memory))                                             \
	X(UNSAFE, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                   \
	X(UNSAFE, cuMemFreeHost, (void *memory))                                                   \
	X(UNSAFE, cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags))              \
	X(UNSAFE, cuMemHostUnregister, (void *memory))                                             \
	X(SAFE, cuMemGetAllocationGranularity,                                                     \
	  (size_t * bytes, const struct fake_properties *properties, int option))                  \
	X(UNSAFE, cuMemAddressReserve,                                                             \
	  (fake_address * address, size_t bytes, size_t alignment, fake_address wish,              \
	   unsigned long long flags))                                                              \
	X(UNSAFE, cuMemAddressFree, (fake_address address, size_t bytes))                          \
	X(UNSAFE, cuMemCreate,                                                                     \
	  (unsigned long long *allocation, size_t bytes, const struct fake_properties *properties, \
	   unsigned long long flags))                                                              \
	X(UNSAFE, cuMemRelease, (unsigned long long allocation))                                   \
	X(UNSAFE, cuMemMap,                                                                        \
	  (fake_address address, size_t bytes, size_t offset, unsigned long long allocation,       \
	   unsigned long long flags))                                                              \
	X(UNSAFE, cuMemUnmap, (fake_address address, size_t bytes))                                \
	X(UNSAFE, cuMemSetAccess,                                                                  \
	  (fake_address address, size_t bytes, const struct fake_access *access, size_t count))    \
	X(UNSAFE, cuStreamCreateWithPriority, (void **stream, unsigned flags, int priority))       \
	X(UNSAFE, cuStreamDestroy_v2, (void *stream))                                              \
	X(SAFE, cuStreamBeginCapture_v2, (void *stream, int mode))                                 \
	X(SAFE, cuStreamEndCapture, (void *stream, void **graph))                                  \
	X(SAFE, cuGraphDestroy, (void *graph))                                                     \
	X(UNSAFE, cuEventCreate, (void **event, unsigned flags))                                   \
	X(UNSAFE, cuEventDestroy_v2, (void *event))                                                \
	X(UNSAFE, cuEventRecord, (void *event, void *stream))                                      \
	X(UNSAFE, cuEventQuery, (void *event))                                                     \
	X(UNSAFE, cuEventSynchronize, (void *event))                                               \
	X(UNSAFE, cuMemcpyHtoDAsync_v2,                                                            \
	  (fake_address to, const void *from, size_t bytes, void *stream))                         \
	X(UNSAFE, cuMemcpyDtoHAsync_v2, (void *to, fake_address from, size_t bytes, void *stream)) \
	X(UNSAFE, cuMemcpyDtoDAsync_v2,                                                            \
	  (fake_address to, fake_address from, size_t bytes, void *stream))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the NVIDIA driver's interface that we use, declared by ourselves: types, numbers,
 * and the entry points in two lists. The lists make the table of function pointers, the loading,
 * and the check that the fake driver of the tests has the same entries.
 */
#ifndef PST_DEVICE_CUDA_DRIVER_H
#define PST_DEVICE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_device;          /* CUdevice: the driver's own order, not ours */
typedef uint64_t cu_pointer;    /* CUdeviceptr */
typedef uint64_t cu_allocation; /* CUmemGenericAllocationHandle */
typedef struct cu_context_ *cu_context;
typedef struct cu_stream_ *cu_stream;
typedef struct cu_event_ *cu_event;

/* CUresult values that we tell apart. */
enum cu_status {
	CU_OK = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_NOT_INITIALIZED = 3,
	CU_NO_DEVICE = 100,
	CU_INVALID_DEVICE = 101,
	CU_INVALID_CONTEXT = 201,
	CU_ECC_UNCORRECTABLE = 214,
	CU_INVALID_HANDLE = 400,
	CU_NOT_READY = 600,
	CU_ILLEGAL_ADDRESS = 700,
	CU_CONTEXT_IS_DESTROYED = 709,
	CU_ALREADY_REGISTERED = 712,
	CU_NOT_REGISTERED = 713,
	CU_LAUNCH_FAILED = 719,
	CU_NOT_SUPPORTED = 801,
	CU_CAPTURE_UNSUPPORTED = 900,
	CU_CAPTURE_INVALIDATED = 901,
};

/* CUpointer_attribute */
enum cu_pointer_attribute {
	CU_POINTER_CONTEXT = 1,
	CU_POINTER_MEMORY_TYPE = 2,
	CU_POINTER_BUFFER_ID = 7,
	CU_POINTER_IS_MANAGED = 8,
	CU_POINTER_DEVICE_ORDINAL = 9,
	CU_POINTER_RANGE_START = 11,
	CU_POINTER_RANGE_SIZE = 12,
};

/* CUmemorytype; 0 is memory that the driver does not know */
enum cu_memory_type {
	CU_MEMORY_UNKNOWN = 0,
	CU_MEMORY_HOST = 1,
	CU_MEMORY_DEVICE = 2,
};

/* CUdevice_attribute */
enum cu_device_attribute {
	CU_DEVICE_GDR_WITH_VMM = 110, /* GPUDirect RDMA into cuMemCreate memory */
};

enum cu_capture_mode {
	CU_CAPTURE_GLOBAL = 0,
	CU_CAPTURE_THREAD_LOCAL = 1,
	CU_CAPTURE_RELAXED = 2,
};

/* Flags of one call each. */
enum {
	CU_STREAM_NONBLOCKING = 1,
	CU_EVENT_NO_TIMING = 2,
	CU_HOST_PORTABLE = 1,
	CU_HOST_REGISTER_PORTABLE = 1,
	CU_GRANULARITY_MINIMUM = 0,
	CU_ALLOCATION_PINNED = 1,
	CU_LOCATION_DEVICE = 1,
	CU_ACCESS_READ_WRITE = 3,
	CU_ATTACH_GLOBAL = 1,
};

struct cu_uuid {
	unsigned char bytes[16];
};

struct cu_location {
	int type;
	int id;
};

/* CUmemAllocationProp */
struct cu_allocation_properties {
	int type;
	int handle_types;
	struct cu_location location;
	void *win32_meta;
	unsigned char compression;
	unsigned char gpu_direct_rdma;
	unsigned short usage;
	unsigned char reserved[4];
};

_Static_assert(sizeof(struct cu_allocation_properties) == 32, "layout of CUmemAllocationProp");

/* CUmemAccessDesc */
struct cu_access {
	struct cu_location location;
	int flags;
};

_Static_assert(sizeof(struct cu_access) == 12, "layout of CUmemAccessDesc");

/* Entry points that a driver of CUDA 11.0 or later has. All return a cu_status. */
#define CUDA_CALLS(X)                                                                              \
	X(cuInit, (unsigned flags))                                                                \
	X(cuDriverGetVersion, (int *version))                                                      \
	X(cuGetErrorName, (int status, const char **name))                                         \
	X(cuGetErrorString, (int status, const char **text))                                       \
	X(cuDeviceGetCount, (int *count))                                                          \
	X(cuDeviceGet, (cu_device * device, int ordinal))                                          \
	X(cuDeviceGetName, (char *name, int bytes, cu_device device))                              \
	X(cuDeviceGetUuid, (struct cu_uuid * uuid, cu_device device))                              \
	X(cuDeviceGetPCIBusId, (char *id, int bytes, cu_device device))                            \
	X(cuDeviceGetAttribute, (int *value, int attribute, cu_device device))                     \
	X(cuDeviceTotalMem_v2, (size_t * bytes, cu_device device))                                 \
	X(cuDevicePrimaryCtxRetain, (cu_context * context, cu_device device))                      \
	X(cuDevicePrimaryCtxRelease_v2, (cu_device device))                                        \
	X(cuCtxGetCurrent, (cu_context * context))                                                 \
	X(cuCtxGetDevice, (cu_device * device))                                                    \
	X(cuCtxPushCurrent_v2, (cu_context context))                                               \
	X(cuCtxPopCurrent_v2, (cu_context * context))                                              \
	X(cuThreadExchangeStreamCaptureMode, (int *mode))                                          \
	X(cuPointerGetAttributes,                                                                  \
	  (unsigned count, const int *attributes, void **values, cu_pointer address))              \
	X(cuMemAlloc_v2, (cu_pointer * memory, size_t bytes))                                      \
	X(cuMemFree_v2, (cu_pointer memory))                                                       \
	X(cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                           \
	X(cuMemFreeHost, (void *memory))                                                           \
	X(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags))                      \
	X(cuMemHostUnregister, (void *memory))                                                     \
	X(cuMemGetAllocationGranularity,                                                           \
	  (size_t * bytes, const struct cu_allocation_properties *properties, int option))         \
	X(cuMemAddressReserve, (cu_pointer * address, size_t bytes, size_t alignment,              \
				cu_pointer wish, unsigned long long flags))                        \
	X(cuMemAddressFree, (cu_pointer address, size_t bytes))                                    \
	X(cuMemCreate,                                                                             \
	  (cu_allocation * allocation, size_t bytes,                                               \
	   const struct cu_allocation_properties *properties, unsigned long long flags))           \
	X(cuMemRelease, (cu_allocation allocation))                                                \
	X(cuMemMap, (cu_pointer address, size_t bytes, size_t offset, cu_allocation allocation,    \
		     unsigned long long flags))                                                    \
	X(cuMemUnmap, (cu_pointer address, size_t bytes))                                          \
	X(cuMemSetAccess,                                                                          \
	  (cu_pointer address, size_t bytes, const struct cu_access *access, size_t count))        \
	X(cuStreamCreateWithPriority, (cu_stream * stream, unsigned flags, int priority))          \
	X(cuStreamDestroy_v2, (cu_stream stream))                                                  \
	X(cuEventCreate, (cu_event * event, unsigned flags))                                       \
	X(cuEventDestroy_v2, (cu_event event))                                                     \
	X(cuEventRecord, (cu_event event, cu_stream stream))                                       \
	X(cuEventQuery, (cu_event event))                                                          \
	X(cuMemcpyHtoDAsync_v2, (cu_pointer to, const void *from, size_t bytes, cu_stream stream)) \
	X(cuMemcpyDtoHAsync_v2, (void *to, cu_pointer from, size_t bytes, cu_stream stream))       \
	X(cuMemcpyDtoDAsync_v2, (cu_pointer to, cu_pointer from, size_t bytes, cu_stream stream))

/* Entry points of later drivers; NULL where absent. */
#define CUDA_OPTIONAL_CALLS(X)                                                                     \
	X(cuDeviceGetUuid_v2, (struct cu_uuid * uuid, cu_device device))                           \
	X(cuCtxGetId, (cu_context context, unsigned long long *id))

struct cuda_calls {
#define CUDA_MEMBER(name, arguments) int(*name) arguments;
	CUDA_CALLS(CUDA_MEMBER)
	CUDA_OPTIONAL_CALLS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpenstock: bytes between files and GPU memory.
 *
 * A program opens a context, opens files in it, and reads or writes them with buffers that may
 * be GPU memory, pinned or plain host memory, or memory of the emulated device. The library
 * finds out what a buffer is from its address, chooses the best path for each request, and can
 * say which path it took and why no better one was possible.
 *
 *	struct pst_context *ctx;
 *	struct pst_file *file;
 *	struct pst_error err;
 *
 *	if (pst_open(&ctx, NULL, &err) < 0)
 *		return fail(err.message);
 *	if (pst_file_open(ctx, "/data/shard0", NULL, &file, &err) < 0)
 *		return fail(err.message);
 *	ssize_t got = pst_read(file, gpu_pointer, 1 << 20, 0, 0, &err);
 *
 * Conventions, stated once:
 *
 * - Functions that return int give 0 or a positive answer, or a negative code: -1 to -4095 are
 *   errno values, -5001 and below are enum pst_code. I/O calls return the bytes moved (>= 0) or
 *   such a code.
 * - The last argument `err` may be NULL. It is written only when the call fails.
 * - Sizes and offsets are bytes; times are nanoseconds; names say so.
 * - Every function may be called from any thread. One exception: a struct pst_batch belongs to
 *   one thread at a time. Destroying an object while another thread uses it is a caller's error.
 * - The library prints nothing, installs no signal handler and makes no driver call at exit.
 * - Structs that callers fill start with size_bytes = sizeof(struct ...); fields are only ever
 *   added at the end, and a shorter struct from an older program is accepted.
 * - After fork() a child may use host memory only; GPU requests return PST_E_FORKED.
 */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PST_VERSION_MAJOR 0
#define PST_VERSION_MINOR 1
#define PST_VERSION_PATCH 0

#if defined(__GNUC__)
#define PST_API __attribute__((visibility("default")))
#else
#define PST_API
#endif

/* The version of the loaded library as text, for example "0.1.0". */
PST_API const char *pst_version(void);

/* ------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------ */

/*
 * Codes of our own. Numbers down to -5050 are the cuFile numbers for the same cause; -5101 and
 * below have no cuFile counterpart. Numbers are never changed or used again. docs/ERRORS.md has
 * cause and remedy of each.
 */
enum pst_code {
	PST_OK = 0,
	PST_E_DRIVER_NOT_INITIALIZED = -5001, /* the direct path was required and is absent */
	PST_E_IO_NOT_SUPPORTED = -5008,       /* the required path is impossible on this file */
	PST_E_DEVICE_NOT_SUPPORTED = -5009,   /* the GPU or its driver lacks what is needed */
	PST_E_DEVICE_DRIVER = -5011,          /* a driver call failed: see device_status */
	PST_E_POINTER_INVALID = -5012,        /* the buffer address is not mapped memory */
	PST_E_MEMORY_TYPE = -5013,            /* this kind of memory cannot be used here */
	PST_E_POINTER_RANGE = -5014,          /* the range leaves its allocation */
	PST_E_MAPPING_SIZE = -5016,           /* the range leaves its registered buffer */
	PST_E_FILE_TYPE = -5018,              /* not a regular file or block device */
	PST_E_FILE_FLAGS = -5019,             /* the descriptor's open flags cannot be served */
	PST_E_INVALID_VALUE = -5022,          /* an argument is out of range */
	PST_E_ALREADY_REGISTERED = -5023,     /* the buffer is registered already */
	PST_E_NOT_REGISTERED = -5024,         /* no buffer is registered at this address */
	PST_E_DEVICE_NOT_FOUND = -5029,       /* no such device */
	PST_E_INTERNAL = -5030,               /* a bug in the library */
	PST_E_BATCH_FULL = -5037,             /* more requests than the batch has room for */
	PST_E_FORKED = -5101,                 /* GPU use in a child of fork() */
	PST_E_VENDOR_LIBRARY = -5102,         /* the vendor's cuFile cannot be loaded or refused */
};

/* Where in the way of a request an error arose. */
enum pst_stage {
	PST_STAGE_NONE = 0,
	PST_STAGE_ARGUMENT, /* checking what the caller gave */
	PST_STAGE_OPEN,     /* opening a file, a device, a library */
	PST_STAGE_CHOOSE,   /* choosing the path */
	PST_STAGE_MEMORY,   /* allocating, pinning, looking up memory */
	PST_STAGE_STORAGE,  /* between file and host memory */
	PST_STAGE_COPY,     /* between host memory and GPU */
};

struct pst_error {
	int code; /* what the call returned */
	enum pst_stage stage;
	int sys_errno;     /* errno of the failing system call, 0 if none */
	int device_status; /* CUresult of the failing driver call, 0 if none */
	char object[256];  /* the file, GPU or option concerned */
	char message[512]; /* one sentence: what failed, on what, why, what to do next */
};

/* The symbolic name of a code ("PST_E_POINTER_INVALID", "ENOSPC"). Never NULL: an unknown number
 * is given as text, in storage of the calling thread that its next call overwrites. */
PST_API const char *pst_code_name(int code);

/* What a code means, in one short phrase. Never NULL. Same storage rule. */
PST_API const char *pst_code_text(int code);

PST_API const char *pst_stage_name(enum pst_stage stage);

/* ------------------------------------------------------------------------------------------
 * Context
 * ------------------------------------------------------------------------------------------ */

struct pst_context;

/* Who serves requests to GPU memory. */
enum pst_engine {
	PST_ENGINE_AUTO = 0, /* the vendor's library where it goes direct, else our own pipeline */
	PST_ENGINE_NATIVE,   /* our own pipeline only */
	PST_ENGINE_VENDOR,   /* the vendor's cuFile for all GPU requests; fails where it refuses */
};

/* How file bytes reach host memory. */
enum pst_storage {
	PST_STORAGE_AUTO = 0, /* io_uring where it pays and is allowed, else plain calls */
	PST_STORAGE_URING,    /* io_uring for every direct request; refusal falls back, counted */
	PST_STORAGE_POSIX,    /* pread and pwrite only */
};

enum pst_log_level {
	PST_LOG_ERROR = 0,
	PST_LOG_WARNING,
	PST_LOG_NOTICE,
	PST_LOG_DEBUG,
};

/* Called with complete sentences, without newline, from any thread. Must not call the library. */
typedef void (*pst_log_fn)(void *arg, enum pst_log_level level, const char *message);

struct pst_options {
	size_t size_bytes; /* sizeof(struct pst_options) */
	enum pst_engine engine;
	enum pst_storage storage;
	size_t chunk_bytes;         /* largest piece of a request that is moved at once; 0: 1 MiB */
	unsigned chunks_in_flight;  /* pieces of one synchronous request at once; 0: 4 */
	const char *vendor_library; /* full path of the vendor's libcufile; NULL: search */
	pst_log_fn log;             /* NULL: silent */
	void *log_arg;              /* handed to log */
	enum pst_log_level log_level; /* messages above this level are not made */
};

/*
 * Opens a context. options may be NULL for defaults. Needs no GPU and touches none: devices are
 * opened when a request or pst_device_open names them.
 * Errors: PST_E_INVALID_VALUE, -ENOMEM.
 */
PST_API int pst_open(struct pst_context **out, const struct pst_options *options,
		     struct pst_error *err);

/* Closes a context and everything opened in it, batches too. NULL is allowed. No thread may be in
 * a call on it. A child of fork() may close its copy: the parent notices nothing. */
PST_API void pst_close(struct pst_context *ctx);

/* ------------------------------------------------------------------------------------------
 * Devices and memory
 * ------------------------------------------------------------------------------------------ */

enum pst_device_kind {
	PST_DEVICE_CUDA = 0, /* NVIDIA GPU through libcuda.so.1 */
	PST_DEVICE_HOST,     /* emulated GPU: memory of its own, asynchronous copies */
};

struct pst_device;

struct pst_device_info {
	size_t size_bytes; /* sizeof(struct pst_device_info), set by the caller */
	enum pst_device_kind kind;
	bool emulated;
	int index;             /* position in PCI bus order among the visible GPUs */
	char name[96];         /* "NVIDIA H200" */
	char uuid[48];         /* "GPU-...", empty if none */
	char bus_id[24];       /* "0000:17:00.0", empty if none */
	uint64_t memory_bytes; /* total memory */
};

/*
 * How many devices of a kind are visible (CUDA_VISIBLE_DEVICES applies). Creates no GPU context.
 * Returns the count, 0 when there are none, or PST_E_DEVICE_NOT_SUPPORTED / _DEVICE_DRIVER with
 * the reason (no libcuda.so.1, driver too old) in err.
 */
PST_API int pst_device_count(struct pst_context *ctx, enum pst_device_kind kind,
			     struct pst_error *err);

/* Describes visible device `index` of a kind without opening it: no context is made on it. */
PST_API int pst_device_describe(struct pst_context *ctx, enum pst_device_kind kind, int index,
				struct pst_device_info *info, struct pst_error *err);

/*
 * Opens a device by name: an index in PCI bus order ("0"), a UUID or its unique beginning
 * ("GPU-5c2f..."), a PCI bus id in any usual spelling ("0000:17:00.0", "17:00.0"), or "host"
 * for the emulated device, which is never chosen by any other name.
 * Errors: PST_E_DEVICE_NOT_FOUND (message lists what is visible), PST_E_DEVICE_NOT_SUPPORTED,
 * PST_E_DEVICE_DRIVER. The device stays open until pst_close.
 */
PST_API int pst_device_open(struct pst_context *ctx, const char *name, struct pst_device **out,
			    struct pst_error *err);

/* Facts of an open device. */
PST_API int pst_device_info(const struct pst_device *device, struct pst_device_info *info,
			    struct pst_error *err);

/* Kinds of memory, numbered as gdsio -m. */
enum pst_memory_kind {
	PST_MEMORY_DEVICE = 0, /* cuMemAlloc */
	PST_MEMORY_DEVICE_VMM, /* cuMemCreate and cuMemMap */
	PST_MEMORY_PINNED,     /* page-locked host memory, cuMemHostAlloc */
	PST_MEMORY_HEAP,       /* plain host memory, page aligned; huge pages when large */
	PST_MEMORY_MMAP,       /* anonymous mapping */
	PST_MEMORY_KIND_COUNT,
};

/*
 * Allocates memory. device may be NULL for PST_MEMORY_HEAP and PST_MEMORY_MMAP. The memory
 * belongs to the caller until pst_memory_free; pst_close frees what is left.
 * Errors: PST_E_INVALID_VALUE, PST_E_MEMORY_TYPE, PST_E_DEVICE_DRIVER, -ENOMEM.
 */
PST_API int pst_memory_alloc(struct pst_context *ctx, struct pst_device *device,
			     enum pst_memory_kind kind, size_t bytes, void **out,
			     struct pst_error *err);

/* Frees memory of pst_memory_alloc, by its base address. NULL is allowed. */
PST_API int pst_memory_free(struct pst_context *ctx, void *memory, struct pst_error *err);

/*
 * Copies between any two kinds of memory and returns when the bytes have arrived. Either side
 * may be host memory or memory of one device; both sides on devices need the same device.
 */
PST_API int pst_memory_copy(struct pst_context *ctx, void *destination, const void *source,
			    size_t bytes, struct pst_error *err);

/* ------------------------------------------------------------------------------------------
 * Paths and reasons
 * ------------------------------------------------------------------------------------------ */

/* The way that bytes took, from best to last. */
enum pst_path {
	PST_PATH_NONE = 0, /* no byte was moved */
	PST_PATH_DIRECT,   /* drive -> GPU by DMA, through the vendor's library, which was made to
			      refuse what it cannot do so */
	PST_PATH_STAGED,   /* drive -> pinned host memory -> GPU by copy engine */
	PST_PATH_CACHED,   /* page cache -> pinned host memory -> GPU */
	PST_PATH_VENDOR,   /* the vendor's library, where it may go through the CPU without saying
			      so: its compatibility mode is allowed */
	PST_PATH_HOST,     /* drive -> host memory, O_DIRECT */
	PST_PATH_HOST_CACHED, /* page cache -> host memory */
	PST_PATH_COUNT,
};

/* Why a better path was not taken. Bit numbers; a set of them is a uint64_t. */
enum pst_reason {
	PST_REASON_CALLER_CHOICE = 0,   /* the caller asked for this path */
	PST_REASON_HOST_MEMORY,         /* the buffer is host memory: no GPU is involved */
	PST_REASON_EMULATED_DEVICE,     /* the device is emulated: no DMA into it */
	PST_REASON_ENGINE_NATIVE,       /* the context uses our own pipeline only */
	PST_REASON_NO_VENDOR_LIBRARY,   /* libcufile of the vendor is not installed */
	PST_REASON_NO_NVIDIA_FS,        /* neither nvidia-fs nor GPU support for PCI P2PDMA */
	PST_REASON_VENDOR_REFUSED_FILE, /* the vendor's library refused this file */
	PST_REASON_FS_MEMORY_BACKED,    /* tmpfs, ramfs: there is no drive below */
	PST_REASON_FS_NETWORK,          /* NFS, SMB, ...: no local drive below */
	PST_REASON_FS_NO_O_DIRECT,      /* the file system refuses O_DIRECT */
	PST_REASON_NOT_O_DIRECT,        /* opened without O_DIRECT, and it was not asked for */
	PST_REASON_UNALIGNED_OFFSET,    /* file offset not a multiple of the block */
	PST_REASON_UNALIGNED_SIZE,      /* size not a multiple of the block */
	PST_REASON_UNALIGNED_POINTER,   /* address not aligned for DMA: bounced */
	PST_REASON_PAST_END,            /* the part past the last whole block is buffered */
	PST_REASON_READ_MODIFY_WRITE,   /* a block was read, changed and written */
	PST_REASON_MANAGED_MEMORY,      /* managed memory: copied, never DMA */
	PST_REASON_URING_KERNEL,        /* io_uring: absent or disabled in this kernel */
	PST_REASON_URING_DENIED,        /* io_uring: refused by seccomp or sysctl */
	PST_REASON_URING_MEMLOCK,       /* io_uring: locked-memory limit too small */
	PST_REASON_PIN_REFUSED,         /* slots could not be pinned: slower copies */
	PST_REASON_FORKED,              /* child of fork(): plain calls only */
	PST_REASON_COUNT,
};

/* Short stable names: "staged", "not-o-direct". Never NULL. */
PST_API const char *pst_path_name(enum pst_path path);
PST_API const char *pst_reason_name(enum pst_reason reason);
/* One phrase that a user can act on. Never NULL. */
PST_API const char *pst_path_text(enum pst_path path);
PST_API const char *pst_reason_text(enum pst_reason reason);

/* ------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------ */

struct pst_file;

/* Whether O_DIRECT is used, and whether parts of a request may overlap. */
enum pst_file_mode {
	PST_FILE_AUTO = 0, /* O_DIRECT where possible, else through the page cache */
	PST_FILE_DIRECT,   /* O_DIRECT or fail with PST_E_IO_NOT_SUPPORTED at open */
	PST_FILE_CACHED,   /* through the page cache */
};

struct pst_file_options {
	size_t size_bytes;  /* sizeof(struct pst_file_options) */
	int open_flags;     /* O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_EXCL, O_NOFOLLOW */
	mode_t create_mode; /* with O_CREAT */
	enum pst_file_mode mode;
	bool no_overlap; /* GPU requests: read all of a piece, then copy it, one at a time */
};

/*
 * Opens a file or block device. options NULL: read only, PST_FILE_AUTO.
 * O_APPEND is refused (PST_E_FILE_FLAGS), as is anything but a regular file or block device
 * (PST_E_FILE_TYPE); a FIFO is not waited for. Other errors: -errno of open with the path named.
 */
PST_API int pst_file_open(struct pst_context *ctx, const char *path,
			  const struct pst_file_options *options, struct pst_file **out,
			  struct pst_error *err);

/*
 * Makes a file of the caller's descriptor, which stays the caller's, with its flags unchanged,
 * and must stay open until pst_file_close. Descriptors of our own are opened anew beside it
 * (through /proc/self/fd), so that O_DIRECT and buffered access are both possible.
 * Of options, only mode and no_overlap apply; PST_FILE_AUTO uses O_DIRECT when the descriptor
 * has it or can be reopened with it.
 */
PST_API int pst_file_from_fd(struct pst_context *ctx, int fd,
			     const struct pst_file_options *options, struct pst_file **out,
			     struct pst_error *err);

/* Closes our descriptors. NULL is allowed. No request on the file may be running. */
PST_API void pst_file_close(struct pst_file *file);

/* The library's main descriptor of this file: for fstat, attributes and locks, never for I/O or
 * close. */
PST_API int pst_file_descriptor(const struct pst_file *file);

struct pst_file_info {
	size_t size_bytes;   /* sizeof(struct pst_file_info), set by the caller */
	uint64_t file_bytes; /* size of the file or device now */
	bool is_block_device;
	bool read_only;                     /* mounted or opened read only */
	bool memory_backed;                 /* tmpfs, ramfs, hugetlbfs */
	bool network_backed;                /* NFS, SMB, 9p, FUSE with no block device, ... */
	bool o_direct;                      /* requests use O_DIRECT */
	uint32_t direct_memory_align_bytes; /* of addresses for O_DIRECT, 0 unknown */
	uint32_t direct_offset_align_bytes; /* of offsets and sizes for O_DIRECT, 0 unknown */
	uint32_t block_major;               /* block device below, 0:0 if none */
	uint32_t block_minor;
	char fs_type[32];      /* "ext4", "tmpfs"; "block" for a device */
	char mount_point[256]; /* empty if not found */
	char mount_options[256];
	char block_name[64];   /* "nvme0n1p1", empty if none */
	uint64_t mode_reasons; /* why O_DIRECT is not used: set of enum pst_reason */
};

PST_API int pst_file_info(struct pst_file *file, struct pst_file_info *info, struct pst_error *err);

/* What the bytes of a range are. A field that could not be found out is UINT64_MAX. */
struct pst_file_source {
	size_t size_bytes;        /* sizeof(struct pst_file_source), set by the caller */
	uint64_t range_bytes;     /* part of the range inside the file */
	uint64_t resident_bytes;  /* in the page cache now */
	uint64_t hole_bytes;      /* never allocated: read as zeros without I/O */
	uint64_t unwritten_bytes; /* allocated, never written: read as zeros */
	uint64_t sampled_bytes;   /* data read to look for zeros */
	uint64_t zero_bytes;      /* of sampled_bytes, in blocks that are all zero */
};

enum pst_source_flags {
	PST_SOURCE_RESIDENT = 1, /* fill resident_bytes */
	PST_SOURCE_EXTENTS = 2,  /* fill hole_bytes, unwritten_bytes */
	PST_SOURCE_ZEROS = 4,    /* fill sampled_bytes, zero_bytes: reads up to 256 samples of 4 KiB
				    with O_DIRECT where possible, so residency stays as it is */
};

/* Looks at [offset, offset + bytes). flags is a set of enum pst_source_flags. */
PST_API int pst_file_source(struct pst_file *file, uint64_t offset, uint64_t bytes, unsigned flags,
			    struct pst_file_source *source, struct pst_error *err);

/* Bytes that the block device below the file has read and written since boot (diskstats). 1 when
 * they may stand still (a mapped device whose statistics are switched off, which some kernels
 * count all the same): a change is real then, none says nothing. -ENODEV when there is none. */
PST_API int pst_file_device_bytes(struct pst_file *file, uint64_t *read_bytes,
				  uint64_t *written_bytes, struct pst_error *err);

/* Asks the kernel to drop clean cached pages of a range; dirty ones are written first. Look at
 * resident_bytes afterwards: the kernel may keep some. */
PST_API int pst_file_evict(struct pst_file *file, uint64_t offset, uint64_t bytes,
			   struct pst_error *err);

/* ------------------------------------------------------------------------------------------
 * Buffers
 * ------------------------------------------------------------------------------------------ */

/*
 * Makes a buffer known, which saves looking it up in every request and, on the vendor's path,
 * pins it. The range must lie in one allocation (PST_E_POINTER_RANGE). Registering is optional.
 * Errors: PST_E_ALREADY_REGISTERED (same base), PST_E_MEMORY_TYPE (managed memory),
 * PST_E_POINTER_INVALID, PST_E_INVALID_VALUE (zero bytes).
 */
PST_API int pst_buffer_register(struct pst_context *ctx, void *base, size_t bytes,
				struct pst_error *err);

/* PST_E_NOT_REGISTERED when base is not the base of a registered buffer. */
PST_API int pst_buffer_unregister(struct pst_context *ctx, void *base, struct pst_error *err);

/* ------------------------------------------------------------------------------------------
 * I/O
 * ------------------------------------------------------------------------------------------ */

/*
 * Reads bytes at file_offset into buffer + buffer_offset. Any offset, size and alignment; sizes
 * beyond 2 GiB are moved whole. Returns fewer bytes only at the end of the file, 0 at or beyond
 * it. Synchronous to the caller, not ordered with any GPU stream.
 * When an error strikes after some bytes have arrived, the error is returned; the range may
 * then be partly filled. Errors: -errno of the read, PST_E_POINTER_INVALID, PST_E_POINTER_RANGE,
 * PST_E_MAPPING_SIZE, PST_E_DEVICE_DRIVER, PST_E_FORKED, PST_E_INVALID_VALUE.
 */
PST_API ssize_t pst_read(struct pst_file *file, void *buffer, size_t bytes, off_t file_offset,
			 off_t buffer_offset, struct pst_error *err);

/*
 * Writes bytes of buffer + buffer_offset at file_offset. Any offset, size and alignment; the
 * file grows to exactly the end of the written range; bytes outside it survive. Unaligned ends
 * of O_DIRECT writes are read, changed and written under locks: writers of any kind in this
 * process, and unaligned ends in other processes that use this library, wait for each other.
 * Other writers to the same block (the larger of 4 KiB and the device's logical block) at the
 * same time are unsafe: those without this library, children of fork(), and another process's
 * write of whole blocks, which takes no lock between processes. Returns bytes, all of them, or a
 * code; -ENOSPC may follow after a part was written. Durability is the caller's fsync.
 */
PST_API ssize_t pst_write(struct pst_file *file, const void *buffer, size_t bytes,
			  off_t file_offset, off_t buffer_offset, struct pst_error *err);

enum pst_op {
	PST_OP_READ = 0,
	PST_OP_WRITE,
};

/* The path a request would take. */
struct pst_plan {
	size_t size_bytes; /* sizeof(struct pst_plan), set by the caller */
	enum pst_path path;
	uint64_t reasons;          /* set of enum pst_reason */
	enum pst_storage storage;  /* PST_STORAGE_URING or PST_STORAGE_POSIX */
	struct pst_device *device; /* NULL for host memory */
};

/* Chooses the path of a request without doing it. Arguments as pst_read. */
PST_API int pst_explain(struct pst_file *file, enum pst_op op, const void *buffer, size_t bytes,
			off_t file_offset, off_t buffer_offset, struct pst_plan *plan,
			struct pst_error *err);

/* ------------------------------------------------------------------------------------------
 * Several requests in flight
 * ------------------------------------------------------------------------------------------ */

struct pst_batch;

struct pst_io {
	enum pst_op op;
	struct pst_file *file;
	void *buffer;
	size_t bytes;
	off_t file_offset;
	off_t buffer_offset;
	uint64_t cookie; /* comes back in the event */
};

struct pst_event {
	uint64_t cookie;
	ssize_t result;         /* as pst_read or pst_write would return */
	uint64_t latency_ns;    /* from submit to the moment the request was seen complete */
	struct pst_error error; /* filled when result < 0 */
};

#define PST_BATCH_MAX_CAPACITY 4096

/*
 * A set of up to `capacity` requests in flight, driven by the thread that calls submit and wait;
 * for a while also by one whose write waits for blocks that a request of the set is writing.
 * Errors: PST_E_INVALID_VALUE (0 or above PST_BATCH_MAX_CAPACITY), -ENOMEM.
 */
PST_API int pst_batch_open(struct pst_context *ctx, unsigned capacity, struct pst_batch **out,
			   struct pst_error *err);

/* Waits for requests in flight, then frees. NULL is allowed. */
PST_API void pst_batch_close(struct pst_batch *batch);

/*
 * Starts requests. Takes all or none: PST_E_BATCH_FULL when there is no room for `count`. The
 * array is copied; files and buffers must live until the event. No order is kept between them.
 * A request that cannot be started is reported by its event.
 */
PST_API int pst_batch_submit(struct pst_batch *batch, const struct pst_io *ios, unsigned count,
			     struct pst_error *err);

/*
 * Drives the requests until `min_events` are complete or timeout_ns has passed (negative: no
 * limit), and hands out up to `room` events, each once, in any order. min_events 0 never waits.
 * Returns the number of events. min_events above what is in flight waits for what is.
 */
PST_API int pst_batch_wait(struct pst_batch *batch, unsigned min_events, unsigned room,
			   struct pst_event *events, int64_t timeout_ns, struct pst_error *err);

/* ------------------------------------------------------------------------------------------
 * Statistics
 * ------------------------------------------------------------------------------------------ */

struct pst_path_counters {
	uint64_t requests;
	uint64_t bytes;
	uint64_t errors;
};

struct pst_stats {
	size_t size_bytes; /* sizeof(struct pst_stats), set by the caller */
	struct pst_path_counters read[PST_PATH_COUNT];
	struct pst_path_counters write[PST_PATH_COUNT];
	uint64_t reasons[PST_REASON_COUNT]; /* requests that had this reason */
	uint64_t slot_bytes;                /* pinned host memory held now */
	uint64_t uring_requests;            /* storage operations through io_uring */
	uint64_t posix_requests;            /* storage operations through plain calls */
	uint64_t short_transfers;           /* storage operations continued after a short one */
};

/* Counters of a context since it was opened: a sum over threads, each part exact. */
PST_API int pst_stats_get(struct pst_context *ctx, struct pst_stats *stats, struct pst_error *err);

/*
 * Latency histogram: values in nanoseconds up to about 584 years, relative error below 0.8 %,
 * exact count, minimum, maximum and sum, constant memory (about 60 KiB). One thread records;
 * merge brings threads together.
 */
struct pst_histogram;

PST_API struct pst_histogram *pst_histogram_new(void); /* NULL: out of memory */
PST_API void pst_histogram_free(struct pst_histogram *h);
PST_API void pst_histogram_reset(struct pst_histogram *h);
PST_API void pst_histogram_record(struct pst_histogram *h, uint64_t value_ns);
PST_API void pst_histogram_merge(struct pst_histogram *into, const struct pst_histogram *from);
PST_API uint64_t pst_histogram_count(const struct pst_histogram *h);
PST_API uint64_t pst_histogram_min(const struct pst_histogram *h); /* 0 when empty */
PST_API uint64_t pst_histogram_max(const struct pst_histogram *h);
PST_API double pst_histogram_mean(const struct pst_histogram *h); /* NAN when empty */
/* Nearest rank: the smallest recorded value with at least percent % of values at or below it, to
 * the histogram's resolution and never outside [min, max]. 0 < percent <= 100. 0 when empty. */
PST_API uint64_t pst_histogram_percentile(const struct pst_histogram *h, double percent);

/* One bucket that is not empty: values in [low_ns, high_ns]. */
struct pst_bucket {
	uint64_t low_ns;
	uint64_t high_ns;
	uint64_t count;
};

/* Walks the buckets that are not empty: start with *cursor = 0; false at the end. */
PST_API bool pst_histogram_next(const struct pst_histogram *h, uint32_t *cursor,
				struct pst_bucket *bucket);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Names and phrases of the numbers that penstock.h hands out: one table for each enum. */
#include "penstock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ERRNO       4095
#define TEXT_BYTES      128
#define STRINGIZE_(x)   #x
#define STRINGIZE(x)    STRINGIZE_(x)
#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct entry {
	const char *name;
	const char *text;
};

struct code_entry {
	enum pst_code code;
	struct entry entry;
};

#define CODE(c, phrase)                                                                            \
	{                                                                                          \
		c,                                                                                 \
		{                                                                                  \
#c, phrase                                                                 \
		}                                                                                  \
	}

static const struct code_entry codes[] = {
	CODE(PST_OK, "success"),
	CODE(PST_E_DRIVER_NOT_INITIALIZED, "the direct path was required, but this system has "
					   "no kernel support for it"),
	CODE(PST_E_IO_NOT_SUPPORTED, "the required path cannot serve this file"),
	CODE(PST_E_DEVICE_NOT_SUPPORTED, "the GPU or its driver lacks what is needed"),
	CODE(PST_E_DEVICE_DRIVER, "a call to the GPU driver failed"),
	CODE(PST_E_POINTER_INVALID, "the buffer address is not mapped memory"),
	CODE(PST_E_MEMORY_TYPE, "this kind of memory cannot be used here"),
	CODE(PST_E_POINTER_RANGE, "the range goes beyond its memory allocation"),
	CODE(PST_E_MAPPING_SIZE, "the range goes beyond its registered buffer"),
	CODE(PST_E_FILE_TYPE, "neither a regular file nor a block device"),
	CODE(PST_E_FILE_FLAGS, "the file was opened with flags that cannot be served"),
	CODE(PST_E_INVALID_VALUE, "an argument is outside its allowed range"),
	CODE(PST_E_ALREADY_REGISTERED, "the buffer is already registered"),
	CODE(PST_E_NOT_REGISTERED, "no buffer is registered at this address"),
	CODE(PST_E_DEVICE_NOT_FOUND, "no visible device has this name or index"),
	CODE(PST_E_INTERNAL, "a bug in penstock: please report it with the message"),
	CODE(PST_E_BATCH_FULL, "the batch has no room for this many requests"),
	CODE(PST_E_FORKED, "GPU requests are impossible in a child of fork(): exec a new program "
			   "or fork before the first GPU use"),
	CODE(PST_E_VENDOR_LIBRARY, "the vendor's cuFile library cannot be loaded or refused: the "
				   "native engine works without it"),
};

static const char *const stage_names[] = {
	[PST_STAGE_NONE] = "none",     [PST_STAGE_ARGUMENT] = "argument",
	[PST_STAGE_OPEN] = "open",     [PST_STAGE_CHOOSE] = "choose",
	[PST_STAGE_MEMORY] = "memory", [PST_STAGE_STORAGE] = "storage",
	[PST_STAGE_COPY] = "copy",
};

static const struct entry paths[PST_PATH_COUNT] = {
	[PST_PATH_NONE] = {"none", "no byte was moved"},
	[PST_PATH_DIRECT] = {"direct", "drive to GPU by DMA, through the vendor's library"},
	[PST_PATH_STAGED] = {"staged", "storage to pinned host memory by O_DIRECT, then to the GPU "
				       "by its copy engine"},
	[PST_PATH_CACHED] = {"cached", "page cache to pinned host memory, then to the GPU by its "
				       "copy engine"},
	[PST_PATH_VENDOR] = {"vendor",
			     "the vendor's library with its compatibility mode allowed: "
			     "without kernel support through host memory, with it perhaps"},
	[PST_PATH_HOST] = {"host", "storage to host memory by O_DIRECT, no GPU involved"},
	[PST_PATH_HOST_CACHED] = {"host-cached", "page cache to host memory, no GPU involved"},
};

static const struct entry reasons[PST_REASON_COUNT] = {
	[PST_REASON_CALLER_CHOICE] = {"caller-choice", "this path was asked for: leave the choice "
						       "open to get the best one"},
	[PST_REASON_HOST_MEMORY] = {"host-memory", "the buffer is host memory, so no GPU is "
						   "involved: pass GPU memory to use one"},
	[PST_REASON_EMULATED_DEVICE] = {"emulated-device", "the device is emulated in host memory: "
							   "name a real GPU for DMA"},
	[PST_REASON_ENGINE_NATIVE] = {"engine-native", "the engine is set to native, which leaves "
						       "the vendor's library out: set it to auto"},
	[PST_REASON_NO_VENDOR_LIBRARY] = {"no-vendor-library",
					  "the vendor's libcufile was not found: install it or "
					  "name it in PENSTOCK_VENDOR_CUFILE"},
	[PST_REASON_NO_NVIDIA_FS] = {"no-nvidia-fs",
				     "the kernel has neither nvidia-fs nor PCI peer-to-peer for "
				     "this GPU: load the nvidia-fs module"},
	[PST_REASON_VENDOR_REFUSED_FILE] = {"vendor-refused-file",
					    "the vendor's library refused this file: the error of "
					    "--engine vendor says what it needs"},
	[PST_REASON_FS_MEMORY_BACKED] = {"fs-memory-backed",
					 "the file system lives in memory (tmpfs, ramfs): put the "
					 "file on a drive for DMA"},
	[PST_REASON_FS_NETWORK] = {"fs-network", "the file system comes over the network: no local "
						 "drive can send its blocks"},
	[PST_REASON_FS_NO_O_DIRECT] = {"fs-no-o-direct", "the file system refuses O_DIRECT: use "
							 "one such as ext4 or XFS"},
	[PST_REASON_NOT_O_DIRECT] = {"not-o-direct", "the file is open without O_DIRECT: open it "
						     "by path in direct mode"},
	[PST_REASON_UNALIGNED_OFFSET] = {"unaligned-offset",
					 "the file offset is not a multiple of the block: align "
					 "it to 4 KiB"},
	[PST_REASON_UNALIGNED_SIZE] = {"unaligned-size", "the size is not a multiple of the block: "
							 "use multiples of 4 KiB"},
	[PST_REASON_UNALIGNED_POINTER] = {"unaligned-pointer",
					  "the buffer address is not aligned for DMA: align it to "
					  "4 KiB"},
	[PST_REASON_PAST_END] = {"past-end", "the part past the file's last whole block goes "
					     "through the page cache"},
	[PST_REASON_READ_MODIFY_WRITE] = {"read-modify-write",
					  "a part of a block was written, so the block was read "
					  "first: write whole blocks"},
	[PST_REASON_MANAGED_MEMORY] = {"managed-memory", "managed memory may move between host and "
							 "GPU: use cuMemAlloc memory for DMA"},
	[PST_REASON_URING_KERNEL] = {"uring-kernel",
				     "this kernel or this build has no io_uring: plain calls are "
				     "used instead"},
	[PST_REASON_URING_DENIED] = {"uring-denied",
				     "io_uring is forbidden by seccomp or by "
				     "kernel.io_uring_disabled: plain calls are used instead"},
	[PST_REASON_URING_MEMLOCK] = {"uring-memlock",
				      "the limit on locked memory is too small for io_uring: raise "
				      "it with ulimit -l"},
	[PST_REASON_PIN_REFUSED] = {"pin-refused",
				    "the driver would not page-lock host memory, so copies are "
				    "slower: raise ulimit -l or free memory"},
	[PST_REASON_FORKED] = {"forked", "in a child of fork() only plain calls on host memory are "
					 "possible"},
};

/* Apart, so that a name and a text of one number can stand in one printf. */
static _Thread_local char name_storage[TEXT_BYTES];
static _Thread_local char text_storage[TEXT_BYTES];

/* A code in either sign means the same thing: some callers keep cuFile numbers and errno values
 * positive. */
static const struct entry *find_code(long long magnitude)
{
	for (size_t i = 0; i < ARRAY_LENGTH(codes); i++)
		if (-(long long)codes[i].code == magnitude)
			return &codes[i].entry;
	return NULL;
}

static const char *errno_name(int number)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	const char *name = strerrorname_np(number);

	if (name)
		return name;
#endif
	snprintf(name_storage, sizeof(name_storage), "errno %d", number);
	return name_storage;
}

static const char *errno_text(int number)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(number);

	if (text)
		return text;
#elif defined(__GLIBC__)
	char text[TEXT_BYTES];
	const char *found = strerror_r(number, text, sizeof(text));

	snprintf(text_storage, sizeof(text_storage), "%s", found);
	return text_storage;
#else
	if (strerror_r(number, text_storage, sizeof(text_storage)) == 0)
		return text_storage;
#endif
	snprintf(text_storage, sizeof(text_storage), "unknown system error %d", number);
	return text_storage;
}

PST_API const char *pst_version(void)
{
	return STRINGIZE(PST_VERSION_MAJOR) "." STRINGIZE(PST_VERSION_MINOR) "." STRINGIZE(
		PST_VERSION_PATCH);
}

PST_API const char *pst_code_name(int code)
{
	long long magnitude = llabs((long long)code);
	const struct entry *entry = find_code(magnitude);

	if (entry)
		return entry->name;
	if (magnitude <= MAX_ERRNO)
		return errno_name((int)magnitude);
	snprintf(name_storage, sizeof(name_storage), "code %d", code);
	return name_storage;
}

PST_API const char *pst_code_text(int code)
{
	long long magnitude = llabs((long long)code);
	const struct entry *entry = find_code(magnitude);

	if (entry)
		return entry->text;
	if (magnitude <= MAX_ERRNO)
		return errno_text((int)magnitude);
	snprintf(text_storage, sizeof(text_storage), "unknown code %d", code);
	return text_storage;
}

static const char *unknown(char *storage, const char *kind, unsigned number)
{
	snprintf(storage, TEXT_BYTES, "%s %u", kind, number);
	return storage;
}

PST_API const char *pst_stage_name(enum pst_stage stage)
{
	if ((unsigned)stage < ARRAY_LENGTH(stage_names))
		return stage_names[stage];
	return unknown(name_storage, "stage", (unsigned)stage);
}

PST_API const char *pst_path_name(enum pst_path path)
{
	if ((unsigned)path < PST_PATH_COUNT)
		return paths[path].name;
	return unknown(name_storage, "path", (unsigned)path);
}

PST_API const char *pst_path_text(enum pst_path path)
{
	if ((unsigned)path < PST_PATH_COUNT)
		return paths[path].text;
	return unknown(text_storage, "unknown path", (unsigned)path);
}

PST_API const char *pst_reason_name(enum pst_reason reason)
{
	if ((unsigned)reason < PST_REASON_COUNT)
		return reasons[reason].name;
	return unknown(name_storage, "reason", (unsigned)reason);
}

PST_API const char *pst_reason_text(enum pst_reason reason)
{
	if ((unsigned)reason < PST_REASON_COUNT)
		return reasons[reason].text;
	return unknown(text_storage, "unknown reason", (unsigned)reason);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the vendor's numbers mean, and why it refuses files. */
#include "path/vendor_abi.h"

#include "os/os.h"
#include "os/root.h"
#include "util/error.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define MAX_ERRNO        4095
#define NUMBER_FIRST     5001
#define NUMBER_LAST      5999 /* room for numbers that newer libraries may add */
#define UDEV_RECORD_SIZE 16384
#define SEE_LOG          "its log (cufile.log, CUFILE_LOGGING_LEVEL=DEBUG) has the cause"

static const char *const number_texts[] = {
	[5001 - NUMBER_FIRST] = "driver not initialized",
	[5002 - NUMBER_FIRST] = "driver invalid props",
	[5003 - NUMBER_FIRST] = "driver unsupported limit",
	[5004 - NUMBER_FIRST] = "driver version mismatch",
	[5005 - NUMBER_FIRST] = "driver version read error",
	[5006 - NUMBER_FIRST] = "driver closing",
	[5007 - NUMBER_FIRST] = "platform not supported",
	[5008 - NUMBER_FIRST] = "io not supported",
	[5009 - NUMBER_FIRST] = "device not supported",
	[5010 - NUMBER_FIRST] = "nvfs driver error",
	[5011 - NUMBER_FIRST] = "cuda driver error",
	[5012 - NUMBER_FIRST] = "cuda pointer invalid",
	[5013 - NUMBER_FIRST] = "cuda memory type invalid",
	[5014 - NUMBER_FIRST] = "cuda pointer range error",
	[5015 - NUMBER_FIRST] = "cuda context mismatch",
	[5016 - NUMBER_FIRST] = "invalid mapping size",
	[5017 - NUMBER_FIRST] = "invalid mapping range",
	[5018 - NUMBER_FIRST] = "invalid file type",
	[5019 - NUMBER_FIRST] = "invalid file open flag",
	[5020 - NUMBER_FIRST] = "dio not set",
	[5022 - NUMBER_FIRST] = "invalid value",
	[5023 - NUMBER_FIRST] = "memory already registered",
	[5024 - NUMBER_FIRST] = "memory not registered",
	[5025 - NUMBER_FIRST] = "permission denied",
	[5026 - NUMBER_FIRST] = "driver already open",
	[5027 - NUMBER_FIRST] = "handle not registered",
	[5028 - NUMBER_FIRST] = "handle already registered",
	[5029 - NUMBER_FIRST] = "device not found",
	[5030 - NUMBER_FIRST] = "internal error",
	[5031 - NUMBER_FIRST] = "getnewfd failed",
	[5033 - NUMBER_FIRST] = "nvfs setup error",
	[5034 - NUMBER_FIRST] = "io disabled",
	[5035 - NUMBER_FIRST] = "batch submit failed",
	[5036 - NUMBER_FIRST] = "gpu memory pinning failed",
	[5037 - NUMBER_FIRST] = "batch full",
	[5038 - NUMBER_FIRST] = "async not supported",
	[5039 - NUMBER_FIRST] = "internal batch setup error",
	[5040 - NUMBER_FIRST] = "internal batch submit error",
	[5041 - NUMBER_FIRST] = "internal batch getstatus error",
	[5042 - NUMBER_FIRST] = "internal batch cancel error",
	[5043 - NUMBER_FIRST] = "nomem error",
	[5044 - NUMBER_FIRST] = "io error",
	[5045 - NUMBER_FIRST] = "internal buf register error",
	[5046 - NUMBER_FIRST] = "hash opr error",
	[5047 - NUMBER_FIRST] = "invalid context error",
	[5048 - NUMBER_FIRST] = "nvfs internal driver error",
	[5049 - NUMBER_FIRST] = "batch nocompat error",
};

const char *vendor_number_text(int number)
{
	size_t index = (size_t)number - NUMBER_FIRST;

	if (number >= NUMBER_FIRST && index < sizeof(number_texts) / sizeof(number_texts[0]) &&
	    number_texts[index])
		return number_texts[index];
	return "a number unknown to penstock";
}

int vendor_code(int number)
{
	switch (number) {
	case -PST_E_DRIVER_NOT_INITIALIZED:
	case -PST_E_IO_NOT_SUPPORTED:
	case -PST_E_DEVICE_NOT_SUPPORTED:
	case -PST_E_DEVICE_DRIVER:
	case -PST_E_POINTER_INVALID:
	case -PST_E_MEMORY_TYPE:
	case -PST_E_POINTER_RANGE:
	case -PST_E_MAPPING_SIZE:
	case -PST_E_FILE_TYPE:
	case -PST_E_FILE_FLAGS:
	case -PST_E_ALREADY_REGISTERED:
	case -PST_E_NOT_REGISTERED:
	case -PST_E_DEVICE_NOT_FOUND:
		return -number;
	default:
		/* 5030 in particular is the vendor's internal error, not ours. */
		return PST_E_VENDOR_LIBRARY;
	}
}

struct vendor_failure vendor_decode(ssize_t result, int errno_after)
{
	struct vendor_failure failure = {0};
	int cause = 0;

	if (result == -1)
		cause = errno_after;
	else if (result < 0 && result >= -NUMBER_LAST)
		cause = (int)-result;
	if (cause >= NUMBER_FIRST && cause <= NUMBER_LAST)
		failure.number = cause;
	else if (cause > 0 && cause <= MAX_ERRNO)
		failure.sys_errno = cause;
	return failure;
}

static bool in_memory(int fd)
{
	struct statfs fs;

	return os()->fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* Whether udev may have a record of the device that names its use: true also when that cannot be
 * found out. The library looks for exactly this record. */
static bool has_udev_record(dev_t device, char *record, size_t record_size)
{
	char *text = malloc(UDEV_RECORD_SIZE);
	ssize_t length;
	bool found;

	snprintf(record, record_size, "/run/udev/data/b%u:%u", major(device), minor(device));
	if (!text)
		return true;
	length = os_read_text(record, text, UDEV_RECORD_SIZE);
	found = length >= 0 ? strstr(text, "E:ID_FS_USAGE=") != NULL : length != -ENOENT;
	free(text);
	return found;
}

/* Why a file failed with one of the numbers that hide a missing or unsuitable device. */
static void explain_device(int fd, char *out, size_t size)
{
	struct stat st;
	dev_t device = 0;
	char record[64];

	if (os()->fstat(fd, &st) == 0)
		device = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	if (in_memory(fd))
		snprintf(out, size, "it takes no file of tmpfs or ramfs; put the file on a drive");
	else if (device && major(device) == 0)
		snprintf(out, size,
			 "it needs a file system on a block device that udev knows, and this one "
			 "has "
			 "device number 0:%u; put the file on ext4 or XFS",
			 minor(device));
	else if (device && !has_udev_record(device, record, sizeof(record)))
		snprintf(out, size,
			 "it needs a udev record with ID_FS_USAGE for the block device, and %s "
			 "gives "
			 "none; run udevd, or mount /run/udev into the container",
			 record);
	else
		snprintf(out, size, SEE_LOG);
}

/* What the library lacks to take this file, as the middle of a sentence. */
static void explain(int fd, struct vendor_result result, char *out, size_t size)
{
	switch (result.number) {
	case 5001:
		snprintf(out, size,
			 "it needs the nvidia-fs kernel module, or allow_compat_mode true in "
			 "cufile.json (or CUFILE_ALLOW_COMPAT_MODE=true)");
		return;
	case 5008:
	case 5034:
		snprintf(out, size,
			 "its direct path serves XFS and ext4 mounted with data=ordered on NVMe "
			 "drives that cufile.json does not exclude; for other files it needs "
			 "allow_compat_mode true there (or CUFILE_ALLOW_COMPAT_MODE=true)");
		return;
	case 5011:
		snprintf(out, size, "a GPU driver call failed with status %d", result.cuda_status);
		return;
	case 5027:
	case 5030:
		explain_device(fd, out, size);
		return;
	default:
		snprintf(out, size, SEE_LOG);
		return;
	}
}

int vendor_refusal(const struct vendor *v, int fd, const char *path, struct vendor_result result,
		   struct pst_error *err)
{
	char why[320];

	explain(fd, result, why, sizeof(why));
	return error_set_device(err, vendor_code(result.number), PST_STAGE_OPEN, result.cuda_status,
				path,
				"the vendor's cuFile %d.%d refused %.180s with %d (%s): %s; or use "
				"--engine native",
				v->version / 1000, v->version % 1000 / 10, path, result.number,
				vendor_number_text(result.number), why);
}

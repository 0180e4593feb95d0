/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small vendor library for tests: the functions that penstock calls, moving bytes with pread
 * and pwrite through a bounce buffer. GPU memory is reached through the GPU driver that the
 * process has loaded, real or fake; without one, or for host memory, by memcpy.
 *
 * The environment is read at every call:
 *   FAKE_CUFILE_REFUSE=N		registering a file gives error N
 *   FAKE_CUFILE_REFUSE_BUFFER=N	registering a buffer gives error N (with 5011: driver status
 * 2) FAKE_CUFILE_RETURN=R		reads and writes return R ...
 *   FAKE_CUFILE_ERRNO=E		... and set errno to E
 *   FAKE_CUFILE_FAIL_AFTER=K		... from the (K+1)-th call after this variable changed
 *   FAKE_CUFILE_MAX_BYTES=M		one call moves at most M bytes
 *   FAKE_CUFILE_REFUSE_PARAMETER=N	setting a parameter gives error N
 *   FAKE_CUFILE_PRETEND=1		no byte is moved, all are reported as moved
 * Builds: FAKE_IS_PENSTOCK carries the mark of penstock's own library, FAKE_OLD has no
 * cuFileGetVersion, FAKE_BROKEN has no cuFileWrite.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT           __attribute__((visibility("default")))
#define MAX_FILES        1024
#define MAX_BUFFERS      1024
#define BOUNCE_BYTES     ((size_t)1 << 20)
#define ATTRIBUTE_MEMORY 2 /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
#define MEMORY_DEVICE    2 /* CU_MEMORYTYPE_DEVICE */

struct status {
	int number;
	int cuda_status;
};

struct description {
	int kind;
	union {
		int fd;
		void *opaque;
	} file;
	const void *calls;
};

EXPORT struct status cuFileHandleRegister(void **handle, struct description *what);
EXPORT void cuFileHandleDeregister(void *handle);
EXPORT struct status cuFileBufRegister(const void *base, size_t bytes, int flags);
EXPORT struct status cuFileBufDeregister(const void *base);
EXPORT ssize_t cuFileRead(void *handle, void *base, size_t bytes, off_t file_offset,
			  off_t buffer_offset);

/* For tests. */
EXPORT extern size_t fake_cufile_largest_call;
EXPORT extern unsigned fake_cufile_transfers;
EXPORT extern unsigned fake_cufile_files;
size_t fake_cufile_largest_call;
unsigned fake_cufile_transfers;
unsigned fake_cufile_files;
EXPORT extern int fake_cufile_compat;
int fake_cufile_compat = 1; /* parameter 1: whether compatibility mode is allowed */

struct file {
	int in_use;
	int fd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[MAX_FILES];
static const void *buffers[MAX_BUFFERS];
static char fail_after[16]; /* value of FAKE_CUFILE_FAIL_AFTER that `countdown` comes from */
static long countdown;

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static struct status give(int number)
{
	return (struct status){.number = number, .cuda_status = number == 5011 ? 2 : 0};
}

EXPORT struct status cuFileHandleRegister(void **handle, struct description *what)
{
	int number = (int)setting("FAKE_CUFILE_REFUSE", 0);
	struct file *free_file = NULL;

	if (number)
		return give(number);
	if (!handle || !what || what->kind != 1 || what->calls)
		return give(5022);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MAX_FILES && !number; i++) {
		if (!files[i].in_use)
			free_file = free_file ? free_file : &files[i];
		else if (files[i].fd == what->file.fd)
			number = 5028;
	}
	if (!number && !free_file)
		number = 5043;
	if (!number) {
		free_file->in_use = 1;
		free_file->fd = what->file.fd;
		*handle = free_file;
		fake_cufile_files++;
	}
	pthread_mutex_unlock(&lock);
	return give(number);
}

EXPORT void cuFileHandleDeregister(void *handle)
{
	struct file *file = handle;

	pthread_mutex_lock(&lock);
	if (file && file->in_use) {
		file->in_use = 0;
		fake_cufile_files--;
	}
	pthread_mutex_unlock(&lock);
}

/* Replaces one entry of the table by another: 0, or -1 when `from` is not in it. */
static int replace_buffer(const void *from, const void *to)
{
	for (int i = 0; i < MAX_BUFFERS; i++) {
		if (buffers[i] == from) {
			buffers[i] = to;
			return 0;
		}
	}
	return -1;
}

EXPORT struct status cuFileBufRegister(const void *base, size_t bytes, int flags)
{
	int number = (int)setting("FAKE_CUFILE_REFUSE_BUFFER", 0);

	if (number)
		return give(number);
	if (!base || !bytes || flags)
		return give(5022);
	pthread_mutex_lock(&lock);
	if (replace_buffer(base, base) == 0)
		number = 5023;
	else if (replace_buffer(NULL, base) < 0)
		number = 5043;
	pthread_mutex_unlock(&lock);
	return give(number);
}

EXPORT struct status cuFileBufDeregister(const void *base)
{
	int number;

	pthread_mutex_lock(&lock);
	number = base && replace_buffer(base, NULL) == 0 ? 0 : 5024;
	pthread_mutex_unlock(&lock);
	return give(number);
}

#ifndef FAKE_OLD
EXPORT struct status cuFileSetParameterBool(int parameter, bool value);
EXPORT struct status cuFileSetParameterBool(int parameter, bool value)
{
	int number = (int)setting("FAKE_CUFILE_REFUSE_PARAMETER", 0);

	if (!number && parameter == 1)
		fake_cufile_compat = value;
	return give(number);
}

EXPORT struct status cuFileGetVersion(int *version);
EXPORT struct status cuFileGetVersion(int *version)
{
	*version = 1150;
	return give(0);
}
#endif

#ifdef FAKE_IS_PENSTOCK
EXPORT int pst_is_penstock_cufile(void);
EXPORT int pst_is_penstock_cufile(void)
{
	return 1;
}
#endif

/* A function of the GPU driver, only if the process has one loaded already. */
static void driver_symbol(const char *name, void *function_pointer)
{
	const char *path = getenv("PENSTOCK_LIBCUDA");
	void *symbol = dlsym(RTLD_DEFAULT, name);
	void *driver;

	if (!symbol) {
		driver = dlopen(path ? path : "libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
		if (driver) {
			symbol = dlsym(driver, name);
			dlclose(driver); /* the count that RTLD_NOLOAD added */
		}
	}
	memcpy(function_pointer, &symbol, sizeof(symbol));
}

static int is_device_memory(const void *address)
{
	int (*get_attribute)(void *out, int attribute, uintptr_t address);
	unsigned memory = 0;

	driver_symbol("cuPointerGetAttribute", &get_attribute);
	return get_attribute && get_attribute(&memory, ATTRIBUTE_MEMORY, (uintptr_t)address) == 0 &&
	       memory == MEMORY_DEVICE;
}

/* Between the bounce buffer and the caller's memory: 0 or a negative cuFile number. */
static int copy(int write, void *memory, void *bounce, size_t bytes)
{
	int (*in)(uintptr_t device, const void *host, size_t bytes);
	int (*out)(void *host, uintptr_t device, size_t bytes);

	if (!is_device_memory(memory)) {
		memcpy(write ? bounce : memory, write ? memory : bounce, bytes);
		return 0;
	}
	driver_symbol("cuMemcpyHtoD_v2", &in);
	driver_symbol("cuMemcpyDtoH_v2", &out);
	if (!in || !out)
		return -5011;
	if (write ? out(bounce, (uintptr_t)memory, bytes) : in((uintptr_t)memory, bounce, bytes))
		return -5011;
	return 0;
}

static ssize_t move(int write, int fd, char *memory, size_t bytes, off_t offset)
{
	char *bounce = aligned_alloc(4096, BOUNCE_BYTES); /* descriptors may have O_DIRECT */
	ssize_t moved = 0;
	size_t done = 0;
	size_t piece;
	int failure;

	if (!bounce)
		return -5043;
	while (done < bytes) {
		piece = bytes - done < BOUNCE_BYTES ? bytes - done : BOUNCE_BYTES;
		failure = write ? copy(1, memory + done, bounce, piece) : 0;
		if (failure)
			moved = failure;
		else if (write)
			moved = pwrite(fd, bounce, piece, offset + (off_t)done);
		else
			moved = pread(fd, bounce, piece, offset + (off_t)done);
		if (moved <= 0)
			break;
		failure = write ? 0 : copy(0, memory + done, bounce, (size_t)moved);
		if (failure) {
			moved = failure;
			break;
		}
		done += (size_t)moved;
	}
	free(bounce);
	return moved < 0 ? moved : (ssize_t)done;
}

/* Whether this call is one of those that fail. */
static int fails_now(void)
{
	const char *text = getenv("FAKE_CUFILE_FAIL_AFTER");

	if (!getenv("FAKE_CUFILE_RETURN"))
		return 0;
	text = text ? text : "0";
	if (strcmp(text, fail_after) != 0) {
		strncpy(fail_after, text, sizeof(fail_after) - 1);
		countdown = strtol(text, NULL, 10);
	}
	return countdown-- <= 0;
}

static ssize_t transfer(int write, void *handle, void *base, size_t bytes, off_t file_offset,
			off_t buffer_offset)
{
	struct file *file = handle;
	size_t most = (size_t)setting("FAKE_CUFILE_MAX_BYTES", 0);
	int fails;
	int known;

	pthread_mutex_lock(&lock);
	fake_cufile_transfers++;
	if (bytes > fake_cufile_largest_call)
		fake_cufile_largest_call = bytes;
	known = file && file->in_use;
	fails = fails_now();
	pthread_mutex_unlock(&lock);
	if (!known)
		return -5027;
	if (fails) {
		errno = (int)setting("FAKE_CUFILE_ERRNO", 0);
		return (ssize_t)setting("FAKE_CUFILE_RETURN", -1);
	}
	if (most && bytes > most)
		bytes = most;
	if (setting("FAKE_CUFILE_PRETEND", 0))
		return (ssize_t)bytes;
	return move(write, file->fd, (char *)base + buffer_offset, bytes, file_offset);
}

EXPORT ssize_t cuFileRead(void *handle, void *base, size_t bytes, off_t file_offset,
			  off_t buffer_offset)
{
	return transfer(0, handle, base, bytes, file_offset, buffer_offset);
}

#ifndef FAKE_BROKEN
EXPORT ssize_t cuFileWrite(void *handle, const void *base, size_t bytes, off_t file_offset,
			   off_t buffer_offset);
EXPORT ssize_t cuFileWrite(void *handle, const void *base, size_t bytes, off_t file_offset,
			   off_t buffer_offset)
{
	return transfer(1, handle, (void *)(uintptr_t)base, bytes, file_offset, buffer_offset);
}
#endif

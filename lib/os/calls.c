/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One number on every architecture; headers older than Linux 6.5 lack the name. */
#define NR_CACHESTAT 451

static int call_open(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags, mode);

	return fd < 0 ? -errno : fd;
}

static int call_close(int fd)
{
	return close(fd) < 0 ? -errno : 0;
}

static ssize_t call_pread(int fd, void *memory, size_t bytes, off_t offset)
{
	ssize_t n = pread(fd, memory, bytes, offset);

	return n < 0 ? -errno : n;
}

static ssize_t call_pwrite(int fd, const void *memory, size_t bytes, off_t offset)
{
	ssize_t n = pwrite(fd, memory, bytes, offset);

	return n < 0 ? -errno : n;
}

static int call_fstat(int fd, struct stat *st)
{
	return fstat(fd, st) < 0 ? -errno : 0;
}

static int call_fstatfs(int fd, struct statfs *st)
{
	return fstatfs(fd, st) < 0 ? -errno : 0;
}

static int call_statx(int fd, const char *path, int flags, unsigned mask, struct statx *stx)
{
#ifdef SYS_statx
	/* By number: the libc wrapper emulates the call where the kernel lacks it, and its
	 * emulation answers without the fields that are asked for here. */
	return syscall(SYS_statx, fd, path, flags, mask, stx) < 0 ? -errno : 0;
#else
	(void)fd, (void)path, (void)flags, (void)mask, (void)stx;
	return -ENOSYS;
#endif
}

static int call_ioctl(int fd, unsigned long request, void *arg)
{
	int rc = ioctl(fd, request, arg);

	return rc < 0 ? -errno : rc;
}

static int call_fcntl(int fd, int command, void *arg)
{
	int rc = fcntl(fd, command, arg);

	return rc < 0 ? -errno : rc;
}

static off_t call_lseek(int fd, off_t offset, int whence)
{
	off_t at = lseek(fd, offset, whence);

	return at < 0 ? -errno : at;
}

static int call_fadvise(int fd, off_t offset, off_t bytes, int advice)
{
	return -posix_fadvise(fd, offset, bytes, advice);
}

static int call_sync_file_range(int fd, off_t offset, off_t bytes, unsigned flags)
{
	return sync_file_range(fd, offset, bytes, flags) < 0 ? -errno : 0;
}

static int call_cachestat(int fd, uint64_t offset, uint64_t bytes, struct os_cachestat *out)
{
	uint64_t range[2] = {offset, bytes};

	return syscall(NR_CACHESTAT, fd, range, out, 0) < 0 ? -errno : 0;
}

static void *call_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, bytes, prot, flags, fd, offset);
}

static int call_munmap(void *addr, size_t bytes)
{
	return munmap(addr, bytes) < 0 ? -errno : 0;
}

static int call_madvise(void *addr, size_t bytes, int advice)
{
	return madvise(addr, bytes, advice) < 0 ? -errno : 0;
}

static int call_mincore(void *addr, size_t bytes, unsigned char *vec)
{
	return mincore(addr, bytes, vec) < 0 ? -errno : 0;
}

const struct os_calls os_real_calls = {
	.open = call_open,
	.close = call_close,
	.pread = call_pread,
	.pwrite = call_pwrite,
	.fstat = call_fstat,
	.fstatfs = call_fstatfs,
	.statx = call_statx,
	.ioctl = call_ioctl,
	.fcntl = call_fcntl,
	.lseek = call_lseek,
	.fadvise = call_fadvise,
	.sync_file_range = call_sync_file_range,
	.cachestat = call_cachestat,
	.mmap = call_mmap,
	.munmap = call_munmap,
	.madvise = call_madvise,
	.mincore = call_mincore,
	.root_fd = AT_FDCWD,
};

static const struct os_calls *calls_in_force = &os_real_calls;

const struct os_calls *os(void)
{
	return calls_in_force;
}

void os_set(const struct os_calls *calls)
{
	calls_in_force = calls ? calls : &os_real_calls;
}

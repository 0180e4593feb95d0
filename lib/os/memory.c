/* SPDX-License-Identifier: Apache-2.0 */
#include "os/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/os.h"

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

/* Maps more than asked for and gives back what lies outside the aligned part. */
static int map_aligned(size_t bytes, size_t align, void **out)
{
	size_t all = bytes + align;
	char *base =
		os()->mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return -errno;
	size_t head = (align - (uintptr_t)base % align) % align;
	size_t tail = all - head - bytes;
	if (head)
		os()->munmap(base, head);
	if (tail)
		os()->munmap(base + head + bytes, tail);
	*out = base + head;
	return 0;
}

int os_slot_map(size_t bytes, void **out)
{
	assert(bytes > 0);
	if (bytes > SIZE_MAX / 2)
		return -ENOMEM;
	size_t length = whole_pages(bytes);
	bool huge = bytes >= OS_HUGE_PAGE_BYTES;
	int rc = map_aligned(length, huge ? OS_HUGE_PAGE_BYTES : whole_pages(1), out);

	if (rc < 0)
		return rc;
	rc = os()->madvise(*out, length, MADV_DONTFORK);
	if (rc < 0) {
		os()->munmap(*out, length);
		*out = NULL;
		return rc;
	}
	/* Only advice: kernels without huge pages refuse it, and the memory is good all the same.
	 */
	if (huge)
		os()->madvise(*out, length, MADV_HUGEPAGE);
	return 0;
}

void os_slot_unmap(void *memory, size_t bytes)
{
	if (memory)
		os()->munmap(memory, whole_pages(bytes));
}

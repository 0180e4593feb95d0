/* SPDX-License-Identifier: Apache-2.0 */
/* What stands under a descriptor: on this machine, and on recorded ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "os/os.h"
#include "storage/facts.h"

#include "scratch.h"

/* Not open: only the recorded machine knows it. */
#define RECORDED_FD 1000

static struct scratch_root root;
static struct os_calls calls;

/* The machine of the test: one file on a device and file system of our choice. */
static struct {
	dev_t device;
	uint32_t magic;
	mode_t mode;
	dev_t special;
	const char *source; /* this path is a block device */
	dev_t source_device;
	int source_fd;
} machine;

static int machine_fstat(int fd, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	if (machine.source && fd == machine.source_fd) {
		st->st_mode = S_IFBLK | 0600;
		st->st_rdev = machine.source_device;
		return 0;
	}
	st->st_mode = machine.mode;
	st->st_dev = machine.device;
	st->st_rdev = machine.special;
	st->st_ino = 12;
	st->st_size = 4097;
	return 0;
}

static int machine_fstatfs(int fd, struct statfs *fs)
{
	(void)fd;
	memset(fs, 0, sizeof(*fs));
	fs->f_type = machine.magic;
	return 0;
}

static int machine_open(const char *path, int flags, mode_t mode)
{
	if (!machine.source || strcmp(path, machine.source) != 0)
		return -ENOENT;
	machine.source_fd = os_real_calls.open("/dev/null", flags, mode);
	return machine.source_fd;
}

static int machine_statx(int fd, const char *path, int flags, unsigned mask, struct statx *stx)
{
	(void)fd, (void)path, (void)flags, (void)mask, (void)stx;
	return -ENOSYS;
}

static int machine_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd, (void)request, (void)arg;
	return -ENOTTY;
}

static int setup(void **state)
{
	(void)state;
	if (!scratch_root_open(&root))
		return -1;
	memset(&machine, 0, sizeof(machine));
	machine.mode = S_IFREG | 0644;
	machine.source_fd = -1;
	calls = os_real_calls;
	calls.fstat = machine_fstat;
	calls.fstatfs = machine_fstatfs;
	calls.open = machine_open;
	calls.statx = machine_statx;
	calls.ioctl = machine_ioctl;
	calls.root_fd = root.fd;
	os_set(&calls);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	os_set(NULL);
	scratch_root_close(&root);
	return 0;
}

/* RECORDED_FD lies on mount 7. */
static void mounted(const char *mountinfo_rest)
{
	char line[512];

	snprintf(line, sizeof(line), "7 1 %s\n", mountinfo_rest);
	assert_true(scratch_root_text(&root, "proc/self/mountinfo", line));
	assert_true(scratch_root_text(&root, "proc/self/fdinfo/1000", "pos:\t0\nmnt_id:\t7\n"));
}

static struct sto_facts look(void)
{
	struct sto_facts facts;

	memset(&facts, 0xa5, sizeof(facts));
	assert_int_equal(sto_facts(RECORDED_FD, &facts), 0);
	return facts;
}

static void a_partition_has_the_queue_of_its_disk(void **state)
{
	(void)state;
	machine.device = makedev(259, 3);
	machine.magic = 0xef53;
	mounted("259:3 / /data rw,noatime - ext4 /dev/nvme0n1p2 rw,discard");
	assert_true(scratch_root_link(&root, "sys/dev/block/259:3",
				      "../../devices/pci0/nvme0n1/nvme0n1p2"));
	assert_true(scratch_root_text(&root, "sys/devices/pci0/nvme0n1/nvme0n1p2/ro", "0\n"));
	assert_true(scratch_root_text(&root, "sys/devices/pci0/nvme0n1/queue/logical_block_size",
				      "4096\n"));
	struct sto_facts facts = look();
	assert_string_equal(facts.block_name, "nvme0n1p2");
	assert_int_equal(facts.logical_block_bytes, 4096);
	assert_int_equal(facts.block_major, 259);
	assert_int_equal(facts.block_minor, 3);
	assert_string_equal(facts.fs_type, "ext4");
	assert_string_equal(facts.mount_point, "/data");
	assert_non_null(strstr(facts.mount_options, "discard"));
	assert_int_equal(facts.file_bytes, 4097);
	assert_int_equal(facts.inode, 12);
	assert_false(facts.memory_backed || facts.network_backed || facts.is_block_device);
	assert_false(facts.read_only_mount || facts.read_only_device);
}

static void btrfs_is_found_by_the_source_of_its_mount(void **state)
{
	(void)state;
	machine.device = makedev(0, 51);
	machine.magic = 0x9123683e;
	machine.source = "/dev/cciss/c0d0";
	machine.source_device = makedev(104, 0);
	mounted("0:50 /home /home ro - btrfs /dev/cciss/c0d0 rw,subvol=/home");
	assert_true(scratch_root_link(&root, "sys/dev/block/104:0", "../../devices/x/cciss!c0d0"));
	assert_true(scratch_root_text(&root, "sys/devices/x/cciss!c0d0/ro", "1\n"));
	assert_true(scratch_root_text(&root, "sys/devices/x/cciss!c0d0/queue/logical_block_size",
				      "512\n"));
	struct sto_facts facts = look();
	assert_int_equal(facts.block_major, 104);
	assert_string_equal(facts.block_name, "cciss/c0d0");
	assert_int_equal(facts.logical_block_bytes, 512);
	assert_true(facts.read_only_device);
	assert_true(facts.read_only_mount);
	assert_int_equal(major(facts.device), 0);
}

static void what_sys_does_not_know_stays_empty(void **state)
{
	(void)state;
	machine.device = makedev(8, 1);
	machine.magic = 0x58465342;
	struct sto_facts facts = look();
	assert_string_equal(facts.fs_type, "xfs"); /* by its magic number */
	assert_string_equal(facts.mount_point, "");
	assert_string_equal(facts.block_name, "");
	assert_int_equal(facts.logical_block_bytes, 0);
	assert_int_equal(facts.block_major, 8);
}

static void kinds_of_file_systems_are_told_apart(void **state)
{
	static const struct {
		uint32_t magic;
		unsigned major;
		const char *mount;
		const char *type;
		bool memory, network;
	} rows[] = {
		{0x01021994, 0, "0:9 / /m rw - tmpfs tmpfs rw", "tmpfs", true, false},
		{0x858458f6, 0, "0:9 / /m rw - ramfs none rw", "ramfs", true, false},
		{0x958458f6, 0, "0:9 / /m rw - hugetlbfs none rw", "hugetlbfs", true, false},
		{0x6969, 0, "0:9 / /m rw - nfs4 srv:/e rw", "nfs4", false, true},
		{0xfe534d42, 0, "0:9 / /m rw - cifs //srv/e rw", "cifs", false, true},
		{0x01021997, 0, "0:9 / /m rw - 9p tag rw", "9p", false, true},
		{0x65735546, 0, "0:9 / /m rw - virtiofs tag rw", "virtiofs", false, true},
		{0x65735546, 0, "0:9 / /m rw - fuse.sshfs srv: rw", "fuse.sshfs", false, true},
		{0x65735546, 8, "8:9 / /m rw - fuseblk /dev/sda1 rw", "fuseblk", false, false},
		{0x0bd00bd0, 0, "0:9 / /m rw - lustre mgs:/l rw", "lustre", false, true},
		{0x77656b61, 0, "0:9 / /m rw - wekafs srv/fs rw", "wekafs", false, true},
		{0x794c7630, 0, "0:9 / /m rw - overlay overlay rw", "overlay", false, false},
		{0xef53, 1, "1:0 / /m rw - ext4 /dev/ram0 rw", "ext4", false, false},
		{0x9fa0, 0, "0:9 / /m rw - proc proc rw", "proc", false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		machine.device = makedev(rows[i].major, 9);
		machine.magic = rows[i].magic;
		mounted(rows[i].mount);
		struct sto_facts facts = look();
		assert_string_equal(facts.fs_type, rows[i].type);
		assert_int_equal(facts.memory_backed, rows[i].memory);
		assert_int_equal(facts.network_backed, rows[i].network);
		assert_int_equal(facts.block_major, rows[i].major);
	}
}

static void a_device_without_size_is_an_error(void **state)
{
	struct sto_facts facts;

	(void)state;
	machine.mode = S_IFBLK | 0600;
	machine.special = makedev(8, 0);
	assert_int_equal(sto_facts(RECORDED_FD, &facts), -ENOTTY);
	assert_int_equal(sto_file_bytes(RECORDED_FD), -ENOTTY);
}

static void statistics_are_sectors_of_512(void **state)
{
	uint64_t read_bytes = 1, written_bytes = 2;

	(void)state;
	assert_int_equal(sto_device_bytes(8, 0, &read_bytes, &written_bytes), -ENODEV);
	assert_true(scratch_root_text(&root, "sys/dev/block/8:0/stat",
				      "    11  12  13  14  15  16  4294967297  18 0 20 21 22\n"));
	assert_int_equal(sto_device_bytes(8, 0, &read_bytes, &written_bytes), 0);
	assert_true(read_bytes == 6656 && written_bytes == 2199023256064);
	assert_true(scratch_root_text(&root, "sys/dev/block/8:0/queue/iostats", "0\n"));
	assert_int_equal(sto_device_bytes(8, 0, &read_bytes, &written_bytes), -ENODEV);
	assert_true(
		scratch_root_text(&root, "sys/dev/block/253:0/stat", "1 0 8 0 2 0 16 0 0 0 0\n"));
	assert_true(scratch_root_text(&root, "sys/dev/block/253:0/dm/name", "group-volume\n"));
	assert_true(scratch_root_text(&root, "sys/dev/block/253:0/queue/iostats", "1\n"));
	assert_int_equal(sto_device_bytes(253, 0, &read_bytes, &written_bytes), 0);
	assert_true(scratch_root_text(&root, "sys/dev/block/253:0/queue/iostats", "0\n"));
	assert_int_equal(sto_device_bytes(253, 0, &read_bytes, &written_bytes), 1);
	assert_true(read_bytes == 4096 && written_bytes == 8192);
	assert_true(scratch_root_text(&root, "sys/dev/block/8:1/stat", "1 2 3\n"));
	assert_int_equal(sto_device_bytes(8, 1, &read_bytes, &written_bytes), -EINVAL);
}

static void this_machine_tells_its_files_apart(void **state)
{
	struct sto_facts disk, shm, memfd, proc;
	int disk_fd = scratch_file("/var/tmp", O_RDWR);
	int shm_fd = scratch_file("/dev/shm", O_RDWR);
	int memory_fd = memfd_create("penstock", MFD_CLOEXEC);
	int proc_fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(scratch_fill(disk_fd, 5000) && scratch_fill(shm_fd, 6000));
	assert_int_equal(sto_facts(disk_fd, &disk), 0);
	assert_int_equal(sto_facts(shm_fd, &shm), 0);
	assert_int_equal(sto_facts(memory_fd, &memfd), 0);
	assert_int_equal(sto_facts(proc_fd, &proc), 0);
	assert_int_equal(disk.file_bytes, 5000);
	assert_true(disk.fs_type[0]); /* its mount is not seen from inside a chroot */
	assert_string_equal(shm.mount_point, "/dev/shm");
	assert_int_equal(shm.file_bytes, 6000);
	assert_int_equal(sto_file_bytes(shm_fd), 6000);
	assert_true(shm.memory_backed);
	assert_string_equal(shm.fs_type, "tmpfs");
	assert_true(memfd.memory_backed);
	assert_string_equal(memfd.fs_type, "tmpfs");
	assert_string_equal(proc.fs_type, "proc");
	assert_false(proc.memory_backed || proc.network_backed);
	assert_int_equal(proc.block_major, 0);
	close(disk_fd);
	close(shm_fd);
	close(memory_fd);
	close(proc_fd);
}

/* A name that means another file now must not decide. */
static void facts_come_from_the_descriptor(void **state)
{
	struct sto_facts first, second;
	char name[] = "/var/tmp/penstock-name-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(symlink("/dev/shm/penstock-name", name), 0);
	int other_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unlink("/dev/shm/penstock-name");
	unlink(name);
	assert_true(other_fd >= 0);
	assert_int_equal(sto_facts(fd, &first), 0);
	assert_int_equal(sto_facts(other_fd, &second), 0);
	assert_false(first.memory_backed);
	assert_true(second.memory_backed);
	assert_true(first.device != second.device);
	close(fd);
	close(other_fd);
}

static void bad_descriptors_are_errors(void **state)
{
	struct sto_facts facts;
	int directory = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(sto_facts(-1, &facts), -EBADF);
	assert_int_equal(sto_file_bytes(-1), -EBADF);
	assert_int_equal(sto_file_bytes(directory), -EINVAL);
	close(directory);
}

#define RECORDED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECORDED(a_partition_has_the_queue_of_its_disk),
		RECORDED(btrfs_is_found_by_the_source_of_its_mount),
		RECORDED(what_sys_does_not_know_stays_empty),
		RECORDED(kinds_of_file_systems_are_told_apart),
		RECORDED(a_device_without_size_is_an_error),
		RECORDED(statistics_are_sectors_of_512),
		cmocka_unit_test(this_machine_tells_its_files_apart),
		cmocka_unit_test(facts_come_from_the_descriptor),
		cmocka_unit_test(bad_descriptors_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The NVIDIA backend on machines of many kinds: no driver, an old one, no GPU, 16 GPUs in
 * another order, a visible list. The fake driver reads its environment once, so each machine is
 * a process of its own. */
#include "device/device.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct dev_ops *const ops = &dev_cuda_ops;

/* In the child: prints and ends it. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s (%d: %s)\n", __FILE__, __LINE__,      \
				#condition, err->code, err->message);                              \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Runs a check in a child with these settings, NAME=VALUE or NAME to unset, NULL at the end. */
static void in_child(const char *const *settings, void (*check)(struct pst_error *err))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct pst_error err = {0};

		for (; *settings; settings++) {
			const char *equals = strchr(*settings, '=');
			char name[64];

			if (!equals) {
				unsetenv(*settings);
				continue;
			}
			snprintf(name, sizeof(name), "%.*s", (int)(equals - *settings), *settings);
			setenv(name, equals + 1, 1);
		}
		alarm(20);
		check(&err);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void check_missing(struct pst_error *err)
{
	struct dev_driver *driver = (void *)err;

	CHECK(ops->load(&driver, err) == PST_E_DEVICE_NOT_SUPPORTED);
	CHECK(!driver);
	CHECK(strstr(err->message, "libcuda.so.1"));
	CHECK(strstr(err->message, "'host'"));
}

static void missing_library(void **state)
{
	(void)state;
	in_child(SETTINGS("PENSTOCK_LIBCUDA=/nowhere/libcuda.so.1"), check_missing);
}

/* A driver counts as present once somebody has loaded its library, and asking loads nothing. */
static void check_present(struct pst_error *err)
{
	void *library;

	CHECK(!dev_host_ops.present());
	CHECK(!ops->present());
	CHECK(!ops->present());
	library = dlopen(getenv("PENSTOCK_LIBCUDA"), RTLD_NOW | RTLD_LOCAL);
	CHECK(library);
	CHECK(ops->present());
	dlclose(library);
}

static void present_in_process(void **state)
{
	(void)state;
	in_child(SETTINGS("FAKE_CUDA_DEVICES=1"), check_present);
}

static void check_old(struct pst_error *err)
{
	struct dev_driver *driver;

	CHECK(ops->load(&driver, err) == PST_E_DEVICE_NOT_SUPPORTED);
	CHECK(!driver);
	CHECK(strstr(err->message, "CUDA 10.2"));
	CHECK(strstr(err->message, "11.0"));
}

static void check_loads(struct pst_error *err)
{
	struct dev_driver *driver;

	CHECK(ops->load(&driver, err) == 0);
	CHECK(ops->count(driver) == 1);
	ops->unload(driver);
}

static void driver_versions(void **state)
{
	(void)state;
	in_child(SETTINGS("FAKE_CUDA_VERSION=10020"), check_old);
	in_child(SETTINGS("FAKE_CUDA_VERSION=11000"), check_loads);
	in_child(SETTINGS("FAKE_CUDA_VERSION=13000"), check_loads);
}

static void check_start_fails(struct pst_error *err)
{
	struct dev_driver *driver;

	CHECK(ops->load(&driver, err) == PST_E_DEVICE_DRIVER);
	CHECK(!driver);
	CHECK(err->device_status == 801);
	CHECK(strstr(err->message, "cuInit"));
}

static void driver_does_not_start(void **state)
{
	(void)state;
	in_child(SETTINGS("FAKE_CUDA_FAULT=cuInit:*:fail=801"), check_start_fails);
}

static void check_no_device(struct pst_error *err)
{
	struct dev_driver *driver;
	struct dev_gpu *gpu;
	struct dev_pointer at;
	struct pst_device_info info = {.size_bytes = sizeof(info)};

	CHECK(ops->load(&driver, err) == 0);
	CHECK(ops->count(driver) == 0);
	CHECK(ops->describe(driver, 0, &info, err) < 0);
	CHECK(err->device_status == 100);
	CHECK(ops->gpu_open(driver, 0, &gpu, err) < 0);
	CHECK(strstr(err->message, "CUDA_ERROR_NO_DEVICE"));
	CHECK(dev_find(ops, driver, "0", err) == PST_E_DEVICE_NOT_FOUND);
	CHECK(strstr(err->message, "GPU 0 asked, none visible: "));
	CHECK(strstr(err->message, "CUDA_VISIBLE_DEVICES"));
	CHECK(ops->lookup(driver, err, &at, err) == 0);
	CHECK(at.memory == DEV_MEMORY_HOST);
	ops->unload(driver);
}

static void no_device(void **state)
{
	(void)state;
	in_child(SETTINGS("FAKE_CUDA_DEVICES=0"), check_no_device);
	in_child(SETTINGS("FAKE_CUDA_DEVICES=2", "CUDA_VISIBLE_DEVICES="), check_no_device);
	in_child(SETTINGS("FAKE_CUDA_DEVICES=2", "CUDA_VISIBLE_DEVICES=7"), check_no_device);
}

/* The bus ids of the fake's 16 devices, in PCI order. */
static const char *const bus_ids[16] = {
	"2000:06:00.0",  "2000:17:00.0",  "2000:28:00.0",  "2000:39:00.0",
	"2000:4a:00.0",  "2000:5b:00.0",  "2000:6c:00.0",  "2000:7d:00.0",
	"10000:06:00.0", "10000:17:00.0", "10000:28:00.0", "10000:39:00.0",
	"10000:4a:00.0", "10000:5b:00.0", "10000:6c:00.0", "10000:7d:00.0",
};

static void check_sixteen(struct pst_error *err)
{
	struct dev_driver *driver;
	struct pst_device_info info = {.size_bytes = sizeof(info)};
	char index[8];

	CHECK(ops->load(&driver, err) == 0);
	CHECK(ops->count(driver) == 16);
	for (int i = 0; i < 16; i++) {
		struct dev_gpu *gpu;
		struct dev_pointer at;
		void *memory;

		CHECK(ops->describe(driver, i, &info, err) == 0);
		CHECK(info.index == i);
		CHECK(strcmp(info.bus_id, bus_ids[i]) == 0);
		CHECK(info.memory_bytes == (uint64_t)64 << 20);
		snprintf(index, sizeof(index), "%d", i);
		CHECK(dev_find(ops, driver, index, err) == i);
		CHECK(dev_find(ops, driver, info.uuid, err) == i);
		CHECK(dev_find(ops, driver, info.bus_id, err) == i);
		info.uuid[12] = '\0'; /* "GPU-" and eight digits */
		CHECK(dev_find(ops, driver, info.uuid, err) == i);
		CHECK(dev_find(ops, driver, info.uuid + 4, err) == i);

		/* Memory is found on the device that it was made on. */
		CHECK(ops->gpu_open(driver, i, &gpu, err) == 0);
		for (int kind = PST_MEMORY_DEVICE; kind <= PST_MEMORY_DEVICE_VMM; kind++) {
			CHECK(ops->alloc(gpu, kind, 4096, &memory, err) == 0);
			CHECK(ops->lookup(driver, memory, &at, err) == 0);
			CHECK(at.device_index == i);
			CHECK(ops->free(gpu, kind, memory, 4096, err) == 0);
		}
		ops->gpu_close(gpu);
	}
	CHECK(dev_find(ops, driver, "16", err) == PST_E_DEVICE_NOT_FOUND);
	CHECK(strstr(err->message,
		     "GPU 16 asked, 16 visible: 0 = Fake CUDA GPU (2000:06:00.0), 1 ="));
	CHECK(dev_find(ops, driver, "GPU-face", err) == PST_E_DEVICE_NOT_FOUND);
	CHECK(strstr(err->message, "16 of 16"));
	ops->unload(driver);
}

static void sixteen_devices(void **state)
{
	(void)state;
	in_child(SETTINGS("FAKE_CUDA_DEVICES=16", "FAKE_CUDA_MEMORY_MIB=64"), check_sixteen);
}

static void check_one_visible(struct pst_error *err)
{
	struct dev_driver *driver;
	struct pst_device_info info = {.size_bytes = sizeof(info)};

	CHECK(ops->load(&driver, err) == 0);
	CHECK(ops->count(driver) == 1);
	CHECK(ops->describe(driver, 0, &info, err) == 0);
	/* The driver's first device is the second in PCI order. */
	CHECK(strcmp(info.bus_id, bus_ids[1]) == 0);
	CHECK(strncmp(info.uuid, "GPU-face115c", 12) == 0);
	CHECK(dev_find(ops, driver, "1", err) == PST_E_DEVICE_NOT_FOUND);
	CHECK(strcmp(err->message, "GPU 1 asked, 1 visible: 0 = Fake CUDA GPU (2000:17:00.0)") ==
	      0);
	ops->unload(driver);
}

static void check_three_visible(struct pst_error *err)
{
	static const char *const expected[] = {"2000:06:00.0", "2000:17:00.0", "2000:39:00.0"};
	struct dev_driver *driver;
	struct pst_device_info info = {.size_bytes = sizeof(info)};

	CHECK(ops->load(&driver, err) == 0);
	CHECK(ops->count(driver) == 3);
	for (int i = 0; i < 3; i++) {
		CHECK(ops->describe(driver, i, &info, err) == 0);
		CHECK(strcmp(info.bus_id, expected[i]) == 0);
	}
	ops->unload(driver);
}

/* One GPU, called by its index, its UUID and a beginning of that; several, in any order. */
static void visible_list(void **state)
{
	(void)state;
	in_child(SETTINGS("FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES=0"), check_one_visible);
	in_child(SETTINGS("FAKE_CUDA_DEVICES=4",
			  "CUDA_VISIBLE_DEVICES=GPU-face115c-0102-0304-0506-0708090a0b0c"),
		 check_one_visible);
	in_child(SETTINGS("FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES=GPU-face115c"),
		 check_one_visible);
	in_child(SETTINGS("FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES=1,2,0"),
		 check_three_visible);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_library), cmocka_unit_test(present_in_process),
		cmocka_unit_test(driver_versions), cmocka_unit_test(driver_does_not_start),
		cmocka_unit_test(no_device),       cmocka_unit_test(sixteen_devices),
		cmocka_unit_test(visible_list),
	};

	return cmocka_run_group_tests_name("device-cuda-setup", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Spellings of PCI bus ids and of device names, over devices of the test's own. */
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void bus_id_spellings(void **state)
{
	static const struct {
		const char *text;
		const char *canonical; /* NULL: not a bus id */
	} cases[] = {
		{"00000008:06:00.0", "0008:06:00.0"},
		{"0008:06:00.0", "0008:06:00.0"},
		{"8:06:00.0", "0008:06:00.0"},
		{"8:6:0.0", "0008:06:00.0"},
		{"0002:00:01.0", "0002:00:01.0"},
		{"06:00.0", "0000:06:00.0"},
		{"0000:AB:1F.7", "0000:ab:1f.7"},
		{"0000:ab:1f.7", "0000:ab:1f.7"},
		{"10000:e1:00.0", "10000:e1:00.0"},
		{"FFFFFFFF:00:00.0", "ffffffff:00:00.0"},
		{"", NULL},
		{":", NULL},
		{"::", NULL},
		{"0", NULL},
		{"06", NULL},
		{"06:00", NULL},
		{"06:00.", NULL},
		{"06:00.8", NULL},
		{"06:20.0", NULL},
		{"006:00.0", NULL},
		{"8:06:00.0 ", NULL},
		{" 8:06:00.0", NULL},
		{"8:06:00.0:1", NULL},
		{"000000008:06:00.0", NULL},
		{"-1:06:00.0", NULL},
		{"0x8:06:00.0", NULL},
		{"8:0g:00.0", NULL},
		{"8::00.0", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[24] = "untouched";
		bool is = dev_parse_bus_id(cases[i].text, out);

		assert_int_equal(is, cases[i].canonical != NULL);
		assert_string_equal(out, is ? cases[i].canonical : "untouched");
	}
}

static struct pst_device_info machine[32];
static int machine_count;

static int machine_count_get(struct dev_driver *driver)
{
	(void)driver;
	return machine_count;
}

static int machine_describe(struct dev_driver *driver, int index, struct pst_device_info *info,
			    struct pst_error *err)
{
	(void)driver;
	if (index < 0 || index >= machine_count) {
		if (err) {
			err->device_status = 100;
			snprintf(err->message, sizeof(err->message), "the reason");
		}
		return PST_E_DEVICE_NOT_SUPPORTED;
	}
	*info = machine[index];
	return 0;
}

static const struct dev_ops machine_ops = {
	.name = "machine",
	.count = machine_count_get,
	.describe = machine_describe,
};

static void add(const char *name, const char *uuid, const char *bus_id)
{
	struct pst_device_info *info = &machine[machine_count];

	*info = (struct pst_device_info){.size_bytes = sizeof(*info), .index = machine_count};
	snprintf(info->name, sizeof(info->name), "%s", name);
	snprintf(info->uuid, sizeof(info->uuid), "%s", uuid);
	snprintf(info->bus_id, sizeof(info->bus_id), "%s", bus_id);
	machine_count++;
}

static int find(const char *name, struct pst_error *err)
{
	return dev_find(&machine_ops, NULL, name, err);
}

static void names(void **state)
{
	struct pst_error err = {0};

	(void)state;
	machine_count = 0;
	add("NVIDIA H200", "GPU-5c2f9a01-1111-2222-3333-444455556666", "0000:17:00.0");
	add("NVIDIA H200", "GPU-5c2f9a02-1111-2222-3333-444455556666", "0008:06:00.0");
	add("NVIDIA H200", "GPU-12345678-1111-2222-3333-444455556666", "0000:b3:00.0");
	assert_int_equal(find("0", &err), 0);
	assert_int_equal(find("2", &err), 2);
	assert_int_equal(find("GPU-5c2f9a02-1111-2222-3333-444455556666", &err), 1);
	assert_int_equal(find("gpu-5C2F9A02", &err), 1);
	assert_int_equal(find("GPU-1", &err), 2);
	assert_int_equal(find("5c2f9a01", &err), 0);
	assert_int_equal(find("5c2f9a02-1111", &err), 1);
	assert_int_equal(find("12345678", &err), 2);
	assert_int_equal(find("17:00.0", &err), 0);
	assert_int_equal(find("00000000:17:00.0", &err), 0);
	assert_int_equal(find("8:06:00.0", &err), 1);
	assert_int_equal(find("0000:B3:00.0", &err), 2);
	assert_int_equal(err.code, 0);

	/* Nothing, or two. */
	assert_int_equal(find("GPU-5c2f9a02-1111-2222-3333-4444555566667", &err),
			 PST_E_DEVICE_NOT_FOUND);
	assert_int_equal(find("06:00.0", &err), PST_E_DEVICE_NOT_FOUND);
	assert_int_equal(find("5c2f", &err), PST_E_DEVICE_NOT_FOUND);
	assert_int_equal(find("host", &err), PST_E_DEVICE_NOT_FOUND);
	assert_int_equal(find("GPU-5c2f", &err), PST_E_DEVICE_NOT_FOUND);
	assert_string_equal(err.message,
			    "GPU GPU-5c2f asked, which means 2 of 3: 0 = NVIDIA H200 "
			    "(0000:17:00.0), 1 = NVIDIA H200 (0008:06:00.0), 2 = NVIDIA H200 "
			    "(0000:b3:00.0)");
}

static void messages(void **state)
{
	struct pst_error err = {0};

	(void)state;
	machine_count = 0;
	assert_int_equal(find("0", &err), PST_E_DEVICE_NOT_FOUND);
	assert_string_equal(err.message, "GPU 0 asked, none visible: the reason");
	assert_int_equal(err.device_status, 100);

	add("NVIDIA H200", "GPU-5c2f9a01-1111-2222-3333-444455556666", "0000:17:00.0");
	assert_int_equal(find("1", &err), PST_E_DEVICE_NOT_FOUND);
	assert_string_equal(err.message, "GPU 1 asked, 1 visible: 0 = NVIDIA H200 (0000:17:00.0)");
	assert_int_equal(err.stage, PST_STAGE_OPEN);
	assert_string_equal(err.object, "1");

	while (machine_count < 32)
		add("Some GPU with a long name", "GPU-00000000", "0000:17:00.0");
	assert_int_equal(find("32", &err), PST_E_DEVICE_NOT_FOUND);
	assert_non_null(strstr(err.message, "GPU 32 asked, 32 visible: 0 = NVIDIA H200"));
	assert_non_null(strstr(err.message, " more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bus_id_spellings),
		cmocka_unit_test(names),
		cmocka_unit_test(messages),
	};

	return cmocka_run_group_tests_name("device-find", tests, NULL, NULL);
}

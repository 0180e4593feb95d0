/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUs of the fake. In PCI bus order they are 0 to n-1; the driver hands them out in another
 * order (1, 3, 5, ..., 0, 2, 4, ...), as the real one does when it puts the fastest first, and
 * CUDA_VISIBLE_DEVICES picks from that.
 */
#include "fake.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MIB ((size_t)1 << 20)

static int places[FAKE_DEVICES_MAX]; /* of each ordinal: position in bus order */
static int device_count;
static size_t memory_bytes;
static size_t used_bytes[FAKE_DEVICES_MAX];
static bool configured;

static long from_environment(const char *name, long low, long high, long otherwise)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text || !*text)
		return otherwise;
	value = strtol(text, &end, 10);
	if (*end != '\0' || value < low || value > high)
		abort(); /* a test's mistake must not pass unseen */
	return value;
}

static struct fake_uuid uuid_of(int place)
{
	struct fake_uuid uuid = {
		.bytes = {(char)0xfa, (char)0xce, 0, 0x5c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};

	uuid.bytes[2] = (char)(0x10 + place);
	return uuid;
}

static void format_uuid(int place, char out[48])
{
	struct fake_uuid uuid = uuid_of(place);
	int used = snprintf(out, 48, "GPU-");

	for (int i = 0; i < 16; i++)
		used += snprintf(out + used, 48 - (size_t)used, "%s%02x",
				 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				 (unsigned char)uuid.bytes[i]);
}

/* The place that one item of CUDA_VISIBLE_DEVICES means, -1 for none. */
static int visible_place(const char *item, const int *order, int count)
{
	char *end;
	long number = strtol(item, &end, 10);

	if (end != item && *end == '\0')
		return number >= 0 && number < count ? order[number] : -1;
	for (int place = 0; place < count && *item; place++) {
		char uuid[48];

		format_uuid(place, uuid);
		if (strncasecmp(uuid, item, strlen(item)) == 0)
			return place;
	}
	return -1;
}

/* As the real driver: the list ends at the first item that means nothing. */
static void apply_visible(const char *text, const int *order, int count)
{
	char *copy = strdup(text);
	char *rest = NULL;

	device_count = 0;
	for (char *item = copy ? strtok_r(copy, ",", &rest) : NULL;
	     item && device_count < FAKE_DEVICES_MAX; item = strtok_r(NULL, ",", &rest)) {
		int place = visible_place(item, order, count);

		if (place < 0)
			break;
		places[device_count++] = place;
	}
	free(copy);
}

static void configure(void)
{
	int order[FAKE_DEVICES_MAX];
	int count = (int)from_environment("FAKE_CUDA_DEVICES", 0, FAKE_DEVICES_MAX, 1);
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int used = 0;

	memory_bytes = (size_t)from_environment("FAKE_CUDA_MEMORY_MIB", 1, 1 << 22, 16384) * MIB;
	for (int odd = 1; odd >= 0; odd--)
		for (int place = odd; place < count; place += 2)
			order[used++] = place;
	if (visible) {
		apply_visible(visible, order, count);
	} else {
		memcpy(places, order, sizeof(order[0]) * (size_t)count);
		device_count = count;
	}
	configured = true;
	fake_faults_from_environment();
}

int cuInit(unsigned flags)
{
	int status;
	int count;

	pthread_mutex_lock(&fake_lock);
	if (!configured)
		configure();
	count = device_count;
	pthread_mutex_unlock(&fake_lock);
	status = fake_begin(FAKE_CALL_cuInit);
	if (status != FAKE_OK)
		return status;
	if (flags != 0)
		return FAKE_INVALID_VALUE;
	if (count == 0)
		return FAKE_NO_DEVICE;
	fake_set_initialized();
	return FAKE_OK;
}

int cuDriverGetVersion(int *version)
{
	int status = fake_begin(FAKE_CALL_cuDriverGetVersion);

	if (status == FAKE_OK)
		*version = (int)from_environment("FAKE_CUDA_VERSION", 1000, 99990, 12080);
	return status;
}

int fake_device_count(void)
{
	return device_count;
}

bool fake_device_take(int device, size_t bytes)
{
	if (bytes > memory_bytes - used_bytes[device])
		return false;
	used_bytes[device] += bytes;
	return true;
}

void fake_device_give(int device, size_t bytes)
{
	used_bytes[device] -= bytes;
}

/* Begins a call about a device. The devices do not change after cuInit. */
static int begin(enum fake_call call, const void *out, int device)
{
	int status = fake_begin(call);

	if (status != FAKE_OK)
		return status;
	if (!out)
		return FAKE_INVALID_VALUE;
	return device >= 0 && device < device_count ? FAKE_OK : FAKE_INVALID_DEVICE;
}

int cuDeviceGetCount(int *count)
{
	int status = fake_begin(FAKE_CALL_cuDeviceGetCount);

	if (status == FAKE_OK)
		*count = device_count;
	return status;
}

int cuDeviceGet(int *device, int ordinal)
{
	int status = begin(FAKE_CALL_cuDeviceGet, device, ordinal);

	if (status == FAKE_OK)
		*device = ordinal;
	return status;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
	int status = begin(FAKE_CALL_cuDeviceGetName, name, device);

	if (status == FAKE_OK)
		snprintf(name, (size_t)bytes, "Fake CUDA GPU");
	return status;
}

int cuDeviceGetUuid(struct fake_uuid *uuid, int device)
{
	int status = begin(FAKE_CALL_cuDeviceGetUuid, uuid, device);

	if (status == FAKE_OK)
		*uuid = uuid_of(places[device]);
	return status;
}

int cuDeviceGetUuid_v2(struct fake_uuid *uuid, int device)
{
	int status = begin(FAKE_CALL_cuDeviceGetUuid_v2, uuid, device);

	if (status == FAKE_OK)
		*uuid = uuid_of(places[device]);
	return status;
}

/* Two PCI domains, of which the second is numbered so that text order is not number order. */
static int domain_of(int place)
{
	return place < 8 ? 0x2000 : 0x10000;
}

static int bus_of(int place)
{
	return 0x06 + 0x11 * (place % 8);
}

int cuDeviceGetPCIBusId(char *id, int bytes, int device)
{
	int status = begin(FAKE_CALL_cuDeviceGetPCIBusId, id, device);

	if (status == FAKE_OK)
		snprintf(id, (size_t)bytes, "%08X:%02X:00.0", domain_of(places[device]),
			 bus_of(places[device]));
	return status;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	int status = begin(FAKE_CALL_cuDeviceGetAttribute, value, device);

	if (status != FAKE_OK)
		return status;
	switch (attribute) {
	case 18:  /* integrated with the processor */
	case 110: /* GPUDirect RDMA with cuMemCreate */
		*value = 0;
		break;
	case 19:  /* can map host memory */
	case 41:  /* unified addressing */
	case 83:  /* managed memory */
	case 102: /* cuMemCreate and cuMemMap */
		*value = 1;
		break;
	case 33:
		*value = bus_of(places[device]);
		break;
	case 34:
		*value = 0;
		break;
	case 50:
		*value = domain_of(places[device]);
		break;
	case 75: /* compute capability, major and minor */
		*value = 9;
		break;
	case 76:
		*value = 0;
		break;
	default:
		status = FAKE_INVALID_VALUE;
	}
	return status;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	int status = begin(FAKE_CALL_cuDeviceTotalMem_v2, bytes, device);

	if (status == FAKE_OK)
		*bytes = memory_bytes;
	return status;
}

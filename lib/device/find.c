/* SPDX-License-Identifier: Apache-2.0 */
/* Names of devices: index, UUID or its beginning, PCI bus id. */
#include "device/device.h"
#include "util/error.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DEVICES_MAX 1024

/* A beginning of a UUID without "GPU-" must be this long, so that it is no index. */
#define BARE_UUID_MIN 8

/* Reads 1 to `digits_max` hexadecimal digits; NULL if there are none or too many. */
static const char *parse_hex(const char *text, int digits_max, unsigned long *value)
{
	int digits = 0;

	*value = 0;
	for (; isxdigit((unsigned char)text[digits]); digits++) {
		int c = tolower((unsigned char)text[digits]);

		if (digits == digits_max)
			return NULL;
		*value = *value * 16 + (unsigned long)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return digits > 0 ? text + digits : NULL;
}

bool dev_parse_bus_id(const char *text, char out[24])
{
	unsigned long domain = 0;
	unsigned long bus;
	unsigned long device;
	unsigned long function;
	const char *colon = strchr(text, ':');
	const char *at = text;

	if (!colon)
		return false;
	if (strchr(colon + 1, ':')) {
		at = parse_hex(at, 8, &domain);
		if (!at || *at++ != ':')
			return false;
	}
	at = parse_hex(at, 2, &bus);
	if (!at || *at++ != ':')
		return false;
	at = parse_hex(at, 2, &device);
	if (!at || device > 0x1f || *at++ != '.')
		return false;
	at = parse_hex(at, 1, &function);
	if (!at || function > 7 || *at != '\0')
		return false;
	snprintf(out, 24, "%04lx:%02lx:%02lx.%lx", domain, bus, device, function);
	return true;
}

/* The number, or -1 when the text is not one or is above DEVICES_MAX. */
static int parse_index(const char *text)
{
	int index = 0;

	if (*text == '\0')
		return -1;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -1;
		index = index * 10 + (*text - '0');
		if (index > DEVICES_MAX)
			return -1;
	}
	return index;
}

/* Whether `name` is the UUID or a beginning of it with at least one digit. */
static bool uuid_matches(const char *uuid, const char *name)
{
	const char *dash = strchr(uuid, '-');
	size_t length = strlen(name);

	if (!dash)
		return false;
	if (strncasecmp(uuid, name, length) == 0)
		return length > (size_t)(dash + 1 - uuid);
	return length >= BARE_UUID_MIN && strncasecmp(dash + 1, name, length) == 0;
}

static bool device_matches(const struct pst_device_info *info, const char *name)
{
	char asked[24];
	char has[24];

	if (dev_parse_bus_id(name, asked))
		return dev_parse_bus_id(info->bus_id, has) && strcmp(asked, has) == 0;
	return uuid_matches(info->uuid, name);
}

/* Writes "0 = NVIDIA H200 (0000:17:00.0), 1 = ..." as far as it fits, then how many are left. */
static void list_devices(const struct dev_ops *ops, struct dev_driver *driver, int count, char *out,
			 size_t room)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < count; i++) {
		struct pst_device_info info = {.size_bytes = sizeof(info)};
		char item[160];
		int length;

		if (ops->describe(driver, i, &info, NULL) < 0)
			snprintf(info.name, sizeof(info.name), "unknown");
		length = snprintf(item, sizeof(item), "%s%d = %s%s%s%s", i ? ", " : "", i,
				  info.name, info.bus_id[0] ? " (" : "", info.bus_id,
				  info.bus_id[0] ? ")" : "");
		/* Room for ", and 1024 more" is kept. */
		if (used + (size_t)length + 24 > room) {
			snprintf(out + used, room - used, ", and %d more", count - i);
			return;
		}
		memcpy(out + used, item, (size_t)length + 1);
		used += (size_t)length;
	}
}

static int not_found(const struct dev_ops *ops, struct dev_driver *driver, const char *name,
		     int count, int matches, struct pst_error *err)
{
	struct pst_error why = {0};
	struct pst_device_info info = {.size_bytes = sizeof(info)};
	char list[384];

	if (count <= 0) {
		ops->describe(driver, 0, &info, &why);
		return error_set_device(err, PST_E_DEVICE_NOT_FOUND, PST_STAGE_OPEN,
					why.device_status, name,
					"GPU %.64s asked, none visible: %.384s", name, why.message);
	}
	list_devices(ops, driver, count, list, sizeof(list));
	if (matches > 1)
		return error_set(err, PST_E_DEVICE_NOT_FOUND, PST_STAGE_OPEN, name,
				 "GPU %.48s asked, which means %d of %d: %s", name, matches, count,
				 list);
	return error_set(err, PST_E_DEVICE_NOT_FOUND, PST_STAGE_OPEN, name,
			 "GPU %.64s asked, %d visible: %s", *name ? name : "''", count, list);
}

int dev_find(const struct dev_ops *ops, struct dev_driver *driver, const char *name,
	     struct pst_error *err)
{
	int count = ops->count(driver);
	int index = parse_index(name);
	int matches = 0;
	int found = -1;

	assert(count <= DEVICES_MAX);
	if (index >= 0 && index < count)
		return index;
	for (int i = 0; i < count; i++) {
		struct pst_device_info info = {.size_bytes = sizeof(info)};
		int rc = ops->describe(driver, i, &info, err);

		if (rc < 0)
			return rc;
		if (device_matches(&info, name)) {
			matches++;
			found = i;
		}
	}
	if (matches == 1)
		return found;
	return not_found(ops, driver, name, count, matches, err);
}

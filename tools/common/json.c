/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json.h"

#include "common/report_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_object *checked(struct json_object *object)
{
	if (!object)
		abort();
	return object;
}

static void add(struct json_object *parent, const char *key, struct json_object *value)
{
	if (json_object_object_add(parent, key, value))
		abort();
}

static void append(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value))
		abort();
}

static struct json_object *new_u64(uint64_t value)
{
	return value == UINT64_MAX ? NULL : checked(json_object_new_uint64(value));
}

static struct json_object *new_double(double value)
{
	return isfinite(value) ? checked(json_object_new_double(value)) : NULL;
}

/* Bytes of the UTF-8 character at s, 0 when it is none. */
static size_t utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, low, high; /* first byte; limits of the second */
		size_t length;
	} forms[] = {
		{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (s[0] < forms[i].first || s[0] > forms[i].last)
			continue;
		if (forms[i].length > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
			return 0;
		for (size_t k = 2; k < forms[i].length; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

static struct json_object *new_text(const char *value)
{
	static const char replacement[] = "\xef\xbf\xbd";
	struct json_object *object;
	char *clean, *to;

	if (!value)
		return NULL;
	clean = malloc(strlen(value) * (sizeof(replacement) - 1) + 1);
	if (!clean)
		abort();
	to = clean;
	while (*value) {
		size_t n = utf8_length((const unsigned char *)value);

		if (n) {
			memcpy(to, value, n);
			to += n;
			value += n;
		} else {
			memcpy(to, replacement, sizeof(replacement) - 1);
			to += sizeof(replacement) - 1;
			value++;
		}
	}
	object = checked(json_object_new_string_len(clean, (int)(to - clean)));
	free(clean);
	return object;
}

struct json_object *json_document(const char *schema, unsigned version)
{
	struct json_object *document = checked(json_object_new_object());

	json_add_text(document, "schema", schema);
	json_add_u64(document, "schema_version", version);
	return document;
}

struct json_object *json_add_object(struct json_object *parent, const char *key)
{
	struct json_object *child = checked(json_object_new_object());

	add(parent, key, child);
	return child;
}

struct json_object *json_add_array(struct json_object *parent, const char *key)
{
	struct json_object *child = checked(json_object_new_array());

	add(parent, key, child);
	return child;
}

struct json_object *json_append_object(struct json_object *array)
{
	struct json_object *child = checked(json_object_new_object());

	append(array, child);
	return child;
}

void json_add_u64(struct json_object *parent, const char *key, uint64_t value)
{
	add(parent, key, new_u64(value));
}

void json_add_i64(struct json_object *parent, const char *key, int64_t value)
{
	add(parent, key, checked(json_object_new_int64(value)));
}

void json_add_double(struct json_object *parent, const char *key, double value)
{
	add(parent, key, new_double(value));
}

void json_add_bool(struct json_object *parent, const char *key, bool value)
{
	add(parent, key, checked(json_object_new_boolean(value)));
}

void json_add_text(struct json_object *parent, const char *key, const char *value)
{
	add(parent, key, new_text(value));
}

void json_add_null(struct json_object *parent, const char *key)
{
	add(parent, key, NULL);
}

void json_append_text(struct json_object *array, const char *value)
{
	append(array, new_text(value));
}

void json_append_u64(struct json_object *array, uint64_t value)
{
	append(array, new_u64(value));
}

void json_append_double(struct json_object *array, double value)
{
	append(array, new_double(value));
}

void json_add_error(struct json_object *parent, const char *key, const struct pst_error *err)
{
	struct json_object *object;

	if (!err || !err->code) {
		json_add_null(parent, key);
		return;
	}
	object = json_add_object(parent, key);
	json_add_i64(object, "code", err->code);
	json_add_text(object, "code_name", pst_code_name(err->code));
	json_add_text(object, "stage", pst_stage_name(err->stage));
	json_add_i64(object, "errno", err->sys_errno);
	json_add_i64(object, "device_status", err->device_status);
	json_add_text(object, "object", err->object);
	json_add_text(object, "message", err->message);
}

int json_write(struct json_object *document, const char *path, struct pst_error *err)
{
	struct report_file report;
	const char *text;
	int rc = report_file_open(&report, path, err);

	if (rc)
		return rc;
	text = json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY |
								JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		abort();
	errno = 0;
	if (fputs(text, report.stream) == EOF || fputc('\n', report.stream) == EOF)
		report.failed = errno ? -errno : -EIO;
	return report_file_commit(&report, err);
}

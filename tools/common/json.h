/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents over json-c. Numbers are numbers; what is not known (NAN, infinite, UINT64_MAX,
 * a NULL text) is null. Text that is no valid UTF-8, as file names may be, has its bad bytes
 * replaced by U+FFFD. Adders give the value to the object and abort on lack of memory, as a
 * half-filled document is worse than none.
 */
#ifndef PENSTOCK_TOOLS_JSON_H
#define PENSTOCK_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <json.h>

#include "penstock.h"

/* A new document {"schema": name, "schema_version": version}. Free with json_object_put. */
struct json_object *json_document(const char *schema, unsigned version);

/* Empty values put under a key; they belong to parent. */
struct json_object *json_add_object(struct json_object *parent, const char *key);
struct json_object *json_add_array(struct json_object *parent, const char *key);
/* A new object at the end of an array. */
struct json_object *json_append_object(struct json_object *array);

void json_add_u64(struct json_object *parent, const char *key, uint64_t value);
void json_add_i64(struct json_object *parent, const char *key, int64_t value);
void json_add_double(struct json_object *parent, const char *key, double value);
void json_add_bool(struct json_object *parent, const char *key, bool value);
void json_add_text(struct json_object *parent, const char *key, const char *value);
void json_add_null(struct json_object *parent, const char *key);
void json_append_text(struct json_object *array, const char *value);
void json_append_u64(struct json_object *array, uint64_t value);
void json_append_double(struct json_object *array, double value);

/* Under key: code, code_name, stage, errno, device_status, object, message; null when err is NULL
 * or has code 0. */
void json_add_error(struct json_object *parent, const char *key, const struct pst_error *err);

/* Writes a document to a file through report_file.h, or "-" for standard output, ended by a
 * newline. Returns 0, or -errno with *err filled. */
int json_write(struct json_object *document, const char *path, struct pst_error *err);

#endif

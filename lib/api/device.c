/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/check.h"
#include "core/memory.h"
#include "path/transfer.h"
#include "path/vendor_path.h"

static int check_use(struct pst_context *ctx, struct pst_error *err)
{
	if (!ctx)
		return bad_argument(err, "ctx", "must not be NULL");
	if (context_forked(ctx))
		return error_set(err, PST_E_FORKED, PST_STAGE_ARGUMENT, "context",
				 "devices cannot be used in a child of fork(); open a context in a "
				 "program started by exec");
	return 0;
}

int pst_device_count(struct pst_context *ctx, enum pst_device_kind kind, struct pst_error *err)
{
	struct dev_driver *driver;
	int rc = check_use(ctx, err);

	if (rc < 0)
		return rc;
	if (kind > PST_DEVICE_HOST)
		return bad_argument(err, "kind", "is not a value of enum pst_device_kind");
	rc = devices_driver(&ctx->devices, kind, &driver, err);
	return rc < 0 ? rc : ctx->devices.drivers[kind].ops->count(driver);
}

int pst_device_describe(struct pst_context *ctx, enum pst_device_kind kind, int index,
			struct pst_device_info *info, struct pst_error *err)
{
	struct pst_device_info answer = {.size_bytes = sizeof(answer)};
	struct dev_driver *driver;
	int rc = check_use(ctx, err);

	if (rc < 0)
		return rc;
	if (kind > PST_DEVICE_HOST)
		return bad_argument(err, "kind", "is not a value of enum pst_device_kind");
	if (!info)
		return bad_argument(err, "info", "must not be NULL");
	rc = devices_driver(&ctx->devices, kind, &driver, err);
	if (rc == 0)
		rc = ctx->devices.drivers[kind].ops->describe(driver, index, &answer, err);
	if (rc < 0)
		return rc;
	return options_export(info, &answer, sizeof(answer)) ? 0 : bad_struct(err, "info");
}

int pst_device_open(struct pst_context *ctx, const char *name, struct pst_device **out,
		    struct pst_error *err)
{
	struct dev_driver *driver;
	int index, rc = check_use(ctx, err);

	if (rc < 0)
		return rc;
	if (!name || !out)
		return bad_argument(err, name ? "out" : "name", "must not be NULL");
	if (strcmp(name, "host") == 0)
		return devices_open(ctx, PST_DEVICE_HOST, 0, out, err);
	rc = devices_driver(&ctx->devices, PST_DEVICE_CUDA, &driver, err);
	if (rc < 0)
		return rc;
	index = dev_find(&dev_cuda_ops, driver, name, err);
	return index < 0 ? index : devices_open(ctx, PST_DEVICE_CUDA, index, out, err);
}

int pst_device_info(const struct pst_device *device, struct pst_device_info *info,
		    struct pst_error *err)
{
	if (!device || !info)
		return bad_argument(err, device ? "info" : "device", "must not be NULL");
	return options_export(info, &device->info, sizeof(device->info)) ? 0
									 : bad_struct(err, "info");
}

int pst_memory_alloc(struct pst_context *ctx, struct pst_device *device, enum pst_memory_kind kind,
		     size_t bytes, void **out, struct pst_error *err)
{
	int rc = check_use(ctx, err);

	if (rc < 0)
		return rc;
	if (!out)
		return bad_argument(err, "out", "must not be NULL");
	if (!bytes)
		return bad_argument(err, "bytes", "must not be 0");
	if (kind >= PST_MEMORY_KIND_COUNT)
		return bad_argument(err, "kind", "is not a value of enum pst_memory_kind");
	if (!device && kind <= PST_MEMORY_PINNED)
		return bad_argument(err, "device", "must not be NULL for this kind of memory");
	if (device && device->ctx != ctx)
		return bad_argument(err, "device", "must be of the same context");
	return memory_alloc(ctx, device, kind, bytes, out, err);
}

int pst_memory_free(struct pst_context *ctx, void *memory, struct pst_error *err)
{
	int rc = check_use(ctx, err);

	if (rc < 0 || !memory)
		return rc;
	return memory_free(ctx, memory, err);
}

int pst_memory_copy(struct pst_context *ctx, void *destination, const void *source, size_t bytes,
		    struct pst_error *err)
{
	int rc = check_use(ctx, err);

	if (rc < 0)
		return rc;
	if (!destination || !source)
		return bad_argument(err, destination ? "source" : "destination",
				    "must not be NULL");
	return bytes ? transfer_copy(ctx, destination, source, bytes, err) : 0;
}

int pst_buffer_register(struct pst_context *ctx, void *base, size_t bytes, struct pst_error *err)
{
	int rc = check_use(ctx, err);

	if (rc < 0)
		return rc;
	if (!base)
		return bad_argument(err, "base", "must not be NULL");
	if (!bytes)
		return bad_argument(err, "bytes", "must not be 0");
	rc = buffers_add(ctx, base, bytes, err);
	if (rc == 0)
		vendor_path_buffer(ctx, base, true);
	return rc;
}

int pst_buffer_unregister(struct pst_context *ctx, void *base, struct pst_error *err)
{
	int rc = check_use(ctx, err);

	if (rc < 0)
		return rc;
	vendor_path_buffer(ctx, base, false);
	return buffers_remove(ctx, base, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and starting the driver's library. */
#include "device/cuda/cuda.h"
#include "util/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Fills the table; the name of the first missing entry, or NULL. */
static const char *resolve(void *library, struct cuda_calls *calls)
{
	/* POSIX has dlsym's answer stored through a pointer to void *. */
#define RESOLVE(name, arguments) *(void **)&calls->name = dlsym(library, #name);
#define REQUIRE(name, arguments)                                                                   \
	if (!calls->name)                                                                          \
		return #name;
	CUDA_CALLS(RESOLVE)
	CUDA_OPTIONAL_CALLS(RESOLVE)
	CUDA_CALLS(REQUIRE)
#undef RESOLVE
#undef REQUIRE
	return NULL;
}

static const char *library_name(void)
{
	const char *name = secure_getenv("PENSTOCK_LIBCUDA");

	return name && *name ? name : CUDA_LIBRARY;
}

static int take_additions(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes;
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1; /* the first object tells it all */
}

bool cuda_present(void)
{
	/* Asked by every request on memory that is not registered, where looking for a library
	 * that is not there costs several system calls: so that is done once for each object that
	 * the process has loaded. */
	static _Atomic unsigned long long absent_at;
	unsigned long long additions = 0;
	void *library;

	dl_iterate_phdr(take_additions, &additions);
	if (additions && additions == atomic_load_explicit(&absent_at, memory_order_relaxed))
		return false;
	library = dlopen(library_name(), RTLD_LAZY | RTLD_NOLOAD);
	if (library)
		dlclose(library);
	else
		atomic_store_explicit(&absent_at, additions, memory_order_relaxed);
	return library != NULL;
}

static int open_library(struct dev_driver *driver, struct pst_error *err)
{
	const char *name = library_name();
	int (*get_version)(int *version);
	const char *missing;

	/* Never unmapped: the driver has threads and handlers of its own, which outlive us. */
	driver->library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!driver->library)
		return error_set(err, PST_E_DEVICE_NOT_SUPPORTED, PST_STAGE_OPEN, CUDA_LIBRARY,
				 "cannot use NVIDIA GPUs: loading " CUDA_LIBRARY
				 " failed (%s); install the NVIDIA driver, or use the emulated "
				 "device 'host'",
				 dlerror());

	/* The version first: a driver that is too old also lacks entry points. */
	*(void **)&get_version = dlsym(driver->library, "cuDriverGetVersion");
	if (get_version && get_version(&driver->version) == CU_OK &&
	    driver->version < CUDA_VERSION_MIN)
		return error_set(err, PST_E_DEVICE_NOT_SUPPORTED, PST_STAGE_OPEN, name,
				 "cannot use NVIDIA GPUs: the driver is for CUDA %d.%d, at least "
				 "%d.%d is needed; update the NVIDIA driver",
				 driver->version / 1000, driver->version % 1000 / 10,
				 CUDA_VERSION_MIN / 1000, CUDA_VERSION_MIN % 1000 / 10);
	missing = resolve(driver->library, &driver->calls);
	if (missing)
		return error_set(err, PST_E_DEVICE_NOT_SUPPORTED, PST_STAGE_OPEN, name,
				 "cannot use NVIDIA GPUs: %s has no %s; update the NVIDIA driver",
				 name, missing);
	return 0;
}

static int start(struct dev_driver *driver, struct pst_error *err)
{
	struct dev_scope scope;
	int status = driver->calls.cuInit(0);
	int rc;

	if (status == CU_NO_DEVICE) {
		driver->no_device_status = status;
		return 0;
	}
	if (status != CU_OK)
		return cuda_error(driver, err, PST_STAGE_OPEN, status, CUDA_OBJECT, "cuInit",
				  "start the NVIDIA driver");
	rc = cuda_relax(driver, &scope, err);
	if (rc < 0)
		return rc;
	rc = cuda_devices_find(driver, err);
	cuda_restore(driver, &scope);
	return rc;
}

int cuda_load(struct dev_driver **out, struct pst_error *err)
{
	struct dev_driver *driver = calloc(1, sizeof(*driver));
	int rc;

	*out = NULL;
	if (!driver)
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, CUDA_OBJECT,
				 "cannot load the NVIDIA driver: out of memory");
	pthread_mutex_init(&driver->lock, NULL);
	rc = open_library(driver, err);
	if (rc == 0)
		rc = start(driver, err);
	if (rc < 0) {
		cuda_unload(driver);
		return rc;
	}
	*out = driver;
	return 0;
}

void cuda_unload(struct dev_driver *driver)
{
	if (!driver)
		return;
	while (driver->foreign_pins) {
		struct cuda_foreign_pin *pin = driver->foreign_pins;

		driver->foreign_pins = pin->next;
		free(pin);
	}
	if (driver->library)
		dlclose(driver->library);
	pthread_mutex_destroy(&driver->lock);
	free(driver);
}

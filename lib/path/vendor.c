/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and loading the vendor's library. */
#include "path/vendor.h"

#include "os/root.h"
#include "path/vendor_abi.h"
#include "util/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENV_PATH        "PENSTOCK_VENDOR_CUFILE"
#define ENV_COMPAT      "CUFILE_ALLOW_COMPAT_MODE"
#define OUR_MARK        "pst_is_penstock_cufile"
#define VERSION_UNKNOWN 1070 /* what callers take a library for that cannot tell */
#define FILE_NAME       "libcufile.so.0"

#if defined(__aarch64__)
#define TARGET    "sbsa-linux"
#define MULTIARCH "aarch64-linux-gnu"
#else
#define TARGET    "x86_64-linux"
#define MULTIARCH "x86_64-linux-gnu"
#endif

static const char *const usual_places[] = {
	"/usr/local/cuda/targets/" TARGET "/lib/" FILE_NAME,
	"/usr/local/cuda/lib64/" FILE_NAME,
	"/usr/local/cuda-*/targets/" TARGET "/lib/" FILE_NAME,
	"/usr/lib/" MULTIARCH "/" FILE_NAME,
	"/usr/lib64/" FILE_NAME,
	NULL,
};

/* Why candidates of a search were passed over: the last one's cause, for the final message. */
struct search {
	unsigned found;
	struct pst_error cause;
};

static bool same_file(const char *a, const char *b)
{
	struct stat sa;
	struct stat sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Whether path is the library or program that this code is part of. */
static bool is_this_object(const char *path)
{
	static const char anchor;
	Dl_info info;

	return dladdr(&anchor, &info) && info.dli_fname && same_file(path, info.dli_fname);
}

static int refuse_own(const char *path, struct pst_error *err)
{
	return error_set(err, PST_E_VENDOR_LIBRARY, PST_STAGE_OPEN, path,
			 "cannot use %s as the vendor's cuFile: it is penstock's own library of "
			 "that name; name the vendor's file in " ENV_PATH " or use --engine native",
			 path);
}

/* Stores a function's address without a cast between data and function pointers. */
static bool find_symbol(void *library, const char *name, void *function_pointer)
{
	void *symbol = dlsym(library, name);

	memcpy(function_pointer, &symbol, sizeof(symbol));
	return symbol != NULL;
}

/* NULL when all are there, else the name of a missing one. */
static const char *find_calls(void *library, struct vendor_calls *calls)
{
	const struct {
		const char *name;
		void *pointer;
	} needed[] = {
		{"cuFileHandleRegister", &calls->handle_register},
		{"cuFileHandleDeregister", &calls->handle_deregister},
		{"cuFileBufRegister", &calls->buffer_register},
		{"cuFileBufDeregister", &calls->buffer_deregister},
		{"cuFileRead", &calls->read},
		{"cuFileWrite", &calls->write},
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!find_symbol(library, needed[i].name, needed[i].pointer))
			return needed[i].name;
	find_symbol(library, "cuFileGetVersion", &calls->get_version);
	find_symbol(library, "cuFileSetParameterBool", &calls->set_bool);
	return NULL;
}

static int read_version(const struct vendor_calls *calls)
{
	int version = 0;

	if (!calls->get_version || calls->get_version(&version).number || version <= 0)
		return VERSION_UNKNOWN;
	return version;
}

/* Checks a library that is mapped; the caller unmaps it when this fails. */
static int check_library(struct vendor *v, struct pst_error *err)
{
	const char *missing;

	if (dlsym(v->library, OUR_MARK))
		return refuse_own(v->path, err);
	missing = find_calls(v->library, &v->calls);
	if (missing)
		return error_set(err, PST_E_VENDOR_LIBRARY, PST_STAGE_OPEN, v->path,
				 "cannot use %s as the vendor's cuFile: it has no function %s; "
				 "install libcufile 1.0 or later, or use --engine native",
				 v->path, missing);
	v->version = read_version(&v->calls);
	return 0;
}

/* Handles of dlopen, which gives the same one for the same library: the one that came into the
 * process by us, and the one that was told to do without compatibility mode. */
static _Atomic(void *) brought;
static _Atomic(void *) forbidden;

static bool is_loaded(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (library)
		dlclose(library);
	return library != NULL;
}

static int load(const char *path, struct vendor **out, struct pst_error *err)
{
	struct vendor *v;
	bool was_loaded;
	const char *why;
	int ret;

	if (is_this_object(path))
		return refuse_own(path, err);
	v = calloc(1, sizeof(*v));
	if (v)
		v->path = strdup(path);
	if (!v || !v->path) {
		free(v);
		return error_set(err, -ENOMEM, PST_STAGE_OPEN, path,
				 "cannot load %s: out of memory", path);
	}
	was_loaded = is_loaded(path);
	v->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!v->library) {
		why = dlerror();
		ret = error_set(err, PST_E_VENDOR_LIBRARY, PST_STAGE_OPEN, path,
				"cannot load the vendor's cuFile %s: %s; install what is missing "
				"or use --engine native",
				path, why ? why : "no cause given");
	} else {
		ret = check_library(v, err);
		if (ret < 0)
			dlclose(v->library);
	}
	if (ret < 0) {
		free(v->path);
		free(v);
		return ret;
	}
	if (!was_loaded)
		atomic_store(&brought, v->library);
	v->shared = v->library != atomic_load(&brought);
	v->compat_off = v->library == atomic_load(&forbidden);
	*out = v;
	return 0;
}

/* Its last user closes it, and it may come back as it was at first. */
static void unload(struct vendor *v)
{
	void *library = v->library;

	if (dlclose(library) == 0 && !is_loaded(v->path)) {
		void *expected = library;

		atomic_compare_exchange_strong(&brought, &expected, NULL);
		expected = library;
		atomic_compare_exchange_strong(&forbidden, &expected, NULL);
	}
}

/* The newest of the versions that a pattern matches comes first: cuda-13.0 before cuda-9.2. */
static int newest_first(const void *a, const void *b)
{
	return strverscmp(*(char *const *)b, *(char *const *)a);
}

static int try_pattern(const char *pattern, struct search *search, struct vendor **out)
{
	glob_t matches = {0};
	int ret = -ENOENT;

	if (glob(pattern, GLOB_NOSORT, NULL, &matches) == 0) {
		qsort(matches.gl_pathv, matches.gl_pathc, sizeof(matches.gl_pathv[0]),
		      newest_first);
		for (size_t i = 0; i < matches.gl_pathc && ret < 0; i++) {
			search->found++;
			ret = load(matches.gl_pathv[i], out, &search->cause);
		}
	}
	globfree(&matches);
	return ret;
}

int vendor_open_listed(const char *const *patterns, struct vendor **out, struct pst_error *err)
{
	struct search search = {0};

	*out = NULL;
	for (size_t i = 0; patterns[i]; i++)
		if (try_pattern(patterns[i], &search, out) == 0)
			return 0;
	if (search.found == 0)
		return error_set(err, PST_E_VENDOR_LIBRARY, PST_STAGE_OPEN, FILE_NAME,
				 "cannot find the vendor's " FILE_NAME " in the usual places; "
				 "install it, name it in " ENV_PATH ", or use --engine native");
	if (err)
		*err = search.cause;
	return search.cause.code;
}

int vendor_open(const char *path, struct vendor **out, struct pst_error *err)
{
	*out = NULL;
	if (!path)
		path = secure_getenv(ENV_PATH);
	if (!path || !*path)
		return vendor_open_listed(usual_places, out, err);
	if (*path != '/')
		return error_set(err, PST_E_INVALID_VALUE, PST_STAGE_ARGUMENT, path,
				 "cannot load the vendor's cuFile '%s': not an absolute path; give "
				 "the full path of its " FILE_NAME,
				 path);
	return load(path, out, err);
}

void vendor_close(struct vendor *v)
{
	if (!v)
		return;
	assert(atomic_load(&v->files_open) == 0);
	/* A used library may have threads and an open driver: unmapping it would pull the code
	 * away under them. It stays for the life of the process; opening it again is cheap. */
	if (!atomic_load(&v->used))
		unload(v);
	free(v->path);
	free(v);
}

const char *vendor_path(const struct vendor *v)
{
	return v->path;
}

int vendor_version(const struct vendor *v)
{
	return v->version;
}

/* Whether the kernel's list of modules has a line that begins with the module's name. */
static bool module_loaded(const char *name)
{
	size_t length = strlen(name);
	char *line = NULL;
	size_t room = 0;
	bool found = false;
	int fd = os_root_open("/proc/modules", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && getline(&line, &room, file) > 0)
		found = strncmp(line, name, length) == 0 && line[length] == ' ';
	free(line);
	fclose(file);
	return found;
}

bool vendor_kernel_support(void)
{
	int fd = os_root_open("/proc/driver/nvidia-fs/version", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return true;
	}
	return module_loaded("nvidia_fs");
}

bool vendor_forbid_compat(struct vendor *v)
{
	/* The parameter is one for the process and counts only until the driver is open. In a
	 * library that the application brought, it is the application's. */
	if (!v->compat_off && !v->shared && v->calls.set_bool &&
	    v->calls.set_bool(VENDOR_ALLOW_COMPAT, false).number == 0) {
		v->compat_off = true;
		atomic_store(&forbidden, v->library);
	}
	return v->compat_off;
}

/* The user may have forbidden it for every use of the library. */
static bool compat_off_by_environment(void)
{
	const char *text = secure_getenv(ENV_COMPAT);

	return text && (strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0);
}

bool vendor_is_direct(const struct vendor *v)
{
	return (v->compat_off || compat_off_by_environment()) && vendor_kernel_support();
}

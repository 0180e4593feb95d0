/* SPDX-License-Identifier: Apache-2.0 */
#include "common/report_file.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static char path[128];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/penstock-report-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/report.json", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char other[160];

	(void)state;
	unlink(path);
	snprintf(other, sizeof(other), "%s/link", folder);
	unlink(other);
	return rmdir(folder); /* fails, and the test with it, when something was left */
}

/* Only what looks like a report is ever replaced. */
#define OLD "{ \"schema\": \"penstock.old\" }"

static void check_content(const char *expected)
{
	char text[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, expected);
}

static unsigned entries(void)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;
	const struct dirent *e;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void put(const char *text)
{
	struct report_file report;
	struct pst_error err = {0};

	assert_int_equal(report_file_open(&report, path, &err), 0);
	fputs(text, report.stream);
	assert_int_equal(report_file_commit(&report, &err), 0);
}

static void test_replace(void **state)
{
	struct report_file report;
	struct pst_error err = {0};
	struct stat st;

	(void)state;
	put(OLD);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(report_file_open(&report, path, &err), 0);
	fputs("new", report.stream);
	fflush(report.stream);
	check_content(OLD);
	assert_int_equal(report_file_commit(&report, &err), 0);
	report_file_abandon(&report);
	check_content("new");
	assert_int_equal(entries(), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void test_abandon(void **state)
{
	struct report_file report;

	(void)state;
	put(OLD);
	assert_int_equal(report_file_open(&report, path, NULL), 0);
	fputs("new", report.stream);
	report_file_abandon(&report);
	check_content(OLD);
	assert_int_equal(entries(), 1);
}

/* What a killed run has left is used again; two runs at once do not disturb each other. */
static void test_leftover(void **state)
{
	struct report_file first, second;
	struct pst_error err = {0};
	int status;
	pid_t child;

	(void)state;
	put(OLD);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (report_file_open(&first, path, &err) == 0)
			fputs("half", first.stream);
		_exit(fflush(first.stream) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(entries(), 2);
	check_content(OLD);
	assert_int_equal(report_file_open(&first, path, &err), 0);
	assert_int_equal(entries(), 2);
	assert_int_equal(report_file_open(&second, path, &err), 0);
	fputs("first", first.stream);
	fputs("second", second.stream);
	assert_int_equal(report_file_commit(&second, &err), 0);
	check_content("second");
	assert_int_equal(report_file_commit(&first, &err), 0);
	check_content("first");
	assert_int_equal(entries(), 1);
}

/* A full disk, by the limit on file size. */
static void test_full(void **state)
{
	struct rlimit old, small;
	struct report_file report;
	struct pst_error err = {0};
	int rc;

	(void)state;
	put(OLD);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	assert_int_equal(report_file_open(&report, path, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 4096; i++)
		fputs("0123456789", report.stream);
	rc = report_file_commit(&report, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc < 0, 1);
	assert_non_null(strstr(err.message, "report.json"));
	check_content(OLD);
	assert_int_equal(entries(), 1);
}

static void test_refused(void **state)
{
	struct report_file report;
	struct pst_error err = {0};
	char missing[160];

	(void)state;
	assert_int_equal(report_file_open(&report, folder, &err), -EINVAL);
	assert_non_null(strstr(err.message, "a directory"));
	assert_int_equal(report_file_open(&report, "/dev/null", &err), -EINVAL);
	assert_non_null(strstr(err.message, "a character device"));
	snprintf(missing, sizeof(missing), "%s/none/r.json", folder);
	assert_int_equal(report_file_open(&report, missing, &err), -ENOENT);
	assert_int_equal(entries(), 0);
}

static void test_link_kept(void **state)
{
	struct report_file report;
	char link[160];
	struct stat st;

	(void)state;
	put(OLD);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink("report.json", link), 0);
	assert_int_equal(report_file_open(&report, link, NULL), 0);
	fputs("new", report.stream);
	assert_int_equal(report_file_commit(&report, NULL), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_content("new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replace, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_abandon, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_leftover, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_full, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_refused, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_link_kept, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `penstock io` and `gdsio`, and the option table below it. */
#include "io/option_check.h"
#include "io/option_table.h"
#include "tool_capture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MAX_WORDS 48

static struct io_job job;
static struct capture caught;
static enum options_action action;

/* Splits a line at blanks and parses it. Returns the exit status; stderr is in caught. */
static int parse_as(bool gdsio_name, const char *line)
{
	static char text[512]; /* the job points into it */
	static char *words[MAX_WORDS];
	char *rest = NULL;
	int count = 0, rc;

	snprintf(text, sizeof(text), "%s", line);
	for (char *w = strtok_r(text, " ", &rest); w && count < MAX_WORDS;
	     w = strtok_r(NULL, " ", &rest))
		words[count++] = w;
	capture_begin(&caught, stderr);
	rc = io_options_read(&job, count, words, gdsio_name, &action);
	capture_end(&caught);
	return rc;
}

static void accepted(const char *line)
{
	int rc = parse_as(false, line);

	if (rc || action != OPTIONS_GO)
		fail_msg("'%s' refused: %s", line, caught.text);
}

/* A usage error of three lines that says `part`. */
static void refused(const char *line, const char *part)
{
	assert_int_equal(parse_as(false, line), 2);
	if (!strstr(caught.text, part))
		fail_msg("'%s': '%s' is not in: %s", line, part, caught.text);
	assert_int_equal(capture_lines(&caught), 3);
}

static void warned(const char *line, const char *part)
{
	accepted(line);
	if (!strstr(caught.text, part))
		fail_msg("'%s': '%s' is not in: %s", line, part, caught.text);
}

static void test_defaults(void **state)
{
	(void)state;
	accepted("io -f x");
	assert_string_equal(job.file, "x");
	assert_null(job.device);
	assert_int_equal(job.numa_node, IO_NO_NODE);
	assert_int_equal(job.thread_counts, 1);
	assert_int_equal(job.threads[0], 1);
	assert_int_equal(job.io_min_bytes, 1048576);
	assert_int_equal(job.io_max_bytes, 1048576);
	assert_int_equal(job.xfer, IO_XFER_GPU_DIRECT);
	assert_int_equal(job.memory, PST_MEMORY_DEVICE);
	assert_int_equal(job.type, IO_READ);
	assert_int_equal(job.in_flight, 4);
	assert_int_equal(job.repeat, 1);
	assert_int_equal(job.size_bytes, 0);
	assert_false(job.cached);
	assert_string_equal(caught.text, "");
}

static void test_classic_line(void **state)
{
	(void)state;
	assert_int_equal(parse_as(true, "gdsio -D /mnt/d -d 2 -n 1 -w 8 -s 500M -i 1M -x 3 -I 2 -T "
					"120 -k 0308 -m 1 -B 4 -b -p -R -J"),
			 0);
	assert_string_equal(job.directory, "/mnt/d");
	assert_string_equal(job.device, "2");
	assert_int_equal(job.numa_node, 1);
	assert_int_equal(job.threads[0], 8);
	assert_int_equal(job.size_bytes, 524288000);
	assert_int_equal(job.xfer, IO_XFER_CPU_ASYNC_GPU);
	assert_int_equal(job.type, IO_RANDREAD);
	assert_true(job.runtime_s == 120);
	assert_int_equal(job.seed, 308);
	assert_int_equal(job.memory, PST_MEMORY_DEVICE_VMM);
	assert_int_equal(job.in_flight, 4);
	assert_true(job.skip_register && job.peer_access && job.fill_random && job.per_job);
	assert_true(job.gdsio_name);
}

static void test_long_names(void **state)
{
	(void)state;
	accepted("io --filename=x --rw=randwrite --bs=4k --size 1GiB --offset=8192 --numjobs=2 "
		 "--runtime=90s --ramp_time=500ms --direct=0 --xfer=cpu-async-gpu --iodepth=8 "
		 "--randseed=0x10 --engine=native --storage posix --repeat=3 --json=-");
	assert_int_equal(job.type, IO_RANDWRITE);
	assert_int_equal(job.io_max_bytes, 4096);
	assert_int_equal(job.size_bytes, 1073741824);
	assert_int_equal(job.offset_bytes, 8192);
	assert_int_equal(job.threads[0], 2);
	assert_true(job.runtime_s == 90);
	assert_true(job.ramp_time_s == 0.5);
	assert_true(job.cached);
	assert_int_equal(job.in_flight, 8);
	assert_int_equal(job.seed, 16);
	assert_int_equal(job.engine, PST_ENGINE_NATIVE);
	assert_int_equal(job.storage, PST_STORAGE_POSIX);
	assert_int_equal(job.repeat, 3);
	assert_string_equal(job.json, "-");
	assert_false(job.dry_run);
	accepted("io -f x --dry-run");
	assert_true(job.dry_run);
}

/* Attached values, flags together, a list, a colon in a name (AR-06), units by name. */
static void test_forms(void **state)
{
	(void)state;
	accepted("io -fpci-0000:3b:00.0 -w4,8,16 -I3 -RF -i4K:32K:1K -s 2MB");
	assert_string_equal(job.file, "pci-0000:3b:00.0");
	assert_int_equal(job.thread_counts, 3);
	assert_int_equal(job.threads[2], 16);
	assert_true(job.fill_random && job.refill);
	assert_int_equal(job.io_min_bytes, 4096);
	assert_int_equal(job.io_max_bytes, 32768);
	assert_int_equal(job.io_step_bytes, 1024);
	assert_int_equal(job.size_bytes, 2000000);
	assert_int_equal(parse_as(true, "gdsio -f x -s 2MB"), 0);
	assert_int_equal(job.size_bytes, 2097152);
	accepted("io -f x -i 4KB");
	assert_int_equal(job.io_max_bytes, 4096);
	accepted("io -f x -i 4K:4K:0");
	assert_int_equal(job.io_step_bytes, 0);
	assert_int_equal(parse_as(false, "io --help -Q"), 0);
	assert_int_equal(action, OPTIONS_HELP);
	assert_int_equal(parse_as(false, "io --help-all"), 0);
	assert_int_equal(action, OPTIONS_HELP_ALL);
	assert_int_equal(parse_as(true, "gdsio -h"), 0);
	assert_int_equal(action, OPTIONS_HELP);
	assert_int_equal(parse_as(false, "io --version"), 0);
	assert_int_equal(action, OPTIONS_VERSION);
}

static void test_refused_syntax(void **state)
{
	(void)state;
	refused("io -f x -X 2", "unknown option -X: did you mean -x?"); /* AR-05 */
	refused("io -f x -Q", "unknown option -Q\n");
	refused("io -f x --siez=1M", "unknown option --siez: did you mean --size?");
	refused("io --file x", "did you mean --filename?");
	refused("io -f x -f y", "option -f is given twice, with 'x' and 'y'");
	refused("io -f x -w 2 --threads=4", "--threads is given twice");
	refused("io -f x -R -R", "-R is given twice");
	refused("io -f", "option -f needs a value: FILE");
	refused("io -f -D d", "option -f needs a value");
	refused("io -f x --size --offset=1", "option --size needs a value");
	refused("io -f x --cold=1", "takes no value");
	refused("io -f x --rw=mixed", "'mixed' is none of: read or 0, write or 1");
	refused("io -f x -I 7", "'7' is none of");
	refused("io -f x -i -1m", "'-1m' is negative"); /* AR-03 */
	refused("io -f x -s 4X", "'X' at position 2");
	refused("io -f x --direct=yes", "'yes': is none of: 0, 1");
	refused("io -f x -d", "needs a value: GPU");
	refused("io x", "'x' is no option");
	refused("io --json=", "the text is empty");
}

static void test_refused_later(void **state)
{
	(void)state;
	refused("io -f x -V", "option -V: verify comes with a later release");
	refused("io -f x -M 50", "option -M: mixed access comes with a later release");
	refused("io -f x -P sock://1", "option -P: this build has no RDMA");
	refused("io rw-sample.gdsio", "job file 'rw-sample.gdsio'");
	refused("io -f x -x 6", "option -x 6: batch requests come with a later release");
}

static void test_refused_values(void **state)
{
	(void)state;
	refused("io", "give -f FILE or -D DIR");
	refused("io -f x -D d", "-f and -D exclude each other");
	refused("io -f x -w 0", "0 is outside 1 to 4096");
	refused("io -f x -w 4097", "4097 is outside 1 to 4096");
	refused("io -f x -w 4,8,4", "twice");
	refused("io -f x -i 0", "0 bytes");
	refused("io -f x -i 2T", "1 TiB");
	refused("io -f x -i 8K -s 4K", "-i 8192 bytes is above -s 4096 bytes");
	refused("io -f x -i 8K:4K:1K", "smallest size is above the largest");
	refused("io -f x -i 4K:8K:0", "step of 0");
	refused("io -f x -i 4K:8K", "MIN:MAX:STEP");
	refused("io -f x -i 4K:8K:1K:1K", "MIN:MAX:STEP");
	refused("io -f x -s 0", "-s 0");
	refused("io -f x -s 8388608T -o 1", "above the largest file");
	refused("io -f x -T 0", "-T 0");
	refused("io -f x -m 2 -x 2", "-m 2 (host memory) works with -x 0 only");
	refused("io -f x -B 0 -x 3", "outside 1");
	refused("io -f x -B 40000 -x 3", "PST_BATCH_MAX_CAPACITY (4096"); /* SC-08 */
	refused("io -f x -O 1 --direct=1", "give one");
	refused("io -f x -O 1 --require-direct", "exclude each other");
	refused("io -f x -T 5 --stop first", "exclude each other");
	refused("io -f x --repeat 0", "outside 1 to");
	accepted("io -f x -m 3 -x 1");
	accepted("io -f x -m 4");
	accepted("io -f x -i 1M -s 1M");
}

static void test_warnings(void **state)
{
	(void)state;
	warned("io -f x -a 8K", "-a has no effect without random access");
	warned("io -f x -k 3", "-k has no effect");
	warned("io -f x -B 4", "-B has no effect without -x 3");
	warned("io -f x -R", "-R has no effect when reading");
	warned("io -f x -x 1 -d 5", "no GPU is used");
	warned("io -f x -T 5 -s 64M", "time wins, the range is repeated"); /* AR-10 */
	warned("io -f x -U", "-I 0 is taken as -I 2");
	assert_int_equal(job.type, IO_RANDREAD);
	accepted("io -f x -I 2 -a 8K -k 3");
	assert_string_equal(caught.text, "");
}

/* The help names every option, on stdout. */
static void test_help(void **state)
{
	const struct option_table *table = io_option_table(false);
	static struct capture c;

	(void)state;
	capture_begin(&c, stdout);
	assert_int_equal(options_help(table, true), 0);
	capture_end(&c);
	for (size_t i = 0; i < table->count; i++) {
		char name[80];

		snprintf(name, sizeof(name), "--%s", table->entries[i].long_name);
		if (table->entries[i].long_name && !strstr(c.text, name))
			fail_msg("the help lacks %s", name);
		snprintf(name, sizeof(name), "  -%c", table->entries[i].letter);
		if (table->entries[i].letter && !strstr(c.text, name))
			fail_msg("the help lacks %s", name);
	}
}

/* The short help fits on one screen, has what a first run needs, and says where the rest is. */
static void test_short_help(void **state)
{
	static const char *const needed[] = {"-f, ", "-D, ", "-s, ", "-i, ",   "-w, ",      "-x, ",
					     "-d, ", "-T, ", "-I, ", "--json", "--help-all"};
	static struct capture c;
	unsigned lines = 0;

	(void)state;
	capture_begin(&c, stdout);
	assert_int_equal(options_help(io_option_table(false), false), 0);
	capture_end(&c);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!strstr(c.text, needed[i]))
			fail_msg("the short help lacks %s", needed[i]);
	for (const char *at = c.text; *at; at++)
		lines += *at == '\n';
	assert_in_range(lines, 20, 45);
	assert_null(strstr(c.text, "--storage"));
}

/* No letter or name stands for two options. */
static void test_table(void **state)
{
	const struct option_table *table = io_option_table(false);

	(void)state;
	for (size_t i = 0; i < table->count; i++) {
		const struct option_entry *a = &table->entries[i];

		for (size_t k = 0; k < i; k++) {
			const struct option_entry *b = &table->entries[k];

			assert_false(a->letter && a->letter == b->letter);
			assert_false(a->long_name && b->long_name &&
				     !strcmp(a->long_name, b->long_name));
			assert_false(a->long_name && b->long_alias &&
				     !strcmp(a->long_name, b->long_alias));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),       cmocka_unit_test(test_classic_line),
		cmocka_unit_test(test_long_names),     cmocka_unit_test(test_forms),
		cmocka_unit_test(test_refused_syntax), cmocka_unit_test(test_refused_later),
		cmocka_unit_test(test_refused_values), cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_help),           cmocka_unit_test(test_short_help),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

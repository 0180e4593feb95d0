/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that people and scripts read. */
#include "io/output.h"
#include "io/output_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/output_json.h"
#include "io/result.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

struct page {
	struct io_job job;
	struct io_plan plan;
	struct io_file_plan file;
	struct io_result result;
	char *text;
};

static int setup(void **state)
{
	struct page *p = calloc(1, sizeof(*p));

	p->job = (struct io_job){.io_min_bytes = MIB,
				 .io_max_bytes = MIB,
				 .memory = PST_MEMORY_DEVICE,
				 .numa_node = IO_NO_NODE,
				 .file = "/data/x",
				 .repeat = 1};
	p->file.path = (char *)"/data/x";
	p->plan =
		(struct io_plan){.job = &p->job, .threads = 8, .files = &p->file, .file_count = 1};
	assert_int_equal(result_init(&p->result, 8), 0);
	p->result.source.device_read_bytes = UINT64_MAX;
	p->result.has_stats = true;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct page *p = *state;

	free(p->text);
	result_free(&p->result);
	free(p);
	return 0;
}

enum part {
	CLASSIC,
	TEXT,
	BRIEF,
	AGAIN
};

static const char *print(struct page *p, enum part part)
{
	size_t length;
	FILE *out;

	free(p->text);
	p->text = NULL;
	out = open_memstream(&p->text, &length);
	if (part == CLASSIC)
		output_classic(out, &p->plan, &p->result);
	else
		output_text(out, &p->plan, &p->result,
			    part == AGAIN   ? OUTPUT_BRIEF_AGAIN
			    : part == BRIEF ? OUTPUT_BRIEF
					    : OUTPUT_FULL);
	fclose(out);
	return p->text;
}

static void set(struct page *p, unsigned threads, uint64_t done_kib, uint64_t requested_kib,
		double latency_us, uint64_t ops, double seconds)
{
	p->result.threads = threads;
	p->result.ledger.completed_bytes = done_kib * KIB;
	p->result.ledger.completed_ops = ops;
	p->result.ledger.issued_ops = ops;
	p->plan.requested_bytes = requested_kib * KIB;
	p->result.ledger.requested_bytes = requested_kib * KIB;
	p->result.mean_latency_us = latency_us;
	p->result.elapsed_s = seconds;
}

/* Lines of the vendor's tool, with the numbers that it printed. */
static void classic_lines_of_the_field(void **state)
{
	struct page *p = *state;

	set(p, 8, 818796544, 4096000, 1197.370995, 799606, 119.679102);
	assert_string_equal(print(p, CLASSIC),
			    "IoType: READ XferType: GPUD Threads: 8 DataSetSize: "
			    "818796544/4096000(KiB) IOSize: 1024(KiB) Throughput: 6.524658 "
			    "GiB/sec, Avg_Latency: 1197.370995 usecs ops: 799606 total_time "
			    "119.679102 secs\n");
	p->job.io_min_bytes = p->job.io_max_bytes = 4 * KIB;
	p->job.type = IO_RANDREAD;
	set(p, 4, 11736528, 4194304, 163.478958, 2934132, 119.917332);
	assert_string_equal(print(p, CLASSIC),
			    "IoType: RANDREAD XferType: GPUD Threads: 4 DataSetSize: "
			    "11736528/4194304(KiB) IOSize: 4(KiB) Throughput: 0.093338 GiB/sec, "
			    "Avg_Latency: 163.478958 usecs ops: 2934132 total_time 119.917332 "
			    "secs\n");
	p->job.io_min_bytes = p->job.io_max_bytes = 512 * KIB;
	p->job.type = IO_WRITE;
	set(p, 128, 1630208, 2097152, 6595.108546, 3184, 0.199211);
	assert_string_equal(print(p, CLASSIC),
			    "IoType: WRITE XferType: GPUD Threads: 128 DataSetSize: "
			    "1630208/2097152(KiB) IOSize: 512(KiB) Throughput: 7.804225 GiB/sec, "
			    "Avg_Latency: 6595.108546 usecs ops: 3184 total_time 0.199211 secs\n");
	p->job.io_min_bytes = p->job.io_max_bytes = MIB;
	p->job.type = IO_READ;
	p->job.xfer = IO_XFER_CPU_ONLY;
	set(p, 4, 10240000, 10240000, 868.366600, 10000, 2.212354);
	assert_string_equal(print(p, CLASSIC),
			    "IoType: READ XferType: CPUONLY Threads: 4 DataSetSize: "
			    "10240000/10240000(KiB) IOSize: 1024(KiB) Throughput: 4.414133 "
			    "GiB/sec, Avg_Latency: 868.366600 usecs ops: 10000 total_time "
			    "2.212354 secs\n");
}

static void classic_names(void **state)
{
	static const char *const xfers[] = {"XferType: GPUD ", "XferType: CPUONLY ",
					    "XferType: CPU_GPU ", "XferType: CPU_ASYNC_GPU ",
					    "XferType: CPU_CACHED_GPU "};
	struct page *p = *state;

	set(p, 1, 1024, 1024, 1, 1, 1);
	for (unsigned i = 0; i < 5; i++) {
		p->job.xfer = (enum io_xfer)i;
		assert_non_null(strstr(print(p, CLASSIC), xfers[i]));
	}
	p->job.unaligned_random = true;
	p->job.type = IO_READ;
	assert_non_null(strstr(print(p, CLASSIC), "IoType: RANDREAD "));
	p->job.type = IO_WRITE;
	assert_non_null(strstr(print(p, CLASSIC), "IoType: RANDWRITE "));
	p->job.io_min_bytes = 4 * KIB;
	p->job.io_max_bytes = 32 * KIB;
	p->job.io_step_bytes = 1 * KIB;
	assert_non_null(strstr(print(p, CLASSIC), " IOSize: 4-32-1(KiB) Throughput: "));
	/* Whole KiB, as there. */
	p->job.io_min_bytes = p->job.io_max_bytes = 1536;
	p->result.ledger.completed_bytes = 30000;
	assert_non_null(strstr(print(p, CLASSIC), " DataSetSize: 29/1024(KiB) IOSize: 1(KiB) "));
}

static void run_without_operations(void **state)
{
	struct page *p = *state;

	set(p, 8, 0, 1024, 0, 0, 0);
	result_judge(&p->result, &p->job);
	assert_non_null(strstr(print(p, CLASSIC),
			       "Throughput: 0.000000 GiB/sec, Avg_Latency: 0.000000 usecs ops: 0 "
			       "total_time 0.000000 secs\n"));
	print(p, TEXT);
	assert_non_null(strstr(p->text, "Latency: n/a\n"));
	assert_non_null(strstr(p->text, "Rate: n/a = n/a = n/a, n/a; too short"));
	assert_non_null(strstr(p->text, "Path: none\n"));
	assert_null(strstr(p->text, "nan"));
	assert_null(strstr(p->text, "inf "));
}

/* AR-08: 1 GiB in exactly 1 s. */
static void rates_in_all_units(void **state)
{
	struct page *p = *state;

	set(p, 1, 1024 * 1024, 1024 * 1024, 1, 1024, 1);
	result_judge(&p->result, &p->job);
	assert_non_null(strstr(print(p, TEXT),
			       "Rate: 1.000 GiB/s = 1.074 GB/s = 1024.0 MiB/s, 1024 IOPS\n"));
}

/* ST-10 */
static void short_run_is_marked(void **state)
{
	struct page *p = *state;

	set(p, 1, 8192, 8192, 1, 8, 0.006);
	result_judge(&p->result, &p->job);
	assert_non_null(strstr(print(p, TEXT), "; too short (6 ms, 8 operations): a hint only\n"));
	/* Few large operations that took long are no hint. */
	set(p, 1, 8192, 8192, 1, 8, 4);
	result_judge(&p->result, &p->job);
	assert_null(strstr(print(p, TEXT), "too short"));
}

static void source_marks(void **state)
{
	struct page *p = *state;
	struct io_source *source = &p->result.source;

	/* CA-06: 64 MiB file, 92 passes, the drive moved the file once. */
	set(p, 1, 92 * 64 * 1024, 64 * 1024, 1, 5888, 3);
	*source = (struct io_source){.range_bytes = 64 * MIB,
				     .resident_after_bytes = 64 * MIB,
				     .device_read_bytes = 64 * MIB,
				     .fs_type = "ext4"};
	result_judge(&p->result, &p->job);
	print(p, TEXT);
	assert_non_null(strstr(p->text, "; 92.0 passes over the data; from cache\n"));
	assert_non_null(strstr(p->text, "in page cache 0 % before, 100 % after"));
	assert_non_null(
		strstr(p->text, "the drive read 64 MiB, the run moved 5.75 GiB; from cache"));
	/* Another program's reads of the same drive do not hide the cache. */
	source->device_read_bytes = (uint64_t)8 << 30;
	result_judge(&p->result, &p->job);
	assert_true(p->result.from_cache);
	source->direct = true;
	result_judge(&p->result, &p->job);
	assert_false(p->result.from_cache);
	source->direct = false;
	/* Less was read than the range had outside the cache. */
	set(p, 1, 16 * 1024, 64 * 1024, 1, 16, 3);
	source->resident_before_bytes = 32 * MIB;
	result_judge(&p->result, &p->job);
	assert_false(p->result.from_cache);
	source->resident_before_bytes = 0;
	set(p, 1, 92 * 64 * 1024, 64 * 1024, 1, 5888, 3);
	/* CA-03: nothing but a hole is no cache. */
	source->hole_bytes = 64 * MIB;
	source->device_read_bytes = 0;
	result_judge(&p->result, &p->job);
	print(p, TEXT);
	assert_false(p->result.from_cache);
	assert_non_null(strstr(p->text, "hole 100 %"));
	assert_non_null(strstr(p->text, " of samples: no data was read"));
	/* CA-01 */
	source->memory_backed = true;
	memcpy(source->fs_type, "tmpfs", 6);
	print(p, TEXT);
	assert_non_null(strstr(p->text, "Source: tmpfs, memory-backed (tmpfs)"));
	assert_non_null(
		strstr(p->text, "passes over the data; memory-backed (tmpfs); 100 % hole: "));
	/* What is not known is not claimed. */
	*source = (struct io_source){.range_bytes = 64 * MIB,
				     .resident_before_bytes = UINT64_MAX,
				     .resident_after_bytes = UINT64_MAX,
				     .hole_bytes = UINT64_MAX,
				     .unwritten_bytes = UINT64_MAX,
				     .sampled_bytes = UINT64_MAX,
				     .zero_bytes = UINT64_MAX,
				     .device_read_bytes = UINT64_MAX};
	result_judge(&p->result, &p->job);
	assert_false(p->result.from_cache);
	assert_non_null(strstr(print(p, TEXT),
			       "in page cache n/a before, n/a after; hole n/a, unwritten n/a, "
			       "all-zero n/a of samples; the drive read n/a"));
	p->result.cold = true;
	print(p, TEXT);
	assert_non_null(strstr(p->text, "\n  cold or not is unknown"));
	assert_null(strstr(p->text, "not cold"));
	source->resident_before_bytes = 4096;
	assert_non_null(strstr(print(p, TEXT), "\n  not cold: the kernel kept pages"));
}

/* Holes mark a rate by their part, and an odd byte of data keeps it from being all. */
static void hole_marks(void **state)
{
	struct page *p = *state;
	struct io_source *source = &p->result.source;

	set(p, 1, 92 * 64 * 1024, 64 * 1024, 1, 5888, 3);
	source->range_bytes = 64 * MIB;
	source->device_read_bytes = 0;
	source->direct = true;
	source->hole_bytes = source->range_bytes - 1;
	source->unwritten_bytes = 0;
	source->resident_after_bytes = 0;
	result_judge(&p->result, &p->job);
	assert_int_equal(p->result.hole_percent, 99);
	source->hole_bytes = source->range_bytes / 3;
	result_judge(&p->result, &p->job);
	assert_int_equal(p->result.hole_percent, 33);
	assert_false(p->result.from_cache); /* threads may differ: see METRICS */
	source->hole_bytes = source->range_bytes / 20;
	result_judge(&p->result, &p->job);
	assert_int_equal(p->result.hole_percent, 0);
}

/* Each reason once, what touched most requests first, said in the words of the option. */
static void reasons_in_order(void **state)
{
	struct page *p = *state;
	const char *first, *second, *third;

	set(p, 1, 8192, 8192, 1, 8, 1);
	p->job.xfer = IO_XFER_CPU_CACHED_GPU;
	p->result.reasons = 1u << PST_REASON_CALLER_CHOICE | 1u << PST_REASON_EMULATED_DEVICE |
			    1u << PST_REASON_PAST_END;
	p->result.stats.reasons[PST_REASON_CALLER_CHOICE] = 7;
	p->result.stats.reasons[PST_REASON_EMULATED_DEVICE] = 8;
	p->result.stats.reasons[PST_REASON_PAST_END] = 1;
	print(p, TEXT);
	first = strstr(p->text, "  because: -d host asks for the emulated device: only a GPU has "
				"DMA (emulated-device, 8 requests)\n");
	second = strstr(p->text, "  because: -x 4 asks for the page cache (caller-choice, 7 "
				 "requests)\n");
	third = strstr(p->text, " (past-end, 1 request)\n");
	assert_non_null(first);
	assert_true(second > first && third > second);
	p->job.xfer = IO_XFER_CPU_ONLY;
	p->job.cached = true;
	assert_non_null(strstr(print(p, TEXT), "because: -O 1 (--direct=0) asks for the page"));
}

/* Of many runs that go one way, the first alone says why. */
static void same_way_is_said_once(void **state)
{
	struct page *p = *state;
	struct output_way first, second;

	set(p, 1, 8192, 8192, 1, 8, 1);
	p->result.stats.read[PST_PATH_STAGED].bytes = 4096;
	p->result.reasons = 1u << PST_REASON_PAST_END;
	first = output_way(&p->result);
	p->result.stats.read[PST_PATH_STAGED].bytes = 8192;
	second = output_way(&p->result);
	assert_true(output_same_way(&first, &second));
	assert_non_null(strstr(print(p, AGAIN), "Path: staged "));
	assert_null(strstr(p->text, "because:"));
	assert_null(strstr(p->text, "Device:"));
	p->result.stats.read[PST_PATH_CACHED].bytes = 1;
	second = output_way(&p->result);
	assert_false(output_same_way(&first, &second));
	p->result.has_stats = false;
	first = second = output_way(&p->result);
	assert_false(output_same_way(&first, &second));
}

/* The longest plausible names fit a wide terminal. */
static void lines_are_short(void **state)
{
	struct page *p = *state;
	struct pst_device_info *device = &p->result.device;

	set(p, 8, 999999999, 999999999, 123456.789, 999999999, 123456.789);
	p->result.has_device = true;
	snprintf(device->name, sizeof(device->name), "NVIDIA H200 NVL 141GB HBM3e");
	snprintf(device->bus_id, sizeof(device->bus_id), "00000000:c7:00.0");
	snprintf(device->uuid, sizeof(device->uuid), "GPU-01234567-89ab-cdef-0123-456789abcdef");
	p->result.stats.read[PST_PATH_STAGED].bytes = 123456789012345;
	p->result.stats.read[PST_PATH_CACHED].bytes = 123456789012345;
	p->result.stats.uring_requests = p->result.stats.posix_requests = 999999999;
	p->result.source = (struct io_source){.range_bytes = 64 * MIB,
					      .hole_bytes = 64 * MIB,
					      .sampled_bytes = MIB,
					      .zero_bytes = MIB,
					      .device_read_bytes = 123456789012345,
					      .clipped = true,
					      .fs_type = "fuseblk",
					      .block_name = "nvme10n1p15"};
	result_judge(&p->result, &p->job);
	for (const char *line = print(p, TEXT); *line; line += strcspn(line, "\n") + 1)
		assert_in_range(strcspn(line, "\n"), 1, 220);
}

static void ledger_appears_when_something_is_missing(void **state)
{
	struct page *p = *state;

	set(p, 1, 8192, 8192, 1, 8, 1);
	assert_null(strstr(print(p, TEXT), "Ledger:"));
	p->result.ledger.failed_ops = 2;
	p->result.ledger.failed_bytes = 2 * MIB;
	p->result.failure_count = 1;
	p->result.failures[0] = (struct io_failure){
		.error = {.code = -28, .sys_errno = 28, .message = "no space left"},
		.path = "/data/x",
		.offset_bytes = 4096,
		.bytes = MIB,
	};
	p->job.classic = true;
	print(p, TEXT);
	assert_int_equal(strncmp(p->text, "Ledger: requested ", 18), 0);
	assert_non_null(strstr(p->text, "failed 2 ops, 2097152 bytes"));
	assert_non_null(strstr(p->text, "1048576 bytes at offset 4096: no space left (ENOSPC)"));
}

static void emulated_is_always_said(void **state)
{
	struct page *p = *state;

	set(p, 1, 8192, 8192, 1, 8, 1);
	p->result.has_device = true;
	p->result.device = (struct pst_device_info){.emulated = true, .name = "host"};
	assert_non_null(strstr(print(p, TEXT), "emulated"));
	assert_non_null(strstr(print(p, BRIEF), "emulated"));
	p->job.classic = true;
	assert_non_null(strstr(print(p, TEXT), "emulated"));
}

/* OU-01, OU-05, OU-06: the document parses strictly and says null for what is not known. */
static void document_is_strict_json(void **state)
{
	struct json_tokener *tokener = json_tokener_new();
	struct page *p = *state;
	struct json_object *document, *back, *results, *one, *part, *value;
	const char *text;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	set(p, 8, 0, 1024, 0, 0, 0);
	p->result.stopped_by_error = true;
	p->result.failure_count = 1;
	p->result.failures[0] = (struct io_failure){
		.error = {.code = -28, .sys_errno = 28, .message = "no space left"},
		.path = "/data/\xff",
		.offset_bytes = 4096,
		.bytes = MIB,
	};
	p->result.mean_latency_us = pst_histogram_mean(p->result.latency);
	result_judge(&p->result, &p->job);
	document = output_json_new(&p->job);
	output_json_add(document, &p->plan, &p->result, 0);
	output_json_end(document, 1, false, NULL);
	text = json_object_to_json_string_ext(document, JSON_C_TO_STRING_PLAIN);
	assert_null(strstr(text, "NaN"));
	assert_null(strstr(text, "Infinity"));
	assert_null(strstr(text, "18446744073709551615"));
	back = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
	assert_non_null(back);
	assert_true(json_object_object_get_ex(back, "results", &results));
	one = json_object_array_get_idx(results, 0);
	assert_true(json_object_object_get_ex(one, "rate", &part));
	assert_true(json_object_object_get_ex(part, "gib_per_s", &value));
	assert_null(value);
	assert_true(json_object_object_get_ex(one, "latency", &part));
	assert_true(json_object_object_get_ex(part, "p99_us", &value));
	assert_null(value);
	assert_true(json_object_object_get_ex(one, "failures", &part));
	part = json_object_array_get_idx(part, 0);
	assert_true(json_object_object_get_ex(part, "offset_bytes", &value));
	assert_int_equal(json_object_get_int64(value), 4096);
	assert_true(json_object_object_get_ex(part, "run_done_bytes", &value));
	assert_int_equal(json_object_get_int64(value), 0);
	assert_true(json_object_object_get_ex(part, "error", &part));
	assert_true(json_object_object_get_ex(part, "errno", &value));
	assert_int_equal(json_object_get_int64(value), 28);
	json_object_put(back);
	json_object_put(document);
	json_tokener_free(tokener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(classic_lines_of_the_field, setup, teardown),
		cmocka_unit_test_setup_teardown(classic_names, setup, teardown),
		cmocka_unit_test_setup_teardown(run_without_operations, setup, teardown),
		cmocka_unit_test_setup_teardown(rates_in_all_units, setup, teardown),
		cmocka_unit_test_setup_teardown(short_run_is_marked, setup, teardown),
		cmocka_unit_test_setup_teardown(source_marks, setup, teardown),
		cmocka_unit_test_setup_teardown(hole_marks, setup, teardown),
		cmocka_unit_test_setup_teardown(reasons_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(same_way_is_said_once, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_are_short, setup, teardown),
		cmocka_unit_test_setup_teardown(ledger_appears_when_something_is_missing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(emulated_is_always_said, setup, teardown),
		cmocka_unit_test_setup_teardown(document_is_strict_json, setup, teardown),
	};

	return cmocka_run_group_tests_name("io output", tests, NULL, NULL);
}

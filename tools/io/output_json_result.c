/* SPDX-License-Identifier: Apache-2.0 */
#include "io/output_json.h"

#include <math.h>

#include "common/units.h"
#include "io/output_path.h"
#include "io/result.h"

static void add_plan(struct json_object *to, const struct io_plan *plan)
{
	struct json_object *part = json_add_object(to, "plan");
	struct json_object *files = json_add_array(part, "files");

	json_add_u64(part, "threads", plan->threads);
	json_add_u64(part, "requested_bytes", plan->requested_bytes);
	json_add_bool(part, "timed", plan->timed);
	json_add_u64(part, "buffer_bytes", plan->memory_bytes);
	for (unsigned i = 0; i < plan->file_count; i++) {
		struct json_object *file = json_append_object(files);

		json_add_text(file, "path", plan->files[i].path);
		json_add_u64(file, "start_bytes", plan->files[i].start_bytes);
		json_add_u64(file, "end_bytes", plan->files[i].end_bytes);
		json_add_bool(file, "created", plan->files[i].create);
		json_add_bool(file, "clipped", plan->files[i].clipped);
	}
}

static void add_rates(struct json_object *to, const struct io_result *result)
{
	double elapsed = result->stopped_by_error ? NAN : result->elapsed_s;
	uint64_t bytes = result->ledger.completed_bytes;
	struct json_object *part = json_add_object(to, "rate");

	json_add_double(part, "gib_per_s", units_gib_per_s(bytes, elapsed));
	json_add_double(part, "mib_per_s", units_mib_per_s(bytes, elapsed));
	json_add_double(part, "mb_per_s", units_mb_per_s(bytes, elapsed));
	json_add_double(part, "iops", result->stopped_by_error ? NAN : result_ops_per_s(result));
	json_add_bool(part, "too_short", result->too_short);
	json_add_bool(part, "from_cache", result->from_cache);
	json_add_double(part, "passes", result->passes);
}

static void add_phases(struct json_object *to, const struct io_result *result)
{
	struct json_object *part = json_add_object(to, "phases");

	json_add_double(part, "setup_s", result->setup_s);
	json_add_double(part, "evict_s", result->cold ? result->evict_s : NAN);
	json_add_double(part, "look_at_files_s", result->source_s);
	json_add_double(part, "ramp_s", result->ramp_s);
	json_add_double(part, "measured_s", result->elapsed_s);
	json_add_double(part, "teardown_s", result->teardown_s);
}

static void add_ledger(struct json_object *to, const struct io_plan *plan,
		       const struct io_result *result)
{
	const struct io_ledger *ledger = &result->ledger;
	struct json_object *part = json_add_object(to, "ledger");

	json_add_u64(part, "requested_ops",
		     ledger->requested_ops && !plan->timed ? ledger->requested_ops : UINT64_MAX);
	json_add_u64(part, "requested_bytes", plan->timed ? UINT64_MAX : ledger->requested_bytes);
	json_add_u64(part, "issued_ops", ledger->issued_ops);
	json_add_u64(part, "issued_bytes", ledger->issued_bytes);
	json_add_u64(part, "completed_ops", ledger->completed_ops);
	json_add_u64(part, "completed_bytes", ledger->completed_bytes);
	json_add_u64(part, "short_ops", ledger->short_ops);
	json_add_u64(part, "short_missing_bytes", ledger->short_bytes);
	json_add_u64(part, "failed_ops", ledger->failed_ops);
	json_add_u64(part, "failed_bytes", ledger->failed_bytes);
	json_add_bool(part, "complete", !result_incomplete(result, plan));
	json_add_bool(part, "interrupted", result->interrupted);
	json_add_bool(part, "stopped_by_error", result->stopped_by_error);
}

static void add_latency(struct json_object *to, const struct io_plan *plan,
			const struct io_result *result)
{
	static const struct {
		const char *key;
		double percent;
	} points[] = {{"min_us", 0},      {"p50_us", 50},       {"p90_us", 90}, {"p99_us", 99},
		      {"p99_9_us", 99.9}, {"p99_99_us", 99.99}, {"max_us", 100}};
	struct json_object *part = json_add_object(to, "latency");
	struct json_object *buckets;
	struct pst_bucket bucket;
	uint32_t cursor = 0;

	json_add_text(part, "interval",
		      plan->job->xfer == IO_XFER_CPU_ASYNC_GPU ? "submit to seen complete"
							       : "call to return");
	json_add_u64(part, "count", pst_histogram_count(result->latency));
	json_add_double(part, "mean_us", result->mean_latency_us);
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		json_add_double(part, points[i].key, result_latency_us(result, points[i].percent));
	buckets = json_add_array(part, "histogram");
	while (pst_histogram_next(result->latency, &cursor, &bucket)) {
		struct json_object *one = json_append_object(buckets);

		json_add_u64(one, "low_ns", bucket.low_ns);
		json_add_u64(one, "high_ns", bucket.high_ns);
		json_add_u64(one, "count", bucket.count);
	}
}

static void add_cpu(struct json_object *to, const struct io_result *result)
{
	struct json_object *part = json_add_object(to, "cpu");
	double gib = (double)result->ledger.completed_bytes / 1073741824.0;
	double used = result->user_cpu_s + result->system_cpu_s;

	json_add_double(part, "user_s", result->user_cpu_s);
	json_add_double(part, "system_s", result->system_cpu_s);
	json_add_double(part, "user_s_per_gib", gib > 0 ? result->user_cpu_s / gib : NAN);
	json_add_double(part, "system_s_per_gib", gib > 0 ? result->system_cpu_s / gib : NAN);
	json_add_double(part, "one_core_percent",
			result->elapsed_s > 0 ? used / result->elapsed_s * 100 : NAN);
	json_add_u64(part, "peak_resident_bytes", result->peak_resident_bytes);
}

static void add_device(struct json_object *to, const struct io_result *result)
{
	const struct pst_device_info *device = &result->device;
	struct json_object *part;

	if (!result->has_device) {
		json_add_null(to, "device");
		return;
	}
	part = json_add_object(to, "device");
	json_add_text(part, "name", device->name);
	json_add_bool(part, "emulated", device->emulated);
	json_add_i64(part, "index", device->index);
	json_add_text(part, "uuid", device->uuid[0] ? device->uuid : NULL);
	json_add_text(part, "bus_id", device->bus_id[0] ? device->bus_id : NULL);
	json_add_u64(part, "memory_bytes", device->memory_bytes);
}

static void add_paths(struct json_object *to, const struct io_job *job,
		      const struct io_result *result)
{
	enum pst_reason seen[PST_REASON_COUNT];
	struct json_object *paths, *reasons;
	unsigned count;

	if (!result->has_stats) {
		json_add_null(to, "paths");
		json_add_null(to, "reasons");
		return;
	}
	paths = json_add_array(to, "paths");
	for (unsigned i = 1; i < PST_PATH_COUNT; i++) {
		const struct pst_path_counters *read = &result->stats.read[i];
		const struct pst_path_counters *write = &result->stats.write[i];
		struct json_object *one;

		if (!(read->requests + write->requests + read->errors + write->errors))
			continue;
		one = json_append_object(paths);
		json_add_text(one, "path", pst_path_name((enum pst_path)i));
		json_add_u64(one, "requests", read->requests + write->requests);
		json_add_u64(one, "bytes", read->bytes + write->bytes);
		json_add_u64(one, "errors", read->errors + write->errors);
	}
	reasons = json_add_array(to, "reasons");
	count = output_reasons(result, seen);
	for (unsigned i = 0; i < count; i++) {
		struct json_object *one = json_append_object(reasons);

		json_add_text(one, "reason", pst_reason_name(seen[i]));
		json_add_text(one, "text", output_reason_text(job, seen[i]));
		json_add_u64(one, "requests", result->stats.reasons[seen[i]]);
	}
}

static void add_storage(struct json_object *to, const struct io_result *result)
{
	struct json_object *part = json_add_object(to, "storage");
	bool known = result->has_stats;

	json_add_u64(part, "uring_operations", known ? result->stats.uring_requests : UINT64_MAX);
	json_add_u64(part, "posix_operations", known ? result->stats.posix_requests : UINT64_MAX);
	json_add_u64(part, "short_transfers", known ? result->stats.short_transfers : UINT64_MAX);
	json_add_u64(part, "slot_bytes", known ? result->stats.slot_bytes : UINT64_MAX);
}

static void add_source(struct json_object *to, const struct io_result *result)
{
	const struct io_source *source = &result->source;
	struct json_object *part = json_add_object(to, "source");

	json_add_text(part, "fs_type", source->fs_type[0] ? source->fs_type : NULL);
	json_add_text(part, "block_device", source->block_name[0] ? source->block_name : NULL);
	json_add_bool(part, "o_direct", source->direct);
	json_add_u64(part, "direct_offset_align_bytes",
		     source->offset_align_bytes ? source->offset_align_bytes : UINT64_MAX);
	json_add_u64(part, "direct_memory_align_bytes",
		     source->memory_align_bytes ? source->memory_align_bytes : UINT64_MAX);
	json_add_bool(part, "memory_backed", source->memory_backed);
	json_add_bool(part, "network_backed", source->network_backed);
	json_add_bool(part, "clipped", source->clipped);
	json_add_u64(part, "range_bytes", source->range_bytes);
	json_add_u64(part, "resident_before_bytes", source->resident_before_bytes);
	json_add_u64(part, "resident_after_bytes", source->resident_after_bytes);
	json_add_u64(part, "hole_bytes", source->hole_bytes);
	json_add_u64(part, "unwritten_bytes", source->unwritten_bytes);
	json_add_u64(part, "sampled_bytes", source->sampled_bytes);
	json_add_u64(part, "zero_bytes", source->zero_bytes);
	json_add_u64(part, "device_read_bytes", source->device_read_bytes);
	json_add_u64(part, "device_written_bytes", source->device_written_bytes);
}

static void add_threads(struct json_object *to, const struct io_result *result)
{
	struct json_object *threads = json_add_array(to, "threads");

	for (unsigned i = 0; i < result->threads; i++) {
		const struct io_thread_result *thread = &result->per_thread[i];
		struct json_object *one = json_append_object(threads);
		bool worked = thread->last_s > 0;

		json_add_u64(one, "thread", i);
		json_add_u64(one, "thread_ops", thread->ops);
		json_add_u64(one, "thread_bytes", thread->bytes);
		json_add_double(one, "thread_first_s", worked ? thread->first_s : NAN);
		json_add_double(one, "thread_last_s", worked ? thread->last_s : NAN);
	}
}

static void add_failures(struct json_object *to, const struct io_result *result)
{
	struct json_object *failures = json_add_array(to, "failures");

	for (unsigned i = 0; i < result->failure_count; i++) {
		const struct io_failure *failure = &result->failures[i];
		struct json_object *one = json_append_object(failures);

		json_add_error(one, "error", &failure->error);
		json_add_u64(one, "thread", failure->thread);
		json_add_text(one, "path", failure->path);
		json_add_u64(one, "offset_bytes", failure->offset_bytes);
		json_add_u64(one, "bytes", failure->bytes);
		json_add_u64(one, "run_done_bytes", result->ledger.completed_bytes);
	}
}

void output_json_result(struct json_object *to, const struct io_plan *plan,
			const struct io_result *result)
{
	add_plan(to, plan);
	add_rates(to, result);
	add_phases(to, result);
	add_ledger(to, plan, result);
	add_latency(to, plan, result);
	add_cpu(to, result);
	add_device(to, result);
	add_paths(to, plan->job, result);
	add_storage(to, result);
	add_source(to, result);
	json_add_bool(to, "require_direct_unmet", result->direct_unmet);
	add_threads(to, result);
	add_failures(to, result);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/output_json.h"

#include <math.h>

#include "common/machine.h"
#include "io/fill.h"
#include "io/output.h"
#include "io/result.h"

static const char *memory_name(enum pst_memory_kind kind)
{
	static const char *const names[PST_MEMORY_KIND_COUNT] = {"device", "device-vmm", "pinned",
								 "heap", "mmap"};

	return kind < PST_MEMORY_KIND_COUNT ? names[kind] : NULL;
}

static const char *storage_name(enum pst_storage storage)
{
	static const char *const names[] = {"auto", "io_uring", "posix"};

	return names[storage];
}

static void add_job(struct json_object *document, const struct io_job *job)
{
	struct json_object *to = json_add_object(document, "job");

	json_add_text(to, "file", job->file);
	json_add_text(to, "directory", job->directory);
	json_add_text(to, "device_asked", job->device);
	json_add_text(to, "io_type", output_io_type(job));
	json_add_text(to, "xfer_type", output_xfer_type(job));
	json_add_text(to, "memory", memory_name(crew_memory_kind(job)));
	json_add_text(to, "engine_asked", output_engine(job->engine));
	json_add_text(to, "storage_asked", storage_name(job->storage));
	if (job->numa_node == IO_NO_NODE)
		json_add_null(to, "numa_node");
	else
		json_add_i64(to, "numa_node", job->numa_node);
	json_add_u64(to, "size_bytes", job->size_bytes ? job->size_bytes : UINT64_MAX);
	json_add_u64(to, "offset_bytes", job->offset_bytes);
	json_add_u64(to, "io_min_bytes", job->io_min_bytes);
	json_add_u64(to, "io_max_bytes", job->io_max_bytes);
	json_add_u64(to, "io_step_bytes", job->io_step_bytes);
	json_add_u64(to, "in_flight_per_thread",
		     job->xfer == IO_XFER_CPU_ASYNC_GPU ? job->in_flight : 1);
	json_add_double(to, "runtime_s", job->runtime_s > 0 ? job->runtime_s : NAN);
	json_add_double(to, "ramp_time_s", job->ramp_time_s);
	json_add_u64(to, "seed", job->seed);
	json_add_text(to, "content", fill_content_name(fill_content(job)));
	json_add_bool(to, "unaligned_random", job->unaligned_random);
	json_add_bool(to, "random_with_replacement", job->random_with_replacement);
	json_add_u64(to, "random_align_bytes",
		     job->random_align_bytes ? job->random_align_bytes : UINT64_MAX);
	json_add_bool(to, "registered", !job->skip_register);
	json_add_text(to, "stop", job->stop == IO_STOP_FIRST ? "first" : "all");
	json_add_bool(to, "continue_on_error", job->continue_on_error);
	json_add_u64(to, "repeat", job->repeat);
	json_add_bool(to, "cold", job->cold);
}

struct json_object *output_json_new(const struct io_job *job)
{
	struct json_object *document = json_document(OUTPUT_JSON_SCHEMA, OUTPUT_JSON_VERSION);
	struct json_object *words;

	json_add_text(document, "version", pst_version());
	words = json_add_array(document, "command_line");
	/* Under its own name the words begin with the command. */
	if (!job->gdsio_name)
		json_append_text(words, "penstock");
	for (int i = 0; i < job->argc; i++)
		json_append_text(words, job->argv[i]);
	machine_add(document);
	add_job(document, job);
	json_add_array(document, "results");
	return document;
}

void output_json_add(struct json_object *document, const struct io_plan *plan,
		     const struct io_result *result, unsigned round)
{
	struct json_object *to = json_append_object(json_object_object_get(document, "results"));

	json_add_u64(to, "round", round);
	output_json_result(to, plan, result);
}

void output_json_end(struct json_object *document, int exit_status, bool interrupted,
		     const struct pst_error *error)
{
	json_add_bool(document, "interrupted", interrupted);
	json_add_error(document, "error", error);
	json_add_i64(document, "exit_status", exit_status);
}

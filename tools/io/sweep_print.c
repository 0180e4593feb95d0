/* SPDX-License-Identifier: Apache-2.0 */
#include "io/sweep.h"

#include <math.h>
#include <string.h>

#include "common/text_table.h"
#include "io/output.h"

#define NUMBER(sweep, setting, field)                                                              \
	sweep_median((sweep), (setting), offsetof(struct sweep_run, field))

static void cell(struct text_table *table, double value, int decimals)
{
	if (isfinite(value))
		text_table_cell(table, "%.*f", decimals, value);
	else
		text_table_cell(table, "n/a");
}

/* What holds for any run of a setting and keeps its numbers from being those of a drive and a GPU.
 */
struct marks {
	char text[TEXT_TABLE_MAX_CELL + 1];
};

static void add_mark(struct marks *marks, bool holds, const char *mark)
{
	size_t length = strlen(marks->text);

	if (holds)
		snprintf(marks->text + length, sizeof(marks->text) - length, "%s%s",
			 length ? ", " : "", mark);
}

static struct marks marks_of(const struct sweep *sweep, unsigned setting)
{
	const struct sweep_run *runs = &sweep->runs[(size_t)setting * sweep->rounds];
	struct marks marks = {""};
	struct sweep_run any = {.done = true};
	char hole[24];

	for (unsigned i = 0; i < sweep->rounds; i++) {
		any.done &= runs[i].done;
		any.from_cache |= runs[i].from_cache;
		any.memory_backed |= runs[i].memory_backed;
		if (runs[i].hole_percent > any.hole_percent)
			any.hole_percent = runs[i].hole_percent;
		any.too_short |= runs[i].too_short;
		any.emulated |= runs[i].emulated;
	}
	add_mark(&marks, !any.done, "runs missing");
	add_mark(&marks, any.from_cache, "from cache");
	add_mark(&marks, any.memory_backed, "memory-backed");
	snprintf(hole, sizeof(hole), "%u %% hole", any.hole_percent);
	add_mark(&marks, any.hole_percent, hole);
	add_mark(&marks, any.too_short, "too short");
	add_mark(&marks, any.emulated, "emulated");
	return marks;
}

static void print_table(FILE *out, const struct sweep *sweep)
{
	static const char *const headings[] = {
		"Thread Count (-w)", "IOPS (ops / total_time)", "GiB/s", "mean us", "p99 us", "<"};
	struct text_table *table = text_table_new(headings, 6);

	if (!table) {
		fprintf(out, "no memory for the table of the sweep\n");
		return;
	}
	for (unsigned i = 0; i < sweep->settings; i++) {
		text_table_cell(table, "%u", sweep->job->threads[i]);
		text_table_cell(table, "%s", sweep_thousands(NUMBER(sweep, i, iops)).text);
		cell(table, NUMBER(sweep, i, gib_per_s), 3);
		cell(table, NUMBER(sweep, i, mean_us), 1);
		cell(table, NUMBER(sweep, i, p99_us), 1);
		text_table_cell(table, "%s", marks_of(sweep, i).text);
	}
	text_table_print(table, out, 0);
	text_table_free(table);
}

static void print_knee(FILE *out, const struct sweep *sweep)
{
	double rates[IO_MAX_SWEEP];
	unsigned most = 0;
	unsigned knee;

	for (unsigned i = 0; i < sweep->settings; i++) {
		rates[i] = NUMBER(sweep, i, iops);
		if (sweep->job->threads[i] > sweep->job->threads[most])
			most = i;
	}
	knee = sweep_knee(sweep->job->threads, rates, sweep->settings);
	if (knee == sweep->settings)
		return;
	fprintf(out, "Knee: %u thread%s %.0f %% of the best IOPS", sweep->job->threads[knee],
		sweep->job->threads[knee] == 1 ? " reaches" : "s reach", SWEEP_KNEE_SHARE * 100);
	if (knee == most)
		fprintf(out, "; it is the largest number tried, the rate may still rise beyond it");
	fprintf(out, "\n");
}

static void print_spread(FILE *out, const char *what, const struct sweep_spread *spread)
{
	if (!spread->rounds) {
		fprintf(out, "%s n/a", what);
		return;
	}
	fprintf(out, "%s median %.3f GiB/s (%.3f .. %.3f, %u round%s)", what, spread->median,
		spread->min, spread->max, spread->rounds, spread->rounds == 1 ? "" : "s");
}

static void print_spreads(FILE *out, const struct sweep *sweep)
{
	for (unsigned i = 0; i < sweep->settings; i++) {
		struct sweep_spread first = sweep_of(sweep, i, true);
		struct sweep_spread rest = sweep_of(sweep, i, false);

		fprintf(out, "Rounds: -w %u:", sweep->job->threads[i]);
		if (!sweep->job->cold) {
			print_spread(out, " first", &first);
			fprintf(out, ",");
		}
		print_spread(out, sweep->job->cold ? " cold" : " later", &rest);
		fprintf(out, "\n");
	}
}

static void print_differences(FILE *out, const struct sweep *sweep)
{
	for (unsigned i = 1; i < sweep->settings; i++) {
		unsigned a = sweep->job->threads[i - 1];
		unsigned b = sweep->job->threads[i];
		struct sweep_spread left = sweep_of(sweep, i - 1, false);
		struct sweep_spread right = sweep_of(sweep, i, false);

		switch (sweep_compare(&left, &right)) {
		case SWEEP_TOO_FEW:
			fprintf(out,
				"Differ: -w %u and -w %u: too few rounds to tell: use "
				"--repeat %d or more\n",
				a, b, SWEEP_MIN_ROUNDS + (sweep->job->cold ? 0 : 1));
			break;
		case SWEEP_NO_DIFFERENCE:
			fprintf(out, "Differ: -w %u and -w %u: no, their rounds overlap\n", a, b);
			break;
		case SWEEP_FIRST_FASTER:
			fprintf(out, "Differ: -w %u is faster than -w %u in every round\n", a, b);
			break;
		case SWEEP_SECOND_FASTER:
			fprintf(out, "Differ: -w %u is faster than -w %u in every round\n", b, a);
			break;
		}
	}
}

void sweep_print(FILE *out, const struct sweep *sweep)
{
	print_table(out, sweep);
	if (sweep->settings > 1)
		print_knee(out, sweep);
	if (sweep->rounds > 1) {
		print_spreads(out, sweep);
		print_differences(out, sweep);
	}
}

static void add_spread(struct json_object *to, const char *key, const struct sweep_spread *spread)
{
	struct json_object *part = json_add_object(to, key);

	json_add_u64(part, "rounds", spread->rounds);
	json_add_double(part, "median_gib_per_s", spread->median);
	json_add_double(part, "min_gib_per_s", spread->min);
	json_add_double(part, "max_gib_per_s", spread->max);
}

void sweep_add_json(struct json_object *document, const struct sweep *sweep)
{
	struct json_object *part = json_add_object(document, "sweep");
	struct json_object *settings = json_add_array(part, "settings");
	double rates[IO_MAX_SWEEP];
	unsigned knee;

	for (unsigned i = 0; i < sweep->settings; i++) {
		struct json_object *one = json_append_object(settings);
		struct sweep_spread first = sweep_of(sweep, i, true);
		struct sweep_spread rest = sweep_of(sweep, i, false);

		rates[i] = NUMBER(sweep, i, iops);
		json_add_u64(one, "threads", sweep->job->threads[i]);
		json_add_double(one, "median_iops", rates[i]);
		json_add_double(one, "median_mean_us", NUMBER(sweep, i, mean_us));
		json_add_double(one, "median_p99_us", NUMBER(sweep, i, p99_us));
		if (sweep->rounds > 1 && !sweep->job->cold)
			add_spread(one, "first_round", &first);
		else
			json_add_null(one, "first_round");
		add_spread(one, "taken_together", &rest);
	}
	knee = sweep_knee(sweep->job->threads, rates, sweep->settings);
	json_add_u64(part, "knee_threads",
		     knee < sweep->settings ? sweep->job->threads[knee] : UINT64_MAX);
	json_add_double(part, "knee_share", SWEEP_KNEE_SHARE);
}

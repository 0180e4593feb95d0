/* SPDX-License-Identifier: Apache-2.0 */
#include "io/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/result.h"

int sweep_init(struct sweep *sweep, const struct io_job *job)
{
	*sweep = (struct sweep){.job = job,
				.settings = job->thread_counts,
				.rounds = job->repeat ? job->repeat : 1};
	sweep->runs = calloc((size_t)sweep->settings * sweep->rounds, sizeof(*sweep->runs));
	return sweep->runs ? 0 : -ENOMEM;
}

void sweep_free(struct sweep *sweep)
{
	free(sweep->runs);
	sweep->runs = NULL;
}

void sweep_add(struct sweep *sweep, unsigned setting, unsigned round, const struct io_plan *plan,
	       const struct io_result *result)
{
	sweep->runs[setting * sweep->rounds + round] = (struct sweep_run){
		.done = !result->interrupted && !result_incomplete(result, plan),
		.from_cache = result->from_cache,
		.too_short = result->too_short,
		.memory_backed = result->source.memory_backed,
		.hole_percent = result->hole_percent,
		.emulated = result->has_device && result->device.emulated,
		.gib_per_s = result_gib_per_s(result),
		.iops = result_ops_per_s(result),
		.mean_us = result->mean_latency_us,
		.p99_us = result_latency_us(result, 99),
	};
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

struct sweep_spread sweep_spread(double *values, unsigned count)
{
	struct sweep_spread spread = {.rounds = count, .median = NAN, .min = NAN, .max = NAN};

	if (!count)
		return spread;
	qsort(values, count, sizeof(*values), compare_doubles);
	spread.min = values[0];
	spread.max = values[count - 1];
	spread.median = (values[(count - 1) / 2] + values[count / 2]) / 2;
	return spread;
}

enum sweep_verdict sweep_compare(const struct sweep_spread *a, const struct sweep_spread *b)
{
	if (a->rounds < SWEEP_MIN_ROUNDS || b->rounds < SWEEP_MIN_ROUNDS)
		return SWEEP_TOO_FEW;
	if (a->min > b->max)
		return SWEEP_FIRST_FASTER;
	if (b->min > a->max)
		return SWEEP_SECOND_FASTER;
	return SWEEP_NO_DIFFERENCE;
}

unsigned sweep_knee(const unsigned *threads, const double *rates, unsigned count)
{
	unsigned knee = count;
	double best = 0;

	for (unsigned i = 0; i < count; i++) {
		if (isfinite(rates[i]) && rates[i] > best)
			best = rates[i];
	}
	for (unsigned i = 0; i < count; i++) {
		if (!isfinite(rates[i]) || !(rates[i] >= SWEEP_KNEE_SHARE * best) || !(best > 0))
			continue;
		if (knee == count || threads[i] < threads[knee])
			knee = i;
	}
	return knee;
}

static double number_at(const struct sweep_run *run, size_t offset)
{
	double value;

	memcpy(&value, (const char *)run + offset, sizeof(value));
	return value;
}

/* The spread of one number over the first round, or over those that are taken together. */
static struct sweep_spread spread_of(const struct sweep *sweep, unsigned setting, bool first,
				     size_t offset)
{
	const struct sweep_run *runs = &sweep->runs[(size_t)setting * sweep->rounds];
	bool apart = sweep->rounds > 1 && !sweep->job->cold;
	double *values = calloc(sweep->rounds, sizeof(*values));
	struct sweep_spread spread = {.median = NAN, .min = NAN, .max = NAN};
	unsigned count = 0;

	if (!values)
		return spread;
	for (unsigned i = first || !apart ? 0 : 1; i < (first ? 1 : sweep->rounds); i++) {
		if (runs[i].done && isfinite(number_at(&runs[i], offset)))
			values[count++] = number_at(&runs[i], offset);
	}
	spread = sweep_spread(values, count);
	free(values);
	return spread;
}

struct sweep_spread sweep_of(const struct sweep *sweep, unsigned setting, bool first)
{
	return spread_of(sweep, setting, first, offsetof(struct sweep_run, gib_per_s));
}

double sweep_median(const struct sweep *sweep, unsigned setting, size_t offset)
{
	return spread_of(sweep, setting, false, offset).median;
}

struct sweep_text sweep_thousands(double value)
{
	struct sweep_text text;
	char digits[32];
	size_t length, out = 0;

	if (!isfinite(value) || value < 0 || value > 1e18) {
		snprintf(text.text, sizeof(text.text), "n/a");
		return text;
	}
	length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, (uint64_t)llround(value));
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text.text[out++] = ',';
		text.text[out++] = digits[i];
	}
	text.text[out] = '\0';
	return text;
}

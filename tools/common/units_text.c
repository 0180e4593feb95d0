/* SPDX-License-Identifier: Apache-2.0 */
#include "common/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIB 1024.0
#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * 1024.0 * 1024.0)

static const char *const size_names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

struct units_text units_size(uint64_t bytes)
{
	struct units_text out;
	unsigned level = 0;
	uint64_t unit = 1;
	unsigned __int128 thousandths;
	unsigned fraction;

	while (level + 1 < sizeof(size_names) / sizeof(size_names[0]) && bytes / unit >= 1024) {
		unit *= 1024;
		level++;
	}
	thousandths = (unsigned __int128)bytes * 1000;
	if (thousandths % unit && bytes < (uint64_t)MIB) {
		snprintf(out.text, sizeof(out.text), "%" PRIu64 " B", bytes);
		return out;
	}
	thousandths = (thousandths + unit / 2) / unit;
	fraction = (unsigned)(thousandths % 1000);
	if (fraction)
		snprintf(out.text, sizeof(out.text), "%" PRIu64 ".%03u",
			 (uint64_t)(thousandths / 1000), fraction);
	else
		snprintf(out.text, sizeof(out.text), "%" PRIu64, (uint64_t)(thousandths / 1000));
	if (fraction)
		while (out.text[strlen(out.text) - 1] == '0')
			out.text[strlen(out.text) - 1] = '\0';
	snprintf(out.text + strlen(out.text), sizeof(out.text) - strlen(out.text), " %s",
		 size_names[level]);
	return out;
}

struct units_text units_size_both(uint64_t bytes)
{
	struct units_text out, size = units_size(bytes);

	if (bytes < 1024 || strstr(size.text, " B"))
		snprintf(out.text, sizeof(out.text), "%" PRIu64 " bytes", bytes);
	else
		snprintf(out.text, sizeof(out.text), "%" PRIu64 " bytes (%.30s)", bytes, size.text);
	return out;
}

static double rate(uint64_t bytes, double seconds, double unit)
{
	return seconds > 0 ? (double)bytes / unit / seconds : NAN;
}

double units_mib_per_s(uint64_t bytes, double seconds)
{
	return rate(bytes, seconds, MIB);
}

double units_gib_per_s(uint64_t bytes, double seconds)
{
	return rate(bytes, seconds, GIB);
}

double units_mb_per_s(uint64_t bytes, double seconds)
{
	return rate(bytes, seconds, 1e6);
}

struct units_text units_rate(uint64_t bytes, double seconds)
{
	struct units_text out;

	if (!(seconds > 0))
		snprintf(out.text, sizeof(out.text), "n/a");
	else if (units_gib_per_s(bytes, seconds) >= 1)
		snprintf(out.text, sizeof(out.text), "%.3f GiB/s (%.2f MB/s)",
			 units_gib_per_s(bytes, seconds), units_mb_per_s(bytes, seconds));
	else
		snprintf(out.text, sizeof(out.text), "%.3f MiB/s (%.3f MB/s)",
			 units_mib_per_s(bytes, seconds), units_mb_per_s(bytes, seconds));
	return out;
}

struct units_text units_duration(double seconds)
{
	struct units_text out;
	uint64_t whole;

	if (!(seconds >= 0)) {
		snprintf(out.text, sizeof(out.text), "n/a");
		return out;
	}
	if (seconds < 999.5e-9)
		snprintf(out.text, sizeof(out.text), "%.0f ns", seconds * 1e9);
	else if (seconds < 999.5e-6)
		snprintf(out.text, sizeof(out.text), "%.3g us", seconds * 1e6);
	else if (seconds < 999.5e-3)
		snprintf(out.text, sizeof(out.text), "%.3g ms", seconds * 1e3);
	else if (seconds < 59.95)
		snprintf(out.text, sizeof(out.text), "%.3g s", seconds);
	if (seconds < 59.95)
		return out;
	whole = seconds < 1e15 ? (uint64_t)(seconds + 0.5) : (uint64_t)1e15;
	if (whole < 3600)
		snprintf(out.text, sizeof(out.text), "%" PRIu64 " m %02" PRIu64 " s", whole / 60,
			 whole % 60);
	else if (whole < 86400)
		snprintf(out.text, sizeof(out.text), "%" PRIu64 " h %02" PRIu64 " m", whole / 3600,
			 whole / 60 % 60);
	else
		snprintf(out.text, sizeof(out.text), "%" PRIu64 " d %02" PRIu64 " h", whole / 86400,
			 whole / 3600 % 24);
	return out;
}

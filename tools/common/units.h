/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes, times, numbers and lists: from text and to text.
 *
 * Parsing takes the whole token or refuses it. A parser returns 0, or -EINVAL (not a number of
 * that kind) or -ERANGE (too large); then *why holds one phrase that names the text and, where
 * it helps, the position counted from 1. Nothing here keeps state: every function is thread safe.
 */
#ifndef PENSTOCK_TOOLS_UNITS_H
#define PENSTOCK_TOOLS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct units_why {
	char text[224];
};

enum units_rules {
	UNITS_STANDARD = 0, /* kB MB GB TB are powers of 1000 */
	UNITS_GDSIO,        /* ... of 1024: block sizes, job files, the name gdsio */
};

/*
 * A size in bytes. No unit or B: bytes; K M G T, Ki, KiB ...: powers of 1024; KB ...: by the
 * rules. Either case. "0x1000" is hexadecimal and takes no unit. A decimal fraction is allowed
 * where the result is a whole number of bytes: "1.5G" is 1610612736.
 */
int units_parse_size(const char *text, enum units_rules rules, uint64_t *bytes,
		     struct units_why *why);

/* A time in seconds: us ms s m h d, no unit: seconds. At most UNITS_MAX_SECONDS. */
#define UNITS_MAX_SECONDS 1e9
int units_parse_seconds(const char *text, double *seconds, struct units_why *why);

/* A number in [min, max]: decimal, also with leading zeros, or 0x and hexadecimal digits. */
int units_parse_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *value,
			 struct units_why *why);

/*
 * A list such as "0,1,4-7", each number in [min, max], in the order given, repeats kept. Fills
 * values[0..room) and *count; more than `room` numbers are refused with the limit.
 */
int units_parse_list(const char *text, uint64_t min, uint64_t max, unsigned *values, size_t room,
		     unsigned *count, struct units_why *why);

/* Text of a value, held by the caller: units_size(bytes).text. */
struct units_text {
	char text[64];
};

/* The shortest exact text: "512 B", "1 MiB", "1.5 GiB"; not exact to three decimals: "10000 B"
 * below 1 MiB, else rounded, "9.537 MiB". */
struct units_text units_size(uint64_t bytes);

/* Both: "1610612736 bytes (1.5 GiB)"; only the first below 1 KiB. */
struct units_text units_size_both(uint64_t bytes);

/* A rate with both bases: "1.000 GiB/s (1073.74 MB/s)". "n/a" when seconds is not above 0. */
struct units_text units_rate(uint64_t bytes, double seconds);

/* The parts of it; NAN when seconds is not above 0. */
double units_mib_per_s(uint64_t bytes, double seconds);
double units_gib_per_s(uint64_t bytes, double seconds);
double units_mb_per_s(uint64_t bytes, double seconds);

/* "850 ns", "12.3 us", "4.56 ms", "7.89 s", "3 m 05 s", "2 h 04 m", "3 d 02 h". NAN: "n/a". */
struct units_text units_duration(double seconds);

#endif

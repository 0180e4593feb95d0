/* SPDX-License-Identifier: Apache-2.0 */
#include "common/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* More digits than this after the point cannot be exact bytes of any size below 2^64. */
#define MAX_FRACTION_DIGITS 18

__attribute__((format(printf, 3, 4))) static int refuse(struct units_why *why, int code,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return code;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Reads digits of a base at *at and moves it behind them. */
static int read_digits(const char *text, const char **at, unsigned base, uint64_t *value,
		       struct units_why *why)
{
	const char *p = *at;

	*value = 0;
	while (digit_of(*p) < (int)base) {
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (uint64_t)digit_of(*p), value))
			return refuse(why, -ERANGE, "'%.80s' is too large: the limit is 2^64 - 1",
				      text);
		p++;
	}
	if (p == *at && *p)
		return refuse(why, -EINVAL,
			      "'%.80s' has '%c' at position %td where a digit must be", text, *p,
			      p - text + 1);
	if (p == *at)
		return refuse(why, -EINVAL, "'%.80s' ends at position %td where a digit must be",
			      text, p - text + 1);
	*at = p;
	return 0;
}

/* What every parser refuses first: nothing, signs and blanks at the front. */
static int check_start(const char *text, const char *what, struct units_why *why)
{
	if (!*text)
		return refuse(why, -EINVAL, "an empty text is not a %s", what);
	if (*text == '-')
		return refuse(why, -EINVAL, "'%.80s' is negative: a %s must not be", text, what);
	if (*text == '+' || isspace((unsigned char)*text))
		return refuse(why, -EINVAL, "'%.80s' has '%c' at position 1 where a digit must be",
			      text, *text);
	return 0;
}

static bool is_hex(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* The factor of a size unit, 0 when it is none. */
static uint64_t size_factor(const char *unit, enum units_rules rules)
{
	static const char letters[] = "kmgt";
	const char *letter;
	uint64_t base = 1024, factor = 1;

	if (!strcasecmp(unit, "") || !strcasecmp(unit, "b"))
		return 1;
	letter = strchr(letters, tolower((unsigned char)unit[0]));
	if (!letter)
		return 0;
	if (!strcasecmp(unit + 1, "b") && rules == UNITS_STANDARD)
		base = 1000;
	else if (strcasecmp(unit + 1, "") && strcasecmp(unit + 1, "b") &&
		 strcasecmp(unit + 1, "i") && strcasecmp(unit + 1, "ib"))
		return 0;
	for (const char *p = letters; p <= letter; p++)
		factor *= base;
	return factor;
}

/* Digits after the point at *at as numerator and denominator. */
static int read_fraction(const char *text, const char **at, uint64_t *part, uint64_t *whole,
			 struct units_why *why)
{
	const char *start = *at;
	int rc = read_digits(text, at, 10, part, why);

	if (rc)
		return rc;
	if (*at - start > MAX_FRACTION_DIGITS)
		return refuse(why, -EINVAL, "'%.80s' has more than %d digits behind the point",
			      text, MAX_FRACTION_DIGITS);
	*whole = 1;
	for (; start < *at; start++)
		*whole *= 10;
	return 0;
}

int units_parse_size(const char *text, enum units_rules rules, uint64_t *bytes,
		     struct units_why *why)
{
	const char *p = text;
	uint64_t value, part = 0, whole = 1, factor;
	unsigned __int128 exact;
	int rc = check_start(text, "size", why);

	if (rc)
		return rc;
	if (is_hex(text)) {
		p += 2;
		rc = read_digits(text, &p, 16, &value, why);
		if (rc)
			return rc;
		if (*p)
			return refuse(why, -EINVAL,
				      "'%.80s' has '%c' at position %td: a "
				      "hexadecimal size takes no unit",
				      text, *p, p - text + 1);
		*bytes = value;
		return 0;
	}
	rc = read_digits(text, &p, 10, &value, why);
	if (!rc && *p == '.') {
		p++;
		rc = read_fraction(text, &p, &part, &whole, why);
	}
	if (rc)
		return rc;
	factor = size_factor(p, rules);
	if (!factor)
		return refuse(
			why, -EINVAL,
			"'%.80s' has '%.20s' at position %td, which is no size unit (K M G T, "
			"KiB MiB GiB TiB, kB MB GB TB)",
			text, p, p - text + 1);
	/* Both products fit: 64 + 40 bits, and 60 + 40 bits. */
	exact = (unsigned __int128)part * factor;
	if (exact % whole)
		return refuse(why, -EINVAL, "'%.80s' is not a whole number of bytes", text);
	exact = exact / whole + (unsigned __int128)value * factor;
	if (exact > UINT64_MAX)
		return refuse(why, -ERANGE, "'%.80s' is too large: the limit is 2^64 - 1 bytes",
			      text);
	*bytes = (uint64_t)exact;
	return 0;
}

int units_parse_seconds(const char *text, double *seconds, struct units_why *why)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {{"", 1},   {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
		     {"m", 60}, {"h", 3600},  {"d", 86400}};
	const char *p = text;
	uint64_t value, part = 0, whole = 1;
	double result;
	int rc = check_start(text, "time", why);

	if (!rc)
		rc = read_digits(text, &p, 10, &value, why);
	if (!rc && *p == '.') {
		p++;
		rc = read_fraction(text, &p, &part, &whole, why);
	}
	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(p, units[i].name))
			continue;
		result = ((double)value + (double)part / (double)whole) * units[i].factor;
		if (result > UNITS_MAX_SECONDS)
			return refuse(why, -ERANGE, "'%.80s' is too long: the limit is %.0f s",
				      text, UNITS_MAX_SECONDS);
		*seconds = result;
		return 0;
	}
	return refuse(why, -EINVAL,
		      "'%.80s' has '%.20s' at position %td, which is no time unit (us ms s m h d)",
		      text, p, p - text + 1);
}

/* A number at *at, which is moved behind it. */
static int read_unsigned(const char *text, const char **at, uint64_t min, uint64_t max,
			 uint64_t *value, struct units_why *why)
{
	int rc;

	if (is_hex(*at)) {
		*at += 2;
		rc = read_digits(text, at, 16, value, why);
	} else {
		rc = read_digits(text, at, 10, value, why);
	}
	if (rc)
		return rc;
	if (*value < min || *value > max)
		return refuse(why, -ERANGE,
			      "'%.80s': %" PRIu64 " is outside %" PRIu64 " to %" PRIu64, text,
			      *value, min, max);
	return 0;
}

int units_parse_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *value,
			 struct units_why *why)
{
	const char *p = text;
	int rc = check_start(text, "number", why);

	if (!rc)
		rc = read_unsigned(text, &p, min, max, value, why);
	if (!rc && *p)
		rc = refuse(why, -EINVAL, "'%.80s' has '%c' at position %td behind the number",
			    text, *p, p - text + 1);
	return rc;
}

/* Adds first..last to the list. */
static int add_range(const char *text, uint64_t first, uint64_t last, unsigned *values, size_t room,
		     unsigned *count, struct units_why *why)
{
	if (last < first)
		return refuse(why, -EINVAL,
			      "'%.80s': the range %" PRIu64 "-%" PRIu64 " runs backwards", text,
			      first, last);
	for (uint64_t v = first; v <= last; v++) {
		if (*count >= room)
			return refuse(why, -ERANGE, "'%.80s' has more than %zu numbers", text,
				      room);
		values[(*count)++] = (unsigned)v;
	}
	return 0;
}

int units_parse_list(const char *text, uint64_t min, uint64_t max, unsigned *values, size_t room,
		     unsigned *count, struct units_why *why)
{
	const char *p = text;
	uint64_t first, last;
	int rc = check_start(text, "number", why);

	if (max > UINT32_MAX)
		max = UINT32_MAX;
	*count = 0;
	while (!rc) {
		rc = read_unsigned(text, &p, min, max, &first, why);
		last = first;
		if (!rc && *p == '-') {
			p++;
			rc = read_unsigned(text, &p, min, max, &last, why);
		}
		if (!rc)
			rc = add_range(text, first, last, values, room, count, why);
		if (rc || !*p)
			break;
		if (*p != ',')
			return refuse(why, -EINVAL,
				      "'%.80s' has '%c' at position %td where ',' must be", text,
				      *p, p - text + 1);
		p++;
	}
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text_table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef char cell_text[TEXT_TABLE_MAX_CELL + 1];

struct text_table {
	unsigned columns;
	bool left[TEXT_TABLE_MAX_COLUMNS];
	size_t count; /* cells, headings included */
	size_t room;
	cell_text *cells;
};

static bool make_room(struct text_table *table)
{
	size_t room = table->room ? table->room * 2 : 64;
	cell_text *cells;

	if (table->count < table->room)
		return true;
	cells = realloc(table->cells, room * sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->room = room;
	return true;
}

struct text_table *text_table_new(const char *const *headings, unsigned columns)
{
	struct text_table *table = calloc(1, sizeof(*table));

	assert(columns >= 1 && columns <= TEXT_TABLE_MAX_COLUMNS);
	if (!table)
		return NULL;
	table->columns = columns;
	for (unsigned c = 0; c < columns; c++) {
		table->left[c] = headings[c][0] == '<';
		if (!text_table_cell(table, "%s", headings[c] + (table->left[c] ? 1 : 0))) {
			text_table_free(table);
			return NULL;
		}
	}
	return table;
}

void text_table_free(struct text_table *table)
{
	if (!table)
		return;
	free(table->cells);
	free(table);
}

bool text_table_cell(struct text_table *table, const char *format, ...)
{
	va_list args;

	if (!make_room(table))
		return false;
	va_start(args, format);
	vsnprintf(table->cells[table->count++], sizeof(cell_text), format, args);
	va_end(args);
	return true;
}

/* Characters of UTF-8 text: bytes that do not continue one. */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void repeat(FILE *out, char c, size_t n)
{
	while (n--)
		fputc(c, out);
}

/* Whether the row has nothing to print from this column on. */
static bool ends_before(const struct text_table *table, size_t first, unsigned column)
{
	for (unsigned c = column; c < table->columns && first + c < table->count; c++)
		if (table->cells[first + c][0])
			return false;
	return true;
}

static void print_row(const struct text_table *table, FILE *out, unsigned indent, size_t first,
		      const size_t *widths)
{
	repeat(out, ' ', indent);
	for (unsigned c = 0; c < table->columns && first + c < table->count; c++) {
		const char *text = table->cells[first + c];
		size_t blanks = widths[c] - width_of(text);
		bool last = ends_before(table, first, c + 1);

		if (!table->left[c])
			repeat(out, ' ', blanks);
		fputs(text, out);
		if (table->left[c] && !last)
			repeat(out, ' ', blanks);
		if (!last)
			fputs("  ", out);
	}
	fputc('\n', out);
}

void text_table_print(const struct text_table *table, FILE *out, unsigned indent)
{
	size_t widths[TEXT_TABLE_MAX_COLUMNS] = {0};
	size_t total = 2 * (table->columns - 1);

	for (size_t i = 0; i < table->count; i++) {
		size_t w = width_of(table->cells[i]);

		if (w > widths[i % table->columns])
			widths[i % table->columns] = w;
	}
	for (unsigned c = 0; c < table->columns; c++)
		total += widths[c];
	print_row(table, out, indent, 0, widths);
	repeat(out, ' ', indent);
	repeat(out, '-', total);
	fputc('\n', out);
	for (size_t i = table->columns; i < table->count; i += table->columns)
		print_row(table, out, indent, i, widths);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A table of text with aligned columns, printed when it is complete. */
#ifndef PENSTOCK_TOOLS_TEXT_TABLE_H
#define PENSTOCK_TOOLS_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define TEXT_TABLE_MAX_COLUMNS 16
#define TEXT_TABLE_MAX_CELL    127 /* longer cells are cut */

struct text_table;

/* headings: `columns` of them, a leading '<' aligns the column left (and is not printed), others
 * align right. NULL: out of memory. */
struct text_table *text_table_new(const char *const *headings, unsigned columns);

void text_table_free(struct text_table *table); /* NULL is allowed */

/* Appends a cell; after the last column the next row begins. Returns false when out of memory;
 * the table then prints without it. */
__attribute__((format(printf, 2, 3))) bool text_table_cell(struct text_table *table,
							   const char *format, ...);

/* Prints headings, a line of dashes and the rows, each indented by `indent` blanks. Columns are
 * counted in characters of UTF-8. */
void text_table_print(const struct text_table *table, FILE *out, unsigned indent);

#endif

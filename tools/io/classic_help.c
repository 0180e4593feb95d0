/* SPDX-License-Identifier: Apache-2.0 */
#include "io/option_table.h"

#include "penstock.h"

#include <errno.h>
#include <stdio.h>

/* What each transfer type does, by number. */
static const char *const legend[] = {
	"Storage->GPU (best path there is)",
	"Storage->CPU",
	"Storage->CPU->GPU",
	"Storage->CPU->GPU_ASYNC",
	"Storage->PAGE_CACHE->CPU->GPU",
	"Storage->GPU_ASYNC (comes with a later release)",
	"Storage->GPU_BATCH (comes with a later release)",
	"Storage->GPU_BATCH_STREAM (comes with a later release)",
};

int io_classic_help(void)
{
	const struct option_table *table = io_option_table(true);

	/* The line that scripts look for: which gdsio this speaks like. */
	printf("gdsio version :1.11 (penstock %s)\n", pst_version());
	printf("Usage: %s\n", table->usage);
	for (size_t i = 0; i < table->count; i++) {
		const struct option_entry *e = &table->entries[i];

		if (!e->classic)
			continue;
		printf("         -%c%s%s  %s", e->letter, *e->classic ? " " : "", e->classic,
		       e->kind == OPTION_HELP ? "this text" : e->help);
		if (e->later)
			printf(" (%s)", e->later);
		else if (e->default_text)
			printf(" [%s]", e->default_text);
		putchar('\n');
	}
	printf("\nxfer_type:\n");
	for (size_t i = 0; i < sizeof(legend) / sizeof(legend[0]); i++)
		printf("%zu - %s\n", i, legend[i]);
	printf("\nSizes: K M G T and KB MB GB TB are powers of 1024. Reading with -D needs the "
	       "files of an\n"
	       "earlier write with the same -w and -s. Long options and more: gdsio "
	       "--help-all\n");
	fflush(stdout);
	return ferror(stdout) ? -EIO : 0;
}

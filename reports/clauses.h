/* The tables of clauses and errata as a reader wants them: on a terminal, as JSON lines, or as the
 * documents model/CLAUSES.md and model/ERRATA.md, which are this output and nothing else. */
#ifndef REPORTS_CLAUSES_H
#define REPORTS_CLAUSES_H

#include "reports/format.h"

#include <stdio.h>

/* Every clause whose id begins with prefix ("" for all, "ACL", "ACL-19"); returns how many. "ACL-1"
 * is that one clause, not also ACL-10. */
int clauses_write(FILE *out, enum format_kind format, const char *prefix);

/* The same for errata: "" for all, "E-SEQ", "E-SEQ-3". */
int clauses_write_errata(FILE *out, enum format_kind format, const char *prefix);

#endif

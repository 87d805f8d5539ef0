/* Where the evidence of the page that is signed comes from, and what it does not prove: Markdown. */
#ifndef REPORTS_PROVENANCE_H
#define REPORTS_PROVENANCE_H

#include "reports/evidence.h"

#include <stdio.h>

/* A row for each session: command, seeds, runs, time, result and hash. `hashes`: a text for each; NULL:
 * they are not known. */
void provenance_write_sessions(FILE *out, const struct evidence *evidence, const json_t *hashes);

/* What a pass does not prove, with the figures of this evidence. */
void provenance_write_limits(FILE *out, const struct evidence *evidence);

#endif

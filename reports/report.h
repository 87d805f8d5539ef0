/* The report: evidence as one JSON document, which report.html shows, and as words.
 *
 * The document is what the page is drawn from. Its version is 1; a key that is missing or null says
 * "not measured here". */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include "reports/artefacts.h"
#include "reports/evidence.h"
#include "reports/format.h"

#define REPORT_VERSION 1

/* The document. `folder` is where findings/NAME/finding.json lie; NULL: nowhere. */
json_t *report_make(const struct evidence *evidence, const char *folder);

/* What campaigns exclude: {"words": a sentence, "seeds": ..., ...}; null: there was none. */
json_t *report_bound(const struct evidence *evidence);

/* For people: verdict first. Text for a terminal; Markdown for a comment on a pull request. */
void report_write(FILE *out, enum format_kind format, const json_t *report);

/* report.json, report.html, junit.xml and summary.md of the folder, from the lines of artefacts, or
 * from evidence that was read before. False: problem says which could not be written. */
bool report_derive(struct artefacts *artefacts);
bool report_put(struct artefacts *artefacts, const struct evidence *evidence, json_t **report);

#endif

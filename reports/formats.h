/* What tools of others read, made of a report: the words of `assay report DIR --as FORMAT`.
 *
 * (FO1) No format says that it passed if the verdict does not, and each names the verdict's reasons;
 *       of GitHub's annotations, of which ten of a kind are shown, the last says how many more. */
#ifndef REPORTS_FORMATS_H
#define REPORTS_FORMATS_H

#include "reports/evidence.h"

#include <stdio.h>

#define FORMATS_ANNOTATIONS_MAX 10 /* of a kind: more are not shown by GitHub */

struct formats_input {
    const struct evidence *evidence;
    const json_t *report;
    const json_t *finding;    /* finding.json, for the formats of one finding */
    const char *name;         /* its name */
    const char *results_hash; /* SHA-256 of results.jsonl */
};

struct formats_format {
    const char *name;
    bool of_finding; /* it shows one finding, step by step */
    void (*write)(FILE *out, const struct formats_input *input);
};

/* NULL: there is none of that name. */
const struct formats_format *formats_find(const char *name);

void formats_write_github(FILE *out, const struct formats_input *input);
void formats_write_ctrf(FILE *out, const struct formats_input *input);
void formats_write_openmetrics(FILE *out, const struct formats_input *input);
void formats_write_in_toto(FILE *out, const struct formats_input *input);
void formats_write_itf(FILE *out, const struct formats_input *input);
void formats_write_perfetto(FILE *out, const struct formats_input *input);

#endif

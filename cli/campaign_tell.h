/* What a campaign says: tables for people, JSON lines for scripts, files for later. Everything is
 * said of a report, which is made once, so that text, JSON and files agree. */
#ifndef CLI_CAMPAIGN_TELL_H
#define CLI_CAMPAIGN_TELL_H

#include "cli/options.h"
#include "reports/format.h"
#include "verify/campaign_work.h"

#include <jansson.h>
#include <stdio.h>

struct campaign_report {
    const struct campaign_plan *plan;
    const struct campaign_work *work;
    struct campaign_tally tally; /* of all scenarios */
    uint64_t digest;
    uint64_t findings[CAMPAIGN_FINDING_COUNT]; /* buckets */
    const char *unjudged;                      /* why no gate was judged; NULL: they were */
    struct campaign_gate *missed;
    size_t missed_count;
};

/* A gate is judged where a miss means something: `unjudged` says why not, NULL that it is. False:
 * no memory. */
bool campaign_report_make(struct campaign_report *report, const struct campaign_plan *plan,
                          const struct campaign_work *work, const char *unjudged);
void campaign_report_free(struct campaign_report *report);

/* The first seed that did not run the same way twice: its scenario's index, or scenario_count. */
size_t campaign_report_drift(const struct campaign_report *report);

/* The line that runs a finding's shortest seed again, such as "assay run tree-3 --seed 17". */
struct options_line campaign_tell_again(const struct campaign_plan *plan, size_t scenario,
                                        const struct campaign_bucket *bucket);

/* For people. */
void campaign_tell_scenarios(FILE *out, enum format_kind format,
                             const struct campaign_report *report);
void campaign_tell_end(FILE *out, enum format_kind format, const struct campaign_report *report);

/* For scripts: an array of lines, one a finding, one a scenario, one more if a run was not
 * deterministic, and the summary. */
json_t *campaign_tell_lines(const struct campaign_report *report);

#endif

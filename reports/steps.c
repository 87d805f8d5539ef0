#include "reports/steps.h"

#include "model/check.h"
#include "model/protocol.h"
#include "reports/proofs.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_SWEPT 2 /* a crash, and another inside the recovery */

/* ---- lines ----------------------------------------------------------------------------------- */

static bool has(const json_t *line, const char *key)
{
    return json_is_true(json_object_get(line, key));
}

/* The first line that is as it should be; NULL: there is none. */
static const json_t *find(const struct evidence *evidence, bool (*fits)(const json_t *line))
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (!evidence_is_planted(line) && fits(line)) {
            return line;
        }
    }
    return NULL;
}

/* ---- every protocol -------------------------------------------------------------------------- */

/* What must have been run of a protocol: any, or one form of commits. */
struct form {
    const char *protocol, *commits; /* NULL: it has one form */
};

static bool is_of(const json_t *line, const struct form *form)
{
    return evidence_is(line, "protocol", form->protocol) &&
           (form->commits == NULL || evidence_is(line, "commits", form->commits));
}

static bool has_form(const struct evidence *evidence, const struct form *form,
                     bool (*fits)(const json_t *line))
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (!evidence_is_planted(line) && is_of(line, form) && fits(line)) {
            return true;
        }
    }
    return false;
}

/* Every protocol that is signed, the activity's with literal and with merged commits if `forms`. */
static bool has_all(const struct evidence *evidence, bool forms, bool (*fits)(const json_t *line),
                    char *why, size_t size)
{
    static const char *const both[] = {"literal", "merged"};
    for (size_t p = 0; p < protocol_count(); p++) {
        const struct protocol *protocol = protocol_at(p);
        bool split = forms && protocol->merges;
        bool is_signed = strcmp(clause_family_seed(protocol->family), "none") != 0;
        for (size_t f = 0; is_signed && f < (split ? 2 : 1); f++) {
            struct form form = {protocol->name, split ? both[f] : NULL};
            if (!has_form(evidence, &form, fits)) {
                snprintf(why, size, "none of protocol %s%s%s", form.protocol,
                         split ? " with commits " : "", split ? form.commits : "");
                return false;
            }
        }
    }
    snprintf(why, size, "every protocol%s", forms ? ", with literal and with merged commits" : "");
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool judge_tests(const struct evidence *evidence, char *why, size_t size)
{
    for (size_t i = 0; i < proofs_count(); i++) {
        const char *suite = proofs_get(i)->suite;
        if (json_object_get(evidence->suites, suite) == NULL) {
            snprintf(why, size, "%s was not run", suite);
            return false;
        }
    }
    snprintf(why, size, "%zu suites", json_object_size(evidence->suites));
    return true;
}

static bool is_every_proof(const json_t *line)
{
    return evidence_is(line, "type", "summary") && evidence_is(line, "verb", "proofs") &&
           has(line, "every_proof") && evidence_number(line, "mutants") > 0 &&
           evidence_number(line, "mutants") == evidence_number(line, "noticed");
}

static bool judge_proofs(const struct evidence *evidence, char *why, size_t size)
{
    const json_t *all = find(evidence, is_every_proof);
    if (all == NULL) {
        snprintf(why, size, "no run had every mutant, and each noticed by its tests");
        return false;
    }
    snprintf(why, size, "%d mutants", (int)evidence_number(all, "mutants"));
    return true;
}

/* A campaign, or what a merge says of shards. */
static bool is_whole_campaign(const json_t *line)
{
    bool judged = evidence_is(line, "type", "gates") ||
                  (evidence_is(line, "type", "summary") && evidence_is(line, "verb", "campaign") &&
                   has(line, "gates_judged") && !has(line, "interrupted"));
    return judged && has(line, "every_scenario") &&
           json_array_size(json_object_get(line, "gates")) == 0;
}

static bool judge_campaign(const struct evidence *evidence, char *why, size_t size)
{
    bool there = find(evidence, is_whole_campaign) != NULL;
    snprintf(why, size, "%s",
             there ? "every built-in scenario"
                   : "no campaign had every built-in scenario and all of its gates met");
    return there;
}

static bool is_deep_sweep(const json_t *line)
{
    return evidence_is(line, "type", "sweep") && has(line, "complete") && !has(line, "broken") &&
           evidence_number(line, "depth") >= DEPTH_SWEPT;
}

static bool judge_sweep(const struct evidence *evidence, char *why, size_t size)
{
    bool there = has_all(evidence, true, is_deep_sweep, why, size);
    size_t used = strlen(why);
    if (!there && used < size) {
        snprintf(why + used, size - used, " to depth %d", DEPTH_SWEPT);
    }
    return there;
}

static bool is_complete_search(const json_t *line)
{
    return evidence_is(line, "type", "explore") && has(line, "complete") &&
           evidence_number(line, "crashes") > 0;
}

static bool judge_explore(const struct evidence *evidence, char *why, size_t size)
{
    bool there = has_all(evidence, true, is_complete_search, why, size);
    size_t used = strlen(why);
    if (!there && used < size) {
        snprintf(why + used, size - used, " with a crash and to the last state");
    }
    return there;
}

/* At most one in ten of those that are listed as equivalent may not be shown to be so. */
static bool is_whole_hunt(const json_t *line)
{
    uint64_t shown = evidence_number(line, "equivalent");
    uint64_t not_shown = evidence_number(line, "not_shown");
    return evidence_is(line, "type", "summary") && evidence_is(line, "verb", "sabotage") &&
           has(line, "every_sabotage") && evidence_number(line, "found") > 0 &&
           evidence_number(line, "survived") + evidence_number(line, "wrongly_equivalent") +
                   evidence_number(line, "sound_breaks") ==
               0 &&
           10 * not_shown <= shown + not_shown;
}

static bool judge_sabotage(const struct evidence *evidence, char *why, size_t size)
{
    const json_t *hunt = find(evidence, is_whole_hunt);
    if (hunt == NULL) {
        snprintf(why, size, "no hunt had every planted bug and every promise on");
        return false;
    }
    snprintf(why, size, "%d planted bugs, %d of them shown to be equivalent, %d not shown",
             (int)evidence_number(hunt, "sabotages"), (int)evidence_number(hunt, "equivalent"),
             (int)evidence_number(hunt, "not_shown"));
    return true;
}

static bool is_comparison(const json_t *line)
{
    return evidence_is(line, "type", "summary") && evidence_is(line, "verb", "conform") &&
           evidence_number(line, "statements") > 0 && evidence_number(line, "differences") == 0;
}

static bool are_errors(const json_t *line)
{
    return evidence_is(line, "type", "errors") && evidence_number(line, "found") > 0 &&
           evidence_number(line, "found") == evidence_number(line, "planted");
}

static bool judge_conform(const struct evidence *evidence, char *why, size_t size)
{
    const json_t *compared = find(evidence, is_comparison);
    bool errors = find(evidence, are_errors) != NULL;
    if (compared == NULL || !errors) {
        snprintf(why, size, "%s",
                 compared == NULL ? "no scripts were compared" : "no planted error was looked for");
        return false;
    }
    snprintf(why, size, "%d statements", (int)evidence_number(compared, "statements"));
    return true;
}

static bool is_real(const json_t *line)
{
    return evidence_is(line, "type", "real");
}

static bool judge_real(const struct evidence *evidence, char *why, size_t size)
{
    return has_all(evidence, false, is_real, why, size);
}

static bool says_its_build(const json_t *line)
{
    return evidence_is(line, "type", "begin") && evidence_text(line, "binary_hash")[0] != '\0';
}

static bool judge_build(const struct evidence *evidence, char *why, size_t size)
{
    bool told = find(evidence, says_its_build) != NULL, one = evidence_is_of_one_build(evidence);
    snprintf(why, size, "%s",
             !told ? "nothing says which build it was"
             : one ? "one"
                   : "results of different builds are mixed");
    return told && one;
}

/* `verb`: sessions of it must be there, and all of them must have ended well; NULL: of any. */
static const struct {
    struct step step;
    const char *verb;
    bool (*judge)(const struct evidence *evidence, char *why, size_t size);
} steps[STEPS_COUNT] = {
    {{"build", "all of it was made by one build"}, NULL, judge_build},
    {{"tests", "the unit tests that prove promises and settle errata pass"}, "tests", judge_tests},
    {{"proofs", "each of those tests fails when what it proves is broken in the source"},
     "proofs",
     judge_proofs},
    {{"campaign", "random schedules with faults, every scenario, every gate met"},
     "campaign",
     judge_campaign},
    {{"sweep", "the same run crashed at every point, and again inside every recovery"},
     "sweep",
     judge_sweep},
    {{"explore", "every schedule of small scopes within bounds, to the last state"},
     "explore",
     judge_explore},
    {{"sabotage",
      "every planted bug is found by what the sound engine holds, or shown to be equivalent"},
     "sabotage",
     judge_sabotage},
    {{"conform", "the simulated store does what PostgreSQL does, statement by statement"},
     "conform",
     judge_conform},
    {{"real", "the same engines on PostgreSQL, judged by the same oracles"}, "real", judge_real},
};

const struct step *steps_get(size_t index)
{
    CHECK(index < STEPS_COUNT);
    return &steps[index].step;
}

bool steps_judge(size_t index, const struct evidence *evidence, char *why, size_t size)
{
    CHECK(index < STEPS_COUNT);
    if (steps[index].verb != NULL && !evidence_has(evidence, steps[index].verb)) {
        snprintf(why, size, "it was not run, or did not end well each time");
        return false;
    }
    return steps[index].judge(evidence, why, size);
}

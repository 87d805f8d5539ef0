#include "reports/steps.h"

#include "model/check.h"
#include "model/protocol.h"
#include "reports/proofs.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_SWEPT 2 /* a crash, and another inside the recovery */

/* Of what is made once for a binary, and not by ./run sign-off. */
#define TAKEN "; ./test --full makes it, and --with brings it"

/* ---- lines ----------------------------------------------------------------------------------- */

/* The first line that is as it should be; NULL: there is none. */
static const json_t *steps_find(const struct evidence *evidence, bool (*fits)(const json_t *line))
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
    return line_text_is(line_get_protocol(line), form->protocol) &&
           (form->commits == NULL || line_text_is(line_get_form(line), form->commits));
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
    return line_is(line, LINE_SUMMARY) && line_text_is(line_get_verb(line), "proofs") &&
           line_get_every_proof(line) && line_get_mutants(line) > 0 &&
           line_get_mutants(line) == line_get_noticed(line);
}

static bool judge_proofs(const struct evidence *evidence, char *why, size_t size)
{
    const json_t *all = steps_find(evidence, is_every_proof);
    if (all == NULL) {
        snprintf(why, size, "no run had every mutant, and each noticed by its tests");
        return false;
    }
    snprintf(why, size, "%d mutants", (int)line_get_mutants(all));
    return true;
}

/* A campaign, or what a merge says of shards. */
static bool is_whole_campaign(const json_t *line)
{
    bool judged = line_is(line, LINE_GATES) ||
                  (line_is(line, LINE_SUMMARY) && line_text_is(line_get_verb(line), "campaign") &&
                   line_get_gates_judged(line) && !line_get_interrupted(line));
    return judged && line_get_every_scenario(line) && json_array_size(line_get_gates(line)) == 0;
}

static bool judge_campaign(const struct evidence *evidence, char *why, size_t size)
{
    bool there = steps_find(evidence, is_whole_campaign) != NULL;
    snprintf(why, size, "%s",
             there ? "every built-in scenario"
                   : "no campaign had every built-in scenario and all of its gates met");
    return there;
}

static bool is_deep_sweep(const json_t *line)
{
    return line_is(line, LINE_SWEEP) && line_get_shards(line) <= 1 && line_get_complete(line) &&
           !line_get_is_broken(line) && line_get_depth(line) >= DEPTH_SWEPT;
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
    return line_is(line, LINE_EXPLORE) && line_get_complete(line) && line_get_crashes(line) > 0;
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
    uint64_t shown = line_get_equivalents(line);
    uint64_t not_shown = line_get_not_shown(line);
    return line_is(line, LINE_SUMMARY) && line_text_is(line_get_verb(line), "sabotage") &&
           line_get_every_sabotage(line) && line_get_shards(line) <= 1 &&
           line_get_found(line) > 0 &&
           line_get_survived(line) + line_get_wrongly_equivalent(line) +
                   line_get_sound_breaks(line) ==
               0 &&
           10 * not_shown <= shown + not_shown;
}

static bool judge_sabotage(const struct evidence *evidence, char *why, size_t size)
{
    const json_t *hunt = steps_find(evidence, is_whole_hunt);
    if (hunt == NULL) {
        snprintf(why, size, "no hunt had every planted bug and every promise on" TAKEN);
        return false;
    }
    snprintf(why, size, "%d planted bugs, %d of them shown to be equivalent, %d not shown",
             (int)line_get_sabotages(hunt), (int)line_get_equivalents(hunt),
             (int)line_get_not_shown(hunt));
    return true;
}

static bool is_comparison(const json_t *line)
{
    return line_is(line, LINE_SUMMARY) && line_text_is(line_get_verb(line), "conform") &&
           line_get_statements(line) > 0 && line_get_differences(line) == 0;
}

static bool are_errors(const json_t *line)
{
    return line_is(line, LINE_ERRORS) && line_get_found(line) > 0 &&
           line_get_found(line) == line_get_planted(line);
}

static bool judge_conform(const struct evidence *evidence, char *why, size_t size)
{
    const json_t *compared = steps_find(evidence, is_comparison);
    bool errors = steps_find(evidence, are_errors) != NULL;
    if (compared == NULL || !errors) {
        snprintf(why, size, "%s",
                 compared == NULL ? "no scripts were compared" : "no planted error was looked for");
        return false;
    }
    snprintf(why, size, "%d statements", (int)line_get_statements(compared));
    return true;
}

static bool is_real(const json_t *line)
{
    return line_is(line, LINE_REAL);
}

static bool judge_real(const struct evidence *evidence, char *why, size_t size)
{
    return has_all(evidence, false, is_real, why, size);
}

static bool says_its_build(const json_t *line)
{
    return line_is(line, LINE_BEGIN) && line_get_binary_hash(line)[0] != '\0';
}

static bool judge_build(const struct evidence *evidence, char *why, size_t size)
{
    bool told = steps_find(evidence, says_its_build) != NULL,
         one = evidence_is_of_one_build(evidence);
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

/* How the sessions of a verb ended. */
struct endings {
    size_t begun, ended;
    bool interrupted;
    int worst; /* status */
};

static struct endings endings_of(const struct evidence *evidence, const char *verb)
{
    struct endings endings = {0};
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (!line_text_is(line_get_verb(line), verb)) {
            continue;
        }
        int status = line_is(line, LINE_END) ? (int)line_get_status(line) : 0;
        endings.begun += line_is(line, LINE_BEGIN);
        endings.ended += line_is(line, LINE_END);
        endings.interrupted = endings.interrupted || line_get_interrupted(line);
        endings.worst =
            line_status_rank(status) > line_status_rank(endings.worst) ? status : endings.worst;
    }
    return endings;
}

/* "test_chaos, test_run (2 of 73 suites)"; false: none failed. */
static bool name_failed_suites(const struct evidence *evidence, char *why, size_t size)
{
    size_t failed = 0, used = 0;
    const char *suite;
    json_t *passed;
    why[0] = '\0';
    json_object_foreach(evidence->suites, suite, passed)
    {
        if (!json_is_true(passed) && used < size) {
            used += (size_t)snprintf(why + used, size - used, "%s%.60s", failed == 0 ? "" : ", ",
                                     suite);
            failed++;
        }
    }
    if (used < size) {
        snprintf(why + used, size - used, " (%zu of %zu suites)", failed,
                 json_object_size(evidence->suites));
    }
    return failed > 0;
}

/* Failed, interrupted and never run are three things. */
static enum steps_state judge_endings(const struct evidence *evidence, const char *verb, char *why,
                                      size_t size)
{
    struct endings endings = endings_of(evidence, verb);
    int rank = line_status_rank(endings.worst);
    if (endings.begun == 0) {
        snprintf(why, size, "not run%s", line_text_is(verb, "proofs") ? TAKEN : "");
        return STEPS_ABSENT;
    }
    if (line_text_is(verb, "tests") && name_failed_suites(evidence, why, size)) {
        return STEPS_FAILED; /* also if the status denies it, or the run was interrupted */
    }
    if (rank >= line_status_rank(1)) {
        snprintf(why, size, "%s (status %d)", line_status_words(rank), endings.worst);
        return STEPS_FAILED;
    }
    if (endings.ended < endings.begun || endings.interrupted) {
        snprintf(why, size, "interrupted%s", endings.interrupted ? "" : ": killed half-way");
        return STEPS_ABSENT;
    }
    snprintf(why, size, "%s (status %d)", line_status_words(rank), endings.worst);
    return endings.worst == 0 ? STEPS_THERE : STEPS_ABSENT;
}

enum steps_state steps_judge(size_t index, const struct evidence *evidence, char *why, size_t size)
{
    CHECK(index < STEPS_COUNT);
    if (steps[index].verb != NULL) {
        enum steps_state state = judge_endings(evidence, steps[index].verb, why, size);
        if (state != STEPS_THERE) {
            return state;
        }
    }
    return steps[index].judge(evidence, why, size) ? STEPS_THERE : STEPS_ABSENT;
}

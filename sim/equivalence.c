#include "sim/equivalence.h"

#include "model/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY     ((size_t)96 << 20)
#define REDUCTIONS (REDUCE_WORKERS | REDUCE_SIBLINGS)

/* ---- a search -------------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct explore *search(const struct scope *scope, const struct scenario *scenario,
                              const struct sabotage *sabotage)
{
    const struct explore_plan plan = {.walk = {.scenario = scenario,
                                               .sabotage = sabotage,
                                               .bounds = scope->bounds,
                                               .reductions = REDUCTIONS,
                                               .by_statement = scope->by_statement,
                                               .keeps_paths = true},
                                      .memory = MEMORY,
                                      .jobs = 1};
    struct explore *explore = explore_make(&plan);
    if (explore != NULL) {
        explore_join(explore, 0);
    }
    return explore;
}

/* All terminal states of a search; NULL: no memory. */
static uint64_t *list_ends(const struct explore *explore, size_t *count)
{
    uint64_t *list = malloc(EXPLORE_ENDS_MAX * sizeof *list);
    *count = list == NULL ? 0 : explore_ends_list(explore, REDUCTIONS, list);
    return list;
}

/* ---- the sound engine ------------------------------------------------------------------------ */

bool equivalence_ground_make(struct equivalence_ground *ground, const struct scope *scope)
{
    struct error error;
    *ground = (struct equivalence_ground){.scope = scope,
                                          .scenario = calloc(1, sizeof *ground->scenario)};
    if (ground->scenario == NULL) {
        return false;
    }
    bool read =
        scenario_parse(scope->yaml, strlen(scope->yaml), scope->name, ground->scenario, &error);
    CHECK(read);
    struct explore *explore = search(scope, ground->scenario, NULL);
    if (explore == NULL) {
        equivalence_ground_free(ground);
        return false;
    }
    const struct explore_report *report = explore_finish(explore);
    ground->verdict = report->verdict;
    ground->why = report->why;
    ground->states = report->states;
    if (explore_ends_as(report, REDUCTIONS)->more) {
        ground->verdict = EXPLORE_BOUNDED;
        ground->why = "there are too many ends";
    }
    for (int s = 0; s < COVER_COUNT; s++) {
        ground->seen[s] = report->seen[s] > 0;
    }
    memcpy(ground->sent, report->sent, sizeof ground->sent);
    ground->ends = list_ends(explore, &ground->end_count);
    explore_free(explore);
    if (ground->ends == NULL) {
        equivalence_ground_free(ground);
        return false;
    }
    return true;
}

void equivalence_ground_free(struct equivalence_ground *ground)
{
    free(ground->scenario);
    free(ground->ends);
    ground->scenario = NULL;
    ground->ends = NULL;
}

/* ---- the spoiled one ------------------------------------------------------------------------- */

/* Both lists are in ascending order. */
static void compare_ends(struct equivalence_trial *trial, const uint64_t *ends, size_t count)
{
    const struct equivalence_ground *ground = trial->ground;
    size_t a = 0, b = 0;
    while (a < ground->end_count || b < count) {
        if (b == count || (a < ground->end_count && ground->ends[a] < ends[b])) {
            trial->fewer_ends++;
            a++;
        } else if (a == ground->end_count || ends[b] < ground->ends[a]) {
            trial->more_ends++;
            b++;
        } else {
            a++;
            b++;
        }
    }
}

/* True: the same cover points are hit. */
static bool compare_paths(struct equivalence_trial *trial, const struct explore_report *report)
{
    for (int s = 0; s < COVER_COUNT; s++) {
        if ((report->seen[s] > 0) != trial->ground->seen[s]) {
            trial->path = (enum oracle_cover)s;
            trial->path_is_new = report->seen[s] > 0;
            return false;
        }
    }
    return true;
}

static enum equivalence_answer answer_of(struct equivalence_trial *trial,
                                         const struct explore_report *report)
{
    switch (report->verdict) {
    case EXPLORE_BROKEN:
        trial->clause = report->result.breach.clause;
        trial->why = report->result.breach.why;
        return EQUIVALENCE_BROKEN;
    case EXPLORE_STUCK:
        return EQUIVALENCE_STUCK;
    case EXPLORE_HELD:
        break;
    case EXPLORE_BOUNDED:
    case EXPLORE_VERDICT_COUNT:
        trial->why = report->why;
        return EQUIVALENCE_UNDECIDED;
    }
    if (trial->spoiled == 0) {
        return EQUIVALENCE_UNTOUCHED;
    }
    if (trial->more_ends + trial->fewer_ends > 0) {
        return EQUIVALENCE_ENDS;
    }
    return compare_paths(trial, report) ? EQUIVALENCE_EQUAL : EQUIVALENCE_PATHS;
}

/* Whether the bug can take effect in this scope: up to its first effect, the sabotaged engine sends
 * what the sound one does. */
static bool can_touch(const struct equivalence_ground *ground, const struct sabotage *sabotage)
{
    bool inside = sabotage->kind == SABOTAGE_NAMED || sabotage->kind == SABOTAGE_DROP ||
                  sabotage->kind == SABOTAGE_UNGUARD || sabotage->kind == SABOTAGE_STALE;
    bool sent =
        sabotage->kind == SABOTAGE_NAMED || ground->sent[sabotage->bundle][sabotage->primitive];
    return sent && (inside || !ground->scope->by_statement);
}

bool equivalence_try(const struct equivalence_ground *ground, const struct sabotage *sabotage,
                     struct equivalence_trial *trial)
{
    *trial = (struct equivalence_trial){.ground = ground, .answer = EQUIVALENCE_UNTOUCHED};
    if (!can_touch(ground, sabotage)) {
        return true;
    }
    struct explore *explore = search(ground->scope, ground->scenario, sabotage);
    if (explore == NULL) {
        return false;
    }
    const struct explore_report *report = explore_finish(explore);
    size_t count;
    uint64_t *ends = list_ends(explore, &count);
    if (ends != NULL) {
        trial->states = report->states;
        trial->spoiled = report->spoiled;
        compare_ends(trial, ends, count);
        trial->answer = answer_of(trial, report);
    }
    free(ends);
    explore_free(explore);
    return ends != NULL;
}

/* ---- all scopes ------------------------------------------------------------------------------ */

static void weigh(struct equivalence *judged, const struct equivalence_trial *trial)
{
    bool equal = trial->answer == EQUIVALENCE_EQUAL;
    if (trial->answer == EQUIVALENCE_UNTOUCHED) {
        return;
    }
    judged->scopes++;
    judged->states += trial->states;
    judged->spoiled += trial->spoiled;
    judged->shown = equal;
    judged->found = trial->answer == EQUIVALENCE_BROKEN || trial->answer == EQUIVALENCE_STUCK;
    if (!equal || trial->states > judged->decisive.states) {
        judged->decisive = *trial;
    }
}

void equivalence_check(const struct equivalence *judged)
{
    enum equivalence_answer decisive = judged->decisive.answer;
    CHECK((judged->scopes == 0) == (decisive == EQUIVALENCE_UNTOUCHED)); /* EQ1 */
    CHECK(judged->shown == (decisive == EQUIVALENCE_EQUAL));             /* EQ1 */
    CHECK(!judged->shown || (judged->spoiled > 0 && !judged->found));    /* EQ1 */
}

bool equivalence_judge(const struct equivalence_ground *grounds, size_t count,
                       const struct sabotage *sabotage, struct equivalence *judged)
{
    *judged = (struct equivalence){.decisive = {.answer = EQUIVALENCE_UNTOUCHED}};
    for (size_t g = 0; g < count && (judged->shown || judged->scopes == 0); g++) {
        struct equivalence_trial trial;
        if (!equivalence_try(&grounds[g], sabotage, &trial)) {
            return false;
        }
        weigh(judged, &trial);
    }
    equivalence_check(judged);
    return true;
}

void equivalence_text(const struct equivalence *judged, char *text, size_t size)
{
    const struct equivalence_trial *trial = &judged->decisive;
    const char *scope = trial->ground == NULL ? "" : trial->ground->scope->name;
    size_t ends = trial->ground == NULL ? 0 : trial->ground->end_count;
    switch (trial->answer) {
    case EQUIVALENCE_UNTOUCHED:
        snprintf(text, size, "it takes effect in no scope");
        break;
    case EQUIVALENCE_EQUAL:
        snprintf(text, size, "%s: %" PRIu64 " states, %zu ends; %u scope%s", scope, trial->states,
                 ends, judged->scopes, judged->scopes == 1 ? "" : "s");
        break;
    case EQUIVALENCE_ENDS:
        snprintf(text, size, "%s: %zu of its ends are new, %zu of the sound engine's %zu are gone",
                 scope, trial->more_ends, trial->fewer_ends, ends);
        break;
    case EQUIVALENCE_PATHS:
        snprintf(text, size, "%s: a path is %s: %s", scope, trial->path_is_new ? "new" : "gone",
                 oracle_cover_text(trial->path));
        break;
    case EQUIVALENCE_BROKEN:
        snprintf(text, size, "%s: breaks %s, %s", scope, clause_get(trial->clause)->id, trial->why);
        break;
    case EQUIVALENCE_STUCK:
        snprintf(text, size, "%s: from some state nothing comes to rest", scope);
        break;
    case EQUIVALENCE_UNDECIDED:
    case EQUIVALENCE_ANSWER_COUNT:
        snprintf(text, size, "%s: the search was bounded, %s", scope, trial->why);
        break;
    }
}

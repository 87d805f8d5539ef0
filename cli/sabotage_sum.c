#include "cli/sabotage_sum.h"

#include "cli/cli.h"
#include "reports/line.h"

#include <stdlib.h>
#include <string.h>

bool sabotage_sum_must_kill(const struct clause *clause)
{
    return protocol_judges(clause->family) &&
           (clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIVE);
}

struct sabotage_sum sabotage_sum_of(const struct hunt *hunt)
{
    struct sabotage_sum summary = {0};
    for (size_t i = 0; i < hunt->count; i++) {
        const struct trial *trial = &hunt->trials[i];
        bool counted[CLAUSE_COUNT] = {false};
        if (!trial->done) {
            continue; /* interrupted before */
        }
        summary.fates[protocol_place(trial->sabotage.protocol)][hunt_fate(trial)]++;
        summary.all[hunt_fate(trial)]++;
        summary.disputed += hunt_dispute(trial) != NULL;
        for (uint64_t b = 0; b < trial->bases; b++) {
            if (trial->kills[b].found && !counted[trial->kills[b].breach.clause]) {
                counted[trial->kills[b].breach.clause] = true;
                summary.kills[trial->kills[b].breach.clause]++;
            }
        }
    }
    return summary;
}

/* ---- every promise by itself ----------------------------------------------------------------- */

/* The kill of its first base seed, if this promise reported it; NULL: it did not. */
static const struct kill *report_of(const struct trial *trial, enum clause_id clause)
{
    const struct kill *kill = &trial->kills[0];
    bool fits = kill->found && kill->way == KILL_BREACH && kill->breach.clause == clause;
    return fits ? kill : NULL;
}

/* How many planted bugs this promise reported with the same words. */
static size_t alike(const struct hunt *hunt, enum clause_id clause, const char *why)
{
    size_t count = 0;
    for (size_t i = 0; i < hunt->count; i++) {
        const struct kill *kill = report_of(&hunt->trials[i], clause);
        count += kill != NULL && strcmp(kill->breach.why, why) == 0;
    }
    return count;
}

/* Of what a promise found first, the bug that it is most likely to be there for: one that it
 * reports as it reports most others, and soonest. NULL: it found none. */
static const struct trial *typical(const struct hunt *hunt, enum clause_id clause)
{
    const struct trial *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < hunt->count; i++) {
        const struct kill *kill = report_of(&hunt->trials[i], clause);
        size_t count = kill == NULL ? 0 : alike(hunt, clause, kill->breach.why);
        if (count > most ||
            (count > 0 && count == most && kill->schedules < best->kills[0].schedules)) {
            best = &hunt->trials[i];
            most = count;
        }
    }
    return best;
}

static json_t *alone_line(enum clause_id clause, const struct kill *kill, const struct sabotage *by)
{
    json_t *line =
        line_make(LINE_ALONE, line_clause(clause_get(clause)->id), line_is_found(kill->found));
    if (kill->found) {
        line_add(line, line_name(by->name), line_scenario(kill->scenario), line_seed(kill->seed),
                 line_schedules(kill->schedules), line_why(kill->breach.why));
    }
    return line;
}

json_t *sabotage_sum_alone(const struct sabotage_asked *asked, const struct hunt *hunt,
                           struct sabotage_sum *summary)
{
    json_t *lines = json_array();
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        enum clause_id clause = (enum clause_id)c;
        if (!sabotage_sum_must_kill(clause_get(clause))) {
            continue;
        }
        const struct trial *trial = typical(hunt, clause);
        uint64_t enough = trial == NULL ? 0 : trial->kills[0].schedules;
        const struct kill_hunting hunting = {
            .base_seed = 1,
            .schedules_max = (uint32_t)(enough > asked->schedules ? enough : asked->schedules),
            .strategy = asked->strategy};
        struct kill kill;
        struct sabotage by;
        if (!kill_by_itself(clause, trial == NULL ? NULL : &trial->sabotage, &hunting, &kill,
                            &by)) {
            json_decref(lines);
            return NULL;
        }
        json_array_append_new(lines, alone_line(clause, &kill, &by));
        summary->forestalled += kill.found && summary->kills[c] == 0;
        summary->toothless += !kill.found;
    }
    return lines;
}

/* ---- the sum --------------------------------------------------------------------------------- */

static bool too_many_not_shown(const struct sabotage_sum *summary)
{
    size_t listed = summary->all[FATE_EQUIVALENT] + summary->all[FATE_NOT_SHOWN];
    return 100 * summary->all[FATE_NOT_SHOWN] > EQUIVALENCE_NOT_SHOWN_PERCENT * listed;
}

static json_t *protocols_json(const struct sabotage_sum *summary)
{
    json_t *protocols = json_object();
    for (size_t p = 0; p < protocol_count(); p++) {
        const size_t *fates = summary->fates[p];
        json_object_set_new(protocols, protocol_at(p)->name,
                            json_pack("{s:I, s:I, s:I, s:I, s:I}", "found",
                                      (json_int_t)fates[FATE_FOUND], "equivalent",
                                      (json_int_t)fates[FATE_EQUIVALENT], "not_shown",
                                      (json_int_t)fates[FATE_NOT_SHOWN], "survived",
                                      (json_int_t)fates[FATE_SURVIVED], "wrongly_equivalent",
                                      (json_int_t)fates[FATE_NOT_EQUIVALENT]));
    }
    return protocols;
}

json_t *sabotage_sum_line(const struct sabotage_asked *asked, const struct hunt *hunt,
                          const struct sabotage_sum *summary)
{
    json_t *kills = json_object();
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (sabotage_sum_must_kill(clause_get((enum clause_id)c)) || summary->kills[c] > 0) {
            json_object_set_new(kills, clause_get((enum clause_id)c)->id,
                                json_integer((json_int_t)summary->kills[c]));
        }
    }
    const size_t *fates = summary->all;
    json_t *line = line_make(
        LINE_SABOTAGE_SUMMARY, line_every_sabotage(asked->whole), line_sabotages(hunt->count),
        line_planned(hunt->count), line_interrupted(hunt->done < hunt->count),
        line_found(fates[FATE_FOUND]), line_equivalents(fates[FATE_EQUIVALENT]),
        line_not_shown(fates[FATE_NOT_SHOWN]), line_survived(fates[FATE_SURVIVED]),
        line_wrongly_equivalent(fates[FATE_NOT_EQUIVALENT]), line_sound_breaks(summary->disputed),
        line_kills(kills), line_protocols(protocols_json(summary)));
    if (asked->shard) {
        char strategy[CHOICE_STRATEGY_SIZE];
        choice_strategy_text(&asked->strategy, strategy);
        line_add(line, line_shard(asked->part + 1), line_shards(asked->parts),
                 line_schedules(asked->schedules), line_strategy(strategy));
    }
    return line;
}

int sabotage_sum_status(const struct sabotage_asked *asked, const struct hunt *hunt,
                        const struct sabotage_sum *summary)
{
    bool all = asked->whole && !asked->shard;
    bool missed = summary->all[FATE_SURVIVED] + summary->all[FATE_NOT_EQUIVALENT] > 0 ||
                  (all && (summary->toothless > 0 || too_many_not_shown(summary)));
    return summary->disputed > 0                ? CLI_BROKEN
           : missed || hunt->done < hunt->count ? CLI_INCOMPLETE
                                                : CLI_OK;
}

/* ---- shards ---------------------------------------------------------------------------------- */

/* The line of that number among the hunts of a shard; NULL: it has no more. */
static json_t *hunt_at(const json_t *session, size_t number)
{
    size_t i;
    json_t *line;
    json_array_foreach((json_t *)session, i, line)
    {
        if (line_is(line, LINE_SABOTAGE) && number-- == 0) {
            return line;
        }
    }
    return NULL;
}

static enum kill_way way_of(const char *text)
{
    return line_text_is(text, "path")     ? KILL_PATH
           : line_text_is(text, "clause") ? KILL_CLAUSE
                                          : KILL_BREACH;
}

/* What sums ask of a hunt. False: this program has no such bug, strategy or clause. */
static bool read_trial(struct trial *trial, const json_t *line)
{
    const char *clause = line_get_clause(line);
    const struct kill kill = {.found = true,
                              .way = way_of(line_get_way(line)),
                              .schedules = (uint32_t)line_get_schedules_median(line),
                              .breach = {.broken = true, .why = line_get_why(line)},
                              .disputes = line_get_dispute(line) != NULL};
    *trial = (struct trial){
        .bases = line_get_base_seeds(line), .found = (uint32_t)line_get_found(line), .done = true};
    trial->equivalence.shown = line_get_is_shown(line);
    if (clause[0] != '\0') {
        trial->kills[0] = kill;
    }
    return sabotage_find(line_get_name(line), &trial->sabotage) && trial->bases == 1 &&
           choice_strategy_read(line_get_strategy(line), &trial->strategy) &&
           (clause[0] == '\0' ||
            clause_find(clause, strlen(clause), &trial->kills[0].breach.clause));
}

/* What the search of an equivalent found is no kill, and is told by the fate alone. */
static void read_fate(struct trial *trial, const json_t *line)
{
    trial->equivalence.found =
        line_text_is(line_get_fate(line), hunt_fate_text(FATE_NOT_EQUIVALENT)) && trial->found == 0;
}

/* Hunts of all shards in their order, and their lines. */
static bool read_hunts(json_t *const sessions[], size_t count, struct hunt *hunt, json_t *lines)
{
    for (size_t number = 0;; number++) {
        json_t *line = hunt_at(sessions[number % count], number / count);
        if (line == NULL) {
            return number > 0;
        }
        if (number == sabotage_count() * 2 || !read_trial(&hunt->trials[number], line)) {
            return false;
        }
        read_fate(&hunt->trials[number], line);
        json_array_append(lines, line);
        hunt->count = hunt->done = number + 1;
    }
}

/* What was asked of every shard, to its end. */
static bool read_asked(json_t *const sessions[], size_t count, struct sabotage_asked *asked,
                       uint64_t *planned)
{
    *planned = 0;
    for (size_t k = 0; k < count; k++) {
        const json_t *summary = NULL, *line;
        size_t i;
        json_array_foreach(sessions[k], i, line)
        {
            summary = line_is(line, LINE_SUMMARY) ? line : summary;
        }
        if (summary == NULL || line_get_interrupted(summary) ||
            !choice_strategy_read(line_get_strategy(summary), &asked->strategy)) {
            return false;
        }
        *planned += line_get_planned(summary);
        asked->whole = line_get_every_sabotage(summary);
        asked->schedules = line_get_schedules(summary);
    }
    return true;
}

static json_t *join_hunts(json_t *const sessions[], size_t count, struct hunt *hunt, int *status,
                          struct error *error)
{
    struct sabotage_asked asked = {.parts = 1};
    uint64_t planned;
    json_t *hunts = json_array();
    json_t *lines = NULL;
    if (read_asked(sessions, count, &asked, &planned) && read_hunts(sessions, count, hunt, hunts) &&
        hunt->count == planned) {
        struct sabotage_sum summary = sabotage_sum_of(hunt);
        lines = asked.whole ? sabotage_sum_alone(&asked, hunt, &summary) : json_array();
        json_array_extend(lines, hunts);
        json_array_append_new(lines, sabotage_sum_line(&asked, hunt, &summary));
        *status = sabotage_sum_status(&asked, hunt, &summary);
    } else {
        snprintf(error->text, sizeof error->text, "one of them did not get to its end");
    }
    json_decref(hunts);
    return lines;
}

json_t *sabotage_join(json_t *const sessions[], size_t count, int *status, struct error *error)
{
    struct hunt hunt = {.trials = calloc(sabotage_count() * 2, sizeof *hunt.trials)};
    json_t *lines = hunt.trials == NULL ? NULL : join_hunts(sessions, count, &hunt, status, error);
    free(hunt.trials);
    return lines;
}

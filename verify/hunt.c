#include "verify/hunt.h"

#include "reports/json_line.h"
#include "reports/line.h"
#include "sim/campaign.h"
#include "verify/interrupt.h"
#include "verify/watchdog.h"

#include <stdlib.h>
#include <string.h>

#define BASE_SEED_STEP  UINT64_C(1000000)
#define ENUMERATED_MORE 10

bool hunt_is_enumerated(const struct sabotage *sabotage)
{
    return strchr(sabotage->name, '/') != NULL;
}

/* ---- one of them ----------------------------------------------------------------------------- */

const char *hunt_fate_text(enum fate fate)
{
    static const char *const texts[FATE_COUNT] = {[FATE_FOUND] = "found",
                                                  [FATE_EQUIVALENT] = "equivalent",
                                                  [FATE_NOT_SHOWN] = "not shown",
                                                  [FATE_SURVIVED] = "SURVIVED",
                                                  [FATE_NOT_EQUIVALENT] =
                                                      "LISTED AS EQUIVALENT, AND FOUND"};
    return texts[fate];
}

enum fate hunt_fate(const struct trial *trial)
{
    if (trial->sabotage.equivalent == NULL) {
        return trial->found == trial->bases ? FATE_FOUND : FATE_SURVIVED;
    }
    if (trial->found > 0 || trial->equivalence.found) {
        return FATE_NOT_EQUIVALENT;
    }
    return trial->equivalence.shown ? FATE_EQUIVALENT : FATE_NOT_SHOWN;
}

const struct kill *hunt_first_kill(const struct trial *trial)
{
    for (uint64_t b = 0; b < trial->bases; b++) {
        if (trial->kills[b].found) {
            return &trial->kills[b];
        }
    }
    return NULL;
}

const struct kill_dispute *hunt_dispute(const struct trial *trial)
{
    for (uint64_t b = 0; b < trial->bases; b++) {
        if (trial->kills[b].disputes > 0) {
            return &trial->kills[b].dispute;
        }
    }
    return NULL;
}

static const char *way_text(enum kill_way way)
{
    static const char *const texts[] = {
        [KILL_BREACH] = "breach", [KILL_PATH] = "path", [KILL_CLAUSE] = "clause"};
    return texts[way];
}

static void add_kill(json_t *line, const struct trial *trial, const struct kill *kill)
{
    line_add(line, line_way(way_text(kill->way)), line_clause(clause_get(kill->breach.clause)->id),
             line_scenario(kill->scenario), line_why(kill->breach.why),
             line_schedules_median(trial->median), line_schedules_max(trial->most));
    if (kill->way == KILL_BREACH) {
        line_add(line, line_oracle(campaign_oracle_name(kill->oracle)), line_seed(kill->seed),
                 line_shrunk_steps(kill->shrunk_steps));
    } else {
        line_add(line, line_taken_by_sound(kill->taken));
    }
}

static void add_equivalence(json_t *line, const struct equivalence *judged)
{
    char text[300];
    equivalence_text(judged, text, sizeof text);
    line_add(line, line_is_shown(judged->shown), line_search(text), line_scopes(judged->scopes),
             line_states(judged->states), line_spoiled(judged->spoiled));
}

json_t *hunt_line(const struct trial *trial)
{
    const struct kill *kill = hunt_first_kill(trial);
    const struct kill_dispute *dispute = hunt_dispute(trial);
    char strategy[CHOICE_STRATEGY_SIZE];
    choice_strategy_text(&trial->strategy, strategy);
    json_t *line =
        line_make(LINE_SABOTAGE, line_name(trial->sabotage.name),
                  line_protocol(trial->sabotage.protocol->name), line_about(trial->sabotage.about),
                  line_strategy(strategy), line_fate(hunt_fate_text(hunt_fate(trial))),
                  line_base_seeds(trial->bases), line_found(trial->found));
    if (trial->sabotage.equivalent != NULL) {
        line_add(line, line_equivalent(trial->sabotage.equivalent));
    }
    if (trial->sabotage.differs != NULL) {
        line_add(line, line_difference(trial->sabotage.differs));
    }
    if (trial->sabotage.equivalent != NULL && kill == NULL) {
        add_equivalence(line, &trial->equivalence);
    }
    if (kill != NULL) {
        add_kill(line, trial, kill);
    }
    if (dispute != NULL) {
        line_add(line,
                 line_dispute(json_pack("{s:s, s:s, s:I, s:b, s:s}", "clause",
                                        clause_get(dispute->breach.clause)->id, "scenario",
                                        dispute->scenario, "seed", (json_int_t)dispute->seed,
                                        "shrunk", dispute->shrunk, "why", dispute->breach.why)));
    }
    return line;
}

/* ---- hunting --------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void sum_up(struct trial *trial)
{
    uint32_t schedules[HUNT_BASE_SEEDS_MAX];
    for (uint64_t b = 0; b < trial->bases; b++) {
        if (trial->kills[b].found) {
            schedules[trial->found++] = trial->kills[b].schedules;
        }
    }
    if (trial->found > 0) {
        qsort(schedules, trial->found, sizeof *schedules, by_number);
        trial->median = schedules[trial->found / 2];
        trial->most = schedules[trial->found - 1];
    }
}

static bool hunt_one(const struct hunt *hunt, struct trial *trial)
{
    const struct hunt_grounds *grounds = &hunt->grounds[protocol_place(trial->sabotage.protocol)];
    uint64_t most =
        hunt->schedules_max * (hunt_is_enumerated(&trial->sabotage) ? ENUMERATED_MORE : 1);
    for (uint64_t b = 0; b < trial->bases; b++) {
        struct kill_hunting hunting = {.base_seed = 1 + b * BASE_SEED_STEP,
                                       .schedules_max = (uint32_t)most,
                                       .strategy = trial->strategy,
                                       .without = hunt->without};
        if (!kill_hunt(&trial->sabotage, &hunting, &trial->kills[b])) {
            return false;
        }
    }
    sum_up(trial);
    return trial->sabotage.equivalent == NULL || trial->found > 0 ||
           equivalence_judge(grounds->list, grounds->count, &trial->sabotage, &trial->equivalence);
}

static void hunt_show_progress(struct hunt *hunt)
{
    if (live_is_due(&hunt->live)) {
        live_say(&hunt->live, "%zu of %zu planted bugs, %zu not found%s", hunt->done, hunt->count,
                 hunt->unfound,
                 live_left(&hunt->live, (double)hunt->done / (double)hunt->count).text);
    }
}

/* results.jsonl as it would be if this were the end. */
static void save_so_far(struct hunt *hunt)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = artefacts_is_due(hunt->results) ? open_memstream(&text, &length) : NULL;
    if (out == NULL) {
        return;
    }
    for (size_t i = 0; i < hunt->count; i++) {
        if (hunt->trials[i].done) {
            json_line_write(out, hunt_line(&hunt->trials[i]));
        }
    }
    if (fclose(out) == 0) {
        artefacts_peek(hunt->results, text, length);
    }
    free(text);
}

static void *hunt_some(void *context)
{
    struct hunt *hunt = context;
    for (size_t i = atomic_fetch_add(&hunt->next, 1); i < hunt->count && !interrupt_seen();
         i = atomic_fetch_add(&hunt->next, 1)) {
        if (!hunt_one(hunt, &hunt->trials[i])) {
            atomic_store(&hunt->out_of_memory, true);
        }
        pthread_mutex_lock(&hunt->lock);
        hunt->trials[i].done = true;
        hunt->done++;
        hunt->unfound += hunt->trials[i].found == 0 && hunt->trials[i].sabotage.equivalent == NULL;
        hunt_show_progress(hunt);
        save_so_far(hunt);
        pthread_mutex_unlock(&hunt->lock);
    }
    return NULL;
}

/* ---- what the sound engine does -------------------------------------------------------------- */

/* Scopes of all protocols, by number. */
static struct equivalence_ground *ground_at(struct hunt *hunt, size_t number,
                                            const struct scope **scope)
{
    for (size_t p = 0; p < protocol_count(); p++) {
        struct hunt_grounds *grounds = &hunt->grounds[p];
        if (number < grounds->count) {
            scopes_of(protocol_at(p), scope);
            *scope += number;
            return &grounds->list[number];
        }
        number -= grounds->count;
    }
    return NULL;
}

static void *search_some(void *context)
{
    struct hunt *hunt = context;
    const struct scope *scope;
    struct equivalence_ground *ground;
    while (!interrupt_seen() &&
           (ground = ground_at(hunt, atomic_fetch_add(&hunt->next, 1), &scope)) != NULL) {
        if (!equivalence_ground_make(ground, scope)) {
            atomic_store(&hunt->out_of_memory, true);
        }
    }
    return NULL;
}

static bool need_grounds(struct hunt *hunt)
{
    for (size_t i = 0; i < hunt->count; i++) {
        struct hunt_grounds *grounds =
            &hunt->grounds[protocol_place(hunt->trials[i].sabotage.protocol)];
        const struct scope *scopes;
        if (hunt->trials[i].sabotage.equivalent != NULL && grounds->list == NULL) {
            grounds->count = scopes_of(hunt->trials[i].sabotage.protocol, &scopes);
            grounds->list = calloc(grounds->count, sizeof *grounds->list);
            if (grounds->list == NULL) {
                return false;
            }
        }
    }
    return true;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *hunt_watched(void *hunt)
{
    watchdog_enter();
    hunt_some(hunt);
    watchdog_leave();
    return NULL;
}

static void together(struct hunt *hunt, void *(*work)(void *))
{
    pthread_t threads[HUNT_JOBS_MAX];
    uint64_t started = 0;
    atomic_store(&hunt->next, 0);
    while (started + 1 < hunt->job_count &&
           pthread_create(&threads[started], NULL, work, hunt) == 0) {
        started++;
    }
    work(hunt);
    for (uint64_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
}

bool hunt_all(struct hunt *hunt)
{
    if (!need_grounds(hunt)) {
        return false;
    }
    hunt->live = live_begin();
    pthread_mutex_init(&hunt->lock, NULL);
    together(hunt, search_some);
    if (!atomic_load(&hunt->out_of_memory)) {
        together(hunt, hunt_watched);
    }
    pthread_mutex_destroy(&hunt->lock);
    live_end(&hunt->live);
    return !atomic_load(&hunt->out_of_memory);
}

void hunt_free(struct hunt *hunt)
{
    for (size_t p = 0; p < protocol_count(); p++) {
        for (size_t g = 0; g < hunt->grounds[p].count; g++) {
            equivalence_ground_free(&hunt->grounds[p].list[g]);
        }
        free(hunt->grounds[p].list);
    }
    free(hunt->trials);
}

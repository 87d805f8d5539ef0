#include "sim/campaign.h"

#include "model/check.h"
#include "sim/digest.h"
#include "sim/names.h"
#include "sim/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a run folds into the digest, by name (digest.h). */
static const char *const verdict_names[RUN_VERDICT_COUNT] = {[RUN_HELD] = "held",
                                                             [RUN_BROKEN] = "broken",
                                                             [RUN_STORE_FULL] = "store full",
                                                             [RUN_GIVEN_UP] = "given up",
                                                             [RUN_DIED] = "died"};

/* ---- adding up ------------------------------------------------------------------------------- */

uint64_t campaign_fold(uint64_t digest, uint64_t next)
{
    digest = (digest ^ next) * UINT64_C(0xD6E8FEB86659FD93);
    return digest ^ (digest >> 32);
}

static void add_counts(uint64_t *sum, const uint64_t *more, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += more[i];
    }
}

void campaign_tally_add(struct campaign_tally *sum, const struct campaign_tally *more)
{
    sum->runs += more->runs;
    sum->steps += more->steps;
    sum->transactions += more->transactions;
    sum->findings += more->findings;
    sum->full += more->full;
    sum->checked += more->checked;
    add_counts(sum->fired, more->fired, FAULT_KIND_COUNT);
    add_counts(sum->evaluated, more->evaluated, CLAUSE_COUNT);
    add_counts(sum->seen, more->seen, COVER_COUNT);
}

void campaign_result_begin(struct campaign_result *result)
{
    result->digest = 1;
    memset(&result->tally, 0, sizeof result->tally);
    memset(&result->drift, 0, sizeof result->drift);
    result->bucket_count = 0;
}

static struct campaign_bucket *find_bucket(struct campaign_result *result, enum clause_id clause,
                                           enum oracle_name oracle)
{
    for (size_t i = 0; i < result->bucket_count; i++) {
        if (result->buckets[i].clause == clause && result->buckets[i].oracle == oracle) {
            return &result->buckets[i];
        }
    }
    return NULL;
}

static void add_bucket(struct campaign_result *result, const struct campaign_bucket *more)
{
    struct campaign_bucket *bucket = find_bucket(result, more->clause, more->oracle);
    if (bucket == NULL) {
        CHECK(result->bucket_count < CAMPAIGN_BUCKETS_MAX);
        result->buckets[result->bucket_count++] = *more;
        return;
    }
    bucket->count += more->count;
    if (more->steps <
        bucket->steps) { /* later seeds are added later: an equal one changes nothing */
        bucket->steps = more->steps;
        bucket->seed = more->seed;
        bucket->why = more->why;
    }
}

void campaign_result_add(struct campaign_result *sum, const struct campaign_result *next)
{
    sum->digest = campaign_fold(sum->digest, next->digest);
    campaign_tally_add(&sum->tally, &next->tally);
    if (!sum->drift.found) {
        sum->drift = next->drift;
    }
    for (size_t i = 0; i < next->bucket_count; i++) {
        add_bucket(sum, &next->buckets[i]);
    }
    campaign_check(sum);
}

void campaign_check(const struct campaign_result *result)
{
    uint64_t findings = 0;
    CHECK(result->tally.checked <= result->tally.runs); /* CA2 */
    CHECK(result->tally.full <= result->tally.runs);    /* CA2 */
    for (size_t i = 0; i < result->bucket_count; i++) {
        const struct campaign_bucket *bucket = &result->buckets[i];
        CHECK(bucket->count > 0 && bucket->first_seed <= bucket->seed); /* CA3 */
        CHECK(i == 0 || bucket[-1].first_seed < bucket->first_seed);    /* CA3 */
        for (size_t j = 0; j < i; j++) {
            CHECK(bucket->clause != result->buckets[j].clause ||
                  bucket->oracle != result->buckets[j].oracle); /* CA3 */
        }
        findings += bucket->count;
    }
    CHECK(findings == result->tally.findings); /* CA3 */
}

/* ---- chains ---------------------------------------------------------------------------------- */

static bool same_step(const struct campaign_step *a, const struct campaign_step *b)
{
    return a->digest == b->digest && a->turn == b->turn && a->actor == b->actor &&
           a->fault == b->fault && a->bundle == b->bundle;
}

bool campaign_chain_differs(const struct campaign_chain *first, const struct campaign_chain *second,
                            struct campaign_drift *drift)
{
    const struct campaign_chain *chains[2] = {first, second};
    size_t common = first->count < second->count ? first->count : second->count;
    size_t step = 0;
    while (step < common && same_step(&first->steps[step], &second->steps[step])) {
        step++;
    }
    if (step == first->count && step == second->count && first->digest == second->digest) {
        return false;
    }
    drift->found = true;
    drift->step = step + 1;
    for (int i = 0; i < 2; i++) {
        drift->ended[i] = step >= chains[i]->count;
        if (!drift->ended[i]) {
            drift->ran[i] = chains[i]->steps[step];
        }
    }
    return true;
}

static size_t step_text(const struct scenario *scenario, const struct campaign_step *step,
                        bool ended, char *text, size_t size)
{
    static const char *const turns[] = {[RUN_TRANSACTION] = "a transaction",
                                        [RUN_CRASH] = "a crash",
                                        [RUN_PAUSE] = "a pause",
                                        [RUN_ENVIRONMENT] = "the world around",
                                        [RUN_SETTLE] = "faults stop",
                                        [RUN_STOPS] = "a stop",
                                        [RUN_WAITS] = "a wait",
                                        [RUN_LANDS] = "a late commit"};
    if (ended) {
        return (size_t)snprintf(text, size, "no such step");
    }
    const char *bundle = step->bundle < BUNDLE_NAME_COUNT
                             ? bundle_name_text((enum bundle_name)step->bundle)
                             : turns[step->turn];
    return (size_t)snprintf(text, size, "%s, %s, fault %s, digest %016" PRIx64,
                            names_actor(scenario, step->actor).text, bundle,
                            fault_get((enum fault_kind)step->fault)->name, step->digest);
}

void campaign_drift_text(const struct scenario *scenario, const struct campaign_drift *drift,
                         char *text, size_t size)
{
    char ran[2][160];
    for (int i = 0; i < 2; i++) {
        step_text(scenario, &drift->ran[i], drift->ended[i], ran[i], sizeof ran[i]);
    }
    if (drift->ended[0] && drift->ended[1]) {
        snprintf(text, size, "every step is the same and the verdict is not");
        return;
    }
    snprintf(text, size, "step %" PRIu64 ": %s; again: %s", drift->step, ran[0], ran[1]);
}

/* ---- running --------------------------------------------------------------------------------- */

static void note_step(void *context, const struct run_event *event)
{
    struct campaign_chain *chain = context;
    if (chain->count == chain->capacity) {
        return;
    }
    chain->steps[chain->count++] = (struct campaign_step){
        .digest = event->digest,
        .turn = (uint8_t)event->turn,
        .actor = (uint8_t)event->actor,
        .fault = (uint8_t)event->fault,
        .bundle = event->turn == RUN_TRANSACTION ? event->bundle->name : BUNDLE_NAME_COUNT,
    };
}

const struct scenario *campaign_scenario(const struct scenario *of, uint64_t seed,
                                         struct scenario *room)
{
    const struct protocol *protocol;
    if (!drawn_is_family(of->name, &protocol)) {
        return of;
    }
    drawn_make(protocol, seed / DRAWN_SEEDS, room);
    return room;
}

static void free_run(struct campaign_runner *runner)
{
    run_free(&runner->run);
    free(runner->chains[0].steps);
    free(runner->chains[1].steps);
    memset(runner->chains, 0, sizeof runner->chains);
}

static bool campaign_make_run(struct campaign_runner *runner, const struct scenario *scenario,
                              const struct sabotage *sabotage)
{
    memset(runner->chains, 0, sizeof runner->chains);
    if (!run_make(&runner->run, scenario, sabotage)) {
        return false;
    }
    size_t capacity = 16 * (size_t)runner->run.crash_free_steps + 1024;
    for (int i = 0; i < 2; i++) {
        runner->chains[i].steps = calloc(capacity, sizeof *runner->chains[i].steps);
        runner->chains[i].capacity = capacity;
        if (runner->chains[i].steps == NULL) {
            free_run(runner);
            return false;
        }
    }
    return true;
}

bool campaign_runner_make(struct campaign_runner *runner, const struct scenario *scenario,
                          const struct sabotage *sabotage)
{
    const struct protocol *protocol;
    runner->drawn = NULL;
    if (!campaign_make_run(runner, scenario, sabotage)) {
        return false;
    }
    if (drawn_is_family(scenario->name, &protocol)) {
        runner->drawn = malloc(sizeof *runner->drawn);
        if (runner->drawn == NULL) {
            free_run(runner);
            return false;
        }
        *runner->drawn = *scenario;
    }
    return true;
}

void campaign_runner_free(struct campaign_runner *runner)
{
    free_run(runner);
    free(runner->drawn);
    runner->drawn = NULL;
}

/* Makes the run of the scenario that the seed draws, with the settings and counts so far. */
static bool draw_scenario(struct campaign_runner *runner, uint64_t seed)
{
    const struct protocol *protocol = runner->drawn->protocol, *of;
    uint64_t number;
    if (drawn_is_one(runner->drawn->name, &of, &number) && number == seed / DRAWN_SEEDS) {
        return true;
    }
    const struct sabotage *sabotage = runner->run.sabotage;
    struct choice_strategy strategy = runner->run.strategy;
    struct oracle before = runner->run.oracle;
    free_run(runner);
    drawn_make(protocol, seed / DRAWN_SEEDS, runner->drawn);
    if (!campaign_make_run(runner, runner->drawn, sabotage)) {
        return false;
    }
    struct oracle *oracle = &runner->run.oracle;
    runner->run.strategy = strategy;
    memcpy(oracle->off, before.off, sizeof before.off);
    memcpy(oracle->silent, before.silent, sizeof before.silent);
    memcpy(oracle->evaluated, before.evaluated, sizeof before.evaluated);
    memcpy(oracle->seen, before.seen, sizeof before.seen);
    return true;
}

const struct run_result *campaign_seed(struct run *run, uint64_t seed)
{
    struct choice_source source = run_draw(run, seed);
    run->recheck_every = CAMPAIGN_RECHECK_EVERY;
    run->commit_number = seed * 31 % CAMPAIGN_RECHECK_EVERY; /* short runs have their turn, too */
    const struct run_result *result = run_once(run, &source);
    run_check_alive(run);
    run->source = NULL;
    return result;
}

static uint64_t digest_of(const struct run_result *result)
{
    uint64_t digest = campaign_fold(result->digest, result->steps);
    uint64_t verdict = digest_name(0, verdict_names[result->verdict]);
    return campaign_fold(digest, result->verdict == RUN_BROKEN
                                     ? digest_name(verdict, clause_get(result->breach.clause)->id)
                                     : verdict);
}

void campaign_record(struct campaign_runner *runner, uint64_t seed, int which)
{
    struct run *run = &runner->run;
    struct campaign_chain *chain = &runner->chains[which];
    chain->count = 0;
    run->observer = note_step;
    run->observer_context = chain;
    chain->digest = digest_of(campaign_seed(run, seed));
    run->observer = NULL;
    run->observer_context = NULL;
}

static void count_run(struct campaign_result *sum, uint64_t seed, const struct run_result *result)
{
    struct campaign_tally *tally = &sum->tally;
    tally->runs++;
    tally->steps += result->steps;
    tally->transactions += result->transactions;
    tally->full += result->verdict == RUN_STORE_FULL;
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        tally->fired[kind] += result->fired[kind];
    }
    if (result->verdict == RUN_BROKEN) {
        tally->findings++;
        add_bucket(sum, &(struct campaign_bucket){.clause = result->breach.clause,
                                                  .oracle = result->oracle,
                                                  .count = 1,
                                                  .first_seed = seed,
                                                  .seed = seed,
                                                  .steps = result->steps,
                                                  .why = result->breach.why});
    }
}

/* Runs the seed again without counting it (CA2). The runner's state differs from that before the
 * first run, so that a leak from run to run shows as well. */
static void check_again(struct campaign_runner *runner, uint64_t seed, struct campaign_result *sum)
{
    struct oracle *oracle = &runner->run.oracle;
    uint64_t evaluated[CLAUSE_COUNT], seen[COVER_COUNT];
    memcpy(evaluated, oracle->evaluated, sizeof evaluated);
    memcpy(seen, oracle->seen, sizeof seen);
    campaign_record(runner, seed, 1);
    memcpy(oracle->evaluated, evaluated, sizeof evaluated);
    memcpy(oracle->seen, seen, sizeof seen);
    sum->tally.checked++;
    struct campaign_drift drift = {.seed = seed};
    if (campaign_chain_differs(&runner->chains[0], &runner->chains[1], &drift) &&
        !sum->drift.found) {
        sum->drift = drift;
    }
}

static void run_seed(struct campaign_runner *runner, uint64_t seed, bool check,
                     struct campaign_result *sum)
{
    if (check) {
        campaign_record(runner, seed, 0);
    } else {
        campaign_seed(&runner->run, seed);
    }
    const struct run_result *result = &runner->run.result;
    count_run(sum, seed, result);
    sum->digest = campaign_fold(sum->digest, digest_of(result));
    if (check) {
        check_again(runner, seed, sum);
    }
}

bool campaign_block(struct campaign_runner *runner, uint64_t first, uint64_t count,
                    uint64_t check_every, struct campaign_result *result)
{
    CHECK(count <= CAMPAIGN_BLOCK);
    struct oracle *oracle = &runner->run.oracle;
    campaign_result_begin(result);
    memset(oracle->evaluated, 0, sizeof oracle->evaluated);
    memset(oracle->seen, 0, sizeof oracle->seen);
    for (uint64_t i = 0; i < count; i++) {
        if (runner->drawn != NULL && !draw_scenario(runner, first + i)) {
            return false;
        }
        run_seed(runner, first + i, check_every != 0 && i % check_every == 0, result);
    }
    add_counts(result->tally.evaluated, oracle->evaluated, CLAUSE_COUNT);
    add_counts(result->tally.seen, oracle->seen, COVER_COUNT);
    return true;
}

/* ---- gates ----------------------------------------------------------------------------------- */

struct missed {
    struct campaign_gate *gates;
    size_t count;
};

static void miss(struct missed *missed, struct campaign_gate gate)
{
    missed->gates[missed->count++] = gate;
}

static bool campaign_can_see(const struct scenario *scenario, enum oracle_cover sight)
{
    const struct sim_part *part = sim_part_of(scenario->protocol);
    return part->can_see == NULL || part->can_see(scenario, sight);
}

/* A clause with cover points is reached by all of them that the scenario can hit; any other by an
 * evaluation. */
static void gate_reached(const struct scenario *scenario, const struct campaign_tally *tally,
                         enum clause_id clause, struct missed *missed)
{
    bool path = false;
    for (int i = 0; i < COVER_COUNT; i++) {
        enum oracle_cover sight = (enum oracle_cover)i;
        if (oracle_cover_clause(sight) != clause) {
            continue;
        }
        path = true;
        if (campaign_can_see(scenario, sight) && tally->seen[sight] == 0) {
            miss(missed, (struct campaign_gate){.kind = CAMPAIGN_GATE_SIGHT,
                                                .scenario = scenario,
                                                .sight = sight,
                                                .clause = clause});
        }
    }
    if (!path && tally->evaluated[clause] == 0) {
        miss(missed, (struct campaign_gate){
                         .kind = CAMPAIGN_GATE_REACH, .scenario = scenario, .clause = clause});
    }
}

static bool was_broken(const struct campaign_result *result, enum clause_id clause)
{
    for (size_t i = 0; i < result->bucket_count; i++) {
        if (result->buckets[i].clause == clause) {
            return true;
        }
    }
    return false;
}

size_t campaign_gates(const struct scenario *scenario, const struct campaign_result *result,
                      const bool off[CLAUSE_COUNT],
                      struct campaign_gate missed_gates[CAMPAIGN_GATES_MAX])
{
    struct missed missed = {.gates = missed_gates};
    const struct campaign_tally *tally = &result->tally;
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        if (scenario->faults.rate[kind].times > 0 && tally->fired[kind] == 0) {
            miss(&missed, (struct campaign_gate){.kind = CAMPAIGN_GATE_FAULT,
                                                 .scenario = scenario,
                                                 .fault = (enum fault_kind)kind});
        }
    }
    for (size_t i = 0; i < scenario->reaches_count; i++) {
        if (!off[scenario->reaches[i]]) {
            gate_reached(scenario, tally, scenario->reaches[i], &missed);
        }
    }
    if (scenario->breaks && !off[scenario->broken] && !was_broken(result, scenario->broken)) {
        miss(&missed, (struct campaign_gate){.kind = CAMPAIGN_GATE_BREAKS,
                                             .scenario = scenario,
                                             .clause = scenario->broken});
    }
    if (tally->full > 0) {
        miss(&missed, (struct campaign_gate){.kind = CAMPAIGN_GATE_ROOM, .scenario = scenario});
    }
    return missed.count;
}

size_t campaign_gates_of_all(enum clause_family family, const struct campaign_tally *tally,
                             const bool off[CLAUSE_COUNT],
                             struct campaign_gate missed_gates[CLAUSE_COUNT])
{
    struct missed missed = {.gates = missed_gates};
    for (int id = 0; id < CLAUSE_COUNT; id++) {
        const struct clause *clause = clause_get((enum clause_id)id);
        bool judged = clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIVE;
        if (clause->family == family && judged && !off[id] && tally->evaluated[id] == 0) {
            miss(&missed, (struct campaign_gate){.kind = CAMPAIGN_GATE_CLAUSE,
                                                 .clause = (enum clause_id)id});
        }
    }
    return missed.count;
}

void campaign_gate_text(const struct campaign_gate *gate, char *text, size_t size)
{
    const char *name = gate->scenario == NULL ? "" : gate->scenario->name;
    const char *clause = clause_get(gate->clause)->id;
    switch (gate->kind) {
    case CAMPAIGN_GATE_FAULT:
        snprintf(text, size, "%s: the fault %s is allowed and never fell", name,
                 fault_get(gate->fault)->name);
        break;
    case CAMPAIGN_GATE_SIGHT:
        snprintf(text, size, "%s: %s is to be reached, and never was: %s", name, clause,
                 oracle_cover_text(gate->sight));
        break;
    case CAMPAIGN_GATE_REACH:
        snprintf(text, size, "%s: %s is to be reached and was never put to the test", name, clause);
        break;
    case CAMPAIGN_GATE_BREAKS:
        snprintf(text, size, "%s: %s is to be broken, and held", name, clause);
        break;
    case CAMPAIGN_GATE_ROOM:
        snprintf(text, size, "%s: runs ended because the simulated store ran out of room", name);
        break;
    case CAMPAIGN_GATE_LOST:
        snprintf(text, size,
                 "%s: %s is seen with the sound engine in %" PRIu32 " of the first %" PRIu32
                 " seeds, and here in none: %s",
                 name, clause, gate->taken, gate->seeds, gate->lost);
        break;
    case CAMPAIGN_GATE_CLAUSE:
        snprintf(text, size, "%s was never put to the test in any scenario", clause);
        break;
    case CAMPAIGN_GATE_KIND_COUNT:
    default:
        CHECK(false);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *campaign_oracle_name(enum oracle_name oracle)
{
    return oracle_name_text(oracle);
}

bool campaign_oracle_find(const char *name, enum oracle_name *found)
{
    for (int i = 0; i < ORACLE_NAME_COUNT; i++) {
        if (strcmp(name, oracle_name_text((enum oracle_name)i)) == 0) {
            *found = (enum oracle_name)i;
            return true;
        }
    }
    return false;
}

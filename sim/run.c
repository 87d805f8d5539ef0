#include "sim/run.h"

#include "model/check.h"
#include "scenarios/document.h"
#include "sim/digest.h"
#include "sim/former.h"
#include "sim/part.h"
#include "sim/run_inside.h"
#include "sim/weather.h"

#include <stdlib.h>
#include <string.h>

#define PUT_BACK_TICKS   7
#define CALM_STEPS_EACH  200   /* step bound of a run without faults, for each row, */
#define CALM_STEPS_SPARE 10000 /* plus these */
#define RECHECK_PAIRS    65536 /* of rows that a recheck may compare for each commit */
#define STEPS_SPARE      400   /* step bound of a phase: so many beyond 8 crash-free runs */

/* ---- steps ----------------------------------------------------------------------------------- */

/* Counts a step, adds it to the digest and shows it to the observer. */
void run_stepped(struct run *run, struct run_event *event)
{
    struct run_result *result = &run->result;
    result->steps++;
    result->digest = digest_step(run, event);
    if (run->effect.what != 0) {
        event->effect = &run->effect;
    }
    if (run->observer != NULL) {
        event->step = result->steps;
        event->now = run->world.now;
        event->rows = &run->world.rows;
        event->digest = result->digest;
        run->observer(run->observer_context, event);
    }
    run->effect.what = 0;
    run->world.now++;
}

/* Of several breaches in one turn the first counts. */
void run_broke(struct run *run, struct oracle_verdict breach)
{
    if (run->result.verdict == RUN_BROKEN) {
        return;
    }
    run->result.verdict = RUN_BROKEN;
    run->result.breach = breach;
    run->result.oracle = run->oracle.spoke;
    run->result.breach_table = run->oracle.table;
    run->result.breach_slot = run->oracle.slot;
}

static bool over(const struct run *run)
{
    return run->result.verdict != RUN_HELD;
}

void run_work(struct run *run, unsigned actor)
{
    const struct monitors *monitors = run->oracle.monitors;
    if (!performer_works(&run->actors[actor].performer, run->sabotage, &run->bundle)) {
        return;
    }
    run->effect = run->bundle.effect;
    if (monitors->effect != NULL) {
        struct oracle_verdict verdict =
            monitors->effect(&run->oracle, &run->world.rows, &run->effect);
        if (verdict.broken) {
            run_broke(run, verdict);
        }
    }
}

/* A recheck compares every row with every other. It comes as often as asked, and in a large world
 * so much later that it costs no more than the commits before it. */
static bool is_recheck_due(const struct run *run)
{
    if (run->recheck_every == 0 || run->commit_number % run->recheck_every != 0 ||
        run->oracle.monitors->recheck == NULL) {
        return false;
    }
    uint64_t rows = 0, number = run->commit_number / run->recheck_every;
    for (int t = 0; t < TABLE_COUNT; t++) {
        rows += run->world.rows.table[t].used;
    }
    return number % (1 + rows * rows / (RECHECK_PAIRS * run->recheck_every)) == 0;
}

/* Gives the writes of a commit to the oracles. */
void run_judge_commit(struct run *run, size_t mark)
{
    struct world *world = &run->world;
    struct oracle_verdict verdict = run->oracle.monitors->commit(
        &run->oracle, &world->rows, &world->changes[mark], world->change_count - mark);
    run->commit_number++;
    if (!verdict.broken && is_recheck_due(run)) {
        verdict = run->oracle.monitors->recheck(&run->oracle, &world->rows);
    }
    if (verdict.broken) {
        run_broke(run, verdict);
    }
}

static enum observed_end end_of(const struct run *run, bool committed)
{
    if (committed) {
        return OBSERVED_COMMITTED;
    }
    return run->outcome.kind == OUTCOME_REFUSED        ? OBSERVED_REFUSED
           : run->outcome.kind != OUTCOME_ABORTED      ? OBSERVED_LOST
           : run->outcome.aborted == ABORT_CONNECTIONS ? OBSERVED_TURNED_AWAY
                                                       : OBSERVED_ABORTED;
}

void run_judge_seen(struct run *run, bool committed, size_t mark)
{
    struct world *world = &run->world;
    struct oracle *oracle = &run->oracle;
    if (!oracle_observes(oracle) || over(run)) {
        return;
    }
    run->seen.ended = (uint8_t)end_of(run, committed);
    run->seen.taken = run->seen.ended == OBSERVED_REFUSED && run->outcome.refusal == REFUSED_EXISTS;
    run->seen.skipped = committed && run->outcome.skipped != 0;
    struct oracle_verdict verdict =
        oracle->monitors->transaction(oracle, &world->rows, &run->seen, &world->changes[mark],
                                      committed ? world->change_count - mark : 0);
    if (verdict.broken) {
        run_broke(run, verdict);
    }
}

/* Makes the commit final. Its changes stay in the log only if commits can be lost. */
void run_keep(struct run *run, size_t mark)
{
    if (!run->keeps_log) {
        world_keep(&run->world);
        return;
    }
    run->commits[run->commit_count++ % 8] = mark;
    run->commits_held += run->commits_held < 8;
    if (run->world.change_count > run->world.change_capacity / 2) { /* a long run drops the
                                                                       oldest */
        world_keep(&run->world);
        run->commits_held = 0;
    }
}

/* ---- who can run ----------------------------------------------------------------------------- */

struct glance run_glance(const struct run *run)
{
    struct glance glance = {.rows = &run->world.rows, .now = run->world.now};
    if (world_next_message(&run->world, &glance.next_message) == ROW_NONE) {
        glance.next_message = PROTOCOL_NEVER;
    }
    return glance;
}

/* The time from which on the actor can run. */
int64_t run_able_from(const struct run *run, unsigned actor, const struct glance *glance)
{
    const struct run_actor *run_actor = &run->actors[actor];
    if ((sessions_open(run->sessions) >> actor & 1) != 0) {
        return run->sessions->each[actor].state == SESSION_WAITS ? PROTOCOL_NEVER : glance->now;
    }
    if (run_actor->queues_for != PRINCIPAL_NONE &&
        run_is_full(run, (enum principal)run_actor->queues_for)) {
        return PROTOCOL_NEVER; /* a second refusal would change nothing (E-CUT-15) */
    }
    int64_t due = run_actor->performer.role->due(&run_actor->performer.actor, &run->rules, glance);
    return due < run_actor->paused_until ? run_actor->paused_until : due;
}

static uint32_t able(const struct run *run)
{
    struct glance glance = run_glance(run);
    uint32_t mask = 0;
    for (unsigned a = 0; a < run->actor_count; a++) {
        mask |= (uint32_t)(run_able_from(run, a, &glance) <= glance.now) << a;
    }
    if (run->former.there) {
        unsigned a = run_former(run);
        mask |= (uint32_t)(run_able_from(run, a, &glance) <= glance.now) << a;
    }
    return mask;
}

/* No fault keeps an actor from doing what it is due for, and no transaction is open. */
static bool is_free(const struct run *run)
{
    bool held = run->former.there || run->late_count != 0 || sessions_open(run->sessions) != 0;
    for (unsigned a = 0; a < run->actor_count; a++) {
        const struct run_actor *run_actor = &run->actors[a];
        held = held || run_actor->queues_for != PRINCIPAL_NONE ||
               run_actor->paused_until > run->world.now;
    }
    return !held;
}

/* Nobody means to do anything before `until`. */
static void judge_idle(struct run *run, int64_t until)
{
    struct oracle *oracle = &run->oracle;
    if (oracle->monitors->idle == NULL || !is_free(run)) {
        return;
    }
    struct oracle_verdict verdict = oracle->monitors->idle(oracle, &run->world.rows, until);
    if (verdict.broken) {
        run_broke(run, verdict);
    }
}

/* Moves time to the next moment at which an actor can run; false: there is none, the run is
 * quiescent. */
static bool wait_until_able(struct run *run)
{
    struct glance glance = run_glance(run);
    int64_t next = PROTOCOL_NEVER;
    for (unsigned a = 0; a < run->actor_count; a++) {
        int64_t from = run_able_from(run, a, &glance);
        next = from < next ? from : next;
    }
    if (run->former.there) {
        int64_t from = run_able_from(run, run_former(run), &glance);
        next = from < next ? from : next;
    }
    if (next == PROTOCOL_NEVER) {
        return false;
    }
    judge_idle(run, next);
    run->world.now = next;
    return true;
}

/* Asked of actors that have just begun: a search and a judge of a server have no others (PR4). */
bool run_is_quiet(const struct run *run)
{
    struct glance glance = run_glance(run);
    for (unsigned a = 0; a < run->actor_count; a++) {
        struct actor fresh;
        protocol_begin(&fresh, &run->rules, a);
        const struct role *role = protocol_role(&run->rules, a);
        if (role->is_done == NULL && role->due(&fresh, &run->rules, &glance) != PROTOCOL_NEVER) {
            return false;
        }
    }
    return true;
}

static void check_late(const struct run *run)
{
    uint32_t late = 0;
    for (unsigned l = 0; l < RUN_LATE_MAX; l++) {
        unsigned who = run->actor_count + l;
        bool open = who < run->sessions->count && run->sessions->each[who].state != SESSION_CLOSED;
        late += run->late[l].there;
        CHECK(open == (run->late[l].there && run->late[l].begun)); /* U4 */
    }
    CHECK(run->late_count == late); /* U4 */
}

static void check_former(const struct run *run)
{
    const struct run_actor *former = &run->actors[run_former(run)];
    bool mask[OBSERVED_CLIENTS_MAX] = {false};
    CHECK(run->former.of < run->actor_count);      /* FS1 */
    CHECK(run_former(run) < run->sessions->count); /* FS1 */
    CHECK(!run->settling);                         /* FS1 */
    mask[former->client] = true;
    for (unsigned a = 0; a < run->actor_count; a++) {
        CHECK(!mask[run->actors[a].client]); /* FS2 */
        mask[run->actors[a].client] = true;
    }
}

void run_check(const struct run *run)
{
    for (int g = 0; g < FAULT_GROUP_COUNT; g++) {
        CHECK(run->budget[g] <= run->scenario->faults.budget[g]); /* U4 */
    }
    for (unsigned a = 0; a < run->actor_count; a++) {
        const struct run_actor *run_actor = &run->actors[a];
        protocol_check(&run_actor->performer.actor, &run->rules, a);
        CHECK(run_actor->works_until == 0 || run_actor->works_on.what != 0); /* LW1 */
    }
    check_late(run);
    if (run->former.there) {
        check_former(run);
    }
    sessions_check(run->sessions);
}

_Thread_local struct run_sign *run_sign;

static void sign(const struct run *run)
{
    if (run_sign != NULL) {
        run_sign->at = run;
    }
}

/* Takes turns until the run is quiescent (true), a promise is broken or the bound is reached. Apart
 * from the caller's setjmp, which keeps its locals out of registers. */
static __attribute__((noinline)) bool take_turns(struct run *run, uint32_t end)
{
    while (!over(run) && run->result.steps < end) {
        uint32_t mask = able(run);
        if (mask != 0) {
            run_take_turn(run, choice_who(run->source, run->turns++, mask));
            if (run->late_count != 0) {
                run_mind_late(run);
            }
            CHECK_ALL(run_check(run));
        } else if (!wait_until_able(run) && !run_land_early(run) && !weather_replay_late(run)) {
            return true;
        }
    }
    return false;
}

static bool run_go_on(struct run *run, uint32_t steps_max)
{
    const uint32_t end = run->result.steps + steps_max;
    sign(run);
    check_trap = &run->trap;
    if (setjmp(run->trap.back) != 0) {
        run_bury(run); /* U5 */
    }
    bool quiet = take_turns(run, end);
    check_trap = NULL;
    sign(NULL);
    return quiet;
}

void run_check_alive(const struct run *run)
{
    if (run->result.verdict == RUN_DIED) {
        sign(run);
        check_failed(run->trap.claim, run->trap.file, run->trap.line);
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Late transactions end before faults stop. */
static void settle(struct run *run)
{
    run_drop_sessions(run, false);
    while (!over(run) && run_land_early(run)) {
    }
    if (over(run)) {
        return;
    }
    run->settling = true;
    choice_settle(run->source);
    for (unsigned a = 0; a < run->actor_count; a++) {
        run_start_anew(run, a);
    }
    former_end(run);
    struct run_event event = {.turn = RUN_SETTLE, .actor = CHOICE_NOBODY};
    run_stepped(run, &event);
}

/* Clears only what the previous run has written: there is room for the largest run, and most are
 * small. */
static void clear_ghosts(struct run *run, size_t cells)
{
    size_t marks = GHOST_MARKS(cells);
    const uint8_t *from = run->ghost_marks;
    while ((from = memchr(from, 1, marks - (size_t)(from - run->ghost_marks))) != NULL) {
        size_t block = (size_t)(from++ - run->ghost_marks), first = block * GHOST_BLOCK;
        size_t count = cells - first < GHOST_BLOCK ? cells - first : GHOST_BLOCK;
        memset(&run->ghosts[first], 0, count * sizeof *run->ghosts);
        run->ghost_marks[block] = 0;
    }
}

void run_begin_oracle(struct run *run)
{
    const struct monitors *monitors = sim_part_monitors(run->scenario->protocol);
    clear_ghosts(run, oracle_cells(monitors, &run->world.rows));
    oracle_begin(&run->oracle, monitors, &run->world.rows, run->ghosts);
    run->oracle.ghosts.marks = run->ghost_marks;
}

void run_begin(struct run *run, struct choice_source *source)
{
    world_reset(&run->world);
    sessions_begin(run->sessions, &run->world, run->primitives, &session_postgresql,
                   run->actor_count);
    run_begin_oracle(run);
    for (unsigned a = 0; a < run->actor_count; a++) {
        run->actors[a] = (struct run_actor){.client = (uint8_t)a};
        performer_begin(&run->actors[a].performer, &run->rules, a);
    }
    memcpy(run->budget, run->scenario->faults.budget, sizeof run->budget);
    run->late_count = 0;
    memset(run->late, 0, sizeof run->late);
    run->former = (struct run_former){.spare = (uint8_t)run->actor_count};
    run->settling = false;
    run->commit_count = 0;
    run->commits_held = 0;
    run->copies = 0;
    run->turns = 0;
    run->idle_turns = 0;
    run->source = source;
    memset(&run->outcome, 0, sizeof run->outcome);
    run->effect.what = 0;
    run->result = (struct run_result){.verdict = RUN_HELD, .digest = 1};
    if (source != NULL) {
        CHECK_ALL(choice_check(source));
    }
}

/* Half of all random runs begin to settle at a random step, before their work is done. */
static uint32_t weather_steps(struct run *run, uint32_t bound)
{
    uint32_t latest = 2 * run->crash_free_steps;
    uint32_t step = choice_amount(run->source, CHOICE_NOBODY, RUN_SETTLES_AT, 2 * latest + 1);
    return step == 0 || step > latest ? bound : step;
}

struct choice_source run_draw(const struct run *run, uint64_t seed)
{
    struct choice_strategy strategy = run->strategy;
    if (strategy.depth == 0) {
        return choice_random(seed, &run->scenario->faults);
    }
    if (strategy.length == 0) {
        strategy.length = run->crash_free_steps == 0 ? 1 : run->crash_free_steps;
    }
    return choice_pct(seed, &run->scenario->faults, &strategy, run->actor_count);
}

const struct run_result *run_once(struct run *run, struct choice_source *source)
{
    run_begin(run, source);
    uint32_t bound = 8 * run->crash_free_steps + STEPS_SPARE;
    run_go_on(run, weather_steps(run, bound));
    if (!over(run)) {
        settle(run);
        bool quiet = run_go_on(run, bound) && run_is_quiet(run); /* PR4 */
        if (!over(run)) {
            struct oracle_verdict verdict =
                sim_part_settled(&run->oracle, run->part, &run->world.rows, quiet);
            run->result.settled = verdict.broken;
            if (verdict.broken) {
                run_broke(run, verdict);
            }
        }
    }
    if (run->result.deaths > 0 && !over(run)) {
        run->result.verdict = RUN_DIED; /* U5 */
    }
    return &run->result;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The reference run: no fault, no sabotage; its rows are kept. */
static void run_crash_free(struct run *run)
{
    const struct sabotage *sabotage = run->sabotage;
    struct choice_source calm = choice_listed(NULL);
    sabotage_primitives(NULL, run->primitives);
    run->sabotage = NULL;
    run->calm = true;
    run_begin(run, &calm);
    uint32_t rows = 0;
    for (int t = 0; t < TABLE_COUNT; t++) {
        rows += run->world.rows.table[t].capacity;
    }
    run_go_on(run, CALM_STEPS_SPARE + CALM_STEPS_EACH * rows);
    run->crash_free_steps = run->result.steps;
    run->crash_free_transactions = run->result.transactions;
    run->calm = false;
    run->sabotage = sabotage;
    sabotage_primitives(sabotage, run->primitives);
    struct world other = run->crash_free;
    run->crash_free = run->world;
    run->world = other;
}

/* The oracles read the scenario's text independently. False: no memory. */
static bool make_expectation(struct run *run)
{
    const struct monitors *monitors = sim_part_monitors(run->scenario->protocol);
    struct document document;
    if (monitors->expect == NULL) {
        return true;
    }
    run->expected = calloc(1, sizeof *run->expected);
    if (run->expected == NULL ||
        !document_make(&document, run->scenario->text, run->scenario->text_size)) {
        return false;
    }
    monitors->expect(&document, run->expected);
    document_free(&document);
    run->oracle.expected = run->expected;
    return true;
}

bool run_make(struct run *run, const struct scenario *scenario, const struct sabotage *sabotage)
{
    bool keeps = scenario->faults.rate[FAULT_LOSSY_FAILOVER].times > 0;
    return run_make_deep(run, scenario, sabotage, keeps ? 1 << 16 : 1024);
}

bool run_make_deep(struct run *run, const struct scenario *scenario,
                   const struct sabotage *sabotage, size_t changes)
{
    memset(run, 0, sizeof *run);
    run->scenario = scenario;
    run->sabotage = sabotage;
    run->keeps_log = scenario->faults.rate[FAULT_LOSSY_FAILOVER].times > 0;
    run->part = sim_part_of(scenario->protocol);
    run->life = &life_interleaved;
    run->interleaves = !scenario->whole_transactions;
    run->has_presets = run->part->has_presets != NULL && run->part->has_presets(scenario);
    scenario_rules(scenario, scenario->timeout, PUT_BACK_TICKS, &run->rules);
    run->actor_count = run->rules.actors;
    struct world_capacity capacity = {.changes = changes};
    scenario_room(scenario, capacity.rows);
    run->sessions = calloc(1, sizeof *run->sessions);
    if (run->sessions == NULL || !world_make(&run->world, &capacity) ||
        !world_make(&run->crash_free, &capacity)) {
        run_free(run);
        return false;
    }
    size_t cells = oracle_cells(sim_part_monitors(scenario->protocol), &run->world.rows);
    run->ghosts = calloc(cells, sizeof *run->ghosts);
    run->ghost_marks = calloc(GHOST_MARKS(cells), 1);
    run->names = calloc(1, sizeof *run->names);
    if (run->ghosts == NULL || run->ghost_marks == NULL || run->names == NULL ||
        !make_expectation(run)) {
        run_free(run);
        return false;
    }
    digest_names_make(run->names, &run->world.rows);
    run_crash_free(run);
    return true;
}

void run_free(struct run *run)
{
    world_free(&run->world);
    world_free(&run->crash_free);
    free(run->ghosts);
    free(run->ghost_marks);
    free(run->expected);
    free(run->sessions);
    free(run->names);
    run->ghosts = NULL;
    run->ghost_marks = NULL;
    run->expected = NULL;
    run->sessions = NULL;
    run->names = NULL;
}

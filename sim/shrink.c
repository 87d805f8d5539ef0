#include "sim/shrink.h"

#include "scenarios/writer.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS_A_SCENARIO 600  /* search effort for a smaller scenario */
#define COST_OF_A_FAULT  4    /* in steps */
#define SEEDS_FOR_SHORT  4000 /* search effort for a short run of the smallest scenario */

/* A candidate: a run made for a scenario, and the shortest list known to break the clause there. */
struct attempt {
    struct scenario scenario;
    struct run run;
    struct choice_list list;
    struct choice items[SCHEDULE_CHOICES_MAX];
    uint32_t cost;  /* of the list: see cost_of */
    uint32_t steps; /* of the run whose cost was computed last */
    bool made;
};

struct shrinking {
    const struct schedule *schedule;
    const bool *without;
    struct attempt *best, *other;
    struct choice_list scratch;
    struct choice items[SCHEDULE_CHOICES_MAX];
    uint32_t tried;
};

/* ---- running --------------------------------------------------------------------------------- */

static bool shrink_make_run(const struct shrinking *work, struct attempt *attempt)
{
    const struct schedule *schedule = work->schedule;
    attempt->made = run_make(&attempt->run, &attempt->scenario,
                             schedule->sabotaged ? &schedule->sabotage : NULL);
    if (attempt->made && work->without != NULL) {
        memcpy(attempt->run.oracle.off, work->without, sizeof attempt->run.oracle.off);
    }
    return attempt->made;
}

static void unmake_run(struct attempt *attempt)
{
    if (attempt->made) {
        run_free(&attempt->run);
        attempt->made = false;
    }
}

static bool breaks_same(const struct shrinking *work, const struct run_result *result)
{
    return result->verdict == RUN_BROKEN && result->breach.clause == work->schedule->broken;
}

/* The reading effort: the steps, and four times as much for each fault. */
static uint32_t cost_of(const struct run_result *result)
{
    uint32_t faults = 0;
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        faults += result->fired[kind];
    }
    return result->steps + COST_OF_A_FAULT * faults;
}

/* Runs a list; UINT32_MAX if it does not break the clause, else its cost. */
static uint32_t cost_of_list(struct shrinking *work, struct attempt *attempt,
                             const struct choice_list *list)
{
    struct choice_source source = choice_listed(list);
    const struct run_result *result = run_once(&attempt->run, &source);
    work->tried++;
    attempt->steps = result->steps;
    return breaks_same(work, result) ? cost_of(result) : UINT32_MAX;
}

/* Runs a seed with its choices recorded. */
static bool record_seed(struct run *run, uint64_t seed, struct choice_list *list)
{
    struct choice_source source = run_draw(run, seed);
    list->count = 0;
    list->overflowed = false;
    source.record = list;
    const struct run_result *result = run_once(run, &source);
    choice_list_sort(list);
    return result->verdict == RUN_BROKEN && !list->overflowed;
}

bool shrink_record(struct schedule *schedule, uint64_t seed, const bool *without)
{
    struct run *run = calloc(1, sizeof *run);
    bool made = run != NULL &&
                run_make(run, schedule->scenario, schedule->sabotaged ? &schedule->sabotage : NULL);
    if (made && without != NULL) {
        memcpy(run->oracle.off, without, sizeof run->oracle.off);
    }
    if (made) {
        run->strategy = schedule->strategy;
    }
    schedule->breaks = made && record_seed(run, seed, &schedule->choices);
    schedule->seed = seed;
    if (schedule->breaks) {
        schedule->broken = run->result.breach.clause;
    }
    if (made) {
        run_free(run);
    }
    free(run);
    return schedule->breaks;
}

/* ---- smaller scenarios ----------------------------------------------------------------------- */

static void copy_list(struct choice_list *to, const struct choice_list *from)
{
    memcpy(to->items, from->items, from->count * sizeof *from->items);
    to->count = from->count;
}

/* The seed whose run breaks the clause soonest, if it is sooner than the best so far. */
static void search_seeds(struct shrinking *work, struct attempt *attempt, uint32_t seeds,
                         bool first_will_do)
{
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        work->tried++;
        bool broken = record_seed(&attempt->run, seed, &work->scratch);
        if (!broken || !breaks_same(work, &attempt->run.result) ||
            cost_of(&attempt->run.result) >= attempt->cost) {
            continue;
        }
        uint32_t cost = cost_of_list(work, attempt, &work->scratch);
        if (cost < attempt->cost) {
            attempt->cost = cost;
            copy_list(&attempt->list, &work->scratch);
            if (first_will_do) {
                return;
            }
        }
    }
}

/* Makes `other` the scenario with this text, with the faults of the best one allowed. */
static bool load_other(struct shrinking *work, const char *text, size_t size)
{
    struct attempt *other = work->other;
    struct error error;
    unmake_run(other);
    if (size == 0 || !scenario_parse(text, size, "shrunk", &other->scenario, &error)) {
        return false;
    }
    other->scenario.faults = work->best->scenario.faults;
    other->cost = UINT32_MAX;
    other->list.count = 0;
    return shrink_make_run(work, other);
}

/* Keeps a smaller scenario if the clause can be broken in it, by the current list or by a new
 * search. */
static bool try_scenario(struct shrinking *work, const struct scenario *smaller, const bool *gone)
{
    char text[SCENARIO_TEXT_SIZE_MAX];
    if (!load_other(work, text, scenario_write(smaller, gone, text, sizeof text))) {
        return false;
    }
    copy_list(&work->other->list, &work->best->list);
    work->other->cost = cost_of_list(work, work->other, &work->other->list);
    if (work->other->cost == UINT32_MAX) {
        search_seeds(work, work->other, SEEDS_A_SCENARIO, true);
    }
    if (work->other->cost == UINT32_MAX) {
        return false;
    }
    struct attempt *better = work->other;
    work->other = work->best;
    work->best = better;
    return true;
}

/* A node and all below it; false if that is everything. */
static bool mark_gone(const struct graph *graph, uint16_t node, bool *gone)
{
    memset(gone, 0, GRAPH_NODES_MAX * sizeof *gone);
    gone[node] = true;
    for (uint16_t n = 0; n < graph->node_count; n++) { /* parents have lower numbers (GR1) */
        for (uint16_t i = 0; i < graph->nodes[n].edge_count; i++) {
            const struct graph_edge *edge = &graph->edges[graph->nodes[n].first_edge + i];
            if (edge->rounds == 0 && gone[n]) {
                gone[edge->to] = true;
            }
        }
    }
    return node != 0;
}

static bool drop_some_activity(struct shrinking *work)
{
    bool gone[GRAPH_NODES_MAX];
    for (uint16_t node = 1; node < work->best->scenario.graph.node_count; node++) {
        if (mark_gone(&work->best->scenario.graph, node, gone) &&
            try_scenario(work, &work->best->scenario, gone)) {
            return true;
        }
    }
    return false;
}

static bool drop_some_jobs(struct shrinking *work)
{
    uint32_t jobs = work->best->scenario.jobs;
    const uint32_t fewer[] = {1, jobs / 2, jobs - 1};
    for (size_t i = 0; i < COUNT(fewer); i++) {
        if (fewer[i] >= 1 && fewer[i] < jobs) {
            struct scenario *smaller = &work->other->scenario;
            unmake_run(work->other);
            *smaller = work->best->scenario;
            smaller->jobs = fewer[i];
            if (try_scenario(work, smaller, NULL)) {
                return true;
            }
        }
    }
    return false;
}

/* Makes the workload smaller in the protocol's own ways. */
static bool drop_something_else(struct shrinking *work)
{
    for (unsigned way = 0;; way++) {
        struct scenario *smaller = &work->other->scenario;
        unmake_run(work->other);
        *smaller = work->best->scenario;
        if (!scenario_smaller(smaller, way)) {
            return false;
        }
        if (try_scenario(work, smaller, NULL)) {
            return true;
        }
    }
}

static bool drop_some_workers(struct shrinking *work)
{
    uint32_t workers = work->best->scenario.workers;
    for (uint32_t fewer = 1; fewer < workers; fewer++) {
        struct scenario *smaller = &work->other->scenario;
        unmake_run(work->other);
        *smaller = work->best->scenario;
        smaller->workers = fewer;
        if (try_scenario(work, smaller, NULL)) {
            return true;
        }
    }
    return false;
}

static void shrink_scenario(struct shrinking *work)
{
    while (drop_some_jobs(work) || drop_some_activity(work) || drop_something_else(work) ||
           drop_some_workers(work)) {
    }
}

/* ---- shorter lists --------------------------------------------------------------------------- */

static void shrink_leave_out(const struct choice_list *list, size_t first, size_t count,
                             struct choice_list *out)
{
    memcpy(out->items, list->items, first * sizeof *list->items);
    memcpy(out->items + first, list->items + first + count,
           (list->count - first - count) * sizeof *list->items);
    out->count = list->count - count;
}

/* Keeps the scratch list if it breaks the clause at no higher cost. */
static bool keep_if_no_worse(struct shrinking *work)
{
    uint32_t cost = cost_of_list(work, work->best, &work->scratch);
    if (cost > work->best->cost) {
        return false;
    }
    work->best->cost = cost;
    copy_list(&work->best->list, &work->scratch);
    return true;
}

/* Removes chunks of every size, the largest first, until no entry can be removed. */
static void shrink_list(struct shrinking *work)
{
    struct choice_list *list = &work->best->list;
    bool spared = true;
    while (spared) {
        spared = false;
        for (size_t chunk = list->count == 0 ? 0 : list->count; chunk > 0; chunk /= 2) {
            for (size_t at = 0; at + chunk <= list->count;) {
                shrink_leave_out(list, at, chunk, &work->scratch);
                if (keep_if_no_worse(work)) {
                    spared = true;
                } else {
                    at += chunk;
                }
            }
        }
    }
}

/* Removes an entry that stopped a transaction or took a turn of its own, and moves all later turns
 * one ahead: else they would fall to other actors. */
static bool drop_turn(struct shrinking *work, size_t which)
{
    const struct choice_list *list = &work->best->list;
    for (size_t i = 0; i < list->count && list->items[i].why == CHOICE_WHO; i++) {
        uint32_t from = list->items[i].ordinal;
        shrink_leave_out(list, which, 1, &work->scratch);
        for (size_t j = 0; j < work->scratch.count; j++) {
            struct choice *item = &work->scratch.items[j];
            item->ordinal -= item->why == CHOICE_WHO && item->ordinal >= from && from > 0;
        }
        choice_list_sort(&work->scratch);
        if (keep_if_no_worse(work)) {
            return true;
        }
    }
    return false;
}

static void shrink_turns(struct shrinking *work)
{
    const struct choice_list *list = &work->best->list;
    for (size_t i = list->count; i-- > 0;) {
        if (i < list->count && list->items[i].why != CHOICE_WHO && drop_turn(work, i)) {
            i = list->count; /* from the end again */
        }
    }
}

/* Halves amounts and stops while the clause still breaks. */
static void shrink_amounts(struct shrinking *work)
{
    struct choice_list *list = &work->best->list;
    for (size_t i = 0; i < list->count; i++) {
        while (list->items[i].why >= CHOICE_AMOUNT && list->items[i].value > 1) {
            copy_list(&work->scratch, list);
            work->scratch.items[i].value /= 2;
            if (!keep_if_no_worse(work)) {
                break;
            }
        }
    }
}

/* ---- the nearest run that passes ------------------------------------------------------------- */

/* Every list with one entry left out passes; else the entry would have been removed. Faults are
 * tried first, then choices of who runs. */
static bool find_passing(struct shrinking *work, struct choice_list *passing)
{
    struct attempt *best = work->best;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = best->list.count; i-- > 0;) {
            if ((best->list.items[i].why == CHOICE_FAULT) != (pass == 0)) {
                continue;
            }
            shrink_leave_out(&best->list, i, 1, &work->scratch);
            struct choice_source source = choice_listed(&work->scratch);
            work->tried++;
            if (run_once(&best->run, &source)->verdict == RUN_HELD) {
                copy_list(passing, &work->scratch);
                return true;
            }
        }
    }
    return false;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct attempt *new_attempt(void)
{
    struct attempt *attempt = calloc(1, sizeof *attempt);
    if (attempt != NULL) {
        attempt->list =
            (struct choice_list){.items = attempt->items, .capacity = SCHEDULE_CHOICES_MAX};
    }
    return attempt;
}

static void free_attempt(struct attempt *attempt)
{
    if (attempt != NULL) {
        unmake_run(attempt);
        free(attempt);
    }
}

static bool shrink_begin(struct shrinking *work, struct shrink_report *report)
{
    struct attempt *best = work->best;
    best->scenario = *work->schedule->scenario;
    copy_list(&best->list, &work->schedule->choices);
    if (!shrink_make_run(work, best)) {
        return false;
    }
    best->cost = cost_of_list(work, best, &best->list);
    report->steps_before = best->steps;
    report->choices_before = best->list.count;
    return best->cost != UINT32_MAX;
}

static void shrink_finish(struct shrinking *work, struct schedule *schedule,
                          struct choice_list *passing, struct shrink_report *report)
{
    *schedule->scenario = work->best->scenario;
    copy_list(&schedule->choices, &work->best->list);
    cost_of_list(work, work->best, &work->best->list);
    report->steps_after = work->best->steps;
    report->has_passing = passing != NULL && find_passing(work, passing);
    report->choices_after = work->best->list.count;
    report->tried = work->tried;
}

bool shrink(struct schedule *schedule, const bool *without, struct choice_list *passing,
            struct shrink_report *report)
{
    *report = (struct shrink_report){0};
    struct shrinking *work = calloc(1, sizeof *work);
    struct attempt *one = new_attempt(), *two = new_attempt();
    bool shrunk = false;
    if (work != NULL && one != NULL && two != NULL) {
        *work =
            (struct shrinking){.schedule = schedule, .without = without, .best = one, .other = two};
        work->scratch =
            (struct choice_list){.items = work->items, .capacity = SCHEDULE_CHOICES_MAX};
        shrunk = shrink_begin(work, report);
    }
    if (shrunk) {
        shrink_scenario(work);
        search_seeds(work, work->best, SEEDS_FOR_SHORT, false);
        shrink_list(work);
        shrink_turns(work);
        shrink_list(work);
        shrink_amounts(work);
        shrink_finish(work, schedule, passing, report);
    }
    free_attempt(one);
    free_attempt(two);
    free(work);
    return shrunk;
}

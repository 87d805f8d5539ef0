/* Runs: equal choices give equal runs (U1), a record replays, budgets hold, every fault does what
 * its name says, and what the engines send is what the enumeration of sabotages knows. */
#include "sim/run.h"

#include "model/tests/fires.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS      UINT64_C(200)
#define RECORD_MAX 20000

/* ---- making ---------------------------------------------------------------------------------- */

struct stage {
    struct scenario *scenario;
    struct run *run;
};

static struct stage begin_text(const char *text)
{
    struct stage stage = {calloc(1, sizeof *stage.scenario), calloc(1, sizeof *stage.run)};
    struct error error;
    cr_assert(scenario_parse(text, strlen(text), "test", stage.scenario, &error), "%s", error.text);
    cr_assert(run_make(stage.run, stage.scenario, NULL));
    return stage;
}

static struct stage begin_named(const char *name)
{
    struct stage stage = {calloc(1, sizeof *stage.scenario), calloc(1, sizeof *stage.run)};
    struct error error;
    cr_assert(scenario_load(name, stage.scenario, &error), "%s", error.text);
    cr_assert(run_make(stage.run, stage.scenario, NULL));
    return stage;
}

static void end(struct stage *stage)
{
    run_free(stage->run);
    free(stage->run);
    free(stage->scenario);
}

/* No transaction is open over turns of others, if none is stopped either. */
static void no_commit_is_late(struct stage *stage)
{
    stage->scenario->faults.rate[FAULT_COMMIT_LATE].times = 0;
    stage->scenario->faults.rate[FAULT_CRASH_COMMIT_LATE].times = 0;
}

static struct run_result run_seed(struct stage *stage, uint64_t seed)
{
    struct choice_source source = choice_random(seed, &stage->scenario->faults);
    return *run_once(stage->run, &source);
}

static struct run_result run_list(struct stage *stage, struct choice *items, size_t count)
{
    struct choice_list list = {.items = items, .count = count, .capacity = count};
    choice_list_sort(&list);
    struct choice_source source = choice_listed(&list);
    return *run_once(stage->run, &source);
}

static bool same_result(const struct run_result *a, const struct run_result *b)
{
    return a->verdict == b->verdict && a->digest == b->digest && a->steps == b->steps &&
           a->transactions == b->transactions && a->settled == b->settled &&
           (a->verdict != RUN_BROKEN ||
            (a->breach.clause == b->breach.clause && a->oracle == b->oracle &&
             a->breach_table == b->breach_table && a->breach_slot == b->breach_slot)) &&
           memcmp(a->fired, b->fired, sizeof a->fired) == 0;
}

/* ---- (U1) ------------------------------------------------------------------------------------ */

/* In two runs made apart, once forwards and once backwards: nothing stays of an earlier run. */
Test(run, a_seed_is_the_same_run_whatever_ran_before)
{
    for (size_t i = 0; i < scenario_count(); i++) {
        struct stage one = begin_named(scenario_name(i)), other = begin_named(scenario_name(i));
        static struct run_result results[SEEDS];
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            results[seed] = run_seed(&one, seed);
        }
        for (uint64_t seed = SEEDS; seed-- > 0;) {
            struct run_result again = run_seed(&other, seed);
            cr_assert(same_result(&results[seed], &again), "%s, seed %d", scenario_name(i),
                      (int)seed);
        }
        end(&one);
        end(&other);
    }
}

static void count_events(void *context, const struct run_event *event)
{
    (void)event;
    (*(int *)context)++;
}

Test(run, an_observer_sees_every_step_and_changes_nothing)
{
    struct stage stage = begin_named("tree-7");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct run_result alone = run_seed(&stage, seed);
        int events = 0;
        stage.run->observer = count_events;
        stage.run->observer_context = &events;
        struct run_result watched = run_seed(&stage, seed);
        stage.run->observer = NULL;
        cr_assert(same_result(&alone, &watched));
        cr_assert_eq(events, (int)watched.steps);
    }
    end(&stage);
}

Test(run, other_seeds_are_other_runs)
{
    struct stage stage = begin_named("tree-3");
    static uint64_t digests[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        digests[seed] = run_seed(&stage, seed).digest;
        for (uint64_t earlier = 0; earlier < seed; earlier++) {
            cr_assert_neq(digests[earlier], digests[seed]);
        }
    }
    end(&stage);
}

/* (CO2) */
Test(run, a_run_replayed_from_its_record_is_the_same_run)
{
    static struct choice recorded[RECORD_MAX];
    for (size_t i = 0; i < scenario_count(); i++) {
        struct stage stage = begin_named(scenario_name(i));
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct choice_list record = {.items = recorded, .capacity = RECORD_MAX};
            stage.run->strategy.depth = seed % 2 == 0 ? 0 : CHOICE_DEPTH_USUAL;
            struct choice_source drawn = run_draw(stage.run, seed);
            drawn.record = &record;
            struct run_result first = *run_once(stage.run, &drawn);
            cr_assert_not(record.overflowed);
            struct run_result again = run_list(&stage, recorded, record.count);
            cr_assert(same_result(&first, &again), "%s, seed %d: %u steps, then %u",
                      scenario_name(i), (int)seed, first.steps, again.steps);
        }
        end(&stage);
    }
}

/* ---- both levels ----------------------------------------------------------------------------- */

/* (LF1), (SS4) A transaction that is never stopped comes to the same by sessions as at once: rows, changes
 * and outcomes of whole runs, step by step, as their digests tell. */
Test(run, by_statement_is_the_same_as_at_once_where_nobody_is_stopped)
{
    struct life apart = life_interleaved;
    apart.follows = true; /* nothing lives at once */
    uint64_t transactions = 0;
    for (size_t i = 0; i < scenario_count(); i++) {
        struct stage stage = begin_named(scenario_name(i));
        stage.run->interleaves = false;
        no_commit_is_late(&stage);
        stage.scenario->faults.rate[FAULT_SUCCESSOR].times = 0; /* which no store follows */
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            stage.run->life = &life_interleaved;
            struct run_result at_once = run_seed(&stage, seed);
            stage.run->life = &apart;
            struct run_result by_statement = run_seed(&stage, seed);
            cr_assert(same_result(&at_once, &by_statement), "%s, seed %d: %u steps, then %u",
                      scenario_name(i), (int)seed, at_once.steps, by_statement.steps);
            transactions += by_statement.transactions;
        }
        end(&stage);
    }
    cr_expect_gt(transactions, 10000);
}

static void count_turns(void *context, const struct run_event *event)
{
    uint64_t *turns = context;
    turns[event->turn]++;
    bool deadlock = event->turn == RUN_TRANSACTION && event->outcome->kind == OUTCOME_ABORTED &&
                    event->outcome->aborted == ABORT_DEADLOCK && event->fault != FAULT_DEADLOCK;
    turns[RUN_LANDS + 1] += deadlock;
}

/* Transactions are held up, wait for each other, and die between two statements. */
Test(run, at_statement_level_transactions_are_held_up_and_wait_for_each_other)
{
    static uint64_t turns[RUN_LANDS + 2];
    struct stage stage = begin_named("crowd");
    stage.run->observer = count_turns;
    stage.run->observer_context = turns;
    for (uint64_t seed = 0; seed < 40 * SEEDS; seed++) {
        cr_assert_eq(run_seed(&stage, seed).verdict, RUN_HELD, "seed %d", (int)seed);
    }
    cr_expect_gt(turns[RUN_STOPS], 100);
    cr_expect_gt(turns[RUN_WAITS], 10);
    stage.run->interleaves = false;
    no_commit_is_late(&stage);
    memset(turns, 0, sizeof turns);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run_seed(&stage, seed);
    }
    cr_expect_eq(turns[RUN_STOPS] + turns[RUN_WAITS] + turns[RUN_LANDS + 1], 0);
    end(&stage);
}

static bool same_choice(const struct choice *left, const struct choice *right)
{
    return left->why == right->why && left->actor == right->actor &&
           left->ordinal == right->ordinal && left->value == right->value;
}

/* A record replayed and recorded is the same record: nothing is lost or made up on the way. */
Test(run, a_replay_records_what_was_recorded)
{
    static struct choice recorded[RECORD_MAX], again[RECORD_MAX];
    struct stage stage = begin_named("crowd");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct choice_list record = {.items = recorded, .capacity = RECORD_MAX};
        struct choice_source drawn = choice_random(seed, &stage.scenario->faults);
        drawn.record = &record;
        run_once(stage.run, &drawn);
        choice_list_sort(&record);
        struct choice_list second = {.items = again, .capacity = RECORD_MAX};
        struct choice_source listed = choice_listed(&record);
        listed.record = &second;
        run_once(stage.run, &listed);
        choice_list_sort(&second);
        size_t left_out = 0;
        for (size_t i = 0, j = 0; i < record.count; i++) {
            bool same = j < second.count && same_choice(&recorded[i], &again[j]);
            /* the detail of a fault that found nothing to fall on need not come again */
            cr_assert(same || recorded[i].why == CHOICE_AMOUNT, "seed %d", (int)seed);
            left_out += !same;
            j += same;
        }
        cr_assert_eq(second.count + left_out, record.count);
    }
    end(&stage);
}

/* ---- crash-free ------------------------------------------------------------------------------ */

Test(run, a_run_without_faults_has_a_known_number_of_transactions)
{
    static const struct {
        const char *name;
        uint32_t transactions;
    } cases[] = {{"tree-3", 38}, {"tree-7", 86}, {"peer-3", 29}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct stage stage = begin_named(cases[i].name);
        cr_expect_eq(stage.run->crash_free_transactions, cases[i].transactions, "%s: %u",
                     cases[i].name, stage.run->crash_free_transactions);
        cr_expect_eq(stage.run->crash_free_steps, cases[i].transactions);
        struct run_result calm = run_list(&stage, NULL, 0);
        cr_expect_eq(calm.verdict, RUN_HELD);
        cr_expect_eq(calm.transactions, cases[i].transactions);
        cr_expect_eq(calm.steps, cases[i].transactions + 1, "and the step at which faults stop");
        end(&stage);
    }
}

/* ---- judged ---------------------------------------------------------------------------------- */

/* Monitors that fold over commits and the slow look at all rows must say the same: after every
 * commit, or in scenarios with hundreds of them after every fourth. */
Test(run, the_slow_recheck_agrees)
{
    for (size_t i = 0; i < scenario_count(); i++) {
        struct stage stage = begin_named(scenario_name(i));
        stage.run->recheck_every = stage.run->crash_free_transactions > 300 ? 4 : 1;
        int broken = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct run_result result = run_seed(&stage, seed);
            cr_assert_neq(result.verdict, RUN_STORE_FULL, "%s, seed %d", scenario_name(i),
                          (int)seed);
            cr_assert(result.verdict == RUN_HELD ||
                          scenario_breaks(stage.scenario, result.breach.clause),
                      "%s, seed %d: %s", scenario_name(i), (int)seed, result.breach.why);
            broken +=
                result.verdict == RUN_BROKEN && result.breach.clause == stage.scenario->broken;
        }
        cr_expect_eq(broken > 0, stage.scenario->breaks, "%s", scenario_name(i));
        end(&stage);
    }
}

Test(run, budgets_are_kept_and_every_allowed_kind_falls_somewhere)
{
    uint64_t fell[FAULT_KIND_COUNT] = {0};
    for (size_t i = 0; i < scenario_count(); i++) {
        struct stage stage = begin_named(scenario_name(i));
        const struct fault_plan *plan = &stage.scenario->faults;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct run_result result = run_seed(&stage, seed);
            uint32_t spent[FAULT_GROUP_COUNT] = {0};
            for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
                spent[fault_get((enum fault_kind)kind)->group] += result.fired[kind];
                fell[kind] += result.fired[kind];
                cr_assert(result.fired[kind] == 0 || plan->rate[kind].times > 0,
                          "%s: %s is not allowed", scenario_name(i),
                          fault_get((enum fault_kind)kind)->name);
            }
            for (int group = 1; group < FAULT_GROUP_COUNT; group++) {
                cr_assert_leq(spent[group], plan->budget[group], "%s, seed %d: %s",
                              scenario_name(i), (int)seed,
                              fault_group_get((enum fault_group)group)->limit);
            }
        }
        end(&stage);
    }
    for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        cr_expect_gt(fell[kind], 0U, "%s never fell", fault_get((enum fault_kind)kind)->name);
    }
}

/* ---- what the engines send ------------------------------------------------------------------- */

struct pairs {
    const struct protocol *protocol; /* of the scenario that runs */
    bool seen[PROTOCOLS_MAX][BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];
    int unknown; /* pairs that the enumeration does not know */
};

/* A trespass is tried on purpose, by no engine. */
static bool is_of_engine(const struct run_event *event)
{
    return event->turn == RUN_TRANSACTION &&
           !bundle_has((enum bundle_name)event->bundle->name, TRAIT_TRESPASSES);
}

static void collect(void *context, const struct run_event *event)
{
    struct pairs *pairs = context;
    for (int i = 0; is_of_engine(event) && i < event->bundle->count; i++) {
        enum bundle_name bundle = (enum bundle_name)event->bundle->name;
        enum primitive_id primitive = (enum primitive_id)event->bundle->calls[i].primitive;
        pairs->seen[protocol_place(pairs->protocol)][bundle][primitive] = true;
        pairs->unknown += !sabotage_knows(pairs->protocol, bundle, primitive);
    }
}

/* The shapes of every book in faults/ are what the engines send, all of it and nothing else. */
Test(run, the_enumeration_of_sabotages_is_complete)
{
    static struct pairs pairs;
    for (size_t i = 0; i < scenario_count(); i++) {
        struct stage stage = begin_named(scenario_name(i));
        pairs.protocol = stage.run->scenario->protocol;
        stage.run->observer = collect;
        stage.run->observer_context = &pairs;
        run_list(&stage, NULL, 0);
        for (uint64_t seed = 0; seed < 10 * SEEDS; seed++) {
            run_seed(&stage, seed);
        }
        end(&stage);
    }
    cr_expect_eq(pairs.unknown, 0);
    for (size_t i = 0; i < protocol_count() * BUNDLE_NAME_COUNT * PRIMITIVE_COUNT; i++) {
        size_t primitive = i % PRIMITIVE_COUNT, bundle = i / PRIMITIVE_COUNT % BUNDLE_NAME_COUNT;
        size_t protocol = i / PRIMITIVE_COUNT / BUNDLE_NAME_COUNT;
        bool known = sabotage_knows(protocol_at(protocol), (enum bundle_name)bundle,
                                    (enum primitive_id)primitive);
        cr_expect_eq(pairs.seen[protocol][bundle][primitive], known, "%s, %s: %s",
                     bundle_name_text((enum bundle_name)bundle), primitive_table[primitive].name,
                     known ? "never sent" : "not known");
    }
}

/* Which protocols' bundles were seen that only look: what an unknown outcome is resolved by. */
struct looks {
    const struct protocol *protocol;
    bool seen[PROTOCOLS_MAX][BUNDLE_NAME_COUNT];
    bool torn[PROTOCOLS_MAX][BUNDLE_NAME_COUNT]; /* of more than one moment */
};

static bool only_reads(const struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        const struct primitive *primitive = &primitive_table[bundle->calls[i].primitive];
        for (int op = 0; op < primitive->op_count; op++) {
            uint8_t kind = primitive->ops[op].kind;
            if (kind != OP_READ && kind != OP_FIND && kind < OP_LET_EQUAL) {
                return false;
            }
        }
    }
    return true;
}

static bool is_one_statement(const struct primitive *primitive)
{
    return primitive->one_statement || primitive->op_count == 1;
}

/* One statement; several, if the transaction has one snapshot (the pipeline's read). A look shows
 * several seqs, a statement each, and nothing is concluded from two of them together. */
static bool is_of_one_moment(const struct bundle *bundle)
{
    bool each = true;
    for (int i = 0; i < bundle->count; i++) {
        each = each && is_one_statement(&primitive_table[bundle->calls[i].primitive]);
    }
    return bundle->isolation == SERIALIZABLE ||
           (each && (bundle->count == 1 || bundle->name == BUNDLE_SEQ_LOOK));
}

static void collect_looks(void *context, const struct run_event *event)
{
    struct looks *looks = context;
    if (is_of_engine(event) && only_reads(event->bundle)) {
        size_t place = protocol_place(looks->protocol);
        looks->seen[place][event->bundle->name] = true;
        looks->torn[place][event->bundle->name] |= !is_of_one_moment(event->bundle);
    }
}

static void expect_looks(const struct looks *looks, bool expected[PROTOCOLS_MAX][BUNDLE_NAME_COUNT])
{
    for (size_t i = 0; i < protocol_count() * BUNDLE_NAME_COUNT; i++) {
        size_t place = i / BUNDLE_NAME_COUNT, bundle = i % BUNDLE_NAME_COUNT;
        const char *protocol = protocol_at(place)->name;
        const char *text = bundle_name_text((enum bundle_name)bundle);
        cr_expect_not(looks->torn[place][bundle],
                      "%s: \"%s\" reads in several statements, and is not SERIALIZABLE", protocol,
                      text);
        cr_expect_eq(looks->seen[place][bundle], expected[place][bundle], "%s: \"%s\" %s", protocol,
                     text,
                     expected[place][bundle] ? "is in `expected`, and never sent or not only a look"
                                             : "only reads, and is not in `expected`");
    }
}

/* Read in several statements, a row can be one that never was: then what is concluded about the
 * outcome is about nobody's transaction. The inbox has no such read: it asks again. */
Test(run, what_resolves_an_unknown_outcome_sees_one_moment)
{
    SETTLES(ERRATUM_ACL_13);
    SETTLES(ERRATUM_SEQ_11);
    static const struct {
        const char *protocol;
        enum bundle_name bundle;
    } expected[] = {
        {"activity", BUNDLE_READ}, {"legacy", BUNDLE_READ},         {"key", BUNDLE_READ},
        {"pipeline", BUNDLE_READ}, {"pipeline", BUNDLE_SWEEP_LOOK}, {"seq", BUNDLE_SEQ_READ},
        {"seq", BUNDLE_SEQ_LOOK}};
    static bool looking[PROTOCOLS_MAX][BUNDLE_NAME_COUNT];
    for (size_t i = 0; i < COUNT(expected); i++) {
        looking[protocol_place(protocol_find(expected[i].protocol))][expected[i].bundle] = true;
    }
    static struct looks looks;
    for (size_t i = 0; i < scenario_count(); i++) {
        struct stage stage = begin_named(scenario_name(i));
        looks.protocol = stage.run->scenario->protocol;
        stage.run->observer = collect_looks;
        stage.run->observer_context = &looks;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            run_seed(&stage, seed);
        }
        end(&stage);
    }
    expect_looks(&looks, looking);
}

static const struct run *forgetful;

/* Of an actor of the run what is right; one that has just begun would have something to do. */
static int64_t due_when_new(const struct actor *actor, const struct rules *rules,
                            const struct glance *glance)
{
    bool known = false;
    for (unsigned a = 0; a < forgetful->actor_count; a++) {
        known = known || actor == &forgetful->actors[a].performer.actor;
    }
    return known ? protocol_consumer_due(actor, rules, glance) : glance->now;
}

Test(run, what_only_an_actors_memory_knows_to_be_done_is_work_that_is_left) /* PR4 */
{
    struct stage stage = begin_named("inbox");
    static struct protocol altered;
    altered = *stage.run->rules.protocol;
    altered.roles[1].due = due_when_new;
    cr_expect_eq(run_seed(&stage, 1).verdict, RUN_HELD);
    forgetful = stage.run;
    stage.run->rules.protocol = &altered;
    struct run_result result = run_seed(&stage, 1);
    cr_expect_eq(result.verdict, RUN_BROKEN);
    cr_expect_eq(result.breach.clause, CLAUSE_BOX_2);
    end(&stage);
}

/* ---- each fault ------------------------------------------------------------------------------ */

/* One activity, one worker: its transactions, as choices count them. */
enum {
    CLAIM_LEG1,
    ENTER_LEG1,
    LEG1,
    ACK_LEG1,
    CLAIM_TASK,
    ANSWER,
    ACK_TASK,
    CLAIM_LEG2,
    ENTER_LEG2,
    STEP_1,
    STEP_2,
    STEP_3,
    ACK_LEG2,
    CLAIM_AGAIN
};
enum { SLOT_LEG1, SLOT_TASK, SLOT_LEG2 }; /* its messages, in the order they are published */

static const char alone[] =
    "name: alone\nabout: one activity\ncommits: literal\nworkers: 1\ngraph: {trigger: []}\n"
    "faults: {lossy-failover: 1/100, answer: 1/100}\nexpect: pass\n";

/* What was seen from the fault on, told in a few words an event. */
struct heard {
    char text[600];
    int events, wanted;
    int64_t now, clock_before; /* at the fault, and a step before it */
    int64_t visible_at;        /* of the message in `slot`, after the fault's event */
    uint32_t slot;
    struct row_change changes[8];
    size_t change_count;
    int64_t copied[MESSAGE_COLUMNS];
};

static const char *outcome_word(const struct run_event *event)
{
    switch ((enum outcome_kind)event->outcome->kind) {
    case OUTCOME_COMMITTED:
        return event->committed ? "committed" : "rolled back";
    case OUTCOME_REFUSED:
        return "refused";
    case OUTCOME_ABORTED:
        return abort_class_text((enum abort_class)event->outcome->aborted);
    case OUTCOME_UNKNOWN:
        return event->committed ? "unknown, committed" : "unknown, lost";
    case OUTCOME_NONE:
        break;
    }
    return "nothing";
}

static void tell(const struct run_event *event, char *out, size_t size)
{
    const char *bundle =
        event->bundle == NULL ? "" : bundle_name_text((enum bundle_name)event->bundle->name);
    switch (event->turn) {
    case RUN_TRANSACTION:
        snprintf(out, size, "%s %s%s", bundle, outcome_word(event), event->crashed ? ", died" : "");
        break;
    case RUN_CRASH:
        snprintf(out, size, "died before %s", bundle);
        break;
    case RUN_PAUSE:
        snprintf(out, size, "paused %lld before %s", (long long)event->amount, bundle);
        break;
    case RUN_ENVIRONMENT:
        snprintf(out, size, "%s", fault_get(event->fault)->name);
        break;
    case RUN_SETTLE:
        snprintf(out, size, "settle");
        break;
    case RUN_STOPS:
        snprintf(out, size, "stopped inside %s after %lld", bundle, (long long)event->amount);
        break;
    case RUN_WAITS:
        snprintf(out, size, "waits inside %s", bundle);
        break;
    case RUN_LANDS:
        snprintf(out, size, "%s lands, %s", bundle, outcome_word(event));
        break;
    }
}

static void note_the_fault(struct heard *heard, const struct run_event *event)
{
    heard->now = event->now;
    heard->change_count = event->change_count;
    for (size_t i = 0; i < event->change_count && i < COUNT(heard->changes); i++) {
        heard->changes[i] = event->changes[i];
    }
    const struct row_area *messages = &event->rows->table[TABLE_MESSAGE];
    if (heard->slot < messages->used) {
        for (int c = 0; c < MESSAGE_COLUMNS; c++) {
            heard->copied[c] = row_get(event->rows, TABLE_MESSAGE, heard->slot, c);
        }
        heard->visible_at = heard->copied[MESSAGE_VISIBLE_AT];
    }
}

static void hear(void *context, const struct run_event *event)
{
    struct heard *heard = context;
    if (heard->events == 0 && event->fault == FAULT_NONE) {
        heard->clock_before = event->now;
        return;
    }
    if (heard->events == 0) {
        note_the_fault(heard, event);
    }
    if (heard->events++ < heard->wanted) {
        char words[80];
        tell(event, words, sizeof words);
        size_t at = strlen(heard->text);
        snprintf(heard->text + at, sizeof heard->text - at, "%s%s", at == 0 ? "" : "; ", words);
    }
}

static struct run_result hear_run(struct stage *stage, struct choice *items, size_t count,
                                  struct heard *heard)
{
    stage->run->observer = hear;
    stage->run->observer_context = heard;
    struct run_result result = run_list(stage, items, count);
    stage->run->observer = NULL;
    return result;
}

struct fault_case {
    enum fault_kind kind;
    uint32_t ordinal; /* the worker's transaction */
    uint32_t amount;
    const char *heard; /* from the fault on */
};

/* clang-format off */
static const struct fault_case fault_cases[] = {
    {FAULT_CRASH_BEFORE_BEGIN, STEP_2, 0, "died before Step 2; claim committed; enter Leg2 committed; Step 2 committed"},
    {FAULT_CRASH_BEFORE_COMMIT, STEP_2, 0, "Step 2 rolled back, died; claim committed; enter Leg2 committed; Step 2 committed"},
    {FAULT_CRASH_AFTER_COMMIT, STEP_2, 0, "Step 2 committed, died; claim committed; enter Leg2 committed; Step 3 committed"},
    {FAULT_CRASH_BEFORE_ACK, ACK_LEG2, 0, "died before ack; claim committed; enter Leg2 committed; ack committed"},
    {FAULT_CRASH_AFTER_COMMIT, LEG1, 0, "Leg1 committed, died; claim committed; answer committed; ack committed"},
    {FAULT_CRASH_AFTER_COMMIT, ACK_LEG2, 0, "ack committed, died; settle"},
    {FAULT_UNKNOWN_COMMITTED, STEP_2, 0, "Step 2 unknown, committed; read committed; Step 3 committed; ack committed"},
    {FAULT_UNKNOWN_LOST, STEP_2, 0, "Step 2 unknown, lost; read committed; Step 2 committed; Step 3 committed"},
    {FAULT_UNKNOWN_COMMITTED, LEG1, 0, "Leg1 unknown, committed; read committed; ack committed; claim committed"},
    {FAULT_UNKNOWN_LOST, LEG1, 0, "Leg1 unknown, lost; read committed; Leg1 committed; ack committed"},
    {FAULT_UNKNOWN_COMMITTED, ACK_LEG2, 0, "ack unknown, committed; ack refused; settle"},
    {FAULT_UNKNOWN_COMMITTED, ENTER_LEG2, 0, "enter Leg2 unknown, committed; enter Leg2 committed; Step 1 committed; Step 2 committed"},
    {FAULT_CONNECTION_CUT, STEP_2, 0, "Step 2 connection lost; Step 2 committed; Step 3 committed; ack committed"},
    {FAULT_SERIALIZATION, STEP_2, 0, "Step 2 40001; Step 2 committed; Step 3 committed; ack committed"},
    {FAULT_DEADLOCK, STEP_2, 0, "Step 2 40P01; Step 2 committed; Step 3 committed; ack committed"},
    {FAULT_CONNECTIONS, STEP_2, 0, "Step 2 53300; Step 2 committed; Step 3 committed; ack committed"},
    {FAULT_DUPLICATE, STEP_3, 0, "duplicate; Step 3 committed; ack committed; claim committed"},
    {FAULT_REPLAY, STEP_3, 0, "replay; Step 3 committed; ack committed; claim committed"},
    {FAULT_REDELIVER, STEP_3, 0, "redeliver; Step 3 committed; ack committed; settle"},
    {FAULT_PAUSE, STEP_2, 4, "paused 5 before Step 2; Step 2 committed; Step 3 committed; ack committed"},
    {FAULT_DELAY, LEG1, 9, "Leg1 committed; ack committed; claim committed; answer committed"},
    {FAULT_REORDER, CLAIM_LEG2, 0, "claim committed; enter Leg2 committed; Step 1 committed; Step 2 committed"},
    {FAULT_RESTART, STEP_2, 0, "restart; Step 2 connection lost; Step 2 committed; Step 3 committed"},
    {FAULT_FAILOVER, STEP_2, 0, "failover; Step 2 connection lost; Step 2 committed; Step 3 committed"},
    {FAULT_LOSSY_FAILOVER, STEP_3, 0, "lossy-failover"},
    {FAULT_CLOCK_FORWARD, STEP_2, 9, "clock-forward; Step 2 committed; Step 3 committed; ack committed"},
    {FAULT_COMMIT_LATE, STEP_2, 0, "Step 2 unknown, lost; read committed; Step 2 lands, committed; Step 2 committed; Step 3 committed; ack committed; settle"},
    {FAULT_COMMIT_LATE, STEP_2, 6, "Step 2 unknown, lost; read committed; waits inside Step 2; Step 2 lands, committed; Step 2 committed; Step 3 committed"},
    {FAULT_COMMIT_LATE, STEP_2, 7, "Step 2 unknown, lost; read committed; Step 2 committed; Step 3 committed; ack committed; Step 2 lands, committed; settle"},
    {FAULT_COMMIT_LATE, ACK_LEG2, 3, "ack unknown, lost; ack committed; ack lands, refused; settle"},
    {FAULT_CRASH_COMMIT_LATE, STEP_2, 0, "Step 2 unknown, lost, died; claim committed; Step 2 lands, committed; enter Leg2 committed; Step 3 committed"},
    {FAULT_CRASH_COMMIT_LATE, STEP_2, 5, "Step 2 unknown, lost, died; claim committed; enter Leg2 committed; Step 2 committed; Step 2 lands, committed; Step 3 committed"},
    {FAULT_CLOCK_BACK, STEP_2, 9, "clock-back; Step 2 committed; Step 3 committed; ack committed"},
};
/* clang-format on */

static int events_in(const char *text)
{
    int events = 1;
    for (; *text != '\0'; text++) {
        events += *text == ';';
    }
    return events;
}

Test(run, every_fault_does_what_its_name_says)
{
    PROVES(CLAUSE_ACL_24, CLAUSE_ACL_25);
    SETTLES(ERRATUM_ACL_13);
    bool told[FAULT_KIND_COUNT] = {false};
    struct stage stage = begin_text(alone);
    for (size_t i = 0; i < COUNT(fault_cases); i++) {
        const struct fault_case *one = &fault_cases[i];
        struct choice items[] = {{CHOICE_FAULT, 1, one->ordinal, (uint32_t)one->kind},
                                 {CHOICE_AMOUNT, 1, one->ordinal, one->amount}};
        struct heard heard = {.wanted = events_in(one->heard)};
        struct run_result result = hear_run(&stage, items, 2, &heard);
        const char *name = fault_get(one->kind)->name;
        cr_expect_str_eq(heard.text, one->heard, "%s at %u: %s", name, one->ordinal, heard.text);
        cr_expect_eq(result.fired[one->kind], 1U, "%s", name);
        bool lossy = one->kind == FAULT_LOSSY_FAILOVER;
        cr_expect_eq(result.verdict, lossy ? RUN_BROKEN : RUN_HELD, "%s at %u", name, one->ordinal);
        told[one->kind] = true;
    }
    told[FAULT_ANSWER_CHANGED] = true;               /* below: it needs a task that is run twice */
    told[FAULT_LONG_WORK] = told[FAULT_SKEW] = true; /* below: they fall on a task */
    told[FAULT_SUCCESSOR] = true;    /* below: it needs a former self that is slow */
    told[FAULT_ILLEGAL_MOVE] = true; /* another protocol's: test_seq_run.c */
    for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        cr_expect(told[kind], "no case of %s", fault_get((enum fault_kind)kind)->name);
    }
    end(&stage);
}

/* (FS3)
 * It falls if the former self does something after its successor has; it is gone when it holds
 * nothing any more, when it dies, and when faults stop. */
Test(run, a_former_self_goes_on_beside_its_successor)
{
    const uint32_t successor = FAULT_SUCCESSOR, pause = FAULT_PAUSE;
    const uint8_t former = 2 + RUN_LATE_MAX;
    const struct {
        struct choice items[4];
        const char *heard;
        uint32_t fell;
    } cases[] = {
        {{{CHOICE_FAULT, 1, STEP_2, successor}},
         "successor; Step 2 committed; Step 3 committed; ack committed; settle",
         0},
        {{{CHOICE_FAULT, 1, STEP_2, successor},
          {CHOICE_FAULT, former, 0, pause},
          {CHOICE_AMOUNT, former, 0, 100}},
         "successor; paused 101 before Step 2; claim committed; enter Leg2 committed; "
         "Step 2 committed; Step 3 committed; ack committed; Step 2 committed; extend refused; "
         "settle",
         1},
        {{{CHOICE_FAULT, 1, STEP_2, successor},
          {CHOICE_FAULT, former, 0, FAULT_CRASH_BEFORE_BEGIN}},
         "successor; died before Step 2; claim committed; enter Leg2 committed; Step 2 committed",
         0},
        {{{CHOICE_FAULT, 1, STEP_2, successor},
          {CHOICE_FAULT, former, 0, pause},
          {CHOICE_AMOUNT, former, 0, 100},
          {CHOICE_AMOUNT, CHOICE_NOBODY, RUN_SETTLES_AT, 5 + STEP_2}},
         "successor; paused 101 before Step 2; claim committed; enter Leg2 committed; settle; "
         "claim committed; enter Leg2 committed; Step 2 committed; Step 3 committed",
         0},
        {{{CHOICE_FAULT, 1, STEP_2, successor}, {CHOICE_FAULT, former, 0, FAULT_RESTART}},
         "successor; restart; Step 2 connection lost; Step 2 committed",
         0},
    };
    struct stage stage = begin_text(alone);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct choice items[COUNT(cases[i].items)];
        size_t count = 0;
        while (count < COUNT(items) && cases[i].items[count].why != CHOICE_WHO) {
            items[count] = cases[i].items[count];
            count++;
        }
        struct heard heard = {.wanted = events_in(cases[i].heard)};
        struct run_result result = hear_run(&stage, items, count, &heard);
        cr_expect_str_eq(heard.text, cases[i].heard, "%zu: %s", i, heard.text);
        cr_expect_eq(result.fired[FAULT_SUCCESSOR], cases[i].fell, "%zu", i);
        cr_expect_eq(result.verdict, RUN_HELD, "%zu", i);
    }
    end(&stage);
}

/* (LW2)
 * A task that takes time: its claim is extended meanwhile, by the worker's own clock. It falls if
 * anybody does anything meanwhile; a skew, if a wrong clock is looked at. */
Test(run, work_takes_time_and_its_claim_is_extended_by_the_clock_of_the_worker)
{
    const uint32_t work = FAULT_LONG_WORK, skew = FAULT_SKEW;
    const struct {
        struct choice items[4];
        const char *heard;
        uint32_t works, skews;
    } cases[] = {
        {{{CHOICE_FAULT, 1, ANSWER, work}, {CHOICE_AMOUNT, 1, ANSWER, 9}},
         "paused 10 before answer; answer committed; ack committed",
         0,
         0},
        {{{CHOICE_FAULT, 1, ANSWER, work}, {CHOICE_AMOUNT, 1, ANSWER, 99}},
         "paused 100 before answer; extend committed; extend committed; extend committed; "
         "answer committed; ack committed",
         1,
         0},
        {{{CHOICE_FAULT, 1, ANSWER - 1, skew}, /* half as fast, so that the claim has lapsed */
          {CHOICE_FAULT, 1, ANSWER, work},
          {CHOICE_AMOUNT, 1, ANSWER, 99}},
         "clock-skew; claim committed; paused 100 before answer; extend committed; "
         "answer committed; extend committed; ack committed",
         1,
         1},
        {{{CHOICE_FAULT, 1, ANSWER, work},
          {CHOICE_AMOUNT, 1, ANSWER, 99},
          {CHOICE_FAULT, 1, ANSWER + 2, FAULT_CRASH_BEFORE_BEGIN}},
         "paused 100 before answer; extend committed; died before extend; claim committed; "
         "answer committed",
         1,
         0},
    };
    struct stage stage = begin_text(alone);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct choice items[COUNT(cases[i].items)];
        size_t count = 0;
        while (count < COUNT(items) && cases[i].items[count].why != CHOICE_WHO) {
            items[count] = cases[i].items[count];
            count++;
        }
        struct heard heard = {.wanted = events_in(cases[i].heard)};
        struct run_result result = hear_run(&stage, items, count, &heard);
        cr_expect_str_eq(heard.text, cases[i].heard, "%zu: %s", i, heard.text);
        cr_expect_eq(result.fired[FAULT_LONG_WORK], cases[i].works, "%zu", i);
        cr_expect_eq(result.fired[FAULT_SKEW], cases[i].skews, "%zu", i);
        cr_expect_eq(result.verdict, RUN_HELD, "%zu", i);
    }
    end(&stage);
}

/* What is on its way ends before faults stop, or with the server; it fell if an actor moved on. A
 * read has nothing to land. With and without transactions that interleave. */
Test(run, what_is_on_its_way_lands_or_ends_with_the_server_before_faults_stop)
{
    const uint32_t late = FAULT_COMMIT_LATE, long_after = 63; /* under way, and 31 steps */
    const struct {
        struct choice items[4];
        const char *heard;
        uint32_t fell;
    } cases[] = {
        {{{CHOICE_FAULT, 1, STEP_3, late},
          {CHOICE_AMOUNT, 1, STEP_3, long_after},
          {CHOICE_AMOUNT, CHOICE_NOBODY, RUN_SETTLES_AT, 2 + STEP_3}},
         "Step 3 unknown, lost; Step 3 lands, committed; settle",
         0},
        {{{CHOICE_FAULT, 1, STEP_3, FAULT_UNKNOWN_LOST}, {CHOICE_FAULT, 1, STEP_3 + 1, late}},
         "Step 3 unknown, lost; read committed; Step 3 committed; ack committed; settle",
         0},
        {{{CHOICE_FAULT, 1, STEP_3, late}, {CHOICE_AMOUNT, 1, STEP_3, long_after}},
         "Step 3 unknown, lost; read committed; Step 3 committed; ack committed; "
         "Step 3 lands, committed; settle",
         1},
        {{{CHOICE_FAULT, 1, STEP_3, late},
          {CHOICE_AMOUNT, 1, STEP_3, long_after},
          {CHOICE_AMOUNT, CHOICE_NOBODY, RUN_SETTLES_AT, 3 + STEP_3}},
         "Step 3 unknown, lost; read committed; Step 3 lands, committed; settle; claim committed",
         1},
        {{{CHOICE_FAULT, 1, STEP_3, late},
          {CHOICE_AMOUNT, 1, STEP_3, long_after - 1},
          {CHOICE_FAULT, 1, STEP_3 + 1, FAULT_RESTART}},
         "Step 3 unknown, lost; restart; read connection lost; read committed; "
         "Step 3 committed; ack committed; settle",
         0},
    };
    struct stage stage = begin_text(alone);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        struct choice items[4];
        memcpy(items, cases[i / 2].items, sizeof items);
        size_t count = 0;
        while (count < COUNT(items) && items[count].why != CHOICE_WHO) {
            count++;
        }
        stage.run->interleaves = i % 2 == 0;
        struct heard heard = {.wanted = events_in(cases[i / 2].heard)};
        struct run_result result = hear_run(&stage, items, count, &heard);
        cr_expect_str_eq(heard.text, cases[i / 2].heard, "%d: %s", (int)i, heard.text);
        cr_expect_eq(result.verdict, RUN_HELD, "%d", (int)i);
        cr_expect_eq(result.fired[late], cases[i / 2].fell, "%d", (int)i);
    }
    end(&stage);
}

Test(run, a_fault_that_does_not_apply_does_not_fall)
{
    static const struct {
        enum fault_kind kind;
        unsigned actor;
        uint32_t ordinal;
    } cases[] = {
        {FAULT_CRASH_BEFORE_ACK, 1, STEP_2},
        {FAULT_REORDER, 1, STEP_2},
        {FAULT_DELAY, 1, ENTER_LEG1},
        {FAULT_ANSWER_CHANGED, 1, ANSWER},
        {FAULT_ANSWER_CHANGED, 1, STEP_2},
        {FAULT_PAUSE, 0, 0},
        {FAULT_REPLAY, 1, LEG1},
        {FAULT_REDELIVER, 1, CLAIM_LEG1},
        {FAULT_LOSSY_FAILOVER, 0, 0},
    };
    struct stage stage = begin_text(alone);
    struct run_result calm = run_list(&stage, NULL, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct choice item = {CHOICE_FAULT, (uint8_t)cases[i].actor, cases[i].ordinal,
                              (uint32_t)cases[i].kind};
        struct run_result result = run_list(&stage, &item, 1);
        cr_expect_eq(result.fired[cases[i].kind], 0U, "%s", fault_get(cases[i].kind)->name);
        cr_expect(same_result(&calm, &result), "%s", fault_get(cases[i].kind)->name);
    }
    end(&stage);
}

/* The message that a fault made or touched, and the clock, right after it. */
static struct heard after_fault(const char *text, enum fault_kind kind, uint32_t ordinal,
                                uint32_t amount, uint32_t slot)
{
    struct stage stage = begin_text(text);
    struct choice items[] = {{CHOICE_FAULT, 1, ordinal, (uint32_t)kind},
                             {CHOICE_AMOUNT, 1, ordinal, amount}};
    struct heard heard = {.wanted = 1, .slot = slot};
    hear_run(&stage, items, 2, &heard);
    end(&stage);
    return heard;
}

Test(run, a_copy_is_a_new_row_with_the_same_guid_visible_at_once)
{
    SETTLES(ERRATUM_ACL_11);
    static const struct {
        enum fault_kind kind;
        uint32_t amount; /* from which message on the search begins */
        int64_t message_kind;
    } cases[] = {{FAULT_DUPLICATE, SLOT_LEG1, MESSAGE_LEG2}, /* the only one that is not acked */
                 {FAULT_REPLAY, SLOT_LEG1, MESSAGE_LEG1},
                 {FAULT_REPLAY, SLOT_TASK, MESSAGE_TASK},
                 {FAULT_REPLAY, SLOT_LEG2, MESSAGE_LEG1}}; /* acked, searched round */
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct heard heard =
            after_fault(alone, cases[i].kind, STEP_2, cases[i].amount, SLOT_LEG2 + 1);
        cr_assert_eq(heard.change_count, 1U, "case %zu", i);
        cr_expect_eq(heard.changes[0].kind, ROW_INSERTED);
        cr_expect_eq(heard.changes[0].slot, SLOT_LEG2 + 1U);
        cr_expect_eq(heard.copied[MESSAGE_KIND], cases[i].message_kind, "case %zu", i);
        cr_expect_eq(heard.copied[MESSAGE_GUID] != 0, cases[i].message_kind == MESSAGE_LEG2);
        cr_expect_eq(heard.copied[MESSAGE_EPOCH], 0);
        cr_expect_eq(heard.visible_at, heard.now);
    }
}

Test(run, a_redelivery_is_the_same_row_visible_again_while_it_is_held)
{
    SETTLES(ERRATUM_ACL_11);
    struct heard heard = after_fault(alone, FAULT_REDELIVER, STEP_2, 0, SLOT_LEG2);
    cr_assert_eq(heard.change_count, 1U);
    cr_expect_eq(heard.changes[0].kind, ROW_UPDATED);
    cr_expect_eq(heard.changes[0].column, MESSAGE_VISIBLE_AT);
    cr_expect_gt(heard.changes[0].before, heard.now);
    cr_expect_eq(heard.visible_at, heard.now);
    cr_expect_eq(heard.copied[MESSAGE_EPOCH], 1, "until it is claimed");
}

Test(run, a_delay_a_jump_and_a_fall_of_the_clock_have_the_amount_that_was_chosen)
{
    struct heard delay = after_fault(alone, FAULT_DELAY, LEG1, 9, SLOT_TASK);
    cr_expect_eq(delay.visible_at, delay.now + 10);
    struct heard forward = after_fault(alone, FAULT_CLOCK_FORWARD, STEP_2, 99, SLOT_LEG2);
    cr_expect_eq(forward.now, forward.clock_before + 1 + 100);
    struct heard back = after_fault(alone, FAULT_CLOCK_BACK, STEP_2, 4, SLOT_LEG2);
    cr_expect_eq(back.now, back.clock_before + 1 - 5);
    struct heard bottom = after_fault(alone, FAULT_CLOCK_BACK, STEP_2, 59, SLOT_LEG2);
    cr_expect_eq(bottom.now, 0, "the clock does not fall below 0");
}

/* Two children are there, and the first claim after that takes the second of them. */
Test(run, a_reordered_claim_takes_another_message)
{
    static const char twins[] =
        "name: twins\nabout: two children\ncommits: literal\nworkers: 1\ngraph: {trigger: [a, b]}\n"
        "expect: pass\n";
    struct stage stage = begin_text(twins);
    int64_t taken[2];
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct choice items[] = {{CHOICE_FAULT, 1, 12, FAULT_REORDER},
                                 {CHOICE_AMOUNT, 1, 12, rank}};
        struct heard heard = {.wanted = 1};
        struct run_result result = hear_run(&stage, items, 2, &heard);
        cr_expect_eq(result.verdict, RUN_HELD);
        cr_assert_str_eq(heard.text, "claim committed");
        taken[rank] = heard.changes[0].slot;
    }
    cr_expect_neq(taken[0], taken[1]);
    end(&stage);
}

/* A pause longer than the claim: the message goes to the other worker, and the first one wakes as a
 * zombie whose step is skipped and whose ack is refused. */
Test(run, a_pause_makes_a_zombie)
{
    SETTLES(ERRATUM_ACL_11);
    static const char pair[] = "name: pair\nabout: one activity\ncommits: literal\nworkers: "
                               "2\ngraph: {trigger: []}\nexpect: pass\n";
    struct stage stage = begin_text(pair);
    struct choice items[] = {{CHOICE_FAULT, 1, STEP_2, FAULT_PAUSE},
                             {CHOICE_AMOUNT, 1, STEP_2, 99}};
    struct heard heard = {.wanted = 9};
    struct run_result result = hear_run(&stage, items, 2, &heard);
    cr_expect_eq(result.verdict, RUN_HELD);
    cr_expect_str_eq(heard.text,
                     "paused 100 before Step 2; claim committed; enter Leg2 committed; "
                     "Step 2 committed; Step 3 committed; ack committed; Step 2 committed; "
                     "extend refused; settle",
                     "%s", heard.text);
    end(&stage);
}

/* The task is replayed when all is done, and this time the worker answers otherwise. */
Test(run, an_answer_that_changes_is_escalated)
{
    SETTLES(ERRATUM_ACL_21);
    struct stage stage = begin_text(alone);
    struct choice items[] = {{CHOICE_FAULT, CHOICE_NOBODY, 0, FAULT_REPLAY},
                             {CHOICE_AMOUNT, CHOICE_NOBODY, 0, SLOT_TASK},
                             {CHOICE_FAULT, 1, CLAIM_AGAIN + 1, FAULT_ANSWER_CHANGED}};
    struct heard heard = {.wanted = 8};
    struct run_result result = hear_run(&stage, items, COUNT(items), &heard);
    cr_expect_str_eq(heard.text,
                     "replay; claim committed; answer committed; ack committed; claim committed; "
                     "enter Leg2 committed; escalate committed; settle",
                     "%s", heard.text);
    cr_expect_eq(result.fired[FAULT_ANSWER_CHANGED], 1U);
    cr_expect_eq(result.verdict, RUN_HELD);
    const struct rows *rows = &stage.run->world.rows;
    cr_assert_eq(rows->table[TABLE_ESCALATION].used, 1U);
    cr_expect_eq(row_get(rows, TABLE_ESCALATION, 0, ESCALATION_REASON), ESCALATED_CONTENT_CHANGED);
    cr_expect_eq(row_get(rows, TABLE_JOB, 0, JOB_ESCALATED), 1);
    end(&stage);
}

/* A commit that was lost is lost whole, and again: three times in a row, four commits each. */
Test(run, commits_can_be_lost_again_and_again)
{
    struct stage stage = begin_named("lossy-failover");
    for (int clause = 0; clause < CLAUSE_COUNT; clause++) {
        stage.run->oracle.off[clause] = true;
    }
    for (uint32_t at = 1; at < 30; at++) {
        struct choice items[8];
        for (uint32_t i = 0; i < 4; i++) {
            struct choice *pair = &items[(size_t)2 * i];
            pair[0] = (struct choice){CHOICE_FAULT, 1, at + i, FAULT_LOSSY_FAILOVER};
            pair[1] = (struct choice){CHOICE_AMOUNT, 1, at + i, 3};
        }
        struct run_result result = run_list(&stage, items, COUNT(items));
        cr_expect_eq(result.verdict, RUN_HELD, "at %u", at);
    }
    end(&stage);
}

/* ---- phases ---------------------------------------------------------------------------------- */

struct phases {
    int settles, faults_before, faults_after, transactions_after;
    int first_after; /* the first bundle after it */
};

static void watch_phases(void *context, const struct run_event *event)
{
    struct phases *phases = context;
    bool after = phases->settles > 0;
    if (after && phases->transactions_after == 0 && event->turn == RUN_TRANSACTION) {
        phases->first_after = event->bundle->name;
    }
    phases->transactions_after += after && event->turn == RUN_TRANSACTION;
    phases->faults_after += after && event->fault != FAULT_NONE;
    phases->faults_before += !after && event->fault != FAULT_NONE;
    phases->settles += event->turn == RUN_SETTLE;
}

/* What is listed has no budget: a worker whose every transaction fails from some one on gets
 * nowhere until faults stop, and then everything is done. */
Test(run, weather_is_bounded_and_what_it_left_is_done_when_faults_stop)
{
    PROVES(CLAUSE_ACL_28, CLAUSE_ACL_29);
    static const enum fault_kind kinds[] = {FAULT_SERIALIZATION, FAULT_CRASH_BEFORE_COMMIT,
                                            FAULT_CRASH_AFTER_COMMIT, FAULT_UNKNOWN_LOST,
                                            FAULT_CRASH_BEFORE_BEGIN};
    static struct choice items[3000];
    struct stage stage = begin_text(alone);
    for (size_t k = 0; k < COUNT(kinds); k++) {
        for (uint32_t first = CLAIM_LEG1; first <= ACK_LEG2; first++) {
            for (uint32_t i = 0; i < COUNT(items); i++) {
                items[i] = (struct choice){CHOICE_FAULT, 1, first + i, (uint32_t)kinds[k]};
            }
            struct phases phases = {.first_after = -1};
            stage.run->observer = watch_phases;
            stage.run->observer_context = &phases;
            struct run_result result = run_list(&stage, items, COUNT(items));
            const char *name = fault_get(kinds[k])->name;
            cr_expect_eq(result.verdict, RUN_HELD, "%s from %u on: %s", name, first,
                         result.breach.why);
            cr_expect_eq(phases.settles, 1);
            cr_expect_eq(phases.faults_after, 0, "%s from %u on", name, first);
            /* the last ack does commit, and nothing is left */
            bool gets_there = kinds[k] == FAULT_CRASH_AFTER_COMMIT && first == ACK_LEG2;
            cr_expect(gets_there ? phases.transactions_after == 0
                                 : phases.faults_before > 400 && phases.transactions_after > 0,
                      "%s from %u on: %d, %d", name, first, phases.faults_before,
                      phases.transactions_after);
            cr_expect(gets_there || phases.first_after == BUNDLE_CLAIM, "workers are started anew");
        }
    }
    end(&stage);
}

/* ---- what was found ------------------------------------------------------------------------- */

static void holds(const char *text)
{
    struct stage stage = begin_text(text);
    stage.run->recheck_every = 1;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct run_result result = run_seed(&stage, seed);
        cr_assert_eq(result.verdict, RUN_HELD, "%s, seed %d: %s", stage.scenario->name, (int)seed,
                     result.breach.why);
    }
    end(&stage);
}

/* The second pending answer is turned away at the ceiling, so it never has 1B: a closing answer
 * that waited for that would be put back for ever. */
Test(run, a_closing_answer_does_not_wait_for_a_pending_one_that_was_escalated)
{
    PROVES(CLAUSE_ACL_7, CLAUSE_ACL_28);
    SETTLES(ERRATUM_ACL_10, ERRATUM_ACL_20);
    holds("name: pending-ceiling\nabout: pending answers at the ceiling\ncommits: literal\ngraph: "
          "{trigger: []}\n"
          "pending: {trigger: [[], []]}\npreset: {trigger: {leg2: 99999998}}\n"
          "faults: {crash: 1/20, duplicate: 1/20, delay: 1/10, reorder: 1/10}\nexpect: pass\n");
}

/* Leg1 without the task hop publishes the pending answers, too, and the closing one. */
Test(run, without_the_task_hop_pending_answers_are_closed_as_well)
{
    PROVES(CLAUSE_ACL_29);
    holds(
        "name: pending-direct\nabout: pending answers without a hop\ncommits: literal\nhop: none\n"
        "graph: {trigger: [a]}\npending: {trigger: [[b], []]}\n"
        "faults: {crash: 1/20, unknown: 1/20, duplicate: 1/20, delay: 1/10}\nexpect: pass\n");
}

/* ---- engines that fail a CHECK --------------------------------------------------------------- */

static struct role frail_role;
static const struct role *sound_role;
static unsigned deaths_left;

static void next_of_frail(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    bool dies = !sound_role->is_idle(actor) && deaths_left > 0;
    deaths_left -= dies;
    CHECK(!dies);
    sound_role->next(actor, rules, next);
}

/* From the first step on workers fail a CHECK so many times at what follows a claim. */
static void make_frail(void *context, const struct run_event *event)
{
    struct run *run = context;
    for (unsigned a = 0; event->step == 1 && a < run->actor_count; a++) {
        struct performer *performer = &run->actors[a].performer;
        if (performer->role->message != NULL) {
            sound_role = performer->role;
            frail_role = *sound_role;
            frail_role.next = next_of_frail;
            performer->role = &frail_role;
        }
    }
}

static struct run_result run_frail(struct stage *stage, unsigned deaths)
{
    deaths_left = deaths;
    stage->run->observer = make_frail;
    stage->run->observer_context = stage->run;
    return run_list(stage, NULL, 0);
}

/* (U5) */
Test(run, an_engine_that_fails_a_check_is_a_worker_that_crashes)
{
    struct stage stage = begin_named("tree-3");
    struct run_result always = run_frail(&stage, UINT32_MAX), again = run_frail(&stage, UINT32_MAX);
    cr_expect_eq(always.verdict, RUN_BROKEN);
    cr_expect_eq(always.breach.clause, CLAUSE_ACL_28, "%s", always.breach.why);
    cr_expect_gt(always.deaths, 1U);
    cr_expect_eq(always.digest, again.digest);
    struct run_result never = run_frail(&stage, 0);
    cr_expect_eq(never.verdict, RUN_HELD);
    cr_expect_eq(never.deaths, 0U);
    end(&stage);
}

/* (U5) */
Test(run, a_run_in_which_an_engine_failed_a_check_once_is_none_that_held)
{
    struct stage stage = begin_named("tree-3");
    struct run_result once = run_frail(&stage, 1);
    cr_expect_eq(once.verdict, RUN_DIED);
    cr_expect_eq(once.deaths, 1U);
    end(&stage);
}

static void alive_after_a_death(int which)
{
    struct stage stage = begin_named("tree-3");
    run_frail(&stage, which == FIRES_SOUND ? 0 : 1);
    run_check_alive(stage.run);
}

/* (U5) */
Test(run, a_death_that_broke_no_promise_ends_the_program)
{
    static const char *const claims[] = {"!dies"};
    EXPECT_FIRES(alive_after_a_death, claims);
}

/* The store on PostgreSQL beside the simulated one, in lockstep: random bundles, and the bundles of
 * the engines under faults. Then that the comparison notices errors, what two connections do to
 * each other, and what is left of a bundle when its connection dies. */
#include "model/identity.h"
#include "model/ledger.h"
#include "model/seq.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "real/tests/pair.h"
#include "real/tests/server.h"
#include "sim/run.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <time.h>

#define SCHEMA PAIR_SCHEMA

static struct world world;

static void make(void)
{
    server_make_schema(SCHEMA);
    server_set_clocks(SCHEMA);
    struct world_capacity capacity = {.changes = 4096};
    for (int t = 0; t < TABLE_COUNT; t++) {
        capacity.rows[t] = 2048;
    }
    cr_assert(world_make(&world, &capacity));
}

static void unmake(void)
{
    world_free(&world);
}

TestSuite(store_pg, .init = make, .fini = unmake, .timeout = 120);

static struct store_pg *open_with(enum sql_form form, store_pg_editor *edit, void *context)
{
    struct error error;
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT,
                                                 .form = form,
                                                 .edit = edit,
                                                 .edit_context = context},
                      &error);
    cr_assert_not_null(store, "%s", error.text);
    return store;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void report(const char *what, const struct pair *both, double since)
{
    fprintf(stderr,
            "%s: %u bundles (%u committed, %u of them skipped; %u refused), %.0f a second\n", what,
            both->bundles, both->outcomes[OUTCOME_COMMITTED], both->skips,
            both->outcomes[OUTCOME_REFUSED], both->bundles / (seconds() - since));
}

/* ---- random bundles -------------------------------------------------------------------------- */

/* What each parameter is: a key of the table with that number, or one of the letters of draw(). A
 * primitive without a signature is not drawn. */
static const char *const signatures[PRIMITIVE_COUNT] = {
    [PRIMITIVE_CLAIM] = "d",
    [PRIMITIVE_EXTEND] = "7ed",
    [PRIMITIVE_PUT_BACK] = "7ed",
    [PRIMITIVE_ACK] = "7en",
    [PRIMITIVE_ENTER_LEG1] = "1TMC",
    [PRIMITIVE_MARK_ACTIVITY] = "1w",
    [PRIMITIVE_REQUIRE_MARK] = "3w",
    [PRIMITIVE_REQUIRE_UNMARKED] = "1w",
    [PRIMITIVE_REQUIRE_STUCK] = "3KkL",
    [PRIMITIVE_ENTER_LEG2] = "13nnHKkL",
    [PRIMITIVE_MARK_GUID] = "3w",
    [PRIMITIVE_COLLATE] = "30DwH",
    [PRIMITIVE_READ_ACTIVITY] = "1",
    [PRIMITIVE_READ_GUID] = "3",
    [PRIMITIVE_READ_TASK] = "2",
    [PRIMITIVE_READ_INPUT] = "0",
    [PRIMITIVE_READ_OUTPUT] = "4",
    [PRIMITIVE_CREATE_JOB] = "0nn",
    [PRIMITIVE_ESCALATE_JOB] = "0",
    [PRIMITIVE_CLOSE_TASK] = "23",
    [PRIMITIVE_ADD_ACTIVITY] = "10nln",
    [PRIMITIVE_RECORD_TASK] = "21n",
    [PRIMITIVE_RECORD_OUTPUT] = "41nn3",
    [PRIMITIVE_RECORD_COMPLETION] = "503",
    [PRIMITIVE_RECORD_ESCALATION] = "607n",
    [PRIMITIVE_PUBLISH] = "7n01nnnnnnnnnn",
    [PRIMITIVE_PUBLISH_HELD] = "7n01nnnnnnnnnnd",
    [PRIMITIVE_HOLD] = "7e",
    [PRIMITIVE_STAYS_OPEN] = "3w",
    [PRIMITIVE_CLAIM_NEXT] = "d",
    [PRIMITIVE_OPEN_ACCOUNT] = "8",
    [PRIMITIVE_REMEMBER] = "98n",
    [PRIMITIVE_CREDIT] = "8n",
    /* legacy */
    [PRIMITIVE_ADD_LEGACY] = "EnnyEn",
    [PRIMITIVE_COUNT_LEG1] = "Ex",
    [PRIMITIVE_COUNT_LEG2] = "Emmf",
    [PRIMITIVE_MOVE_LEGACY] = "Ex",
    [PRIMITIVE_CLEAN_UP] = "S",
    [PRIMITIVE_SAVE] = "SEnnn",
    [PRIMITIVE_MARK_PUBLISHED] = "S",
    [PRIMITIVE_REQUIRE_FULL] = "Emmf",
    [PRIMITIVE_READ_LEGACY] = "E",
};

static int64_t draw_key(uint64_t *random, int table)
{
    return INT64_C(100) * (1 + table) + (int64_t)random_below(random, 4);
}

static int64_t draw_ledger(uint64_t *random)
{
    static const int64_t low[] = {0, 1, 2, 3, 4, 99999997, 99999998, 99999999};
    static const int64_t high[] = {0, 1, 2, 998, 999};
    int64_t ledger = high[random_below(random, COUNT(high))];
    for (int digit = 0; digit < 4; digit++) {
        ledger = ledger * 10 + (int64_t)random_below(random, 2);
    }
    return ledger * 100000000 + low[random_below(random, COUNT(low))];
}

/* A GUID's: nothing done, work done, owing Step 3, or owing nothing. */
static int64_t draw_guid_ledger(uint64_t *random)
{
    static const int64_t markers[] = {0, 100, 110, 1110, 1111};
    static const int64_t low[] = {1, 2, 3, 99999998, 99999999};
    return markers[random_below(random, COUNT(markers))] * 100000000 +
           low[random_below(random, COUNT(low))];
}

/* Of the earlier ledger: integers that are open, closed, full or spent, and what is added. */
static int64_t draw_earlier(uint64_t *random)
{
    static const int64_t integers[] = {INT64_C(999000000000000), INT64_C(99000000000000),
                                       INT64_C(889000001000000), INT64_C(888000002000001),
                                       INT64_C(888999999000003), INT64_C(889999998999998)};
    return integers[random_below(random, COUNT(integers))];
}

static int64_t draw_summand(uint64_t *random)
{
    static const int64_t summands[] = {INT64_C(-100000000000000),
                                       INT64_C(-10000000000000),
                                       INT64_C(-999999999999),
                                       1000000,
                                       -1000000,
                                       1};
    return summands[random_below(random, COUNT(summands))];
}

static int64_t draw(uint64_t *random, char what, int64_t ceiling)
{
    static const int64_t weights[] = {100000000000, 10000000000, 1000000000, 100000000};
    if (what >= '0' && what <= '9') {
        return draw_key(random, what - '0');
    }
    switch (what) {
    case 'e':
        return (int64_t)random_below(random, 3); /* an epoch */
    case 'd':
        return 1 + (int64_t)random_below(random, 30); /* ticks */
    case 'w':
        return weights[random_below(random, COUNT(weights))];
    case 'H':
        return weights[0];
    case 'T':
        return 1000000000000;
    case 'M':
        return 1000;
    case 'C':
        return random_one_in(random, 2) ? 999 : 2;
    case 'K':
        return 100000000;
    case 'k':
        return ceiling;
    case 'L':
        return ceiling - 1;
    case 'D':
        return (int64_t)random_below(random, 5) - 2; /* a delta */
    case 'l':
        return draw_ledger(random);
    case 'g':
        return draw_guid_ledger(random);
    case 'E':
        return draw_key(random, TABLE_LEGACY);
    case 'S':
        return draw_key(random, TABLE_SAVED);
    case 'y':
        return draw_earlier(random);
    case 'x':
        return draw_summand(random);
    case 'm':
        return 1000000;
    case 'f':
        return random_one_in(random, 2) ? 999999 : 2;
    default:
        return (int64_t)random_below(random, 4);
    }
}

static void append_random(uint64_t *random, struct bundle *bundle)
{
    uint8_t id = (uint8_t)random_below(random, PRIMITIVE_COUNT);
    if (signatures[id] == NULL) {
        return;
    }
    int64_t *p =
        bundle_append(bundle, (enum primitive_id)id, (enum call_mode)random_below(random, 3),
                      (int)random_below(random, BUNDLE_VALUES_MAX - 5));
    int64_t ceiling = random_one_in(random, 2) ? 99999999 : 3;
    cr_assert_eq(strlen(signatures[id]), primitive_table[id].params);
    for (uint8_t i = 0; i < primitive_table[id].params; i++) {
        p[i] = draw(random, signatures[id][i], ceiling);
    }
}

static int64_t *append_drawn(uint64_t *random, struct bundle *bundle, enum primitive_id id,
                             enum call_mode mode, int values)
{
    int64_t *p = bundle_append(bundle, id, mode, values);
    for (uint8_t i = 0; i < primitive_table[id].params; i++) {
        p[i] = draw(random, signatures[id][i], 3);
    }
    return p;
}

/* Step 2 as one statement, with a child or a message to an activity that is there, or both: of two
 * faults the calls meet the same one first. */
static void append_random_step2(uint64_t *random, struct bundle *bundle)
{
    uint8_t first = bundle->count;
    append_drawn(random, bundle, PRIMITIVE_MARK_ACTIVITY, CALL_PLAIN, 6);
    const int64_t *collate = append_drawn(random, bundle, PRIMITIVE_COLLATE, CALL_UNLESS_DONE, 0);
    if (random_one_in(random, 2)) {
        append_drawn(random, bundle, PRIMITIVE_CLOSE_TASK, CALL_REQUIRE, 0)[1] = collate[0];
    }
    if (random_one_in(random, 2)) {
        append_drawn(random, bundle, PRIMITIVE_ADD_ACTIVITY, CALL_REQUIRE, 0)[1] = collate[1];
    }
    if (random_one_in(random, 2)) {
        append_drawn(random, bundle,
                     random_one_in(random, 2) ? PRIMITIVE_PUBLISH : PRIMITIVE_PUBLISH_HELD,
                     CALL_REQUIRE, 12);
    }
    bundle_join(bundle, first);
}

static void random_bundle(uint64_t *random, struct bundle *bundle)
{
    bundle_begin(bundle, BUNDLE_READ);
    uint64_t calls = 1 + random_below(random, 5), step2_at = random_below(random, 10);
    for (uint64_t i = 0; i < calls; i++) {
        if (i == step2_at) {
            append_random_step2(random, bundle);
        }
        append_random(random, bundle);
    }
    while (bundle->count == 0) { /* none of those that were drawn has a signature */
        append_random(random, bundle);
    }
}

/* Rows that the parameters refer to, each there or not. */
static void random_rows(uint64_t *random, struct pair *both)
{
    static const char *const columns[TABLE_COUNT] = {"nnnnn", "0nln", "1nen",  "1gnnn",
                                                     "1nn3n", "03n",  "07nn",  "n01nnnnnnnnnnee",
                                                     "n",     "8n",   "nnyEn", "Ennnne"};
    world_reset(&world);
    cr_assert(pair_empty(both->store), "%s", store_pg_why_not(both->store));
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (int64_t i = 0; columns[t] != NULL && i < 4; i++) {
            int64_t row[ROW_COLUMNS_MAX];
            for (int c = 0; c < schema_columns((enum row_table)t); c++) {
                row[c] = draw(random, columns[t][c], 0);
            }
            bool fits = true;
            for (const struct foreign_key *key = primitive_foreign_keys[t]; key->there; key++) {
                fits = fits && row_find(&world.rows, (enum row_table)key->parent,
                                        row[key->column]) != ROW_NONE;
            }
            if (fits && random_below(random, 4) != 0) {
                uint32_t slot =
                    world_insert(&world, (enum row_table)t, INT64_C(100) * (1 + t) + i, row);
                pair_copy_row(both, (enum row_table)t, slot);
            }
        }
    }
    world_keep(&world);
}

/* Random bundles until a difference or the bound. The simulation may be given another table. */
static void random_lockstep(struct pair *both, const struct primitive *simulated, unsigned bundles,
                            uint64_t seed)
{
    uint64_t random = seed;
    both->rows = &world.rows;
    for (unsigned i = 0; i < bundles && !pair_differs(both); i++) {
        if (i % 40 == 0) {
            random_rows(&random, both);
        }
        struct bundle bundle;
        struct outcome outcome;
        random_bundle(&random, &bundle);
        world.now = (int64_t)random_below(&random, 6);
        store_execute(&world, simulated, &bundle, STORE_PICKS_ITSELF, &outcome);
        world_keep(&world);
        pair_execute(both, &bundle, &outcome);
        if (i % 8 == 7 && !pair_differs(both)) {
            pair_rows(both);
        }
    }
}

static void agree_on_random_bundles(enum sql_form form, const char *what, uint64_t seed)
{
    struct pair both = {.store = open_with(form, NULL, NULL)};
    double since = seconds();
    random_lockstep(&both, primitive_table, 1500, seed);
    cr_expect_str_empty(both.difference, "%s", both.difference);
    report(what, &both, since);
    store_pg_close(both.store);
}

Test(store_pg, whole_statements_mean_what_the_lists_of_operations_mean)
{
    SETTLES(ERRATUM_ACL_24);
    SETTLES(ERRATUM_ACL_26);
    agree_on_random_bundles(SQL_WHOLE, "random, whole", 0x1234567);
}

Test(store_pg, statements_by_operation_mean_what_the_operations_mean)
{
    agree_on_random_bundles(SQL_BY_OPERATION, "random, by operation", 0x7654321);
}

/* ---- does the comparison notice? ------------------------------------------------------------- */

/* An error in a copy of the SQL: some words of a primitive's statements are others. */
struct planted {
    const char *name;
    uint8_t primitive; /* enum primitive_id, or STEP2 */
    uint8_t form;      /* enum sql_form */
    const char *words, *wrong;
};
#define STEP2 PRIMITIVE_COUNT /* the compound */

#define CLOCK        SCHEMA "." SCHEMA_CLOCK "()"
#define CLOCK_BEFORE "t.visible_at <= " CLOCK

static const struct planted planted[] = {
    {"no snapshot at the threshold", PRIMITIVE_COLLATE, SQL_WHOLE, " + j.hit * $5 FROM", " FROM"},
    {"semaphore never reaches 0", PRIMITIVE_COLLATE, SQL_WHOLE, ">= 0", "> 0"},
    {"job's state is left alone", PRIMITIVE_COLLATE, SQL_WHOLE, "(t.semaphore + $3 = 0)::int",
     "t.state"},
    {"marker is not tested", PRIMITIVE_COLLATE, SQL_WHOLE, "t.ledger / $4 % 10 = 0", "true"},
    {"dimension is the entry count", PRIMITIVE_ENTER_LEG2, SQL_WHOLE, "(a.was + 1) % $6 - 1",
     "(a.was + 1) % $6"},
    {"activity is counted past its ceiling", PRIMITIVE_ENTER_LEG2, SQL_WHOLE, "AND a.room", ""},
    {"GUID takes the whole ledger", PRIMITIVE_ENTER_LEG2, SQL_WHOLE, "(a.was + 1) % $6,",
     "a.was + 1,"},
    {"a full GUID that owes nothing is refused", PRIMITIVE_ENTER_LEG2, SQL_WHOLE, "(110, 1111)",
     "(1111)"},
    {"who misses is told nothing", PRIMITIVE_MARK_GUID, SQL_WHOLE,
     "coalesce(written.now, cell.was, 0)", "coalesce(written.now, 0)"},
    {"ack without its epoch", PRIMITIVE_ACK, SQL_WHOLE, "(t.epoch = $2", "(true"},
    {"ack of what its holder did not read", PRIMITIVE_ACK, SQL_WHOLE, " AND t.content = $3)", ")"},
    {"claims in the order of keys", PRIMITIVE_CLAIM, SQL_WHOLE, "t.visible_at, t.id", "t.id"},
    {"claims before the time", PRIMITIVE_CLAIM, SQL_WHOLE, CLOCK_BEFORE, "true"},
    {"a repeated record is not counted", PRIMITIVE_RECORD_TASK, SQL_WHOLE, "t.runs + 1", "t.runs"},
    {"a skipped bundle still publishes", PRIMITIVE_PUBLISH, SQL_WHOLE,
     "current_setting('assay.skip') = '0'", "true"},
    {"extended from the start of time", PRIMITIVE_EXTEND, SQL_WHOLE, CLOCK " + $3", "$3"},
    {"refused for another reason", PRIMITIVE_CLOSE_TASK, SQL_WHOLE, "refuse(10)", "refuse(9)"},
    {"a list forgets what it read", PRIMITIVE_ENTER_LEG2, SQL_BY_OPERATION, "set_config('assay.v4'",
     "set_config('assay.v3'"},
    {"kept from the start of time", PRIMITIVE_PUBLISH_HELD, SQL_WHOLE, CLOCK " + $15, 1", "$15, 1"},
    {"kept as if nobody had claimed it", PRIMITIVE_PUBLISH_HELD, SQL_WHOLE, CLOCK " + $15, 1",
     CLOCK " + $15, 0"},
    {"Step 2 without the activity's marker", STEP2, SQL_WHOLE, "AND a.owed", "AND false"},
    {"Step 2 marks the activity twice", STEP2, SQL_WHOLE, "AND a.owed", ""},
    {"Step 2 without the snapshot", STEP2, SQL_WHOLE, " + j.hit * $7 FROM", " FROM"},
    {"Step 2 is done again", STEP2, SQL_WHOLE, "t.ledger / $6 % 10 = 0", "true"},
    {"Step 2 closes the task for nobody", STEP2, SQL_WHOLE, "SET closed = $3", "SET closed = 0"},
    {"Step 2 closes a closed task", STEP2, SQL_WHOLE, "t.closed = 0 AS open", "true AS open"},
    {"Step 2 spawns a child too few", STEP2, SQL_WHOLE, "cardinality(n), 5)",
     "cardinality(n) - 5, 5)"},
    {"Step 2 publishes a message too few", STEP2, SQL_WHOLE, "cardinality(n), 16)",
     "cardinality(n) - 16, 16)"},
    {"Step 2 keeps from the start of time", STEP2, SQL_WHOLE, CLOCK " + n[i + 14]", "n[i + 14]"},
    {"Step 2 lets the semaphore fall", STEP2, SQL_WHOLE, "t.semaphore + $5 >= 0", "true"},
    {"Step 2 though it is skipped", STEP2, SQL_WHOLE, "current_setting('assay.skip') = '0'",
     "true"},
};

/* Every occurrence; returns how many. */
static int replace(struct sql_statement *statement, const char *words, const char *others)
{
    static char rest[SQL_TEXT_SIZE];
    int count = 0;
    for (char *at = statement->text; (at = strstr(at, words)) != NULL; count++) {
        snprintf(rest, sizeof rest, "%s", at + strlen(words));
        size_t room = sizeof statement->text - (size_t)(at - statement->text);
        cr_assert_lt(strlen(others) + strlen(rest), room);
        snprintf(at, room, "%s%s", others, rest);
        at += strlen(others);
    }
    return count;
}

static void plant(void *context, const struct primitive *primitive, enum call_mode mode,
                  struct sql_statement *statement)
{
    const struct planted *error = context;
    (void)mode;
    if (error->primitive == STEP2 ? primitive == NULL
                                  : primitive == &primitive_table[error->primitive]) {
        replace(statement, error->words, error->wrong);
    }
}

Test(store_pg, an_error_in_the_sql_is_noticed)
{
    for (size_t i = 0; i < COUNT(planted); i++) {
        struct pair both = {
            .store = open_with((enum sql_form)planted[i].form, plant, (void *)&planted[i])};
        random_lockstep(&both, primitive_table, 12000, 0x5eed + i);
        cr_expect(pair_differs(&both), "%s: not noticed in %u bundles", planted[i].name,
                  both.bundles);
        fprintf(stderr, "%-40s noticed after %4u bundles\n", planted[i].name, both.bundles);
        store_pg_close(both.store);
    }
}

/* The same the other way round: the simulation is given a catalogue with an operation changed. */
Test(store_pg, an_error_in_the_catalogue_is_noticed)
{
    static const struct {
        uint8_t primitive, op, test;
    } changed[] = {{PRIMITIVE_ENTER_LEG1, 1, TEST_NONE},
                   {PRIMITIVE_COLLATE, 0, TEST_MARKED},
                   {PRIMITIVE_REQUIRE_STUCK, 0, TEST_RESUMABLE},
                   {PRIMITIVE_CLOSE_TASK, 0, TEST_NONE}};
    for (size_t i = 0; i < COUNT(changed); i++) {
        struct primitive table[PRIMITIVE_COUNT];
        memcpy(table, primitive_table, sizeof table);
        table[changed[i].primitive].ops[changed[i].op].test = changed[i].test;
        struct pair both = {.store = open_with(SQL_WHOLE, NULL, NULL)};
        random_lockstep(&both, table, 6000, 0xfeed + i);
        cr_expect(pair_differs(&both), "%s: not noticed", table[changed[i].primitive].name);
        store_pg_close(both.store);
    }
}

/* A planted bug of the catalogue that is given to PostgreSQL, too, is the same bug there: what was
 * altered is executed by operation. */
Test(store_pg, an_altered_primitive_is_the_same_on_both_sides)
{
    struct primitive table[PRIMITIVE_COUNT];
    memcpy(table, primitive_table, sizeof table);
    table[PRIMITIVE_COLLATE].ops[0].test = TEST_NONE;
    table[PRIMITIVE_ENTER_LEG2].ops[8].kind = OP_LET_MODULO;
    table[PRIMITIVE_ENTER_LEG2].ops[8].b = OPERAND_PARAM + 5;
    struct error error;
    struct pair both = {
        .store = store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                          .schema = SCHEMA,
                                                          .primitives = table,
                                                          .primitive_count = PRIMITIVE_COUNT},
                               &error)};
    cr_assert_not_null(both.store, "%s", error.text);
    random_lockstep(&both, table, 800, 0xa17e);
    cr_expect_str_empty(both.difference, "%s", both.difference);
    store_pg_close(both.store);
}

/* ---- engines --------------------------------------------------------------------------------- */

/* What the world around did to rows, or a scenario's preset: PostgreSQL is given the same. */
static void copy_changes(struct pair *both, const struct run_event *event)
{
    for (size_t i = 0; i < event->change_count && !pair_differs(both); i++) {
        pair_copy_row(both, (enum row_table)event->changes[i].table, event->changes[i].slot);
    }
}

static void follow_transaction(struct pair *both, const struct run_event *event, bool presets)
{
    struct outcome simulated = *event->outcome;
    if (!event->committed && simulated.kind != OUTCOME_REFUSED) {
        return; /* a fault took it back, or it never began */
    }
    if (simulated.kind == OUTCOME_UNKNOWN) {
        simulated.kind = OUTCOME_COMMITTED; /* as the store knows it */
    }
    pair_execute(both, event->bundle, &simulated);
    if (presets || event->fault == FAULT_DELAY) {
        copy_changes(both, event);
    }
}

struct follower {
    struct pair both;
    const struct run *run;
};

static void follow(void *context, const struct run_event *event)
{
    struct follower *follower = context;
    struct pair *both = &follower->both;
    if (pair_differs(both)) {
        return;
    }
    if (event->turn == RUN_TRANSACTION) {
        follow_transaction(both, event, follower->run->has_presets);
        if (both->bundles % 50 == 0 && !pair_differs(both)) {
            pair_rows(both);
        }
    } else if (event->turn == RUN_ENVIRONMENT) {
        copy_changes(both, event);
    }
}

static void follow_runs(struct follower *follower, const char *name, uint64_t seeds)
{
    static struct scenario scenario;
    static struct run run;
    struct error error;
    struct pair *both = &follower->both;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
    scenario.faults.rate[FAULT_REORDER].times = 0; /* PostgreSQL takes what is due first */
    scenario.whole_transactions = true;            /* one bundle is compared after the other */
    scenario.faults.rate[FAULT_COMMIT_LATE].times = 0;
    scenario.faults.rate[FAULT_CRASH_COMMIT_LATE].times = 0;
    cr_assert(run_make(&run, &scenario, NULL));
    run.observer = follow;
    run.observer_context = follower;
    follower->run = &run;
    both->rows = &run.world.rows;
    for (uint64_t seed = 1; seed <= seeds && !pair_differs(both); seed++) {
        cr_assert(pair_empty(both->store), "%s", store_pg_why_not(both->store));
        struct choice_source source = choice_random(seed, &scenario.faults);
        run_once(&run, &source);
        both->rows = &run.world.rows;
        if (!pair_differs(both)) {
            pair_rows(both);
        }
    }
    cr_expect_str_empty(both->difference, "%s: %s", name, both->difference);
    run_free(&run);
}

static void agree_on_runs(enum sql_form form, const char *what, uint64_t seeds)
{
    static const char *const names[] = {"tree-3",     "tree-5",      "cycle",  "pending",
                                        "ceilings",   "thresholds",  "peer-3", "conditional",
                                        "overtaking", "last-chance", "crowd",  "short-claims"};
    struct follower follower = {.both.store = open_with(form, NULL, NULL)};
    double since = seconds();
    for (size_t i = 0; i < COUNT(names); i++) {
        follow_runs(&follower, names[i], seeds);
    }
    report(what, &follower.both, since);
    store_pg_close(follower.both.store);
}

/* (G2) */
Test(store_pg, the_engines_bundles_do_the_same_on_both_sides)
{
    PROVES(CLAUSE_ACL_2);
    agree_on_runs(SQL_WHOLE, "engines, whole", 3);
}

Test(store_pg, the_engines_bundles_do_the_same_by_operation)
{
    agree_on_runs(SQL_BY_OPERATION, "engines, by operation", 1);
}

/* ---- two connections ------------------------------------------------------------------------- */

#define JOB      INT64_C(1)
#define ACTIVITY INT64_C(2)
#define GUID     INT64_C(3)

/* A job with two open obligations, an activity whose Leg1 is complete, and, if asked, a GUID whose
 * Step 1 is done. */
static void set_up(struct store_pg *store, bool guid)
{
    cr_assert(pair_empty(store), "%s", store_pg_why_not(store));
    cr_assert(store_pg_run(store,
                           "INSERT INTO " SCHEMA ".job VALUES (1, 2, 0, 0, 0, 7);"
                           "INSERT INTO " SCHEMA ".activity VALUES (2, 1, 0, 1110000000001, 0)"));
    if (guid) {
        cr_assert(
            store_pg_run(store, "INSERT INTO " SCHEMA ".guid VALUES (3, 2, 10000000001, 0, 0, 5)"));
    }
}

static int64_t ask(struct store_pg *store, const char *query)
{
    int64_t number = INT64_MIN;
    cr_assert(store_pg_ask(store, query, &number), "%s", store_pg_why_not(store));
    return number;
}

/* Until so many sessions wait for a lock. */
static void until_waiting(struct store_pg *store, int64_t sessions)
{
    double since = seconds();
    while (ask(store, "SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted") < sessions) {
        cr_assert_lt(seconds() - since, 20.0, "nobody waits");
        store_pg_run(store, "SELECT pg_sleep(0.005)");
    }
}

/* Two connections send the same bundle while a third holds a lock that both need; then it lets go.
 * The third looks at locks through a fourth. */
static void race(const struct bundle *bundle, const char *lock, store_pg_editor *edit,
                 struct outcome outcomes[2])
{
    struct store_pg *racers[2] = {open_with(SQL_WHOLE, edit, NULL),
                                  open_with(SQL_WHOLE, edit, NULL)};
    struct store_pg *holder = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    cr_assert(store_pg_run(holder, "BEGIN") && store_pg_run(holder, lock));
    for (int i = 0; i < 2; i++) {
        store_pg_send(racers[i], bundle, 10);
        until_waiting(watcher, i + 1);
    }
    cr_assert(store_pg_run(holder, "COMMIT"));
    for (int i = 0; i < 2; i++) {
        cr_assert(store_pg_receive(racers[i], &outcomes[i]), "%s", store_pg_why_not(racers[i]));
        store_pg_close(racers[i]);
    }
    store_pg_close(holder);
    store_pg_close(watcher);
}

static struct bundle collate(void)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_STEP2);
    int64_t *p = bundle_append(&bundle, PRIMITIVE_COLLATE, CALL_UNLESS_DONE, 0);
    p[0] = GUID;
    p[1] = JOB;
    p[2] = -1;
    p[3] = ledger_layout(GUID_CHILDREN_SPAWNED)->weight;
    p[4] = ledger_layout(GUID_JOB_CLOSED)->weight;
    return bundle;
}

/* The same in a compound. */
static struct bundle compound(void)
{
    struct bundle last = collate(), bundle;
    bundle_begin(&bundle, BUNDLE_STEP2);
    int64_t *p = bundle_append(&bundle, PRIMITIVE_MARK_ACTIVITY, CALL_PLAIN, PRIMITIVE_VALUES_MAX);
    p[0] = ACTIVITY;
    p[1] = ledger_layout(ACTIVITY_CHILDREN_SPAWNED)->weight;
    p = bundle_append(&bundle, PRIMITIVE_COLLATE, CALL_UNLESS_DONE, 0);
    memcpy(p, last.params, 5 * sizeof *p);
    bundle_join(&bundle, 0);
    return bundle;
}

#define HOLD_JOB      "SELECT FROM " SCHEMA ".job WHERE id = 1 FOR UPDATE"
#define HOLD_ACTIVITY "SELECT FROM " SCHEMA ".activity WHERE id = 2 FOR UPDATE"

/* The trap of E-ACL-24: marker and snapshot are two updates of one row. */
static void two_updates(void *context, const struct primitive *primitive, enum call_mode mode,
                        struct sql_statement *statement)
{
    (void)context;
    (void)mode;
    if (primitive == &primitive_table[PRIMITIVE_COLLATE]) {
        cr_assert_eq(replace(statement, "t.ledger + $4 + j.hit * $5", "t.ledger + j.hit * $5"), 1);
        cr_assert_eq(replace(statement, "u AS (",
                             "m AS (UPDATE " SCHEMA ".guid AS t SET ledger = t.ledger + $4\n"
                             "    FROM j WHERE t.id = $1), u AS ("),
                     1);
    }
}

Test(store_pg, of_two_updates_of_a_row_in_one_statement_one_is_lost)
{
    SETTLES(ERRATUM_ACL_24);
    store_pg_editor *const edits[] = {two_updates, NULL};
    for (size_t i = 0; i < COUNT(edits); i++) {
        struct store_pg *store = open_with(SQL_WHOLE, edits[i], NULL);
        struct bundle bundle = collate();
        struct outcome outcome;
        set_up(store, true);
        cr_assert(store_pg_run(store, "UPDATE " SCHEMA ".job SET threshold = 1"));
        cr_assert(store_pg_execute(store, &bundle, 1, &outcome), "%s", store_pg_why_not(store));
        cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
        int64_t ledger = ask(store, "SELECT ledger FROM " SCHEMA ".guid");
        cr_expect_eq(ledger == 111000000001, edits[i] == NULL, "marker and snapshot: %015lld",
                     (long long)ledger);
        store_pg_close(store);
    }
}

/* The trap of E-ACL-25: the marker is tested on a plain read. */
static void plain_read(void *context, const struct primitive *primitive, enum call_mode mode,
                       struct sql_statement *statement)
{
    (void)context;
    (void)mode;
    if (primitive == NULL || primitive == &primitive_table[PRIMITIVE_COLLATE]) {
        cr_assert_eq(replace(statement, " FOR NO KEY UPDATE), s AS", "), s AS"), 1);
    }
}

Test(store_pg, a_marker_tested_on_a_plain_read_lets_two_racing_step2s_through)
{
    SETTLES(ERRATUM_ACL_25);
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct bundle bundles[] = {collate(), compound()};
    for (size_t i = 0; i < COUNT(bundles); i++) {
        struct outcome outcomes[2];
        set_up(store, true);
        race(&bundles[i], HOLD_JOB, plain_read, outcomes);
        cr_expect_eq(outcomes[0].kind, OUTCOME_COMMITTED);
        cr_expect_eq(outcomes[1].kind, OUTCOME_COMMITTED);
        cr_expect_eq(outcomes[0].skipped + outcomes[1].skipped, 0);
        cr_expect_eq(ask(store, "SELECT semaphore FROM " SCHEMA ".job"), 0, "moved twice");
        cr_expect_eq(ask(store, "SELECT ledger FROM " SCHEMA ".guid"), 112000000001,
                     "a marker of 2");
    }
    store_pg_close(store);
}

Test(store_pg, of_two_racing_step2s_one_moves_the_semaphore)
{
    PROVES(CLAUSE_ACL_17);
    SETTLES(ERRATUM_ACL_25, ERRATUM_ACL_26);
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct bundle bundles[] = {collate(), compound()};
    for (size_t i = 0; i < COUNT(bundles); i++) {
        struct outcome outcomes[2];
        set_up(store, true);
        race(&bundles[i], HOLD_JOB, NULL, outcomes);
        cr_expect_eq(outcomes[0].kind, OUTCOME_COMMITTED);
        cr_expect_eq(outcomes[1].kind, OUTCOME_COMMITTED);
        int skipped = outcomes[0].skipped + outcomes[1].skipped;
        cr_expect_eq(skipped, bundles[i].count, "one of them comes too late");
        cr_expect_eq(outcomes[0].values[0], 11000000001);
        cr_expect_eq(outcomes[1].values[0], 11000000001, "and is told what the other one did");
        cr_expect_eq(ask(store, "SELECT semaphore FROM " SCHEMA ".job"), 1);
        cr_expect_eq(ask(store, "SELECT ledger FROM " SCHEMA ".guid"), 11000000001);
    }
    store_pg_close(store);
}

/* The rival's GUID is not in the loser's snapshot, and is found all the same. */
Test(store_pg, of_two_racing_entries_one_makes_the_guid_and_the_other_finds_it)
{
    PROVES(CLAUSE_ACL_13);
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct outcome outcomes[2];
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_ENTER_LEG2);
    int64_t *p = bundle_append(&bundle, PRIMITIVE_ENTER_LEG2, CALL_PLAIN, 0);
    memcpy(p, (int64_t[]){ACTIVITY, GUID, 0, 5, 100000000000, 100000000, 99999999, 99999998},
           8 * sizeof *p);
    set_up(store, false);
    race(&bundle, HOLD_ACTIVITY, NULL, outcomes);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(outcomes[i].kind, OUTCOME_COMMITTED);
        cr_expect_eq(outcomes[i].values[1], 1, "the dimension of the first entry");
    }
    cr_expect_eq(outcomes[0].values[4] + outcomes[1].values[4], 1, "one of them knew it");
    cr_expect_eq(ask(store, "SELECT ledger FROM " SCHEMA ".activity"), 1110000000003);
    cr_expect_eq(ask(store, "SELECT ledger FROM " SCHEMA ".guid"), 3);
    store_pg_close(store);
}

#define HEAD_ACTIVITY ACTIVITY /* where the cycle goes back to */
#define TAIL_ACTIVITY INT64_C(5)
#define TAIL_GUID     INT64_C(6)
#define TAIL_TASK     INT64_C(8)

static void append_step2(struct bundle *bundle, int64_t activity, int64_t guid)
{
    bundle_begin(bundle, BUNDLE_STEP2);
    int64_t *p = bundle_append(bundle, PRIMITIVE_MARK_ACTIVITY, CALL_PLAIN, 6);
    p[0] = activity;
    p[1] = ledger_layout(ACTIVITY_CHILDREN_SPAWNED)->weight;
    p = bundle_append(bundle, PRIMITIVE_COLLATE, CALL_UNLESS_DONE, 0);
    memcpy(p, (int64_t[]){guid, JOB, 0, 1000000000, 100000000000}, 5 * sizeof *p);
    bundle_join(bundle, 0);
}

/* Step 2 at the end of a cycle: it has the job and publishes a message to the head. */
static struct bundle step2_of_tail(void)
{
    struct bundle bundle;
    append_step2(&bundle, TAIL_ACTIVITY, TAIL_GUID);
    int64_t *p = bundle_append(&bundle, PRIMITIVE_CLOSE_TASK, CALL_REQUIRE, 0);
    p[0] = TAIL_TASK;
    p[1] = TAIL_GUID;
    p = bundle_append(&bundle, PRIMITIVE_PUBLISH, CALL_REQUIRE, 0);
    memset(p, 0, 14 * sizeof *p);
    p[0] = 9;
    p[1 + MESSAGE_ACTIVITY] = HEAD_ACTIVITY;
    bundle_join(&bundle, 0);
    return bundle;
}

static void set_up_tail(struct store_pg *store)
{
    set_up(store, true);
    cr_assert(store_pg_run(store,
                           "INSERT INTO " SCHEMA ".activity VALUES (5, 1, 1, 1110000000001, 3);"
                           "INSERT INTO " SCHEMA ".guid VALUES (6, 5, 10000000001, 0, 0, 5);"
                           "INSERT INTO " SCHEMA ".task VALUES (8, 5, 1, 0, 1)"));
}

/* The tail is held up at its task, with the job in hand; the head marks itself and waits for the
 * job; then the tail goes on and refers to the head. */
static void race_round_a_cycle(store_pg_editor *edit, struct outcome *tail, struct outcome *head)
{
    struct store_pg *holder = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *stores[2] = {open_with(SQL_WHOLE, edit, NULL),
                                  open_with(SQL_WHOLE, edit, NULL)};
    struct bundle bundles[2] = {step2_of_tail()};
    append_step2(&bundles[1], HEAD_ACTIVITY, GUID);
    set_up_tail(watcher);
    cr_assert(store_pg_run(holder, "BEGIN") &&
              store_pg_run(holder, "SELECT FROM " SCHEMA ".task FOR UPDATE"));
    for (int i = 0; i < 2; i++) {
        store_pg_send(stores[i], &bundles[i], 1);
        until_waiting(watcher, i + 1);
    }
    cr_assert(store_pg_run(holder, "COMMIT"));
    cr_assert(store_pg_receive(stores[0], tail), "%s", store_pg_why_not(stores[0]));
    cr_assert(store_pg_receive(stores[1], head), "%s", store_pg_why_not(stores[1]));
    store_pg_close(stores[0]);
    store_pg_close(stores[1]);
    store_pg_close(holder);
    store_pg_close(watcher);
}

static void stronger_lock(void *context, const struct primitive *primitive, enum call_mode mode,
                          struct sql_statement *statement)
{
    (void)context;
    (void)primitive;
    (void)mode;
    replace(statement, "FOR NO KEY UPDATE", "FOR UPDATE");
}

/* Why rows that stay are locked FOR NO KEY UPDATE (Q4): all rows are locked in the one order, and
 * yet the share lock of a foreign key meets a row lock that is too strong. (Q3) */
Test(store_pg, rows_locked_for_update_let_a_cycle_deadlock_in_spite_of_the_order)
{
    SETTLES(ERRATUM_ACL_28);
    struct outcome tail, head;
    race_round_a_cycle(stronger_lock, &tail, &head);
    cr_expect_eq((tail.kind == OUTCOME_ABORTED) + (head.kind == OUTCOME_ABORTED), 1);
    cr_expect_eq(tail.kind == OUTCOME_ABORTED ? tail.aborted : head.aborted, ABORT_DEADLOCK);
    race_round_a_cycle(NULL, &tail, &head);
    cr_expect_eq(tail.kind, OUTCOME_COMMITTED);
    cr_expect_eq(head.kind, OUTCOME_COMMITTED);
}

/* A child's activity and its message. */
static void append_child(struct bundle *bundle, int64_t child)
{
    int64_t *p = bundle_append(bundle, PRIMITIVE_ADD_ACTIVITY, CALL_REQUIRE, 0);
    memcpy(p, (int64_t[]){child, JOB, 1, 0, TAIL_GUID}, 5 * sizeof *p);
    p = bundle_append(bundle, PRIMITIVE_PUBLISH, CALL_REQUIRE, 0);
    memset(p, 0, 14 * sizeof *p);
    p[0] = child + 1;
    p[1 + MESSAGE_ACTIVITY] = child;
}

/* Two children and a message round a cycle, at a task that is closed. */
static struct bundle wide_step2(void)
{
    struct bundle bundle = step2_of_tail();
    append_child(&bundle, 20);
    append_child(&bundle, 30);
    bundle_join(&bundle, 0);
    return bundle;
}

/* Every row carries the number of the command that wrote it. */
Test(store_pg, step2_with_all_its_children_is_one_statement)
{
    PROVES(CLAUSE_ACL_27);
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct bundle bundle = wide_step2();
    struct outcome outcome;
    set_up_tail(store);
    cr_assert(store_pg_execute(store, &bundle, 1, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    static const char written[] =
        "SELECT %s FROM (SELECT xmin AS x, cmin::text AS c FROM " SCHEMA ".guid WHERE id = 6\n"
        "  UNION ALL SELECT xmin, cmin::text FROM " SCHEMA ".job\n"
        "  UNION ALL SELECT xmin, cmin::text FROM " SCHEMA ".task\n"
        "  UNION ALL SELECT xmin, cmin::text FROM " SCHEMA ".message\n"
        "  UNION ALL SELECT xmin, cmin::text FROM " SCHEMA ".activity WHERE id >= 5) AS rows\n"
        "  WHERE x::text = (SELECT xmin::text FROM " SCHEMA ".job)";
    char query[sizeof written + 32];
    snprintf(query, sizeof query, written, "count(*)");
    cr_expect_eq(ask(store, query), 1 + 1 + 1 + 3 + 3, "GUID, job, task, messages, activities");
    snprintf(query, sizeof query, written, "count(DISTINCT c)");
    cr_expect_eq(ask(store, query), 1, "one command wrote them all");
    store_pg_close(store);
}

/* (CP3) Which of its calls was refused, as the calls one after the other would tell. */
Test(store_pg, a_refused_step2_names_the_call)
{
    PROVES(CLAUSE_ACL_27);
    static const struct {
        const char *before;
        uint8_t refusal, call;
    } cases[] = {
        {"UPDATE " SCHEMA ".job SET semaphore = -5", REFUSED_NEGATIVE, 1},
        {"UPDATE " SCHEMA ".task SET closed = 77", REFUSED_CLOSED, 2},
        {"DELETE FROM " SCHEMA ".task", REFUSED_CLOSED, 2},
        {"INSERT INTO " SCHEMA ".activity VALUES (30, 1, 1, 0, 3)", REFUSED_EXISTS, 6},
        {"INSERT INTO " SCHEMA ".message SELECT 31, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
         REFUSED_EXISTS, 7},
        {"DELETE FROM " SCHEMA ".guid WHERE id = 3; DELETE FROM " SCHEMA ".activity WHERE id = 2",
         REFUSED_NO_PARENT, 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bundle bundle = wide_step2();
        enum sql_form forms[] = {SQL_WHOLE, SQL_BY_OPERATION};
        for (size_t f = 0; f < COUNT(forms); f++) {
            struct store_pg *store = open_with(forms[f], NULL, NULL);
            struct outcome outcome;
            set_up_tail(store);
            cr_assert(store_pg_run(store, cases[i].before), "%s", store_pg_why_not(store));
            cr_assert(store_pg_execute(store, &bundle, 1, &outcome), "%s", store_pg_why_not(store));
            cr_expect_eq(outcome.kind, OUTCOME_REFUSED, "case %zu", i);
            cr_expect_eq(outcome.refusal, cases[i].refusal, "case %zu: %d", i, outcome.refusal);
            cr_expect_eq(outcome.skipped, cases[i].call + 1, "case %zu: %d", i, outcome.skipped);
            cr_expect_eq(ask(store, "SELECT count(*) FROM " SCHEMA ".activity WHERE id = 20"), 0);
            store_pg_close(store);
        }
    }
}

Test(store_pg, two_claims_at_once_take_two_messages)
{
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *holder = open_with(SQL_WHOLE, NULL, NULL);
    struct outcome outcome;
    struct bundle bundle;
    set_up(store, false);
    cr_assert(store_pg_run(store,
                           "INSERT INTO " SCHEMA ".message SELECT i, 1, 1, 2, 0, 0, 0, 0, 0, "
                           "0, 0, 0, 0, 0, i, 0 FROM generate_series(21, 23) i"));
    cr_assert(store_pg_run(holder, "BEGIN") &&
              store_pg_run(holder, "SELECT FROM " SCHEMA ".message WHERE id = 21 FOR UPDATE"));
    bundle_begin(&bundle, BUNDLE_CLAIM);
    bundle_append(&bundle, PRIMITIVE_CLAIM, CALL_PLAIN, 0)[0] = 30;
    static const int64_t expected[] = {22, 23, 0};
    for (size_t i = 0; i < COUNT(expected); i++) {
        cr_assert(store_pg_execute(store, &bundle, 50, &outcome), "%s", store_pg_why_not(store));
        bool none = expected[i] == 0;
        cr_expect_eq(outcome.kind, none ? OUTCOME_REFUSED : OUTCOME_COMMITTED);
        cr_expect_eq(none ? outcome.refusal : outcome.message[0],
                     none ? REFUSED_NO_MESSAGE : expected[i]);
    }
    store_pg_close(holder);
    store_pg_close(store);
}

/* The transaction of a refused bundle is ended by the next one, but its locks end with it. */
Test(store_pg, a_refused_bundle_holds_no_lock)
{
    struct store_pg *stores[2] = {open_with(SQL_WHOLE, NULL, NULL),
                                  open_with(SQL_WHOLE, NULL, NULL)};
    struct outcome outcome;
    struct bundle bundle = collate();
    set_up(stores[0], true);
    bundle_append(&bundle, PRIMITIVE_ACK, CALL_REQUIRE, 0)[0] = 99;
    cr_assert(store_pg_execute(stores[0], &bundle, 1, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_REFUSED);
    cr_expect_eq(outcome.refusal, REFUSED_EPOCH);
    cr_expect_eq(outcome.skipped, 2, "the second call was refused");
    bundle = collate();
    cr_assert(store_pg_run(stores[1], "SET lock_timeout = '2s'"));
    cr_assert(store_pg_execute(stores[1], &bundle, 1, &outcome), "%s", store_pg_why_not(stores[1]));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    cr_expect_eq(outcome.skipped, 0, "nothing of the refused one is left");
    cr_assert(store_pg_execute(stores[0], &bundle, 1, &outcome), "%s", store_pg_why_not(stores[0]));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    cr_expect_eq(outcome.skipped, 1);
    store_pg_close(stores[0]);
    store_pg_close(stores[1]);
}

/* ---- connections that die -------------------------------------------------------------------- */

static void kill_backend(struct store_pg *store, int backend)
{
    char query[80];
    snprintf(query, sizeof query, "SELECT pg_terminate_backend(%d, 5000)::int::bigint", backend);
    cr_assert_eq(ask(store, query), 1);
}

/* (X3) */
Test(store_pg, a_bundle_whose_answer_nobody_heard_is_unknown_and_may_have_committed)
{
    SETTLES(ERRATUM_ACL_13);
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    struct bundle bundle = collate();
    struct outcome outcome;
    set_up(watcher, false);
    cr_assert(store_pg_execute(store, &bundle, 9, &outcome)); /* finds no GUID; prepares */
    set_up(watcher, true);
    int backend = store_pg_backend(store);
    store_pg_send(store, &bundle, 10);
    store_pg_cut(store);
    cr_assert(store_pg_receive(store, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_UNKNOWN);
    char gone[80];
    snprintf(gone, sizeof gone, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d", backend);
    while (ask(watcher, gone) != 0) {
        store_pg_run(watcher, "SELECT pg_sleep(0.005)");
    }
    cr_expect_eq(ask(watcher, "SELECT semaphore FROM " SCHEMA ".job"), 1, "it did");
    cr_assert(store_pg_execute(store, &bundle, 11, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED, "on a new connection");
    cr_expect_eq(outcome.skipped, 1, "and is found done");
    store_pg_close(store);
    store_pg_close(watcher);
}

Test(store_pg, a_connection_that_died_idle_is_an_abort_and_the_next_one_works)
{
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    struct bundle bundle = collate();
    struct outcome outcome;
    set_up(watcher, true);
    kill_backend(watcher, store_pg_backend(store));
    cr_assert(store_pg_execute(store, &bundle, 10, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(outcome.aborted, ABORT_CONNECTION);
    cr_expect_eq(ask(watcher, "SELECT semaphore FROM " SCHEMA ".job"), 2);
    cr_assert(store_pg_execute(store, &bundle, 10, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    store_pg_close(store);
    store_pg_close(watcher);
}

Test(store_pg, a_session_ended_while_it_waits_is_an_abort)
{
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *holder = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    struct bundle bundle = collate();
    struct outcome outcome;
    set_up(watcher, true);
    cr_assert(store_pg_run(holder, "BEGIN") && store_pg_run(holder, HOLD_JOB));
    store_pg_send(store, &bundle, 10);
    until_waiting(watcher, 1);
    kill_backend(watcher, store_pg_backend(store));
    cr_assert(store_pg_receive(store, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(outcome.aborted, ABORT_CONNECTION);
    store_pg_close(holder);
    store_pg_close(store);
    cr_expect_eq(ask(watcher, "SELECT semaphore FROM " SCHEMA ".job"), 2);
    store_pg_close(watcher);
}

Test(store_pg, two_bundles_that_lock_each_other_out_end_with_one_deadlock)
{
    struct store_pg *stores[2] = {open_with(SQL_WHOLE, NULL, NULL),
                                  open_with(SQL_WHOLE, NULL, NULL)};
    struct store_pg *holder = open_with(SQL_WHOLE, NULL, NULL);
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    struct outcome outcomes[2];
    set_up(watcher, true);
    cr_assert(store_pg_run(watcher, "INSERT INTO " SCHEMA ".guid VALUES (4, 2, 1, 0, 0, 5);"
                                    "INSERT INTO " SCHEMA ".task VALUES (8, 2, 1, 0, 1)"));
    cr_assert(store_pg_run(holder, "BEGIN") &&
              store_pg_run(holder, "SELECT FROM " SCHEMA ".task FOR UPDATE"));
    for (int i = 0; i < 2; i++) { /* against (PM3), on purpose: GUIDs in opposite orders */
        struct bundle bundle;
        bundle_begin(&bundle, BUNDLE_STEP1);
        for (int k = 0; k < 3; k++) {
            int64_t *p = bundle_append(&bundle, k == 1 ? PRIMITIVE_CLOSE_TASK : PRIMITIVE_MARK_GUID,
                                       CALL_PLAIN, 0);
            p[0] = k == 1 ? 8 : (k == 0) == (i == 0) ? 3 : 4;
            p[1] = 100000000;
        }
        store_pg_send(stores[i], &bundle, 1);
        until_waiting(watcher, i + 1);
    }
    cr_assert(store_pg_run(holder, "COMMIT"));
    for (int i = 0; i < 2; i++) {
        cr_assert(store_pg_receive(stores[i], &outcomes[i]), "%s", store_pg_why_not(stores[i]));
        store_pg_close(stores[i]);
    }
    int victim = outcomes[0].kind == OUTCOME_ABORTED ? 0 : 1;
    cr_expect_eq(outcomes[victim].kind, OUTCOME_ABORTED);
    cr_expect_eq(outcomes[victim].aborted, ABORT_DEADLOCK);
    cr_expect_eq(outcomes[1 - victim].kind, OUTCOME_COMMITTED);
    store_pg_close(holder);
    store_pg_close(watcher);
}

/* (H3) */
Test(store_pg, a_schema_that_is_there_is_not_made_again_and_stays_as_it_was)
{
    struct error error;
    int64_t kept = 0;
    struct store_pg *store = open_with(SQL_WHOLE, NULL, NULL);
    cr_assert(store_pg_run(store, "COMMENT ON SCHEMA " PAIR_SCHEMA " IS 'as it was'"));
    cr_expect_not(store_pg_make_schema(server_dsn(), PAIR_SCHEMA, UINT64_MAX, &error));
    cr_expect_not_null(strstr(error.text, PAIR_SCHEMA), "%s", error.text);
    cr_expect(store_pg_ask(store,
                           "SELECT (obj_description('" PAIR_SCHEMA
                           "'::regnamespace) = 'as it was')::int::bigint",
                           &kept));
    cr_expect_eq(kept, 1);
    store_pg_close(store);
}

Test(store_pg, what_the_server_does_not_know_is_told_in_one_line)
{
    struct error error;
    struct store_pg_options options = {.dsn = server_dsn(),
                                       .schema = "nowhere",
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT};
    struct store_pg *store = store_pg_open(&options, &error);
    cr_assert_not_null(store, "%s", error.text);
    struct bundle bundle = collate();
    struct outcome outcome;
    cr_expect_not(store_pg_execute(store, &bundle, 1, &outcome));
    cr_expect(strstr(store_pg_why_not(store), "nowhere") != NULL, "%s", store_pg_why_not(store));
    store_pg_close(store);
    options.schema = "Two words";
    cr_expect_null(store_pg_open(&options, &error));
    cr_expect(strstr(error.text, "Two words") != NULL, "%s", error.text);
    cr_expect_not(store_pg_make_schema(server_dsn(), SCHEMA, UINT64_MAX, &error), "it is there");
    cr_expect(strstr(error.text, "already exists") != NULL, "%s", error.text);
    cr_expect(store_pg_drop_schema(server_dsn(), SCHEMA, &error), "%s", error.text);
}

/* A role without connections is refused as a full server is: 53300. */
Test(store_pg, a_refused_connection_names_its_sqlstate)
{
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    cr_assert(store_pg_run(watcher, "DROP ROLE IF EXISTS guest"));
    cr_assert(store_pg_run(watcher, "CREATE ROLE guest LOGIN CONNECTION LIMIT 0"));
    char as_guest[CLUSTER_DSN_SIZE + 16];
    snprintf(as_guest, sizeof as_guest, "%s user=guest", server_dsn());
    struct error error;
    cr_expect_null(store_pg_open(&(struct store_pg_options){.dsn = as_guest,
                                                            .schema = SCHEMA,
                                                            .primitives = primitive_table,
                                                            .primitive_count = PRIMITIVE_COUNT},
                                 &error));
    cr_expect(strstr(error.text, " 53300: ") != NULL, "%s", error.text);
    store_pg_close(watcher);
}

/* Connected once, cut, and turned away when it comes again. */
Test(store_pg, a_bundle_that_finds_no_connection_free_is_aborted_for_that)
{
    struct store_pg *watcher = open_with(SQL_WHOLE, NULL, NULL);
    cr_assert(store_pg_run(watcher, "DROP ROLE IF EXISTS visitor"));
    cr_assert(store_pg_run(watcher, "CREATE ROLE visitor LOGIN"));
    char as_visitor[CLUSTER_DSN_SIZE + 16];
    snprintf(as_visitor, sizeof as_visitor, "%s user=visitor", server_dsn());
    struct error error;
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = as_visitor,
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &error);
    cr_assert_not_null(store, "%s", error.text);
    cr_assert(store_pg_run(watcher, "ALTER ROLE visitor CONNECTION LIMIT 0"));
    store_pg_cut(store);
    struct bundle bundle = collate();
    struct outcome outcome;
    cr_assert(store_pg_execute(store, &bundle, 1, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(outcome.aborted, ABORT_CONNECTIONS);
    store_pg_close(store);
    store_pg_close(watcher);
}

/* ---- what a look reads ----------------------------------------------------------------------- */

/* Rows of this table that any transaction has read so far. */
static int64_t rows_read(struct store_pg *store)
{
    (void)ask(store, "SELECT 1::bigint FROM pg_stat_force_next_flush()");
    (void)ask(store, "SELECT 1::bigint FROM pg_stat_clear_snapshot()");
    return ask(store, "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables "
                      "WHERE schemaname = '" SCHEMA "' AND relname = 'seq'");
}

/* As many seqs in each of the states that a search is for. */
static void fill_with_seqs(struct store_pg *store, int64_t each)
{
    char text[700];
    snprintf(text, sizeof text,
             "TRUNCATE " SCHEMA ".seq CASCADE; INSERT INTO " SCHEMA ".seq (id, number, state, "
             "owner, attempts, heartbeat, beat_by, beat_run, cancel_at, fail_class, ended_by, "
             "ended_run, ended_at, moves, retry, unwanted) SELECT 1000 + n, n, n %% 8, 0, 0, n, 0, "
             "0, 0, 0, 0, 0, 0, 0, (n %% 16 = 5)::int, n / 8 %% 2 FROM generate_series(0, %d) AS n",
             (int)(8 * each - 1));
    cr_assert(store_pg_run(store, text), "%s", store_pg_why_not(store));
}

/* What the rows of one look of each role are, with so many seqs in each state. */
static void expect_few_rows(struct store_pg *store, int64_t each, int most)
{
    static struct rules rules = {.protocol = &protocol_seq,
                                 .actors = 4,
                                 .cast = {SEQ_WORKER, SEQ_RECLAIMER, SEQ_CANCELLER, SEQ_COMMITTER},
                                 .jobs = 1,
                                 .timeout = 20,
                                 .put_back = 7};
    fill_with_seqs(store, each);
    for (unsigned a = 0; a < rules.actors; a++) {
        struct actor actor;
        struct bundle bundle;
        struct outcome outcome;
        protocol_begin(&actor, &rules, a);
        const struct role *role = protocol_role(&rules, a);
        role->next(&actor, &rules, &bundle);
        cr_assert_eq(bundle.name, BUNDLE_SEQ_LOOK);
        int64_t before = rows_read(store);
        cr_assert(store_pg_execute(store, &bundle, 1000000, &outcome), "%s",
                  store_pg_why_not(store));
        int64_t read = rows_read(store) - before;
        cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
        cr_expect_neq(outcome.values[0], 0, "%s finds one", role->name);
        cr_expect_leq(read, (int64_t)most * bundle.count, "%s: %" PRId64 " rows of %" PRId64,
                      role->name, read, INT64_C(8) * each);
    }
}

/* However many there are: a row for each search, and by operation one more for each cell of it. */
Test(store_pg, to_find_the_next_seq_takes_one_row)
{
    PROVES(CLAUSE_SEQ_17);
    for (int form = 0; form < 2; form++) {
        struct store_pg *store = open_with((enum sql_form)form, NULL, NULL);
        expect_few_rows(store, 50, form == SQL_WHOLE ? 1 : 3);
        expect_few_rows(store, 2000, form == SQL_WHOLE ? 1 : 3);
        store_pg_close(store);
    }
}

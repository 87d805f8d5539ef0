/* The pipeline's two principals on a server of its own: the phases run with the grants of the
 * matrix and no others, a forbidden write answers 42501, a third connection 53300. */
#include "faults/pipeline_guards.h"
#include "faults/sabotage.h"
#include "model/pipeline.h"
#include "model/protocol.h"
#include "model/tests/proves.h"
#include "model/tests/rules.h"
#include "real/cell.h"
#include "real/driver.h"
#include "real/run_schema.h"
#include "real/schema.h"
#include "real/stepper.h"
#include "real/tests/server.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#define SCHEMA      "assay_pipeline"
#define PATIENCE_MS 20000

static struct store_pg *owner;
static struct roles roles;
static struct shared_page *page;

static uint64_t tables(void)
{
    return protocol_pipeline.tables;
}

static struct store_pg *open_as(enum principal principal, struct error *error)
{
    return store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                    .role = roles.names[principal],
                                                    .password = roles.password,
                                                    .schema = SCHEMA,
                                                    .primitives = primitive_table,
                                                    .primitive_count = PRIMITIVE_COUNT},
                         error);
}

static struct store_pg *must_open(enum principal principal)
{
    struct error error;
    struct store_pg *store = open_as(principal, &error);
    cr_assert_not_null(store, "%s", error.text);
    return store;
}

static int64_t ask(const char *query)
{
    int64_t number = -1;
    cr_assert(store_pg_ask(owner, query, &number), "%s: %s", query, store_pg_why_not(owner));
    return number;
}

/* A backend is there for a moment after its connection is gone. */
static void await_connections(enum principal principal, int64_t count)
{
    char query[200];
    snprintf(query, sizeof query, "SELECT count(*) FROM pg_stat_activity WHERE usename = '%s'",
             roles.names[principal]);
    while (ask(query) > count) {
    }
}

static void make(void)
{
    struct error error;
    if (server_dsn() == NULL) {
        cr_skip_test("%s", getenv(SERVER_WITHOUT_VARIABLE));
    }
    cr_assert(store_pg_drop_schema(server_dsn(), SCHEMA, &error), "%s", error.text);
    cr_assert(store_pg_make_schema(server_dsn(), SCHEMA, tables(), &error), "%s", error.text);
    roles_draw(&roles, protocol_pipeline.principals);
    cr_assert(store_pg_make_roles(server_dsn(), SCHEMA, &roles, &error), "%s", error.text);
    owner = store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                     .schema = SCHEMA,
                                                     .primitives = primitive_table,
                                                     .primitive_count = PRIMITIVE_COUNT},
                          &error);
    cr_assert_not_null(owner, "%s", error.text);
    page = shared_page_make();
    cr_assert_not_null(page);
    await_connections(PRINCIPAL_EXEC, 0);
    await_connections(PRINCIPAL_VERIFY, 0);
}

static void unmake(void)
{
    struct error error;
    if (owner == NULL) {
        return;
    }
    cr_expect(store_pg_drop_schema(server_dsn(), SCHEMA, &error), "%s", error.text);
    cr_expect(store_pg_drop_roles(server_dsn(), &roles, &error), "%s", error.text);
    cr_expect_eq(ask("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'assay\\_%'"), 0);
    store_pg_close(owner);
    shared_page_free(page);
}

TestSuite(pipeline_pg, .init = make, .fini = unmake, .timeout = 60);

/* ---- the phases ------------------------------------------------------------------------------ */

static struct rules rules = {.protocol = &protocol_pipeline,
                             .actors = 2,
                             .cast = {PIPELINE_CLIENT, PIPELINE_WORKER},
                             .jobs = 1,
                             .timeout = 60};
OWN_RULES(rules, pipeline_rules, .entry_count = 2,
          .entries = {{.reviews = 2,
                       .verifies = 2,
                       .decisions = {DECISION_REJECT, DECISION_APPROVE},
                       .outcomes = {VERIFIED_PASS, VERIFIED_PASS}},
                      {.blocker_count = 1,
                       .reviews = 1,
                       .verifies = 1,
                       .decisions = {DECISION_APPROVE},
                       .outcomes = {VERIFIED_FAIL}}})

/* Plays both actors, one after the other, for as long as that. */
static enum driver_end play(const struct sabotage *sabotage, int64_t ms)
{
    struct error error = {""};
    struct driver driver = {.dsn = server_dsn(),
                            .schema = SCHEMA,
                            .roles = &roles,
                            .rules = &rules,
                            .page = page,
                            .sabotage = sabotage,
                            .give_up_at = driver_now() + ms};
    shared_page_begin(page, &rules);
    enum driver_end end = driver_act(&driver, 0, &error);
    if (end == DRIVER_QUIET) {
        page->clients_left--;
        end = driver_act(&driver, 1, &error);
    }
    cr_expect_neq(end, DRIVER_FAILED, "%s", error.text);
    return end;
}

/* Stops for this reason, and no other. */
#define STOPS_OF(reason)                                                                           \
    "SELECT count(*) FILTER (WHERE reason LIKE '" reason "') - count(*) FILTER (WHERE reason NOT " \
    "LIKE '" reason "' AND reason <> 'marked') FROM " SCHEMA ".decision_backlog_sweep_log"

static void expect_done(void)
{
    char query[300];
    for (int64_t node = 0; node < 2; node++) {
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM " SCHEMA ".decision_backlog_entry WHERE entry_id = "
                 "lpad(to_hex(%" PRId64 "), 32, '0')::uuid AND status = '%s'",
                 pipeline_entry_id(0, node),
                 node == 0 ? "verified_complete" : "verify_failed_escalated");
        cr_expect_eq(ask(query), 1, "%s", query);
    }
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA ".verify_result"), 3);
    cr_expect_eq(
        ask("SELECT count(*) FROM " SCHEMA ".decision_backlog_entry WHERE kind = 'escalation'"), 1,
        "an escalation");
    cr_expect_eq(
        ask("SELECT count(*) FROM " SCHEMA ".decision_backlog_sweep_log WHERE reason <> 'marked'"),
        0, "no stop");
}

Test(pipeline_pg, the_phases_run_with_the_grants_of_the_matrix)
{
    PROVES(CLAUSE_CUT_11, CLAUSE_CUT_24, CLAUSE_CUT_10);
    SETTLES(ERRATUM_CUT_8, ERRATUM_CUT_14);
    cr_expect_eq(play(NULL, PATIENCE_MS), DRIVER_QUIET);
    expect_done();
}

/* A principal without a connection tries as often as with any transient error; then the phase stops, and
 * the entry is as it was: not there. */
Test(pipeline_pg, who_finds_no_connection_tries_so_often_and_stops)
{
    PROVES(CLAUSE_CUT_12, CLAUSE_CUT_18);
    SETTLES(ERRATUM_CUT_15);
    struct store_pg *first = must_open(PRINCIPAL_EXEC), *second = must_open(PRINCIPAL_EXEC);
    (void)play(NULL, 200);
    cr_expect_gt(page->turned_away, (uint64_t)PIPELINE_TRIES_MAX);
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA ".decision_backlog_entry"), 0);
    cr_expect_gt(ask("SELECT count(*) FROM " SCHEMA ".decision_backlog_sweep_log"
                     " WHERE reason = 'stopped: out of tries'"),
                 0);
    store_pg_close(first);
    store_pg_close(second);
}

/* One that holds something finds no connection: a fault only where a rival took them. */
Test(pipeline_pg, who_is_turned_away_by_its_own_limit_is_no_victim)
{
    struct error error;
    struct outcome outcome;
    struct bundle bundle;
    struct store_pg *third =
        store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                 .schema = SCHEMA,
                                                 .role = roles.names[PRINCIPAL_EXEC],
                                                 .password = roles.password,
                                                 .lazily = true,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &error);
    struct store_pg *first = must_open(PRINCIPAL_EXEC), *second = must_open(PRINCIPAL_EXEC);
    bundle_begin(&bundle, BUNDLE_READ);
    bundle.principal = PRINCIPAL_EXEC;
    shared_page_begin(page, &rules);
    page->actors[0].holds = true;
    for (unsigned long crowd = 0; crowd <= 1; crowd++) {
        page->crowd = crowd == 1;
        page->actors[0].crowded = false;
        cr_assert(shared_execute(page, 0, third, &bundle, &outcome));
        cr_expect_eq(outcome.aborted, ABORT_CONNECTIONS);
        cr_expect_eq(page->turned_away, 1UL);
        cr_expect_eq(page->actors[0].aborted[ABORT_CONNECTIONS], crowd);
    }
    store_pg_close(first);
    store_pg_close(second);
    store_pg_close(third);
}

Test(pipeline_pg, a_phase_of_the_wrong_principal_is_refused_and_left_to_people)
{
    PROVES(CLAUSE_CUT_11);
    SETTLES(ERRATUM_CUT_16);
    struct sabotage sabotage;
    cr_assert(sabotage_find("pipeline-verifier-is-executor", &sabotage));
    cr_expect_eq(play(&sabotage, PATIENCE_MS), DRIVER_QUIET);
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA ".cut_change_set"), 1);
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA ".verify_result"), 0);
    cr_expect_eq(ask(STOPS_OF("%(42501)")), 1);
}

/* ---- a CUT that waits for a re-review (E-CUT-11) -----------------------------------------------
 */

static struct rules race = {.protocol = &protocol_pipeline,
                            .actors = 2,
                            .cast = {PIPELINE_CLIENT, PIPELINE_WORKER},
                            .jobs = 1,
                            .timeout = 60};
OWN_RULES(race, pipeline_rules, .entry_count = 1,
          .entries = {{.reviews = 2,
                       .verifies = 1,
                       .decisions = {DECISION_APPROVE, DECISION_APPROVE},
                       .outcomes = {VERIFIED_PASS}}})

/* Requests pass from hand to hand here: the queue is the caller's, and not in the matrix. */
static struct outcome queue[64];
static size_t queued, taken;

static void publish(const struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        if (call->primitive == PRIMITIVE_PUBLISH) {
            cr_assert_lt(queued, COUNT(queue));
            queue[queued].kind = OUTCOME_COMMITTED;
            memcpy(queue[queued++].message, &bundle->params[call->params],
                   (1 + MESSAGE_VISIBLE_AT) * sizeof(int64_t));
        }
    }
}

/* One request from its claim to its end. */
static void serve(const struct rules *plan, struct actor *worker)
{
    const struct role *role = protocol_role(plan, 1);
    struct bundle bundle;
    role->take(worker, plan, &queue[taken++]);
    while (!role->is_idle(worker)) {
        struct outcome outcome = {.kind = OUTCOME_COMMITTED};
        role->next(worker, plan, &bundle);
        if (bundle.name == BUNDLE_HAND_ON) {
            publish(&bundle);
        } else {
            cr_assert(store_pg_execute(owner, &bundle, 1, &outcome), "%s: %s",
                      bundle_name_text((enum bundle_name)bundle.name), store_pg_why_not(owner));
        }
        role->take(worker, plan, &outcome);
    }
}

static void bundle_of_request(const struct outcome *request, struct bundle *bundle)
{
    struct actor worker;
    protocol_begin(&worker, &race, 1);
    protocol_role(&race, 1)->take(&worker, &race, request);
    protocol_role(&race, 1)->next(&worker, &race, bundle);
}

/* MARK and the first REVIEW are through; the re-review and the CUT of the first are asked for. */
static void reach_race(struct bundle *rereview, struct bundle *cut)
{
    struct actor client, worker;
    struct bundle bundle;
    protocol_begin(&client, &race, 0);
    protocol_begin(&worker, &race, 1);
    protocol_role(&race, 0)->next(&client, &race, &bundle);
    publish(&bundle);
    serve(&race, &worker);
    serve(&race, &worker);
    bundle_of_request(&queue[taken], rereview);
    bundle_of_request(&queue[taken + 1], cut);
    cr_assert_eq(rereview->name, BUNDLE_REVIEW);
    cr_assert_eq(cut->name, BUNDLE_CUT);
}

/* Statements of calls from `call` on; returns the SQLSTATE that stopped it, or "". */
static const char *say(struct stepper *stepper, unsigned connection, const struct bundle *bundle,
                       unsigned call)
{
    uint32_t answered;
    for (; call < bundle->count; call++) {
        for (int s = 0; s < stepper_statements(stepper, connection, call); s++) {
            cr_assert(stepper_send(stepper, connection, call, s));
            cr_assert(stepper_settle(stepper, false, &answered), "%s", stepper_why_not(stepper));
            const struct stepper_answer *answer = stepper_answer(stepper, connection);
            if (answer->sqlstate[0] != '\0') {
                return answer->sqlstate;
            }
        }
    }
    return "";
}

/* COMMIT. */
static const char *end(struct stepper *stepper, unsigned connection)
{
    uint32_t answered;
    cr_assert(stepper_end(stepper, connection, true));
    cr_assert(stepper_settle(stepper, false, &answered), "%s", stepper_why_not(stepper));
    return stepper_answer(stepper, connection)->sqlstate;
}

/* Both. */
static const char *go_on(struct stepper *stepper, unsigned connection, const struct bundle *bundle,
                         unsigned call)
{
    const char *sqlstate = say(stepper, connection, bundle, call);
    return sqlstate[0] != '\0' ? sqlstate : end(stepper, connection);
}

static void send_lock(struct stepper *stepper, unsigned connection, const struct bundle *bundle)
{
    uint32_t answered;
    cr_assert(stepper_begin(stepper, connection, bundle, 1), "%s", stepper_why_not(stepper));
    cr_assert(stepper_send(stepper, connection, 0, 0));
    cr_assert(stepper_settle(stepper, false, &answered), "%s", stepper_why_not(stepper));
}

/* What becomes of the CUT: an SQLSTATE, or "" if it committed. */
static void race_on_server(const struct sabotage *sabotage, char sqlstate[6])
{
    static struct primitive primitives[SABOTAGE_TABLE_SIZE];
    struct bundle rereview, cut;
    struct error error;
    reach_race(&rereview, &cut);
    sabotage_primitives(sabotage, primitives);
    if (sabotage != NULL) {
        struct sabotage_memory memory = {0};
        sabotage_bundle(sabotage, &memory, &(struct actor){.role = PIPELINE_WORKER}, &rereview);
    }
    struct stepper *stepper =
        stepper_open(&(struct stepper_options){.dsn = server_dsn(),
                                               .schema = SCHEMA,
                                               .primitives = primitives,
                                               .primitive_count = SABOTAGE_TABLE_SIZE,
                                               .connections = 2,
                                               .principals = roles.principals},
                     &error);
    cr_assert_not_null(stepper, "%s", error.text);
    send_lock(stepper, 0, &rereview);
    send_lock(stepper, 1, &cut);
    cr_expect_eq(stepper_blocked(stepper), 2U, "the CUT waits, and has its snapshot");
    cr_expect_str_empty(go_on(stepper, 0, &rereview, 1));
    memcpy(sqlstate, go_on(stepper, 1, &cut, 1), 6);
    stepper_close(stepper);
}

/* The lock has two keys: a class, and the hash of the entry's id as text. */
Test(pipeline_pg, the_lock_of_an_entry_is_a_class_and_the_hash_of_its_id)
{
    PROVES(CLAUSE_CUT_16);
    SETTLES(ERRATUM_CUT_17);
    struct bundle rereview, cut;
    struct error error;
    char query[300];
    reach_race(&rereview, &cut);
    struct stepper *stepper =
        stepper_open(&(struct stepper_options){.dsn = server_dsn(),
                                               .schema = SCHEMA,
                                               .primitives = primitive_table,
                                               .primitive_count = PRIMITIVE_COUNT,
                                               .connections = 2,
                                               .principals = roles.principals},
                     &error);
    cr_assert_not_null(stepper, "%s", error.text);
    send_lock(stepper, 0, &rereview);
    snprintf(query, sizeof query,
             "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND "
             "classid::bigint::bit(32)::int = hashtext('%s') AND "
             "objid::bigint::bit(32)::int = hashtext('%" PRId64 "')",
             SCHEMA, pipeline_entry_id(0, 0));
    cr_expect_eq(ask(query), 1);
    cr_expect_eq(ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 1,
                 "one lock a phase");
    stepper_close(stepper);
}

Test(pipeline_pg, a_cut_that_waited_for_a_rereview_fails_with_40001)
{
    PROVES(CLAUSE_CUT_15, CLAUSE_CUT_16, CLAUSE_CUT_17);
    SETTLES(ERRATUM_CUT_11);
    char sqlstate[6];
    race_on_server(NULL, sqlstate);
    cr_expect_str_eq(sqlstate, "40001");
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA ".cut_change_set"), 0);
}

Test(pipeline_pg, a_rereview_that_does_not_write_the_entry_lets_it_commit)
{
    SETTLES(ERRATUM_CUT_11);
    struct sabotage sabotage;
    char sqlstate[6];
    cr_assert(sabotage_find("review-without-entry-write", &sabotage));
    race_on_server(&sabotage, sqlstate);
    cr_expect_str_empty(sqlstate);
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA ".cut_change_set AS c JOIN " SCHEMA
                     ".review_decision AS r ON r.review_decision_id = c.review_decision_id WHERE "
                     "r.superseded_by_review_decision_id IS NOT NULL"),
                 1, "cut on a superseded decision");
}

/* ---- two CUTs that sign after the last of their lane (E-CUT-19) ------------------------------ */

static struct rules chain = {.protocol = &protocol_pipeline,
                             .actors = 2,
                             .cast = {PIPELINE_CLIENT, PIPELINE_WORKER},
                             .jobs = 1,
                             .timeout = 60};
OWN_RULES(
    chain, pipeline_rules, .entry_count = 2, .one_chain = true,
    .entries = {
        {.reviews = 1, .verifies = 1, .decisions = {DECISION_APPROVE}, .outcomes = {VERIFIED_PASS}},
        {.reviews = 1,
         .verifies = 1,
         .decisions = {DECISION_APPROVE},
         .outcomes = {VERIFIED_PASS}}})

/* Both entries are approved; their CUTs are what is asked for. */
static void reach_cuts(struct bundle cuts[2])
{
    struct actor client, worker;
    struct bundle bundle;
    size_t found = 0;
    protocol_begin(&client, &chain, 0);
    protocol_begin(&worker, &chain, 1);
    protocol_role(&chain, 0)->next(&client, &chain, &bundle);
    publish(&bundle);
    while (taken < queued) {
        if (queue[taken].message[1 + REQUEST_PHASE] != PHASE_CUT) {
            serve(&chain, &worker);
            continue;
        }
        cr_assert_lt(found, 2U);
        protocol_role(&chain, 1)->take(&worker, &chain, &queue[taken++]);
        protocol_role(&chain, 1)->next(&worker, &chain, &cuts[found++]);
        protocol_begin(&worker, &chain, 1);
    }
    cr_assert_eq(found, 2U);
}

/* Both look for the last signature before either has signed; then both commit. */
static void race_cuts(enum isolation isolation, char first[6], char second[6])
{
    struct bundle cuts[2];
    struct error error;
    uint32_t answered;
    reach_cuts(cuts);
    struct stepper *stepper =
        stepper_open(&(struct stepper_options){.dsn = server_dsn(),
                                               .schema = SCHEMA,
                                               .primitives = primitive_table,
                                               .primitive_count = PRIMITIVE_COUNT,
                                               .connections = 2,
                                               .principals = roles.principals},
                     &error);
    cr_assert_not_null(stepper, "%s", error.text);
    for (unsigned c = 0; c < 2; c++) {
        cuts[c].isolation = (uint8_t)isolation;
        cr_assert(stepper_begin(stepper, c, &cuts[c], 1), "%s", stepper_why_not(stepper));
        cr_assert(stepper_settle(stepper, false, &answered), "%s", stepper_why_not(stepper));
        cr_expect_str_empty(say(stepper, c, &cuts[c], 0));
    }
    memcpy(first, end(stepper, 0), 6);
    memcpy(second, end(stepper, 1), 6);
    stepper_close(stepper);
}

#define FIRST_SIGNATURES                                                                           \
    "SELECT count(*) FROM " SCHEMA ".dot_pair_signature WHERE prior_signature_id IS NULL"

Test(pipeline_pg, two_cuts_that_nothing_else_joins_are_kept_apart_by_serializable)
{
    PROVES(CLAUSE_CUT_17, CLAUSE_CUT_32);
    SETTLES(ERRATUM_CUT_19);
    char first[6], second[6];
    race_cuts(SERIALIZABLE, first, second);
    cr_expect_str_empty(first);
    cr_expect_str_eq(second, "40001");
    cr_expect_eq(ask(FIRST_SIGNATURES), 1);
}

Test(pipeline_pg, two_cuts_at_read_committed_fork_the_chain)
{
    PROVES(CLAUSE_CUT_32);
    SETTLES(ERRATUM_CUT_19);
    char first[6], second[6];
    race_cuts(READ_COMMITTED, first, second);
    cr_expect_str_empty(first);
    cr_expect_str_empty(second);
    cr_expect_eq(ask(FIRST_SIGNATURES), 2, "a fork");
}

/* ---- what each of the guards is good for, on a server (faults/README.md) ---------------------- */

/* The first entry's re-review and CUT, as workers without these guards send them; the CUT is asked
 * for the `claims`-th time. */
static void reach_unguarded(const struct sabotage *sabotage, int64_t claims,
                            struct bundle *rereview, struct bundle *cut)
{
    struct bundle *bundles[] = {rereview, cut};
    queued = taken = 0;
    cr_assert(store_pg_run(owner,
                           "TRUNCATE " SCHEMA ".decision_backlog_entry, " SCHEMA
                           ".decision_backlog_sweep_log, " SCHEMA ".manifest_envelope CASCADE"),
              "%s", store_pg_why_not(owner));
    reach_race(rereview, cut);
    for (size_t i = 0; i < COUNT(bundles); i++) {
        struct sabotage_memory memory = {0};
        struct actor worker;
        queue[taken + i].message[1 + MESSAGE_EPOCH] = i == 0 ? 1 : claims;
        protocol_begin(&worker, &race, 1);
        protocol_role(&race, 1)->take(&worker, &race, &queue[taken + i]);
        protocol_role(&race, 1)->next(&worker, &race, bundles[i]);
        sabotage_bundle(sabotage, &memory, &worker, bundles[i]);
    }
}

static struct stepper *open_unguarded(const struct sabotage *sabotage)
{
    static struct primitive primitives[SABOTAGE_TABLE_SIZE];
    struct error error;
    sabotage_primitives(sabotage, primitives);
    struct stepper *stepper =
        stepper_open(&(struct stepper_options){.dsn = server_dsn(),
                                               .schema = SCHEMA,
                                               .primitives = primitives,
                                               .primitive_count = SABOTAGE_TABLE_SIZE,
                                               .connections = 2,
                                               .principals = roles.principals},
                     &error);
    cr_assert_not_null(stepper, "%s", error.text);
    return stepper;
}

static void begin(struct stepper *stepper, unsigned connection, const struct bundle *bundle)
{
    uint32_t answered;
    cr_assert(stepper_begin(stepper, connection, bundle, 1), "%s", stepper_why_not(stepper));
    cr_assert(stepper_settle(stepper, false, &answered), "%s", stepper_why_not(stepper));
}

/* The first call of this primitive, or of a planted bug's copy of it. */
static unsigned place_of(const struct bundle *bundle, enum primitive_id primitive)
{
    for (unsigned i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            return i;
        }
    }
    cr_assert_fail("no such call");
    return 0;
}

/* The calls from one on, up to another. */
static void say_some(struct stepper *stepper, unsigned connection, const struct bundle *bundle,
                     unsigned from, unsigned to)
{
    struct bundle some = *bundle;
    some.count = (uint8_t)to;
    cr_expect_str_empty(say(stepper, connection, &some, from));
}

/* A re-review between the guards of a CUT and its commit: the CUT rests on a superseded decision
 * (CUT-8). */
static bool cuts_superseded(const struct sabotage *sabotage)
{
    struct bundle rereview, cut;
    uint32_t answered;
    reach_unguarded(sabotage, 1, &rereview, &cut);
    struct stepper *stepper = open_unguarded(sabotage);
    begin(stepper, 0, &rereview);
    say_some(stepper, 0, &rereview, 0, 1);
    begin(stepper, 1, &cut);
    unsigned guarded = place_of(&cut, PRIMITIVE_SIGN);
    if (cut.calls[0].primitive == PRIMITIVE_LOCK_ENTRY) { /* it waits for the re-review */
        cr_assert(stepper_send(stepper, 1, 0, 0));
        cr_assert(stepper_settle(stepper, false, &answered), "%s", stepper_why_not(stepper));
        cr_expect_eq(stepper_blocked(stepper), 2U);
        guarded = 1;
    } else {
        say_some(stepper, 1, &cut, 0, guarded);
    }
    cr_expect_str_empty(go_on(stepper, 0, &rereview, 1));
    bool commits = go_on(stepper, 1, &cut, guarded)[0] == '\0';
    stepper_close(stepper);
    return commits;
}

/* A re-review that comes when its entry is cut: the status goes back (CUT-15). */
static bool forgets_status(const struct sabotage *sabotage)
{
    struct bundle rereview, cut;
    reach_unguarded(sabotage, 1, &rereview, &cut);
    struct stepper *stepper = open_unguarded(sabotage);
    begin(stepper, 1, &cut);
    cr_expect_str_empty(go_on(stepper, 1, &cut, 0));
    begin(stepper, 0, &rereview);
    bool commits = go_on(stepper, 0, &rereview, 0)[0] == '\0';
    stepper_close(stepper);
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA
                     ".decision_backlog_entry WHERE status = 'reviewed_approve'"),
                 commits);
    return commits;
}

/* A CUT that is asked for a second time: its row is another than was asked for (CUT-30). */
static bool draws_anew(const struct sabotage *sabotage)
{
    struct bundle rereview, cut;
    char query[200];
    reach_unguarded(sabotage, 2, &rereview, &cut);
    int64_t asked = queue[taken + 1].message[1 + REQUEST_ROW];
    struct stepper *stepper = open_unguarded(sabotage);
    begin(stepper, 0, &cut);
    cr_expect_str_empty(go_on(stepper, 0, &cut, 0));
    stepper_close(stepper);
    snprintf(query, sizeof query,
             "SELECT count(*) FROM " SCHEMA
             ".cut_change_set WHERE change_set_id <> lpad(to_hex(%" PRId64 "), 32, '0')::uuid",
             asked);
    return ask(query) == 1;
}

/* Two CUTs of one decision that draw an id each: both look for a change set before either has written
 * one (CUT-8). Where an entry's lock or equal keys keep them apart they are not tried. */
static bool cuts_twice(const struct sabotage *sabotage)
{
    struct bundle rereview, cuts[2];
    reach_unguarded(sabotage, 2, &rereview, &cuts[1]);
    reach_unguarded(sabotage, 1, &rereview, &cuts[0]);
    struct stepper *stepper = open_unguarded(sabotage);
    unsigned moves = cuts[0].count - 2U; /* the status, and its history */
    for (unsigned c = 0; c < 2; c++) {
        begin(stepper, c, &cuts[c]);
        say_some(stepper, c, &cuts[c], 0, moves);
    }
    cr_expect_str_empty(go_on(stepper, 0, &cuts[0], moves));
    bool commits = go_on(stepper, 1, &cuts[1], moves)[0] == '\0';
    stepper_close(stepper);
    return commits;
}

Test(pipeline_pg, without_its_guards_a_phase_breaks_what_they_are_there_for)
{
    PROVES(CLAUSE_CUT_8, CLAUSE_CUT_15, CLAUSE_CUT_30);
    SETTLES(ERRATUM_CUT_5);
    for (unsigned off = 0; off < PIPELINE_GUARD_SETS; off++) {
        struct sabotage sabotage = pipeline_without_guards(off);
        bool cas = (off & PIPELINE_GUARD_CAS) != 0, lock = (off & PIPELINE_GUARD_LOCK) != 0;
        bool isolation = (off & PIPELINE_GUARD_ISOLATION) != 0;
        bool keys = (off & PIPELINE_GUARD_KEYS) != 0;
        cr_expect_eq(cuts_superseded(&sabotage), lock && isolation, "set %u", off);
        cr_expect_eq(forgets_status(&sabotage), cas, "set %u", off);
        cr_expect_eq(draws_anew(&sabotage), keys, "set %u", off);
        if (lock && keys) {
            cr_expect_eq(cuts_twice(&sabotage), cas && isolation, "set %u", off);
        }
    }
}

/* ---- what is transient, and what is for people (E-CUT-16) --------------------------------------
 */

static const char *const locks_entry =
    "BEGIN; SELECT 1 FROM " SCHEMA ".decision_backlog_entry FOR UPDATE";

/* From the next connection on. */
static void set_for_exec(const char *name, int ms)
{
    char text[160];
    snprintf(text, sizeof text, "ALTER ROLE %s SET %s = %d", roles.names[PRINCIPAL_EXEC], name, ms);
    cr_assert(store_pg_run(owner, text), "%s", store_pg_why_not(owner));
}

/* A worker that holds the re-review, which is ready to be sent. */
static void hold_rereview(struct actor *worker, struct bundle *rereview)
{
    struct bundle cut;
    reach_race(rereview, &cut);
    protocol_begin(worker, &race, 1);
    protocol_role(&race, 1)->take(worker, &race, &queue[taken]);
}

/* The engine hears the outcome of its re-review and is asked what it sends next. */
static void hear(struct actor *worker, const struct outcome *outcome, struct bundle *next)
{
    protocol_role(&race, 1)->take(worker, &race, outcome);
    protocol_role(&race, 1)->next(worker, &race, next);
}

/* It is tried again whole, and this time nothing is in the way. */
static void expect_retried(struct store_pg *store, struct actor *worker, const struct outcome *last)
{
    struct bundle again;
    struct outcome outcome;
    hear(worker, last, &again);
    cr_expect_eq(again.name, BUNDLE_REVIEW);
    cr_assert(store_pg_execute(store, &again, 1, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    cr_expect_eq(ask("SELECT max(retries) FROM " SCHEMA ".decision_backlog_history"), 1);
}

Test(pipeline_pg, a_lock_that_is_not_to_be_had_in_time_is_55P03_and_tried_again)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_16);
    struct actor worker;
    struct bundle rereview;
    struct outcome outcome;
    hold_rereview(&worker, &rereview);
    set_for_exec("lock_timeout", 30);
    struct store_pg *store = must_open(PRINCIPAL_EXEC);
    cr_assert(store_pg_run(owner, locks_entry), "%s", store_pg_why_not(owner));
    cr_assert(store_pg_execute(store, &rereview, 1, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(outcome.aborted, ABORT_TIMEOUT);
    cr_expect_not_null(strstr(store_pg_why_not(store), "55P03"), "%s", store_pg_why_not(store));
    cr_assert(store_pg_run(owner, "ROLLBACK"));
    expect_retried(store, &worker, &outcome);
    store_pg_close(store);
}

static void await_waiting(int backend)
{
    char query[160];
    snprintf(query, sizeof query,
             "SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND wait_event_type = 'Lock'",
             backend);
    while (ask(query) == 0) {
    }
}

static void signal_backend(const char *function, int backend)
{
    char query[100];
    snprintf(query, sizeof query, "SELECT %s(%d)::int::bigint", function, backend);
    cr_assert_eq(ask(query), 1);
}

/* What becomes of a re-review that waits for a lock when that is done to its session. */
static struct outcome disturb(const char *function, const char *sqlstate, struct actor *worker,
                              struct store_pg **store)
{
    struct bundle rereview;
    struct outcome outcome;
    struct error error;
    hold_rereview(worker, &rereview);
    *store = must_open(PRINCIPAL_EXEC);
    struct store_pg *rival =
        store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &error);
    cr_assert_not_null(rival, "%s", error.text);
    cr_assert(store_pg_run(rival, locks_entry), "%s", store_pg_why_not(rival));
    int backend = store_pg_backend(*store);
    store_pg_send(*store, &rereview, 1);
    await_waiting(backend);
    signal_backend(function, backend);
    cr_assert(store_pg_receive(*store, &outcome), "%s", store_pg_why_not(*store));
    cr_expect_not_null(strstr(store_pg_why_not(*store), sqlstate), "%s", store_pg_why_not(*store));
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED);
    store_pg_close(rival);
    return outcome;
}

Test(pipeline_pg, a_statement_that_is_cancelled_is_57014_and_tried_again)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_16);
    struct actor worker;
    struct store_pg *store;
    struct outcome outcome = disturb("pg_cancel_backend", "57014", &worker, &store);
    cr_expect_eq(outcome.aborted, ABORT_TIMEOUT);
    expect_retried(store, &worker, &outcome);
    store_pg_close(store);
}

Test(pipeline_pg, a_session_that_is_ended_is_57P01_and_tried_again)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_16);
    struct actor worker;
    struct store_pg *store;
    struct outcome outcome = disturb("pg_terminate_backend", "57P01", &worker, &store);
    cr_expect_eq(outcome.aborted, ABORT_CONNECTION);
    expect_retried(store, &worker, &outcome);
    store_pg_close(store);
}

/* A bundle leaves in one flight and is never idle inside: what is, is a transaction that was begun
 * and left. The server ends it, and its client learns that before anything is sent. */
Test(pipeline_pg, a_transaction_that_is_left_idle_is_ended_and_the_phase_tried_again)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_16);
    struct actor worker;
    struct bundle rereview;
    struct outcome outcome;
    hold_rereview(&worker, &rereview);
    set_for_exec("idle_in_transaction_session_timeout", 30);
    struct store_pg *store = must_open(PRINCIPAL_EXEC);
    cr_assert(store_pg_run(store, "BEGIN"), "%s", store_pg_why_not(store));
    await_connections(PRINCIPAL_EXEC, 0);
    cr_assert(store_pg_execute(store, &rereview, 1, &outcome), "%s", store_pg_why_not(store));
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(outcome.aborted, ABORT_CONNECTION);
    expect_retried(store, &worker, &outcome);
    store_pg_close(store);
}

/* Nothing that a run does comes near the bounds that the roles are made with. */
Test(pipeline_pg, what_a_principal_waits_for_is_bounded)
{
    SETTLES(ERRATUM_CUT_16);
    struct store_pg *store = must_open(PRINCIPAL_VERIFY);
    int64_t ms = 0;
    cr_assert(store_pg_ask(store,
                           "SELECT setting::bigint FROM pg_settings WHERE name = "
                           "'lock_timeout'",
                           &ms));
    cr_expect_eq(ms, ROLES_LOCK_TIMEOUT_MS);
    cr_assert(store_pg_ask(store,
                           "SELECT setting::bigint FROM pg_settings WHERE name = "
                           "'idle_in_transaction_session_timeout'",
                           &ms));
    cr_expect_eq(ms, ROLES_IDLE_TIMEOUT_MS);
    store_pg_close(store);
}

/* A text that does not fit is 22001, which nobody has classified. */
Test(pipeline_pg, an_error_that_nobody_has_classified_is_left_to_people)
{
    PROVES(CLAUSE_CUT_14);
    SETTLES(ERRATUM_CUT_16);
    cr_assert(store_pg_run(owner,
                           "ALTER TABLE " SCHEMA
                           ".cut_change_set_affected_row ALTER content_hash TYPE varchar(3)"),
              "%s", store_pg_why_not(owner));
    cr_expect_eq(play(NULL, PATIENCE_MS), DRIVER_QUIET);
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA ".cut_change_set"), 0);
    cr_expect_eq(ask(STOPS_OF("%nobody has classified")), 1);
    cr_expect_eq(ask("SELECT count(*) FROM " SCHEMA
                     ".decision_backlog_entry WHERE status <> 'reviewed_approve'"),
                 0, "as it was");
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static bool has(const char *role, enum row_table table, const char *column, const char *what)
{
    char query[400];
    if (column == NULL) {
        snprintf(query, sizeof query,
                 "SELECT has_table_privilege('%s', '%s.%s', '%s')::int::bigint", role, SCHEMA,
                 schema_table(table), what);
    } else {
        snprintf(query, sizeof query,
                 "SELECT has_column_privilege('%s', '%s.%s', '%s', '%s')::int::bigint", role,
                 SCHEMA, schema_table(table), column, what);
    }
    return ask(query) == 1;
}

static void expect_grants(enum principal principal, enum row_table table)
{
    static const char *const nobody[] = {"DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "UPDATE"};
    const struct rights *rights = rights_get(principal);
    const char *role = roles.names[principal];
    const char *name = schema_table(table);
    cr_expect(has(role, table, NULL, "SELECT"), "%s", name);
    cr_expect_eq(has(role, table, NULL, "INSERT"), table_in(rights->inserts, table), "%s", name);
    for (size_t i = 0; i < COUNT(nobody); i++) {
        cr_expect_not(has(role, table, NULL, nobody[i]), "%s %s", nobody[i], name);
    }
    for (int c = 0; c < schema_columns(table); c++) {
        cr_expect_eq(has(role, table, cell_column(table, c), "UPDATE"),
                     rights_to_write(rights, table, c), "%s.%s", name, cell_column(table, c));
    }
}

Test(pipeline_pg, the_server_grants_exactly_the_matrix)
{
    PROVES(CLAUSE_CUT_21, CLAUSE_CUT_24);
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (t != TABLE_MESSAGE && table_in(tables(), (enum row_table)t)) {
            expect_grants(PRINCIPAL_EXEC, (enum row_table)t);
            expect_grants(PRINCIPAL_VERIFY, (enum row_table)t);
        }
    }
}

#define ID "'00000000-0000-0000-0000-000000000001'::uuid"
#define SIGNS(lane, principal)                                                                     \
    "INSERT INTO " SCHEMA ".dot_pair_signature VALUES (" ID ", " ID ", " lane ", '" principal "')"

Test(pipeline_pg, a_forbidden_write_answers_42501)
{
    PROVES(CLAUSE_CUT_11, CLAUSE_CUT_21, CLAUSE_CUT_24);
    SETTLES(ERRATUM_CUT_14);
    static const struct {
        enum principal who;
        const char *what;
    } cases[] = {
        {PRINCIPAL_EXEC,
         "INSERT INTO " SCHEMA ".verify_result VALUES (" ID ", " ID ", " ID ", " ID ", 'pass')"},
        {PRINCIPAL_EXEC, SIGNS("992", "cutter_verify")},
        {PRINCIPAL_EXEC, SIGNS("992", "cutter_exec")},
        {PRINCIPAL_EXEC, "UPDATE " SCHEMA ".cut_change_set SET verifier_signature_id = " ID},
        {PRINCIPAL_EXEC, "UPDATE " SCHEMA ".decision_backlog_entry SET payload = '{}'"},
        {PRINCIPAL_EXEC, "UPDATE " SCHEMA ".review_decision SET decision = 'approve'"},
        {PRINCIPAL_EXEC, "DELETE FROM " SCHEMA ".cut_change_set_affected_row"},
        {PRINCIPAL_VERIFY, "INSERT INTO " SCHEMA ".review_decision VALUES (" ID ", " ID ", " ID
                           ", " ID ", 'approve')"},
        {PRINCIPAL_VERIFY, "INSERT INTO " SCHEMA ".manifest_envelope VALUES (" ID ", " ID ", '')"},
        {PRINCIPAL_VERIFY,
         "INSERT INTO " SCHEMA ".manifest_unit_block VALUES (" ID ", " ID ", 1, '')"},
        {PRINCIPAL_VERIFY,
         "INSERT INTO " SCHEMA ".decision_backlog_dependency VALUES (" ID ", " ID ", " ID ")"},
        {PRINCIPAL_VERIFY, "INSERT INTO " SCHEMA ".decision_backlog_sweep_log VALUES (" ID ", " ID
                           ", 'MARK', 'marked')"},
        {PRINCIPAL_VERIFY, SIGNS("991", "cutter_verify")},
        {PRINCIPAL_VERIFY,
         "UPDATE " SCHEMA ".review_decision SET superseded_by_review_decision_id = " ID},
        {PRINCIPAL_VERIFY,
         "UPDATE " SCHEMA ".verify_result SET rollback_change_set_id_triggered = " ID},
        {PRINCIPAL_VERIFY, "DELETE FROM " SCHEMA ".cut_change_set"},
    };
    struct store_pg *by[] = {NULL, must_open(PRINCIPAL_EXEC), must_open(PRINCIPAL_VERIFY)};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct store_pg *store = by[cases[i].who];
        cr_expect_not(store_pg_run(store, cases[i].what), "%s", cases[i].what);
        cr_expect_not_null(strstr(store_pg_why_not(store), "42501"), "%s: %s", cases[i].what,
                           store_pg_why_not(store));
    }
    store_pg_close(by[1]);
    store_pg_close(by[2]);
}

/* ---- connections ----------------------------------------------------------------------------- */

Test(pipeline_pg, a_third_connection_of_a_principal_answers_53300)
{
    PROVES(CLAUSE_CUT_18);
    SETTLES(ERRATUM_CUT_15);
    struct error error;
    struct store_pg *first = must_open(PRINCIPAL_EXEC), *second = must_open(PRINCIPAL_EXEC);
    cr_expect_null(open_as(PRINCIPAL_EXEC, &error));
    cr_expect_not_null(strstr(error.text, "53300"), "%s", error.text);
    struct store_pg *other = must_open(PRINCIPAL_VERIFY); /* each has its own */
    struct bundle bundle;
    struct outcome outcome;
    bundle_begin(&bundle, BUNDLE_READ);
    bundle_append(&bundle, PRIMITIVE_READ_ENTRY, CALL_PLAIN, 0)[0] = 1;
    store_pg_cut(first);
    await_connections(PRINCIPAL_EXEC, 1);
    struct store_pg *third = must_open(PRINCIPAL_EXEC); /* the place was free */
    cr_assert(store_pg_execute(first, &bundle, 1, &outcome), "%s", store_pg_why_not(first));
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED, "a bundle is told so, too");
    cr_expect_eq(outcome.aborted, ABORT_CONNECTIONS);
    store_pg_close(first);
    store_pg_close(second);
    store_pg_close(third);
    store_pg_close(other);
}

/* ---- who may make roles ---------------------------------------------------------------------- */

Test(pipeline_pg, roles_take_createrole_and_none_is_left_where_it_is_missing)
{
    struct error error;
    struct roles more;
    char dsn[400];
    snprintf(dsn, sizeof dsn, "%s user=plain", server_dsn());
    cr_assert(store_pg_run(owner, "CREATE ROLE plain LOGIN"), "%s", store_pg_why_not(owner));
    roles_draw(&more, roles.principals);
    cr_expect_str_neq(more.names[PRINCIPAL_EXEC], roles.names[PRINCIPAL_EXEC]);
    cr_expect_not(store_pg_make_roles(dsn, SCHEMA, &more, &error));
    cr_expect_not_null(strstr(error.text, "CREATEROLE"), "%s", error.text);
    cr_expect_not_null(strstr(error.text, "42501"), "%s", error.text);
    cr_expect(store_pg_make_roles(server_dsn(), SCHEMA, &(struct roles){.principals = 0}, &error),
              "a protocol without principals needs nothing");
    cr_assert(store_pg_run(owner, "DROP ROLE plain"), "%s", store_pg_why_not(owner));
    cr_expect_eq(ask("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'assay\\_%\\_%'"), 2);
}

/* ---- the schema ------------------------------------------------------------------------------ */

static int64_t count_in(const char *schema, const char *format)
{
    char query[300];
    snprintf(query, sizeof query, format, schema);
    return ask(query);
}

static void expect_plain(const char *schema)
{
    int64_t extras = -1;
    cr_expect_eq(count_in(schema, "SELECT count(*) FROM pg_constraint WHERE contype = 'c' AND "
                                  "connamespace = '%s'::regnamespace"),
                 0);
    cr_expect_eq(count_in(schema,
                          "SELECT count(*) FROM pg_trigger JOIN pg_class ON tgrelid = pg_class.oid "
                          "WHERE NOT tgisinternal AND relnamespace = '%s'::regnamespace"),
                 0);
    cr_expect_eq(count_in(schema,
                          "SELECT count(*) FROM pg_attrdef JOIN pg_class ON adrelid = pg_class.oid "
                          "WHERE relnamespace = '%s'::regnamespace"),
                 0);
    cr_expect(run_schema_count_extras(owner, schema, &extras));
    cr_expect_eq(extras, 0);
}

/* As `assay real` makes it for a run that is judged, with its history, its presets and its roles. (RS1) */
Test(pipeline_pg, the_schema_of_a_judged_run_has_no_check_no_trigger_and_no_default)
{
    PROVES(CLAUSE_CUT_22);
    static const char *const scenarios[] = {"pipeline", "ceilings", "legacy-ceilings"};
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        struct scenario scenario;
        struct run_schema made;
        struct error error;
        struct roles own;
        cr_assert(scenario_load(scenarios[i], &scenario, &error), "%s", error.text);
        cr_assert(run_schema_make(&made,
                                  &(struct run_schema_plan){.scenario = &scenario,
                                                            .dsn = server_dsn(),
                                                            .about = scenarios[i],
                                                            .presets = i > 0},
                                  &error),
                  "%s", error.text);
        roles_draw(&own, scenario.protocol->principals);
        cr_assert(store_pg_make_roles(server_dsn(), made.own.name, &own, &error), "%s", error.text);
        expect_plain(made.own.name);
        cr_expect_gt(
            count_in(made.own.name, "SELECT count(*) FROM pg_tables WHERE schemaname = '%s'"), 1);
        history_end(made.history);
        cr_expect(store_pg_drop_roles(server_dsn(), &own, &error), "%s", error.text);
        cr_expect(own_schema_drop(&made.own, server_dsn(), &error), "%s", error.text);
    }
}

/* (RS1): the look that every run takes can see. */
Test(pipeline_pg, whatever_a_schema_has_besides_is_counted)
{
    static const char *const extras[] = {
        "ALTER TABLE " SCHEMA ".message ALTER epoch SET DEFAULT 0",
        "ALTER TABLE " SCHEMA ".message ADD CHECK (epoch >= 0)",
        "CREATE TRIGGER t AFTER INSERT ON " SCHEMA
        ".message FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"};
    for (size_t i = 0; i < COUNT(extras); i++) {
        int64_t count = -1;
        cr_assert(store_pg_run(owner, extras[i]), "%s", store_pg_why_not(owner));
        cr_expect(run_schema_count_extras(owner, SCHEMA, &count));
        cr_expect_eq(count, (int64_t)i + 1);
    }
}

#define NAMED_KEYS 19
#define OWN_KEYS   3 /* of columns that Assay adds (E-CUT-1) */

Test(pipeline_pg, the_schema_has_the_tables_and_keys_that_are_named)
{
    SETTLES(ERRATUM_CUT_1);
    cr_expect_eq(
        ask("SELECT count(*) FROM pg_tables WHERE tablename <> 'message' AND schemaname = '" SCHEMA
            "'"),
        11, "the tables that the specification names");
    int keys = 0;
    for (int t = TABLE_ENTRY; t <= TABLE_VERIFY; t++) {
        for (const struct foreign_key *key = primitive_foreign_keys[t]; key->there; key++) {
            char query[600];
            snprintf(query, sizeof query,
                     "SELECT count(*) FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid "
                     "AND attnum = conkey[1] WHERE contype = 'f' AND conrelid = '" SCHEMA
                     ".%s'::regclass AND confrelid = '" SCHEMA ".%s'::regclass AND attname = '%s' "
                     "AND attnotnull = %s",
                     schema_table((enum row_table)t), schema_table((enum row_table)key->parent),
                     schema_column((enum row_table)t, key->column),
                     key->optional ? "false" : "true");
            cr_expect_eq(ask(query), 1, "%s", query);
            keys++;
        }
    }
    cr_expect_eq(keys, NAMED_KEYS + OWN_KEYS, "19 of the specification, and Assay's");
    cr_expect_eq(
        ask("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND connamespace = '" SCHEMA
            "'::regnamespace"),
        keys);
}

/* (G5) */
Test(pipeline_pg, a_second_begin_on_an_open_transaction_is_an_error_and_the_first_goes_on)
{
    PROVES(CLAUSE_CUT_3, CLAUSE_CUT_4);
    struct store_pg *store = must_open(PRINCIPAL_EXEC);
    struct bundle bundle;
    struct outcome outcome = {0};
    bundle_begin(&bundle, BUNDLE_MARK);
    BUNDLE_CALL(&bundle, PRIMITIVE_LOCK_ENTRY, CALL_PLAIN, 0, 7);
    cr_assert(store_pg_send_open(store, &bundle, 0), "%s", store_pg_why_not(store));
    for (int again = 0; again < 2; again++) {
        cr_expect_not(again ? store_pg_send_open(store, &bundle, 0)
                            : store_pg_execute(store, &bundle, 0, &outcome));
        cr_expect(strstr(store_pg_why_not(store), "a second BEGIN is an error") != NULL, "%s",
                  store_pg_why_not(store));
        cr_expect_eq(ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 1,
                     "it holds what the first statement took");
    }
    store_pg_send_commit(store);
    cr_expect(store_pg_receive(store, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    cr_expect_eq(ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0);
    cr_expect(store_pg_execute(store, &bundle, 0, &outcome), "and another one may begin");
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    store_pg_close(store);
}

Test(pipeline_pg, no_statement_of_a_phase_begins_or_ends_a_transaction)
{
    PROVES(CLAUSE_CUT_3, CLAUSE_CUT_4);
    static const char *const words[] = {"SAVEPOINT", "BEGIN", "COMMIT", "ROLLBACK"};
    for (int id = PRIMITIVE_LOCK_ENTRY; id <= PRIMITIVE_READ_VERIFY; id++) {
        const struct primitive *primitive = &primitive_table[id];
        int count = sql_statement_count(primitive, CALL_REQUIRE, SQL_WHOLE);
        for (int s = 0; s < count; s++) {
            struct sql_statement statement;
            sql_statement(primitive, CALL_REQUIRE, SQL_WHOLE, s, SCHEMA, &statement);
            for (size_t w = 0; w < COUNT(words); w++) {
                cr_expect_null(strstr(statement.text, words[w]), "%s", statement.text);
            }
        }
    }
}

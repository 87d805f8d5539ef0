/* What real faults are made of, one by one: a transaction in two halves, lines that go dead around
 * COMMIT, marks and the outcome audit, breakpoints, what stays when a process dies, and a server that is killed,
 * followed and replaced. */
#include "model/seq.h"
#include "model/tests/proves.h"
#include "real/chaos.h"
#include "real/history.h"
#include "real/outcome_audit.h"
#include "real/queue_fault.h"
#include "real/rival.h"
#include "real/schema.h"
#include "real/tests/server.h"
#include "real/views.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCHEMA "assay_chaos"
#define NAME   "assay_chaos worker 1.1"

static struct shared_page *page;
static struct rules rules;

static void must_run(struct store_pg *store, const char *script)
{
    cr_assert(store_pg_run(store, script), "%s", store_pg_why_not(store));
}

static struct store_pg *open_at(const char *dsn)
{
    struct error error;
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = dsn,
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT,
                                                 .name = NAME,
                                                 .marks = true},
                      &error);
    cr_assert_not_null(store, "%s", error.text);
    return store;
}

static struct history *history;

/* Of a schema that is made. */
static void follow_history(const char *dsn, bool outlives)
{
    struct error error;
    history = history_begin(
        &(struct history_plan){
            .dsn = dsn, .schema = SCHEMA, .tables = UINT64_MAX, .outlives = outlives},
        &error);
    cr_assert_not_null(history, "%s", error.text);
}

static void read_history(void)
{
    struct error error;
    cr_assert(history_read(history, &error), "%s", error.text);
}

/* A dispatcher and a worker. */
static void make(void)
{
    server_make_schema(SCHEMA);
    follow_history(server_dsn(), false);
    rules = (struct rules){.protocol = &protocol_seq,
                           .actors = 2,
                           .cast = {SEQ_DISPATCHER, SEQ_WORKER},
                           .jobs = 3,
                           .timeout = 100,
                           .put_back = 5};
    *RULES_OF(&rules, seq_plan) = (struct seq_plan){.fate_count = 1};
    page = shared_page_make();
    cr_assert_not_null(page);
    shared_page_begin(page, &rules);
    page->must_resolve_unknown |= UINT64_C(1) << BUNDLE_CREATE; /* what transactions here are */
}

static void unmake(void)
{
    history_end(history);
    shared_page_free(page);
}

TestSuite(chaos, .init = make, .fini = unmake, .timeout = 120);

/* ---- the journal ----------------------------------------------------------------------------- */

/* (SE4) */
Test(chaos, work_that_was_entered_outlives_its_process_and_no_run_finds_what_another_did)
{
    const struct side_effect work[] = {{.what = 1, .claim = 2, .epoch = 3}, {4, 5, 6}};
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        shared_work(page, &work[0]);
        shared_work(page, &work[1]);
        (void)raise(SIGKILL);
    }
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_assert_eq(page->work_count, 2U);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(page->works[i].what, work[i].what);
        cr_expect_eq(page->works[i].claim, work[i].claim);
        cr_expect_eq(page->works[i].epoch, work[i].epoch);
    }
    shared_page_begin(page, &rules);
    cr_expect_eq(page->work_count, 0U);
    cr_expect_eq(page->works[1].what, 0);
}

Test(chaos, work_that_has_no_room_is_counted)
{
    page->work_count = SHARED_WORKS_MAX - 1;
    shared_work(page, &(struct side_effect){.what = 7});
    shared_work(page, &(struct side_effect){.what = 8});
    cr_expect_eq(page->works[SHARED_WORKS_MAX - 1].what, 7);
    cr_expect_gt(page->work_count, (unsigned long)SHARED_WORKS_MAX);
}

static struct bundle create_job(int64_t job)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_CREATE);
    int64_t *params = bundle_append(&bundle, PRIMITIVE_CREATE_JOB, CALL_UNLESS_DONE, 0);
    params[0] = job;
    params[1] = 0;
    params[2] = 7;
    return bundle;
}

static struct bundle read_job(int64_t job)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_READ);
    bundle_append(&bundle, PRIMITIVE_READ_INPUT, CALL_PLAIN, 0)[0] = job;
    return bundle;
}

static int64_t ask(struct store_pg *store, const char *query)
{
    int64_t number = -1;
    cr_assert(store_pg_ask(store, query, &number), "%s", store_pg_why_not(store));
    return number;
}

static int64_t jobs(struct store_pg *store)
{
    return ask(store, "SELECT count(*) FROM " SCHEMA ".job");
}

/* ---- the store ------------------------------------------------------------------------------- */

/* (SE2) */
Test(chaos, a_transaction_is_open_between_its_statements_and_commit)
{
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    cr_expect(store_pg_send_open(store, &bundle, 0));
    cr_expect_eq(ask(other, "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL "
                            "AND application_name = '" NAME "'"),
                 1);
    cr_expect_eq(jobs(other), 0);
    store_pg_send_commit(store);
    cr_expect(store_pg_receive(store, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    cr_expect_eq(jobs(other), 1);
    store_pg_close(store);
    store_pg_close(other);
}

Test(chaos, both_halves_answer_what_the_whole_does)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle create = create_job(1), read = read_job(1);
    struct outcome whole = {0}, halves = {0};
    cr_expect(store_pg_execute(store, &create, 0, &whole));
    cr_expect(store_pg_send_open(store, &create, 0)); /* skipped: it is there */
    store_pg_send_commit(store);
    cr_expect(store_pg_receive(store, &halves));
    cr_expect_eq(halves.kind, OUTCOME_COMMITTED);
    cr_expect_eq(halves.skipped, 1);
    cr_expect(store_pg_execute(store, &read, 0, &whole));
    cr_expect(store_pg_send_open(store, &read, 0));
    store_pg_send_commit(store);
    cr_expect(store_pg_receive(store, &halves));
    cr_expect_eq(whole.values[0], 7);
    cr_expect_arr_eq(whole.values, halves.values, sizeof whole.values);
    store_pg_close(store);
}

Test(chaos, a_statement_says_who_and_what_it_is)
{
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct store_pg *observer = open_at(server_dsn()); /* in no transaction: it looks anew */
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    must_run(other, "BEGIN; LOCK TABLE " SCHEMA ".job IN ACCESS EXCLUSIVE MODE");
    store_pg_send(store, &bundle, 0);
    int64_t told = 0;
    for (int i = 0; i < 5000 && told == 0; i++) {
        told = ask(observer, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '/* " NAME
                             ", create job */%' AND wait_event_type = 'Lock'");
        usleep(1000);
    }
    cr_expect_eq(told, 1);
    must_run(other, "ROLLBACK");
    cr_expect(store_pg_receive(store, &outcome));
    store_pg_close(store);
    store_pg_close(other);
    store_pg_close(observer);
}

/* COMMIT too, the mark and BEGIN: a session that idles shows its last statement. */
Test(chaos, what_stands_around_statements_says_so_too)
{
    struct store_pg *store = open_at(server_dsn()), *observer = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    cr_expect(store_pg_send_open(store, &bundle, 0));
    cr_expect_eq(ask(observer, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '/* " NAME
                               ", create job */ SELECT coalesce%'"),
                 1);
    store_pg_send_commit(store);
    cr_expect(store_pg_receive(store, &outcome));
    cr_expect_eq(ask(observer, "SELECT count(*) FROM pg_stat_activity WHERE query = '/* " NAME
                               ", create job */ COMMIT'"),
                 1);
    cr_expect(store_pg_run(store, "SELECT 1"));
    cr_expect_eq(ask(store, "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '/* "
                            "%, create job */ BEGIN%'"),
                 2);
    store_pg_close(store);
    store_pg_close(observer);
}

Test(chaos, a_mark_is_of_its_own_transaction_alone)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle create = create_job(1), read = read_job(1), orphan;
    struct outcome outcome = {0};
    cr_expect(store_pg_execute(store, &create, 0, &outcome));
    struct store_pg_mark mark = store_pg_mark(store), other;
    cr_expect_neq(mark.word, 0);
    read_history();
    const struct history_transaction *of = history_find(history, mark);
    cr_assert_not_null(of);
    cr_expect_eq(of->changes, 1U);
    cr_expect_eq(of->isolation, OBSERVED_READ_COMMITTED);
    other = mark, other.transaction++;
    cr_expect_null(history_find(history, other));
    other = mark, other.word++;
    cr_expect_null(history_find(history, other));
    other = mark, other.backend++;
    cr_expect_null(history_find(history, other));
    /* one that changes nothing */
    cr_expect(store_pg_execute(store, &read, 0, &outcome));
    cr_expect_eq(store_pg_mark(store).word, 0);
    /* one that fails after it got an id */
    bundle_begin(&orphan, BUNDLE_CREATE);
    memcpy(bundle_append(&orphan, PRIMITIVE_CREATE_JOB, CALL_PLAIN, 0), (int64_t[]){2, 0, 7}, 24);
    memcpy(bundle_append(&orphan, PRIMITIVE_CREATE_JOB, CALL_REQUIRE, 0), (int64_t[]){1, 0, 7}, 24);
    cr_expect(store_pg_execute(store, &orphan, 0, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_REFUSED);
    cr_expect(store_pg_execute(store, &read, 0, &outcome));
    cr_expect_eq(store_pg_mark(store).word, 0);
    store_pg_close(store);
}

/* ---- breakpoints ---------------------------------------------------------------------------------- */

static void set_breakpoint(int number, enum shared_act act, enum bundle_name bundle,
                           enum shared_moment moment)
{
    struct shared_breakpoint *breakpoint = &page->breakpoints[number];
    breakpoint->act = (uint8_t)act;
    breakpoint->bundle = (uint8_t)bundle;
    breakpoint->moment = (uint8_t)moment;
    breakpoint->state = SHARED_BREAKPOINT_SET;
}

/* In a process of its own; returns how waitpid sees it stop or end. */
static pid_t execute_apart(const struct bundle *bundle, int *status)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct outcome outcome = {0};
        struct store_pg *store = open_at(server_dsn());
        bool told = shared_execute(page, 1, store, bundle, &outcome);
        _exit(told && outcome.kind == OUTCOME_COMMITTED ? 0 : 1);
    }
    cr_assert(pid > 0);
    cr_assert_eq(waitpid(pid, status, WUNTRACED), pid);
    return pid;
}

static void finish(pid_t pid, int signal, int *status)
{
    kill(pid, signal);
    cr_assert_eq(waitpid(pid, status, 0), pid);
}

Test(chaos, a_process_stands_still_at_the_point_of_its_breakpoint_and_nowhere_else)
{
    static const struct {
        enum shared_moment moment;
        bool there; /* what a killed one leaves */
    } points[] = {{SHARED_BEFORE_BEGIN, false},
                  {SHARED_BEFORE_COMMIT, false},
                  {SHARED_SENT, true},
                  {SHARED_AFTER_COMMIT, true}};
    struct store_pg *other = open_at(server_dsn());
    for (size_t i = 0; i < COUNT(points); i++) {
        struct bundle bundle = create_job((int64_t)(100 + i));
        char query[100];
        int status = 0;
        set_breakpoint(0, SHARED_STOPS, BUNDLE_CREATE, points[i].moment);
        set_breakpoint(1, SHARED_STOPS, BUNDLE_CLAIM, points[i].moment);
        pid_t pid = execute_apart(&bundle, &status);
        cr_assert(WIFSTOPPED(status), "point %zu", i);
        cr_expect_eq(page->actors[1].moment, (int)points[i].moment);
        cr_expect_eq(page->actors[1].breakpoint, 0);
        cr_expect_eq(page->breakpoints[0].state, SHARED_BREAKPOINT_HIT);
        cr_expect_eq(page->breakpoints[1].state, SHARED_BREAKPOINT_SET);
        finish(pid, SIGKILL, &status);
        snprintf(query, sizeof query, "SELECT count(*) FROM " SCHEMA ".job WHERE id = %zu",
                 100 + i);
        for (int t = 0; t < 5000 && ask(other, query) != points[i].there; t++) {
            usleep(1000); /* SHARED_SENT: the server is about to commit it */
        }
        cr_expect_eq(ask(other, query), (int64_t)points[i].there, "point %zu", i);
    }
    store_pg_close(other);
}

/* (SE1) */
Test(chaos, a_breakpoint_is_hit_once_and_not_before_its_time)
{
    struct bundle bundle = create_job(1);
    int status = 0;
    set_breakpoint(0, SHARED_STOPS, BUNDLE_CREATE, SHARED_BEFORE_COMMIT);
    page->breakpoints[0].from = 1;
    execute_apart(&bundle, &status);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "progress is 0");
    page->progress = 1;
    pid_t pid = execute_apart(&bundle, &status);
    cr_assert(WIFSTOPPED(status));
    int second = 0;
    execute_apart(&bundle, &second);
    cr_expect(WIFEXITED(second) && WEXITSTATUS(second) == 0, "it was hit by another");
    finish(pid, SIGCONT, &status);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- lost answers, and the outcome audit ----------------------------------------------------- */

static struct outcome execute_with(struct store_pg *store, enum shared_act act, int64_t job)
{
    struct bundle bundle = create_job(job);
    struct outcome outcome = {0};
    set_breakpoint(0, act, BUNDLE_CREATE, SHARED_SENT);
    cr_expect(shared_execute(page, 1, store, &bundle, &outcome));
    cr_expect_eq(page->breakpoints[0].state, SHARED_BREAKPOINT_HIT);
    return outcome;
}

Test(chaos, an_answer_is_lost_with_either_fate_and_the_server_knows_which)
{
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct outcome_audit audit = {0};
    cr_expect_eq(execute_with(store, SHARED_CUTS_EARLY, 1).kind, OUTCOME_UNKNOWN);
    cr_expect_eq(execute_with(store, SHARED_CUTS_LATE, 2).kind, OUTCOME_UNKNOWN);
    for (int t = 0; t < 5000 && jobs(other) < 1; t++) {
        usleep(1000);
    }
    cr_expect_eq(ask(other, "SELECT count(*) FROM " SCHEMA ".job WHERE id = 2"), 1);
    cr_expect_eq(jobs(other), 1);
    read_history();
    cr_expect(outcome_audit_look_up(other, history, page, true, &audit), "%s",
              store_pg_why_not(other));
    cr_expect_eq(audit.committed, 1);
    cr_expect_eq(audit.lost, 1);
    cr_expect_eq(audit.asked, 2);
    cr_expect_eq(audit.contradictions, 0);
    store_pg_close(store);
    store_pg_close(other);
}

Test(chaos, outcomes_that_cannot_be_are_found_out)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    struct outcome_audit audit = {0};
    cr_expect(shared_execute(page, 1, store, &bundle, &outcome));
    cr_assert_eq(page->ack_count, 1);
    /* committed, though COMMIT never left */
    page->cuts[0] = (struct shared_cut){.mark = page->acks[0].mark, .how = SHARED_CUTS_EARLY};
    page->cut_count = 1;
    /* committed, and the history does not know it; acknowledged, too */
    cr_expect(outcome_audit_look_up(store, history, page, true, &audit));
    cr_expect_eq(audit.contradictions, 1);
    cr_expect_eq(audit.forgotten, 1);
    read_history();
    audit = (struct outcome_audit){0};
    cr_expect(outcome_audit_look_up(store, history, page, true, &audit));
    cr_expect_eq(audit.contradictions, 1, "its COMMIT never left");
    cr_expect_eq(audit.forgotten, 0);
    page->cuts[0].how = SHARED_CUTS_LATE;
    audit = (struct outcome_audit){0};
    cr_expect(outcome_audit_look_up(store, history, page, true, &audit));
    cr_expect_eq(audit.contradictions, 0);
    cr_expect_eq(audit.acknowledged, 1);
    store_pg_close(store);
}

/* What a worker is told about an unknown commit is held against the server's record. */
static struct outcome_audit after_doubt(enum shared_act act, bool assumes, bool ambiguous)
{
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct bundle same = create_job(1), next = create_job(2);
    struct outcome outcome = {0};
    struct outcome_audit audit = {0};
    page->skip_is_ambiguous = ambiguous;
    cr_expect_eq(execute_with(store, act, 1).kind, OUTCOME_UNKNOWN);
    for (int t = 0; act == SHARED_CUTS_LATE && t < 5000 && jobs(other) < 1; t++) {
        usleep(1000);
    }
    if (!assumes) {
        cr_expect(shared_execute(page, 1, store, &same, &outcome));
    }
    cr_expect(shared_execute(page, 1, store, &next, &outcome));
    read_history();
    cr_expect(outcome_audit_look_up(other, history, page, true, &audit), "%s",
              store_pg_why_not(other));
    cr_expect_eq(audit.contradictions, 0);
    store_pg_close(store);
    store_pg_close(other);
    return audit;
}

Test(chaos, a_repeated_bundle_shows_that_it_was_done)
{
    struct outcome_audit audit = after_doubt(SHARED_CUTS_LATE, false, false);
    cr_expect_eq(audit.done, 1);
    cr_expect_eq(audit.not_done, 0);
    cr_expect_eq(audit.misjudged, 0);
}

Test(chaos, an_ambiguous_skip_shows_nothing)
{
    struct outcome_audit audit = after_doubt(SHARED_CUTS_LATE, false, true);
    cr_expect_eq(audit.done, 0);
    cr_expect_eq(audit.misjudged, 0);
}

Test(chaos, a_repeated_bundle_shows_that_it_was_not_done)
{
    struct outcome_audit audit = after_doubt(SHARED_CUTS_EARLY, false, false);
    cr_expect_eq(audit.done, 0);
    cr_expect_eq(audit.not_done, 1);
    cr_expect_eq(audit.misjudged, 0);
}

/* The planted bug: it goes on as if nothing had happened to its commit. */
Test(chaos, an_assumption_that_it_was_done_is_reported)
{
    struct outcome_audit audit = after_doubt(SHARED_CUTS_EARLY, true, false);
    cr_expect_eq(audit.done, 1);
    cr_expect_eq(audit.unexplained, 1);
    cr_expect_eq(audit.misjudged, 0);
}

/* The other one: it was done, and done again. */
Test(chaos, work_repeated_though_it_was_done_is_found_out)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    struct outcome_audit audit = {0};
    cr_expect(shared_execute(page, 1, store, &bundle, &outcome));
    page->cuts[0] = (struct shared_cut){.mark = page->acks[0].mark,
                                        .work = page->acks[0].work,
                                        .how = SHARED_CUTS_LATE,
                                        .repeat = page->acks[0].mark,
                                        .concluded = SHARED_REPEATED};
    page->cut_count = 1;
    read_history();
    cr_expect(outcome_audit_look_up(store, history, page, true, &audit));
    cr_expect_eq(audit.misjudged, 1);
    /* it was not done, but another did the same: the conclusion was right */
    page->cuts[0].mark.word += 1000;
    page->cuts[0].how = SHARED_STOPS;
    page->cuts[0].concluded = SHARED_DONE;
    audit = (struct outcome_audit){0};
    cr_expect(outcome_audit_look_up(store, history, page, false, &audit));
    cr_expect_eq(audit.misjudged, 0);
    page->cuts[0].work++;
    cr_expect(outcome_audit_look_up(store, history, page, false, &audit));
    cr_expect_eq(audit.misjudged, 1);
    cr_expect_eq(audit.wrong.work, page->cuts[0].work);
    /* and where a process died during the same work, nothing is certain */
    page->actors[2].unheard[0] = page->cuts[0].work;
    page->actors[2].unheard_count = 1;
    audit = (struct outcome_audit){0};
    cr_expect(outcome_audit_look_up(store, history, page, false, &audit));
    cr_expect_eq(audit.misjudged, 0);
    store_pg_close(store);
}

/* A cut that came late and on a well connection has committed, if nothing else befell the server.
 */
Test(chaos, a_late_cut_that_nobody_knows_of_is_a_contradiction)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    struct outcome_audit audit = {0};
    cr_assert(store_pg_send_open(store, &bundle, 0));
    page->cuts[0] = (struct shared_cut){.mark = store_pg_mark(store), .how = SHARED_CUTS_LATE};
    page->cut_count = 1;
    store_pg_break(store);
    store_pg_send_commit(store);
    cr_expect(store_pg_receive(store, &outcome));
    struct store_pg *other = open_at(server_dsn());
    for (int t = 0; t < 5000 && ask(other, "SELECT count(*) FROM pg_locks WHERE relation = '" SCHEMA
                                           ".job'::regclass") > 0;
         t++) {
        usleep(1000);
    }
    read_history();
    cr_expect(outcome_audit_look_up(other, history, page, true, &audit), "%s",
              store_pg_why_not(other));
    cr_expect_eq(audit.contradictions, 1);
    page->cuts[0].may_fail = true;
    audit = (struct outcome_audit){0};
    cr_expect(outcome_audit_look_up(other, history, page, true, &audit));
    cr_expect_eq(audit.contradictions, 0);
    store_pg_close(store);
    store_pg_close(other);
}

/* ---- what stays ------------------------------------------------------------------------------ */

Test(chaos, a_restarted_actor_is_another_incarnation_and_goes_on_where_it_was)
{
    struct performer performer;
    shared_actor_begin(&page->actors[1], &performer, &rules, 1);
    uint32_t first = ACTOR_IS(&performer.actor, seq_actor)->incarnation;
    ACTOR_IS(&performer.actor, seq_actor)->target = 2;
    shared_actor_keep(&page->actors[1], &performer.actor);
    shared_actor_begin(&page->actors[1], &performer, &rules, 1);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->incarnation, first + 1);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->target, 0,
                 "a worker knows nothing any more");
    shared_actor_begin(&page->actors[1], &performer, &rules, 1);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->incarnation, first + 2);
    shared_actor_begin(&page->actors[0], &performer, &rules, 0);
    ACTOR_IS(&performer.actor, seq_actor)->at = 2;
    shared_actor_keep(&page->actors[0], &performer.actor);
    shared_actor_begin(&page->actors[0], &performer, &rules, 0);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->at, 2,
                 "who hands out seqs knows how far it is");
}

/* ---- views ----------------------------------------------------------------------------------- */

Test(chaos, views_say_what_digits_mean)
{
    static char script[VIEWS_SCRIPT_SIZE];
    struct store_pg *store = open_at(server_dsn());
    must_run(store, "INSERT INTO " SCHEMA ".job VALUES (1, 1, 0, 0, 0, 7); INSERT INTO " SCHEMA
                    ".activity VALUES (2, 1, 0, 12111000000034, 0)");
    read_history();
    cr_assert(history_keep(history, store), "%s", store_pg_why_not(store));
    views_script(SCHEMA, UINT64_MAX, script);
    must_run(store, script);
    cr_expect_eq(ask(store, "SELECT leg1_entries * 1000000 + leg1_complete * 100000 + work_done * "
                            "10000 + children_spawned * 1000 + job_tasks_done * 100 + leg2_entries "
                            "FROM " SCHEMA ".activity_ledgers WHERE digits = '012111000000034'"),
                 12111034);
    cr_expect_eq(ask(store, "SELECT count(*) FROM " SCHEMA ".changes WHERE was = 'inserted' AND "
                            "row_of = 'job' AND became->>'semaphore' = '1'"),
                 1);
    store_pg_close(store);
}

/* ---- a server that is harmed ----------------------------------------------------------------- */

static struct cluster own;

static struct chaos_server start_own(void)
{
    struct error error;
    struct error problem;
    cr_assert(cluster_start(&own,
                            &(struct cluster_options){.settings = chaos_server_settings,
                                                      .max_connections = CHAOS_SERVER_CONNECTIONS},
                            &error),
              "%s", error.text);
    cr_assert(store_pg_make_schema(cluster_dsn(&own), SCHEMA, UINT64_MAX, &problem), "%s",
              problem.text);
    history_end(history);
    follow_history(cluster_dsn(&own), true);
    return (struct chaos_server){.cluster = &own, .standby.lock = -1, .history = history};
}

static void execute(struct store_pg *store, int64_t job)
{
    struct bundle bundle = create_job(job);
    struct outcome outcome = {0};
    cr_assert(shared_execute(page, 1, store, &bundle, &outcome), "%s", store_pg_why_not(store));
    cr_assert_eq(outcome.kind, OUTCOME_COMMITTED);
}

static struct outcome_audit look_up(const char *dsn)
{
    struct outcome_audit audit = {0};
    struct store_pg *store = open_at(dsn);
    read_history();
    cr_assert(outcome_audit_look_up(store, history, page, false, &audit), "%s",
              store_pg_why_not(store));
    store_pg_close(store);
    return audit;
}

/* (SE3) */
Test(chaos, a_promoted_standby_has_all_that_was_acknowledged)
{
    struct error error;
    struct chaos_server server = start_own();
    cr_assert(chaos_server_follow(&server, &error), "%s", error.text);
    struct store_pg *store = open_at(chaos_server_dsn(&server));
    for (int64_t job = 1; job <= 20; job++) {
        execute(store, job);
    }
    chaos_server_kill(&server);
    cr_assert(chaos_server_promote(&server, &error), "%s", error.text);
    struct outcome_audit audit = look_up(chaos_server_dsn(&server));
    cr_expect_eq(audit.acknowledged, 20);
    cr_expect_eq(audit.forgotten, 0);
    store_pg_close(store);
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* The planted bug: a standby that nobody waits for, and that has stopped listening. */
Test(chaos, a_failover_that_forgets_is_found_out)
{
    struct error error;
    struct chaos_server server = start_own();
    cr_assert(chaos_server_follow(&server, &error), "%s", error.text);
    struct store_pg *primary = open_at(cluster_dsn(&own));
    must_run(primary, "ALTER SYSTEM SET synchronous_standby_names = ''");
    must_run(primary, "SELECT pg_reload_conf()");
    struct error problem;
    struct store_pg *standby =
        store_pg_open(&(struct store_pg_options){.dsn = cluster_hidden_dsn(&server.standby),
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &problem);
    cr_assert_not_null(standby, "%s", problem.text);
    must_run(standby, "ALTER SYSTEM SET primary_conninfo = ''");
    must_run(standby, "SELECT pg_reload_conf()");
    for (int t = 0; t < 5000 && ask(primary, "SELECT count(*) FROM pg_stat_replication") > 0; t++) {
        usleep(2000);
    }
    store_pg_close(standby);
    execute(primary, 1);
    read_history();
    chaos_server_kill(&server);
    cr_assert(chaos_server_promote(&server, &error), "%s", error.text);
    cr_expect_eq(look_up(chaos_server_dsn(&server)).forgotten, 1);
    cr_expect_eq(history_lost(history), 1U, "it had been read");
    store_pg_close(primary);
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* (CH2) */
Test(chaos, only_the_servers_own_processes_are_killed)
{
    struct error error;
    struct chaos_server server = start_own();
    struct store_pg *store = open_at(cluster_dsn(&own));
    pid_t bystander = fork();
    if (bystander == 0) {
        pause();
        _exit(0);
    }
    cr_expect_not(chaos_server_kill_backend(&server, bystander));
    cr_expect_not(chaos_server_kill_backend(&server, 0));
    cr_expect_eq(waitpid(bystander, NULL, WNOHANG), 0, "it lives");
    cr_expect(chaos_server_kill_backend(&server, store_pg_backend(store)));
    kill(bystander, SIGKILL);
    waitpid(bystander, NULL, 0);
    store_pg_close(store);
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* A server that has lost a process throws everybody out and recovers first. */
Test(chaos, a_standby_joins_a_server_that_is_starting_over)
{
    struct error error;
    struct chaos_server server = start_own();
    struct store_pg *victim = open_at(cluster_dsn(&own)), *other = open_at(cluster_dsn(&own));
    cr_assert(chaos_server_kill_backend(&server, store_pg_backend(victim)));
    while (store_pg_is_well(other)) {
        usleep(1000);
    }
    cr_expect(chaos_server_follow(&server, &error), "%s", error.text);
    cr_expect(chaos_server_unfollow(&server, &error), "%s", error.text);
    store_pg_close(victim);
    store_pg_close(other);
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* ---- the queue and the history --------------------------------------------------------------- */

/* A row and those that it refers to; column c holds 100 + c. */
static void insert_row(struct store_pg *store, enum row_table table, int64_t key)
{
    char text[512];
    const struct foreign_key *parent = primitive_foreign_keys[table];
    if (parent->there) {
        insert_row(store, (enum row_table)parent->parent, key);
    }
    int used = snprintf(text, sizeof text, "INSERT INTO " SCHEMA ".%s VALUES (%" PRId64,
                        schema_table(table), key);
    for (int c = 0; c < schema_columns(table); c++) {
        bool refers = parent->there && c == parent->column;
        used += snprintf(text + used, sizeof text - (size_t)used, ", %" PRId64,
                         refers ? key : (int64_t)100 + c);
    }
    snprintf(text + used, sizeof text - (size_t)used, ") ON CONFLICT DO NOTHING");
    must_run(store, text);
}

static int64_t claim(struct store_pg *store, int64_t now)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    bundle_begin(&bundle, BUNDLE_CLAIM);
    bundle_append(&bundle, PRIMITIVE_CLAIM, CALL_PLAIN, 0)[0] = 100;
    cr_assert(store_pg_execute(store, &bundle, now, &outcome), "%s", store_pg_why_not(store));
    return outcome.kind == OUTCOME_COMMITTED ? outcome.message[0] : 0;
}

/* Rows of this key whose content is what insert_row wrote for the original. */
static int64_t copies_of(struct store_pg *store, int64_t original, int64_t key, int64_t visible)
{
    char text[768];
    const struct foreign_key *parent = primitive_foreign_keys[TABLE_MESSAGE];
    int used = snprintf(text, sizeof text,
                        "SELECT count(*) FROM " SCHEMA ".message WHERE id = %" PRId64
                        " AND visible_at = %" PRId64 " AND epoch = 0",
                        key, visible);
    for (int c = 0; c < MESSAGE_VISIBLE_AT; c++) {
        bool refers = parent->there && c == parent->column;
        used += snprintf(text + used, sizeof text - (size_t)used, " AND %s = %" PRId64,
                         schema_column(TABLE_MESSAGE, c), refers ? original : (int64_t)100 + c);
    }
    return ask(store, text);
}

static bool took_effect(const struct queue_trace *trace)
{
    read_history();
    return queue_fault_took_effect(history, trace, 100);
}

/* (QF1), (QF2) */
Test(chaos, a_copy_has_its_messages_content_and_counts_once_it_was_claimed)
{
    server_set_clocks(SCHEMA);
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct queue_at at = {.store = other, .history = history, .schema = SCHEMA, .now = 300};
    insert_row(store, TABLE_MESSAGE, 5);
    struct queue_trace copy = queue_fault_copy(&at, false, 0, 1);
    cr_assert(copy.message != 0 && copy.message != 5);
    cr_expect_eq(copies_of(store, 5, copy.message, 300), 1);
    cr_expect_eq(claim(store, 300), 5, "the older one");
    cr_expect_not(took_effect(&copy));
    cr_expect_not(queue_fault_is_over(&at, &copy));
    cr_expect_eq(claim(store, 300), copy.message);
    cr_expect(took_effect(&copy));
    cr_expect(queue_fault_is_over(&at, &copy));
    /* again while it is held: it counts once it is claimed before the claim would have lapsed */
    must_run(store, "DELETE FROM " SCHEMA ".message WHERE id = 5");
    struct queue_trace again = queue_fault_redeliver(&at, store_pg_backend(store));
    cr_expect_eq(again.message, copy.message);
    cr_expect_not(took_effect(&again));
    cr_expect_eq(claim(other, 301), copy.message);
    cr_expect(took_effect(&again));
    /* after its ack, from the history */
    struct queue_trace replay = queue_fault_copy(&at, true, 0, 2);
    cr_expect_eq(copies_of(store, 5, replay.message, 300), 1);
    cr_expect_not(took_effect(&replay));
    store_pg_close(store);
    store_pg_close(other);
}

/* The server's own clock, which nothing lets leap. */
static int64_t wall_clock(struct store_pg *store)
{
    return ask(store, "SELECT " SCHEMA "." SCHEMA_WALL "()");
}

/* The store's clock is so far ahead, from the next transaction on. */
static void leap(struct store_pg *store, int64_t ahead)
{
    static struct schema_leaps leaps; /* of this test */
    char script[SCHEMA_SCRIPT_SIZE];
    int64_t from = wall_clock(store) + INT64_C(20) * SCHEMA_LEAP_MARGIN_MS;
    cr_assert_lt(leaps.count, SCHEMA_LEAPS_MAX);
    leaps.at[leaps.count].from = from;
    leaps.at[leaps.count++].ahead = ahead;
    schema_leap_script(SCHEMA, &leaps, script);
    must_run(store, script);
    while (wall_clock(store) < from) {
        usleep(1000);
    }
}

/* Claims last for 100 ms, and nobody waits: the server's clock leaps, to both sides. */
Test(chaos, claims_go_by_the_clock_of_the_server)
{
    SETTLES(ERRATUM_SEQ_13);
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    int64_t now = 0, later = 0, wall = wall_clock(store);
    leap(store, 0);
    insert_row(store, TABLE_MESSAGE, 5);
    cr_assert(store_pg_now(store, &now));
    cr_expect_eq(claim(store, STORE_PG_SERVERS_TIME), 5);
    cr_expect(store_pg_time(store) >= now && store_pg_time(store) < now + 60000);
    leap(store, 3600000);
    cr_expect_eq(claim(other, STORE_PG_SERVERS_TIME), 5, "an hour later the claim has lapsed");
    cr_expect(store_pg_time(other) >= now + 3600000);
    leap(store, -3600000);
    cr_expect_eq(claim(other, STORE_PG_SERVERS_TIME), 0, "an hour earlier it stands");
    cr_assert(store_pg_now(store, &later));
    cr_expect_lt(later, now);
    cr_expect_geq(wall_clock(store), wall, "another clock");
    cr_expect_eq(ask(store,
                     "SELECT count(*) FROM pg_stat_activity WHERE pid = pg_backend_pid() AND "
                     "abs(date_part('epoch', xact_start) * 1000 - " SCHEMA "." SCHEMA_WALL
                     "()) < 60000"),
                 1, "in milliseconds since 1970");
    store_pg_close(store);
    store_pg_close(other);
}

/* A new function of the schema is seen at once, also by a transaction that is open; the leap is not. */
Test(chaos, no_transaction_sees_the_clock_leap)
{
    SETTLES(ERRATUM_SEQ_13);
    int64_t began = 0, later = 0, next = 0;
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    leap(other, 3600000);
    must_run(store, "BEGIN");
    cr_assert(store_pg_now(store, &began));
    leap(other, -3600000);
    must_run(store,
             "SELECT FROM " SCHEMA ".job"); /* a lock is when a backend learns of functions */
    cr_assert(store_pg_now(store, &later));
    cr_expect_eq(later, began);
    must_run(store, "COMMIT");
    cr_assert(store_pg_now(store, &next));
    cr_expect_lt(next, began);
    store_pg_close(store);
    store_pg_close(other);
}

struct told {
    int64_t keys[64];
    size_t count;
};

static void take_key(void *context, const struct history_change *change)
{
    struct told *told = context;
    cr_assert_lt(told->count, COUNT(told->keys));
    told->keys[told->count++] = change->row[0];
}

/* T1 writes last at 5 and commits at 10, T2 writes last at 6 and commits at 7; T3 writes and rolls back.
 * (I1), (I2) */
Test(chaos, the_history_has_what_committed_in_the_order_of_commits)
{
    struct told told = {.count = 0};
    struct store_pg *first = open_at(server_dsn()), *second = open_at(server_dsn());
    must_run(first, "BEGIN");
    insert_row(first, TABLE_JOB, 1);
    must_run(second, "BEGIN");
    insert_row(second, TABLE_JOB, 2);
    must_run(second, "COMMIT; BEGIN");
    insert_row(second, TABLE_JOB, 3);
    must_run(second, "ROLLBACK");
    must_run(first, "COMMIT");
    read_history();
    history_tell(history, take_key, &told);
    cr_assert_eq(told.count, 2, "%zu changes", told.count);
    cr_expect_eq(told.keys[0], 2, "it wrote later and committed first");
    cr_expect_eq(told.keys[1], 1);
    store_pg_close(first);
    store_pg_close(second);
}

static void take_transaction(void *context, const struct history_change *change)
{
    *(struct history_transaction *)context = *change->of;
}

/* A word has the wall clock, however far the store's clock has leapt: from the transaction's begin to
 * its end. What leaves no word has none. */
Test(chaos, a_transaction_of_the_history_has_the_wall_clock_of_the_server)
{
    struct history_transaction told = {0};
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    leap(store, 3600000);
    int64_t before = wall_clock(other);
    cr_assert(store_pg_send_open(store, &bundle, STORE_PG_SERVERS_TIME));
    int64_t meanwhile = wall_clock(other);
    store_pg_send_commit(store);
    cr_assert(store_pg_receive(store, &outcome));
    read_history();
    history_tell(history, take_transaction, &told);
    cr_expect(told.wall_from >= before && told.wall_to >= told.wall_from);
    cr_expect_leq(told.wall_to, meanwhile);
    insert_row(store, TABLE_JOB, 2);
    read_history();
    history_tell(history, take_transaction, &told);
    cr_expect(told.wall_from == 0 && told.wall_to == 0);
    store_pg_close(store);
    store_pg_close(other);
}

/* What is read in parts is read once. */
Test(chaos, a_history_that_is_read_again_goes_on_where_it_was)
{
    struct told told = {.count = 0};
    struct store_pg *store = open_at(server_dsn());
    for (int64_t job = 1; job <= 3; job++) {
        insert_row(store, TABLE_JOB, job);
        read_history();
        read_history();
    }
    history_tell(history, take_key, &told);
    cr_assert_eq(told.count, 3, "%zu changes", told.count);
    for (int64_t job = 1; job <= 3; job++) {
        cr_expect_eq(told.keys[job - 1], job);
    }
    store_pg_close(store);
}

/* (I3) */
struct joins {
    int64_t row[1 + ROW_COLUMNS_MAX];
    unsigned changes;
};

static void take_joined(void *context, const struct history_change *change)
{
    struct joins *joins = context;
    size_t cells = 1 + (size_t)schema_columns(change->table);
    if (joins->changes++ > 0) {
        cr_expect_arr_eq(change->was, joins->row, cells * sizeof(int64_t));
    }
    memcpy(joins->row, change->row, sizeof joins->row);
}

Test(chaos, a_change_begins_with_the_row_that_the_one_before_it_left)
{
    struct joins joins = {.changes = 0};
    struct store_pg *store = open_at(server_dsn());
    insert_row(store, TABLE_JOB, 1);
    must_run(store,
             "UPDATE " SCHEMA ".job SET semaphore = -5; UPDATE " SCHEMA ".job SET semaphore = 8");
    must_run(store, "DELETE FROM " SCHEMA ".job");
    read_history();
    history_tell(history, take_joined, &joins);
    cr_expect_eq(joins.changes, 4U);
    store_pg_close(store);
}

/* A server that crashes keeps what was not read; what was read does not come again. */
Test(chaos, a_history_outlives_a_crash)
{
    struct error error;
    struct told told = {.count = 0};
    struct chaos_server server = start_own();
    for (int64_t job = 1; job <= 6; job++) {
        struct store_pg *store = open_at(cluster_dsn(&own));
        insert_row(store, TABLE_JOB, job);
        if (job % 2 == 0) {
            read_history();
        }
        store_pg_close(store);
        chaos_server_stop(&server, NULL);
        cr_assert(chaos_server_start(&server, &error), "%s", error.text);
    }
    read_history();
    history_tell(history, take_key, &told);
    cr_assert_eq(told.count, 6, "%zu changes", told.count);
    for (int64_t job = 1; job <= 6; job++) {
        cr_expect_eq(told.keys[job - 1], job);
    }
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* Commits until its server is gone, and goes on with the next one. */
static pid_t write_apart(const char *dsn)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct error error;
        struct store_pg_options options = {.dsn = dsn,
                                           .schema = SCHEMA,
                                           .primitives = primitive_table,
                                           .primitive_count = PRIMITIVE_COUNT,
                                           .marks = true};
        for (int64_t job = 1;; job++) {
            struct bundle bundle = create_job(job);
            struct outcome outcome = {0};
            struct store_pg *store = NULL;
            while (store == NULL) {
                store = store_pg_open(&options, &error);
            }
            (void)store_pg_execute(store, &bundle, 0, &outcome);
            store_pg_close(store);
        }
    }
    cr_assert(pid > 0);
    return pid;
}

static void count_jobs(void *context, const struct history_change *change)
{
    *(int64_t *)context += change->table == TABLE_JOB && change->kind == ROW_INSERTED;
}

/* The primary is killed while a client commits, and each new one, too: nothing of the gap between two
 * servers is missed, and nothing comes twice. */
Test(chaos, a_history_outlives_promotions_while_clients_commit)
{
    struct error error;
    struct chaos_server server = start_own();
    for (int i = 0; i < 3; i++) {
        int64_t told = 0;
        int status = 0;
        cr_assert(chaos_server_follow(&server, &error), "%s", error.text);
        pid_t writer = write_apart(chaos_server_dsn(&server));
        usleep(300000);
        read_history();
        usleep(20000);
        chaos_server_kill(&server);
        cr_assert(chaos_server_promote(&server, &error), "%s", error.text);
        usleep(100000);
        finish(writer, SIGKILL, &status);
        struct store_pg *store = open_at(chaos_server_dsn(&server));
        for (int t = 0; t < 5000 && ask(store, "SELECT count(*) FROM pg_stat_activity WHERE "
                                               "backend_type = 'client backend'") > 2;
             t++) {
            usleep(1000);
        }
        read_history();
        history_tell(history, count_jobs, &told);
        cr_expect_eq(told, jobs(store), "promotion %d", i);
        cr_expect_gt(told, 0);
        must_run(store, "DELETE FROM " SCHEMA ".job");
        store_pg_close(store);
        history_end(history);
        follow_history(chaos_server_dsn(&server), true);
        server.history = history;
    }
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* ---- a busy machine -------------------------------------------------------------------------- */

/* A seq's dispatcher, and nobody to hand its seqs to. */
static pid_t dispatch_apart(const char *dsn)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct error error;
        struct driver driver = {.dsn = dsn,
                                .schema = SCHEMA,
                                .rules = &rules,
                                .page = page,
                                .storms = true,
                                .give_up_at = INT64_MAX};
        _exit((int)driver_act(&driver, 0, &error));
    }
    cr_assert(pid > 0);
    return pid;
}

static void await(const atomic_ulong *number, unsigned long least)
{
    while (*number < least) { /* or until the suite's time is up */
        usleep(1000);
    }
}

/* A fault whose victim is yet to come is dropped after so much progress: a server that is away for
 * long, as one that is promoted on a busy machine is, must not use that up. */
Test(chaos, attempts_that_find_no_server_are_no_progress)
{
    struct error error;
    struct chaos_server server = start_own();
    int status = 0;
    set_breakpoint(0, SHARED_STOPS, BUNDLE_SEQ_ADMIT, SHARED_BEFORE_COMMIT);
    pid_t pid = dispatch_apart(cluster_dsn(&own));
    cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
    cr_assert(WIFSTOPPED(status));
    chaos_server_stop(&server, NULL);
    kill(pid, SIGCONT);
    await(&page->actors[0].aborted[ABORT_CONNECTION], 1);
    unsigned long before = page->progress;
    await(&page->actors[0].aborted[ABORT_CONNECTION], 100);
    cr_expect_eq(page->progress, before, "%lu, then %lu", before, page->progress);
    cr_assert(chaos_server_start(&server, &error), "%s", error.text);
    await(&page->progress, before + 1);
    finish(pid, SIGKILL, &status);
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* A victim that is slow: it asks for a connection only when it was waited for so often. */
struct slow {
    int looks;
    bool admitted;
};

static bool is_over_at_last(const void *of)
{
    struct slow *slow = *(struct slow *const *)of;
    struct error error;
    if (++slow->looks < 100) {
        return false;
    }
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = cluster_dsn(&own),
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &error);
    slow->admitted = store != NULL;
    store_pg_close(store);
    return true;
}

Test(chaos, a_crowd_stays_until_its_victim_has_come)
{
    struct error error;
    (void)start_own();
    struct slow slow = {.looks = 0}, *of = &slow;
    pid_t victim = fork();
    if (victim == 0) {
        pause();
        _exit(0);
    }
    rival_crowd(&(struct rival){.dsn = cluster_dsn(&own),
                                .schema = SCHEMA,
                                .victim = victim,
                                .is_over = is_over_at_last,
                                .of = &of});
    cr_expect_eq(slow.looks, 100);
    cr_expect_not(slow.admitted);
    int status = 0;
    finish(victim, SIGKILL, &status);
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t undisturbed;

#define LAPSE_MS 150   /* claims that lapse soon */
#define LONG_MS  20000 /* ... and that outlast any pause of a busy machine */

static void name_of_program(intmax_t pid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%jd/comm", pid);
    FILE *file = fopen(path, "r");
    size_t length = file == NULL ? 0 : fread(name, 1, size - 1, file);
    name[length] = '\0';
    if (file != NULL) {
        fclose(file);
    }
}

/* No process of ours that runs an actor: one that was forked has our command line. (CH3) */
static void expect_nobody_left(const char *run)
{
    char path[64], list[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%jd/children", (intmax_t)getpid());
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t length = fread(list, 1, sizeof list - 1, file);
    fclose(file);
    list[length] = '\0';
    for (char *at = list; *at != '\0';) {
        char ours[64], theirs[64];
        intmax_t pid = strtoimax(at, &at, 10);
        at += strspn(at, " \n");
        name_of_program((intmax_t)getpid(), ours, sizeof ours);
        name_of_program(pid, theirs, sizeof theirs);
        cr_expect_str_neq(theirs, ours, "%s: process %jd is left", run, pid);
    }
}

/* Three seqs, with one fault. */
static struct chaos_report run_with(struct chaos_server *server, const struct chaos_fault *faults,
                                    size_t count, int64_t claim_ms)
{
    struct chaos_plan plan = {.faults = faults, .count = count, .storms = true};
    struct chaos_report report = {.missed = 0};
    struct error error;
    rules = (struct rules){
        .protocol = &protocol_seq,
        .actors = 5,
        .cast = {SEQ_DISPATCHER, SEQ_WORKER, SEQ_WORKER, SEQ_COMMITTER, SEQ_RECLAIMER},
        .jobs = 3,
        .timeout = claim_ms,
        .put_back = 5};
    *RULES_OF(&rules, seq_plan) = (struct seq_plan){.fate_count = 1};
    struct chaos chaos = {.driver = {.dsn = chaos_server_dsn(server),
                                     .schema = SCHEMA,
                                     .run = "test:1",
                                     .rules = &rules,
                                     .page = page},
                          .server = server,
                          .plan = &plan,
                          .interrupted = &undisturbed,
                          .weather_ms = 30000,
                          .settle_ms = 30000};
    cr_assert_eq(chaos_run(&chaos, &report, &error), CHAOS_QUIET, "%s", error.text);
    expect_nobody_left(SCHEMA " test:1");
    return report;
}

static uint64_t counted(const struct chaos_report *report)
{
    uint64_t sum = 0;
    for (int k = 0; k < CHAOS_KINDS; k++) {
        sum += report->counted[k];
    }
    return sum;
}

static void begin_anew(struct chaos_server *server, const char *dsn)
{
    struct error error;
    cr_assert(store_pg_drop_schema(dsn, SCHEMA, &error), "%s", error.text);
    cr_assert(store_pg_make_schema(dsn, SCHEMA, UINT64_MAX, &error), "%s", error.text);
    history_end(history);
    follow_history(dsn, true);
    server->history = history;
}

/* Each is injected, or waits for a process, and has no effect of its kind. (CH1) */
Test(chaos, a_fault_that_hit_nothing_is_not_counted)
{
    static const struct {
        const char *why;
        struct chaos_fault fault;
    } cases[] = {
        {"nothing is held before it begins",
         {.kind = CHAOS_KILL_AT_POINT, .bundle = BUNDLE_SEQ_ADMIT, .moment = SHARED_BEFORE_BEGIN}},
        {"nobody sends that", {.kind = CHAOS_TERMINATE, .bundle = BUNDLE_STEP2}},
        {"the dispatcher has no claim to lose",
         {.kind = CHAOS_STOP,
          .bundle = BUNDLE_SEQ_ADMIT,
          .moment = SHARED_BEFORE_COMMIT,
          .amount = 200}},
        {"nothing is SERIALIZABLE there",
         {.kind = CHAOS_SERIALIZATION, .bundle = SHARED_ANY, .moment = SHARED_BEFORE_BEGIN}},
        {"it is over before", {.kind = CHAOS_KILL, .from = 1000000}},
    };
    struct error why;
    struct chaos_server server = start_own();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct chaos_report report = run_with(&server, &cases[i].fault, 1, LAPSE_MS);
        cr_expect_eq(counted(&report), 0, "%s", cases[i].why);
        cr_expect_eq(report.missed, 1, "%s", cases[i].why);
        begin_anew(&server, cluster_dsn(&own));
    }
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* The same kinds where there is something to hit. */
Test(chaos, a_fault_that_hit_is_counted_by_its_kind)
{
    static const struct chaos_fault faults[] = {
        {.kind = CHAOS_KILL_AT_POINT, .bundle = BUNDLE_SEQ_BEAT, .moment = SHARED_BEFORE_COMMIT},
        {.kind = CHAOS_TERMINATE, .bundle = BUNDLE_SEQ_ADMIT, .moment = SHARED_BEFORE_COMMIT},
        {.kind = CHAOS_TERMINATE, .bundle = BUNDLE_SEQ_ADMIT, .moment = SHARED_SENT},
        {.kind = CHAOS_KILL_BACKEND, .bundle = BUNDLE_SEQ_TAKE, .moment = SHARED_SENT},
        {.kind = CHAOS_RESTART, .bundle = BUNDLE_SEQ_DISPATCH, .moment = SHARED_SENT},
        {.kind = CHAOS_STOP,
         .bundle = BUNDLE_SEQ_BEAT,
         .moment = SHARED_BEFORE_BEGIN,
         .amount = 200},
        {.kind = CHAOS_SHORT_STOP,
         .bundle = BUNDLE_SEQ_BEAT,
         .moment = SHARED_BEFORE_BEGIN,
         .amount = 1},
    };
    struct error error;
    struct chaos_server server = start_own();
    for (size_t i = 0; i < COUNT(faults); i++) {
        bool lasts = faults[i].kind == CHAOS_SHORT_STOP;
        struct chaos_report report = run_with(&server, &faults[i], 1, lasts ? LONG_MS : LAPSE_MS);
        cr_expect_eq(counted(&report), 1, "fault %zu", i);
        cr_expect_eq(report.counted[faults[i].kind], 1, "fault %zu", i);
        if (faults[i].moment == SHARED_SENT) {
            cr_expect_geq(page->cut_count, 1, "its commit was not answered");
        }
        begin_anew(&server, cluster_dsn(&own));
    }
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* Who was promoted is followed by another, while the work goes on. */
Test(chaos, promotions_follow_one_another)
{
    static const struct chaos_fault faults[] = {
        {.kind = CHAOS_FAILOVER, .bundle = BUNDLE_SEQ_ADMIT, .moment = SHARED_BEFORE_COMMIT},
        {.kind = CHAOS_FAILOVER, .bundle = BUNDLE_SEQ_DISPATCH, .moment = SHARED_SENT},
        {.kind = CHAOS_FAILOVER, .bundle = BUNDLE_SEQ_COMMIT, .moment = SHARED_BEFORE_COMMIT}};
    struct error error;
    struct chaos_server server = start_own();
    struct chaos_report report = run_with(&server, faults, 3, LAPSE_MS);
    cr_expect_eq(report.counted[CHAOS_FAILOVER], 3, "%d counted, %d missed",
                 (int)report.counted[CHAOS_FAILOVER], (int)report.missed);
    cr_expect_eq(look_up(chaos_server_dsn(&server)).forgotten, 0);
    cr_expect(chaos_server_unfollow(&server, &error), "%s", error.text);
    cr_expect(cluster_close(&own, &error), "%s", error.text);
}

/* What real faults are made of, one by one: a transaction in two halves, lines that go dead around
 * COMMIT, marks and fates, snares, what stays when a process dies, and a server that is killed,
 * followed and replaced. */
#include "model/seq_durable.h"
#include "real/chaos.h"
#include "real/fates.h"
#include "real/history.h"
#include "real/rival.h"
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

static struct seat_page *page;
static struct rules rules;

static void must_run(struct store_pg *store, const char *script)
{
    cr_assert(store_pg_run(store, script), "%s", store_pg_why_not(store));
}

static struct store_pg *open_at(const char *dsn)
{
    struct store_pg_problem problem;
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = dsn,
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT,
                                                 .name = NAME,
                                                 .marks = true},
                      &problem);
    cr_assert_not_null(store, "%s", problem.text);
    return store;
}

/* The tables, the history and the views. */
static void add_history(const char *dsn)
{
    static char script[HISTORY_SCRIPT_SIZE + VIEWS_SCRIPT_SIZE];
    struct store_pg_problem problem;
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = dsn,
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &problem);
    cr_assert_not_null(store, "%s", problem.text);
    history_script(SCHEMA, UINT64_MAX, false, script);
    must_run(store, script);
    views_script(SCHEMA, UINT64_MAX, script);
    must_run(store, script);
    store_pg_close(store);
}

/* Two clients and a worker, as far as seats care. */
static void make(void)
{
    server_make_schema(SCHEMA);
    add_history(server_dsn());
    rules = (struct rules){.protocol = &protocol_seq,
                           .actors = 2,
                           .cast = {SEQ_DISPATCHER, SEQ_WORKER},
                           .jobs = 3,
                           .timeout = 100,
                           .put_back = 5};
    *RULES_OF(&rules, seq_plan) = (struct seq_plan){.fate_count = 1};
    page = seat_page_make();
    cr_assert_not_null(page);
    seat_page_begin(page, &rules);
    page->resolved |= UINT64_C(1) << BUNDLE_CREATE; /* what transactions here are */
}

static void unmake(void)
{
    seat_page_free(page);
}

TestSuite(chaos, .init = make, .fini = unmake, .timeout = 120);

/* ---- the journal ----------------------------------------------------------------------------- */

Test(chaos, work_that_was_entered_outlives_its_process_and_no_run_finds_what_another_did)
{
    const struct side_effect work[] = {{.what = 1, .claim = 2, .epoch = 3}, {4, 5, 6}};
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        seat_work(page, &work[0]);
        seat_work(page, &work[1]);
        (void)raise(SIGKILL);
    }
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_assert_eq(page->work_count, 2U);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(page->works[i].what, work[i].what);
        cr_expect_eq(page->works[i].claim, work[i].claim);
        cr_expect_eq(page->works[i].epoch, work[i].epoch);
    }
    seat_page_begin(page, &rules);
    cr_expect_eq(page->work_count, 0U);
    cr_expect_eq(page->works[1].what, 0);
}

Test(chaos, work_that_has_no_room_is_counted)
{
    page->work_count = SEAT_WORKS_MAX - 1;
    seat_work(page, &(struct side_effect){.what = 7});
    seat_work(page, &(struct side_effect){.what = 8});
    cr_expect_eq(page->works[SEAT_WORKS_MAX - 1].what, 7);
    cr_expect_gt(page->work_count, (unsigned long)SEAT_WORKS_MAX);
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
    char query[200];
    cr_expect(store_pg_execute(store, &create, 0, &outcome));
    struct store_pg_mark mark = store_pg_mark(store);
    snprintf(query, sizeof query,
             "SELECT count(*) FROM " SCHEMA ".history WHERE xid = %" PRId64 " AND seq = %" PRId64
             " AND backend = %" PRId64,
             mark.transaction, mark.change, mark.backend);
    cr_expect_eq(ask(store, query), 1);
    /* one that changes nothing */
    cr_expect(store_pg_execute(store, &read, 0, &outcome));
    cr_expect_eq(store_pg_mark(store).change, 0);
    /* one that fails after it drew a number of the history */
    bundle_begin(&orphan, BUNDLE_CREATE);
    memcpy(bundle_append(&orphan, PRIMITIVE_CREATE_JOB, CALL_PLAIN, 0), (int64_t[]){2, 0, 7}, 24);
    memcpy(bundle_append(&orphan, PRIMITIVE_CREATE_JOB, CALL_REQUIRE, 0), (int64_t[]){1, 0, 7}, 24);
    cr_expect(store_pg_execute(store, &orphan, 0, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_REFUSED);
    cr_expect(store_pg_execute(store, &read, 0, &outcome));
    cr_expect_eq(store_pg_mark(store).change, 0);
    store_pg_close(store);
}

/* ---- snares ---------------------------------------------------------------------------------- */

static void set_snare(int number, enum seat_act act, enum bundle_name bundle,
                      enum seat_moment moment)
{
    struct seat_snare *snare = &page->snares[number];
    snare->act = (uint8_t)act;
    snare->bundle = (uint8_t)bundle;
    snare->moment = (uint8_t)moment;
    snare->state = SEAT_SNARE_SET;
}

/* In a process of its own; returns how waitpid sees it stop or end. */
static pid_t execute_apart(const struct bundle *bundle, int *status)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct outcome outcome = {0};
        struct store_pg *store = open_at(server_dsn());
        bool told = seat_execute(page, 1, store, bundle, 0, &outcome);
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

Test(chaos, a_process_stands_still_at_the_point_of_its_snare_and_nowhere_else)
{
    static const struct {
        enum seat_moment moment;
        bool there; /* what a killed one leaves */
    } points[] = {{SEAT_BEFORE_BEGIN, false},
                  {SEAT_BEFORE_COMMIT, false},
                  {SEAT_SENT, true},
                  {SEAT_AFTER_COMMIT, true}};
    struct store_pg *other = open_at(server_dsn());
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        struct bundle bundle = create_job((int64_t)(100 + i));
        char query[100];
        int status = 0;
        set_snare(0, SEAT_STOPS, BUNDLE_CREATE, points[i].moment);
        set_snare(1, SEAT_STOPS, BUNDLE_CLAIM, points[i].moment);
        pid_t pid = execute_apart(&bundle, &status);
        cr_assert(WIFSTOPPED(status), "point %zu", i);
        cr_expect_eq(page->seats[1].moment, (int)points[i].moment);
        cr_expect_eq(page->seats[1].snare, 0);
        cr_expect_eq(page->snares[0].state, SEAT_SNARE_SPRUNG);
        cr_expect_eq(page->snares[1].state, SEAT_SNARE_SET);
        finish(pid, SIGKILL, &status);
        snprintf(query, sizeof query, "SELECT count(*) FROM " SCHEMA ".job WHERE id = %zu",
                 100 + i);
        for (int t = 0; t < 5000 && ask(other, query) != points[i].there; t++) {
            usleep(1000); /* SEAT_SENT: the server is about to commit it */
        }
        cr_expect_eq(ask(other, query), (int64_t)points[i].there, "point %zu", i);
    }
    store_pg_close(other);
}

Test(chaos, a_snare_is_sprung_once_and_not_before_its_time)
{
    struct bundle bundle = create_job(1);
    int status = 0;
    set_snare(0, SEAT_STOPS, BUNDLE_CREATE, SEAT_BEFORE_COMMIT);
    page->snares[0].from = 1;
    execute_apart(&bundle, &status);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "progress is 0");
    page->progress = 1;
    pid_t pid = execute_apart(&bundle, &status);
    cr_assert(WIFSTOPPED(status));
    int second = 0;
    execute_apart(&bundle, &second);
    cr_expect(WIFEXITED(second) && WEXITSTATUS(second) == 0, "it was sprung by another");
    finish(pid, SIGCONT, &status);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- lost answers, and fates ----------------------------------------------------------------- */

static struct outcome execute_with(struct store_pg *store, enum seat_act act, int64_t job)
{
    struct bundle bundle = create_job(job);
    struct outcome outcome = {0};
    set_snare(0, act, BUNDLE_CREATE, SEAT_SENT);
    cr_expect(seat_execute(page, 1, store, &bundle, 0, &outcome));
    cr_expect_eq(page->snares[0].state, SEAT_SNARE_SPRUNG);
    return outcome;
}

Test(chaos, an_answer_is_lost_with_either_fate_and_the_server_knows_which)
{
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct fates fates = {0};
    cr_expect_eq(execute_with(store, SEAT_CUTS_EARLY, 1).kind, OUTCOME_UNKNOWN);
    cr_expect_eq(execute_with(store, SEAT_CUTS_LATE, 2).kind, OUTCOME_UNKNOWN);
    for (int t = 0; t < 5000 && jobs(other) < 1; t++) {
        usleep(1000);
    }
    cr_expect_eq(ask(other, "SELECT count(*) FROM " SCHEMA ".job WHERE id = 2"), 1);
    cr_expect_eq(jobs(other), 1);
    cr_expect(fates_look_up(other, SCHEMA, page, true, &fates), "%s", store_pg_why_not(other));
    cr_expect_eq(fates.committed, 1);
    cr_expect_eq(fates.lost, 1);
    cr_expect_eq(fates.asked, 2);
    cr_expect_eq(fates.contradictions, 0);
    store_pg_close(store);
    store_pg_close(other);
}

Test(chaos, fates_that_cannot_be_are_found_out)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    struct fates fates = {0};
    cr_expect(seat_execute(page, 1, store, &bundle, 0, &outcome));
    cr_assert_eq(page->ack_count, 1);
    /* committed, though COMMIT never left */
    page->cuts[0] = (struct seat_cut){.mark = page->acks[0].mark, .how = SEAT_CUTS_EARLY};
    page->cut_count = 1;
    cr_expect(fates_look_up(store, SCHEMA, page, true, &fates));
    cr_expect_eq(fates.contradictions, 1);
    cr_expect_eq(fates.forgotten, 0);
    /* committed, and the history does not know it; acknowledged, too */
    must_run(store, "DELETE FROM " SCHEMA ".history");
    page->cuts[0].how = SEAT_CUTS_LATE;
    fates = (struct fates){0};
    cr_expect(fates_look_up(store, SCHEMA, page, true, &fates));
    cr_expect_eq(fates.contradictions, 1);
    cr_expect_eq(fates.acknowledged, 1);
    cr_expect_eq(fates.forgotten, 1);
    store_pg_close(store);
}

/* What a worker is told about an unknown commit is held against the server's record. */
static struct fates after_doubt(enum seat_act act, bool assumes, bool vague)
{
    struct store_pg *store = open_at(server_dsn()), *other = open_at(server_dsn());
    struct bundle same = create_job(1), next = create_job(2);
    struct outcome outcome = {0};
    struct fates fates = {0};
    page->vague = vague;
    cr_expect_eq(execute_with(store, act, 1).kind, OUTCOME_UNKNOWN);
    for (int t = 0; act == SEAT_CUTS_LATE && t < 5000 && jobs(other) < 1; t++) {
        usleep(1000);
    }
    if (!assumes) {
        cr_expect(seat_execute(page, 1, store, &same, 0, &outcome));
    }
    cr_expect(seat_execute(page, 1, store, &next, 0, &outcome));
    cr_expect(fates_look_up(other, SCHEMA, page, true, &fates), "%s", store_pg_why_not(other));
    cr_expect_eq(fates.contradictions, 0);
    store_pg_close(store);
    store_pg_close(other);
    return fates;
}

Test(chaos, whoever_asks_again_learns_that_it_was_done)
{
    struct fates fates = after_doubt(SEAT_CUTS_LATE, false, false);
    cr_expect_eq(fates.done, 1);
    cr_expect_eq(fates.not_done, 0);
    cr_expect_eq(fates.misjudged, 0);
}

Test(chaos, whoever_is_skipped_for_any_reason_learns_nothing)
{
    struct fates fates = after_doubt(SEAT_CUTS_LATE, false, true);
    cr_expect_eq(fates.done, 0);
    cr_expect_eq(fates.misjudged, 0);
}

Test(chaos, whoever_asks_again_learns_that_it_was_not_done)
{
    struct fates fates = after_doubt(SEAT_CUTS_EARLY, false, false);
    cr_expect_eq(fates.done, 0);
    cr_expect_eq(fates.not_done, 1);
    cr_expect_eq(fates.misjudged, 0);
}

/* The planted bug: it goes on as if nothing had happened to its commit. */
Test(chaos, whoever_assumes_that_it_was_done_is_told)
{
    struct fates fates = after_doubt(SEAT_CUTS_EARLY, true, false);
    cr_expect_eq(fates.done, 1);
    cr_expect_eq(fates.unexplained, 1);
    cr_expect_eq(fates.misjudged, 0);
}

/* The other one: it was done, and done again. */
Test(chaos, whoever_does_it_again_though_it_was_done_is_found_out)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    struct fates fates = {0};
    cr_expect(seat_execute(page, 1, store, &bundle, 0, &outcome));
    page->cuts[0] = (struct seat_cut){.mark = page->acks[0].mark,
                                      .work = page->acks[0].work,
                                      .how = SEAT_CUTS_LATE,
                                      .concluded = SEAT_NOT_DONE};
    page->cut_count = 1;
    cr_expect(fates_look_up(store, SCHEMA, page, true, &fates));
    cr_expect_eq(fates.misjudged, 1);
    /* of one that never was, somebody did the same: whoever held it for done was right */
    page->cuts[0].mark.change += 1000;
    page->cuts[0].how = SEAT_STOPS;
    page->cuts[0].concluded = SEAT_DONE;
    fates = (struct fates){0};
    cr_expect(fates_look_up(store, SCHEMA, page, false, &fates));
    cr_expect_eq(fates.misjudged, 0);
    page->cuts[0].work++;
    cr_expect(fates_look_up(store, SCHEMA, page, false, &fates));
    cr_expect_eq(fates.misjudged, 1);
    cr_expect_eq(fates.wrong.work, page->cuts[0].work);
    /* and where somebody died over the same, nobody can tell */
    page->seats[2].unheard[0] = page->cuts[0].work;
    page->seats[2].unheard_count = 1;
    fates = (struct fates){0};
    cr_expect(fates_look_up(store, SCHEMA, page, false, &fates));
    cr_expect_eq(fates.misjudged, 0);
    store_pg_close(store);
}

/* A cut that came late and on a well connection has committed, if nothing else befell the server.
 */
Test(chaos, a_late_cut_that_nobody_knows_of_is_a_contradiction)
{
    struct store_pg *store = open_at(server_dsn());
    struct bundle bundle = create_job(1);
    struct outcome outcome = {0};
    struct fates fates = {0};
    cr_assert(store_pg_send_open(store, &bundle, 0));
    page->cuts[0] = (struct seat_cut){.mark = store_pg_mark(store), .how = SEAT_CUTS_LATE};
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
    cr_expect(fates_look_up(other, SCHEMA, page, true, &fates), "%s", store_pg_why_not(other));
    cr_expect_eq(fates.contradictions, 1);
    page->cuts[0].may_fail = true;
    fates = (struct fates){0};
    cr_expect(fates_look_up(other, SCHEMA, page, true, &fates));
    cr_expect_eq(fates.contradictions, 0);
    store_pg_close(store);
    store_pg_close(other);
}

/* ---- what stays ------------------------------------------------------------------------------ */

Test(chaos, whoever_comes_back_is_another_incarnation_and_goes_on_where_it_was)
{
    struct performer performer;
    seat_take_place(&page->seats[1], &performer, &rules, 1);
    uint32_t first = ACTOR_IS(&performer.actor, seq_actor)->incarnation;
    ACTOR_IS(&performer.actor, seq_actor)->target = 2;
    seat_keep(&page->seats[1], &performer.actor);
    seat_take_place(&page->seats[1], &performer, &rules, 1);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->incarnation, first + 1);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->target, 0,
                 "a worker knows nothing any more");
    seat_take_place(&page->seats[1], &performer, &rules, 1);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->incarnation, first + 2);
    seat_take_place(&page->seats[0], &performer, &rules, 0);
    ACTOR_IS(&performer.actor, seq_actor)->at = 2;
    seat_keep(&page->seats[0], &performer.actor);
    seat_take_place(&page->seats[0], &performer, &rules, 0);
    cr_expect_eq(ACTOR_IS(&performer.actor, seq_actor)->at, 2,
                 "who hands out seqs knows how far it is");
}

/* ---- views ----------------------------------------------------------------------------------- */

Test(chaos, views_say_what_digits_mean)
{
    struct store_pg *store = open_at(server_dsn());
    must_run(store, "INSERT INTO " SCHEMA ".job VALUES (1, 1, 0, 0, 0, 7); INSERT INTO " SCHEMA
                    ".activity VALUES (2, 1, 0, 12111000000034, 0)");
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
    struct cluster_fault why;
    struct store_pg_problem problem;
    cr_assert(cluster_start(&own,
                            &(struct cluster_options){.settings = chaos_server_settings,
                                                      .max_connections = CHAOS_SERVER_CONNECTIONS},
                            &why),
              "%s", why.text);
    cr_assert(store_pg_make_schema(cluster_dsn(&own), SCHEMA, UINT64_MAX, &problem), "%s",
              problem.text);
    add_history(cluster_dsn(&own));
    return (struct chaos_server){.cluster = &own, .standby.lock = -1};
}

static void execute(struct store_pg *store, int64_t job)
{
    struct bundle bundle = create_job(job);
    struct outcome outcome = {0};
    cr_assert(seat_execute(page, 1, store, &bundle, 0, &outcome), "%s", store_pg_why_not(store));
    cr_assert_eq(outcome.kind, OUTCOME_COMMITTED);
}

static struct fates look_up(const char *dsn)
{
    struct fates fates = {0};
    struct store_pg *store = open_at(dsn);
    cr_assert(fates_look_up(store, SCHEMA, page, false, &fates), "%s", store_pg_why_not(store));
    store_pg_close(store);
    return fates;
}

static void keep_job(void *context, const struct history_change *change)
{
    int64_t **next = context;
    *(*next)++ = change->row[0];
}

/* The first to write is the last to commit. */
Test(chaos, a_history_is_told_in_the_order_of_commits)
{
    int64_t jobs[2] = {0}, *next = jobs;
    (void)start_own();
    struct store_pg *slow = open_at(cluster_dsn(&own)), *fast = open_at(cluster_dsn(&own));
    struct bundle first = create_job(1), second = create_job(2);
    struct outcome outcome = {0};
    cr_assert(store_pg_send_open(slow, &first, 0));
    cr_assert(store_pg_execute(fast, &second, 0, &outcome));
    store_pg_send_commit(slow);
    cr_assert(store_pg_receive(slow, &outcome));
    cr_assert(history_read(fast, SCHEMA, keep_job, &next), "%s", store_pg_why_not(fast));
    cr_expect_eq(jobs[0], 2);
    cr_expect_eq(jobs[1], 1);
    store_pg_close(slow);
    store_pg_close(fast);
    cluster_stop(&own, CLUSTER_IMMEDIATE);
}

Test(chaos, a_promoted_standby_has_all_that_was_acknowledged)
{
    struct cluster_fault why;
    struct chaos_server server = start_own();
    cr_assert(chaos_server_follow(&server, &why), "%s", why.text);
    struct store_pg *store = open_at(chaos_server_dsn(&server));
    for (int64_t job = 1; job <= 20; job++) {
        execute(store, job);
    }
    chaos_server_kill(&server);
    cr_assert(chaos_server_promote(&server, &why), "%s", why.text);
    struct fates fates = look_up(chaos_server_dsn(&server));
    cr_expect_eq(fates.acknowledged, 20);
    cr_expect_eq(fates.forgotten, 0);
    store_pg_close(store);
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* The planted bug: a standby that nobody waits for, and that has stopped listening. */
Test(chaos, a_failover_that_forgets_is_found_out)
{
    struct cluster_fault why;
    struct chaos_server server = start_own();
    cr_assert(chaos_server_follow(&server, &why), "%s", why.text);
    struct store_pg *primary = open_at(cluster_dsn(&own));
    must_run(primary, "ALTER SYSTEM SET synchronous_standby_names = ''");
    must_run(primary, "SELECT pg_reload_conf()");
    struct store_pg_problem problem;
    struct store_pg *standby =
        store_pg_open(&(struct store_pg_options){.dsn = cluster_dsn(&server.standby),
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
    chaos_server_kill(&server);
    cr_assert(chaos_server_promote(&server, &why), "%s", why.text);
    cr_expect_eq(look_up(chaos_server_dsn(&server)).forgotten, 1);
    store_pg_close(primary);
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

Test(chaos, only_the_servers_own_processes_are_killed)
{
    struct cluster_fault why;
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
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* A server that has lost a process throws everybody out and recovers first. */
Test(chaos, a_standby_joins_a_server_that_is_starting_over)
{
    struct cluster_fault why;
    struct chaos_server server = start_own();
    struct store_pg *victim = open_at(cluster_dsn(&own)), *other = open_at(cluster_dsn(&own));
    cr_assert(chaos_server_kill_backend(&server, store_pg_backend(victim)));
    while (store_pg_is_well(other)) {
        usleep(1000);
    }
    cr_expect(chaos_server_follow(&server, &why), "%s", why.text);
    cr_expect(chaos_server_unfollow(&server, &why), "%s", why.text);
    store_pg_close(victim);
    store_pg_close(other);
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* ---- a busy machine -------------------------------------------------------------------------- */

/* A seq's dispatcher, and nobody to hand its seqs to. */
static pid_t dispatch_apart(const char *dsn)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct store_pg_problem problem;
        struct driver driver = {.dsn = dsn,
                                .schema = SCHEMA,
                                .rules = &rules,
                                .page = page,
                                .storms = true,
                                .give_up_at = INT64_MAX};
        _exit((int)driver_act(&driver, 0, &problem));
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
    struct cluster_fault why;
    struct chaos_server server = start_own();
    int status = 0;
    set_snare(0, SEAT_STOPS, BUNDLE_SEQ_ADMIT, SEAT_BEFORE_COMMIT);
    pid_t pid = dispatch_apart(cluster_dsn(&own));
    cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
    cr_assert(WIFSTOPPED(status));
    chaos_server_stop(&server, NULL);
    kill(pid, SIGCONT);
    await(&page->seats[0].aborted[ABORT_CONNECTION], 1);
    unsigned long before = page->progress;
    await(&page->seats[0].aborted[ABORT_CONNECTION], 100);
    cr_expect_eq(page->progress, before, "%lu, then %lu", before, page->progress);
    cr_assert(chaos_server_start(&server, &why), "%s", why.text);
    await(&page->progress, before + 1);
    finish(pid, SIGKILL, &status);
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* A victim that is slow: it asks for a connection only when it was waited for so often. */
struct slow {
    int looks;
    bool admitted;
};

static bool is_over_at_last(const void *of)
{
    struct slow *slow = *(struct slow *const *)of;
    struct store_pg_problem problem;
    if (++slow->looks < 100) {
        return false;
    }
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = cluster_dsn(&own),
                                                 .schema = SCHEMA,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &problem);
    slow->admitted = store != NULL;
    store_pg_close(store);
    return true;
}

Test(chaos, a_crowd_stays_until_its_victim_has_come)
{
    struct cluster_fault why;
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
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t undisturbed;

#define LAPSE_MS 150   /* claims that lapse soon */
#define LONG_MS  20000 /* ... and that outlast any pause of a busy machine */

/* Three seqs, with one fault. */
static struct chaos_report run_with(struct chaos_server *server, const struct chaos_fault *faults,
                                    size_t count, int64_t claim_ms)
{
    struct chaos_plan plan = {.faults = faults, .count = count, .storms = true};
    struct chaos_report report = {.missed = 0};
    struct store_pg_problem problem;
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
    cr_assert_eq(chaos_run(&chaos, &report, &problem), CHAOS_QUIET, "%s", problem.text);
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

static void begin_anew(const char *dsn)
{
    struct store_pg_problem problem;
    cr_assert(store_pg_drop_schema(dsn, SCHEMA, &problem), "%s", problem.text);
    cr_assert(store_pg_make_schema(dsn, SCHEMA, UINT64_MAX, &problem), "%s", problem.text);
    add_history(dsn);
}

/* Each of them falls, or waits for somebody, and hits nothing that its kind is about. */
Test(chaos, a_fault_that_hit_nothing_is_not_counted)
{
    static const struct {
        const char *why;
        struct chaos_fault fault;
    } cases[] = {
        {"nothing is held before it begins",
         {.kind = CHAOS_KILL_AT_POINT, .bundle = BUNDLE_SEQ_ADMIT, .moment = SEAT_BEFORE_BEGIN}},
        {"nobody sends that", {.kind = CHAOS_TERMINATE, .bundle = BUNDLE_STEP2}},
        {"the dispatcher has no claim to lose",
         {.kind = CHAOS_STOP,
          .bundle = BUNDLE_SEQ_ADMIT,
          .moment = SEAT_BEFORE_COMMIT,
          .amount = 200}},
        {"nothing is SERIALIZABLE there",
         {.kind = CHAOS_SERIALIZATION, .bundle = SEAT_ANY, .moment = SEAT_BEFORE_BEGIN}},
        {"it is over before", {.kind = CHAOS_KILL, .from = 1000000}},
    };
    struct cluster_fault why;
    struct chaos_server server = start_own();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chaos_report report = run_with(&server, &cases[i].fault, 1, LAPSE_MS);
        cr_expect_eq(counted(&report), 0, "%s", cases[i].why);
        cr_expect_eq(report.missed, 1, "%s", cases[i].why);
        begin_anew(cluster_dsn(&own));
    }
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* The same kinds where there is something to hit. */
Test(chaos, a_fault_that_hit_is_counted_by_its_kind)
{
    static const struct chaos_fault faults[] = {
        {.kind = CHAOS_KILL_AT_POINT, .bundle = BUNDLE_SEQ_BEAT, .moment = SEAT_BEFORE_COMMIT},
        {.kind = CHAOS_TERMINATE, .bundle = BUNDLE_SEQ_ADMIT, .moment = SEAT_BEFORE_COMMIT},
        {.kind = CHAOS_TERMINATE, .bundle = BUNDLE_SEQ_ADMIT, .moment = SEAT_SENT},
        {.kind = CHAOS_KILL_BACKEND, .bundle = BUNDLE_SEQ_TAKE, .moment = SEAT_SENT},
        {.kind = CHAOS_RESTART, .bundle = BUNDLE_SEQ_DISPATCH, .moment = SEAT_SENT},
        {.kind = CHAOS_STOP, .bundle = BUNDLE_SEQ_BEAT, .moment = SEAT_BEFORE_BEGIN, .amount = 200},
        {.kind = CHAOS_SHORT_STOP,
         .bundle = BUNDLE_SEQ_BEAT,
         .moment = SEAT_BEFORE_BEGIN,
         .amount = 1},
    };
    struct cluster_fault why;
    struct chaos_server server = start_own();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool lasts = faults[i].kind == CHAOS_SHORT_STOP;
        struct chaos_report report = run_with(&server, &faults[i], 1, lasts ? LONG_MS : LAPSE_MS);
        cr_expect_eq(counted(&report), 1, "fault %zu", i);
        cr_expect_eq(report.counted[faults[i].kind], 1, "fault %zu", i);
        if (faults[i].moment == SEAT_SENT) {
            cr_expect_geq(page->cut_count, 1, "its commit was not answered");
        }
        begin_anew(cluster_dsn(&own));
    }
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

/* Who was promoted is followed by another, while the work goes on. */
Test(chaos, promotions_follow_one_another)
{
    static const struct chaos_fault faults[] = {
        {.kind = CHAOS_FAILOVER, .bundle = BUNDLE_SEQ_ADMIT, .moment = SEAT_BEFORE_COMMIT},
        {.kind = CHAOS_FAILOVER, .bundle = BUNDLE_SEQ_DISPATCH, .moment = SEAT_SENT},
        {.kind = CHAOS_FAILOVER, .bundle = BUNDLE_SEQ_COMMIT, .moment = SEAT_BEFORE_COMMIT}};
    struct cluster_fault why;
    struct chaos_server server = start_own();
    struct chaos_report report = run_with(&server, faults, 3, LAPSE_MS);
    cr_expect_eq(report.counted[CHAOS_FAILOVER], 3, "%d counted, %d missed",
                 (int)report.counted[CHAOS_FAILOVER], (int)report.missed);
    cr_expect_eq(look_up(chaos_server_dsn(&server)).forgotten, 0);
    cr_expect(chaos_server_unfollow(&server, &why), "%s", why.text);
    cr_expect(cluster_close(&own, &why), "%s", why.text);
}

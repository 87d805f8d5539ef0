/* The clock of a client's machine decides nothing: with one that is an hour off, either way, claims
 * stand and leases hold as long as the server says (E-SEQ-13).
 *
 * The C library's clocks are replaced for this whole program, libpq included, by ones that show the
 * true time plus `ahead`. */
#define _GNU_SOURCE
#include "model/protocol.h"
#include "model/seq.h"
#include "model/tests/proves.h"
#include "model/tests/rules.h"
#include "real/driver.h"
#include "real/schema.h"
#include "real/tests/server.h"

#include <criterion/criterion.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA   "assay_client_clock"
#define LEASE_MS 60000
#define HOUR_MS  INT64_C(3600000)
#define ROUNDS   12 /* transactions of a reclaimer; it needs no more than eight (E-SEQ-17) */

static int64_t ahead; /* seconds */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long failed = syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += ahead;
    return (int)failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int failed = clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return failed;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != NULL) {
        *at = now.tv_sec;
    }
    return now.tv_sec;
}

/* The clocks of this machine are so far off, as this program sees them. */
static void shift(int64_t ms)
{
    int64_t before = driver_now();
    time_t wall = time(NULL);
    int64_t by = ms / 1000 - ahead;
    ahead = ms / 1000;
    cr_assert(llabs(driver_now() - before - by * 1000) < LEASE_MS, "the monotonic clock");
    cr_assert(llabs((long long)(time(NULL) - wall) - by) < LEASE_MS / 1000, "the wall clock");
}

/* ---- actors ---------------------------------------------------------------------------------- */

static struct rules rules = {
    .protocol = &protocol_seq,
    .actors = 5,
    .cast = {SEQ_DISPATCHER, SEQ_WORKER, SEQ_RECLAIMER, SEQ_CANCELLER, SEQ_COMMITTER},
    .jobs = 1,
    .timeout = LEASE_MS,
    .put_back = LEASE_MS};
OWN_RULES(rules, seq_plan, .retryable = SEQ_PLAN_RETRYABLE, .budget = 2, .fate_count = 1,
          .fates = {SEQ_FATE_SUCCESS})

static struct store_pg *store;

static int64_t ask(const char *query)
{
    int64_t number = -1;
    cr_assert(store_pg_ask(store, query, &number), "%s: %s", query, store_pg_why_not(store));
    return number;
}

static int64_t in_flight(void)
{
    char query[100];
    snprintf(query, sizeof query, "SELECT count(*) FROM " SCHEMA ".seq WHERE state = %d",
             SEQ_IN_FLIGHT);
    return ask(query);
}

/* One transaction, sent as `assay real` sends it. */
static enum bundle_name act(struct actor *actor, unsigned number)
{
    const struct role *role = protocol_role(&rules, number);
    struct bundle bundle;
    struct outcome outcome;
    role->next(actor, &rules, &bundle);
    cr_assert(store_pg_execute(store, &bundle, STORE_PG_SERVERS_TIME, &outcome), "%s",
              store_pg_why_not(store));
    role->take(actor, &rules, &outcome);
    return (enum bundle_name)bundle.name;
}

/* Whether a reclaimer that begins now reclaims anything. */
static bool reclaims(void)
{
    struct actor reclaimer;
    bool reclaimed = false;
    protocol_begin(&reclaimer, &rules, SEQ_RECLAIMER);
    for (int round = 0; round < ROUNDS; round++) {
        reclaimed = act(&reclaimer, SEQ_RECLAIMER) == BUNDLE_SEQ_RECLAIM || reclaimed;
    }
    return reclaimed;
}

/* One seq, whose run has begun. */
static void begin_run(void)
{
    struct actor dispatcher, worker;
    protocol_begin(&dispatcher, &rules, SEQ_DISPATCHER);
    protocol_begin(&worker, &rules, SEQ_WORKER);
    for (int round = 0; round < ROUNDS && ask("SELECT count(*) FROM " SCHEMA ".seq") == 0;
         round++) {
        act(&dispatcher, SEQ_DISPATCHER);
    }
    for (int round = 0; round < ROUNDS && in_flight() == 0; round++) {
        act(&dispatcher, SEQ_DISPATCHER);
        act(&worker, SEQ_WORKER);
    }
    cr_assert_eq(in_flight(), 1);
}

/* From the next transaction on the server's clock is so far ahead. */
static void leap(int64_t ms)
{
    char script[SCHEMA_SCRIPT_SIZE];
    static const char wall[] = "SELECT " SCHEMA "." SCHEMA_WALL "()";
    struct schema_leaps leaps = {
        1, {{.from = ask(wall) + INT64_C(20) * SCHEMA_LEAP_MARGIN_MS, .ahead = ms}}};
    schema_leap_script(SCHEMA, &leaps, script);
    cr_assert(store_pg_run(store, script), "%s", store_pg_why_not(store));
    while (ask(wall) < leaps.at[0].from) {
        usleep(1000);
    }
}

static void make(void)
{
    struct error error;
    server_make_schema(SCHEMA);
    store = store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                     .schema = SCHEMA,
                                                     .primitives = primitive_table,
                                                     .primitive_count = PRIMITIVE_COUNT},
                          &error);
    cr_assert_not_null(store, "%s", error.text);
}

static void unmake(void)
{
    if (store != NULL) {
        store_pg_close(store);
    }
}

TestSuite(client_clock, .init = make, .fini = unmake, .timeout = 120);

/* ---- what they decide ------------------------------------------------------------------------ */

Test(client_clock, a_lease_holds_as_long_as_the_server_says)
{
    SETTLES(ERRATUM_SEQ_13);
    begin_run();
    cr_expect_not(reclaims(), "the true time");
    shift(HOUR_MS);
    cr_expect_not(reclaims(), "an hour ahead");
    shift(-HOUR_MS);
    cr_expect_not(reclaims(), "an hour behind");
    cr_expect_eq(in_flight(), 1);
    leap(HOUR_MS);
    cr_expect(reclaims(), "the server's hour is over, whatever this machine shows");
    cr_expect_eq(in_flight(), 0);
}

static int64_t claim(void)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    bundle_begin(&bundle, BUNDLE_CLAIM);
    BUNDLE_CALL(&bundle, PRIMITIVE_CLAIM, CALL_PLAIN, 0, LEASE_MS);
    cr_assert(store_pg_execute(store, &bundle, STORE_PG_SERVERS_TIME, &outcome), "%s",
              store_pg_why_not(store));
    return outcome.kind == OUTCOME_COMMITTED ? outcome.message[0] : 0;
}

static void publish(int64_t id)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    char parents[200];
    snprintf(parents, sizeof parents,
             "INSERT INTO " SCHEMA ".job VALUES (1, 1, 0, 0, 0, 0); INSERT INTO " SCHEMA
             ".activity VALUES (1, 1, 0, 0, 0)");
    cr_assert(store_pg_run(store, parents), "%s", store_pg_why_not(store));
    bundle_begin(&bundle, BUNDLE_CREATE);
    bundle_publish(&bundle, CALL_REQUIRE, id, 1)[1 + MESSAGE_ACTIVITY] = 1;
    cr_assert(store_pg_execute(store, &bundle, STORE_PG_SERVERS_TIME, &outcome), "%s",
              store_pg_why_not(store));
    cr_assert_eq(outcome.kind, OUTCOME_COMMITTED);
}

Test(client_clock, a_claim_stands_as_long_as_the_server_says)
{
    SETTLES(ERRATUM_SEQ_13);
    shift(-HOUR_MS);
    publish(5);
    cr_expect_eq(claim(), 5, "published an hour ago by that clock");
    shift(HOUR_MS);
    cr_expect_eq(claim(), 0, "it stands");
    shift(-HOUR_MS);
    cr_expect_eq(claim(), 0, "it stands");
    leap(HOUR_MS);
    cr_expect_eq(claim(), 5, "the server's hour is over");
}

#include "real/driver.h"

#include "model/check.h"
#include "real/part.h"
#include "real/queue_fault.h"
#include "real/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define PAUSE_MS 1 /* between two looks when there was nothing to do */

int64_t driver_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Connections with the primitives that they execute: the catalogue's, or a planted bug's. */
struct station {
    struct store_pg *as[PRINCIPAL_COUNT]; /* the caller's first; NULL: no such principal */
    struct store_pg *asked;               /* the one that was asked last */
    unsigned moves;                       /* of the server, that it has heard of */
    bool refused;                         /* its last transaction was */
    struct primitive primitives[SABOTAGE_TABLE_SIZE];
};

void driver_name(const struct driver *driver, unsigned actor, char name[STORE_PG_NAME_SIZE])
{
    const struct role *role = protocol_role(driver->rules, actor);
    snprintf(name, STORE_PG_NAME_SIZE, "%s %.24s%s%s %u.%u", driver->schema,
             driver->run == NULL ? "" : driver->run, driver->run == NULL ? "" : " ", role->name,
             actor, driver->page->seats[actor].lives);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* In storms the server may be away, and comes back. */
static struct store_pg *open_as_caller(const struct driver *driver,
                                       struct store_pg_options *options,
                                       struct store_pg_problem *problem)
{
    struct store_pg *store = store_pg_open(options, problem);
    while (store == NULL && driver->storms && driver_now() < driver->give_up_at) {
        pause_ms(PAUSE_MS);
        const char *moved = seat_page_dsn(driver->page);
        options->dsn = moved == NULL ? driver->dsn : moved;
        store = store_pg_open(options, problem);
    }
    return store;
}

/* A server that was replaced is found at another place. */
static void follow_server(const struct driver *driver, struct station *station)
{
    unsigned moves = driver->page->dsn_changes;
    for (int p = 0; p < PRINCIPAL_COUNT && moves != station->moves; p++) {
        if (station->as[p] != NULL) {
            store_pg_move(station->as[p], seat_page_dsn(driver->page));
        }
    }
    station->moves = moves;
}

static bool open_station(const struct driver *driver, unsigned actor, struct station *station,
                         struct store_pg_problem *problem)
{
    char name[STORE_PG_NAME_SIZE];
    driver_name(driver, actor, name);
    station->moves = 0;
    sabotage_primitives(driver->sabotage, station->primitives);
    struct store_pg_options options = {.dsn = driver->dsn,
                                       .schema = driver->schema,
                                       .primitives = station->primitives,
                                       .primitive_count = SABOTAGE_TABLE_SIZE,
                                       .form = SQL_WHOLE,
                                       .name = name,
                                       .marks = driver->storms,
                                       .late_changes = driver->presets};
    station->as[PRINCIPAL_NONE] = open_as_caller(driver, &options, problem);
    bool opened = station->as[PRINCIPAL_NONE] != NULL;
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        bool known =
            driver->roles != NULL && principal_in(driver->roles->principals, (enum principal)p);
        options.role = known ? driver->roles->names[p] : NULL;
        options.password = known ? driver->roles->password : NULL;
        options.lazily = true;
        station->as[p] = known && opened ? store_pg_open(&options, problem) : NULL;
        opened = opened && (!known || station->as[p] != NULL);
    }
    return opened;
}

static void close_station(struct station *station)
{
    for (int p = 0; p < PRINCIPAL_COUNT; p++) {
        store_pg_close(station->as[p]);
    }
}

static void failed(const struct station *station, struct store_pg_problem *problem)
{
    snprintf(problem->text, sizeof problem->text, "%s", store_pg_why_not(station->asked));
}

/* A connection of a principal lasts for one transaction. */
static void let_in_others(const struct station *station, struct seat *seat)
{
    store_pg_cut(station->asked);
    seat->backend = store_pg_backend(station->as[PRINCIPAL_NONE]);
}

/* A claim, or a lease. */
static bool holds(const struct performer *performer)
{
    const struct role *role = performer->role;
    return role->is_done == NULL && !role->alone && !role->is_idle(&performer->actor);
}

/* Whoever runs a task again may answer otherwise; only where its answer was taken up before does
 * that mean anything. True: the bundle was made anew. */
static bool answers_otherwise(const struct driver *driver, unsigned number, struct station *station,
                              struct performer *performer, struct bundle *bundle)
{
    char query[120];
    int64_t there = 0;
    const struct protocol *protocol = driver->rules->protocol;
    enum row_table table;
    int64_t answer = driver->storms ? part_answer(protocol, bundle, &table) : 0;
    if (answer == 0) {
        return false;
    }
    snprintf(query, sizeof query, "SELECT count(*) FROM %s.%s WHERE id = %" PRId64, driver->schema,
             schema_table(table), answer);
    if (!store_pg_ask(station->as[PRINCIPAL_NONE], query, &there) || there == 0 ||
        !seat_is_to_answer_otherwise(driver->page, number, bundle)) {
        return false;
    }
    part_answer_otherwise(protocol, &performer->actor, true);
    performer_next(performer, driver->rules, driver->sabotage, bundle);
    return true;
}

/* ---- what an actor is led to ----------------------------------------------------------------- */

struct places {
    struct part_place list[PART_PLACES_MAX];
    size_t count;
};

static void take_place(void *context, const int64_t *row)
{
    struct places *places = context;
    if (places->count < PART_PLACES_MAX) {
        places->list[places->count++] = (struct part_place){.number = row[0], .state = row[1]};
    }
}

/* Its next transaction attempts what nobody may do, if there is anything to attempt it on. */
static void go_wrong(const struct driver *driver, unsigned number, struct station *station,
                     struct performer *performer)
{
    char query[120];
    const struct protocol *protocol = driver->rules->protocol;
    struct places places = {.count = 0};
    struct actor tried = performer->actor;
    uint32_t which = 0;
    if (!driver->storms || !seat_is_awaited(driver->page, SEAT_ERRS)) {
        return;
    }
    bool asks = part_missteps_query(protocol, driver->schema, query, sizeof query);
    if ((asks && !store_pg_query(station->as[PRINCIPAL_NONE], query, take_place, &places)) ||
        !part_misstep(protocol, &tried, places.list, places.count, 0)) {
        return;
    }
    if (seat_is_to_err(driver->page, number, &which)) {
        (void)part_misstep(protocol, &performer->actor, places.list, places.count, which);
    }
}

/* A commit that was broken off may still be under way: who takes it for granted that none comes
 * late waits until its process on the server has ended. Who holds nothing any more, and does not
 * know that it gave it back, lets go of it: there claims last. */
static void be_patient(const struct driver *driver, struct station *station, struct seat *seat)
{
    int broken_off = seat->broken_off, claimer = seat->claimer;
    int64_t transaction = 0;
    bool gone = broken_off == 0, freed = seat->holds;
    while ((!gone || !freed) && driver_now() < driver->give_up_at) {
        const struct queue_at at = {.store = station->as[PRINCIPAL_NONE],
                                    .schema = driver->schema,
                                    .now = driver_now() + driver->page->clock};
        gone = gone || queue_fault_is_gone(&at, broken_off, 0);
        freed = freed || (gone && queue_fault_release(&at, claimer, &transaction) &&
                          (broken_off == 0 || queue_fault_release(&at, broken_off, &transaction)));
        if (!gone || !freed) {
            pause_ms(PAUSE_MS);
        }
    }
    seat->broken_off = 0; /* not before: who dies meanwhile has not let go */
    seat_page_disturb(driver->page, transaction);
}

/* There is no server, or no connection to it: nothing can have come of it. */
static bool found_nobody(const struct outcome *outcome)
{
    return outcome->kind == OUTCOME_ABORTED &&
           (outcome->aborted == ABORT_CONNECTION || outcome->aborted == ABORT_CONNECTIONS);
}

/* One transaction. False: the store failed. */
static bool step(const struct driver *driver, unsigned number, struct station *station,
                 struct performer *performer)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    struct seat *seat = &driver->page->seats[number];
    bool was_idle = performer->role->is_idle(&performer->actor);
    follow_server(driver, station);
    go_wrong(driver, number, station, performer);
    performer_next(performer, driver->rules, driver->sabotage, &bundle);
    bool otherwise = answers_otherwise(driver, number, station, performer, &bundle);
    if (performer_works(performer, driver->sabotage, &bundle)) {
        seat_work(driver->page, &bundle.effect);
    }
    station->asked = station->as[bundle.principal];
    CHECK(station->asked != NULL);
    seat->spared = part_spares(driver->rules, &performer->actor, &bundle);
    if (!seat_execute(driver->page, number, station->asked, &bundle,
                      driver_now() + driver->page->clock, &outcome)) {
        return false;
    }
    station->refused = outcome.kind == OUTCOME_REFUSED;
    driver->page->forbidden += station->refused && outcome.refusal == REFUSED_FORBIDDEN;
    if (bundle.principal != PRINCIPAL_NONE) {
        let_in_others(station, seat);
    }
    performer_take(performer, driver->rules, driver->sabotage, &bundle, &outcome, NULL);
    if (otherwise) {
        seat->doubt = 0; /* what it sends again is the answer that it would have given */
        part_answer_otherwise(driver->rules->protocol, &performer->actor, false);
    }
    seat->holds = holds(performer);
    int spared = part_spares(driver->rules, &performer->actor, &bundle);
    seat->spared |= spared; /* whatever is kept of it, it is spared */
    seat_keep(seat, &performer->actor);
    seat->spared = spared;
    if (outcome.kind != OUTCOME_COMMITTED && outcome.kind != OUTCOME_REFUSED &&
        part_is_patient(driver->rules->protocol)) {
        be_patient(driver, station, seat);
    }
    if (found_nobody(&outcome)) {
        pause_ms(PAUSE_MS);
    } else if (!was_idle || !performer->role->is_idle(&performer->actor)) {
        driver->page->progress++;
    }
    return true;
}

/* Nothing is left, due now or later. */
static bool is_quiet(const struct driver *driver, struct station *station, bool *quiet)
{
    char query[300];
    int64_t left = 1;
    if (driver->page->clients_left > 0) {
        *quiet = false;
        return true;
    }
    part_left_query(driver->rules->protocol, driver->schema, query, sizeof query);
    station->asked = station->as[PRINCIPAL_NONE];
    bool asked = store_pg_ask(station->asked, query, &left);
    *quiet = asked && left == 0;
    return asked || driver->storms;
}

static enum driver_end act(const struct driver *driver, unsigned number, struct station *station)
{
    struct performer performer;
    const struct role *role = protocol_role(driver->rules, number);
    seat_take_place(&driver->page->seats[number], &performer, driver->rules, number);
    while (driver_now() < driver->give_up_at) {
        if (role->is_done != NULL && role->is_done(&performer.actor)) {
            return DRIVER_QUIET;
        }
        bool was_idle = role->is_idle(&performer.actor), quiet = false;
        if (!step(driver, number, station, &performer)) {
            return DRIVER_FAILED;
        }
        /* Where all is halted somebody finds work for ever, and is refused it. */
        if ((!was_idle && !station->refused) || !role->is_idle(&performer.actor) ||
            performer.memory.stage != 0) {
            continue;
        }
        if (!is_quiet(driver, station, &quiet)) {
            return DRIVER_FAILED;
        }
        if (quiet && role->is_done == NULL) {
            return DRIVER_QUIET;
        }
        pause_ms(PAUSE_MS);
    }
    return DRIVER_LATE;
}

enum driver_end driver_act(const struct driver *driver, unsigned actor,
                           struct store_pg_problem *problem)
{
    struct station station;
    if (!open_station(driver, actor, &station, problem)) {
        close_station(&station);
        return driver->storms ? DRIVER_LATE : DRIVER_FAILED;
    }
    enum driver_end end = act(driver, actor, &station);
    if (end == DRIVER_FAILED) {
        failed(&station, problem);
    }
    close_station(&station);
    return end;
}

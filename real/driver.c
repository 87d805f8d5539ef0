#include "real/driver.h"

#include "model/check.h"
#include "real/part.h"
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
             actor, driver->page->actors[actor].lives);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* In storms the server may be away, and comes back. */
static struct store_pg *open_as_caller(const struct driver *driver,
                                       struct store_pg_options *options, struct error *error)
{
    struct store_pg *store = store_pg_open(options, error);
    while (store == NULL && driver->storms && driver_now() < driver->give_up_at) {
        pause_ms(PAUSE_MS);
        const char *moved = shared_page_dsn(driver->page);
        options->dsn = moved == NULL ? driver->dsn : moved;
        store = store_pg_open(options, error);
    }
    return store;
}

/* A server that was replaced is found at another place. */
static void follow_server(const struct driver *driver, struct station *station)
{
    unsigned moves = driver->page->dsn_changes;
    for (int p = 0; p < PRINCIPAL_COUNT && moves != station->moves; p++) {
        if (station->as[p] != NULL) {
            store_pg_move(station->as[p], shared_page_dsn(driver->page));
        }
    }
    station->moves = moves;
}

static bool open_station(const struct driver *driver, unsigned actor, struct station *station,
                         struct error *error)
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
                                       .marks = true,
                                       .tells_locks = driver->tells_locks,
                                       .last = driver->last,
                                       .last_after = driver->last_after};
    station->as[PRINCIPAL_NONE] = open_as_caller(driver, &options, error);
    bool opened = station->as[PRINCIPAL_NONE] != NULL;
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        bool known =
            driver->roles != NULL && principal_in(driver->roles->principals, (enum principal)p);
        options.role = known ? driver->roles->names[p] : NULL;
        options.password = known ? driver->roles->password : NULL;
        options.lazily = true;
        station->as[p] = known && opened ? store_pg_open(&options, error) : NULL;
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

static void failed(const struct station *station, struct error *error)
{
    snprintf(error->text, sizeof error->text, "%s", store_pg_why_not(station->asked));
}

/* A connection of a principal lasts for one transaction. */
static void let_in_others(const struct station *station, struct shared_actor *shared)
{
    store_pg_cut(station->asked);
    shared->backend = store_pg_backend(station->as[PRINCIPAL_NONE]);
}

/* A claim, or a lease. */
static bool driver_holds(const struct performer *performer)
{
    const struct role *role = performer->role;
    return role->is_done == NULL && !role->alone && !role->is_idle(&performer->actor);
}

/* A task that is run again may give another answer. That matters only if its first answer was taken.
 * True: the bundle was made anew. */
static bool changes_answer(const struct driver *driver, unsigned number, struct station *station,
                           struct performer *performer, struct bundle *bundle)
{
    char query[120];
    int64_t there = 0;
    const struct protocol *protocol = driver->rules->protocol;
    enum row_table table;
    int64_t answer = driver->storms ? real_part_answer(protocol, bundle, &table) : 0;
    if (answer == 0) {
        return false;
    }
    snprintf(query, sizeof query, "SELECT count(*) FROM %s.%s WHERE id = %" PRId64, driver->schema,
             schema_table(table), answer);
    if (!store_pg_ask(station->as[PRINCIPAL_NONE], query, &there) || there == 0 ||
        !shared_is_to_change_answer(driver->page, number, bundle)) {
        return false;
    }
    part_set_answer_changed(protocol, &performer->actor, true);
    performer_next(performer, driver->rules, driver->sabotage, bundle);
    return true;
}

/* ---- illegal moves, late commits ------------------------------------------------------------- */

struct targets {
    struct part_target list[PART_TARGETS_MAX];
    size_t count;
};

static void take_target(void *context, const int64_t *row)
{
    struct targets *targets = context;
    if (targets->count < PART_TARGETS_MAX) {
        targets->list[targets->count++] = (struct part_target){.number = row[0], .state = row[1]};
    }
}

/* Its next transaction attempts an illegal move, if there is a target. */
static void try_illegal_move(const struct driver *driver, unsigned number, struct station *station,
                             struct performer *performer)
{
    char query[120];
    const struct protocol *protocol = driver->rules->protocol;
    struct targets targets = {.count = 0};
    struct actor tried = performer->actor;
    uint32_t which = 0;
    if (!driver->storms || !shared_has_breakpoint(driver->page, SHARED_ERRS)) {
        return;
    }
    bool asks = part_targets_query(protocol, driver->schema, query, sizeof query);
    if ((asks && !store_pg_query(station->as[PRINCIPAL_NONE], query, take_target, &targets)) ||
        !part_illegal_move(protocol, &tried, targets.list, targets.count, 0)) {
        return;
    }
    if (shared_is_to_err(driver->page, number, &which)) {
        (void)part_illegal_move(protocol, &performer->actor, targets.list, targets.count, which);
    }
}

/* For a protocol that assumes no delay. A commit that was cut may still be under way: the actor waits
 * until the supervisor says that its process on the server has ended, and has released what it does
 * not know that it holds. */
static void await_broken_off(const struct driver *driver, struct shared_actor *shared)
{
    if (shared->broken_off == 0 && shared->holds) {
        return;
    }
    shared->gives_up = true;
    while (shared->gives_up && driver_now() < driver->give_up_at) {
        pause_ms(PAUSE_MS);
    }
}

/* There is no server, or no connection to it: the transaction had no effect. */
static bool found_no_server(const struct outcome *outcome)
{
    return outcome->kind == OUTCOME_ABORTED &&
           (outcome->aborted == ABORT_CONNECTION || outcome->aborted == ABORT_CONNECTIONS);
}

/* One transaction. False: the store failed. */
static bool driver_step(const struct driver *driver, unsigned number, struct station *station,
                        struct performer *performer)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    struct shared_actor *shared = &driver->page->actors[number];
    bool was_idle = performer->role->is_idle(&performer->actor);
    follow_server(driver, station);
    try_illegal_move(driver, number, station, performer);
    performer_next(performer, driver->rules, driver->sabotage, &bundle);
    bool changed = changes_answer(driver, number, station, performer, &bundle);
    if (performer_works(performer, driver->sabotage, &bundle)) {
        shared_work(driver->page, &bundle.effect);
    }
    station->asked = station->as[bundle.principal];
    CHECK(station->asked != NULL);
    shared->spared = real_part_spares(driver->rules, &performer->actor, &bundle);
    if (!shared_execute(driver->page, number, station->asked, &bundle, &outcome)) {
        return false;
    }
    station->refused = outcome.kind == OUTCOME_REFUSED;
    driver->page->forbidden += station->refused && outcome.refusal == REFUSED_FORBIDDEN;
    if (bundle.principal != PRINCIPAL_NONE) {
        let_in_others(station, shared);
    }
    performer_take(performer, driver->rules, driver->sabotage, &bundle, &outcome, NULL);
    if (changed) {
        shared->doubt = 0; /* what it sends again is the answer that it would have given */
        part_set_answer_changed(driver->rules->protocol, &performer->actor, false);
    }
    shared->holds = driver_holds(performer);
    int spared = real_part_spares(driver->rules, &performer->actor, &bundle);
    shared->spared |= spared; /* both while the actor is stored */
    shared_actor_keep(shared, &performer->actor);
    shared->spared = spared;
    if (outcome.kind != OUTCOME_COMMITTED && outcome.kind != OUTCOME_REFUSED &&
        part_assumes_no_delay(driver->rules->protocol)) {
        await_broken_off(driver, shared);
    }
    if (found_no_server(&outcome)) {
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
    real_part_left_query(driver->rules->protocol, driver->schema, query, sizeof query);
    station->asked = station->as[PRINCIPAL_NONE];
    bool asked = store_pg_ask(station->asked, query, &left);
    *quiet = asked && left == 0;
    return asked || driver->storms;
}

static enum driver_end act(const struct driver *driver, unsigned number, struct station *station)
{
    struct performer performer;
    const struct role *role = protocol_role(driver->rules, number);
    shared_actor_begin(&driver->page->actors[number], &performer, driver->rules, number);
    while (driver_now() < driver->give_up_at) {
        if (role->is_done != NULL && role->is_done(&performer.actor)) {
            return DRIVER_QUIET;
        }
        bool was_idle = role->is_idle(&performer.actor), quiet = false;
        if (!driver_step(driver, number, station, &performer)) {
            return DRIVER_FAILED;
        }
        /* After a halt an actor finds work for ever, and every bundle is refused. */
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

enum driver_end driver_act(const struct driver *driver, unsigned actor, struct error *error)
{
    struct station station;
    if (!open_station(driver, actor, &station, error)) {
        close_station(&station);
        return driver->storms ? DRIVER_LATE : DRIVER_FAILED;
    }
    enum driver_end end = act(driver, actor, &station);
    if (end == DRIVER_FAILED) {
        failed(&station, error);
    }
    close_station(&station);
    return end;
}

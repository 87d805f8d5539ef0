#include "real/driver.h"

#include "model/check.h"
#include "real/part.h"

#include <stdio.h>
#include <time.h>

#define PAUSE_NS 1000000 /* between two looks when there was nothing to do */

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
    struct primitive primitives[SABOTAGE_TABLE_SIZE];
};

static bool open_station(const struct driver *driver, struct station *station,
                         struct store_pg_problem *problem)
{
    sabotage_primitives(driver->sabotage, station->primitives);
    struct store_pg_options options = {.dsn = driver->dsn,
                                       .schema = driver->schema,
                                       .primitives = station->primitives,
                                       .primitive_count = SABOTAGE_TABLE_SIZE,
                                       .form = SQL_WHOLE};
    station->as[PRINCIPAL_NONE] = store_pg_open(&options, problem);
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
static void let_in_others(const struct driver *driver, struct store_pg *store,
                          const struct outcome *outcome)
{
    store_pg_cut(store);
    if (outcome->kind == OUTCOME_ABORTED && outcome->aborted == ABORT_CONNECTIONS) {
        if (driver->turned_away != NULL) {
            atomic_fetch_add(driver->turned_away, 1);
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}

/* One transaction. False: the store failed. */
static bool step(const struct driver *driver, struct station *station, struct performer *performer)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    performer_next(performer, driver->rules, driver->sabotage, &bundle);
    station->asked = station->as[bundle.principal];
    CHECK(station->asked != NULL);
    if (!store_pg_execute(station->asked, &bundle, driver_now(), &outcome)) {
        return false;
    }
    if (bundle.principal != PRINCIPAL_NONE) {
        let_in_others(driver, station->asked, &outcome);
    }
    performer_take(performer, driver->rules, driver->sabotage, &bundle, &outcome, NULL);
    return true;
}

/* Nothing is left, due now or later. */
static bool is_quiet(const struct driver *driver, struct station *station, bool *quiet)
{
    char query[300];
    int64_t left = 0;
    part_left_query((enum protocol_id)driver->rules->protocol, driver->schema, query, sizeof query);
    station->asked = station->as[PRINCIPAL_NONE];
    bool asked = store_pg_ask(station->asked, query, &left);
    *quiet = left == 0;
    return asked;
}

static enum driver_end act(const struct driver *driver, unsigned number, struct station *station,
                           uint64_t *transactions)
{
    struct performer performer;
    const struct role *role = protocol_role(driver->rules, number);
    performer_begin(&performer, driver->rules, number);
    while (driver_now() < driver->give_up_at) {
        if (role->is_done != NULL && role->is_done(&performer.actor)) {
            return DRIVER_QUIET;
        }
        bool was_idle = role->is_idle(&performer.actor), quiet = false;
        if (!step(driver, station, &performer)) {
            return DRIVER_FAILED;
        }
        (*transactions)++;
        if (!was_idle || !role->is_idle(&performer.actor) || performer.memory.stage != 0) {
            continue;
        }
        if (!is_quiet(driver, station, &quiet)) {
            return DRIVER_FAILED;
        }
        if (quiet && role->is_done == NULL) {
            return DRIVER_QUIET;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return DRIVER_LATE;
}

enum driver_end driver_act(const struct driver *driver, unsigned actor, uint64_t *transactions,
                           struct store_pg_problem *problem)
{
    struct station station;
    *transactions = 0;
    if (!open_station(driver, &station, problem)) {
        close_station(&station);
        return DRIVER_FAILED;
    }
    enum driver_end end = act(driver, actor, &station, transactions);
    if (end == DRIVER_FAILED) {
        failed(&station, problem);
    }
    close_station(&station);
    return end;
}

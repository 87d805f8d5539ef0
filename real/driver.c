#include "real/driver.h"

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

/* A connection with the primitives that it executes: the catalogue's, or a planted bug's. */
struct station {
    struct store_pg *store;
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
    station->store = store_pg_open(&options, problem);
    return station->store != NULL;
}

static void failed(const struct station *station, struct store_pg_problem *problem)
{
    snprintf(problem->text, sizeof problem->text, "%s", store_pg_why_not(station->store));
}

/* One transaction. False: the store failed. */
static bool step(const struct driver *driver, struct station *station, struct performer *performer)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    performer_next(performer, driver->rules, driver->sabotage, &bundle);
    if (!store_pg_execute(station->store, &bundle, driver_now(), &outcome)) {
        return false;
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
    bool asked = store_pg_ask(station->store, query, &left);
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
        return DRIVER_FAILED;
    }
    enum driver_end end = act(driver, actor, &station, transactions);
    if (end == DRIVER_FAILED) {
        failed(&station, problem);
    }
    store_pg_close(station.store);
    return end;
}

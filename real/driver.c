#include "real/driver.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PAUSE_NS 1000000 /* between two looks at an empty queue */

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

static bool failed(const struct station *station, struct store_pg_problem *problem)
{
    snprintf(problem->text, sizeof problem->text, "%s", store_pg_why_not(station->store));
    return false;
}

bool driver_create_jobs(const struct driver *driver, uint32_t count,
                        struct store_pg_problem *problem)
{
    struct station station;
    struct client client = {.count = count};
    struct sabotage_memory memory = {0};
    if (!open_station(driver, &station, problem)) {
        return false;
    }
    bool made = true;
    while (made && client.job < client.count) {
        struct bundle bundle;
        struct outcome outcome = {0};
        client_next(&client, driver->rules, &bundle);
        if (driver->sabotage != NULL) {
            sabotage_bundle(driver->sabotage, &memory, NULL, &bundle);
        }
        made = store_pg_execute(station.store, &bundle, driver_now(), &outcome) ||
               failed(&station, problem);
        client_take(&client, &outcome);
        made = made && (driver_now() < driver->give_up_at || failed(&station, problem));
    }
    store_pg_close(station.store);
    return made;
}

/* One transaction of a worker. False: the store failed. */
static bool step(const struct driver *driver, struct station *station, struct worker *worker,
                 struct sabotage_memory *memory)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    worker_next(worker, driver->rules, &bundle);
    if (driver->sabotage != NULL) {
        sabotage_bundle(driver->sabotage, memory, worker, &bundle);
    }
    if (!store_pg_execute(station->store, &bundle, driver_now(), &outcome)) {
        return false;
    }
    bool told = driver->sabotage == NULL ||
                sabotage_outcome(driver->sabotage, memory, worker, &bundle, &outcome);
    if (told) {
        worker_take(worker, driver->rules, &outcome);
    }
    if (worker->state == WORKER_IDLE && told) {
        memset(memory, 0, sizeof *memory);
    }
    return true;
}

/* No message is left, visible or not. */
static bool is_quiet(const struct driver *driver, struct station *station, bool *quiet)
{
    char query[120];
    int64_t messages = 0;
    snprintf(query, sizeof query, "SELECT count(*) FROM %s.message", driver->schema);
    bool asked = store_pg_ask(station->store, query, &messages);
    *quiet = messages == 0;
    return asked;
}

static enum driver_end work(const struct driver *driver, struct station *station,
                            uint64_t *transactions)
{
    struct worker worker = worker_begin();
    struct sabotage_memory memory = {0};
    while (driver_now() < driver->give_up_at) {
        bool was_idle = worker.state == WORKER_IDLE, quiet = false;
        if (!step(driver, station, &worker, &memory)) {
            return DRIVER_FAILED;
        }
        (*transactions)++;
        if (!was_idle || worker.state != WORKER_IDLE || memory.stage != 0) {
            continue;
        }
        if (!is_quiet(driver, station, &quiet)) {
            return DRIVER_FAILED;
        }
        if (quiet) {
            return DRIVER_QUIET;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return DRIVER_LATE;
}

enum driver_end driver_work(const struct driver *driver, uint64_t *transactions,
                            struct store_pg_problem *problem)
{
    struct station station;
    *transactions = 0;
    if (!open_station(driver, &station, problem)) {
        return DRIVER_FAILED;
    }
    enum driver_end end = work(driver, &station, transactions);
    if (end == DRIVER_FAILED) {
        failed(&station, problem);
    }
    store_pg_close(station.store);
    return end;
}

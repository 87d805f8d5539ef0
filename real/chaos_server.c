#include "real/chaos_server.h"

#include "model/check.h"
#include "real/rival.h"
#include "real/store.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF_(number) #number
#define TEXT_OF(number)  TEXT_OF_(number)
#define SYNC_TRIES       5000 /* of 2 ms, until the standby is a synchronous one */
#define SYNC_MS          2
#define FREEZE_TRIES     1000 /* of a millisecond */

/* No commit waits for a disc: nothing here loses what the operating system has been given. */
const char chaos_server_settings[] =
    "deadlock_timeout = " TEXT_OF(RIVAL_DEADLOCK_MS) "ms\n"
                                                     "wal_level = logical\n"; /* history.h */

const char *chaos_server_dsn(struct chaos_server *server)
{
    if (server->foreign_dsn != NULL) {
        return server->foreign_dsn;
    }
    if (server->standby.folder[0] == '\0') {
        return cluster_dsn(server->cluster);
    }
    int length = snprintf(server->dsn, sizeof server->dsn,
                          "host=%s/socket,%s/socket port=5432,5432 user=" CLUSTER_ROLE
                          " dbname=postgres target_session_attrs=read-write",
                          server->cluster->folder, server->standby.folder);
    CHECK(length > 0 && (size_t)length < sizeof server->dsn);
    return server->dsn;
}

bool chaos_server_is_ours(const struct chaos_server *server)
{
    return server->foreign_dsn == NULL;
}

/* Held first, then looked at: a pid alone proves nothing. */
bool chaos_server_hold_backend(const struct chaos_server *server, int backend,
                               struct process *process)
{
    struct process_state state;
    CHECK(chaos_server_is_ours(server));
    if (backend <= 0 || !process_hold(process, backend)) {
        return false;
    }
    if (process_state(backend, &state) && state.parent == server->cluster->server.pid) {
        return true;
    }
    process_release(process);
    return false;
}

bool chaos_server_kill_backend(struct chaos_server *server, int backend)
{
    struct process process;
    if (!chaos_server_hold_backend(server, backend, &process)) {
        return false;
    }
    bool killed = process_signal(&process, SIGKILL);
    process_release(&process);
    return killed;
}

bool chaos_server_freeze(const struct chaos_server *server, int backend, struct process *frozen)
{
    struct process_state state = {.state = '?'};
    if (!chaos_server_hold_backend(server, backend, frozen)) {
        return false;
    }
    bool obeys = process_signal(frozen, SIGSTOP);
    for (int i = 0; obeys && state.state != 'T' && i < FREEZE_TRIES; i++) {
        obeys = process_state(backend, &state) && !process_ended(frozen, 0);
        (void)poll(NULL, 0, state.state != 'T');
    }
    if (state.state != 'T') {
        (void)process_signal(frozen, SIGCONT);
        process_release(frozen);
    }
    return state.state == 'T';
}

/* One that is frozen does not quit: what the server would do with it after a while is done now. */
void chaos_server_stop(struct chaos_server *server, const struct process *frozen)
{
    CHECK(chaos_server_is_ours(server));
    if (frozen != NULL) {
        (void)process_signal(&server->cluster->server, SIGQUIT);
        (void)process_signal(frozen, SIGKILL);
    }
    cluster_stop(server->cluster, CLUSTER_IMMEDIATE);
}

bool chaos_server_start(struct chaos_server *server, struct error *error)
{
    return cluster_restart(server->cluster, error);
}

/* ---- the standby ----------------------------------------------------------------------------- */

static struct store_pg *open_primary(const struct chaos_server *server, struct error *error)
{
    struct error problem;
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = cluster_dsn(server->cluster),
                                                 .schema = "public",
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT,
                                                 .name = "assay"},
                      &problem);
    if (store == NULL) {
        (void)error_set(error, "%s", problem.text);
    }
    return store;
}

/* Commits wait for these standbys; "": for none. */
static bool wait_for(const struct chaos_server *server, const char *names, struct error *error)
{
    char text[100];
    struct store_pg *store = open_primary(server, error);
    if (store == NULL) {
        return false;
    }
    snprintf(text, sizeof text, "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
    int64_t synchronous = 0;
    bool done = store_pg_run(store, text) && store_pg_run(store, "SELECT pg_reload_conf()");
    for (int i = 0; done && names[0] != '\0' && synchronous == 0 && i < SYNC_TRIES; i++) {
        (void)poll(NULL, 0, SYNC_MS);
        done = store_pg_ask(store,
                            "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'",
                            &synchronous);
    }
    if (!done || (names[0] != '\0' && synchronous == 0)) {
        done = error_set(error, "the standby does not follow: %s", store_pg_why_not(store));
    }
    store_pg_close(store);
    return done;
}

static bool discard(struct cluster *cluster, struct error *error)
{
    cluster->keep = false;
    return cluster_close(cluster, error);
}

bool chaos_server_follow(struct chaos_server *server, struct error *error)
{
    CHECK(chaos_server_is_ours(server) && server->standby.folder[0] == '\0');
    const struct cluster_options options = {.settings = chaos_server_settings,
                                            .max_connections = CHAOS_SERVER_CONNECTIONS,
                                            .keep = server->cluster->keep,
                                            .hidden = true,
                                            .follows = server->cluster};
    if (!cluster_await(server->cluster, error) ||
        !cluster_start(&server->standby, &options, error)) {
        return false;
    }
    if (!wait_for(server, "*", error)) {
        struct error ignored; /* the first one counts */
        (void)chaos_server_unfollow(server, &ignored);
        return false;
    }
    return true;
}

/* It may serve again for its log's sake, and no client must find it then. */
void chaos_server_kill(struct chaos_server *server)
{
    CHECK(server->standby.folder[0] != '\0');
    cluster_stop(server->cluster, CLUSTER_CRASH);
    cluster_hide(server->cluster);
}

/* What the old primary had committed before it was left, and the history has not read. */
static bool read_rest(struct chaos_server *server, struct cluster *old, struct error *error)
{
    return server->history == NULL ||
           (cluster_restart(old, error) &&
            history_catch_up(server->history, cluster_hidden_dsn(old), error));
}

bool chaos_server_promote(struct chaos_server *server, struct error *error)
{
    if (!cluster_promote(&server->standby, error) ||
        (server->history != NULL &&
         !history_promote(server->history, cluster_hidden_dsn(&server->standby), error)) ||
        !cluster_show(&server->standby, error)) {
        return false;
    }
    struct cluster old = *server->cluster;
    *server->cluster = server->standby;
    server->standby = (struct cluster){.lock = -1, .server.fd = -1};
    bool read = read_rest(server, &old, error);
    struct error ignored; /* the first one counts */
    return discard(&old, read ? error : &ignored) && read;
}

bool chaos_server_unfollow(struct chaos_server *server, struct error *error)
{
    if (server->standby.folder[0] == '\0') {
        return true;
    }
    bool ok = wait_for(server, "", error);
    return discard(&server->standby, error) && ok;
}

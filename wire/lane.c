#include "wire/lane.h"

#include "model/check.h"
#include "real/cluster_place.h"
#include "real/owner.h"
#include "wire/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEMPLATE          "subject"
#define SETUP_SEC         120
#define TEMPLATE_ATTEMPTS 200 /* of 10 ms: backends of the setup may still be ending */
#define BACKLOG           128

extern char **environ;

volatile sig_atomic_t lane_interrupted;

char lane_letter(unsigned hand)
{
    CHECK(hand < LANE_HANDS);
    return hand < LANE_CLIENT ? (char)('a' + hand) : (char)('x' + hand - LANE_CLIENT);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static bool write_file(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool ok = fd >= 0 && write(fd, bytes, size) == (ssize_t)size && fchmod(fd, 0644) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

static bool fail(struct error *error, const char *what)
{
    return error_set(error, "%s: %s", what, strerror(errno));
}

/* The server's user must pass through, and so must that of foreign code. */
static bool make_folder(struct lane *lane, struct error *error)
{
    char base[PATH_MAX];
    char home[PATH_MAX];
    const struct cluster_options place = {0};
    (void)cluster_sweep(&place);
    if (!cluster_place_temporary(&place, &lane->user, base, sizeof base, error)) {
        return false;
    }
    if (!cluster_path(lane->folder, sizeof lane->folder, "%s/" CLUSTER_PREFIX "wire-XXXXXX",
                      base) ||
        mkdtemp(lane->folder) == NULL) {
        lane->folder[0] = '\0';
        return fail(error, base);
    }
    lane->lock = owner_take(lane->folder);
    bool ok = lane->lock >= 0 && chmod(lane->folder, 0711) == 0 &&
              cluster_path(lane->log, sizeof lane->log, "%s/log", lane->folder) &&
              cluster_path(home, sizeof home, "%s/home", lane->folder) && mkdir(home, 0700) == 0 &&
              chown(home, lane->user.uid, lane->user.gid) == 0;
    return ok || fail(error, lane->folder);
}

/* Foreign code is not the server: it must not reach the server's files. */
static bool find_user(struct process_user *user, struct error *error)
{
    if (!process_user_find(user, error)) {
        return false;
    }
    const struct passwd *nobody = user->drop ? getpwnam("nobody") : NULL;
    if (nobody != NULL && nobody->pw_uid != 0) {
        user->uid = nobody->pw_uid;
        user->gid = nobody->pw_gid;
        (void)snprintf(user->name, sizeof user->name, "nobody");
    }
    return true;
}

/* ---- the server ------------------------------------------------------------------------------ */

bool lane_listen(struct lane *lane, struct error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    lane->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ok =
        lane->listener >= 0 &&
        cluster_path(address.sun_path, sizeof address.sun_path, "%s/conductor", lane->folder) &&
        bind(lane->listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
        chmod(address.sun_path, 0666) == 0 && listen(lane->listener, BACKLOG) == 0;
    return ok || fail(error, "the conductor's socket");
}

void lane_stop_listening(struct lane *lane)
{
    char path[PATH_MAX];
    if (lane->listener >= 0) {
        (void)close(lane->listener);
        (void)cluster_path(path, sizeof path, "%s/conductor", lane->folder);
        (void)unlink(path);
    }
    lane->listener = -1;
}

/* The library and its page; the server reads the clock and waits as it always does. */
static bool make_clock(struct lane *lane, struct error *error)
{
    char path[PATH_MAX];
    struct embedded bytes = embedded_shim();
    if (lane->options.subject->clock == SUBJECT_CLOCK_NONE) {
        return true;
    }
    (void)cluster_path(path, sizeof path, "%s/assay_clock.so", lane->folder);
    if (!write_file(path, bytes.bytes, bytes.size)) {
        return fail(error, path);
    }
    (void)cluster_path(lane->preload[0], sizeof lane->preload[0], "LD_PRELOAD=%s", path);
    (void)cluster_path(lane->preload[1], sizeof lane->preload[1], PAGE_VARIABLE "=%s/clock",
                       lane->folder);
    lane->server_environment[0] = lane->preload[0];
    lane->server_environment[1] = lane->preload[1];
    lane->server_environment[2] = PAGE_VARIABLE "_READS=1";
    (void)cluster_path(path, sizeof path, "%s/clock", lane->folder);
    return clock_open(&lane->clock, path, error);
}

static bool start_server(struct lane *lane, struct error *error)
{
    char settings[2 * PATH_MAX];
    char module[PATH_MAX];
    struct embedded bytes = embedded_module();
    if (bytes.size == 0) {
        return error_set(error, "built without the headers of PostgreSQL's server: install "
                                "the Debian package postgresql-server-dev-15 and build again");
    }
    (void)cluster_path(module, sizeof module, "%s/assay_wire.so", lane->folder);
    if (!write_file(module, bytes.bytes, bytes.size)) {
        return fail(error, module);
    }
    (void)cluster_path(settings, sizeof settings,
                       "shared_preload_libraries = '%s'\n"
                       "assay_wire.socket = '%s/conductor'\n"
                       "wal_level = logical\n"
                       "max_replication_slots = 8\n"
                       "autovacuum = off\n"
                       "max_wal_size = 4GB\n"
                       "checkpoint_timeout = 1h\n"
                       "full_page_writes = off\n",
                       module, lane->folder);
    return cluster_start(&lane->cluster,
                         &(struct cluster_options){.programs = lane->options.programs,
                                                   .settings = settings,
                                                   .environment = lane->server_environment,
                                                   .max_connections = 300},
                         error);
}

PGconn *lane_connect(const struct lane *lane, const char *database, struct error *error)
{
    char dsn[512];
    (void)cluster_path(
        dsn, sizeof dsn,
        "host=%s/socket port=5432 user=" CLUSTER_ROLE
        " password=%s dbname=%s options='-c assay_wire.quiet=on -c statement_timeout=60s "
        "-c client_min_messages=error'",
        lane->cluster.folder, lane->password, database);
    PGconn *connection = PQconnectdb(dsn);
    CHECK(connection != NULL);
    if (PQstatus(connection) != CONNECTION_OK) {
        (void)error_set(error, "%s", PQerrorMessage(connection));
        PQfinish(connection);
        return NULL;
    }
    return connection;
}

static bool control(struct lane *lane, const char *statement, struct error *error)
{
    PGresult *result = PQexec(lane->control, statement);
    bool ok = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!ok) {
        (void)error_set(error, "%s", PQresultErrorMessage(result));
    }
    PQclear(result);
    return ok;
}

static bool draw_password(struct lane *lane, struct error *error)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return fail(error, "a password");
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        (void)snprintf(lane->password + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

/* From now on everyone is asked for the password. md5, since each run connects anew and the other
 * way is meant to be slow. */
static bool lock_server(struct lane *lane, struct error *error)
{
    static const char rules[] = "local all all md5\nlocal replication all md5\n";
    char path[PATH_MAX];
    char statement[200];
    (void)snprintf(statement, sizeof statement, "ALTER ROLE " CLUSTER_ROLE " PASSWORD '%s'",
                   lane->password);
    (void)cluster_path(path, sizeof path, "%s/pg_hba.conf", lane->cluster.data);
    if (!control(lane, "SET password_encryption = md5", error) ||
        !control(lane, statement, error)) {
        return false;
    }
    int fd = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, rules, strlen(rules)) == (ssize_t)strlen(rules);
    if (fd >= 0) {
        (void)close(fd);
    }
    PGresult *result = ok ? PQexec(lane->control, "SELECT pg_reload_conf()") : NULL;
    ok = ok && PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    return ok || fail(error, path);
}

bool lane_crash(struct lane *lane, struct error *error)
{
    PQfinish(lane->control);
    cluster_stop(&lane->cluster, CLUSTER_CRASH);
    lane->control =
        cluster_restart(&lane->cluster, error) ? lane_connect(lane, "postgres", error) : NULL;
    return lane->control != NULL;
}

static bool copy_database(struct lane *lane, const char *name, const char *from,
                          struct error *error)
{
    char statement[200];
    (void)snprintf(statement, sizeof statement, "CREATE DATABASE %s TEMPLATE %s", name, from);
    for (int i = 0; i < TEMPLATE_ATTEMPTS; i++) {
        if (control(lane, statement, error)) {
            return true;
        }
        if (strstr(error->text, "being accessed") == NULL) {
            break;
        }
        (void)proxy_turn(lane->proxy, 10);
    }
    return false;
}

bool lane_copy_database(struct lane *lane, const char *name, struct error *error)
{
    return copy_database(lane, name, TEMPLATE, error);
}

void lane_drop_database(struct lane *lane, const char *name)
{
    char statement[200];
    struct error ignored; /* it goes with the server */
    (void)snprintf(statement, sizeof statement, "DROP DATABASE IF EXISTS %s WITH (FORCE)", name);
    (void)control(lane, statement, &ignored);
}

/* ---- the proxy ------------------------------------------------------------------------------- */

static enum proxy_verdict tell(void *context, const struct proxy_event *event)
{
    const struct lane *lane = context;
    return lane->told == NULL ? PROXY_PASS : lane->told(lane->context, event);
}

static bool listen_for_hand(struct lane *lane, unsigned hand, struct proxy_fault *fault)
{
    char path[PROXY_PATH_SIZE];
    (void)cluster_path(path, sizeof path, "%s/%u", lane->folder, hand);
    if (mkdir(path, 0711) != 0 || chmod(path, 0711) != 0) {
        (void)snprintf(fault->text, sizeof fault->text, "%s: %s", path, strerror(errno));
        return false;
    }
    (void)cluster_path(path, sizeof path, "%s/%u/.s.PGSQL.5432", lane->folder, hand);
    return proxy_listen_unix(lane->proxy, hand, path, fault) &&
           proxy_listen_tcp(lane->proxy, hand, &lane->ports[hand], fault);
}

static bool open_proxy(struct lane *lane, struct error *error)
{
    char upstream[PROXY_PATH_SIZE];
    struct proxy_fault fault;
    (void)cluster_path(upstream, sizeof upstream, "%s/socket/.s.PGSQL.5432", lane->cluster.folder);
    lane->proxy = proxy_open(
        &(struct proxy_options){.upstream = upstream, .told = tell, .context = lane}, &fault);
    bool ok = lane->proxy != NULL;
    for (unsigned hand = 0; ok && hand < LANE_HANDS; hand++) {
        ok = listen_for_hand(lane, hand, &fault);
    }
    return ok || error_set(error, "%s", fault.text);
}

/* ---- foreign processes ----------------------------------------------------------------------- */

#define OWN_VARIABLES 10
struct variables {
    char texts[OWN_VARIABLES][256];
    char *list[1024];
};

/* The user's environment without what leads to a server of theirs, and ours. */
static void fill_variables(const struct lane *lane, unsigned hand, const char *database,
                           struct variables *variables)
{
    static const char *const dropped[] = {"PG", "DATABASE_URL=", "HOME=", "TMPDIR="};
    size_t count = 0;
    char(*own)[256] = variables->texts;
    const size_t size = sizeof *own;
    for (char **at = environ; *at != NULL && count < 1000; at++) {
        bool keep = true;
        for (size_t i = 0; i < COUNT(dropped); i++) {
            keep = keep && strncmp(*at, dropped[i], strlen(dropped[i])) != 0;
        }
        if (keep) {
            variables->list[count++] = *at;
        }
    }
    (void)snprintf(own[0], size, "PGHOST=%s/%u", lane->folder, hand);
    (void)snprintf(own[1], size, "PGPORT=5432");
    (void)snprintf(own[2], size, "PGUSER=" CLUSTER_ROLE);
    (void)snprintf(own[3], size, "PGDATABASE=%s", database);
    (void)snprintf(own[4], size, "PGPASSWORD=%s", lane->password);
    (void)snprintf(own[5], size, "PGSSLMODE=disable");
    (void)snprintf(own[6], size, "DATABASE_URL=postgresql://%s:%s@127.0.0.1:%u/%s", CLUSTER_ROLE,
                   lane->password, lane->ports[hand], database);
    (void)snprintf(own[7], size, "HOME=%s/home", lane->folder);
    (void)snprintf(own[8], size, "TMPDIR=%s/home", lane->folder);
    (void)snprintf(own[9], size, "ASSAY_WORKER=%c", lane_letter(hand));
    for (size_t i = 0; i < OWN_VARIABLES; i++) {
        variables->list[count++] = own[i];
    }
    for (size_t i = 0; i < 2 && lane->options.subject->clock == SUBJECT_CLOCK_SHIM; i++) {
        variables->list[count++] = (char *)lane->preload[i];
    }
    variables->list[count] = NULL;
}

bool lane_start(const struct lane *lane, unsigned hand, const char *command, const char *database,
                struct keeper *keeper, struct error *error)
{
    struct variables variables;
    fill_variables(lane, hand, database, &variables);
    return keeper_start(keeper,
                        &(struct keeper_plan){.command = command,
                                              .folder = lane->options.folder,
                                              .output = lane->log,
                                              .user = &lane->user,
                                              .environment = variables.list},
                        error);
}

void lane_tail(const struct lane *lane, char text[LANE_TAIL])
{
    int fd = open(lane->log, O_RDONLY | O_CLOEXEC);
    off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t got =
        fd < 0 ? 0 : pread(fd, text, LANE_TAIL - 1, end < LANE_TAIL ? 0 : end - LANE_TAIL + 1);
    text[got < 0 ? 0 : got] = '\0';
    for (char *at = text; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Serves the proxy until the setup has ended. */
static bool await_setup(struct lane *lane, struct keeper *keeper, struct error *error)
{
    char tail[LANE_TAIL];
    int status = 0;
    for (int i = 0; i < SETUP_SEC * 100 && !lane_interrupted; i++) {
        (void)proxy_turn(lane->proxy, 10);
        if (!keeper_ended(keeper, &status)) {
            continue;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            return true;
        }
        lane_tail(lane, tail);
        return error_set(error, "setup ended with status %d and should end with 0; it printed: %s",
                         WEXITSTATUS(status), tail[0] == '\0' ? "(nothing)" : tail);
    }
    keeper_kill(keeper);
    return error_set(error, "setup did not end in %d s", SETUP_SEC);
}

static bool run_setup(struct lane *lane, struct error *error)
{
    struct keeper keeper;
    return copy_database(lane, TEMPLATE, "postgres", error) &&
           lane_start(lane, LANE_SETUP, lane->options.subject->setup, TEMPLATE, &keeper, error) &&
           (await_setup(lane, &keeper, error) || !(lane->setup_failed = true));
}

/* ---- opening and closing --------------------------------------------------------------------- */

bool lane_open(struct lane *lane, const struct lane_options *options, struct error *error)
{
    *lane = (struct lane){.options = *options, .lock = -1, .listener = -1};
    if (find_user(&lane->user, error) && draw_password(lane, error) && make_folder(lane, error) &&
        make_clock(lane, error) && start_server(lane, error) && open_proxy(lane, error) &&
        (lane->control = lane_connect(lane, "postgres", error)) != NULL &&
        lock_server(lane, error) && run_setup(lane, error)) {
        return true;
    }
    bool setup_failed = lane->setup_failed;
    lane_close(lane);
    lane->setup_failed = setup_failed;
    return false;
}

void lane_close(struct lane *lane)
{
    struct error ignored; /* the next sweep takes it up */
    if (lane->control != NULL) {
        PQfinish(lane->control);
    }
    if (lane->proxy != NULL) {
        proxy_close(lane->proxy);
    }
    (void)cluster_close(&lane->cluster, &ignored);
    lane_stop_listening(lane);
    clock_close(&lane->clock);
    if (lane->folder[0] != '\0') {
        (void)cluster_sweep_remove(lane->folder);
    }
    if (lane->lock >= 0) {
        (void)owner_leave(lane->lock, false);
    }
    *lane = (struct lane){.lock = -1, .listener = -1};
}

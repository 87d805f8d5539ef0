#include "real/cluster.h"

#include "model/check.h"
#include "real/cluster_place.h"
#include "real/cluster_template.h"
#include "real/owner.h"
#include "real/postmaster.h"
#include "real/tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define PORT           "5432"
#define VERSION_MS     10000
#define READY_ATTEMPTS 12000 /* of 5 ms: a minute, for the recovery after a crash */
#define PAUSE_MS       5
#define ANSWER_SEC     5     /* for one answer of a server that accepted the connection */
#define FAST_MS        60000 /* a clean shutdown writes everything */
#define QUIT_MS        10000 /* PostgreSQL itself gives its children 5 s */
#define LOG_TAIL       600

_Static_assert(CLUSTER_FOLDER_SIZE + sizeof "/socket/.s.PGSQL." PORT - 1 <=
                   sizeof(((struct sockaddr_un *)0)->sun_path),
               "the socket's path fits");

/* ---- the folder ----------------------------------------------------------------------------- */

static bool name_parts(struct cluster *cluster)
{
    return cluster_place_data(cluster->folder, cluster->data, sizeof cluster->data) &&
           cluster_path(cluster->log, sizeof cluster->log, "%s/log", cluster->folder) &&
           cluster_path(cluster->dsn, sizeof cluster->dsn,
                        "host=%s/socket port=" PORT " user=" CLUSTER_ROLE " dbname=postgres",
                        cluster->folder) &&
           cluster_path(cluster->hidden_dsn, sizeof cluster->hidden_dsn,
                        "host=%s/inside port=" PORT " user=" CLUSTER_ROLE " dbname=postgres",
                        cluster->folder);
}

/* The socket's folder, which belongs to the server. */
static bool make_socket_folder(const struct cluster *cluster)
{
    char path[PATH_MAX];
    return cluster_path(path, sizeof path, "%s/inside", cluster->folder) &&
           mkdir(path, 0700) == 0 && chown(path, cluster->user.uid, cluster->user.gid) == 0;
}

static bool show(const struct cluster *cluster)
{
    char path[PATH_MAX];
    return cluster_path(path, sizeof path, "%s/socket", cluster->folder) &&
           symlink("inside", path) == 0;
}

static bool make_folder(struct cluster *cluster, const struct cluster_options *options,
                        struct error *error)
{
    char base[PATH_MAX];
    char folder[CLUSTER_FOLDER_SIZE];
    if (!cluster_place_temporary(options, &cluster->user, base, sizeof base, error)) {
        return false;
    }
    if (!cluster_path(folder, sizeof folder, "%s/" CLUSTER_PREFIX "XXXXXX", base) ||
        mkdtemp(folder) == NULL) {
        return error_set(error, "cannot make a folder in %.300s: %s", base, strerror(errno));
    }
    memcpy(cluster->folder, folder, sizeof folder);
    cluster->lock = owner_take(folder);
    tree_spread(folder);
    /* Others may pass through, as the server must, but see nothing. */
    if (cluster->lock < 0 || chmod(folder, cluster->user.drop ? 0711 : 0700) != 0 ||
        !name_parts(cluster) || !make_socket_folder(cluster) || !cluster_template_empty(cluster) ||
        (!options->hidden && !show(cluster))) {
        return error_set(error, "cannot make %s: %s", folder, strerror(errno));
    }
    return true;
}

/* Reads the end of the file, on one line; nothing if there is none. */
static void read_log(const struct cluster *cluster, char *text, size_t size)
{
    int fd = open(cluster->log, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    off_t from = end < (off_t)size ? 0 : end - (off_t)size + 1;
    ssize_t got = fd < 0 ? 0 : pread(fd, text, size - 1, from);
    size_t length = got < 0 ? 0 : (size_t)got;
    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    text[length] = '\0';
    for (char *newline; (newline = strchr(text, '\n')) != NULL;) {
        *newline = '|';
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Adds the end of the log to the message: the folder will be gone when it is read. */
static bool with_log(const struct cluster *cluster, struct error *error)
{
    char tail[LOG_TAIL];
    char said[LOG_TAIL - 100];
    read_log(cluster, tail, sizeof tail);
    (void)snprintf(said, sizeof said, "%.*s", (int)sizeof said - 1, error->text);
    return error_set(error, "%s; its log ends: %s", said, tail[0] == '\0' ? "(empty)" : tail);
}

static bool read_version(struct cluster *cluster, struct error *error)
{
    char program[PATH_MAX];
    char printed[LOG_TAIL];
    (void)cluster_path(program, sizeof program, "%s/postgres", cluster->programs.folder);
    const char *const arguments[] = {program, "--version", NULL};
    const struct process_plan plan = {.arguments = arguments,
                                      .user = &cluster->user,
                                      .output = cluster->log,
                                      .when_orphaned = SIGKILL};
    if (!process_run(&plan, VERSION_MS, error)) {
        return false;
    }
    read_log(cluster, printed, sizeof printed);
    return programs_version(printed, cluster->version, sizeof cluster->version, error);
}

/* Replaces what initdb wrote, so that nothing depends on what it found on this machine. */
static bool write_settings(const struct cluster *cluster, const struct cluster_options *options,
                           struct error *error)
{
    char path[PATH_MAX];
    (void)cluster_path(path, sizeof path, "%s/postgresql.conf", cluster->data);
    int fd = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    int connections =
        options->max_connections == 0 ? CLUSTER_CONNECTIONS : options->max_connections;
    bool ok = fd >= 0 && dprintf(fd,
                                 "listen_addresses = ''\n"
                                 "port = " PORT "\n"
                                 "unix_socket_directories = '%s/inside'\n"
                                 "unix_socket_permissions = 0700\n"
                                 "max_connections = %d\n"
                                 "superuser_reserved_connections = 0\n"
                                 "shared_memory_type = mmap\n" /* in the folder, or nowhere */
                                 "dynamic_shared_memory_type = mmap\n"
                                 /* A promotion may wait for one interval, of 5 s otherwise. */
                                 "wal_retrieve_retry_interval = 100ms\n"
                                 "fsync = %s\n"
                                 "lc_messages = 'C'\n"
                                 "timezone = 'UTC'\n"
                                 "log_timezone = 'UTC'\n"
                                 "%s\n",
                                 cluster->folder, connections, options->fsync ? "on" : "off",
                                 options->settings == NULL ? "" : options->settings) > 0;
    if (!ok) {
        (void)error_set(error, "cannot write %s: %s", path, strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

/* ---- readiness ------------------------------------------------------------------------------ */

static int connect_socket(const struct cluster *cluster)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = ANSWER_SEC};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (!cluster_path(address.sun_path, sizeof address.sun_path, "%s/inside/.s.PGSQL." PORT,
                      cluster->folder) ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Asks to be let in, as every client does first: the answer is a message of type R if the server is
 * ready and E if it is still starting. Then leaves, and waits until the server has noticed (C6). */
static bool answers(const struct cluster *cluster)
{
    static const char wanted[] =
        "user\0" CLUSTER_ROLE "\0database\0postgres\0"; /* and one 0 more */
    static const char farewell[] = {'X', 0, 0, 0, 4};
    char packet[8 + sizeof wanted];
    char answer[512];
    int fd = connect_socket(cluster);
    if (fd < 0) {
        return false;
    }
    const uint32_t head[] = {htonl(sizeof packet), htonl(3U << 16)}; /* its size; protocol 3.0 */
    memcpy(packet, head, sizeof head);
    memcpy(packet + sizeof head, wanted, sizeof wanted);
    bool ready = send(fd, packet, sizeof packet, MSG_NOSIGNAL) == (ssize_t)sizeof packet &&
                 recv(fd, answer, 1, 0) == 1 && answer[0] == 'R' &&
                 send(fd, farewell, sizeof farewell, MSG_NOSIGNAL) == (ssize_t)sizeof farewell;
    while (ready && recv(fd, answer, sizeof answer, 0) > 0) {
    }
    (void)close(fd);
    return ready;
}

bool cluster_await(struct cluster *cluster, struct error *error)
{
    if (cluster->server.pid == 0) {
        (void)error_set(error, "PostgreSQL does not run");
        return with_log(cluster, error);
    }
    for (int i = 0; i < READY_ATTEMPTS; i++) {
        if (process_ended(&cluster->server, PAUSE_MS)) {
            process_release(&cluster->server);
            (void)error_set(error, "PostgreSQL ended while it was starting");
            return with_log(cluster, error);
        }
        if (answers(cluster)) {
            return true;
        }
    }
    cluster_stop(cluster, CLUSTER_IMMEDIATE);
    (void)error_set(error, "PostgreSQL was not ready after %d s", READY_ATTEMPTS * PAUSE_MS / 1000);
    return with_log(cluster, error);
}

static bool serve(struct cluster *cluster, struct error *error)
{
    char program[PATH_MAX];
    (void)cluster_path(program, sizeof program, "%s/postgres", cluster->programs.folder);
    const char *const arguments[] = {program, "-D", cluster->data, NULL};
    const struct process_plan plan = {.arguments = arguments,
                                      .user = &cluster->user,
                                      .output = cluster->log,
                                      .environment = cluster->environment,
                                      /* To quit at once, and clear away its memory (C1). */
                                      .when_orphaned = cluster->keep ? 0 : SIGQUIT};
    return process_start(&cluster->server, &plan, error) && cluster_await(cluster, error);
}

/* ---- starting and ending -------------------------------------------------------------------- */

static bool serve_as_asked(struct cluster *cluster, const struct cluster_options *options,
                           struct error *error)
{
    return write_settings(cluster, options, error) && serve(cluster, error);
}

static bool fill_and_serve(struct cluster *cluster, const struct cluster_options *options,
                           struct error *error)
{
    if (options->follows != NULL) {
        return (cluster_standby_fill(cluster, options->follows, error) ||
                with_log(cluster, error)) &&
               serve_as_asked(cluster, options, error);
    }
    bool copied = cluster_template_copy(cluster, options);
    if (copied && serve_as_asked(cluster, options, error)) {
        return true;
    }
    if (copied && !cluster_template_empty(cluster)) {
        return false;
    }
    if (!cluster_template_make(cluster, options, error)) {
        return with_log(cluster, error);
    }
    if (!serve_as_asked(cluster, options, error)) {
        return false;
    }
    if (copied) { /* what initdb made serves and the copy did not: it was the template */
        cluster_template_forget(cluster, options);
    }
    return true;
}

bool cluster_start(struct cluster *cluster, const struct cluster_options *options,
                   struct error *error)
{
    CHECK(options->max_connections >= 0 && options->max_connections <= CLUSTER_CONNECTIONS_MAX);
    *cluster = (struct cluster){.owner = getpid(),
                                .lock = -1,
                                .server.fd = -1,
                                .keep = options->keep,
                                .environment = options->environment};
    (void)cluster_sweep(options);
    if (programs_find(&cluster->programs, options->programs, error) &&
        process_user_find(&cluster->user, error) && make_folder(cluster, options, error) &&
        read_version(cluster, error) && fill_and_serve(cluster, options, error)) {
        return true;
    }
    struct error ignored; /* the first one counts */
    cluster->keep = false;
    (void)cluster_close(cluster, &ignored);
    return false;
}

const char *cluster_dsn(const struct cluster *cluster)
{
    return cluster->dsn;
}

const char *cluster_hidden_dsn(const struct cluster *cluster)
{
    return cluster->hidden_dsn;
}

void cluster_hide(struct cluster *cluster)
{
    char path[PATH_MAX];
    CHECK(cluster->owner == getpid() && /* C4 */
          cluster_path(path, sizeof path, "%s/socket", cluster->folder));
    CHECK(unlink(path) == 0 || errno == ENOENT);
}

bool cluster_show(struct cluster *cluster, struct error *error)
{
    CHECK(cluster->owner == getpid()); /* C4 */
    return show(cluster) ||
           error_set(error, "cannot show %s: %s", cluster->folder, strerror(errno));
}

bool cluster_running(const struct cluster *cluster)
{
    return cluster->server.pid != 0 && !process_ended(&cluster->server, 0);
}

void cluster_stop(struct cluster *cluster, enum cluster_stop how)
{
    if (cluster->server.pid == 0) {
        return;
    }
    CHECK(cluster->owner == getpid()); /* C4 */
    bool over = process_ended(&cluster->server, 0);
    if (!over && how == CLUSTER_FAST) {
        (void)process_signal(&cluster->server, SIGINT);
        over = process_ended(&cluster->server, FAST_MS);
    }
    if (!over && how != CLUSTER_CRASH) {
        (void)process_signal(&cluster->server, SIGQUIT);
        over = process_ended(&cluster->server, QUIT_MS);
    }
    if (!over) {
        process_kill_family(&cluster->server);
    }
    process_release(&cluster->server);
}

bool cluster_restart(struct cluster *cluster, struct error *error)
{
    CHECK(cluster->folder[0] != '\0' && cluster->owner == getpid()); /* C4 */
    cluster_stop(cluster, CLUSTER_FAST);
    return serve(cluster, error);
}

static bool leave(struct cluster *cluster, struct error *error)
{
    bool ok = owner_leave(cluster->lock, true);
    if (!ok) {
        (void)error_set(error, "cannot keep %s: %s", cluster->folder, strerror(errno));
    }
    process_release(&cluster->server);
    return ok;
}

static bool discard(struct cluster *cluster, struct error *error)
{
    cluster_stop(cluster, CLUSTER_IMMEDIATE);
    postmaster_free_memory(cluster->data);
    bool ok = cluster_sweep_remove(cluster->folder);
    if (!ok) {
        (void)error_set(error, "cannot remove %s: %s", cluster->folder, strerror(errno));
    }
    if (cluster->lock >= 0) {
        (void)owner_leave(cluster->lock, false);
    }
    return ok;
}

bool cluster_close(struct cluster *cluster, struct error *error)
{
    if (cluster->folder[0] == '\0') {
        return true;
    }
    CHECK(cluster->owner == getpid()); /* C4 */
    bool ok = cluster->keep ? leave(cluster, error) : discard(cluster, error);
    *cluster = (struct cluster){.lock = -1, .server.fd = -1};
    return ok;
}

void cluster_how_to_connect(const struct cluster *cluster, char *text, size_t size)
{
    (void)snprintf(text, size, "psql '%s'", cluster->dsn);
}

void cluster_how_to_end(const struct cluster *cluster, char *text, size_t size)
{
    if (cluster->server.pid == 0) {
        (void)snprintf(text, size, "rm -r %s", cluster->folder);
        return;
    }
    (void)snprintf(text, size,
                   "kill -INT %jd; while [ -e %s/postmaster.pid ]; do sleep 0.1; done; rm -r %s",
                   (intmax_t)cluster->server.pid, cluster->data, cluster->folder);
}

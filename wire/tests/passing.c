/* The proxy as a program, for tests and measurements: it passes everything, and with a file writes
 * down what it was told.
 *
 * usage: passing UPSTREAM LISTEN [--tcp PORT] [--tls FOLDER] [--record FILE] [--settings LINES]
 * UPSTREAM and LISTEN are paths of sockets; UPSTREAM - is a private server, which lives as long as
 * this program. It prints "ready PORT FOLDER" when it listens, FOLDER being that of the server's
 * socket, and ends at the end of its standard input; then it prints how much has passed.
 * Status 77: there is no PostgreSQL here. */
#include "real/cluster.h"
#include "wire/proxy.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *upstream, *listen, *tls, *record, *settings;
    uint16_t port;
    bool tcp;
};

static const char *const kinds[] = {
    [PROXY_CONNECTING] = "connecting", [PROXY_CONNECTED] = "connected",
    [PROXY_STATEMENT] = "statement",   [PROXY_COMMIT] = "commit",
    [PROXY_ANSWER] = "answer",         [PROXY_COMMITTED] = "committed",
    [PROXY_READY] = "ready",           [PROXY_NOTIFICATION] = "notification",
    [PROXY_COPY_BEGIN] = "copy-begin", [PROXY_COPY_END] = "copy-end",
    [PROXY_CANCEL] = "cancel",         [PROXY_ERROR] = "error",
    [PROXY_CLIENT_GONE] = "gone",      [PROXY_CLOSED] = "closed"};

static enum proxy_verdict write_down(void *context, const struct proxy_event *event)
{
    FILE *file = context;
    fprintf(file, "%" PRIu64 " %s %" PRIu64, event->connection, kinds[event->kind],
            event->statement);
    if (event->normal != NULL) {
        fprintf(file, " [%.*s]", (int)event->normal_length, event->normal);
    }
    fprintf(file, " how=%d tag=%s state=%s tx=%c%s%s\n", (int)event->how, event->tag,
            event->sqlstate, event->transaction == 0 ? '-' : event->transaction,
            event->why == NULL ? "" : " ", event->why == NULL ? "" : event->why);
    return PROXY_PASS;
}

static bool read_arguments(int count, char **words, struct arguments *arguments)
{
    if (count < 3) {
        return false;
    }
    *arguments = (struct arguments){.upstream = words[1], .listen = words[2]};
    for (int i = 3; i + 1 < count; i += 2) {
        if (strcmp(words[i], "--tcp") == 0) {
            arguments->tcp = true;
            arguments->port = (uint16_t)atoi(words[i + 1]);
        } else if (strcmp(words[i], "--tls") == 0) {
            arguments->tls = words[i + 1];
        } else if (strcmp(words[i], "--record") == 0) {
            arguments->record = words[i + 1];
        } else if (strcmp(words[i], "--settings") == 0) {
            arguments->settings = words[i + 1];
        } else {
            return false;
        }
    }
    return count % 2 == 1;
}

static int fail(const struct proxy_fault *why)
{
    fprintf(stderr, "%s\n", why->text);
    return 1;
}

/* Until the standard input ends. */
static void serve(struct proxy *proxy)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char ignored[64];
    unsigned turns = 0;
    for (;;) {
        /* While it is busy it looks for the end only now and then. */
        bool look = proxy_turn(proxy, 100) == 0 || ++turns % 256 == 0;
        if (look && poll(&input, 1, 0) > 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) {
            return;
        }
    }
}

/* Serves until told to end. Returns the status. */
static int pass(struct arguments *arguments)
{
    struct proxy_fault why;
    FILE *file = arguments->record == NULL ? NULL : fopen(arguments->record, "w");
    if (file != NULL) {
        setvbuf(file, NULL, _IOLBF, 0);
    }
    struct proxy_options options = {.upstream = arguments->upstream,
                                    .tls_folder = arguments->tls,
                                    .told = file == NULL ? NULL : write_down,
                                    .context = file,
                                    .normalise = true};
    struct proxy *proxy = proxy_open(&options, &why);
    if (proxy == NULL || !proxy_listen_unix(proxy, 0, arguments->listen, &why) ||
        (arguments->tcp && !proxy_listen_tcp(proxy, 1, &arguments->port, &why))) {
        return fail(&why);
    }
    printf("ready %u %.*s\n", arguments->port,
           (int)(strrchr(arguments->upstream, '/') - arguments->upstream), arguments->upstream);
    fflush(stdout);
    serve(proxy);
    struct proxy_count done = proxy_count(proxy);
    printf("connections %" PRIu64 " statements %" PRIu64 " up %" PRIu64 " down %" PRIu64
           " malformed %" PRIu64 " out-of-step %" PRIu64 "\n",
           done.connections, done.statements, done.up, done.down, done.malformed, done.out_of_step);
    proxy_close(proxy);
    if (file != NULL) {
        fclose(file);
    }
    return 0;
}

int main(int count, char **words)
{
    struct arguments arguments;
    struct cluster cluster = {0};
    struct error error;
    if (!read_arguments(count, words, &arguments)) {
        fprintf(stderr, "usage: passing UPSTREAM LISTEN [--tcp PORT] [--tls FOLDER] "
                        "[--record FILE] [--settings LINES]\n");
        return 64;
    }
    char path[PROXY_PATH_SIZE];
    bool private = strcmp(arguments.upstream, "-") == 0;
    if (private) {
        if (!cluster_start(&cluster, &(struct cluster_options){.settings = arguments.settings},
                           &error)) {
            fprintf(stderr, "SKIPPED: %s\n", error.text);
            return 77;
        }
        snprintf(path, sizeof path, "%s/socket/.s.PGSQL.5432", cluster.folder);
        arguments.upstream = path;
    }
    int status = pass(&arguments);
    if (private && !cluster_close(&cluster, &error)) {
        fprintf(stderr, "%s\n", error.text);
        status = 1;
    }
    return status;
}

/* A server for a verb: the one that --dsn names, or a private one that is gone when the verb is.
 *
 * On a server that --dsn names, schemas that killed processes left are told before the verb begins
 * (own_schema.h says which they are), and removed if that was asked for. */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include "cli/cli.h"
#include "real/cluster.h"

#include <stdbool.h>

struct server_request {
    const char *verb; /* "real", for messages */
    const char *dsn;  /* NULL: a private one */
    bool clean;       /* first remove what killed processes left on the one that is named */
    bool keep;        /* leave the private one, and say how to connect */
    bool fsync;       /* the private one survives a crash of the machine, too; slower */
    /* For a verb that does more with the private server than connect; NULL, 0: none. */
    struct cluster *cluster; /* where it is held; may be another when `what` returns */
    const char *settings;    /* more lines for postgresql.conf */
    int max_connections;
};

/* CLI_OK, or CLI_USAGE after it has said that a --dsn without a word names no server: libpq would
 * take its default, and an unset variable is no choice of a server. */
int server_check_dsn(const struct cli_verb *verb, const char *dsn);

typedef int on_server(void *context, const char *dsn);

/* Returns what `what` does, or 69 after it has said which package or server is missing. */
int server_use(const struct server_request *request, on_server *what, void *context);

#endif

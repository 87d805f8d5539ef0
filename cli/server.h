/* A server for a verb: the one that --dsn names, or a private one that is gone when the verb is. */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include "real/cluster.h"

#include <stdbool.h>

struct server_request {
    const char *verb; /* "real", for messages */
    const char *dsn;  /* NULL: a private one */
    bool keep;        /* leave the private one, and say how to connect */
    bool fsync;       /* the private one survives a crash of the machine, too; slower */
    /* For whoever does more with the private one than connect; NULL, 0: nobody does. */
    struct cluster *cluster; /* where it is held; may be another when `what` returns */
    const char *settings;    /* more lines for postgresql.conf */
    int max_connections;
};

typedef int on_server(void *context, const char *dsn);

/* Returns what `what` does, or 69 after it has said which package or server is missing. */
int server_use(const struct server_request *request, on_server *what, void *context);

#endif

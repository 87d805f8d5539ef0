#include "cli/server.h"

#include "cli/cli.h"
#include "real/store.h"

#include <stdio.h>

static void say_how_to_connect(const struct cluster *cluster)
{
    char connect[300], end[300];
    cluster_how_to_connect(cluster, connect, sizeof connect);
    cluster_how_to_end(cluster, end, sizeof end);
    fprintf(stderr, "the server is kept\n  connect  %s\n  end      %s\n", connect, end);
}

int server_use(const struct server_request *request, on_server *what, void *context)
{
    struct cluster own = {0};
    struct cluster *cluster = request->cluster == NULL ? &own : request->cluster;
    struct cluster_fault why;
    if (!store_pg_is_there()) {
        fprintf(stderr,
                "assay %s: built without libpq: install the Debian package libpq-dev and build "
                "again\n",
                request->verb);
        return CLI_UNAVAILABLE;
    }
    if (request->dsn != NULL) {
        return what(context, request->dsn);
    }
    if (!cluster_start(cluster,
                       &(struct cluster_options){.keep = request->keep,
                                                 .fsync = request->fsync,
                                                 .settings = request->settings,
                                                 .max_connections = request->max_connections},
                       &why)) {
        fprintf(stderr, "assay %s: %s\n", request->verb, why.text);
        return CLI_UNAVAILABLE;
    }
    int status = what(context, cluster_dsn(cluster));
    if (request->keep) {
        say_how_to_connect(cluster);
    }
    if (!cluster_close(cluster, &why)) {
        fprintf(stderr, "assay %s: %s\n", request->verb, why.text);
    }
    return status;
}

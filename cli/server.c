#include "cli/server.h"

#include "real/own_schema.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a living maker that was cut off has to come back before it is taken for gone. */
#define GRACE_SEC 2

int server_check_dsn(const struct cli_verb *verb, const char *dsn)
{
    if (dsn == NULL || dsn[strspn(dsn, " \t\n\r\f\v")] != '\0') {
        return CLI_OK;
    }
    return cli_usage_error(verb, "--dsn is empty: it names a server, such as 'host=db.example "
                                 "dbname=test'; without --dsn a private one is started");
}

/* ---- what killed processes left -------------------------------------------------------------- */

static size_t count_of(const struct own_schema_list *list, enum own_schema_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        count += list->each[i].state == state;
    }
    return count;
}

/* "a, b, c" */
static void print_names(const struct own_schema_list *list, enum own_schema_state state)
{
    const char *between = "";
    for (size_t i = 0; i < list->count; i++) {
        if (list->each[i].state == state) {
            fprintf(stderr, "%s%s", between, list->each[i].name);
            between = ", ";
        }
    }
}

static void tell_unsure(const char *verb, const struct own_schema_list *list)
{
    if (count_of(list, OWN_SCHEMA_UNSURE) > 0) {
        fprintf(stderr,
                "assay %s: the server was started again since these schemas were made, so "
                "that it does not know whether their makers live; drop them yourself if "
                "no assay runs: ",
                verb);
        print_names(list, OWN_SCHEMA_UNSURE);
        fputc('\n', stderr);
    }
}

/* A server that does not answer is told by what needs it next. */
static void tell_leftovers(const char *verb, const char *dsn)
{
    struct own_schema_list list;
    struct error error;
    if (!own_schema_look(dsn, &list, &error)) {
        return;
    }
    if (count_of(&list, OWN_SCHEMA_GONE) > 0) {
        fprintf(stderr,
                "assay %s: killed processes of assay left these schemas on the server; "
                "assay real --dsn DSN --clean removes them: ",
                verb);
        print_names(&list, OWN_SCHEMA_GONE);
        fputc('\n', stderr);
    }
    tell_unsure(verb, &list);
}

/* How many are gone now, of those in the list; -1: it has said what went wrong. */
static int remove_listed(const char *verb, const char *dsn, const struct own_schema_list *list)
{
    struct error error;
    int count = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool removed = false;
        if (list->each[i].state == OWN_SCHEMA_GONE &&
            !own_schema_remove(dsn, list->each[i].name, &removed, &error)) {
            fprintf(stderr, "assay %s: it cannot be removed: %s\n", verb, error.text);
            return -1;
        }
        if (removed) {
            fprintf(stderr, "assay %s: removed %s, which a killed process had left\n", verb,
                    list->each[i].name);
        }
        count += removed;
    }
    return count;
}

/* Until no more are found: a list has room for so many. */
static int remove_leftovers(const char *verb, const char *dsn)
{
    struct own_schema_list list;
    struct error error;
    int removed = 1;
    for (bool first = true; removed > 0; first = false) {
        if (!own_schema_look(dsn, &list, &error)) {
            fprintf(stderr, "assay %s: %s\n", verb, error.text);
            return CLI_UNAVAILABLE;
        }
        if (first && count_of(&list, OWN_SCHEMA_GONE) > 0) {
            sleep(GRACE_SEC); /* own_schema_remove looks again */
        }
        removed = remove_listed(verb, dsn, &list);
    }
    if (count_of(&list, OWN_SCHEMA_HELD) > 0) {
        fprintf(stderr, "assay %s: left alone, since their makers hold them: ", verb);
        print_names(&list, OWN_SCHEMA_HELD);
        fputc('\n', stderr);
    }
    tell_unsure(verb, &list);
    return removed < 0 ? CLI_UNAVAILABLE : CLI_OK;
}

static int use_named(const struct server_request *request, on_server *what, void *context)
{
    int status = CLI_OK;
    if (request->clean) {
        status = remove_leftovers(request->verb, request->dsn);
    } else {
        tell_leftovers(request->verb, request->dsn);
    }
    return status == CLI_OK ? what(context, request->dsn) : status;
}

/* ---- the server ------------------------------------------------------------------------------ */

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
    struct error error;
    if (!store_pg_is_there()) {
        fprintf(stderr,
                "assay %s: built without libpq: install the Debian package libpq-dev and build "
                "again\n",
                request->verb);
        return CLI_UNAVAILABLE;
    }
    if (request->dsn != NULL) {
        return use_named(request, what, context);
    }
    if (!cluster_start(cluster,
                       &(struct cluster_options){.keep = request->keep,
                                                 .fsync = request->fsync,
                                                 .settings = request->settings,
                                                 .max_connections = request->max_connections},
                       &error)) {
        fprintf(stderr, "assay %s: %s\n", request->verb, error.text);
        return CLI_UNAVAILABLE;
    }
    int status = what(context, cluster_dsn(cluster));
    if (request->keep) {
        say_how_to_connect(cluster);
    }
    if (!cluster_close(cluster, &error)) {
        fprintf(stderr, "assay %s: %s\n", request->verb, error.text);
    }
    return status;
}

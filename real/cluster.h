/* A private PostgreSQL: made in a temporary folder, served on a socket in that folder and nowhere
 * else, ended and removed with the process that made it.
 *
 *   TMPDIR/assay-cluster-XXXXXX/
 *     owner          the process that made it (real/owner.h)
 *     data-XXXXXX/   PostgreSQL's data folder, copied from a template
 *     inside/        its socket
 *     socket         leads there, unless it is hidden
 *     log            what initdb and the server print
 *
 * The template is made by initdb once for each version of PostgreSQL and kept in the user's cache
 * folder (XDG_CACHE_HOME/assay, else HOME/.cache/assay). It only saves time: without a folder to
 * keep it in, every cluster is made by initdb. It holds one database, postgres, and none to make
 * others from: CREATE DATABASE needs TEMPLATE postgres.
 *
 * The server runs as the user that Assay runs as; for root, which PostgreSQL refuses, as the user
 * postgres or else nobody. The data and socket folders belong to that user alone; the
 * folder around them belongs to Assay's user, so that no other user can forge one.
 *
 * This module speaks to the server only to ask whether it is ready. It needs the server's programs
 * when it runs, and nothing of PostgreSQL to be built.
 *
 * (C1) Nothing stays behind. cluster_close() stops the server and removes the folder. If the
 *      process ends without it, in any way, the kernel signals the server to quit. The next
 *      cluster_sweep() of the same user removes the folder and its remains; cluster_start() begins
 *      with one.
 * (C2) No process is signalled but the server that was started here, its children, and a server
 *      that was found to serve the folder of an owner that is gone (real/process.h,
 *      real/postmaster.h).
 * (C3) Any number may start and live at once; they share nothing but the template, which appears
 *      whole or not at all.
 * (C4) Only the process that started a cluster may stop, restart or close it. The thread that started
 *      it must live as long: the kernel's signal of (C1) is bound to that thread.
 * (C5) The server listens on no network address. Whatever opens its socket is let in as the superuser
 *      CLUSTER_ROLE; the rights of the socket's folder keep other users out.
 * (C6) After a start or a restart that returned true the server has answered a client, and the
 *      connection that asked is gone: all max_connections are free. */
#ifndef REAL_CLUSTER_H
#define REAL_CLUSTER_H

#include "model/error.h"
#include "real/cluster_path.h"
#include "real/process.h"
#include "real/programs.h"

#include <stdbool.h>
#include <stddef.h>

#define CLUSTER_PREFIX          "assay-cluster-"
#define CLUSTER_ROLE            "assay"
#define CLUSTER_FOLDER_SIZE     87 /* with "/socket/.s.PGSQL.5432" it fits a socket's 108 */
#define CLUSTER_DSN_SIZE        160
#define CLUSTER_CONNECTIONS     100 /* unless told */
#define CLUSTER_CONNECTIONS_MAX 10000

struct cluster_options {
    const char *programs;  /* folder of initdb and postgres; NULL: looked for (real/programs.h) */
    const char *temporary; /* where the folder is made; NULL: TMPDIR if it will do, else /tmp */
    const char *cache;     /* where the template is kept; NULL: the user's cache folder */
    const char *settings;  /* more lines for postgresql.conf, which win; NULL: none */
    const char *const *environment; /* of the server, besides; lives as long as the cluster */
    int max_connections;            /* 0: CLUSTER_CONNECTIONS */
    bool fsync;                     /* survive a crash of the machine, too; slower */
    bool hidden;                    /* clients do not find it before cluster_show */
    bool keep; /* cluster_close() leaves the server running and the folder in place */
    const struct cluster *follows; /* makes it a hot standby of this one; NULL: it is none */
};

/* Zero is a cluster that was never started. */
struct cluster {
    char folder[CLUSTER_FOLDER_SIZE]; /* empty: there is none */
    char data[CLUSTER_FOLDER_SIZE + 16];
    char log[CLUSTER_FOLDER_SIZE + 8];
    char dsn[CLUSTER_DSN_SIZE], hidden_dsn[CLUSTER_DSN_SIZE];
    struct programs programs;
    char version[32];         /* of PostgreSQL: "15.18" */
    struct process_user user; /* the user that the server runs as */
    struct process server;
    const char *const *environment; /* of the server, besides */
    pid_t owner;                    /* the process that started it (C4) */
    int lock;                       /* descriptor of the owner file */
    bool keep;
};

enum cluster_stop {
    CLUSTER_FAST,      /* clients are thrown out, everything is written: a clean shutdown */
    CLUSTER_IMMEDIATE, /* all processes quit at once; the next start recovers */
    CLUSTER_CRASH      /* SIGKILL to the server and all its children; the next start recovers */
};

/* False: there is no cluster, and *error says what is missing and what would be right. Every failure is
 * that something needed is not available. */
bool cluster_start(struct cluster *cluster, const struct cluster_options *options,
                   struct error *error);

/* What libpq needs to connect. */
const char *cluster_dsn(const struct cluster *cluster);

/* While it is hidden, cluster_dsn leads nowhere, and cluster_hidden_dsn leads to it as always. Hiding it
 * does not end connections that are open. */
void cluster_hide(struct cluster *cluster);
bool cluster_show(struct cluster *cluster, struct error *error);
const char *cluster_hidden_dsn(const struct cluster *cluster);

/* Whether the server that was started last is still there. */
bool cluster_running(const struct cluster *cluster);

/* Waits until the server answers; it does not while it recovers from the loss of a process. False: it
 * is stopped, and *error has the end of its log. */
bool cluster_await(struct cluster *cluster, struct error *error);

/* Returns when the server has ended; a server that does not obey in time is killed. */
void cluster_stop(struct cluster *cluster, enum cluster_stop how);

/* Serves the same folder again; a server that still runs is stopped first (CLUSTER_FAST). False: it
 * is stopped, and *error has the end of its log. */
bool cluster_restart(struct cluster *cluster, struct error *error);

/* Promotes a standby: it serves writers, too. Its primary must be gone. */
bool cluster_promote(struct cluster *cluster, struct error *error);

/* The end of it: stops the server and removes the folder, or with `keep` leaves both. To be called
 * in a normal context, not in a signal handler. False: *error says what could not be removed. */
bool cluster_close(struct cluster *cluster, struct error *error);

/* For a user whose cluster is kept: the command that connects to it, and the one that ends it. */
void cluster_how_to_connect(const struct cluster *cluster, char *text, size_t size);
void cluster_how_to_end(const struct cluster *cluster, char *text, size_t size);

/* Removes what clusters of this user left whose owner is gone, ending servers that still run.
 * Returns how many folders were removed. Costs a look into the temporary folder: every verb can
 * afford it. */
int cluster_sweep(const struct cluster_options *options);

#endif

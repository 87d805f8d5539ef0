/* A server that faults may kill, restart, or replace by its standby. Or a foreign server, which they
 * may not harm. */
#ifndef REAL_CHAOS_SERVER_H
#define REAL_CHAOS_SERVER_H

#include "model/error.h"
#include "real/cluster.h"
#include "real/history.h"

#define CHAOS_SERVER_DSN_SIZE (2 * CLUSTER_FOLDER_SIZE + 160)

/* The settings of such a server: few connections, so that a rival can exhaust them, and the deadlock
 * timeout that a rival relies on. */
#define CHAOS_SERVER_CONNECTIONS                                                                   \
    29 /* 20 actors, the history, a few rivals, and no more: a crowd is slow */
extern const char chaos_server_settings[];

struct chaos_server {
    const char *foreign_dsn; /* of a foreign server; NULL: it is ours */
    struct cluster *cluster; /* the one that serves */
    struct cluster standby;  /* follows it, synchronously; zero: there is none */
    struct history *history; /* is to outlive a promotion; NULL: there is none */
    char dsn[CHAOS_SERVER_DSN_SIZE];
};

/* The address at which a client finds the one that serves. */
const char *chaos_server_dsn(struct chaos_server *server);

/* True: faults may harm it. */
bool chaos_server_is_ours(const struct chaos_server *server);

/* Holds one of its processes, verified, to be signalled and released. False: it is none of them. */
bool chaos_server_hold_backend(const struct chaos_server *server, int backend,
                               struct process *process);
/* SIGKILL for one of them. False: it is none of its processes. */
bool chaos_server_kill_backend(struct chaos_server *server, int backend);
/* Stops one of them (SIGSTOP) until another signal. False: it is none of its processes, or does not
 * stop. */
bool chaos_server_freeze(const struct chaos_server *server, int backend, struct process *frozen);

/* All its processes quit at once, a frozen one too (NULL: none is); then it serves again. */
void chaos_server_stop(struct chaos_server *server, const struct process *frozen);
bool chaos_server_start(struct chaos_server *server, struct error *error);

/* A standby joins once the server answers. From then on a commit is acknowledged only if the standby
 * has it. Joining takes half a second, and clients go on meanwhile. False: there is no standby, and
 * commits do not wait for one. */
bool chaos_server_follow(struct chaos_server *server, struct error *error);
/* The primary and all its processes are killed; the standby is promoted. Clients find it once the
 * history follows it, so that no commit is missed in between. */
void chaos_server_kill(struct chaos_server *server);
bool chaos_server_promote(struct chaos_server *server, struct error *error);
/* Removes the standby in any state; commits do not wait for one any more. */
bool chaos_server_unfollow(struct chaos_server *server, struct error *error);

#endif

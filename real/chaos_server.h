/* A server that may be harmed: killed, restarted, replaced by its standby. Or one that is somebody
 * else's, and may not. */
#ifndef REAL_CHAOS_SERVER_H
#define REAL_CHAOS_SERVER_H

#include "real/cluster.h"

#define CHAOS_SERVER_DSN_SIZE (2 * CLUSTER_FOLDER_SIZE + 160)

/* What such a server is to be started with: connections that a rival can use up, and a deadlock
 * timeout that it can rely on. */
#define CHAOS_SERVER_CONNECTIONS 28 /* 20 actors, a few rivals, and no more: a crowd is slow */
extern const char chaos_server_settings[];

struct chaos_server {
    const char *foreign_dsn; /* somebody else's; NULL: it is ours */
    struct cluster *cluster; /* the one that serves */
    struct cluster standby;  /* follows it, synchronously; zero: there is none */
    char dsn[CHAOS_SERVER_DSN_SIZE];
};

/* What a client needs to find whichever of the two serves. */
const char *chaos_server_dsn(struct chaos_server *server);

/* True: it may be harmed. */
bool chaos_server_is_ours(const struct chaos_server *server);

/* One of its processes, held and verified, to be signalled and released; false: it is none. */
bool chaos_server_hold_backend(const struct chaos_server *server, int backend,
                               struct process *process);
/* SIGKILL for one of them; false: it is none of its processes. */
bool chaos_server_kill_backend(struct chaos_server *server, int backend);
/* It does nothing any more (SIGSTOP), whatever it is sent, until it is signalled otherwise. False:
 * it is none of its processes, or does not obey. */
bool chaos_server_freeze(const struct chaos_server *server, int backend, struct process *frozen);

/* Everything quits at once, one that is frozen, too (NULL: none is); then it is back. */
void chaos_server_stop(struct chaos_server *server, const struct process *frozen);
bool chaos_server_start(struct chaos_server *server, struct cluster_fault *why);

/* A standby joins, once the server answers: from here on no commit is acknowledged that it does not
 * have, too. It takes half a second, during which clients go on. False: there is none, and nobody
 * waits for one. */
bool chaos_server_follow(struct chaos_server *server, struct cluster_fault *why);
/* The primary and all its processes are killed; the standby is promoted. */
void chaos_server_kill(struct chaos_server *server);
bool chaos_server_promote(struct chaos_server *server, struct cluster_fault *why);
/* No standby any more, and nobody waits for one, whatever became of it. */
bool chaos_server_unfollow(struct chaos_server *server, struct cluster_fault *why);

#endif

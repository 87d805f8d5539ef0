/* A proxy for PostgreSQL's protocol, version 3: foreign programs speak to a server through it,
 * unmodified, and its caller sees every statement and every commit, and can hold each on either
 * side.
 *
 * A listener belongs to one worker, so that a connection's owner is known. Each connection of a
 * client has one upstream connection of its own to the server's unix socket. Bytes pass unchanged
 * in both directions, in large reads and writes; the parser looks at them in place.
 *
 * Events are calls of the caller's function, made from inside proxy_turn() and the actions. Its
 * verdict decides what happens to the bytes that the event is about:
 *
 *   client -> server   PROXY_STATEMENT, then PROXY_COMMIT if this may commit:  HOLD keeps it and
 *                      all that the client sends after it, until proxy_release()
 *   server -> client   PROXY_COMMITTED: the answer to a commit has come; HOLD keeps it and all that
 *                      the server sends after it, until proxy_release()
 *
 * What the faults of a sweep are in these terms:
 *
 *   kill before commit        HOLD at PROXY_COMMIT, kill the process, proxy_cut(PROXY_CUT_BOTH)
 *   answer lost               HOLD at PROXY_COMMITTED, then kill or proxy_cut(PROXY_CUT_BOTH)
 *   pause                     HOLD, later proxy_release()
 *   half-open                 HOLD anywhere, proxy_cut(PROXY_CUT_CLIENT): the backend stays in its
 *                             transaction with its locks; later proxy_cut(PROXY_CUT_BOTH)
 *   late                      the same at PROXY_STATEMENT or PROXY_COMMIT, and proxy_release():
 *                             what was kept reaches the server, its answers are told and dropped
 *   notification lost         DROP at PROXY_NOTIFICATION
 *   53300, 57P03 at connect   proxy_refuse() at PROXY_CONNECTING
 *   57P01                     proxy_refuse() with PROXY_FATAL
 *
 * Where a commit is. An explicit COMMIT is a statement of its own. The extended protocol commits an
 * implicit transaction at Sync: the statement is PROXY_STATEMENT at its Execute, and PROXY_COMMIT
 * comes at the Sync, when the statement has been executed and is not committed. A simple Query
 * executes and commits in one message: PROXY_STATEMENT and PROXY_COMMIT come one after the other
 * before it. So does a Query of several statements with a COMMIT inside. What no proxy sees (a
 * commit inside CALL, of a background worker) is announced as `how == PROXY_COMMITS_INSIDE` at best.
 *
 * A client that ends by itself ends its connection as soon as the server has what was sent, and the
 * server hears of it then. What is held before the server stays held, with PROXY_CLIENT_GONE.
 *
 * A statement is sent whole: Parse, Bind, Describe and Close wait until Execute, Flush or Sync
 * shows what they are for, unless they are longer than PROXY_AHEAD_MAX.
 *
 * The caller drives it: proxy_descriptor() is a descriptor that poll() can wait for, beside the
 * caller's others, and proxy_turn() does what is to do. Nothing blocks and no thread is started.
 *
 * (PX1) Without a verdict other than PASS, and without an action, the server receives exactly the
 *       bytes that the client has sent, and the client those of the server. TLS, its refusal and
 *       the refusal of GSS encryption are the proxy's own.
 * (PX2) Whatever is dropped, held or put in between is one or more whole messages. A client never
 *       sees half a message that is not followed by the end of the connection.
 * (PX3) Malformed messages end the connection that they came on, and no other; the client is told
 *       what was wrong (08P01), and PROXY_CLOSED has it in `why`.
 * (PX4) While a connection is held for one side, the other side is served.
 * (PX5) A connection is named by a number that is never used again. An action on one that is gone
 *       returns false.
 * (PX6) Memory a connection is bounded: by PROXY_WHOLE_MAX for a direction that is not held, and by
 *       PROXY_HELD_MAX for one that is, where the proxy stops reading. Longer rows, binds and COPY
 *       data are streamed. */
#ifndef WIRE_PROXY_H
#define WIRE_PROXY_H

#include "wire/statement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROXY_WORKERS_MAX     256
#define PROXY_CONNECTIONS_MAX 1024
#define PROXY_NAME_SIZE       64 /* of an application, a user, a database; longer ones are cut */
#define PROXY_TAG_SIZE        64
#define PROXY_WHY_SIZE        256
#define PROXY_PATH_SIZE       108       /* of a unix socket */
#define PROXY_AHEAD_MAX       (1 << 20) /* bytes of Parse and Bind that wait for their Execute */
#define PROXY_WHOLE_MAX       (4 << 20) /* a longer statement is told cut, and passed */
#define PROXY_HELD_MAX        (64 << 20)

enum proxy_event_kind {
    PROXY_CONNECTING,   /* a client has sent its startup packet. PASS, HOLD, DROP (closed) */
    PROXY_CONNECTED,    /* the server is ready for the first query; backend pid is known */
    PROXY_STATEMENT,    /* a statement is about to be sent. PASS, HOLD */
    PROXY_COMMIT,       /* what may commit is about to be sent. PASS, HOLD */
    PROXY_ANSWER,       /* a statement was answered: tag and rows, or an SQLSTATE */
    PROXY_COMMITTED,    /* the answer to what PROXY_COMMIT announced is here. PASS, HOLD */
    PROXY_READY,        /* the server is ready for the next query; `transaction` is its byte */
    PROXY_NOTIFICATION, /* NOTIFY reaches a listening client. PASS, HOLD, DROP */
    PROXY_COPY_BEGIN,   /* COPY data may flow */
    PROXY_COPY_END,
    PROXY_CANCEL,      /* a client asks to cancel `target`'s statement. PASS, DROP */
    PROXY_ERROR,       /* the server says an error that answers nothing: it goes down */
    PROXY_CLIENT_GONE, /* the client's side has ended, and the upstream one is kept */
    PROXY_CLOSED       /* both sides have ended; the number means nothing any more */
};

enum proxy_verdict { PROXY_PASS, PROXY_HOLD, PROXY_DROP };

enum proxy_commits {
    PROXY_COMMITS_NOT,
    PROXY_COMMITS_EXPLICIT, /* COMMIT or END, alone or in a Query of several statements */
    PROXY_COMMITS_IMPLICIT, /* the end of a transaction that no BEGIN began */
    PROXY_COMMITS_INSIDE    /* CALL or DO, which may commit as often as they like */
};

/* Fields that an event does not have are zero. Pointers are valid during the call only. */
struct proxy_event {
    enum proxy_event_kind kind;
    uint64_t connection; /* its number; 0 for PROXY_CANCEL */
    unsigned worker;     /* whose listener it came to */

    /* STATEMENT, COMMIT, ANSWER, COMMITTED */
    uint64_t statement; /* number among the connection's statements, from 1. COMMIT at a Sync has
                         * that of the last Execute that may have written */
    const char *text;   /* as the client has sent it, not terminated; NULL in ANSWER, COMMITTED */
    size_t length;
    const char *normal; /* without literals (wire/normalise.h), if the options ask for it */
    size_t normal_length;
    bool cut;                     /* the text is only the statement's beginning */
    bool extended;                /* it is an Execute, not a Query */
    bool function;                /* it is a FunctionCall: no text */
    struct statement_facts facts; /* of all statements in the text together */
    enum proxy_commits how;       /* COMMIT and COMMITTED */

    /* ANSWER, COMMITTED, ERROR */
    char tag[PROXY_TAG_SIZE]; /* "INSERT 0 1"; of COMMITTED the last one; empty: an error */
    uint64_t rows;            /* that the tag counts */
    char sqlstate[6];         /* empty: no error */
    bool skipped;             /* an Execute or commit that the server ignored after an error */
    bool suspended;           /* an Execute with more rows to come */
    bool late;                /* there is no client any more that hears it */
    char transaction;         /* READY, COMMITTED: 'I', 'T' or 'E'; STATEMENT, COMMIT: where the
                               * server will be then, as far as statements and answers tell */

    /* NOTIFICATION */
    pid_t notifier;
    const char *channel, *payload;

    /* COPY_BEGIN */
    char copy; /* 'i' in, 'o' out, 'b' both */

    uint64_t target; /* CANCEL: the connection whose key it has; 0: of none that is known */
    const char *why; /* CLOSED: in words, why */
};

/* What is known of a live connection. */
struct proxy_connection {
    uint64_t number;
    unsigned worker;
    pid_t backend; /* 0: not yet known */
    char application[PROXY_NAME_SIZE], user[PROXY_NAME_SIZE], database[PROXY_NAME_SIZE];
    char transaction;    /* of the last ReadyForQuery; 0: there was none */
    bool tls;            /* its client speaks TLS with the proxy */
    bool listens;        /* LISTEN was answered, and no UNLISTEN * since */
    bool replicates;     /* a walsender: not parsed into statements */
    bool client;         /* the client's side is there */
    bool held_up;        /* something of the client is held */
    bool held_down;      /* something of the server is held */
    bool closes;         /* the server's side has ended; what is held is all there is */
    unsigned unanswered; /* Queries, Syncs and FunctionCalls sent and not yet answered */
    uint64_t statements; /* told so far */
};

typedef enum proxy_verdict proxy_told(void *context, const struct proxy_event *event);

struct proxy_options {
    const char *upstream;   /* path of the server's socket: ".../.s.PGSQL.5432" */
    const char *tls_folder; /* where ca.pem is written, and TLS is then spoken; NULL: answered N */
    proxy_told *told;       /* NULL: everything passes, and nobody is told */
    void *context;          /* of `told` */
    bool normalise;         /* events have `normal` */
};

struct proxy_fault {
    char text[512]; /* what is wrong, and what would be right */
};

struct proxy;

/* Returns NULL, and *why says why. SIGPIPE is not raised by anything here. */
struct proxy *proxy_open(const struct proxy_options *options, struct proxy_fault *why);
/* Ends all connections without an event, and removes the sockets that it listens on. */
void proxy_close(struct proxy *proxy);

/* Each worker has one listener or two. The socket's path is given whole (".../.s.PGSQL.5432"), must
 * not be there, and everyone may connect to it: the folder is what keeps others out. */
bool proxy_listen_unix(struct proxy *proxy, unsigned worker, const char *path,
                       struct proxy_fault *why);
/* On 127.0.0.1; *port 0: one that is free, written back. */
bool proxy_listen_tcp(struct proxy *proxy, unsigned worker, uint16_t *port,
                      struct proxy_fault *why);

/* To be waited for with poll() and POLLIN. */
int proxy_descriptor(const struct proxy *proxy);
/* Serves what is ready, after waiting for it at most so long (0: not at all, -1: until there is
 * something). Returns how much it served; 0: nothing was ready. */
int proxy_turn(struct proxy *proxy, int timeout_ms);

/* From now on connections go to this socket: a server after failover. Those that are there stay. */
bool proxy_set_upstream(struct proxy *proxy, const char *path, struct proxy_fault *why);
/* Tells and asks no longer, or again: false makes everything pass that is not held. */
void proxy_watch(struct proxy *proxy, bool watch);

/* ---- actions; may be called from inside `told` about another connection, and at any other time ---- */

/* What is held goes on, on both sides; events that were due behind it come. False: nothing was. */
bool proxy_release(struct proxy *proxy, uint64_t connection);

enum proxy_cut {
    PROXY_CUT_BOTH,  /* both sides end at once; what is held is lost, and so is what is under way */
    PROXY_CUT_CLIENT /* the client's side only: what it had sent completely and was held stays held,
                      * the rest is forgotten; the upstream side stays, and its answers are dropped */
};
bool proxy_cut(struct proxy *proxy, uint64_t connection, enum proxy_cut how);
/* All of a worker's. Returns how many there were. */
unsigned proxy_cut_worker(struct proxy *proxy, unsigned worker, enum proxy_cut how);

/* The client reads an error that the server does not know of.
 *   PROXY_FATAL   ErrorResponse, then both sides end. At PROXY_CONNECTING, or between two messages
 *                 at any time
 *   PROXY_FAILED  in place of a held statement, which the server never sees: ErrorResponse, and
 *                 ReadyForQuery when the client has sent Sync. Only outside a transaction, and
 *                 with nothing unanswered before it
 * False: not possible now. */
enum proxy_severity { PROXY_FATAL, PROXY_FAILED };
bool proxy_refuse(struct proxy *proxy, uint64_t connection, enum proxy_severity severity,
                  const char *sqlstate, const char *message);

/* ---- what there is ---- */

/* False: there is no such connection. */
bool proxy_find(const struct proxy *proxy, uint64_t connection, struct proxy_connection *found);
/* The live connections in the order of their numbers, at most `max`. Returns how many there are. */
unsigned proxy_list(const struct proxy *proxy, struct proxy_connection *list, unsigned max);

/* No byte is on its way inside the proxy: everything that was read is written or held, and no
 * Query, Sync or FunctionCall waits for its answer, but those behind which an answer is held. Ask
 * after a proxy_turn(proxy, 0) that returned 0. */
bool proxy_rests(const struct proxy *proxy);

struct proxy_count {
    uint64_t connections; /* ever made */
    uint64_t statements;  /* told */
    uint64_t up, down;    /* bytes to the server, to clients */
    uint64_t malformed;   /* connections ended for it */
    uint64_t out_of_step; /* answers that fit no request: a gap in the proxy's knowledge */
};
struct proxy_count proxy_count(const struct proxy *proxy);

#endif

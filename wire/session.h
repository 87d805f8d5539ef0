/* One connection's protocol, without its sockets: what the bytes of both directions mean, which of
 * them may be written, and what the caller of the proxy is told. Pure, so that a fuzzer can be both
 * client and server.
 *
 * The proxy puts bytes into `up` (from the client) and `down` (from the server), calls
 * session_read_up() and session_read_down(), and writes what they made ready.
 *
 * The extended protocol answers nothing before Flush or Sync, so Parse, Bind, Describe and Close
 * can wait in `up` until it is clear which statement they belong to. Answers to a batch that may
 * commit wait in `down` for the end of the batch, if that has been sent: a client that uses Flush
 * gets its answers at once.
 *
 * (WS1) While something is held, `ready` of its direction does not move.
 * (WS2) Each PROXY_COMMIT that passed is followed by one PROXY_COMMITTED, or by the end of the
 *       connection. */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "wire/buffer.h"
#include "wire/frame.h"
#include "wire/names.h"
#include "wire/queue.h"

/* What all sessions of a proxy share. */
struct session_host {
    proxy_told *told; /* NULL: nobody is told */
    void *context;
    bool watch, normalise;
    char *normal; /* room for a normal form */
    size_t normal_size;
    struct proxy_count count;
};

/* What has been answered of the batch at the front. */
struct session_answer {
    char tag[PROXY_TAG_SIZE];
    uint64_t rows;
    char sqlstate[6];
};

struct session {
    struct session_host *host;
    struct proxy_connection about;
    struct buffer up, down;
    struct names names;
    struct queue queue;

    /* up */
    uint32_t up_left; /* bytes to come of a message that was looked at */
    bool up_waits;    /* that message waits for its Execute */
    bool up_drops;    /* that message is dropped */
    unsigned stage;   /* how many events the message at up.parsed has had */
    size_t waiting;   /* items of the queue whose messages wait in `up` */
    bool copying;     /* a COPY FROM STDIN was sent, and not the end of its data */
    bool copy_idle;   /* that COPY is outside of a transaction, as far as one can tell */
    bool copy_in;     /* the server reads COPY data and ignores Sync */
    bool refusing;    /* the client's messages are dropped, up to Sync */
    bool sent_any;    /* something of the batch has gone to the server */
    bool executed;    /* an Execute is among it */
    bool wrote;       /* one that may write, in an implicit transaction */
    uint64_t writer;  /* its number */
    char expected;    /* the transaction byte after all that was sent, as far as one can tell */
    bool sure;        /* it is that, unless an error skips what follows; no batch before may fail */

    /* down */
    uint32_t down_left;
    bool down_waits;
    unsigned down_stage;
    bool connected; /* the first ReadyForQuery has come */
    char key[260];  /* BackendKeyData: the pid and the key, which a CancelRequest repeats */
    unsigned key_length;
    struct session_answer answer;

    bool ended;               /* neither side is parsed any more */
    char why[PROXY_WHY_SIZE]; /* malformed: what; empty: it is not */
};

void session_open(struct session *session, struct session_host *host, uint64_t number,
                  unsigned worker);
void session_close(struct session *session);

/* A startup packet, at up.parsed and complete: who connects. */
void session_startup(struct session *session, uint32_t length);
/* Looks at the bytes that are not parsed. */
void session_read_up(struct session *session);
void session_read_down(struct session *session);
/* How many bytes a message needs after `parsed` before it can be looked at. */
size_t session_want_up(const struct session *session);
size_t session_want_down(const struct session *session);

bool session_release(struct session *session);
/* There is no client any more: what it has not sent completely is forgotten. */
void session_orphan(struct session *session);
/* PROXY_FAILED and PROXY_FATAL of proxy_refuse(). */
bool session_refuse(struct session *session, const char *sqlstate, const char *message);
bool session_say_fatal(struct session *session, const char *sqlstate, const char *message);
/* No byte is on its way (proxy_rests). */
bool session_rests(const struct session *session);

/* ---- for session*.c ---- */
enum proxy_verdict session_tell(struct session *session, struct proxy_event *event);
void session_malformed(struct session *session, enum frame_side side, const char *bytes,
                       size_t available);
static inline bool session_watches(const struct session *session)
{
    return session->host->watch && !session->about.replicates;
}

#endif

/* One connection with its two sockets: from the first byte of a client to the end of both sides.
 *
 *   RELAY_STARTUP   the client says who it is: SSLRequest, GSSENCRequest, then a startup packet
 *   RELAY_ASKED     PROXY_CONNECTING was answered with HOLD
 *   RELAY_DIALING   the server's socket is being connected to
 *   RELAY_RUNNING   bytes pass both ways
 *   RELAY_CANCELS   a CancelRequest is passed on, and the server closes
 *   RELAY_LEAVING   the client is to read what is written for it, then both sides end
 *
 * (RE1) A relay ends in relay_settle() alone, never while its session is being parsed: an action
 *       from inside an event only marks it. */
#ifndef WIRE_RELAY_H
#define WIRE_RELAY_H

#include "wire/link.h"
#include "wire/session.h"
#include "wire/tls.h"

enum relay_phase {
    RELAY_STARTUP,
    RELAY_ASKED,
    RELAY_DIALING,
    RELAY_RUNNING,
    RELAY_CANCELS,
    RELAY_LEAVING
};

enum relay_end { RELAY_CLIENT, RELAY_SERVER };

struct relay {
    struct proxy *proxy;
    struct session session;
    enum relay_phase phase;
    struct link client, server;
    int poller;
    uint64_t name;    /* for the poller; the end is added to it */
    bool busy, again; /* it is being served, and is to be served once more */
    bool asks_cancel; /* it is there for a CancelRequest */
    bool gone;        /* the client has left, and nothing of it is to be kept */
    bool keep;        /* PROXY_CUT_CLIENT: the upstream side stays without a client */
    bool over;        /* both sides end as soon as possible */
    char why[PROXY_WHY_SIZE];
};

/* What the relay asks of its proxy. */
struct session_host *proxy_host(struct proxy *proxy);
struct tls *proxy_tls(struct proxy *proxy);
const char *proxy_upstream(const struct proxy *proxy);
uint64_t proxy_number(struct proxy *proxy); /* for a new connection */
/* The connection with the key of a CancelRequest; 0: none. */
uint64_t proxy_with_key(const struct proxy *proxy, const char *key, size_t length);

/* Takes a client's descriptor. NULL: it cannot be watched, and is closed. */
struct relay *relay_open(struct proxy *proxy, unsigned worker, int descriptor, int poller,
                         uint64_t name);
/* Without an event. */
void relay_free(struct relay *relay);

void relay_woken(struct relay *relay, enum relay_end end, uint32_t events);
/* Reads, parses and writes, as long as there is something to do. */
void relay_serve(struct relay *relay);
/* True: it is over, its end was told, and it is to be freed. */
bool relay_settle(struct relay *relay);

/* Both sides end, with words for PROXY_CLOSED. */
void relay_end(struct relay *relay, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The client's side ends, and the server's stays. */
void relay_orphan(struct relay *relay);
bool relay_release(struct relay *relay);
bool relay_refuse(struct relay *relay, enum proxy_severity severity, const char *sqlstate,
                  const char *message);
bool relay_rests(const struct relay *relay);

#endif

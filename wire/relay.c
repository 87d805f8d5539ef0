#include "wire/relay.h"

#include "model/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct relay *relay_open(struct proxy *proxy, unsigned worker, int descriptor, int poller,
                         uint64_t name)
{
    struct relay *relay = calloc(1, sizeof *relay);
    CHECK(relay != NULL);
    relay->proxy = proxy;
    relay->poller = poller;
    relay->name = name;
    link_none(&relay->server);
    if (!link_open(&relay->client, descriptor, poller, name + RELAY_CLIENT)) {
        free(relay);
        return NULL;
    }
    session_open(&relay->session, proxy_host(proxy), 0, worker);
    return relay;
}

void relay_free(struct relay *relay)
{
    CHECK(!relay->busy); /* RE1 */
    link_close(&relay->client);
    link_close(&relay->server);
    session_close(&relay->session);
    free(relay);
}

void relay_end(struct relay *relay, const char *format, ...)
{
    if (!relay->over) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(relay->why, sizeof relay->why, format, arguments);
        va_end(arguments);
    }
    relay->over = relay->session.ended = true;
}

/* The client reads why, then both sides end. */
static void leave(struct relay *relay, const char *sqlstate, const char *message)
{
    if (session_say_fatal(&relay->session, sqlstate, message)) {
        relay->phase = RELAY_LEAVING;
        relay->again = true;
        snprintf(relay->why, sizeof relay->why, "%s", message);
    } else {
        relay_end(relay, "%s", message);
    }
}

/* ---- reading and writing ---- */

/* Reads once. False: nothing came. */
static bool fill(struct relay *relay, struct link *link, struct buffer *buffer, size_t want,
                 bool held)
{
    if (!link_there(link) || !link->readable) {
        return false;
    }
    size_t max = held ? PROXY_HELD_MAX : 2 * (size_t)PROXY_WHOLE_MAX;
    size_t room = buffer_room(buffer, want, max);
    if (room == 0) {
        return false;
    }
    ssize_t count = link_read(link, buffer->bytes + buffer->end, room);
    if (count > 0) {
        buffer_filled(buffer, (size_t)count);
        return true;
    }
    if (count == LINK_ENDED) {
        if (link == &relay->client) {
            relay->gone = true;
        } else {
            relay->session.about.closes = true;
        }
        link_close(link);
        return true;
    }
    return false;
}

/* Writes what is ready; without a reader it is dropped. True: something was written. */
static bool drain(struct relay *relay, struct link *link, struct buffer *buffer, uint64_t *count)
{
    size_t length = buffer->ready - buffer->sent;
    if (length == 0 || link->blocked) {
        return false;
    }
    if (!link_there(link)) {
        buffer_wrote(buffer, length);
        return true;
    }
    ssize_t wrote = link_write(link, buffer->bytes + buffer->sent, length);
    if (wrote == LINK_ENDED && link == &relay->client) {
        relay->gone = true;
        link_close(link);
    } else if (wrote == LINK_ENDED) {
        buffer_wrote(buffer, length); /* its last words can still be read */
    } else if (wrote > 0) {
        buffer_wrote(buffer, (size_t)wrote);
        *count += (uint64_t)wrote;
    }
    return wrote != LINK_AGAIN;
}

/* ---- before the server is there ---- */

static bool answer_byte(struct relay *relay, char byte)
{
    struct buffer *up = &relay->session.up;
    buffer_remove(up, up->parsed, up->parsed + 8);
    return link_write(&relay->client, &byte, 1) == 1;
}

/* SSLRequest or GSSENCRequest. What follows S is TLS, so nothing may have followed in plain. */
static void negotiate(struct relay *relay, bool ssl)
{
    struct tls *tls = ssl && relay->client.tls == NULL ? proxy_tls(relay->proxy) : NULL;
    if (!answer_byte(relay, tls == NULL ? 'N' : 'S')) {
        relay_end(relay, "the client left while it asked for encryption");
    } else if (tls != NULL && relay->session.up.end > relay->session.up.parsed) {
        relay_end(relay, "the client sent bytes between SSLRequest and TLS");
    } else if (tls != NULL) {
        relay->client.tls = tls_accept(tls, relay->client.descriptor);
        relay->client.readable = true;
        relay->session.about.tls = true;
        CHECK(relay->client.tls != NULL);
    }
}

static void dial(struct relay *relay)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", proxy_upstream(relay->proxy));
    relay->phase = RELAY_DIALING;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        relay_end(relay, "no socket for the server: %s", strerror(errno));
        return;
    }
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) {
        if (link_open(&relay->server, descriptor, relay->poller, relay->name + RELAY_SERVER)) {
            relay->phase = relay->asks_cancel ? RELAY_CANCELS : RELAY_RUNNING;
        } else {
            relay_end(relay, "the server's socket cannot be watched: %s", strerror(errno));
        }
        return;
    }
    int error = errno;
    close(descriptor);
    if (error != EAGAIN) { /* else its queue is full, and the next turn tries again */
        relay_end(relay, "the server does not answer at %s: %s", address.sun_path, strerror(error));
    }
}

static void ask_cancel(struct relay *relay, const char *packet, uint32_t length)
{
    struct session *session = &relay->session;
    struct proxy_event event = {.kind = PROXY_CANCEL,
                                .target = proxy_with_key(relay->proxy, packet + 8, length - 8)};
    relay->asks_cancel = true;
    if (session_tell(session, &event) == PROXY_DROP) {
        relay_end(relay, "its CancelRequest was dropped");
        return;
    }
    session->up.parsed += length;
    session->up.ready = session->up.parsed;
    dial(relay);
}

static void ask_connect(struct relay *relay, uint32_t length)
{
    struct session *session = &relay->session;
    session->about.number = proxy_number(relay->proxy);
    session_startup(session, length);
    switch (session_tell(session, &(struct proxy_event){.kind = PROXY_CONNECTING})) {
    case PROXY_HOLD:
        relay->phase = RELAY_ASKED;
        session->about.held_up = true;
        break;
    case PROXY_DROP:
        relay_end(relay, "it was refused");
        break;
    case PROXY_PASS:
        if (!session->ended) {
            dial(relay);
        }
        break;
    }
}

/* One packet before the protocol proper. False: it is not complete. */
static bool start_up(struct relay *relay)
{
    struct buffer *up = &relay->session.up;
    const char *packet = up->bytes + up->parsed;
    uint32_t length, code;
    switch (frame_startup(packet, up->end - up->parsed, &length, &code)) {
    case FRAME_SHORT:
        return false;
    case FRAME_MALFORMED:
        proxy_host(relay->proxy)->count.malformed++;
        leave(relay, "08P01",
              "the client did not begin with a startup packet of PostgreSQL's protocol, version 3");
        return false;
    case FRAME_FOUND:
        break;
    }
    if ((code == FRAME_SSL || code == FRAME_GSS) && length == 8) {
        negotiate(relay, code == FRAME_SSL);
    } else if (code == FRAME_CANCEL && length >= 12) {
        ask_cancel(relay, packet, length);
    } else {
        ask_connect(relay, length);
    }
    return true;
}

/* ---- serving ---- */

/* A client has left by itself. What is held of it stays, until the caller says what becomes of it;
 * else the server hears of it when it has all that was sent. */
static bool notice_end(struct relay *relay)
{
    struct session *session = &relay->session;
    if (relay->gone && session->about.client) {
        bool stays = relay->keep || (session->about.held_up && relay->phase == RELAY_RUNNING);
        session_orphan(session);
        if (stays) {
            relay->keep = true;
            session_tell(session, &(struct proxy_event){.kind = PROXY_CLIENT_GONE});
            return true;
        }
    }
    if (relay->gone && !relay->keep && session->up.sent == session->up.ready) {
        relay_end(relay, "the client has closed the connection");
    } else if (session->about.closes && !session->about.held_down &&
               session->down.sent == session->down.ready) {
        relay_end(relay, "the server has closed the connection");
    }
    return false;
}

static bool run(struct relay *relay)
{
    struct session *session = &relay->session;
    struct proxy_count *count = &session->host->count;
    bool moved =
        fill(relay, &relay->client, &session->up, session_want_up(session), session->about.held_up);
    session_read_up(session);
    moved |= drain(relay, &relay->server, &session->up, &count->up);
    moved |= fill(relay, &relay->server, &session->down, session_want_down(session),
                  session->about.held_down);
    session_read_down(session);
    moved |= drain(relay, &relay->client, &session->down, &count->down);
    moved |= notice_end(relay);
    if (session->why[0] != '\0' && relay->phase == RELAY_RUNNING && !relay->over) {
        leave(relay, "08P01", session->why);
    }
    return moved;
}

/* A CancelRequest has no answer: the server closes, then so does the proxy. */
static bool cancel(struct relay *relay)
{
    struct session *session = &relay->session;
    bool moved = drain(relay, &relay->server, &session->up, &session->host->count.up);
    moved |= fill(relay, &relay->server, &session->down, 1, false);
    if (session->about.closes) {
        relay_end(relay, "the server has taken the CancelRequest");
    }
    return moved && !relay->over;
}

/* The client may have sent more; closing a socket with bytes unread would take back what was
 * written to it. */
static bool say_goodbye(struct relay *relay)
{
    struct buffer *down = &relay->session.down;
    char ignored[4096];
    drain(relay, &relay->client, down, &relay->session.host->count.down);
    if (down->sent == down->ready || relay->gone) {
        while (link_there(&relay->client) &&
               link_read(&relay->client, ignored, sizeof ignored) > 0) {
        }
        char why[PROXY_WHY_SIZE];
        memcpy(why, relay->why, sizeof why);
        relay_end(relay, "%s", why);
    }
    return false;
}

static bool serve_once(struct relay *relay)
{
    struct session *session = &relay->session;
    bool moved;
    switch (relay->phase) {
    case RELAY_STARTUP:
        moved = fill(relay, &relay->client, &session->up, 1, false);
        if (relay->gone) {
            relay_end(relay, "the client left before it said who it is");
            return false;
        }
        while (relay->phase == RELAY_STARTUP && !session->ended && start_up(relay)) {
        }
        return moved || relay->phase != RELAY_STARTUP;
    case RELAY_ASKED:
        moved = fill(relay, &relay->client, &session->up, 1, false);
        if (relay->gone) {
            relay_end(relay, "the client left while it was held");
        }
        return moved;
    case RELAY_DIALING:
        dial(relay);
        return relay->phase != RELAY_DIALING;
    case RELAY_RUNNING:
        return run(relay);
    case RELAY_CANCELS:
        return cancel(relay);
    case RELAY_LEAVING:
        return say_goodbye(relay);
    }
    return false;
}

void relay_serve(struct relay *relay)
{
    relay->again = true;
    if (relay->busy) {
        return;
    }
    relay->busy = true;
    while (relay->again && !relay->over) {
        relay->again = false;
        while (!relay->over && serve_once(relay)) {
        }
    }
    relay->busy = false;
}

void relay_woken(struct relay *relay, enum relay_end end, uint32_t events)
{
    struct link *link = end == RELAY_CLIENT ? &relay->client : &relay->server;
    if (link_there(link)) {
        link_woken(link, events);
    }
}

bool relay_settle(struct relay *relay)
{
    if (!relay->over || relay->busy) {
        return false;
    }
    link_close(&relay->client);
    link_close(&relay->server);
    if (relay->session.about.number != 0) {
        relay->busy = true; /* RE1: the event may act on it once more */
        session_tell(&relay->session,
                     &(struct proxy_event){.kind = PROXY_CLOSED, .why = relay->why});
        relay->busy = false;
    }
    return true;
}

/* ---- actions ---- */

void relay_orphan(struct relay *relay)
{
    relay->keep = true;
    relay->gone = true;
    link_close(&relay->client);
    if (relay->session.about.client) {
        session_orphan(&relay->session);
    }
    if (relay->phase != RELAY_RUNNING) {
        relay_end(relay, "its client was cut off before it was connected");
    }
}

bool relay_release(struct relay *relay)
{
    if (!session_release(&relay->session)) {
        return false;
    }
    if (relay->phase == RELAY_ASKED) {
        relay->phase = RELAY_DIALING;
    }
    return true;
}

bool relay_refuse(struct relay *relay, enum proxy_severity severity, const char *sqlstate,
                  const char *message)
{
    if (severity == PROXY_FAILED) {
        return session_refuse(&relay->session, sqlstate, message);
    }
    if (!session_say_fatal(&relay->session, sqlstate, message)) {
        return false;
    }
    snprintf(relay->why, sizeof relay->why, "it was told %s", sqlstate);
    relay->phase = RELAY_LEAVING;
    return true;
}

bool relay_rests(const struct relay *relay)
{
    switch (relay->phase) {
    case RELAY_STARTUP:
        return relay->session.up.end == relay->session.up.parsed;
    case RELAY_ASKED:
        return true;
    case RELAY_RUNNING:
        return session_rests(&relay->session);
    case RELAY_DIALING:
    case RELAY_CANCELS:
    case RELAY_LEAVING:
        break;
    }
    return false;
}

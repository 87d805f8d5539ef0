/* A session between a client and a server that are both only bytes: it is fed piece by piece, held,
 * released and drained, and what comes out is compared with what went in. */
#ifndef WIRE_TESTS_MILL_H
#define WIRE_TESTS_MILL_H

#include "model/check.h"
#include "wire/session.h"

#include <stdlib.h>
#include <string.h>

struct mill_random {
    uint64_t state;
};

static inline uint32_t mill_draw(struct mill_random *random, uint32_t below)
{
    random->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = random->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

/* One direction: what went in, and how much of it came out. */
struct mill_stream {
    const char *bytes;
    size_t length, fed, seen;
};

struct mill {
    struct session session;
    struct session_host host;
    struct mill_random random;
    uint32_t mischief; /* one verdict in so many is not PASS; 0: none */
    bool changed;      /* something was dropped or put in between: what comes out is not compared */
    uint64_t commits, committed;
};

static inline enum proxy_verdict mill_told(void *context, const struct proxy_event *event)
{
    struct mill *mill = context;
    uint64_t sum = 0;
    for (size_t i = 0; i < event->length; i++) { /* every byte of the text may be read */
        sum += (unsigned char)event->text[i];
    }
    for (size_t i = 0; i < event->normal_length; i++) {
        sum += (unsigned char)event->normal[i];
    }
    CHECK(event->normal_length <= event->length);
    CHECK(sum < UINT64_MAX && strlen(event->tag) < PROXY_TAG_SIZE && strlen(event->sqlstate) < 6);
    mill->commits += event->kind == PROXY_COMMIT;
    mill->committed += event->kind == PROXY_COMMITTED;
    if (mill->mischief == 0 || mill_draw(&mill->random, mill->mischief) != 0) {
        return PROXY_PASS;
    }
    if (event->kind == PROXY_NOTIFICATION && mill_draw(&mill->random, 2) == 0) {
        mill->changed = true;
        return PROXY_DROP;
    }
    return PROXY_HOLD;
}

static inline void mill_feed(struct buffer *buffer, struct mill_stream *stream, size_t want,
                             size_t piece)
{
    size_t room = buffer_room(buffer, want, PROXY_HELD_MAX);
    size_t left = stream->length - stream->fed;
    piece = piece < room ? piece : room;
    piece = piece < left ? piece : left;
    memcpy(buffer->bytes + buffer->end, stream->bytes + stream->fed, piece);
    stream->fed += piece;
    buffer_filled(buffer, piece);
}

/* Takes what is ready. */
static inline void mill_take(struct mill *mill, struct buffer *buffer, struct mill_stream *stream)
{
    size_t count = buffer->ready - buffer->sent;
    if (!mill->changed) {
        CHECK(stream->seen + count <= stream->fed);
        CHECK(memcmp(buffer->bytes + buffer->sent, stream->bytes + stream->seen, count) == 0);
    }
    stream->seen += count;
    buffer_wrote(buffer, count);
}

static inline void mill_act(struct mill *mill)
{
    struct session *session = &mill->session;
    switch (mill_draw(&mill->random, 12)) {
    case 0:
        mill->changed |= session_refuse(session, "40001", "no");
        break;
    case 1:
        if (mill_draw(&mill->random, 50) == 0) {
            mill->changed = true;
            session_say_fatal(session, "57P01", "no");
        }
        break;
    case 2:
        if (mill_draw(&mill->random, 50) == 0) {
            session_orphan(session);
            mill->changed = true; /* the tail of the client is forgotten */
        }
        break;
    default:
        session_release(session);
        break;
    }
}

/* Both streams to their ends, or until one of them is malformed. */
static inline void mill_run(struct mill *mill, struct mill_stream *up, struct mill_stream *down)
{
    struct session *session = &mill->session;
    mill->host =
        (struct session_host){.told = mill_told, .context = mill, .watch = true, .normalise = true};
    session_open(session, &mill->host, 1, 0);
    size_t idle = 0;
    while (!session->ended && idle < 40) {
        size_t before = up->seen + down->seen + up->fed + down->fed;
        size_t piece = (size_t)1 << mill_draw(&mill->random, 14);
        if (mill_draw(&mill->random, 2) == 0) {
            mill_feed(&session->up, up, session_want_up(session), piece);
            session_read_up(session);
        } else {
            mill_feed(&session->down, down, session_want_down(session), piece);
            session_read_down(session);
        }
        mill_take(mill, &session->up, up);
        mill_take(mill, &session->down, down);
        CHECK(session->up.size <= PROXY_HELD_MAX && session->down.size <= PROXY_HELD_MAX); /* PX6 */
        session_rests(session);
        if (mill->mischief != 0 && mill_draw(&mill->random, 3) == 0) {
            mill_act(mill);
        }
        idle = up->seen + down->seen + up->fed + down->fed == before ? idle + 1 : 0;
    }
    CHECK(mill->committed <= mill->commits); /* WS2 */
    session_close(session);
    free(mill->host.normal);
}

#endif

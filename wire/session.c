#include "wire/session.h"

#include "model/check.h"
#include "wire/normalise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void session_open(struct session *session, struct session_host *host, uint64_t number,
                  unsigned worker)
{
    *session = (struct session){.host = host, .expected = 'I', .sure = true};
    session->about = (struct proxy_connection){.number = number, .worker = worker, .client = true};
    buffer_open(&session->up);
    buffer_open(&session->down);
    names_open(&session->names);
    queue_open(&session->queue);
}

void session_close(struct session *session)
{
    buffer_close(&session->up);
    buffer_close(&session->down);
    names_close(&session->names);
    queue_close(&session->queue);
}

static void copy_name(char name[PROXY_NAME_SIZE], const char *packet, size_t length,
                      const char *parameter)
{
    const char *value = frame_parameter(packet, length, parameter);
    snprintf(name, PROXY_NAME_SIZE, "%s", value == NULL ? "" : value);
}

void session_startup(struct session *session, uint32_t length)
{
    struct buffer *up = &session->up;
    const char *packet = up->bytes + up->parsed;
    struct proxy_connection *about = &session->about;
    copy_name(about->application, packet, length, "application_name");
    copy_name(about->user, packet, length, "user");
    copy_name(about->database, packet, length, "database");
    if (about->database[0] == '\0') {
        memcpy(about->database, about->user, PROXY_NAME_SIZE);
    }
    const char *replication = frame_parameter(packet, length, "replication");
    about->replicates = replication != NULL && strchr("fFnN0", *replication) == NULL;
    up->parsed += length;
    up->ready = up->parsed;
}

static void add_normal(struct session_host *host, struct proxy_event *event)
{
    if (event->length > host->normal_size) {
        free(host->normal);
        host->normal_size = event->length;
        host->normal = malloc(host->normal_size);
        CHECK(host->normal != NULL);
    }
    event->normal_length = normalise(event->text, event->length, host->normal, host->normal_size);
    event->normal = host->normal;
}

enum proxy_verdict session_tell(struct session *session, struct proxy_event *event)
{
    struct session_host *host = session->host;
    if (!host->watch || host->told == NULL) {
        return PROXY_PASS;
    }
    event->connection = session->about.number;
    event->worker = session->about.worker;
    event->late =
        !session->about.client && event->kind != PROXY_CLIENT_GONE && event->kind != PROXY_CLOSED;
    if (host->normalise && event->text != NULL) {
        add_normal(host, event);
    }
    return host->told(host->context, event);
}

void session_malformed(struct session *session, enum frame_side side, const char *bytes,
                       size_t available)
{
    unsigned char type = available > 0 ? (unsigned char)bytes[0] : 0;
    char shown[8];
    snprintf(shown, sizeof shown, type > ' ' && type < 127 ? "'%c'" : "0x%02x", type);
    snprintf(session->why, sizeof session->why,
             "the %s sent a message of type %s and length %u, which PostgreSQL's protocol, version "
             "3, does not have",
             side == FRAME_CLIENT ? "client" : "server", shown,
             available >= FRAME_HEADER ? frame_number(bytes + 1) : 0);
    session->ended = true;
    session->host->count.malformed++;
}

bool session_release(struct session *session)
{
    bool held = session->about.held_up || session->about.held_down;
    session->about.held_up = session->about.held_down = false;
    return held;
}

void session_orphan(struct session *session)
{
    struct buffer *up = &session->up;
    session->about.client = false;
    if (session->up_left > 0) {
        return; /* the server waits for the rest of a message, as it does when a network breaks */
    }
    size_t whole = up->parsed;
    struct frame frame;
    while (frame_read(FRAME_CLIENT, up->bytes + whole, up->end - whole, &frame) == FRAME_FOUND &&
           frame.length <= up->end - whole) {
        whole += frame.length;
    }
    up->end = whole;
}

static void say(struct session *session, bool fatal, const char *sqlstate, const char *text)
{
    char message[FRAME_ERROR_MAX];
    size_t length = frame_make_error(message, fatal, sqlstate, text);
    buffer_insert_ready(&session->down, message, length);
}

bool session_say_fatal(struct session *session, const char *sqlstate, const char *message)
{
    struct buffer *down = &session->down;
    if (session->down_left > 0 && down->ready == down->parsed) {
        return false; /* half a message is on its way */
    }
    buffer_remove(down, down->ready, down->end);
    say(session, true, sqlstate, message);
    session->ended = true;
    return true;
}

bool session_refuse(struct session *session, const char *sqlstate, const char *message)
{
    struct buffer *up = &session->up, *down = &session->down;
    struct frame frame;
    queue_front(&session->queue); /* what nothing answers is gone */
    bool unanswered = session->queue.next - session->queue.first != session->waiting;
    if (!session->about.held_up || session->about.held_down || unanswered || session->executed ||
        session->expected != 'I' || session->down_left > 0 || down->ready != down->parsed ||
        frame_read(FRAME_CLIENT, up->bytes + up->parsed, up->end - up->parsed, &frame) !=
            FRAME_FOUND ||
        frame.length > up->end - up->parsed || strchr("QE", frame.type) == NULL) {
        return false;
    }
    while (!queue_empty(&session->queue)) {
        queue_pop(&session->queue);
    }
    session->waiting = 0;
    buffer_remove(up, up->ready, up->parsed + frame.length);
    say(session, false, sqlstate, message);
    if (frame.type == 'Q') {
        char ready[6];
        buffer_insert_ready(down, ready, frame_make_ready(ready, 'I'));
    }
    session->refusing = frame.type == 'E';
    session->stage = 0;
    session->about.held_up = false;
    return true;
}

bool session_rests(const struct session *session)
{
    const struct buffer *up = &session->up, *down = &session->down;
    bool answered = session->queue.batches == 0 || session->about.held_down;
    return up->sent == up->ready && down->sent == down->ready && answered &&
           (session->connected || session->about.held_up || session->about.held_down);
}

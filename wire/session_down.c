/* What the server sends. */
#include "model/check.h"
#include "wire/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The message at down.parsed. */
struct message {
    struct frame frame;
    const char *body; /* behind its header */
    size_t have;      /* of its body, that is there */
    bool waits;       /* it answers a batch that may commit, and waits for its end */
    bool dropped;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t head(struct frame frame)
{
    bool data = strchr("DdTtNGHWVv", frame.type) != NULL;
    return data ? FRAME_HEADER : least(frame.length, PROXY_WHOLE_MAX);
}

static void out_of_step(struct session *session)
{
    session->host->count.out_of_step++;
}

static bool is_front(struct session *session, enum queue_kind kind)
{
    struct queue_item *front = queue_front(&session->queue);
    return front != NULL && front->kind == kind;
}

/* The answer to something that only its kind tells: ParseComplete and the like. */
static void pop_kind(struct session *session, enum queue_kind kind)
{
    if (is_front(session, kind)) {
        queue_pop(&session->queue);
    } else {
        out_of_step(session);
    }
}

/* ---- events ---- */

static void fill_answer(const struct session *session, struct proxy_event *event)
{
    memcpy(event->tag, session->answer.tag, sizeof event->tag);
    memcpy(event->sqlstate, session->answer.sqlstate, sizeof event->sqlstate);
    event->rows = session->answer.rows;
}

static void tell_answer(struct session *session, const struct queue_item *item, bool skipped,
                        bool suspended)
{
    struct proxy_event event = {.kind = PROXY_ANSWER,
                                .statement = item->statement,
                                .extended = item->kind == QUEUE_EXECUTE,
                                .function = item->kind == QUEUE_FUNCTION,
                                .skipped = skipped,
                                .suspended = suspended};
    fill_answer(session, &event);
    session_tell(session, &event);
}

/* False: the answer to the commit is held. */
static bool tell_committed(struct session *session, const struct queue_item *item, bool skipped,
                           char transaction)
{
    struct proxy_event event = {.kind = PROXY_COMMITTED,
                                .statement = item->statement,
                                .extended = item->kind == QUEUE_EXECUTE || item->kind == QUEUE_SYNC,
                                .function = item->kind == QUEUE_FUNCTION,
                                .how = item->how,
                                .skipped = skipped,
                                .transaction = transaction};
    fill_answer(session, &event);
    session->about.held_down = session_tell(session, &event) == PROXY_HOLD;
    return !session->about.held_down && !session->ended;
}

/* ---- answers ---- */

static void note_tag(struct session *session, const struct message *message)
{
    struct session_answer *answer = &session->answer;
    size_t length = strnlen(message->body, message->have);
    *answer = (struct session_answer){0};
    snprintf(answer->tag, sizeof answer->tag, "%.*s", (int)least(length, PROXY_TAG_SIZE - 1),
             message->body);
    const char *last = strrchr(answer->tag, ' ');
    answer->rows = last == NULL ? 0 : strtoull(last + 1, NULL, 10);
}

/* What a tag says about the connection itself. */
static void heed_tag(struct session *session)
{
    const char *tag = session->answer.tag;
    if (strcmp(tag, "LISTEN") == 0) {
        session->about.listens = true;
    } else if (strcmp(tag, "UNLISTEN") == 0 || strcmp(tag, "DISCARD ALL") == 0) {
        session->about.listens = false;
    }
    if (strncmp(tag, "DEALLOCATE", 10) == 0 || strncmp(tag, "DISCARD", 7) == 0) {
        names_doubt(&session->names);
    }
}

/* An Execute is answered, well or not. False: the answer is held. */
static bool answer_execute(struct session *session, bool suspended)
{
    struct queue_item *front = queue_front(&session->queue);
    if (session->down_stage++ == 0) {
        tell_answer(session, front, false, suspended);
        if (front->how != PROXY_COMMITS_NOT && !tell_committed(session, front, false, 'I')) {
            return false;
        }
    }
    queue_pop(&session->queue);
    return true;
}

static bool complete(struct session *session, const struct message *message)
{
    if (session->down_stage == 0) {
        if (message->frame.type == 'C') {
            note_tag(session, message);
            heed_tag(session);
        } else {
            session->answer = (struct session_answer){0};
        }
    }
    if (is_front(session, QUEUE_EXECUTE)) {
        return answer_execute(session, message->frame.type == 's');
    }
    if (is_front(session, QUEUE_QUERY)) {
        tell_answer(session, queue_front(&session->queue), false, false);
    } else {
        out_of_step(session);
    }
    return true;
}

static bool error(struct session *session, const struct message *message)
{
    struct queue_item *front = queue_front(&session->queue);
    if (session->down_stage == 0) {
        session->answer = (struct session_answer){0};
        frame_sqlstate(message->body, message->have, session->answer.sqlstate);
    }
    if (!session->connected || front == NULL) {
        struct proxy_event event = {.kind = PROXY_ERROR};
        fill_answer(session, &event);
        session_tell(session, &event);
    } else if (front->kind == QUEUE_EXECUTE) {
        return answer_execute(session, false);
    } else if (queue_ends_batch(front->kind)) {
        tell_answer(session, front, false, false);
    } /* else the Executes after it are told when they are skipped */
    return true;
}

/* ---- ReadyForQuery ---- */

/* What the server has ignored after an error goes, up to the item that this answers; NULL: none. */
static struct queue_item *skip_to_end(struct session *session)
{
    struct queue_item *front;
    while ((front = queue_front(&session->queue)) != NULL && !queue_ends_batch(front->kind)) {
        if (front->kind == QUEUE_EXECUTE) {
            tell_answer(session, front, true, false);
            if (front->how != PROXY_COMMITS_NOT) {
                tell_committed(session, front, true, 'E');
                session->about.held_down = false; /* nothing was committed */
            }
        }
        queue_pop(&session->queue);
    }
    return front;
}

static void be_ready(struct session *session, char transaction)
{
    session->about.transaction = transaction;
    session->answer = (struct session_answer){0};
    session->copy_in = false;
    bool all = queue_front(&session->queue) == NULL;
    if (all) {
        session->expected = transaction;
        session->sure = true;
        session->copying = false;
    }
    if (transaction == 'I' && all) {
        names_forget_portals(&session->names);
    }
    session_tell(session, &(struct proxy_event){.kind = PROXY_READY, .transaction = transaction});
}

static bool ready(struct session *session, const struct message *message)
{
    char transaction = message->have > 0 ? message->body[0] : 'I';
    if (!session->connected) {
        session->connected = true;
        session_tell(session, &(struct proxy_event){.kind = PROXY_CONNECTED});
        be_ready(session, transaction);
        return true;
    }
    struct queue_item *front = skip_to_end(session);
    if (front == NULL) {
        out_of_step(session);
    } else if (session->down_stage++ == 0 && front->how != PROXY_COMMITS_NOT &&
               !tell_committed(session, front, false, transaction)) {
        return false;
    }
    if (front != NULL) {
        queue_pop(&session->queue);
    }
    be_ready(session, transaction);
    return true;
}

/* ---- COPY, notifications, what the server says of itself ---- */

static void copy_begins(struct session *session, char type)
{
    char copy = type == 'G' ? 'i' : type == 'H' ? 'o' : 'b';
    if (type == 'G' && queue_front(&session->queue) != NULL) {
        session->copy_in = !queue_copy_begins(&session->queue);
    }
    session_tell(session, &(struct proxy_event){.kind = PROXY_COPY_BEGIN, .copy = copy});
}

static enum proxy_verdict notification(struct session *session, const struct message *message)
{
    size_t at = 4;
    const char *channel = frame_string(message->body, message->have, &at);
    const char *payload = channel == NULL ? NULL : frame_string(message->body, message->have, &at);
    if (payload == NULL || session->down_stage++ > 0) {
        return PROXY_PASS;
    }
    struct proxy_event event = {.kind = PROXY_NOTIFICATION,
                                .notifier = (pid_t)frame_number(message->body),
                                .channel = channel,
                                .payload = payload};
    enum proxy_verdict verdict = session_tell(session, &event);
    session->about.held_down = verdict == PROXY_HOLD;
    return session->ended ? PROXY_HOLD : verdict;
}

static void parameter(struct session *session, const struct message *message)
{
    size_t at = 0;
    const char *name = frame_string(message->body, message->have, &at);
    const char *value = name == NULL ? NULL : frame_string(message->body, message->have, &at);
    if (value != NULL && strcmp(name, "application_name") == 0) {
        snprintf(session->about.application, PROXY_NAME_SIZE, "%s", value);
    }
}

static void parse_complete(struct session *session)
{
    if (is_front(session, QUEUE_PARSE)) {
        names_confirm(&session->names, queue_front(&session->queue)->name);
    }
    pop_kind(session, QUEUE_PARSE);
}

/* ---- all ---- */

/* Answers that nothing can hold. */
static void note(struct session *session, const struct message *message)
{
    switch (message->frame.type) {
    case '1':
        parse_complete(session);
        break;
    case '2':
        pop_kind(session, QUEUE_BIND);
        break;
    case '3':
        pop_kind(session, QUEUE_CLOSE);
        break;
    case 'n':
        pop_kind(session, QUEUE_DESCRIBE);
        break;
    case 'T':
        if (is_front(session, QUEUE_DESCRIBE)) {
            queue_pop(&session->queue);
        }
        break;
    case 'G':
    case 'H':
    case 'W':
        copy_begins(session, message->frame.type);
        break;
    case 'c':
        session_tell(session, &(struct proxy_event){.kind = PROXY_COPY_END});
        break;
    case 'V':
        if (is_front(session, QUEUE_FUNCTION)) {
            tell_answer(session, queue_front(&session->queue), false, false);
        }
        break;
    case 'K':
        session->about.backend = message->have >= 4 ? (pid_t)frame_number(message->body) : 0;
        session->key_length = (unsigned)least(message->have, sizeof session->key);
        memcpy(session->key, message->body, session->key_length);
        break;
    case 'S':
        parameter(session, message);
        break;
    default: /* rows, data, notices, authentication */
        break;
    }
}

/* Steps over the message, as far as it is there. */
static void step(struct session *session, const struct message *message)
{
    struct buffer *down = &session->down;
    if (message->waits && down->parsed - down->ready > PROXY_AHEAD_MAX) {
        down->ready = down->parsed; /* rows need not wait; the end of the answer does */
    }
    size_t there = least(message->frame.length, down->end - down->parsed);
    down->parsed += there;
    session->down_left = (uint32_t)(message->frame.length - there);
    session->down_waits = message->waits;
    session->down_stage = 0;
    if (!message->waits || message->frame.type == 'Z') {
        down->ready = down->parsed;
    }
}

static void step_on(struct session *session)
{
    struct buffer *down = &session->down;
    size_t there = least(session->down_left, down->end - down->parsed);
    down->parsed += there;
    session->down_left -= (uint32_t)there;
    if (!session->down_waits || down->parsed - down->ready > PROXY_AHEAD_MAX) {
        down->ready = down->parsed;
    }
}

/* False: the message is held. */
static bool look(struct session *session, struct message *message)
{
    struct buffer *down = &session->down;
    switch (message->frame.type) {
    case 'C':
    case 'I':
    case 's':
        return complete(session, message) && !session->ended;
    case 'E':
        return error(session, message) && !session->ended;
    case 'Z':
        return ready(session, message) && !session->ended;
    case 'A':
        switch (notification(session, message)) {
        case PROXY_HOLD:
            return false;
        case PROXY_DROP:
            buffer_remove(down, down->parsed, down->parsed + message->frame.length);
            session->down_stage = 0;
            message->dropped = true;
            return true;
        case PROXY_PASS:
            break;
        }
        break;
    default:
        note(session, message);
        break;
    }
    return !session->ended;
}

size_t session_want_down(const struct session *session)
{
    const struct buffer *down = &session->down;
    struct frame frame;
    if (session->down_left > 0 || frame_read(FRAME_SERVER, down->bytes + down->parsed,
                                             down->end - down->parsed, &frame) != FRAME_FOUND) {
        return 1;
    }
    return head(frame);
}

static bool advance(struct session *session)
{
    struct buffer *down = &session->down;
    size_t available = down->end - down->parsed;
    const char *bytes = down->bytes + down->parsed;
    struct message message = {.body = bytes + FRAME_HEADER};
    if (available == 0 || session->about.held_down || session->ended) {
        return false;
    }
    if (session->down_left > 0) {
        step_on(session);
        return true;
    }
    switch (frame_read(FRAME_SERVER, bytes, available, &message.frame)) {
    case FRAME_SHORT:
        return false;
    case FRAME_MALFORMED:
        session_malformed(session, FRAME_SERVER, bytes, available);
        return false;
    case FRAME_FOUND:
        break;
    }
    if (available < head(message.frame)) {
        return false;
    }
    message.have = least(available, message.frame.length) - FRAME_HEADER;
    message.waits = session_watches(session) && queue_commits(&session->queue);
    if (!look(session, &message)) {
        return false;
    }
    if (!message.dropped) {
        step(session, &message);
    }
    return true;
}

void session_read_down(struct session *session)
{
    size_t held = session->about.held_down ? session->down.ready : 0;
    while (advance(session)) {
    }
    CHECK(held == 0 || !session->about.held_down || session->down.ready == held); /* WS1 */
}

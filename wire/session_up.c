/* What clients send. */
#include "model/check.h"
#include "wire/session.h"

#include <string.h>

#define BIND_HEAD (FRAME_HEADER + 4096) /* as much of Bind as its two names can need */

/* The message at up.parsed. */
struct message {
    struct frame frame;
    const char *bytes;
    size_t have; /* of its bytes, that are there */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* As many bytes of a message as must be there before it is looked at. */
static size_t head(struct frame frame)
{
    switch (frame.type) {
    case 'd':
    case 'F':
        return FRAME_HEADER;
    case 'B':
        return least(frame.length, BIND_HEAD);
    default:
        return least(frame.length, PROXY_WHOLE_MAX);
    }
}

/* All that waits may go. */
static void go(struct session *session)
{
    session->up.ready = session->up.parsed;
    session->waiting = 0;
    session->sent_any = true;
}

/* Steps over the message, as far as it is there. */
static void step(struct session *session, const struct message *message, bool waits)
{
    struct buffer *up = &session->up;
    size_t there = least(message->frame.length, up->end - up->parsed);
    up->parsed += there;
    session->up_left = (uint32_t)(message->frame.length - there);
    session->up_waits = waits;
    session->stage = 0;
    if (!waits || up->parsed - up->ready > PROXY_AHEAD_MAX) {
        go(session);
    }
}

/* More of a message that was stepped over. */
static void step_on(struct session *session)
{
    struct buffer *up = &session->up;
    size_t there = least(session->up_left, up->end - up->parsed);
    session->up_left -= (uint32_t)there;
    if (session->up_drops) {
        buffer_remove(up, up->parsed, up->parsed + there);
        session->up_drops = session->up_left > 0;
        return;
    }
    up->parsed += there;
    if (!session->up_waits || up->parsed - up->ready > PROXY_AHEAD_MAX) {
        go(session);
    }
}

static void push(struct session *session, struct queue_item item)
{
    queue_push(&session->queue, item);
    session->waiting++;
    session->sure = session->sure && !queue_ends_batch(item.kind);
}

/* False: it is held, or the connection has ended meanwhile. */
static bool passes(struct session *session, struct proxy_event *event)
{
    session->stage++;
    event->transaction = session->expected;
    session->about.held_up = session_tell(session, event) == PROXY_HOLD;
    return !session->about.held_up && !session->ended;
}

/* Whether the server may be outside of a transaction when it reads this, and inside of one. While a
 * batch is unanswered it may have failed, and a BEGIN or COMMIT in it may have been skipped. */
static bool may_be_idle(const struct session *session)
{
    return session->expected == 'I' || !session->sure;
}

static bool may_be_inside(const struct session *session)
{
    return session->expected == 'T' || !session->sure;
}

/* Where the server's transaction will be after this. If it fails, the rest of the batch is skipped. */
static void expect(struct session *session, const struct statement_facts *facts)
{
    bool recovers = facts->recovers && session->expected == 'E';
    session->sure |= facts->open || facts->closed;
    session->expected = facts->open || recovers ? 'T' : facts->closed ? 'I' : session->expected;
    session->copying |= facts->copies_in;
    session->copy_idle = facts->copies_in ? may_be_idle(session) : session->copy_idle;
}

/* ---- simple queries ---- */

static enum proxy_commits query_commits(const struct session *session,
                                        const struct statement_facts *facts)
{
    bool writes = facts->writes != STATEMENT_READS;
    bool recovers = session->expected == 'E' && facts->recovers;
    bool works = may_be_inside(session) || recovers || facts->renews ||
                 (may_be_idle(session) && (facts->begins || writes));
    if (facts->commits && works) {
        return PROXY_COMMITS_EXPLICIT;
    }
    if (facts->calls && may_be_idle(session) && !facts->begins) {
        return PROXY_COMMITS_INSIDE;
    }
    if (facts->open || facts->copies_in) {
        return PROXY_COMMITS_NOT;
    }
    bool implicit = facts->closed ? facts->tail : writes && may_be_idle(session);
    return implicit ? PROXY_COMMITS_IMPLICIT : PROXY_COMMITS_NOT;
}

/* Tells of a statement that is about to be sent, and that it may commit. False: it is held. */
static bool tell_statement(struct session *session, struct proxy_event *event)
{
    if (session->stage == 0) {
        session->about.statements++;
        session->host->count.statements++;
        event->kind = PROXY_STATEMENT;
        event->statement = session->about.statements;
        enum proxy_commits how = event->how;
        event->how = PROXY_COMMITS_NOT;
        if (!passes(session, event)) {
            return false;
        }
        event->how = how;
    }
    event->kind = PROXY_COMMIT;
    event->statement = session->about.statements;
    return session->stage > 1 || event->how == PROXY_COMMITS_NOT || passes(session, event);
}

static bool query(struct session *session, const struct message *message)
{
    struct proxy_event event = {0};
    if (session_watches(session)) {
        event.text = message->bytes + FRAME_HEADER;
        event.length = strnlen(event.text, message->have - FRAME_HEADER);
        event.cut = message->have < message->frame.length;
        event.facts = statement_look(event.text, event.length);
        event.how = event.cut ? PROXY_COMMITS_EXPLICIT : query_commits(session, &event.facts);
        if (!tell_statement(session, &event)) {
            return false;
        }
        expect(session, &event.facts);
    } else {
        session->about.statements++;
    }
    push(session, (struct queue_item){.kind = QUEUE_QUERY,
                                      .how = event.how,
                                      .statement = session->about.statements});
    return true;
}

static bool function_call(struct session *session)
{
    struct proxy_event event = {.function = true, .text = "", .facts = {.statements = 1}};
    if (session_watches(session)) {
        event.facts.writes = STATEMENT_MAY_WRITE;
        event.how = may_be_idle(session) ? PROXY_COMMITS_IMPLICIT : PROXY_COMMITS_NOT;
        if (!tell_statement(session, &event)) {
            return false;
        }
    } else {
        session->about.statements++;
    }
    push(session, (struct queue_item){.kind = QUEUE_FUNCTION,
                                      .how = event.how,
                                      .statement = session->about.statements});
    return true;
}

/* ---- the extended protocol ---- */

static void parse(struct session *session, const struct message *message)
{
    size_t at = FRAME_HEADER;
    const char *name = frame_string(message->bytes, message->have, &at);
    uint32_t hash = 0;
    if (name != NULL) {
        size_t length = strnlen(message->bytes + at, message->have - at);
        hash = names_parse(&session->names, name, message->bytes + at, length,
                           message->have < message->frame.length);
    }
    push(session, (struct queue_item){.kind = QUEUE_PARSE, .name = hash});
}

static void bind_portal(struct session *session, const struct message *message)
{
    size_t at = FRAME_HEADER;
    const char *portal = frame_string(message->bytes, message->have, &at);
    const char *statement =
        portal == NULL ? NULL : frame_string(message->bytes, message->have, &at);
    if (statement != NULL) {
        names_bind(&session->names, portal, statement);
    }
    push(session, (struct queue_item){.kind = QUEUE_BIND});
}

static void close_name(struct session *session, const struct message *message)
{
    size_t at = FRAME_HEADER + 1;
    const char *name = frame_string(message->bytes, message->have, &at);
    if (name != NULL) {
        bool portal = message->bytes[FRAME_HEADER] == 'P';
        names_forget(&session->names, portal ? NAMES_PORTAL : NAMES_STATEMENT, name);
    }
    push(session, (struct queue_item){.kind = QUEUE_CLOSE});
}

static enum proxy_commits execute_commits(const struct session *session,
                                          const struct statement_facts *facts)
{
    bool writes = facts->writes != STATEMENT_READS;
    if (facts->commits && (may_be_inside(session) || writes || session->wrote)) {
        return PROXY_COMMITS_EXPLICIT;
    }
    bool inside = facts->calls && may_be_idle(session);
    return inside ? PROXY_COMMITS_INSIDE : PROXY_COMMITS_NOT;
}

static void describe_text(struct names_text *text, struct proxy_event *event)
{
    *event = (struct proxy_event){.extended = true, .text = ""};
    if (text == NULL) { /* prepared by PREPARE, or more than is kept */
        event->cut = true;
        event->facts = (struct statement_facts){.statements = 1, .writes = STATEMENT_MAY_WRITE};
        return;
    }
    if (!text->looked) {
        text->facts = statement_look(text->bytes, text->length);
        text->looked = true;
    }
    event->text = text->bytes;
    event->length = text->length;
    event->cut = text->cut;
    event->facts = text->facts;
}

/* The Execute passes: what its Sync will commit. */
static void note_execute(struct session *session, const struct statement_facts *facts)
{
    if (facts->closed) {
        session->wrote = false;
    } else if (facts->writes != STATEMENT_READS && may_be_idle(session)) {
        session->wrote = true;
        session->writer = session->about.statements;
    }
    expect(session, facts);
}

static bool execute(struct session *session, const struct message *message)
{
    struct proxy_event event = {0};
    if (session_watches(session)) {
        size_t at = FRAME_HEADER;
        const char *portal = frame_string(message->bytes, message->have, &at);
        describe_text(portal == NULL ? NULL : names_find(&session->names, NAMES_PORTAL, portal),
                      &event);
        event.how = execute_commits(session, &event.facts);
        if (!tell_statement(session, &event)) {
            return false;
        }
        note_execute(session, &event.facts);
    } else {
        session->about.statements++;
    }
    session->executed = true;
    push(session, (struct queue_item){.kind = QUEUE_EXECUTE,
                                      .how = event.how,
                                      .statement = session->about.statements});
    return true;
}

static bool sync(struct session *session)
{
    if (session->copy_in) {
        return true; /* which the server ignores */
    }
    struct proxy_event event = {.kind = PROXY_COMMIT, .extended = true, .text = ""};
    event.statement = session->writer;
    if (session_watches(session) && session->wrote && may_be_idle(session) && !session->copying) {
        event.how = PROXY_COMMITS_IMPLICIT;
        event.facts = (struct statement_facts){.writes = STATEMENT_MAY_WRITE};
        if (session->stage == 0 && !passes(session, &event)) {
            return false;
        }
    }
    push(session,
         (struct queue_item){.kind = QUEUE_SYNC, .how = event.how, .statement = session->writer});
    session->executed = false;
    session->wrote = session->wrote && session->copying;
    return true;
}

/* ---- COPY ---- */

/* A COPY of the simple protocol commits with the end of its data. False: that is held. */
static bool copy_commits(struct session *session, char type)
{
    struct queue_item *front = queue_front(&session->queue);
    if (!session_watches(session) || type != 'c' || !session->copying || !session->copy_idle ||
        front == NULL || front->kind != QUEUE_QUERY || session->stage > 0) {
        return true;
    }
    struct proxy_event event = {.kind = PROXY_COMMIT,
                                .text = "",
                                .statement = front->statement,
                                .how = PROXY_COMMITS_IMPLICIT,
                                .facts = {.writes = STATEMENT_WRITES}};
    return passes(session, &event);
}

static void announce_copy(struct session *session, char type)
{
    struct queue_item *front = queue_front(&session->queue);
    if (session_watches(session) && type == 'c' && session->copying && session->copy_idle &&
        front != NULL && front->kind == QUEUE_QUERY) {
        queue_announce(&session->queue, PROXY_COMMITS_IMPLICIT);
    }
}

static bool copy_end(struct session *session, char type)
{
    if (!copy_commits(session, type)) {
        return false;
    }
    announce_copy(session, type);
    if (session->copy_in) {
        session_tell(session, &(struct proxy_event){.kind = PROXY_COPY_END});
    } else {
        push(session, (struct queue_item){.kind = QUEUE_COPY_END});
    }
    session->copying = session->copy_in = false;
    return true;
}

/* ---- all ---- */

/* False: the message is held. */
static bool look(struct session *session, const struct message *message, bool *waits)
{
    *waits = strchr("PBDC", message->frame.type) != NULL;
    switch (message->frame.type) {
    case 'Q':
        return query(session, message);
    case 'F':
        return function_call(session);
    case 'P':
        parse(session, message);
        return true;
    case 'B':
        bind_portal(session, message);
        return true;
    case 'C':
        close_name(session, message);
        return true;
    case 'D':
        push(session, (struct queue_item){.kind = QUEUE_DESCRIBE});
        return true;
    case 'E':
        return execute(session, message);
    case 'S':
        return sync(session);
    case 'c':
    case 'f':
        return copy_end(session, message->frame.type);
    default: /* Flush, data, passwords, Terminate */
        return true;
    }
}

/* The client has been told an error, and hears nothing more before its Sync. A Sync of which the
 * server has seen the beginning goes there; the answer is the server's. */
static void refuse_on(struct session *session, const struct message *message)
{
    struct buffer *up = &session->up;
    bool ends = message->frame.type == 'S';
    if (ends && session->sent_any) {
        push(session, (struct queue_item){.kind = QUEUE_SYNC});
        step(session, message, false);
    } else {
        buffer_remove(up, up->parsed, up->parsed + message->have);
        session->up_left = (uint32_t)(message->frame.length - message->have);
        session->up_drops = session->up_left > 0;
    }
    if (ends && !session->sent_any) {
        char ready[6];
        buffer_insert_ready(&session->down, ready, frame_make_ready(ready, 'I'));
    }
    session->refusing = session->refusing && !ends;
    session->sent_any = session->sent_any && !ends;
}

size_t session_want_up(const struct session *session)
{
    const struct buffer *up = &session->up;
    struct frame frame;
    if (session->up_left > 0 || frame_read(FRAME_CLIENT, up->bytes + up->parsed,
                                           up->end - up->parsed, &frame) != FRAME_FOUND) {
        return 1;
    }
    return session->refusing ? FRAME_HEADER : head(frame);
}

/* Looks at one message, or goes on with one. False: there is nothing to do now. */
static bool advance(struct session *session)
{
    struct buffer *up = &session->up;
    size_t available = up->end - up->parsed;
    struct message message = {.bytes = up->bytes + up->parsed};
    if (available == 0 || session->about.held_up || session->ended || queue_full(&session->queue)) {
        return false;
    }
    if (session->up_left > 0) {
        step_on(session);
        return true;
    }
    switch (frame_read(FRAME_CLIENT, message.bytes, available, &message.frame)) {
    case FRAME_SHORT:
        return false;
    case FRAME_MALFORMED:
        session_malformed(session, FRAME_CLIENT, message.bytes, available);
        return false;
    case FRAME_FOUND:
        break;
    }
    if (available < session_want_up(session)) {
        return false;
    }
    message.have = least(available, message.frame.length);
    bool waits;
    if (session->refusing) {
        refuse_on(session, &message);
        return true;
    }
    if (!look(session, &message, &waits)) {
        return false;
    }
    step(session, &message, waits);
    session->sent_any = session->sent_any && strchr("QFS", message.frame.type) == NULL;
    return true;
}

void session_read_up(struct session *session)
{
    size_t held = session->about.held_up ? session->up.ready : 0;
    while (advance(session)) {
    }
    CHECK(held == 0 || !session->about.held_up || session->up.ready == held); /* WS1 */
}

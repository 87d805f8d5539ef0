#include "model/key_text.h"

#include "model/check.h"

/* E-KEY-9: 8 while it is suspended; the digits after that once its flow has returned. */
static bool can_await(enum key_digit digit)
{
    return digit >= KEY_RELEASED && digit <= KEY_STARTED; /* KT2 */
}

/* ---- compose ------------------------------------------------------------------------------- */

struct writer {
    const struct key_flow *flows; /* what to write, sound but for (KT2) twice */
    int count;                    /* how many */
    int written;                  /* flows begun so far */
    char *out;                    /* where to */
    size_t size;                  /* room there */
    size_t length;                /* characters written, or that would have been */
};

static void put(struct writer *writer, char c)
{
    if (writer->length < writer->size) {
        writer->out[writer->length] = c;
    }
    writer->length++;
}

static void put_digit(struct writer *writer, enum key_digit digit)
{
    put(writer, (char)('0' + (int)digit));
}

/* The next flow of the array, if `flow` awaits it at `from` or later; else -1. All there is to
 * look at when flows stand in the order of their left parentheses. */
static int next_child_in_order(const struct writer *writer, int flow, int from)
{
    int next = writer->written;
    bool is_child = next < writer->count && writer->flows[next].parent == flow &&
                    writer->flows[next].position >= from;
    return is_child ? next : -1;
}

/* The same wherever it stands: the child at the lowest position. */
static int next_child_anywhere(const struct writer *writer, int flow, int from)
{
    int found = -1;
    int lowest = KEY_ACTIVITIES_MAX;
    for (int i = flow + 1; i < writer->count; i++) {
        const struct key_flow *child = &writer->flows[i];
        if (child->parent == flow && child->position >= from && child->position < lowest) {
            found = i;
            lowest = child->position;
        }
    }
    return found;
}

typedef int next_child(const struct writer *writer, int flow, int from);

/* False if flows are left over that `next` did not find. */
static bool write_flows(struct writer *writer, next_child *next)
{
    const struct key_flow *flows = writer->flows;
    int flow = 0;
    int position = 0;
    writer->length = 0;
    writer->written = 1;
    for (;;) {
        int child = next(writer, flow, position);
        int end = child >= 0 ? flows[child].position + 1 : key_activities(flows[flow].key);
        for (; position < end; position++) { /* E-KEY-9: zeros are dropped */
            put_digit(writer, key_get(flows[flow].key, position));
        }
        if (child >= 0) {
            put_digit(writer, KEY_LEFT);
            writer->written++;
            flow = child;
            position = 0;
        } else if (flow > 0) {
            put_digit(writer, KEY_RIGHT);
            position = flows[flow].position + 1;
            flow = flows[flow].parent;
        } else {
            put(writer, '\0');
            return writer->written == writer->count;
        }
    }
}

static enum key_text_outcome judge_flow(const struct key_flow *flows, int index)
{
    const struct key_flow *flow = &flows[index];
    if (!key_valid(flow->key)) {
        return KEY_TEXT_NOT_A_KEY;
    }
    if (index == 0) {
        return flow->parent == -1 ? KEY_TEXT_COMPOSED : KEY_TEXT_PARENT_LATER;
    }
    if (flow->parent < 0 || flow->parent >= index) {
        return KEY_TEXT_PARENT_LATER; /* KT1 */
    }
    enum key_digit awaiting = key_get(flows[flow->parent].key, flow->position);
    return can_await(awaiting) ? KEY_TEXT_COMPOSED : KEY_TEXT_CANNOT_AWAIT;
}

static enum key_text_outcome compose(struct writer *writer)
{
    if (writer->count < 1) {
        return KEY_TEXT_NO_FLOW;
    }
    for (int i = 0; i < writer->count; i++) {
        enum key_text_outcome outcome = judge_flow(writer->flows, i);
        if (outcome != KEY_TEXT_COMPOSED) {
            return outcome;
        }
    }
    /* A sound flow has one place, so it is left over only if another one stands there. */
    if (!write_flows(writer, next_child_in_order) && !write_flows(writer, next_child_anywhere)) {
        return KEY_TEXT_AWAITS_TWICE;
    }
    return writer->length <= writer->size ? KEY_TEXT_COMPOSED : KEY_TEXT_TOO_SMALL;
}

enum key_text_outcome key_text_compose(const struct key_flow *flows, int count, char *out,
                                       size_t size)
{
    struct writer writer = {.flows = flows, .count = count, .out = out, .size = size};
    enum key_text_outcome outcome = compose(&writer);
    if (outcome != KEY_TEXT_COMPOSED && size > 0) {
        out[0] = '\0';
    }
    return outcome;
}

/* ---- parse --------------------------------------------------------------------------------- */

/* What the parser has just read of the flow it is in. */
enum state { OPENING, WAS_STARTED, NEVER_STARTED, GROUP, ZEROS, STATE_COUNT };

enum token { ACTIVITY, ZERO, LEFT, RIGHT, END, OTHER, TOKEN_COUNT };

struct refusal {
    const char *wrong; /* NULL: this is allowed */
    const char *right;
};

/* One open flow at a time: what is needed of those around it stands in their children's records,
 * so that the caller's array is the stack. */
struct parser {
    struct key_flow *flows; /* the caller's array */
    int capacity;           /* its length */
    int count;              /* flows opened so far */
    int flow;               /* the one being read */
    int digits;             /* its activities and zeros so far */
    enum state state;       /* its last part */
};

#define GROUP_RULE "a group, 1 to 2, follows the digit of the activity that awaits it"
#define FLOW_RULE  "a flow is 1 to 15 activities, 9 to 3, then zeros if any"

/* KEY-6: what cannot follow what, whatever the depth. */
static const struct refusal refusals[STATE_COUNT][TOKEN_COUNT] = {
    [OPENING] = {[ZERO] = {"a 0 before any activity", FLOW_RULE},
                 [LEFT] = {"a left parenthesis (1) before any activity", GROUP_RULE},
                 [RIGHT] = {"an empty group", FLOW_RULE},
                 [END] = {"nothing", FLOW_RULE}},
    [NEVER_STARTED] = {[LEFT] = {"a group after a pending or skipped activity",
                                 "only an activity that was started, 8 to 4, awaits a flow"}},
    [GROUP] = {[LEFT] = {"a second group", "an activity awaits one flow at most"}},
    [ZEROS] = {[LEFT] = {"a left parenthesis (1) after a 0", GROUP_RULE},
               [ACTIVITY] = {"an activity after a 0", "zeros stand only at the end of a flow"}},
};

static const struct refusal not_a_digit = {"a character that is not a digit",
                                           "a composed state is written in digits only"};
static const struct refusal no_left = {"a right parenthesis (2) without its left one (1)",
                                       "every 2 closes the nearest open 1"};
static const struct refusal no_right = {"the end of the text inside a group",
                                        "every left parenthesis (1) is closed by a 2"};
static const struct refusal too_long = {"a 16th digit in one flow", FLOW_RULE};
static const struct refusal too_many = {"a group for which there is no room",
                                        "the text holds no more flows than the reader can take"};

static enum token read_token(const char *text, size_t length, size_t at)
{
    if (at == length) {
        return END;
    }
    switch (text[at]) {
    case '0':
        return ZERO;
    case '1':
        return LEFT;
    case '2':
        return RIGHT;
    default:
        return text[at] >= '3' && text[at] <= '9' ? ACTIVITY : OTHER;
    }
}

static const struct refusal *refuse(const struct parser *parser, enum token token)
{
    bool nested = parser->flow > 0;
    if (token == OTHER) {
        return &not_a_digit;
    }
    if (token == RIGHT && !nested) {
        return &no_left;
    }
    if (token == END && nested) {
        return &no_right;
    }
    const struct refusal *refusal = &refusals[parser->state][token];
    if (refusal->wrong != NULL) {
        return refusal;
    }
    if ((token == ACTIVITY || token == ZERO) && parser->digits == KEY_ACTIVITIES_MAX) {
        return &too_long;
    }
    return token == LEFT && parser->count == parser->capacity ? &too_many : NULL;
}

static void open_flow(struct parser *parser, int parent, int position)
{
    parser->flow = parser->count++;
    parser->flows[parser->flow] = (struct key_flow){.parent = parent, .position = position};
    parser->digits = 0;
    parser->state = OPENING;
}

static void close_flow(struct parser *parser)
{
    const struct key_flow *closed = &parser->flows[parser->flow];
    parser->flow = closed->parent;
    parser->digits = closed->position + 1;
    parser->state = GROUP;
}

static void add_activity(struct parser *parser, enum key_digit digit)
{
    parser->flows[parser->flow].key += (int64_t)digit * key_weight(parser->digits);
    parser->digits++;
    parser->state = can_await(digit) ? WAS_STARTED : NEVER_STARTED;
}

static void take(struct parser *parser, enum token token, char c)
{
    if (token == ACTIVITY) {
        add_activity(parser, (enum key_digit)(c - '0'));
    } else if (token == ZERO) {
        parser->digits++;
        parser->state = ZEROS;
    } else if (token == LEFT) {
        open_flow(parser, parser->flow, parser->digits - 1);
    } else {
        close_flow(parser);
    }
}

void key_text_check(const struct key_flow *flows, int count)
{
    CHECK(flows[0].parent == -1 && key_valid(flows[0].key)); /* KT1 */
    for (int i = 1; i < count; i++) {
        const struct key_flow *flow = &flows[i];
        CHECK(flow->parent >= 0 && flow->parent < i && key_valid(flow->key)); /* KT1 */
        CHECK(can_await(key_get(flows[flow->parent].key, flow->position)));   /* KT2 */
        /* in the order of the text a flow's elder sibling stands to its left */
        for (int j = i - 1; j > flow->parent; j--) {
            CHECK(flows[j].parent != flow->parent || flows[j].position < flow->position); /* KT2 */
        }
    }
}

bool key_text_parse(const char *text, size_t length, struct key_flow *flows, int capacity,
                    int *count, struct text_error *error)
{
    CHECK(capacity >= 1);
    struct parser parser = {.flows = flows, .capacity = capacity};
    open_flow(&parser, -1, 0);
    for (size_t at = 0;; at++) {
        enum token token = read_token(text, length, at);
        const struct refusal *refusal = refuse(&parser, token);
        if (refusal != NULL) {
            *error = (struct text_error){refusal->wrong, refusal->right, at};
            return false;
        }
        if (token == END) {
            *count = parser.count;
            CHECK_ALL(key_text_check(flows, *count));
            return true;
        }
        take(&parser, token, text[at]);
    }
}

#include "scenarios/plan_text.h"

#include "model/check.h"

#include <stdio.h>
#include <string.h>

struct plan_reading {
    struct fault_plan *plan;
    bool kind_given[FAULT_KIND_COUNT];
    bool group_given[FAULT_GROUP_COUNT];
};

void plan_text_begin(struct fault_plan *plan)
{
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        plan->rate[kind] = (struct fault_rate){.times = 0, .of = 1};
    }
    for (int group = 0; group < FAULT_GROUP_COUNT; group++) {
        plan->budget[group] = fault_group_get((enum fault_group)group)->limit_usual;
    }
}

static bool fail_again(struct reader *reader, const struct reader_text *key)
{
    return reader_fail(reader, key->line, "the key %s again; a key stands once", key->text);
}

/* ---- rates --------------------------------------------------------------------------------- */

/* Up to seven digits with no zero in front; *text moves past them. */
static bool parse_part(const char **text, uint32_t *part)
{
    size_t count = strspn(*text, "0123456789");
    if (count == 0 || count > 7 || ((*text)[0] == '0' && count > 1)) {
        return false;
    }
    *part = 0;
    for (size_t i = 0; i < count; i++) {
        *part = *part * 10 + (uint32_t)((*text)[i] - '0');
    }
    *text += count;
    return *part <= PLAN_RATE_MAX;
}

static bool parse_rate(const struct reader_text *text, struct fault_rate *rate)
{
    const char *at = text->text;
    if (!text->plain || !parse_part(&at, &rate->times) || *at++ != '/') {
        return false;
    }
    return parse_part(&at, &rate->of) && *at == '\0' && rate->of > 0 && rate->times <= rate->of;
}

static bool read_rate(struct reader *reader, struct fault_rate *rate)
{
    static const char right[] = "it is a ratio from 0/1 to 1/1, such as 1/20";
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    return parse_rate(&text, rate) ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

/* ---- faults -------------------------------------------------------------------------------- */

static bool fail_unknown(struct reader *reader, const struct reader_text *key, const char *what,
                         const char *const known[FAULT_GROUP_COUNT], const char *more)
{
    char list[160] = "", quoted[READER_QUOTED_SIZE];
    for (size_t group = FAULT_GROUP_NONE + 1, at = 0; group < FAULT_GROUP_COUNT; group++) {
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at == 0 ? "" : ", ",
                               known[group]);
        CHECK(at < sizeof list);
    }
    return reader_fail(reader, key->line, "unknown %s %s; known: %s%s", what,
                       reader_quote(key, quoted), list, more);
}

static bool fail_unknown_fault(struct reader *reader, const struct reader_text *key)
{
    const char *known[FAULT_GROUP_COUNT];
    for (int group = 0; group < FAULT_GROUP_COUNT; group++) {
        known[group] = fault_group_get((enum fault_group)group)->name;
    }
    return fail_unknown(reader, key, "fault", known,
                        ", or one kind of them, such as crash-before-ack");
}

static bool read_group(struct reader *reader, const struct reader_text *key, enum fault_group group,
                       struct plan_reading *reading)
{
    struct fault_rate rate;
    if (reading->group_given[group]) {
        return fail_again(reader, key);
    }
    reading->group_given[group] = true;
    reader_enter(reader, key->text);
    if (!read_rate(reader, &rate)) {
        return false;
    }
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        bool member = fault_get((enum fault_kind)kind)->group == group;
        if (member && !reading->kind_given[kind]) {
            reading->plan->rate[kind] = rate;
        }
    }
    return true;
}

static bool read_kind(struct reader *reader, const struct reader_text *key, enum fault_kind kind,
                      struct plan_reading *reading)
{
    if (reading->kind_given[kind]) {
        return fail_again(reader, key);
    }
    reading->kind_given[kind] = true;
    reader_enter(reader, key->text);
    return read_rate(reader, &reading->plan->rate[kind]);
}

static bool read_fault(struct reader *reader, const struct reader_text *key, void *context)
{
    enum fault_group group = FAULT_GROUP_NONE;
    enum fault_kind kind = FAULT_NONE;
    if (fault_group_find(key->text, key->length, &group)) {
        return read_group(reader, key, group, context);
    }
    if (fault_find(key->text, key->length, &kind)) {
        return read_kind(reader, key, kind, context);
    }
    return fail_unknown_fault(reader, key);
}

bool plan_text_faults(struct reader *reader, struct fault_plan *plan)
{
    struct plan_reading reading = {.plan = plan};
    return reader_map(reader, "it is a map such as {crash: 1/20}", read_fault, &reading);
}

/* ---- limits -------------------------------------------------------------------------------- */

static bool fail_unknown_limit(struct reader *reader, const struct reader_text *key)
{
    const char *known[FAULT_GROUP_COUNT];
    for (int group = 0; group < FAULT_GROUP_COUNT; group++) {
        known[group] = fault_group_get((enum fault_group)group)->limit;
    }
    return fail_unknown(reader, key, "limit", known, "");
}

static bool read_limit(struct reader *reader, const struct reader_text *key, void *context)
{
    struct plan_reading *reading = context;
    enum fault_group group = FAULT_GROUP_NONE;
    int64_t limit = 0;
    if (!fault_group_find_limit(key->text, key->length, &group)) {
        return fail_unknown_limit(reader, key);
    }
    if (reading->group_given[group]) {
        return fail_again(reader, key);
    }
    reading->group_given[group] = true;
    reader_enter(reader, key->text);
    if (!reader_number(reader, 0, PLAN_LIMIT_MAX, &limit)) {
        return false;
    }
    reading->plan->budget[group] = (uint32_t)limit;
    return true;
}

bool plan_text_limits(struct reader *reader, struct fault_plan *plan)
{
    struct plan_reading reading = {.plan = plan};
    return reader_map(reader, "it is a map such as {crashes: 3}", read_limit, &reading);
}

#include "reports/verdict.h"

#include "model/check.h"
#include "reports/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES_TOLD_MAX 4 /* of one kind, in the words */

/* What a kind is called, its usual status, and how one and several of it are told. */
static const struct {
    const char *name;
    int status;
    const char *one, *several; /* several: after the number */
} kinds[VERDICT_KINDS] = {
    [VERDICT_BUG] = {"bug in Assay", 70, "a bug in Assay, so that nothing can be said",
                     "runs met a bug in Assay"},
    [VERDICT_DRIFT] = {"not deterministic", 3,
                       "a run was not deterministic, so that nothing can be said",
                       "runs were not deterministic, so that nothing can be said"},
    [VERDICT_BROKEN] = {"broken", 1, "a promise was broken", "promises were broken"},
    [VERDICT_REGRESSION] = {"regression", 1, "an earlier finding came back",
                            "earlier findings came back"},
    [VERDICT_SUITE] = {"failed suite", 1, "a suite failed", "suites failed"},
    [VERDICT_DIFFERENCE] = {"difference", 1, "PostgreSQL does otherwise",
                            "scripts go otherwise on PostgreSQL"},
    [VERDICT_CAUGHT] = {"planted and caught", 1, "a planted bug was caught",
                        "breaches by planted bugs were caught"},
    [VERDICT_NO_FINDING] = {"no finding", 1, "a finding was expected, and none was made",
                            "sessions expected a finding and made none"},
    [VERDICT_UNTOLD] = {"untold", 1, "a promise was broken, and no line says which",
                        "sessions broke a promise, and no line says which"},
    [VERDICT_UNAVAILABLE] = {"unavailable", 69, "something that was needed was not available",
                             "sessions lacked something that they needed"},
    [VERDICT_USAGE] = {"asked wrongly", 64, "a run was asked for wrongly",
                       "runs were asked for wrongly"},
    [VERDICT_NO_PROGRESS] = {"no progress", 2, "no progress, and no promise says so",
                             "times no progress, and no promise says so"},
    [VERDICT_SURVIVED] = {"planted and survived", 4, "a planted bug survived",
                          "planted bugs survived"},
    [VERDICT_MISSING_SHARD] = {"missing shard", 4, "a shard is missing", "shards are missing"},
    [VERDICT_FOREIGN] = {"foreign", 4, "results do not belong together",
                         "results do not belong together"},
    [VERDICT_INTERRUPTED] = {"interrupted", 4, "a run was interrupted", "runs were interrupted"},
    [VERDICT_GATE] = {"gate", 4, "a gate was not met", "gates were not met"},
    [VERDICT_BOUNDED] = {"bounded", 4, "a bound was reached", "bounds were reached"},
    [VERDICT_NEVER_RAN] = {"never run", 4, "nothing ran", "sessions ended well and show no run"},
    [VERDICT_INCOMPLETE] = {"incomplete", 4, "incomplete", "sessions are incomplete"},
    [VERDICT_EXPECTED] = {"expected", 0, "a promise was broken, as its scenario expects",
                          "promises were broken, as their scenarios expect"},
    [VERDICT_DOUBLED] = {"doubled shard", 0, "a shard is there twice and counts once",
                         "shards are there twice and count once"},
    [VERDICT_KNOWN] = {"known", 0, "a known finding", "known findings"},
};

void verdict_begin(struct verdict *verdict)
{
    verdict->reasons = json_array();
    verdict->index = json_object();
}

void verdict_free(struct verdict *verdict)
{
    json_decref(verdict->index);
    json_decref(verdict->reasons);
}

const char *verdict_kind_name(enum verdict_kind kind)
{
    CHECK(kind < VERDICT_KINDS);
    return kinds[kind].name;
}

enum verdict_kind verdict_of_status(int status)
{
    static const enum verdict_kind untold[] = {
        VERDICT_BUG,   VERDICT_DRIFT,       VERDICT_UNTOLD,    VERDICT_UNAVAILABLE,
        VERDICT_USAGE, VERDICT_NO_PROGRESS, VERDICT_INCOMPLETE};
    for (size_t i = 0; i < COUNT(untold); i++) {
        if (kinds[untold[i]].status == status) {
            return untold[i];
        }
    }
    return VERDICT_INCOMPLETE;
}

/* ---- reasons --------------------------------------------------------------------------------- */

static const char *text_of(const json_t *reason, const char *key)
{
    const char *text = json_string_value(json_object_get(reason, key));
    return text == NULL ? "" : text;
}

static int status_of(const json_t *reason)
{
    return (int)json_integer_value(json_object_get(reason, "status"));
}

static uint64_t count_of(const json_t *reason)
{
    return (uint64_t)json_integer_value(json_object_get(reason, "count"));
}

static enum verdict_kind kind_of(const json_t *reason)
{
    int kind = 0;
    while (kind < VERDICT_KINDS && strcmp(kinds[kind].name, text_of(reason, "kind")) != 0) {
        kind++;
    }
    CHECK(kind < VERDICT_KINDS);
    return (enum verdict_kind)kind;
}

/* Takes the reference. One that is there already, but for its count, is counted on. */
static void put(struct verdict *verdict, json_t *reason)
{
    char key[600];
    snprintf(key, sizeof key, "%.60s\n%d\n%d\n%.500s", text_of(reason, "kind"), status_of(reason),
             json_is_true(json_object_get(reason, "expected")), text_of(reason, "name"));
    json_t *same = json_object_get(verdict->index, key);
    if (same == NULL) {
        json_object_set(verdict->index, key, reason);
        json_array_append_new(verdict->reasons, reason);
        return;
    }
    json_object_set_new(same, "count",
                        json_integer((json_int_t)(count_of(same) + count_of(reason))));
    json_decref(reason);
}

void verdict_add_as(struct verdict *verdict, enum verdict_kind kind, int status, const char *name,
                    uint64_t count)
{
    CHECK(kind != VERDICT_BROKEN || name[0] != '\0'); /* VE3 */
    put(verdict, json_pack("{s:s, s:i, s:s, s:I, s:b}", "kind", kinds[kind].name, "status", status,
                           "name", name, "count", (json_int_t)count, "expected", 0));
}

void verdict_add(struct verdict *verdict, enum verdict_kind kind, const char *name, uint64_t count)
{
    verdict_add_as(verdict, kind, kinds[kind].status, name, count);
}

int verdict_status(const struct verdict *verdict)
{
    int worst = 0;
    size_t i;
    json_t *reason;
    json_array_foreach(verdict->reasons, i, reason)
    {
        int status = status_of(reason);
        worst = line_status_rank(status) > line_status_rank(worst) ? status : worst;
    }
    return worst;
}

uint64_t verdict_count(const struct verdict *verdict, enum verdict_kind kind)
{
    uint64_t count = 0;
    size_t i;
    json_t *reason;
    json_array_foreach(verdict->reasons, i, reason)
    {
        count += kind_of(reason) == kind ? count_of(reason) : 0;
    }
    return count;
}

void verdict_change(struct verdict *verdict, enum verdict_kind kind, int status, bool met)
{
    size_t i;
    json_t *reason;
    json_array_foreach(verdict->reasons, i, reason)
    {
        if (kind_of(reason) == kind) {
            json_object_set_new(reason, "status", json_integer(status));
            json_object_set_new(reason, "expected", json_boolean(met));
        }
    }
}

void verdict_take(struct verdict *all, const struct verdict *session)
{
    size_t i;
    json_t *reason;
    json_array_foreach(session->reasons, i, reason)
    {
        put(all, json_copy(reason));
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Text that grows in a buffer; what has no room is left out, and the end says so. */
struct words {
    char *text;
    size_t size, used;
};

static void say(struct words *words, const char *text)
{
    size_t length = strlen(text);
    if (words->used + length + 4 >= words->size) {
        if (words->size > words->used + 4 && strstr(words->text, "...") == NULL) {
            memcpy(words->text + words->used, "...", 4);
        }
        words->used = words->size;
        return;
    }
    memcpy(words->text + words->used, text, length + 1);
    words->used += length;
}

static void say_number(struct words *words, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    say(words, text);
}

/* Reasons that are told together: of one kind, with one status. */
struct group {
    enum verdict_kind kind;
    int status;
    bool expected;
};

static bool is_in(const json_t *reason, struct group group)
{
    return kind_of(reason) == group.kind && status_of(reason) == group.status &&
           json_is_true(json_object_get(reason, "expected")) == group.expected;
}

/* How many the group has: its names, or, of what has none, how often. */
static uint64_t size_of(const struct verdict *verdict, struct group group)
{
    uint64_t size = 0;
    size_t i;
    json_t *reason;
    json_array_foreach(verdict->reasons, i, reason)
    {
        bool named = text_of(reason, "name")[0] != '\0' && group.kind != VERDICT_KNOWN;
        size += !is_in(reason, group) ? 0 : named ? 1 : count_of(reason);
    }
    return size;
}

static void say_names(struct words *words, const struct verdict *verdict, struct group group)
{
    uint64_t told = 0, left = 0;
    size_t i;
    json_t *reason;
    json_array_foreach(verdict->reasons, i, reason)
    {
        const char *name = text_of(reason, "name");
        if (!is_in(reason, group) || name[0] == '\0') {
            continue;
        }
        if (told == NAMES_TOLD_MAX) {
            left++;
            continue;
        }
        say(words, told == 0 ? ": " : ", ");
        say(words, name);
        told++;
    }
    if (left > 0) {
        say(words, " and ");
        say_number(words, left);
        say(words, " more");
    }
}

static void say_group(struct words *words, const struct verdict *verdict, struct group group)
{
    uint64_t size = size_of(verdict, group);
    if (size == 0) {
        return;
    }
    say(words, words->used == 0 ? "" : "; ");
    if (size > 1) {
        say_number(words, size);
        say(words, " ");
    }
    say(words, size == 1 ? kinds[group.kind].one : kinds[group.kind].several);
    say_names(words, verdict, group);
    say(words, group.expected ? " (--expect-finding)" : "");
}

/* Statuses from the one that says most, without 0. */
static void say_reasons(struct words *words, const struct verdict *verdict, int rank)
{
    for (int kind = 0; kind < VERDICT_KINDS; kind++) {
        for (int expected = 0; expected < 2; expected++) {
            say_group(words, verdict,
                      (struct group){.kind = (enum verdict_kind)kind,
                                     .status = line_status_at(rank),
                                     .expected = expected == 1});
        }
    }
}

static void say_held(struct words *words, uint64_t covered, uint64_t of)
{
    say(words, "every promise held");
    if (covered > 0) {
        say(words, " that was put to the test, ");
        say_number(words, covered);
        say(words, " of ");
        say_number(words, of);
    }
}

void verdict_words(const struct verdict *verdict, uint64_t covered, uint64_t of,
                   char text[VERDICT_WORDS_SIZE])
{
    struct words words = {.text = text, .size = VERDICT_WORDS_SIZE};
    text[0] = '\0';
    bool caught =
        verdict_count(verdict, VERDICT_CAUGHT) + verdict_count(verdict, VERDICT_BROKEN) > 0;
    if (verdict_status(verdict) == 0 && !caught) {
        say_held(&words, covered, of);
    }
    for (int rank = line_status_rank(70); rank >= 0; rank--) {
        say_reasons(&words, verdict, rank);
    }
}

void verdict_reason_words(const json_t *reason, char *text, size_t size)
{
    const char *name = text_of(reason, "name");
    uint64_t count = count_of(reason);
    enum verdict_kind kind = kind_of(reason);
    char times[40] = "";
    if (count > 1 && name[0] != '\0') {
        snprintf(times, sizeof times, " (%" PRIu64 " times)", count);
    }
    if (count > 1 && name[0] == '\0') {
        snprintf(text, size, "%" PRIu64 " %s", count, kinds[kind].several);
    } else {
        snprintf(text, size, "%s%s%s%s%s", kinds[kind].one, name[0] == '\0' ? "" : ": ", name,
                 times,
                 json_is_true(json_object_get(reason, "expected")) ? " (--expect-finding)" : "");
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *reasons_json(const struct verdict *verdict)
{
    json_t *list = json_array();
    char text[600];
    size_t i;
    json_t *reason;
    json_array_foreach(verdict->reasons, i, reason)
    {
        json_t *copy = json_copy(reason);
        verdict_reason_words(reason, text, sizeof text);
        json_object_set_new(copy, "text", json_string(text));
        json_array_append_new(list, copy);
    }
    return list;
}

json_t *verdict_json(const struct verdict *verdict, uint64_t covered, uint64_t of)
{
    char words[VERDICT_WORDS_SIZE];
    int status = verdict_status(verdict);
    verdict_words(verdict, covered, of, words);
    return json_pack("{s:i, s:s, s:s, s:o, s:{s:I, s:I}}", "status", status, "outcome",
                     line_status_words(line_status_rank(status)), "words", words, "reasons",
                     reasons_json(verdict), "covered", "promises", (json_int_t)covered, "of",
                     (json_int_t)of);
}

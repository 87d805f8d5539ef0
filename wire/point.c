#include "wire/point.h"

#include "model/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDINAL_MAX 1000000

const struct point_fault point_faults[] = {
    {"kill-after", POINT_KILL, true, NULL, "is killed after the commit"},
    {"cut-after", POINT_CUT, true, NULL, "loses its connection after the commit: no answer"},
    {"kill-before", POINT_KILL, false, NULL, "is killed before the commit"},
    {"cut-before", POINT_CUT, false, NULL, "loses its connection before the commit"},
    {"cut-all-after", POINT_CUT_ALL, true, NULL, "loses all its connections after the commit"},
    {"late", POINT_LATE, false, NULL, "is killed, and the commit happens after a successor acted"},
    {"half-open", POINT_HALF_OPEN, false, NULL, "is killed, and its transaction stays open"},
    {"pause-after", POINT_PAUSE, true, NULL, "stands still after the commit, then goes on"},
    {"pause-before", POINT_PAUSE, false, NULL, "stands still before the commit, then goes on"},
    {"cut-all-before", POINT_CUT_ALL, false, NULL, "loses all its connections before the commit"},
    {"cut-listener-after", POINT_CUT_LISTENER, true, NULL,
     "loses the connection that listens, after the commit"},
    {"cut-idle-after", POINT_CUT_IDLE, true, NULL, "loses its idle connections, after the commit"},
    {"40001", POINT_RAISE, false, "40001", "is told: could not serialize (40001)"},
    {"40P01", POINT_RAISE, false, "40P01", "is told: deadlock (40P01)"},
    {"57P01", POINT_END, false, NULL, "is told: the server ends the connection (57P01)"},
    {"57014", POINT_RAISE, false, "57014", "is told: statement cancelled (57014)"},
    {"55P03", POINT_RAISE, false, "55P03", "is told: lock not available (55P03)"},
    {"53300", POINT_RAISE, false, "53300", "is told: too many connections (53300)"},
    {"25006", POINT_RAISE, false, "25006", "is told: read-only transaction (25006)"},
    {"57P03", POINT_RAISE, false, "57P03", "is told: cannot connect now (57P03)"},
    {"restart-after", POINT_RESTART, true, NULL, "sees the server crash after the commit"},
    {"restart-before", POINT_RESTART, false, NULL, "sees the server crash before the commit"},
};
const size_t point_fault_count = COUNT(point_faults);

const struct point_fault point_control_before = {"held-before", POINT_NOTHING, false, NULL,
                                                 "is held before the commit, and goes on"};
const struct point_fault point_control_after = {"held-after", POINT_NOTHING, true, NULL,
                                                "is held after the commit, and goes on"};

const struct point_fault *point_fault_find(const char *name)
{
    for (size_t i = 0; i < point_fault_count; i++) {
        if (strcmp(point_faults[i].name, name) == 0) {
            return &point_faults[i];
        }
    }
    return NULL;
}

/* "kill" stands for kill-before and kill-after, and "cut" for all that begin with cut-. */
static bool word_is(const char *word, size_t length, const char *name)
{
    return strncmp(word, name, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

bool point_fault_is_of(const struct point_fault *fault, const char *list)
{
    for (const char *word = list; *word != '\0'; word += *word == ',') {
        size_t length = strcspn(word, ",");
        if (length > 0 && word_is(word, length, fault->name)) {
            return true;
        }
        word += length;
    }
    return false;
}

bool point_list_is_sound(const char *list, char *word, size_t size)
{
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t length = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < point_fault_count; i++) {
            found = found || (length > 0 && word_is(at, length, point_faults[i].name));
        }
        if (!found) {
            (void)snprintf(word, size, "%.*s", (int)length, at);
            return false;
        }
        at += length;
    }
    return true;
}

static bool is_worker(char letter)
{
    return (letter >= 'a' && letter <= 'h') || (letter >= 'x' && letter <= 'z');
}

static bool parse_one(const char **at, struct point *point)
{
    char name[POINT_TEXT_SIZE];
    char *end;
    point->worker = **at;
    if (!is_worker(point->worker) || (*at)[1] != ':') {
        return false;
    }
    uintmax_t ordinal = strtoumax(*at + 2, &end, 10);
    if (end == *at + 2 || *end != ':' || ordinal == 0 || ordinal > ORDINAL_MAX) {
        return false;
    }
    size_t length = strcspn(end + 1, ",");
    if (length >= sizeof name) {
        return false;
    }
    memcpy(name, end + 1, length);
    name[length] = '\0';
    *at = end + 1 + length;
    point->ordinal = (unsigned)ordinal;
    point->fault = point_fault_find(name);
    return point->fault != NULL;
}

bool point_parse(const char *text, struct point *points, size_t *count)
{
    *count = 0;
    while (*count < POINT_DEPTH_MAX && parse_one(&text, &points[*count])) {
        ++*count;
        if (*text == '\0') {
            return true;
        }
        text++;
    }
    return false;
}

void point_write(const struct point *points, size_t count, char text[2 * POINT_TEXT_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, (size_t)2 * POINT_TEXT_SIZE - used, "%s%c:%u:%s",
                                 i == 0 ? "" : ",", points[i].worker, points[i].ordinal,
                                 points[i].fault->name);
    }
}

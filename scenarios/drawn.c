/* Generates texts, one line a key, which the loader reads like any other. A text that it refuses is
 * drawn again; the only reason is a cycle that leads past another one's head. */
#include "scenarios/drawn.h"

#include "model/check.h"
#include "scenarios/pcg.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE   4096
#define DRAWS_MAX   1000 /* draws of one scenario, until the loader accepts it */
#define NODES_MAX   9
#define PENDING_MAX 3
#define PLACES_MAX  9 /* activities of a flow */

struct drawing {
    struct pcg pcg;
    struct pcg later; /* for groups that were added later: other draws stay the same */
    char text[TEXT_SIZE];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void say(struct drawing *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(d->text + d->size, TEXT_SIZE - d->size, format, arguments);
    va_end(arguments);
    CHECK(more >= 0 && d->size + (size_t)more < TEXT_SIZE);
    d->size += (size_t)more;
}

/* from, from + 1, ... to */
static uint32_t between(struct drawing *d, uint32_t from, uint32_t to)
{
    return from + pcg_below(&d->pcg, to - from + 1);
}

static bool one_in(struct drawing *d, uint32_t cases)
{
    return pcg_chance(&d->pcg, 1, cases);
}

/* ---- faults ---------------------------------------------------------------------------------- */

#define GROUP(id) (UINT32_C(1) << FAULT_GROUP_##id)
#define QUEUE                                                                                      \
    (GROUP(CRASH) | GROUP(UNKNOWN) | GROUP(ABORT) | GROUP(DUPLICATE) | GROUP(PAUSE) |              \
     GROUP(DELAY) | GROUP(SERVER) | GROUP(CLOCK))

static const uint32_t rates[] = {8, 15, 25, 40, 80};

/* Half of the groups that were added later. */
static uint32_t say_later(struct drawing *d, uint32_t groups)
{
    for (int g = FAULT_GROUP_ILLEGAL + 1; g < FAULT_GROUP_COUNT; g++) {
        uint32_t rate = rates[pcg_below(&d->later, 5)];
        if (!pcg_chance(&d->later, 1, 2)) {
            groups &= ~(UINT32_C(1) << g);
        } else if ((groups >> g & 1) != 0) {
            say(d, "%s: 1/%" PRIu32 ", ", fault_group_get((enum fault_group)g)->name, rate);
        }
    }
    return groups;
}

/* Some of the groups, with rates and limits of their own, and of those that were added later;
 * `besides` is copied. */
static void say_faults(struct drawing *d, uint32_t groups, uint32_t later, const char *besides)
{
    say(d, "faults: {");
    for (int g = 0; g < FAULT_GROUP_COUNT; g++) {
        if ((groups >> g & 1) == 0) {
            continue;
        }
        if (one_in(d, 4)) {
            groups &= ~(UINT32_C(1) << g);
        } else {
            say(d, "%s: 1/%" PRIu32 ", ", fault_group_get((enum fault_group)g)->name,
                rates[between(d, 0, 4)]);
        }
    }
    later = say_later(d, later);
    say(d, "%s}\nlimits: {", besides);
    for (int g = 0; g < FAULT_GROUP_COUNT; g++) {
        if ((groups >> g & 1) != 0 && one_in(d, 2)) {
            say(d, "%s: %" PRIu32 ", ", fault_group_get((enum fault_group)g)->limit,
                between(d, 1, 8));
        }
        if ((later >> g & 1) != 0) {
            say(d, "%s: %" PRIu32 ", ", fault_group_get((enum fault_group)g)->limit,
                1 + pcg_below(&d->later, 4));
        }
    }
    say(d, "}\n");
}

/* ---- trees of activities --------------------------------------------------------------------- */

struct tree {
    uint32_t nodes;
    uint32_t parent[NODES_MAX];
    uint32_t answer[NODES_MAX]; /* the parent's answer that leads to it: 0 its closing one */
    uint32_t pendings[NODES_MAX];
};

static void say_child(struct drawing *d, uint32_t child)
{
    if (one_in(d, 4)) {
        say(d, "{to: n%" PRIu32 ", when: %s}, ", child, one_in(d, 2) ? "even" : "odd");
    } else {
        say(d, "n%" PRIu32 ", ", child);
    }
}

static void say_children(struct drawing *d, const struct tree *tree, uint32_t node, uint32_t answer)
{
    say(d, "[");
    for (uint32_t n = node + 1; n < tree->nodes; n++) {
        if (tree->parent[n] == node && tree->answer[n] == answer) {
            say_child(d, n);
        }
    }
    say(d, "]");
}

static void say_pendings(struct drawing *d, const struct tree *tree)
{
    say(d, "pending: {");
    for (uint32_t n = 0; n < tree->nodes; n++) {
        if (tree->pendings[n] == 0) {
            continue;
        }
        say(d, "n%" PRIu32 ": [", n);
        for (uint32_t k = 1; k <= tree->pendings[n]; k++) {
            say_children(d, tree, n, k);
            say(d, ", ");
        }
        say(d, "], ");
    }
    say(d, "}\n");
}

static void say_tree(struct drawing *d, struct tree *tree, uint32_t nodes_max)
{
    memset(tree, 0, sizeof *tree);
    tree->nodes = between(d, 1, nodes_max);
    for (uint32_t n = 0; n < tree->nodes; n++) {
        tree->pendings[n] = one_in(d, 5) ? between(d, 1, PENDING_MAX) : 0;
        if (n > 0) {
            tree->parent[n] = between(d, 0, n - 1);
            tree->answer[n] = between(d, 0, tree->pendings[tree->parent[n]]);
        }
    }
    say(d, "graph: {");
    for (uint32_t n = 0; n < tree->nodes; n++) {
        say(d, "n%" PRIu32 ": ", n);
        say_children(d, tree, n, 0);
        say(d, ", ");
    }
    say(d, "}\n");
    say_pendings(d, tree);
}

static void say_presets(struct drawing *d, const struct tree *tree, uint32_t leg1, uint32_t leg2)
{
    say(d, "preset: {");
    for (uint32_t n = 0; n < tree->nodes; n++) {
        if (one_in(d, 6)) {
            say(d, "n%" PRIu32 ": {leg1: %" PRIu32 "}, ", n, between(d, leg1 - 4, leg1));
        } else if (one_in(d, 6)) {
            say(d, "n%" PRIu32 ": {leg2: %" PRIu32 "}, ", n, between(d, leg2 - 4, leg2));
        }
    }
    say(d, "}\n");
}

/* Back to any node above, or to itself. */
static void say_cycles(struct drawing *d, const struct tree *tree)
{
    uint32_t count = one_in(d, 3) ? between(d, 1, 2) : 0;
    uint32_t last = NODES_MAX;
    say(d, "cycles: {");
    for (uint32_t c = 0; c < count; c++) {
        uint32_t from = between(d, 0, tree->nodes - 1), to = from;
        while (to != 0 && !one_in(d, 3)) {
            to = tree->parent[to];
        }
        if (from != last) {
            say(d, "n%" PRIu32 ": {to: n%" PRIu32 ", rounds: %" PRIu32 "}, ", from, to,
                between(d, 1, 3));
        }
        last = from;
    }
    say(d, "}\n");
}

static void draw_activity(struct drawing *d)
{
    static const uint32_t thresholds[] = {0, 0, 0, 1, 2, 12};
    struct tree tree;
    say(d, "jobs: %" PRIu32 "\nworkers: %" PRIu32 "\n", between(d, 1, 3), between(d, 1, 4));
    say(d, "commits: %s\nhop: %s\n", one_in(d, 2) ? "literal" : "merged",
        one_in(d, 5) ? "none" : "task");
    say(d, "threshold: [%" PRIu32 ", %" PRIu32 "]\n", thresholds[between(d, 0, 5)],
        thresholds[between(d, 0, 5)]);
    say(d, "timeout: %" PRIu32 "\n", one_in(d, 3) ? between(d, 6, 20) : 60);
    say_tree(d, &tree, one_in(d, 3) ? NODES_MAX : 4);
    say_cycles(d, &tree);
    say_presets(d, &tree, 999, 99999999);
    say_faults(d, one_in(d, 4) ? QUEUE | GROUP(ANSWER) : QUEUE,
               GROUP(SUCCESSOR) | GROUP(WORK) | GROUP(SKEW), "");
}

/* With the assumptions of the earlier ledger: see legacy.yaml. */
static void draw_legacy(struct drawing *d)
{
    struct tree tree;
    say(d, "jobs: %" PRIu32 "\nworkers: %" PRIu32 "\ntimeout: 5000\n", between(d, 1, 2),
        between(d, 1, 4));
    say(d, "leg2-is-spared: [crash, unknown]\n");
    say_tree(d, &tree, 4);
    say(d, "again: {");
    for (uint32_t n = 0; n < tree.nodes; n++) {
        if (one_in(d, 4)) {
            say(d, "n%" PRIu32 ": %" PRIu32 ", ", n, between(d, 1, 3));
        }
    }
    say(d, "}\n");
    say_presets(d, &tree, 9, 999999);
    say_faults(d, GROUP(CRASH) | GROUP(UNKNOWN) | GROUP(ABORT) | GROUP(DELAY) | GROUP(SERVER), 0,
               "commit-late: 0/1, crash-commit-late: 0/1");
}

/* ---- flows ----------------------------------------------------------------------------------- */

/* Some of the cases 1 to `cases`. */
static void say_cases(struct drawing *d, const char *key, uint32_t cases)
{
    say(d, "%s: [", key);
    for (uint32_t c = 1; c <= cases; c++) {
        if (one_in(d, 2)) {
            say(d, "%" PRIu32 ", ", c);
        }
    }
    say(d, "], ");
}

/* Edges lead to later activities, so that there is no cycle. */
static void say_place(struct drawing *d, uint32_t place, uint32_t places, uint32_t cases)
{
    say(d, "    %c: {next: [", 'a' + (int)place);
    for (uint32_t to = place + 1; to < places; to++) {
        if (!one_in(d, 3)) {
            continue;
        }
        say(d, "{to: %c, ", 'a' + (int)to);
        if (one_in(d, 2)) {
            say_cases(d, "when", cases);
        }
        say(d, "}, ");
    }
    say(d, "], ");
    static const char *const keys[] = {"errors", "holds", "pauses"};
    for (int k = 0; k < 3; k++) {
        if (one_in(d, 6)) {
            say_cases(d, keys[k], cases);
        }
    }
}

static void draw_flow(struct drawing *d)
{
    uint32_t flows = between(d, 1, 3), cases = between(d, 1, 4);
    say(d, "jobs: %" PRIu32 "\nworkers: %" PRIu32 "\ncases: %" PRIu32 "\nflows:\n",
        between(d, 1, 4), between(d, 1, 4), cases);
    for (uint32_t f = 0; f < flows; f++) {
        uint32_t places = between(d, 1, f == 0 ? PLACES_MAX : 4);
        say(d, "  f%" PRIu32 ":\n", f);
        for (uint32_t p = 0; p < places; p++) {
            say_place(d, p, places, cases);
            if (f + 1 < flows && one_in(d, 4)) {
                say(d, "awaits: f%" PRIu32, between(d, f + 1, flows - 1));
            }
            say(d, "}\n");
        }
    }
    say_faults(d, QUEUE, GROUP(SUCCESSOR) | GROUP(WORK), "");
}

/* ---- the others ------------------------------------------------------------------------------ */

static void draw_seq(struct drawing *d)
{
    static const char *const fates[] = {"success", "skip", "retry", "exhaust", "fatal", "cancel"};
    uint32_t length = between(d, 1, 5);
    bool drill = one_in(d, 4);
    say(d, "jobs: %" PRIu32 "\nworkers: %" PRIu32 "\ntimeout: %" PRIu32 "\n", between(d, 1, 6),
        between(d, 1, 4), between(d, 9, 40));
    if (!one_in(d, 4)) {
        say(d, "budget: %" PRIu32 "\n", between(d, 1, 5));
    }
    say(d, "drill: %s\nfates: [", drill ? "on" : "off");
    for (uint32_t f = 0; f < length; f++) {
        say(d, "%s, ", fates[between(d, 0, 5)]);
    }
    say(d, "]\n");
    say_faults(d, QUEUE & ~(GROUP(DUPLICATE) | GROUP(DELAY)),
               GROUP(SUCCESSOR) | GROUP(WORK) | GROUP(SKEW),
               drill ? "crash-before-ack: 0/1, illegal: 1/200" : "crash-before-ack: 0/1");
}

static void say_outcomes(struct drawing *d, const char *key, const char *usual, const char *other)
{
    uint32_t length = between(d, 0, 3);
    if (length == 0) {
        return;
    }
    say(d, "%s: [", key);
    for (uint32_t i = 0; i < length; i++) {
        say(d, "%s, ", one_in(d, 3) ? other : usual);
    }
    say(d, "], ");
}

static void draw_pipeline(struct drawing *d)
{
    static const char *const flaws[] = {"no-payload", "no-blocker", "other-payload",
                                        "rival-reviewer"};
    uint32_t entries = between(d, 1, 5);
    say(d, "jobs: %" PRIu32 "\nworkers: %" PRIu32 "\nentries:\n", between(d, 1, 2),
        between(d, 1, 4));
    for (uint32_t e = 0; e < entries; e++) {
        say(d, "  e%" PRIu32 ": {needs: [", e);
        for (uint32_t b = 0; b < e; b++) {
            if (one_in(d, 3)) {
                say(d, "e%" PRIu32 ", ", b);
            }
        }
        say(d, "], ");
        say_outcomes(d, "reviews", "approve", "reject");
        say_outcomes(d, "verify", "pass", "fail");
        if (one_in(d, 6)) {
            say(d, "flaw: %s", flaws[between(d, 0, 3)]);
        }
        say(d, "}\n");
    }
    say_faults(d, QUEUE | GROUP(ANSWER), GROUP(SUCCESSOR) | GROUP(WORK),
               one_in(d, 3) ? "illegal: 1/20" : "");
}

static void draw_inbox(struct drawing *d)
{
    say(d, "jobs: %" PRIu32 "\nworkers: %" PRIu32 "\naccounts: %" PRIu32 "\n", between(d, 1, 8),
        between(d, 1, 4), between(d, 1, 4));
    say_faults(d, QUEUE, GROUP(SUCCESSOR), "");
}

/* ---- one of them ----------------------------------------------------------------------------- */

static void (*const draws[])(struct drawing *d) = {
#define PROTOCOL(name, called) draw_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

static void draw(const struct protocol *protocol, uint64_t number, const char *name, bool faults,
                 struct scenario *scenario)
{
    static const char nothing[] = "faults: {}\n";
    struct error error;
    struct drawing d = {.pcg = pcg_stream(number, PCG_WORKLOAD),
                        .later = pcg_stream(number, PCG_LATER)};
    bool loaded = false;
    for (int i = 0; i < DRAWS_MAX && !loaded; i++) {
        d.size = 0;
        say(&d, "name: %s\nabout: %s\nprotocol: %s\n", name,
            faults ? "drawn, not written"
                   : "scenarios that are drawn, another one for every 16 seeds",
            protocol->name);
        say(&d, "level: %s\n", one_in(&d, 5) ? "transaction" : "statement");
        draws[protocol_place(protocol)](&d);
        if (!faults) {
            d.size = (size_t)(strstr(d.text, "faults: ") - d.text);
            say(&d, "%s", nothing);
        }
        loaded = scenario_parse(d.text, d.size, name, scenario, &error);
    }
    CHECK(loaded); /* DR2 */
}

void drawn_make(const struct protocol *protocol, uint64_t number, struct scenario *scenario)
{
    char name[SCENARIO_NAME_SIZE];
    snprintf(name, sizeof name, "%s-%" PRIu64, drawn_family_name(protocol), number);
    draw(protocol, number, name, true, scenario);
}

void drawn_family(const struct protocol *protocol, struct scenario *scenario)
{
    draw(protocol, 0, drawn_family_name(protocol), false, scenario);
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *drawn_family_name(const struct protocol *protocol)
{
    static const char *const names[] = {
#define PROTOCOL(name, called) "drawn-" called,
#include "model/protocols.def"
#undef PROTOCOL
    };
    return names[protocol_place(protocol)];
}

/* What follows the family's name; NULL: it is no drawn one. */
static const char *after_family(const char *name, const struct protocol **protocol)
{
    for (size_t p = 0; p < protocol_count(); p++) {
        const char *family = drawn_family_name(protocol_at(p));
        if (strncmp(name, family, strlen(family)) == 0) {
            *protocol = protocol_at(p);
            return name + strlen(family);
        }
    }
    return NULL;
}

bool drawn_is_family(const char *name, const struct protocol **protocol)
{
    const char *after = after_family(name, protocol);
    return after != NULL && *after == '\0';
}

bool drawn_is_one(const char *name, const struct protocol **protocol, uint64_t *number)
{
    const char *after = after_family(name, protocol);
    if (after == NULL || *after != '-' || strspn(after + 1, "0123456789") != strlen(after + 1) ||
        after[1] == '\0' || strlen(after + 1) > 18) {
        return false;
    }
    *number = strtoull(after + 1, NULL, 10);
    return true;
}

#include "sim/scopes.h"

#define YAML(protocol, rest) "name: scope\nprotocol: " protocol "\n" rest

/* ---- activity -------------------------------------------------------------------------------- */

#define LITERAL(rest) YAML("activity", "commits: literal\n" rest)
#define MERGED(rest)  YAML("activity", "commits: merged\n" rest)

#define ONE     "graph: {trigger: []}\n"
#define PAIR    "graph: {trigger: [child]}\n"
#define FORK    "graph: {trigger: [left, right]}\n"
#define NO_HOP  "hop: none\n"
#define PENDING "pending: {trigger: [[]]}\n"
#define CYCLE   "graph: {trigger: [step]}\ncycles: {step: {to: trigger, rounds: 1}}\n"
#define LEG1(n) "preset: {trigger: {leg1: " #n "}}\n"
#define LEG2(n) "preset: {trigger: {leg2: " #n "}}\n"

/* Leg1 entry 999 is the last, Leg2 entry 99,999,999 is. */
static const struct scope activity[] = {
    {"one-deaths", LITERAL(ONE), {.crashes = 1, .duplicates = 1}, false},
    {"one-lapses", LITERAL(ONE), {.duplicates = 1, .lapses = 1}, false},
    {"one-losses", LITERAL(ONE), {.duplicates = 1, .unknowns = 1, .aborts = 1}, false},
    {"pair-no-hop", LITERAL(NO_HOP PAIR), {.crashes = 1, .duplicates = 1}, false},
    {"pending-deaths", LITERAL(ONE PENDING), {.crashes = 1, .duplicates = 1}, false},
    {"pending-lapses", LITERAL(ONE PENDING), {.duplicates = 1, .lapses = 1}, false},
    {"pending-full", LITERAL(ONE PENDING LEG2(99999997)), {.duplicates = 1}, false},
    {"leg1-last", LITERAL(ONE LEG1(998)), {.duplicates = 1, .lapses = 1}, false},
    {"leg1-full", LITERAL(ONE LEG1(999)), {.crashes = 1, .duplicates = 1, .lapses = 1}, false},
    {"leg2-two-left", LITERAL(ONE LEG2(99999997)), {.duplicates = 1, .lapses = 1}, false},
    {"leg2-last", LITERAL(ONE LEG2(99999998)), {.duplicates = 1, .lapses = 1}, false},
    {"leg2-full", LITERAL(ONE LEG2(99999999)), {.duplicates = 1, .lapses = 1}, false},
    {"one-late", LITERAL(ONE), {.lapses = 1, .drags = 2}, false},
    {"one-late-losses", LITERAL(ONE), {.crashes = 1, .duplicates = 1, .drags = 1}, false},
    {"one-inside", LITERAL(NO_HOP ONE), {.duplicates = 1}, true},
    {"one-inside-deaths", LITERAL(ONE), {.crashes = 1}, true},
    {"merged-one", MERGED(ONE), {.crashes = 1, .duplicates = 1, .lapses = 1}, false},
    {"merged-losses", MERGED(ONE), {.duplicates = 1, .unknowns = 1, .aborts = 1}, false},
    {"merged-pair", MERGED(PAIR), {.crashes = 1, .duplicates = 1}, false},
    {"merged-no-hop", MERGED(NO_HOP PAIR), {.crashes = 1, .duplicates = 1, .lapses = 1}, false},
    {"merged-fork", MERGED(FORK), {.crashes = 1, .duplicates = 1}, false},
    {"merged-fork-lapses", MERGED(FORK), {.duplicates = 1, .lapses = 1}, false},
    {"merged-pending", MERGED(ONE PENDING), {.crashes = 1, .duplicates = 1}, false},
    {"merged-cycle", MERGED(CYCLE), {.crashes = 1, .duplicates = 1}, false},
    {"merged-leg1-last",
     MERGED(ONE LEG1(998)),
     {.crashes = 1, .duplicates = 1, .lapses = 1},
     false},
    {"merged-leg1-full",
     MERGED(ONE LEG1(999)),
     {.crashes = 1, .duplicates = 1, .lapses = 1},
     false},
    {"merged-leg2-two-left",
     MERGED(ONE LEG2(99999997)),
     {.crashes = 1, .duplicates = 1, .lapses = 1},
     false},
    {"merged-leg2-last",
     MERGED(ONE LEG2(99999998)),
     {.crashes = 1, .duplicates = 1, .lapses = 1},
     false},
    {"merged-leg2-full",
     MERGED(ONE LEG2(99999999)),
     {.crashes = 1, .duplicates = 1, .lapses = 1},
     false},
    {"merged-inside", MERGED(NO_HOP ONE), {.duplicates = 1}, true},
};

/* ---- others ---------------------------------------------------------------------------------- */

#define INBOX(jobs) YAML("inbox", "jobs: " #jobs "\naccounts: 1\n")
static const struct scope inbox[] = {
    {"two", INBOX(2), {.crashes = 1, .duplicates = 1, .lapses = 1}, false},
    {"two-losses", INBOX(2), {.duplicates = 1, .unknowns = 1, .aborts = 1}, false},
    {"one-inside", INBOX(1), {.crashes = 1, .duplicates = 1, .lapses = 1}, true},
};

#define FLOW(text) YAML("key", "flows:\n  story:\n" text)
static const struct scope flow[] = {
    {"two", FLOW("    first: [second]\n"), {.crashes = 1, .duplicates = 1, .lapses = 1}, false},
    {"two-losses",
     FLOW("    first: [second]\n"),
     {.duplicates = 1, .unknowns = 1, .aborts = 1},
     false},
    {"pause",
     FLOW("    first: {next: [second], pauses: [1]}\n"),
     {.crashes = 1, .duplicates = 1},
     false},
    {"pause-lapses",
     FLOW("    first: {next: [second], pauses: [1]}\n"),
     {.duplicates = 1, .lapses = 1},
     false},
    {"pause-losses",
     FLOW("    first: {next: [second], pauses: [1]}\n"),
     {.duplicates = 1, .unknowns = 1},
     false},
    {"hold",
     FLOW("    first: {next: [second], holds: [1]}\n"),
     {.crashes = 1, .duplicates = 1},
     false},
    {"await",
     YAML("key", "flows:\n  outer:\n    call: {awaits: inner}\n  inner:\n    try: {errors: [1]}\n"),
     {.crashes = 1, .duplicates = 1},
     false},
    {"branch",
     YAML("key", "cases: 2\nflows:\n  story:\n    a: [{to: b, when: [2]}, c]\n"),
     {.crashes = 1, .duplicates = 1},
     false},
    {"one-inside", FLOW("    first: []\n"), {.duplicates = 1}, true},
    {"pause-inside", FLOW("    first: {next: [second], pauses: [1]}\n"), {0}, true},
};

static const struct scope legacy[] = {
    {"pair", YAML("legacy", PAIR), {.aborts = 1}, false},
    {"one-deaths", YAML("legacy", ONE), {.crashes = 1}, false},
    {"one-losses", YAML("legacy", ONE), {.unknowns = 1}, false},
    {"again", YAML("legacy", ONE "again: {trigger: 1}\n"), {.aborts = 1}, false},
    {"pending", YAML("legacy", ONE "pending: {trigger: [[remind]]}\n"), {.aborts = 1}, false},
    {"leg1-last", YAML("legacy", ONE LEG1(8)), {.crashes = 1, .aborts = 1}, false},
    {"leg1-full", YAML("legacy", ONE LEG1(9)), {.aborts = 1}, false},
    {"leg2-full", YAML("legacy", ONE LEG2(999999)), {.aborts = 1}, false},
};

#define ENTRY(text) YAML("pipeline", "entries:\n  base: {" text "}\n")
static const struct scope pipeline[] = {
    {"one", ENTRY(), {.crashes = 1, .duplicates = 1, .lapses = 1}, false},
    {"one-losses", ENTRY(), {.duplicates = 1, .unknowns = 1}, false},
    {"one-aborts", ENTRY(), {.duplicates = 1, .aborts = 4}, false},
    {"given-up",
     YAML("pipeline", "entries:\n  base: {}\npasses: 1\n"),
     {.duplicates = 1, .aborts = 4},
     false},
    {"fails", ENTRY("verify: [fail]"), {.crashes = 1, .duplicates = 1}, false},
    {"fails-again", ENTRY("verify: [pass, fail]"), {.crashes = 1, .duplicates = 1}, false},
    {"reviews", ENTRY("reviews: [approve, approve]"), {.crashes = 1, .duplicates = 1}, false},
    {"rejects", ENTRY("reviews: [reject, approve]"), {.crashes = 1, .duplicates = 1}, false},
    {"no-payload",
     ENTRY("flaw: no-payload"),
     {.crashes = 1, .duplicates = 1, .unknowns = 1},
     false},
    {"no-blocker", ENTRY("flaw: no-blocker"), {.crashes = 1, .duplicates = 1}, false},
    {"other-payload", ENTRY("flaw: other-payload"), {.duplicates = 1}, false},
    {"rival", ENTRY("reviews: [approve, approve], flaw: rival-reviewer"), {.duplicates = 1}, false},
    {"needs",
     YAML("pipeline", "entries:\n  base: {}\n  next: {needs: [base]}\n"),
     {.duplicates = 1},
     false},
    {"one-inside", ENTRY(), {.lapses = 1}, true},
    {"reviews-inside", ENTRY("reviews: [approve, approve]"), {0}, true},
};

#define SEQ(workers, fate)                                                                         \
    YAML("seq", "workers: " #workers "\njobs: 1\ntimeout: 9\nbudget: 1\nfates: [" fate "]\n")
#define DRILL "drill: on\n"
static const struct scope seq[] = {
    {"retry", SEQ(2, "retry"), {.crashes = 1, .lapses = 1}, false},
    {"retry-losses", SEQ(2, "retry"), {.unknowns = 1, .aborts = 1}, false},
    {"retry-alone", SEQ(1, "retry"), {.crashes = 1, .lapses = 1, .unknowns = 1}, false},
    {"success", SEQ(2, "success"), {.lapses = 2}, false},
    {"cancel", SEQ(2, "cancel"), {0}, false},
    {"cancel-alone", SEQ(1, "cancel"), {.lapses = 1}, false},
    {"cancel-losses", SEQ(1, "cancel"), {.unknowns = 1, .aborts = 1}, false},
    {"cancel-forced", SEQ(1, "cancel"), {.lapses = 2}, false},
    {"wrong", SEQ(1, "success") DRILL, {.lapses = 1, .missteps = 1}, false},
    {"wrong-losses", SEQ(1, "success") DRILL, {.unknowns = 1, .missteps = 1}, false},
    {"wrong-twice", SEQ(1, "skip") DRILL, {.missteps = 2}, false},
};

#define LIST(name)                                                                                 \
    {                                                                                              \
        name, COUNT(name)                                                                          \
    }
static const struct {
    const struct scope *scopes;
    size_t count;
} lists[] = {
#define PROTOCOL(name, called) LIST(name),
#include "model/protocols.def"
#undef PROTOCOL
};

size_t scopes_of(const struct protocol *protocol, const struct scope **scopes)
{
    size_t place = protocol_place(protocol);
    *scopes = lists[place].scopes;
    return lists[place].count;
}

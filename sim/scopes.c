#include "sim/scopes.h"

#define YAML(name, protocol, rest)                                                                 \
    "name: " name "\nabout: a small scope\nprotocol: " protocol "\n" rest                          \
    "faults: {}\nreaches: []\nexpect: pass\n"

#define LITERAL(name, rest) YAML(name, "activity", "workers: 2\ncommits: literal\n" rest)
#define MERGED(name, rest)  YAML(name, "activity", "workers: 2\ncommits: merged\n" rest)

static const struct scope activity[] = {
    {"trigger", LITERAL("trigger", "graph: {trigger: []}\n"), {1, 1, 1, 1, 1}, false},
    {"pending",
     LITERAL("pending", "graph: {trigger: []}\npending: {trigger: [[remind]]}\n"),
     {1, 0, 0, 0, 0},
     false},
    {"pair", LITERAL("pair", "hop: none\ngraph: {trigger: [child]}\n"), {1, 1, 1, 0, 0}, false},
    {"m-trigger", MERGED("m-trigger", "graph: {trigger: []}\n"), {1, 1, 1, 1, 1}, false},
    {"m-pair", MERGED("m-pair", "hop: none\ngraph: {trigger: [child]}\n"), {1, 1, 1, 1, 1}, false},
    {"m-fork", MERGED("m-fork", "graph: {trigger: [left, right]}\n"), {1, 1, 0, 0, 0}, false},
    {"m-pending",
     MERGED("m-pending", "graph: {trigger: []}\npending: {trigger: [[remind]]}\n"),
     {1, 1, 0, 0, 0},
     false},
};
static const struct scope inbox[] = {
    {"inbox", YAML("inbox", "inbox", "jobs: 2\nworkers: 2\naccounts: 1\n"), {1, 1, 1, 1, 1}, false},
};
static const struct scope key[] = {
    {"key",
     YAML("key", "key", "workers: 2\ncases: 1\nflows:\n  story:\n    first: [second]\n"),
     {1, 1, 1, 1, 1},
     false},
};
static const struct scope legacy[] = {
    {"legacy",
     YAML("legacy", "legacy", "workers: 2\ngraph: {trigger: [child]}\n"),
     {0, 0, 0, 0, 1},
     false},
};
static const struct scope pipeline[] = {
    {"pipeline",
     YAML("pipeline", "pipeline", "workers: 2\nentries:\n  base: {}\n"),
     {1, 1, 1, 1, 1},
     false},
};
static const struct scope seq[] = {
    {"seq",
     YAML("seq", "seq", "workers: 2\njobs: 1\ntimeout: 9\nbudget: 1\nfates: [retry]\n"),
     {1, 0, 1, 1, 1},
     false},
};

#define LIST(name)                                                                                 \
    {                                                                                              \
        name, sizeof name / sizeof *name                                                           \
    }
static const struct {
    const struct scope *scopes;
    size_t count;
} lists[PROTOCOL_COUNT] = {
#define PROTOCOL(id, name) [PROTOCOL_##id] = LIST(name),
#include "model/protocols.def"
#undef PROTOCOL
};

size_t scopes_of(enum protocol_id protocol, const struct scope **scopes)
{
    *scopes = lists[protocol].scopes;
    return lists[protocol].count;
}

/* Small scenarios, at least one of each protocol: for suites that walk through them or search all
 * of their states. Faults are not drawn there, so the scenarios allow none. */
#ifndef SIM_TESTS_SCOPES_H
#define SIM_TESTS_SCOPES_H

#include "scenarios/scenario.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SCOPE(name, protocol, rest)                                                                \
    "name: " name "\nabout: a small scope\nprotocol: " protocol "\n" rest                          \
    "faults: {}\nreaches: []\nexpect: pass\n"

#define SCOPE_ACTIVITY(name, rest) SCOPE(name, "activity", "workers: 2\ncommits: literal\n" rest)
#define SCOPE_MERGED(name, rest)   SCOPE(name, "activity", "workers: 2\ncommits: merged\n" rest)

#define SCOPE_TRIGGER SCOPE_ACTIVITY("trigger", "graph: {trigger: []}\n")
#define SCOPE_CHAIN   SCOPE_ACTIVITY("chain", "graph: {chain: 2}\n")
#define SCOPE_FORK    SCOPE_ACTIVITY("fork", "graph: {trigger: [left, right]}\n")
#define SCOPE_PAIR    SCOPE_ACTIVITY("pair", "hop: none\ngraph: {trigger: [child]}\n")
#define SCOPE_PENDING                                                                              \
    SCOPE_ACTIVITY("pending", "graph: {trigger: []}\npending: {trigger: [[remind]]}\n")
#define SCOPE_CYCLE                                                                                \
    SCOPE_ACTIVITY("cycle", "graph: {trigger: [step]}\ncycles: {step: {to: trigger, rounds: "      \
                            "1}}\n")
#define SCOPE_MERGED_TRIGGER SCOPE_MERGED("merged-trigger", "graph: {trigger: []}\n")
#define SCOPE_MERGED_CHAIN   SCOPE_MERGED("merged-chain", "graph: {chain: 2}\n")
#define SCOPE_MERGED_FORK    SCOPE_MERGED("merged-fork", "graph: {trigger: [left, right]}\n")
#define SCOPE_MERGED_PENDING                                                                       \
    SCOPE_MERGED("merged-pending", "graph: {trigger: []}\npending: {trigger: [[remind]]}\n")
#define SCOPE_LEGACY SCOPE("legacy", "legacy", "workers: 2\ngraph: {trigger: [child]}\n")
#define SCOPE_AGAIN                                                                                \
    SCOPE("again", "legacy", "workers: 2\ngraph: {trigger: []}\nagain: {trigger: 1}\n")
#define SCOPE_KEY                                                                                  \
    SCOPE("key", "key", "workers: 2\ncases: 1\nflows:\n  story:\n    first: [second]\n")
#define SCOPE_PIPELINE SCOPE("pipeline", "pipeline", "workers: 2\nentries:\n  base: {}\n")
#define SCOPE_SEQ                                                                                  \
    SCOPE("seq", "seq", "workers: 2\njobs: 1\ntimeout: 9\nbudget: 1\nfates: [retry]\n")
#define SCOPE_INBOX SCOPE("inbox", "inbox", "jobs: 2\nworkers: 2\naccounts: 1\n")

static inline void scope_read(const char *yaml, struct scenario *scenario)
{
    struct error error;
    bool read = scenario_parse(yaml, strlen(yaml), "a scope", scenario, &error);
    cr_assert(read, "%s", error.text);
}

#endif

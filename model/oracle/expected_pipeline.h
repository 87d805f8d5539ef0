/* What the scenario of a pipeline asks for: its batches of entries, what stops an entry for people,
 * which decisions and outcomes are asked for, and how an entry may end. Written from the
 * specification, the errata and scenarios/MEANING.md.
 *
 * Where the schedule decides, this names what may come (EX2): a re-review races the CUT on the
 * decision before it, rivals race each other, and the CUT of a dependant races the re-verify that
 * fails its blocker. */
#ifndef MODEL_ORACLE_EXPECTED_PIPELINE_H
#define MODEL_ORACLE_EXPECTED_PIPELINE_H

#include "model/oracle/document.h"
#include "model/rows.h"

#define EXPECTED_ENTRIES  8
#define EXPECTED_NEEDS    3
#define EXPECTED_REVIEWS  4
#define EXPECTED_VERIFIES 3

/* One entry, the same in every batch. */
struct expected_entry {
    uint8_t needs, need[EXPECTED_NEEDS];         /* its blockers, as nodes */
    uint8_t reviews, review[EXPECTED_REVIEWS];   /* enum review_decision, in the order asked for */
    uint8_t verifies, verify[EXPECTED_VERIFIES]; /* enum verify_outcome, likewise */
    uint8_t stop;    /* enum sweep_reason: why it is for people and never exists; SWEEP_MARKED: it
                        exists */
    bool other_load; /* once marked, it is asked for again with another payload */
    bool rival;      /* each re-review has a rival with the opposite decision */
};

/* An entry's node is its place in the file, from 0. */
struct expected_pipeline {
    int64_t batches;
    int64_t timeout; /* ticks that a claim lasts */
    int64_t passes;  /* of the sweep over a request that was stopped, until it is for people */
    bool one_chain;  /* the signatures of a lane are one chain (E-CUT-19) */
    int entries;
    struct expected_entry entry[EXPECTED_ENTRIES];
};

void expected_pipeline_read(const struct document *scenario, struct expected_pipeline *expected);

/* ---- what a request for an entry names ------------------------------------------------------- */

/* The idempotency key; the entry's id, minted from that alone (E-CUT-2); the payload, 0 for null.
 */
int64_t expected_pipeline_key(int64_t batch, int node);
int64_t expected_pipeline_id(int64_t batch, int node);
int64_t expected_pipeline_payload(int64_t batch, int node, bool other_load);

/* The node whose key this is; -1: of none. */
int expected_pipeline_node(const struct expected_pipeline *expected, int64_t batch, int64_t key);

/* How often the entry needs this one. */
int expected_pipeline_needs(const struct expected_entry *entry, int node);

/* How many unit blocks a decision has, and how many rows a change set affects. */
int expected_pipeline_parts(int node);

/* ---- what may come --------------------------------------------------------------------------- */

/* Whether this decision may be made as the n-th of the entry, from 1. */
bool expected_pipeline_decides(const struct expected_entry *entry, int n, int64_t decision);

/* The outcome that is planned for its n-th verify, from 1; 0: there is none. */
int64_t expected_pipeline_outcome(const struct expected_entry *entry, int n);

/* What an entry has come to. */
struct pipeline_story {
    int64_t status;
    int decisions, results; /* made so far */
    bool unblocked;         /* all that it needs is verified complete now */
};

/* Whether it may end so, once nothing is left to be done. */
bool expected_pipeline_ends(const struct expected_entry *entry, const struct pipeline_story *story);

#endif

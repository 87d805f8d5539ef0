/* What the activity protocol (seed 000) must do, from the scenario's text alone: which jobs there
 * are, what each node makes of its input, which children, cycles and pending answers follow from
 * it, and where its counters start. scenarios/MEANING.md has it in words.
 *
 * Nothing here depends on a schedule: data follow from data, round by round. What the schedule
 * decides (dimensions, who closes a job, what meets a ceiling) is the monitors' business.
 *
 * (XA1) Nodes are numbered breadth-first from the trigger, 0; the children of a node stand
 * together, those of its closing answer first, then those of its pending answers in turn. */
#ifndef MODEL_ORACLE_EXPECTED_ACTIVITY_H
#define MODEL_ORACLE_EXPECTED_ACTIVITY_H

#include "model/oracle/document.h"

#define EXPECTED_NODES_MAX      1024 /* what a scenario may have: scenarios/README.md */
#define EXPECTED_THRESHOLDS_MAX 8
#define EXPECTED_PENDINGS_MAX   8
#define EXPECTED_JOBS_MAX       10000
#define EXPECTED_JOB_INPUT      1000 /* of job 0; each has one more than the one before */

enum expected_when { EXPECTED_ALWAYS, EXPECTED_EVEN, EXPECTED_ODD };

struct expected_node {
    uint16_t parent;    /* whose answer spawns it; of the trigger the trigger */
    uint16_t first;     /* its children are the nodes from here on, */
    uint16_t children;  /* ... so many */
    uint16_t head;      /* where its cycle leads to */
    uint8_t rounds;     /* how often a cycle is gone round; 0: there is none */
    uint8_t pendings;   /* answers before the closing one */
    uint8_t again;      /* of protocol legacy: calls after it */
    uint8_t answer;     /* which of its parent's spawns it: 0 the closing one, k the k-th pending */
    uint8_t when;       /* enum expected_when: by the output of that answer */
    int32_t leg1, leg2; /* entries that its ledger starts with */
};

struct expected_activity {
    int64_t jobs;
    int64_t threshold[EXPECTED_THRESHOLDS_MAX]; /* that jobs take in turn */
    uint32_t thresholds;
    uint32_t nodes;
    bool changes; /* a worker that is run again may answer otherwise (faults: answer) */
    struct expected_node node[EXPECTED_NODES_MAX];
};

/* What one answer must spawn. */
struct expected_spawn {
    uint32_t children;
    uint64_t which; /* the sum of expected_activity_mark of each: two sets are told apart by it */
    bool cycles;    /* and one message to its node's head */
};

void expected_activity_read(const struct document *scenario, struct expected_activity *expected);

/* Asserts (XA1). */
void expected_activity_check(const struct expected_activity *expected);

/* What a node makes of its input: its closing answer's data, and its k-th pending answer's. */
int64_t expected_activity_output(int64_t node, int64_t input);
int64_t expected_activity_pending(int64_t node, int64_t input, int64_t k);

/* What Step 2 of an answer spawns, whose output is `value`, in this round. A message that a cycle
 * brought (`answer` below 0) takes the edges of the closing answer. */
struct expected_spawn expected_activity_spawn(const struct expected_activity *expected,
                                              uint32_t node, int64_t answer, int64_t value,
                                              int64_t round);
uint64_t expected_activity_mark(int64_t node);

/* Its graph has this node; a node has this answer; there is a job with this input. */
bool expected_activity_has(const struct expected_activity *expected, int64_t node);
bool expected_activity_answers(const struct expected_activity *expected, uint32_t node,
                               int64_t answer);
bool expected_activity_asks(const struct expected_activity *expected, int64_t input);

/* The threshold of the job with this input. */
int64_t expected_activity_threshold(const struct expected_activity *expected, int64_t input);

#endif

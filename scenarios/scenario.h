/* A scenario: a workload, the faults that may hit it, and the coverage and verdict expected of it.
 * It is a YAML file; those in this folder are compiled into the program, and a path loads any
 * other.
 *
 *      name: tree-3
 *      about: a trigger with two children
 *      protocol: activity
 *      jobs: 1
 *      workers: 2
 *      level: statement            (the default; or transaction: each whole, one after the other)
 *      commits: merged             (the default is literal: a transaction a step, as specified)
 *      graph: {trigger: [left, right]}
 *      faults: {crash: 1/20, duplicate: 1/50, pause: 1/100}
 *      limits: {crashes: 3, duplicates: 2}
 *      reaches: [ACL-10, ACL-24, ACL-25]
 *      expect: pass
 *
 * A protocol reads the keys that only it has (part.h); those of others are refused.
 *
 * (SN1) A loaded scenario is sound: its graph keeps (GR1)-(GR3), its rates are ratios of at most 1,
 *       its numbers are in range. No code after the loader checks again.
 * (SN2) The scenario keeps its text, so that a schedule can carry its scenario with it and the
 *       oracles can read it independently (document.h). No change of a scenario leaves its text as
 *       it was. */
#ifndef SCENARIOS_SCENARIO_H
#define SCENARIOS_SCENARIO_H

#include "faults/catalogue.h"
#include "model/clause.h"
#include "model/error.h"
#include "model/flow.h"
#include "model/graph.h"
#include "model/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCENARIO_NAME_SIZE      40
#define SCENARIO_ABOUT_SIZE     160
#define SCENARIO_JOBS_MAX       10000
#define SCENARIO_WORKERS_MAX    16
#define SCENARIO_THRESHOLDS_MAX 8
#define SCENARIO_REACHES_MAX    64
#define SCENARIO_ALSO_MAX       8
#define SCENARIO_ACTIVITIES_MAX (1 << 17) /* of all jobs together, cycles included */
#define SCENARIO_TIMEOUT_USUAL  60
#define SCENARIO_TEXT_SIZE_MAX  65536

struct scenario {
    char name[SCENARIO_NAME_SIZE];
    char about[SCENARIO_ABOUT_SIZE];
    const struct protocol *protocol;
    uint32_t jobs;
    uint32_t workers;
    int64_t timeout;         /* ticks that a claim lasts; a transaction takes one */
    uint32_t connections;    /* that each principal may have open; 0: as many as it is allowed */
    bool whole_transactions; /* level: transaction; else transactions may be stopped half-way */
    /* activity */
    int64_t thresholds[SCENARIO_THRESHOLDS_MAX]; /* jobs take them in turn */
    size_t threshold_count;
    bool merged;              /* commits: merged, not literal (model/activity_engine.h) */
    bool direct;              /* Leg1's work publishes the answer itself: no task hop (peer-*) */
    struct graph graph;       /* of every job */
    struct flow_book flows;   /* key */
    struct protocol_rules of; /* the others: what their engines share, before a run completes it */
    /* all */
    struct fault_plan faults;
    enum clause_id reaches[SCENARIO_REACHES_MAX]; /* clauses that a campaign must reach */
    size_t reaches_count;
    bool breaks;                            /* expect: breaks CLAUSE, CLAUSE... */
    enum clause_id broken;                  /* the first: the clause that the scenario is made to
                                               break */
    enum clause_id also[SCENARIO_ALSO_MAX]; /* the others: clauses that may break along with it */
    size_t also_count;
    char text[SCENARIO_TEXT_SIZE_MAX];
    size_t text_size;
};

/* Reads YAML. `origin` names the text in messages, such as a path. False: *error says why and
 * *scenario is not to be used. */
bool scenario_parse(const char *text, size_t size, const char *origin, struct scenario *scenario,
                    struct error *error);

/* Asserts (SN1) and (SN2) as far as one scenario shows them. */
void scenario_check(const struct scenario *scenario);

/* Changes a key whose value is a number, in the text too (SN2). False: *error says why; the
 * scenario is unchanged. */
bool scenario_change(struct scenario *scenario, const char *key, uint32_t number,
                     struct error *error);

/* Loads a built-in scenario by name, or a file by path (anything with a '/' or ending in .yaml). */
bool scenario_load(const char *name, struct scenario *scenario, struct error *error);

/* The rules that the engines of a run share. The caller defines the unit of ticks: steps of a
 * simulation, milliseconds. */
void scenario_rules(const struct scenario *scenario, int64_t timeout, int64_t put_back,
                    struct rules *rules);

/* How many connections a principal may have at a time; 0: any number. Where a protocol has
 * principals, the caller's connections are unlimited. */
uint32_t scenario_connections(const struct scenario *scenario, enum principal principal);

/* Whether the scenario expects this clause to break. Any other that breaks is a finding. */
bool scenario_breaks(const struct scenario *scenario, enum clause_id clause);

/* The most rows that each table needs, replays and duplicates included. */
void scenario_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT]);

/* The built-in scenarios in alphabetical order: how many, and their names. */
size_t scenario_count(void);
const char *scenario_name(size_t index);

#endif

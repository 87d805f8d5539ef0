/* A protocol's part of the simulation: which faults can fall on its transactions, where its planted
 * bugs are hunted, and its words for traces and stories. Each protocol has one, sim_part_NAME
 * (model/protocols.def). What is NULL has the default that stands beside it. */
#ifndef SIM_PART_H
#define SIM_PART_H

#include "sim/sameness.h"
#include "sim/story.h"

struct sim_part {
    /* ---- running ---- */

    /* Whether a fault of a transaction can fall on run->bundle, which the actor is about to send;
     * only asked of faults that the scenario allows. NULL: part_applies. */
    bool (*applies)(const struct run *run, enum fault_kind kind, unsigned actor);
    /* A fault of the engine itself (group answer) begins and ends. NULL: the protocol has none, and
     * `applies` lets none fall. */
    void (*twist)(struct actor *actor, enum fault_kind kind, bool on);
    /* FAULT_ILLEGAL_MOVE: in how many ways the actor could go wrong here; and it is about to, in
     * one of them. Where one is `drawn`, some are there several times because they are to be
     * likelier; a search has each once. NULL: no actor ever does. */
    uint32_t (*missteps)(const struct run *run, unsigned actor, bool drawn);
    void (*misstep)(struct run *run, unsigned actor, uint32_t which, bool drawn);
    /* Whether the scenario changes rows by itself after a transaction that began at `mark` of the
     * world's log, and how: not a commit of the protocol, so the oracles are not asked. NULL: no.
     */
    bool (*has_presets)(const struct scenario *scenario);
    void (*preset)(struct run *run, size_t mark);
    /* Whether runs of the scenario can show the sighting at all. NULL: every one. */
    bool (*can_see)(const struct scenario *scenario, enum oracle_sighting sight);

    /* ---- searching ---- */

    /* What makes two states the same. NULL: every row as it stands (sameness.h). */
    const struct sameness_hooks *sameness;
    /* What an actor that is no client knows, into a hash: field by field, for what lies between
     * fields is nobody's. NULL: it is a consumer's (protocol.h), or `sameness` sees to it. */
    uint64_t (*knows)(const struct sameness *same, uint64_t hash, const struct actor *actor);

    /* ---- hunting ---- */

    /* Scenarios in which enumerated sabotages are hunted in turn, NULL last; at most
     * KILL_SCENARIOS_MAX. */
    const char *const *grounds;
    /* ... in which this bundle with this primitive in it is, because few send it; NULL: in all of
     * them. The hook may be NULL, too. */
    const char *const *(*only_grounds)(enum bundle_name bundle, enum primitive_id primitive);

    /* ---- words ---- */

    /* A row; one that was deleted is read where it was. NULL: "account 2". */
    struct name (*row)(const struct names *names, enum row_table table, uint32_t slot);
    /* A message of the queue, key first, and what it is about. NULL: "message of 100", its
     * content; as the message. */
    struct name (*message)(const struct names *names, const int64_t *message);
    struct name (*subject)(const struct names *names, const int64_t *message);
    /* What was sent. NULL: the bundle's name and the message. */
    void (*sent)(const struct trace_effect *effect);
    /* What changed. NULL: every row and cell by its name. */
    void (*changes)(const struct trace_effect *effect);
    /* Why a bundle was skipped. NULL: "done before". */
    const char *(*skip_reason)(enum bundle_name bundle);
    /* What is to be said of a commit after "committed, "; NULL: nothing. The hook may be NULL, too.
     */
    const char *(*remark)(const struct run_event *event);
    /* A kind of message, where a story tells several steps together. NULL: "message". */
    const char *(*kind)(int64_t kind);
    /* What a value of this column is called, such as a state; NULL: it is only a number. The hook
     * may be NULL, too. */
    const char *(*value)(enum row_table table, int column, int64_t value);
    /* How a finding's sentence quotes a row of the table. NULL: it only names the row. */
    void (*quoted)(enum row_table table, struct story_quote *quote);
    /* What else the breaking step moved, " and the semaphore from 2 to 1", into an empty `out`.
     * NULL: nothing. */
    void (*also)(const struct story_telling *telling, char *out, size_t size);
    /* The rows that a finding is about, before and after. NULL: not shown. */
    void (*ledgers)(const struct story_telling *telling);
    /* All that a debugger would show at a breakpoint. NULL: every row. */
    void (*dump)(FILE *out, const struct names *names);
    /* Whether the protocol has stopped for good before all was done, by these rows, and why, in one
     * line into `out`. NULL: it never does. */
    bool (*halted)(const struct rows *rows, char *out, size_t size);
};

const struct sim_part *part_of(enum protocol_id protocol);
const struct monitors *part_monitors(enum protocol_id protocol);

/* The usual answer to `applies`: crash-before-ack and reorder fall on acks and claims of the queue,
 * delay on what publishes, nothing of group answer on anybody, everything else on everybody. */
bool part_applies(const struct run *run, enum fault_kind kind, unsigned actor);

#endif

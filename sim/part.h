/* A protocol's part of the simulation: which faults apply to its transactions, where its planted
 * bugs are hunted, how its states are compared, and its words for traces and stories. Each protocol
 * has one, sim_part_NAME (model/protocols.def). A field that is NULL has the default that stands
 * beside it. */
#ifndef SIM_PART_H
#define SIM_PART_H

#include "sim/fingerprint.h"
#include "sim/story.h"

#define PART_STATUS_SIZE 344

/* What is reported of a job beside its rows. */
struct part_status {
    int64_t job;                 /* key of the row that it is about */
    char text[PART_STATUS_SIZE]; /* empty: none can be given */
};

struct sim_part {
    /* ---- running ---- */

    /* Whether a fault can hit run->bundle, which the actor is about to send; asked only of faults
     * that the scenario allows. NULL: sim_part_applies. */
    bool (*applies)(const struct run *run, enum fault_kind kind, unsigned actor);
    /* A fault of the engine itself (group answer) begins or ends. NULL: the protocol has none, and
     * `applies` allows none. */
    void (*twist)(struct actor *actor, enum fault_kind kind, bool on);
    /* FAULT_ILLEGAL_MOVE: `missteps` is the number of forbidden moves that the actor could attempt
     * here; `misstep` makes it attempt one. If `drawn`, likelier ones are counted several times; a
     * search has each once. NULL: the protocol has none. */
    uint32_t (*missteps)(const struct run *run, unsigned actor, bool drawn);
    void (*misstep)(struct run *run, unsigned actor, uint32_t which, bool drawn);
    /* Whether the scenario itself changes rows, and how, after a transaction that began at `mark`
     * of the world's log. That is not a commit of the protocol, so the oracles do not judge it.
     * NULL: no. */
    bool (*has_presets)(const struct scenario *scenario);
    void (*preset)(struct run *run, size_t mark);
    /* Whether runs of the scenario can hit the cover point at all. NULL: they can hit every one. */
    bool (*can_see)(const struct scenario *scenario, enum oracle_cover sight);

    /* ---- searching ---- */

    /* The components and the fingerprint of states. NULL: every row by its values (fingerprint.h). */
    const struct fingerprint_hooks *fingerprint;
    /* Adds the memory of an actor other than a client to a hash: field by field, because padding
     * between fields is undefined, and times relative to the store's clock. NULL: `fingerprint`
     * does it; else a consumer (protocol.h) is known field by field, and any other actor byte by
     * byte, which is sound and finds more states than there are. */
    uint64_t (*knows)(const struct fingerprint *same, uint64_t hash, const struct actor *actor);

    /* ---- hunting ---- */

    /* The hunting scenarios of enumerated sabotages, used in turn, NULL last; at most
     * KILL_SCENARIOS_MAX. */
    const char *const *grounds;
    /* The hunting scenarios for this bundle and primitive, where few scenarios send it; NULL:
     * `grounds`. The hook may be NULL, too. */
    const char *const *(*only_grounds)(enum bundle_name bundle, enum primitive_id primitive);

    /* ---- words ---- */

    /* The name of a row that has one of its own (ROW_ITSELF of model/table.h), by its key: "left".
     * NULL: "account 2", the second row of that table. */
    struct name (*thing)(const struct names *names, enum row_table table, int64_t key);
    /* Changes the described name of a row where that says too little. NULL: it never does. */
    void (*row)(const struct names *names, enum row_table table, uint32_t slot, struct name *name);
    /* A message of the queue, key first, and what it is about. NULL: "message of 100", its
     * content; as the message. */
    struct name (*message)(const struct names *names, const int64_t *message);
    struct name (*subject)(const struct names *names, const int64_t *message);
    /* What was sent. NULL: the bundle's name and the message. */
    void (*sent)(const struct trace_effect *effect);
    /* Tells a change that the description of its table does not tell well. False: the generic
     * teller does. NULL: it always does. */
    bool (*change)(const struct trace_effect *effect, const struct row_change *change);
    /* The tables in the order in which their changes are told, TABLE_COUNT last. NULL: changes are
     * told in the order in which they were made. */
    const enum row_table *order;
    /* Whether a message that was published is called by its subject alone. NULL: none is. */
    bool (*is_child)(const struct run_event *event, const int64_t *message);
    /* Whether the first value that the bundle returns is a ledger, and the point of it: it is told.
     * NULL: none is. */
    bool (*reads_ledger)(enum bundle_name bundle);
    /* Why a bundle was skipped. NULL: "done before". */
    const char *(*skip_reason)(enum bundle_name bundle);
    /* A remark on a commit, after "committed, "; NULL: none. The hook may be NULL, too. */
    const char *(*remark)(const struct run_event *event);
    /* A kind of message, where a story summarises several steps. NULL: "message". */
    const char *(*kind)(int64_t kind);
    /* What else the breaking step changed, " and the semaphore from 2 to 1", into an empty `out`.
     * NULL: nothing. */
    void (*also)(const struct story_telling *telling, char *out, size_t size);
    /* The status of the job that a commit changed; told after the changes. False: there is none to
     * tell. NULL: there never is. */
    bool (*status)(const struct trace_effect *effect, struct part_status *status);
    /* The status of the next job from the slot on, which is moved behind it; the oracle judges it when
     * all is done (`reported`). False: there is no further one. NULL: the protocol has none. */
    bool (*next_status)(const struct rows *rows, uint32_t *slot, struct part_status *status);
    /* The rows that a finding is about, before and after. NULL: not shown. */
    void (*ledgers)(const struct story_telling *telling);
    /* Whether these rows show that the protocol has halted before its work was done, and why, in
     * one line into `out`. NULL: it never does. */
    bool (*halted)(const struct rows *rows, char *out, size_t size);
};

const struct sim_part *sim_part_of(const struct protocol *protocol);
const struct monitors *sim_part_monitors(const struct protocol *protocol);

/* Nothing is left to be done: the live promises, and every status that is reported. */
struct oracle_verdict sim_part_settled(struct oracle *oracle, const struct sim_part *part,
                                       const struct rows *rows, bool quiet);

/* "flow 2 with what it awaits", and its status in words. */
struct name sim_part_status_name(const struct names *names, const struct part_status *status);
const char *sim_part_status_text(const struct part_status *status);

/* The default of `applies`: crash-before-ack hits acks, reorder hits claims of the queue, delay
 * hits bundles that publish, group answer hits nothing, every other fault hits every bundle. */
bool sim_part_applies(const struct run *run, enum fault_kind kind, unsigned actor);

#endif

/* The planted bugs of the pipeline. */
#include "faults/pipeline_guards.h"
#include "faults/sabotage_book.h"
#include "model/pipeline.h"

#include "model/identity.h"

enum {
    NO_ENTRY_WRITE,
    NO_CAS,
    EARLY_GUARDS,
    STAMPS_AGAIN,
    ONE_PRINCIPAL,
    SECOND_SET,
    ASSUMES_COMMIT,
    TEARS,
    DELETES,
    SECOND_REVIEW,
    SECOND_VERIFY,
    STAMPS_SET,
    FORGETS_FROM,
    REOPENS,
    VERIFIES_UNDO,
    DROPS_REREVIEW,
    DROPS_REVERIFY,
    NO_LOCK_NO_CAS,
    REVIEWS_ESCALATION,
    OTHER_DECISION,
    OTHER_OUTCOME,
    TAKES_PRIOR,
    NO_REREVIEW,
    FORGETS_ROW,
    FORGETS_UNDO,
    OTHER_REASON,
    NO_LOCK,
    LOCKS_LATE,
    CUTS_UNSERIAL,
    VERIFIES_UNSERIAL,
    REVIEWS_SERIAL,
    READS_IN_PIECES,
    TRIES_UNTOLD,
    TRIES_START_ANEW,
    TRIES_NOT_COUNTED,
    GIVES_UP_EARLY,
    PUTS_BACK,
    TURNED_AWAY_FREE,
    SWEEPS_ON,
    SWEEPS_ONCE,
    FOLLOWS_FIRST,
    GUARDS_OFF = 64 /* plus a set of enum pipeline_guard */
};

static const struct sabotage named[] = {
    [NO_ENTRY_WRITE] =
        {.name = "review-without-entry-write",
         .about = "a re-review that leaves the status as it is does not write the entry's row",
         .scenario =
             "pipeline-race"}, /* CUT then commits on a superseded decision, with no 40001 */
    [NO_CAS] = {.name = "pipeline-status-without-cas",
                .about = "a status is set whatever it was",
                .scenario = "pipeline"},
    [EARLY_GUARDS] = {.name = "pipeline-guard-outside-transaction",
                      .about = "a CUT's guards are looked at before its transaction, not inside it",
                      .scenario = "pipeline-race"},
    [STAMPS_AGAIN] = {.name = "pipeline-superseded-twice",
                      .about = "a re-review stamps a decision that another has superseded",
                      .scenario = "pipeline-people"},
    [ONE_PRINCIPAL] = {.name = "pipeline-verifier-is-executor",
                       .about = "VERIFY connects and signs as cutter_exec",
                       .scenario = "pipeline-pair"},
    [SECOND_SET] = {.name = "pipeline-second-live-change-set",
                    .about = "a CUT that is tried again draws a new id and forces the status",
                    .scenario = "pipeline"},
    [ASSUMES_COMMIT] = {.name = "pipeline-assume-committed",
                        .about = "an answer that was lost is taken for a commit",
                        .scenario = "pipeline"},
    [TEARS] = {.name = "pipeline-torn-rollback",
               .about = "a phase that is rolled back leaves half of its rows",
               .scenario = "pipeline"},
    [DELETES] = {.name = "pipeline-delete-to-undo",
                 .about = "VERIFY connects as the tables' owner, and deletes what a set that fails "
                          "affected",
                 .scenario = "pipeline-pair"},
    [SECOND_REVIEW] = {.name = "pipeline-second-review",
                       .about = "a REVIEW that is tried again draws new ids and forces the status",
                       .scenario = "pipeline-crowd"},
    [SECOND_VERIFY] = {.name = "pipeline-second-verify",
                       .about = "a VERIFY that is tried again draws new ids and forces the status",
                       .scenario = "pipeline"},
    [STAMPS_SET] = {.name = "pipeline-verifier-stamps-set",
                    .about = "VERIFY connects as the tables' owner, and stamps the change set",
                    .scenario = "pipeline-pair"},
    [FORGETS_FROM] = {.name = "pipeline-history-from-nothing",
                      .about = "a row of history does not say where its move began",
                      .scenario = "pipeline-pair"},
    [REOPENS] = {.name = "pipeline-reverify-reopens",
                 .about = "a re-verify that passes takes the entry back to cut_applied",
                 .scenario = "pipeline"},
    [VERIFIES_UNDO] = {.name = "pipeline-verify-compensation",
                       .about = "VERIFY takes the newest change set, a compensating one as well",
                       .scenario = "pipeline"},
    [DROPS_REREVIEW] = {.name = "pipeline-drops-rereview",
                        .about = "a re-review is stopped without a look, and its request acked",
                        .scenario = "pipeline"},
    [DROPS_REVERIFY] = {.name = "pipeline-drops-reverify",
                        .about = "a re-verify is stopped without a look, and its request acked",
                        .scenario = "pipeline"},
    [NO_LOCK_NO_CAS] = {.name = "pipeline-neither-lock-nor-cas",
                        .about = "phases take no lock; a status is read, and then set whatever it "
                                 "has become",
                        .scenario = "pipeline-race"}, /* either of the two would hold (E-CUT-5) */
    [REVIEWS_ESCALATION] = {.name = "pipeline-reviews-escalation",
                            .about = "REVIEW takes the newest entry that is marked, an escalation "
                                     "as well",
                            .scenario = "pipeline-crowd"}, /* E-CUT-20 */
    [OTHER_DECISION] = {.name = "pipeline-asks-for-opposite",
                        .about = "a review is asked for with the opposite decision, and made so",
                        .scenario = "pipeline"},
    [OTHER_OUTCOME] = {.name = "pipeline-finds-opposite",
                       .about = "a verify is asked for with the opposite outcome, and comes to it",
                       .scenario = "pipeline"},
    [TAKES_PRIOR] = {.name = "pipeline-review-id-collides",
                     .about = "a re-review is asked for under the id of the decision before it, "
                              "which then answers it",
                     .scenario = "pipeline-race"}, /* E-CUT-9 */
    [NO_REREVIEW] = {.name = "pipeline-approval-is-final",
                     .about = "a decision that approves is followed by its CUT alone, and no "
                              "re-review is asked for",
                     .scenario = "pipeline-race"},
    [FORGETS_ROW] = {.name = "pipeline-cut-forgets-row",
                     .about = "a change set of several affected rows lacks the last one",
                     .scenario = "pipeline-pair"},
    [FORGETS_UNDO] = {.name = "pipeline-undo-forgets-row",
                      .about = "a compensating set does not undo the last affected row",
                      .scenario = "pipeline-pair"},
    [OTHER_REASON] = {.name = "pipeline-tells-other-reason",
                      .about = "people are told of a missing parent where a column is null",
                      .scenario = "pipeline-people"},
    [NO_LOCK] = {.name = "pipeline-no-lock",
                 .about = "no phase takes the advisory lock of its entry",
                 .scenario = "pipeline"}, /* compare-and-set serialises them as well (E-CUT-5) */
    [LOCKS_LATE] = {.name = "pipeline-lock-late",
                    .about = "a phase takes the advisory lock after its guards",
                    .scenario = "pipeline"},
    [CUTS_UNSERIAL] = {.name = "pipeline-cut-read-committed",
                       .about = "CUT runs at READ COMMITTED",
                       .scenario = "pipeline"},
    [VERIFIES_UNSERIAL] = {.name = "pipeline-verify-read-committed",
                           .about = "VERIFY runs at READ COMMITTED",
                           .scenario = "pipeline"},
    [REVIEWS_SERIAL] = {.name = "pipeline-review-serializable",
                        .about = "REVIEW runs SERIALIZABLE, and is retried for nothing",
                        .scenario = "pipeline"},
    [READS_IN_PIECES] = {.name = "pipeline-read-committed",
                         .about = "what became of a phase is read at READ COMMITTED",
                         .scenario = "pipeline"},
    [TRIES_UNTOLD] = {.name = "pipeline-tries-untold",
                      .about = "history says of every phase that it was never retried",
                      .scenario = "pipeline-storm"},
    [TRIES_START_ANEW] = {.name = "pipeline-tries-start-anew",
                          .about = "what was counted before an outcome was read is forgotten",
                          .scenario = "pipeline-storm"},
    [TRIES_NOT_COUNTED] = {.name = "pipeline-tries-not-counted",
                           .about = "a phase that fails is tried again and not counted",
                           .scenario = "pipeline-storm"},
    [GIVES_UP_EARLY] = {.name = "pipeline-gives-up-early",
                        .about = "a phase is stopped as exhausted when it fails for the first time",
                        .scenario = "pipeline-storm"},
    [PUTS_BACK] = {.name = "pipeline-puts-back-for-ever",
                   .about = "a request whose phase is out of tries is put back, and no sweep asks",
                   .scenario = "pipeline-stubborn"}, /* E-CUT-16 */
    [TURNED_AWAY_FREE] = {.name = "pipeline-turned-away-not-counted",
                          .about = "no connection to be had (53300) does not count as a try",
                          .scenario = "pipeline-storm"}, /* E-CUT-15 */
    [SWEEPS_ON] = {.name = "pipeline-sweeps-for-ever",
                   .about = "a sweep asks for a stopped phase again however often it has passed",
                   .scenario = "pipeline-sweep"}, /* E-CUT-21 */
    [SWEEPS_ONCE] = {.name = "pipeline-sweeps-once",
                     .about = "a sweep hands a stopped phase to people on its first pass",
                     .scenario = "pipeline-stubborn"},
    [FOLLOWS_FIRST] = {.name = "pipeline-follows-first-signature",
                       .about = "a phase signs after the first signature of its lane, not the last",
                       .scenario = "pipeline-chain"}, /* E-CUT-19 */
    {.name = "pipeline-compensation-without-escalation",
     .about = "a verify that fails undoes the change set and tells nobody",
     .scenario = "pipeline-pair",
     SABOTAGE_AS(DROP, VERIFY, RAISE)},
    {.name = "pipeline-mark-does-not-look",
     .about = "a MARK writes without a look for the entry, and relies on its key",
     .scenario = "pipeline-people",
     SABOTAGE_AS(DROP, MARK, NEED_NEW)},
    {.name = "pipeline-split-cut",
     .about = "the change set is committed before its rows, status and history",
     .scenario = "pipeline-pair",
     SABOTAGE_AS(SPLIT, CUT, ADD_SET)},
    {.name = "pipeline-split-verify",
     .about = "the verify result is committed before the status",
     .scenario = "pipeline-pair",
     SABOTAGE_AS(SPLIT, VERIFY, ADD_VERIFY)},
    SABOTAGE_WORK("examination", "pipeline"),
    {.name = "pipeline-hands-on-for-ever",
     .about = "what follows a phase is asked for again and again, and not counted",
     .scenario = "pipeline-stubborn",
     .kind = SABOTAGE_TRIES_ENDLESS,
     .bundle = BUNDLE_HAND_ON},
    {.name = "pipeline-hands-on-once",
     .about = "what follows a phase is asked for once; if that fails, the claim is let go",
     .scenario = "pipeline-stubborn",
     .kind = SABOTAGE_TRIES_NONE,
     .bundle = BUNDLE_HAND_ON},
};

#define SMALL 1000000 /* a number above it is an id */

/* ---- what they do ---------------------------------------------------------------------------- */

static bool lacks(const struct sabotage *sabotage, enum pipeline_guard guard)
{
    return sabotage->which >= GUARDS_OFF && ((unsigned)sabotage->which & (unsigned)guard) != 0;
}

static void change_primitives(const struct sabotage *sabotage, struct primitive *table)
{
    static const struct primitive deletes = {
        .name = "delete row",
        .params = 4,
        .op_count = 1,
        .ops = {{OP_DELETE, TABLE_AFFECTED_ROW, .key = OPERAND_PARAM}}};
    /* with a signature that is there: need cut has just read it */
    static const struct op stamp = {OP_SET, TABLE_CHANGE_SET, CHANGE_SET_VERIFIER,
                                    .key = OPERAND_PARAM, .value = OPERAND_VALUE};
    static const uint8_t from_nothing[PAST_COLUMNS] = {OPERAND_PARAM + 1, OPERAND_ZERO,
                                                       OPERAND_PARAM + 3, OPERAND_PARAM + 4};
    struct primitive *copy = &table[SABOTAGE_COPY];
    *copy = primitive_table[PRIMITIVE_MOVE]; /* for bugs that force the status */
    copy->ops[0].test = TEST_NONE;
    switch (sabotage->which) {
    case NO_ENTRY_WRITE:
        *copy = primitive_table[PRIMITIVE_MOVE];
        copy->ops[0].kind = OP_TEST;
        copy->ops[0].lock = LOCK_NONE;
        break;
    case NO_CAS:
        table[PRIMITIVE_MOVE] = *copy;
        break;
    case NO_LOCK_NO_CAS:
        table[PRIMITIVE_MOVE].ops[1] = copy->ops[0];
        table[PRIMITIVE_MOVE].ops[0].kind = OP_TEST;
        table[PRIMITIVE_MOVE].ops[0].lock = LOCK_NONE;
        table[PRIMITIVE_MOVE].op_count = 2;
        break;
    case FOLLOWS_FIRST:
        table[PRIMITIVE_SIGN_LAST].ops[0].unnamed = 0;
        break;
    case STAMPS_AGAIN:
        table[PRIMITIVE_SUPERSEDE].ops[0].test = TEST_NONE;
        break;
    case DELETES:
        *copy = deletes;
        break;
    case STAMPS_SET:
        table[PRIMITIVE_NEED_CUT].ops[table[PRIMITIVE_NEED_CUT].op_count++] = stamp;
        break;
    case FORGETS_FROM:
        table[PRIMITIVE_ADD_PAST].ops[0].columns = from_nothing;
        break;
    default:
        if (lacks(sabotage, PIPELINE_GUARD_CAS)) {
            table[PRIMITIVE_MOVE] = *copy;
        }
        break;
    }
}

static bool is_guard(uint8_t primitive)
{
    return primitive == PRIMITIVE_NEED_APPROVAL || primitive == PRIMITIVE_NEED_BLOCKERS ||
           primitive == PRIMITIVE_NEED_UNCUT;
}

static int64_t cell(const struct rows *rows, enum row_table table, int64_t key, int column)
{
    uint32_t slot = row_find(rows, table, key);
    return slot == ROW_NONE ? 0 : row_get(rows, table, slot, column);
}

static bool are_complete(const struct rows *rows, int64_t entry, int64_t complete)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_DEPENDENCY].used; slot++) {
        int64_t needed = row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_TO);
        if (row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_FROM) == entry &&
            cell(rows, TABLE_ENTRY, needed, ENTRY_STATUS) != complete) {
            return false;
        }
    }
    return true;
}

/* But for a change set that is there: its key says so, too. */
static bool guard_holds(const struct rows *rows, uint8_t primitive, const int64_t *params)
{
    if (primitive == PRIMITIVE_NEED_APPROVAL) {
        return cell(rows, TABLE_REVIEW, params[2], REVIEW_DECISION) == params[1] &&
               cell(rows, TABLE_REVIEW, params[2], REVIEW_BY) == 0;
    }
    return primitive == PRIMITIVE_NEED_UNCUT || are_complete(rows, params[0], params[1]);
}

/* The last compensating set; 0: there is none. */
static int64_t compensating_set(const struct rows *rows)
{
    for (uint32_t slot = rows->table[TABLE_CHANGE_SET].used; slot > 0; slot--) {
        if (row_get(rows, TABLE_CHANGE_SET, slot - 1, CHANGE_SET_COMPENSATES) != 0) {
            return row_key(rows, TABLE_CHANGE_SET, slot - 1);
        }
    }
    return 0;
}

/* The last untouched escalation; 0: there is none. */
static int64_t marked_escalation(const struct rows *rows)
{
    for (uint32_t slot = rows->table[TABLE_ENTRY].used; slot > 0; slot--) {
        if (row_get(rows, TABLE_ENTRY, slot - 1, ENTRY_KIND) == ENTRY_ESCALATION &&
            row_get(rows, TABLE_ENTRY, slot - 1, ENTRY_STATUS) == STATUS_MARKED) {
            return row_key(rows, TABLE_ENTRY, slot - 1);
        }
    }
    return 0;
}

/* The read, a moment before. */
static void look(const struct sabotage *sabotage, struct sabotage_memory *memory,
                 const struct bundle *next, const struct rows *rows)
{
    if (sabotage->which == VERIFIES_UNDO && next->name == BUNDLE_VERIFY) {
        memory->stale = compensating_set(rows);
    }
    if (sabotage->which == REVIEWS_ESCALATION && next->name == BUNDLE_REVIEW) {
        memory->stale = marked_escalation(rows);
    }
    if (sabotage->which != EARLY_GUARDS || next->name != BUNDLE_CUT) {
        return;
    }
    memory->flag = true;
    for (int i = 0; i < next->count; i++) {
        const struct call *call = &next->calls[i];
        memory->flag =
            memory->flag && (!is_guard(call->primitive) ||
                             guard_holds(rows, call->primitive, &next->params[call->params]));
    }
}

static void leave_out(struct bundle *bundle, int at)
{
    for (int i = at; i + 1 < bundle->count; i++) {
        bundle->calls[i] = bundle->calls[i + 1];
    }
    bundle->count--;
}

static void trust_guards(const struct sabotage_memory *memory, struct bundle *bundle)
{
    for (int i = bundle->count - 1; memory->flag && i >= 0; i--) {
        if (is_guard(bundle->calls[i].primitive)) {
            leave_out(bundle, i);
        }
    }
}

/* An unchanged status is compared and not written. */
static void leave_entry_alone(struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        const int64_t *params = &bundle->params[bundle->calls[i].params];
        if (bundle->calls[i].primitive == PRIMITIVE_MOVE && params[1] == params[2]) {
            bundle->calls[i].primitive = SABOTAGE_COPY;
        }
    }
}

/* Existing rows keep their ids. */
static bool is_old(const int64_t *message, int64_t id)
{
    int64_t source = message[1 + REQUEST_SOURCE], prior = message[1 + REQUEST_PRIOR];
    return id == message[1 + REQUEST_ENTRY] || id == source || id == prior ||
           id == identity_mint(source, IDENTITY_SIGNATURE) ||
           id == identity_mint(prior, IDENTITY_SIGNATURE);
}

/* Another id for every row that a phase inserts, so many times on. */
static void draw_ids(const struct actor *actor, struct bundle *bundle, int64_t times)
{
    const int64_t *message = ACTOR_IS(actor, pipeline_worker)->message;
    for (int i = 0; times > 0 && i < bundle->count; i++) {
        struct call *call = &bundle->calls[i];
        int64_t *params = &bundle->params[call->params];
        bool reads = is_guard(call->primitive) || call->primitive == PRIMITIVE_NEED_CUT;
        for (int p = 0; !reads && p < primitive_table[call->primitive].params; p++) {
            bool draws = params[p] > SMALL && params[p] != PIPELINE_ANY_ID;
            params[p] += draws && !is_old(message, params[p]) ? times : 0;
        }
    }
}

/* For each claim of its request, and the status without a comparison. */
static void draw_and_force(const struct actor *actor, struct bundle *bundle)
{
    int64_t times = ACTOR_IS(actor, pipeline_worker)->message[1 + MESSAGE_EPOCH] - 1;
    draw_ids(actor, bundle, times);
    for (int i = 0; times > 0 && i < bundle->count; i++) {
        struct call *call = &bundle->calls[i];
        call->primitive = call->primitive == PRIMITIVE_MOVE ? SABOTAGE_COPY : call->primitive;
    }
}

/* For each claim of a request and each copy of it. */
static void draw_each(const struct actor *actor, struct bundle *bundle)
{
    const int64_t *message = ACTOR_IS(actor, pipeline_worker)->message;
    bool original = false;
    for (int path = 0; path <= PIPELINE_ENTRIES_MAX; path++) {
        original =
            original || message[0] == identity_mint(message[1 + REQUEST_ROW], IDENTITY_ASKS + path);
    }
    draw_ids(actor, bundle,
             message[1 + MESSAGE_EPOCH] - 1 + (original ? 0 : 16 + (message[0] & 0xFFF)));
}

static void move_to_cut(struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        int64_t *params = &bundle->params[bundle->calls[i].params];
        uint8_t primitive = bundle->calls[i].primitive;
        if (primitive == PRIMITIVE_MOVE && params[1] == STATUS_COMPLETE &&
            params[2] == STATUS_COMPLETE) {
            params[2] = STATUS_CUT;
        }
    }
}

/* Verifies the set that was found, without regard to its signer. */
static void verify_found(const struct sabotage_memory *memory, struct bundle *bundle)
{
    for (int i = bundle->count - 1; memory->stale != 0 && i >= 0; i--) {
        if (bundle->calls[i].primitive == PRIMITIVE_ADD_VERIFY) {
            bundle->params[bundle->calls[i].params + 1] = memory->stale;
        } else if (bundle->calls[i].primitive == PRIMITIVE_NEED_CUT) {
            leave_out(bundle, i);
        }
    }
}

/* Only a first review can concern a marked entry. */
static void review_found(const struct sabotage_memory *memory, const struct actor *actor,
                         struct bundle *bundle)
{
    const int64_t *message = ACTOR_IS(actor, pipeline_worker)->message;
    bool first = message[1 + REQUEST_PRIOR] == 0 && memory->stale != 0;
    for (uint16_t p = 0; first && p < bundle->param_count; p++) {
        bundle->params[p] =
            bundle->params[p] == message[1 + REQUEST_ENTRY] ? memory->stale : bundle->params[p];
    }
}

static void sign_as_executor(struct bundle *bundle)
{
    bundle->principal = PRINCIPAL_EXEC;
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_SIGN) {
            bundle->params[bundle->calls[i].params + 3] = PRINCIPAL_EXEC;
        }
    }
}

/* The rows of a compensating set become deletions of those of the set that failed. */
static void delete_instead(const struct actor *actor, struct bundle *bundle)
{
    int64_t set = ACTOR_IS(actor, pipeline_worker)->message[1 + REQUEST_SOURCE];
    int row = 0;
    bundle->principal = PRINCIPAL_NONE; /* who has all rights */
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_AFFECT) {
            bundle->calls[i].primitive = SABOTAGE_COPY;
            bundle->params[bundle->calls[i].params] = identity_mint(set, IDENTITY_AFFECTED + row++);
        }
    }
}

static void leave_out_lock(struct bundle *bundle)
{
    for (int i = bundle->count - 1; i >= 0; i--) {
        if (bundle->calls[i].primitive == PRIMITIVE_LOCK_ENTRY) {
            leave_out(bundle, i);
        }
    }
}

/* Of the second transaction only the lock is sent. */
#define STOPPED 1
static void stop_again(const struct actor *actor, struct bundle *bundle)
{
    if (ACTOR_IS(actor, pipeline_worker)->message[1 + REQUEST_PRIOR] != 0) {
        bundle->count = STOPPED;
    }
}

/* ---- what the store sees --------------------------------------------------------------------- */

/* After everything else. */
static void lock_late(struct bundle *bundle)
{
    const struct call lock = bundle->calls[0];
    if (bundle->count > 1 && lock.primitive == PRIMITIVE_LOCK_ENTRY) {
        leave_out(bundle, 0);
        bundle->calls[bundle->count++] = lock;
    }
}

static bool is_phase(const struct bundle *bundle)
{
    return bundle->name == BUNDLE_MARK || bundle->name == BUNDLE_REVIEW ||
           bundle->name == BUNDLE_CUT || bundle->name == BUNDLE_VERIFY;
}

/* Lowers the number of tries that a phase reports. */
static void tell_fewer_tries(struct bundle *bundle, int64_t fewer)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_ADD_PAST) {
            int64_t *tries = &bundle->params[bundle->calls[i].params + 4];
            *tries = *tries > fewer ? *tries - fewer : 0;
        }
    }
}

/* `stale` is the count when an outcome was last read. */
static void count_from_read(struct sabotage_memory *memory, const struct actor *actor,
                            struct bundle *bundle)
{
    if (memory->flag) {
        memory->stale = ACTOR_IS(actor, pipeline_worker)->tries;
        memory->flag = false;
    }
    tell_fewer_tries(bundle, memory->stale);
}

static void log_sweep(const int64_t *message, struct bundle *bundle, enum sweep_reason why,
                      int64_t stops)
{
    BUNDLE_CALL(bundle, PRIMITIVE_LOG_SWEEP, CALL_REQUIRE, 0,
                identity_mint(identity_mint(message[0], IDENTITY_NOTE + why), stops),
                message[1 + REQUEST_ENTRY], message[1 + REQUEST_PHASE], why, message[0]);
}

/* Instead of a second try: the request is stopped, and the sweep becomes its owner. */
static void give_up(const struct actor *actor, struct bundle *bundle)
{
    const int64_t *message = ACTOR_IS(actor, pipeline_worker)->message;
    int64_t stops = message[1 + REQUEST_STOPS];
    bundle_begin(bundle, BUNDLE_STOP);
    BUNDLE_CALL(bundle, PRIMITIVE_STOP, CALL_REQUIRE, 0, message[0], message[1 + MESSAGE_EPOCH],
                stops, stops + 1, PROTOCOL_NEVER);
    log_sweep(message, bundle, SWEEP_EXHAUSTED, stops + 1);
}

/* The request comes again by itself, in a tick. */
static void put_back(const struct actor *actor, struct bundle *bundle)
{
    const struct pipeline_worker *worker = ACTOR_IS(actor, pipeline_worker);
    bundle_begin(bundle, BUNDLE_STOP);
    BUNDLE_CALL(bundle, PRIMITIVE_PUT_BACK, CALL_REQUIRE, 0, worker->message[0],
                worker->message[1 + MESSAGE_EPOCH], 1);
    log_sweep(worker->message, bundle, SWEEP_EXHAUSTED, worker->stops);
}

/* A pass of the sweep comes to this, whichever it is. */
static void pass(const struct actor *actor, struct bundle *bundle, bool again)
{
    const int64_t *message = ACTOR_IS(actor, pipeline_worker)->message;
    int64_t stops = message[1 + REQUEST_STOPS];
    bundle_begin(bundle, BUNDLE_SWEEP);
    if (again) {
        BUNDLE_CALL(bundle, PRIMITIVE_ASK_AGAIN, CALL_REQUIRE, 0, message[0], stops, 1);
    } else {
        BUNDLE_CALL(bundle, PRIMITIVE_GIVE_UP, CALL_REQUIRE, 0, message[0], stops);
    }
    log_sweep(message, bundle, again ? SWEEP_AGAIN : SWEEP_GIVEN_UP, stops);
}

/* Bugs of what becomes of a phase that is out of tries. */
static void rewrite_stop(const struct sabotage *sabotage, const struct actor *actor,
                         struct bundle *bundle)
{
    if (sabotage->which == PUTS_BACK && bundle->name == BUNDLE_STOP) {
        put_back(actor, bundle);
    } else if (bundle->name == BUNDLE_SWEEP &&
               (sabotage->which == SWEEPS_ON || sabotage->which == SWEEPS_ONCE)) {
        pass(actor, bundle, sabotage->which == SWEEPS_ON);
    }
}

static void rewrite_seen(const struct sabotage *sabotage, struct sabotage_memory *memory,
                         const struct actor *actor, struct bundle *bundle)
{
    bool cuts = bundle->name == BUNDLE_CUT, verifies = bundle->name == BUNDLE_VERIFY;
    if (sabotage->which == NO_LOCK) {
        leave_out_lock(bundle);
    } else if (sabotage->which == LOCKS_LATE) {
        lock_late(bundle);
    } else if ((sabotage->which == CUTS_UNSERIAL && cuts) ||
               (sabotage->which == VERIFIES_UNSERIAL && verifies) ||
               (sabotage->which == READS_IN_PIECES && bundle->name == BUNDLE_READ)) {
        bundle->isolation = READ_COMMITTED;
    } else if (sabotage->which == REVIEWS_SERIAL && bundle->name == BUNDLE_REVIEW) {
        bundle->isolation = SERIALIZABLE;
    } else if (sabotage->which == TRIES_UNTOLD) {
        tell_fewer_tries(bundle, INT64_MAX);
    } else if (sabotage->which == TRIES_START_ANEW && is_phase(bundle)) {
        count_from_read(memory, actor, bundle);
    } else if (sabotage->which == GIVES_UP_EARLY && is_phase(bundle) && memory->flag) {
        give_up(actor, bundle);
    } else {
        rewrite_stop(sabotage, actor, bundle);
    }
}

/* ---- what is asked for, and how much of it is done ------------------------------------------- */

/* The request that a call publishes, key first; NULL: it publishes none. */
static int64_t *published(struct bundle *bundle, int at)
{
    return bundle->calls[at].primitive == PRIMITIVE_PUBLISH
               ? &bundle->params[bundle->calls[at].params]
               : NULL;
}

static void ask_opposite(struct bundle *bundle, int64_t phase)
{
    for (int i = 0; i < bundle->count; i++) {
        int64_t *request = published(bundle, i);
        if (request != NULL && request[1 + REQUEST_PHASE] == phase) {
            request[1 + REQUEST_RESULT] =
                DECISION_APPROVE + DECISION_REJECT - request[1 + REQUEST_RESULT];
        }
    }
}

/* Re-reviews get the name of the decision before them, or are left out where a CUT is asked for. */
static void spoil_rereviews(struct bundle *bundle, bool leaves_out)
{
    bool cuts = false;
    for (int i = 0; i < bundle->count; i++) {
        cuts = cuts || (published(bundle, i) != NULL &&
                        published(bundle, i)[1 + REQUEST_PHASE] == PHASE_CUT);
    }
    for (int i = bundle->count - 1; i >= 0; i--) {
        int64_t *request = published(bundle, i);
        if (request == NULL || request[1 + REQUEST_PHASE] != PHASE_REVIEW ||
            request[1 + REQUEST_PRIOR] == 0) {
            continue;
        }
        if (!leaves_out) {
            request[1 + REQUEST_ROW] = request[1 + REQUEST_PRIOR];
        } else if (cuts) {
            leave_out(bundle, i);
        }
    }
}

/* Leaves out the last of several affected rows. */
static void forget_row(struct bundle *bundle)
{
    int last = -1, rows = 0;
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_AFFECT) {
            last = i;
            rows++;
        }
    }
    if (rows > 1) {
        leave_out(bundle, last);
    }
}

static void tell_other_reason(struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        int64_t *row = &bundle->params[bundle->calls[i].params];
        if (bundle->calls[i].primitive == PRIMITIVE_LOG_SWEEP &&
            row[1 + SWEEP_LOG_WHY] == SWEEP_NULL) {
            row[1 + SWEEP_LOG_WHY] = SWEEP_NO_PARENT;
        }
    }
}

/* Bugs in what is asked for, and in how much is done. */
static void rewrite_more(const struct sabotage *sabotage, struct bundle *bundle)
{
    bool hands_on = bundle->name == BUNDLE_HAND_ON;
    if (hands_on && (sabotage->which == OTHER_DECISION || sabotage->which == OTHER_OUTCOME)) {
        ask_opposite(bundle, sabotage->which == OTHER_DECISION ? PHASE_REVIEW : PHASE_VERIFY);
    } else if (hands_on && (sabotage->which == TAKES_PRIOR || sabotage->which == NO_REREVIEW)) {
        spoil_rereviews(bundle, sabotage->which == NO_REREVIEW);
    } else if (hands_on && sabotage->which == OTHER_REASON) {
        tell_other_reason(bundle);
    } else if ((sabotage->which == FORGETS_ROW && bundle->name == BUNDLE_CUT) ||
               (sabotage->which == FORGETS_UNDO && bundle->name == BUNDLE_VERIFY)) {
        forget_row(bundle);
    }
}

static void take_guards_away(const struct sabotage *sabotage, const struct actor *actor,
                             struct bundle *bundle)
{
    bool cuts = bundle->name == BUNDLE_CUT, verifies = bundle->name == BUNDLE_VERIFY;
    if (lacks(sabotage, PIPELINE_GUARD_LOCK)) {
        leave_out_lock(bundle);
    }
    if (lacks(sabotage, PIPELINE_GUARD_ISOLATION) && (cuts || verifies)) {
        bundle->isolation = READ_COMMITTED;
    }
    if (lacks(sabotage, PIPELINE_GUARD_KEYS) &&
        (cuts || verifies || bundle->name == BUNDLE_REVIEW)) {
        draw_each(actor, bundle);
    }
}

struct sabotage pipeline_without_guards(unsigned guards)
{
    CHECK(guards < PIPELINE_GUARD_SETS);
    return (struct sabotage){.name = "pipeline-without-guards",
                             .about = "phases run without some of their guards",
                             .scenario = "pipeline-race",
                             .protocol = &protocol_pipeline,
                             .kind = SABOTAGE_NAMED,
                             .which = (uint8_t)(GUARDS_OFF + guards)};
}

static void rewrite(const struct sabotage *sabotage, struct sabotage_memory *memory,
                    const struct actor *actor, struct bundle *bundle)
{
    bool reviews = bundle->name == BUNDLE_REVIEW, cuts = bundle->name == BUNDLE_CUT;
    bool verifies = bundle->name == BUNDLE_VERIFY;
    if (sabotage->which >= GUARDS_OFF) {
        take_guards_away(sabotage, actor, bundle);
    } else if (sabotage->which == EARLY_GUARDS && cuts) {
        trust_guards(memory, bundle);
    } else if ((sabotage->which == DROPS_REREVIEW && reviews) ||
               (sabotage->which == DROPS_REVERIFY && verifies)) {
        stop_again(actor, bundle);
    } else if (sabotage->which == REVIEWS_ESCALATION && reviews) {
        review_found(memory, actor, bundle);
    } else if (sabotage->which == NO_LOCK_NO_CAS) {
        leave_out_lock(bundle);
    } else if (sabotage->which == NO_ENTRY_WRITE && reviews) {
        leave_entry_alone(bundle);
    } else if ((sabotage->which == SECOND_REVIEW && reviews) ||
               (sabotage->which == SECOND_SET && cuts) ||
               (sabotage->which == SECOND_VERIFY && verifies)) {
        draw_and_force(actor, bundle);
    } else if (sabotage->which == ONE_PRINCIPAL && verifies) {
        sign_as_executor(bundle);
    } else if (sabotage->which == DELETES && verifies) {
        delete_instead(actor, bundle);
    } else if (sabotage->which == STAMPS_SET && verifies) {
        bundle->principal = PRINCIPAL_NONE;
    } else if (sabotage->which == REOPENS && verifies) {
        move_to_cut(bundle);
    } else if (sabotage->which == VERIFIES_UNDO && verifies) {
        verify_found(memory, bundle);
    } else {
        rewrite_more(sabotage, bundle);
        rewrite_seen(sabotage, memory, actor, bundle);
    }
}

static bool believe(const struct sabotage *sabotage, struct sabotage_memory *memory,
                    const struct bundle *sent, struct outcome *outcome)
{
    bool aborted = outcome->kind == OUTCOME_ABORTED;
    memory->flag = memory->flag ||
                   (sabotage->which == TRIES_START_ANEW && sent->name == BUNDLE_READ) ||
                   (sabotage->which == GIVES_UP_EARLY && is_phase(sent) && aborted);
    bool free = sabotage->which == TRIES_NOT_COUNTED ||
                (sabotage->which == TURNED_AWAY_FREE && outcome->aborted == ABORT_CONNECTIONS);
    if (free && is_phase(sent) && aborted) {
        return false;
    }
    if (sabotage->which == ASSUMES_COMMIT && is_phase(sent) && outcome->kind == OUTCOME_UNKNOWN) {
        outcome->kind = OUTCOME_COMMITTED;
    }
    bool drops = sabotage->which == DROPS_REREVIEW || sabotage->which == DROPS_REVERIFY;
    if (drops && is_phase(sent) && sent->count == STOPPED && outcome->kind == OUTCOME_COMMITTED) {
        outcome->kind = OUTCOME_REFUSED;
        outcome->refusal = REFUSED_STATUS;
    }
    return true;
}

static bool tears(const struct sabotage *sabotage)
{
    return sabotage->which == TEARS;
}

/* ---- what is enumerated ---------------------------------------------------------------------- */

static const struct sabotage_shape shapes[] = {
    SHAPE(BUNDLE_REQUEST, PRIMITIVE_PUBLISH),
    SHAPE(BUNDLE_CLAIM, PRIMITIVE_CLAIM),
    SHAPE(BUNDLE_MARK, PRIMITIVE_NEED_NEW, PRIMITIVE_ADD_ENTRY, PRIMITIVE_ADD_NULL,
          PRIMITIVE_ADD_PAST, PRIMITIVE_DEPEND, PRIMITIVE_LOG_SWEEP),
    SHAPE(BUNDLE_REVIEW, PRIMITIVE_LOCK_ENTRY, PRIMITIVE_ADD_ENVELOPE, PRIMITIVE_ADD_UNIT,
          PRIMITIVE_ADD_REVIEW, PRIMITIVE_SUPERSEDE, PRIMITIVE_MOVE, PRIMITIVE_ADD_PAST),
    SHAPE(BUNDLE_CUT, PRIMITIVE_LOCK_ENTRY, PRIMITIVE_NEED_APPROVAL, PRIMITIVE_NEED_BLOCKERS,
          PRIMITIVE_NEED_UNCUT, PRIMITIVE_SIGN, PRIMITIVE_SIGN_LAST, PRIMITIVE_ADD_SET,
          PRIMITIVE_AFFECT, PRIMITIVE_MOVE, PRIMITIVE_ADD_PAST),
    SHAPE(BUNDLE_VERIFY, PRIMITIVE_LOCK_ENTRY, PRIMITIVE_NEED_CUT, PRIMITIVE_SIGN,
          PRIMITIVE_SIGN_LAST, PRIMITIVE_COMPENSATE, PRIMITIVE_AFFECT, PRIMITIVE_ADD_VERIFY,
          PRIMITIVE_RAISE, PRIMITIVE_MOVE, PRIMITIVE_ADD_PAST),
    SHAPE(BUNDLE_READ, PRIMITIVE_READ_ENTRY, PRIMITIVE_READ_REVIEW, PRIMITIVE_READ_SET,
          PRIMITIVE_READ_VERIFY),
    SHAPE(BUNDLE_HAND_ON, PRIMITIVE_ACK, PRIMITIVE_LOG_SWEEP, PRIMITIVE_PUBLISH),
    SHAPE(BUNDLE_STOP, PRIMITIVE_STOP, PRIMITIVE_LOG_SWEEP),
    SHAPE(BUNDLE_SWEEP_LOOK, PRIMITIVE_FIND_STOPPED),
    SHAPE(BUNDLE_SWEEP, PRIMITIVE_ASK_AGAIN, PRIMITIVE_GIVE_UP, PRIMITIVE_LOG_SWEEP,
          PRIMITIVE_PUBLISH),
};

#define STATUS_SAYS_IT "only CUT sets the status that VERIFY compares, and with a set so signed"
#define KEY_SAYS_IT    "the key of a change set, minted from its decision, is refused as well (23505)"
#define ONLY_READS     "nothing is written, and whatever is read is true"
#define OTHERS_CLAIM                                                                               \
    "who holds the claim goes on with the phase, and a request that is left is asked for again"
#define NO_LONGER_STANDS                                                                           \
    "the row of this pass is there already (23505): a second pass over one stop is refused whole"

static const struct sabotage_reason equivalents[] = {
    {"pipeline.request/repeat", "a request that is sent twice is one that comes twice"},
    {"pipeline.mark/repeat", "the idempotency key is taken already (23505)"},
    {"pipeline.mark/split-after/add-entry-of-null", "it is refused, so there is no second part"},
    {"pipeline.review/repeat", "the manifest of the decision is there already (23505)"},
    {"pipeline.cut/repeat", "the change set of the decision is there already (23505)"},
    {"pipeline.cut/drop/need-uncut", KEY_SAYS_IT},
    {"pipeline.cut/drop/need-uncut.2", KEY_SAYS_IT},
    {"pipeline.cut/unguard/need-uncut.2", KEY_SAYS_IT},
    {"pipeline.cut/unguard/move-status.1",
     "a decision that stands, approves and is not cut leaves no other status"},
    {"pipeline.verify/repeat", "the result of this verify is there already (23505)"},
    {"pipeline.verify/drop/need-cut", STATUS_SAYS_IT},
    {"pipeline.verify/drop/need-cut.2", STATUS_SAYS_IT},
    {"pipeline.verify/unguard/need-cut.2", STATUS_SAYS_IT},
    {"pipeline.verify/drop/need-cut.3", STATUS_SAYS_IT},
    {"pipeline.verify/unguard/need-cut.3", STATUS_SAYS_IT},
    {"pipeline.verify/drop/need-cut.4", STATUS_SAYS_IT},
    {"pipeline.verify/unguard/need-cut.4", STATUS_SAYS_IT},
    {"pipeline.verify/unguard/move-status.1",
     "a change set that lacks this result leaves its entry no other status"},
    {"pipeline.read/drop/read-entry.2", "of a MARK the row is read once more, payload included"},
    {"pipeline.hand-on/repeat", "the request is gone already"},
    {"pipeline.hand-on/unguard/ack.1",
     "a worker that hands on has done the phase, with or without the claim"},
    {"pipeline.stop/repeat", "the request stands still already"},
    {"pipeline.stop/drop/stop.1", OTHERS_CLAIM},
    {"pipeline.stop/unguard/stop.1", OTHERS_CLAIM},
    {"pipeline.look-at-stops/repeat", ONLY_READS},
    {"pipeline.sweep/repeat", NO_LONGER_STANDS},
    {"pipeline.sweep/unguard/ask-again.1", NO_LONGER_STANDS},
    {"pipeline.sweep/unguard/give-up.1", NO_LONGER_STANDS},
};

/* Of these the rows differ, but nothing that is promised about them. */
static const struct sabotage_reason differing[] = {
    {"pipeline.hand-on/repeat",
     "a request that was acked and asked for again meanwhile is acked by the repetition, under a "
     "claim of the same number: what its new holder would have logged of a stop is not"},
};

const struct sabotage_book sabotage_book_pipeline = {
    SABOTAGE_BOOK(named, shapes, equivalents),
    SABOTAGE_DIFFERING(differing),
    .primitives = change_primitives,
    .ready = look,
    .bundle = rewrite,
    .outcome = believe,
    .tears = tears,
};

/* The named sabotages of the activity protocol: bugs that real systems had, or that a reading of
 * the specification suggests. */
#include "faults/sabotage_book.h"
#include "model/activity_engine.h"

#include "model/check.h"
#include "model/identity.h"
#include "model/ledger.h"

#include <string.h>

#define COPY SABOTAGE_COPY

enum named {
    LITERAL_MARKERS,
    GUID_FROM_FULL_LEDGER,
    DIMENSION_FROM_COUNTER,
    TRUST_STALE_READ,
    JOB_STATE_FIRST,
    FRESH_GUID,
    CEILING_BEFORE_MARKER,
    UNLOCKED_MARKER_TEST,
    UNBUNDLED_STEP2,
    LOST_SNAPSHOT,
    EARLY_ACK,
    READ_THEN_WRITE,
    NO_CEILING,
    CEILING_RACE,
    TORN_ROLLBACK,
    STEP3_BY_SEMAPHORE,
    EAGER_COMPLETION,
    SHARED_DIMENSION,
    RESET_ON_RETRY,
    STEPS_SWAPPED,
    LEG2_BEFORE_LEG1,
    CLOSE_OVERTAKES,
    ASSUME_COMMITTED,
    CHILD_LEFT_OUT,
    CYCLE_CUT_SHORT,
    CYCLE_STORES_42,
    PENDING_NEVER_GIVEN,
    OTHER_BRANCH,
    ONE_INPUT,
    ONE_THRESHOLD,
    CLAIMS_NEVER_EXTENDED,
    TRIES_NOT_COUNTED,
    LETS_GO_AT_ONCE,
    RETRY_WITHOUT_MARKER,
    CLAIM_BY_OWN_CLOCK,
    PUT_BACK_FOR_LONG
};

static const struct sabotage named[] = {
    [LITERAL_MARKERS] = {.name = "literal-markers",
                         .about = "every GUID adds to the activity's marker digits (E-ACL-2)",
                         .scenario = "long-cycle"},
    [GUID_FROM_FULL_LEDGER] = {.name = "guid-from-full-ledger",
                               .about = "a GUID ledger starts as a copy of the whole activity "
                                        "ledger (E-ACL-3)",
                               .scenario = "tree-3"},
    [DIMENSION_FROM_COUNTER] = {.name = "dimension-from-counter",
                                .about = "the dimension is computed from the attempt counter "
                                         "instead of being kept (E-ACL-4)",
                                .scenario = "tree-3"},
    [TRUST_STALE_READ] = {.name = "trust-stale-read",
                          .about = "a step trusts the marker that was read before (E-ACL-5)",
                          .scenario = "tree-3"},
    [JOB_STATE_FIRST] = {.name = "job-state-first",
                         .about = "messages of a closed job are turned away before the GUID ledger "
                                  "is looked at (E-ACL-6)",
                         .scenario = "tree-3"},
    [FRESH_GUID] = {.name = "fresh-guid",
                    .about = "the GUID is minted when the worker answers (E-ACL-7)",
                    .scenario = "tree-3"},
    [CEILING_BEFORE_MARKER] = {.name = "ceiling-before-marker",
                               .about = "the Leg1 ceiling is tested before the completion marker "
                                        "(E-ACL-16)",
                               .scenario = "ceilings"},
    [UNLOCKED_MARKER_TEST] = {.name = "unlocked-marker-test",
                              .about = "Step 2 tests its marker on an old snapshot (E-ACL-25)",
                              .scenario = "crowd"},
    [UNBUNDLED_STEP2] = {.name = "unbundled-step2",
                         .about = "Step 2 sets its markers in a transaction of their own",
                         .scenario = "tree-3"},
    [LOST_SNAPSHOT] = {.name = "lost-snapshot",
                       .about = "that the job closed is kept in memory, not in the GUID ledger",
                       .scenario = "tree-3"},
    [EARLY_ACK] = {.name = "early-ack",
                   .about = "the message is acked before Step 2",
                   .scenario = "tree-3",
                   .kind = SABOTAGE_ACK_EARLY,
                   .bundle = BUNDLE_STEP2},
    [READ_THEN_WRITE] = {.name = "read-then-write",
                         .about = "the semaphore is read, and later written back with the delta",
                         .scenario = "tree-3",
                         SABOTAGE_AS(STALE, STEP2, COLLATE),
                         .op = 3},
    [NO_CEILING] = {.name = "no-ceiling",
                    .about = "entries are counted without a look at the ceilings",
                    .scenario = "ceilings"},
    [CEILING_RACE] = {.name = "ceiling-race",
                      .about = "the Leg1 ceiling is tested on a value read before",
                      .scenario = "last-chance"},
    [TORN_ROLLBACK] = {.name = "torn-rollback",
                       .about = "a transaction that does not commit leaves half of its writes",
                       .scenario = "tree-3"},
    [STEP3_BY_SEMAPHORE] =
        {.name = "step3-by-semaphore",
         .about = "Step 3 runs when the semaphore is 0, not when its GUID closed the job",
         .scenario = "tree-3"},
    [EAGER_COMPLETION] = {.name = "eager-completion",
                          .about = "Step 3 runs after every Step 2",
                          .scenario = "tree-3"},
    [SHARED_DIMENSION] = {.name = "shared-dimension",
                          .about = "every GUID of an activity gets dimension 0",
                          .scenario = "cycle"},
    [RESET_ON_RETRY] = {.name = "reset-on-retry",
                        .about = "a GUID that is entered again starts its ledger afresh",
                        .scenario = "tree-3"},
    [STEPS_SWAPPED] = {.name = "steps-swapped",
                       .about = "Step 2 runs before Step 1",
                       .scenario = "tree-3"},
    [LEG2_BEFORE_LEG1] = {.name = "leg2-before-leg1",
                          .about = "the trigger's Leg2 is entered without its Leg1",
                          .scenario = "tree-3"},
    [CLOSE_OVERTAKES] = {.name = "close-overtakes",
                         .about =
                             "a closing answer does not wait for the pending ones, and they do "
                             "not mind (E-ACL-20)",
                         .scenario = "pending"},
    [ASSUME_COMMITTED] = {.name = "assume-committed",
                          .about = "a lost answer to COMMIT is taken for success (E-ACL-13)",
                          .scenario = "tree-3"},
    /* shows without a fault; a comparison with a run of the same engine cannot detect it */
    [CHILD_LEFT_OUT] = {.name = "child-left-out",
                        .about = "Step 2 spawns one child less, and says so to the semaphore",
                        .scenario = "tree-3"},
    [CYCLE_CUT_SHORT] = {.name = "cycle-cut-short",
                         .about = "Step 2 does not follow its cycle, and says so to the semaphore",
                         .scenario = "cycle"},
    [CYCLE_STORES_42] = {.name = "cycle-stores-42",
                         .about = "what a cycle brought stores 42 instead of its output",
                         .scenario = "cycle"},
    [PENDING_NEVER_GIVEN] = {.name = "pending-never-given",
                             .about = "a task gives its closing answer only",
                             .scenario = "pending"},
    [OTHER_BRANCH] = {.name = "other-branch",
                      .about = "Step 2 spawns the child of the other condition",
                      .scenario = "conditional"},
    [ONE_INPUT] = {.name = "one-input",
                   .about = "every job is given the first one's input",
                   .scenario = "jobs-20"},
    [ONE_THRESHOLD] = {.name = "one-threshold",
                       .about = "every job is given the first one's threshold",
                       .scenario = "thresholds"},
    [CLAIMS_NEVER_EXTENDED] = {.name = "claims-never-extended",
                               .about = "a worker takes its claim for extended, which it is not "
                                        "(E-ACL-34)",
                               .scenario = "short-claims",
                               SABOTAGE_AS(DROP, EXTEND, EXTEND),
                               .op = 3},
    [TRIES_NOT_COUNTED] = {.name = "tries-not-counted",
                           .about = "what fails is tried again and not counted (E-ACL-13)",
                           .scenario = "few-connections"},
    [LETS_GO_AT_ONCE] = {.name = "lets-go-at-once",
                         .about = "a worker lets go of its claim when something fails for the "
                                  "first time (E-ACL-13)",
                         .scenario = "tree-3"},
    [RETRY_WITHOUT_MARKER] = {.name = "retry-without-marker",
                              .about = "a step that a read did not find is made again without "
                                       "testing its marker (E-ACL-13)",
                              .scenario = "tree-3"},
    [CLAIM_BY_OWN_CLOCK] = {.name = "claim-by-own-clock",
                            .about = "a claim lasts until a time of its worker's own clock "
                                     "(E-ACL-34)",
                            .scenario = "long-tasks"},
    [PUT_BACK_FOR_LONG] = {.name = "put-back-for-long",
                           .about = "a message is put back for many times as long as a claim "
                                    "lasts (E-ACL-20)",
                           .scenario = "overtaking"},
    SABOTAGE_WORK("task", "tree-3"),
    SABOTAGE_THROUGH("task", "long-tasks"),
};

static bool tears(const struct sabotage *sabotage)
{
    return sabotage->which == TORN_ROLLBACK;
}

static int64_t weight(enum ledger_field field)
{
    return ledger_layout(field)->weight;
}

/* ---- changed primitives ---------------------------------------------------------------------- */

/* The first operation of a kind on a table. */
static struct op *find_op(struct primitive *primitive, enum op_kind kind, enum row_table table)
{
    for (int i = 0; i < primitive->op_count; i++) {
        if (primitive->ops[i].kind == kind && primitive->ops[i].table == table) {
            return &primitive->ops[i];
        }
    }
    CHECK(false);
    return NULL;
}

static void append_op(struct primitive *primitive, int at, struct op op)
{
    CHECK(primitive->op_count < PRIMITIVE_OPS_MAX);
    memmove(&primitive->ops[at + 1], &primitive->ops[at],
            (size_t)(primitive->op_count - at) * sizeof op);
    primitive->ops[at] = op;
    primitive->op_count++;
}

static void drop_tests(struct primitive *primitive, enum op_test test)
{
    for (int i = 0; i < primitive->op_count; i++) {
        if (primitive->ops[i].test == test) {
            primitive->ops[i].test = TEST_NONE;
        }
    }
}

/* The operation that computes the GUID's dimension, and that of Step 2's increment. */
static struct op *sum_of(struct primitive *primitive)
{
    return find_op(primitive, OP_LET_SUM, (enum row_table)0);
}

static void copy_whole_ledger(struct primitive *enter)
{
    int at = (int)(find_op(enter, OP_INSERT, TABLE_GUID) - enter->ops);
    append_op(enter, at,
              (struct op){.kind = OP_LET_SUM,
                          .a = OPERAND_VALUE + 5,
                          .b = OPERAND_ZERO,
                          .c = OPERAND_ZERO,
                          .unless = 1 + 4,
                          .returns = 1 + 0});
}

/* The job's state is tested first, and a message of a closed job is treated as if its job did not
 * exist. */
static void test_job_first(struct primitive *enter)
{
    append_op(enter, 0,
              (struct op){.kind = OP_TEST,
                          .table = TABLE_JOB,
                          .column = JOB_STATE,
                          .key = OPERAND_PARAM + 8,
                          .test = TEST_EQUAL,
                          .a = OPERAND_ZERO,
                          .miss = MISS_REFUSES,
                          .reason = REFUSED_NO_ROW});
}

static void read_semaphore_too(struct primitive *enter)
{
    append_op(enter, enter->op_count,
              (struct op){.kind = OP_READ,
                          .table = TABLE_JOB,
                          .column = JOB_SEMAPHORE,
                          .key = OPERAND_PARAM + 8,
                          .returns = 1 + 5});
}

static void reset_known_guid(struct primitive *enter)
{
    struct op *count = find_op(enter, OP_ADD, TABLE_GUID);
    count->kind = OP_SET;
    count->value = OPERAND_ONE;
    count->test = TEST_NONE;
}

/* COPY is used by single bundles only; a change in place affects every bundle. */
static const struct {
    uint8_t which, of;
} copies[] = {
    {LITERAL_MARKERS, PRIMITIVE_MARK_ACTIVITY},  {JOB_STATE_FIRST, PRIMITIVE_ENTER_LEG2},
    {STEP3_BY_SEMAPHORE, PRIMITIVE_ENTER_LEG2},  {UNBUNDLED_STEP2, PRIMITIVE_COLLATE},
    {CEILING_RACE, PRIMITIVE_ENTER_LEG1},        {TRUST_STALE_READ, PRIMITIVE_MARK_ACTIVITY},
    {RETRY_WITHOUT_MARKER, PRIMITIVE_MARK_GUID},
};

/* Guards that are left out. */
static const struct {
    uint8_t which, primitive, test;
} untested[] = {
    {LITERAL_MARKERS, COPY, TEST_UNMARKED},
    {TRUST_STALE_READ, COPY, TEST_UNMARKED}, /* of Leg1's work */
    {TRUST_STALE_READ, PRIMITIVE_MARK_GUID, TEST_UNMARKED},
    {TRUST_STALE_READ, PRIMITIVE_COLLATE, TEST_UNMARKED},
    {CEILING_BEFORE_MARKER, PRIMITIVE_REQUIRE_UNMARKED, TEST_UNMARKED}, /* nor later */
    {UNLOCKED_MARKER_TEST, PRIMITIVE_COLLATE, TEST_UNMARKED},
    {NO_CEILING, PRIMITIVE_ENTER_LEG1, TEST_BELOW},
    {NO_CEILING, PRIMITIVE_ENTER_LEG2, TEST_BELOW},
    {NO_CEILING, PRIMITIVE_ENTER_LEG2, TEST_RESUMABLE},
    {CEILING_RACE, COPY, TEST_BELOW},
    {RETRY_WITHOUT_MARKER, COPY, TEST_UNMARKED},
    {LEG2_BEFORE_LEG1, PRIMITIVE_ENTER_LEG2, TEST_MARKED},
    {CLOSE_OVERTAKES, PRIMITIVE_REQUIRE_MARK, TEST_MARKED},
};

/* All other changes of primitives. */
static void rewrite_primitives(uint8_t which, struct primitive *table)
{
    struct primitive *enter = &table[PRIMITIVE_ENTER_LEG2];
    struct op *count_leg1 = find_op(&table[PRIMITIVE_ENTER_LEG1], OP_ADD, TABLE_ACTIVITY);
    switch (which) {
    case GUID_FROM_FULL_LEDGER:
        copy_whole_ledger(enter);
        break;
    case JOB_STATE_FIRST:
        test_job_first(&table[COPY]);
        table[COPY].params++; /* see pass_job */
        break;
    case STEP3_BY_SEMAPHORE:
        read_semaphore_too(&table[COPY]);
        table[COPY].params++;
        break;
    case CEILING_BEFORE_MARKER:
        count_leg1->miss = MISS_REFUSES;
        count_leg1->reason = REFUSED_CEILING;
        break;
    case UNBUNDLED_STEP2:
        sum_of(&table[COPY])->a = OPERAND_ZERO;
        break;
    case LOST_SNAPSHOT:
        sum_of(&table[PRIMITIVE_COLLATE])->b = OPERAND_ZERO;
        break;
    case SHARED_DIMENSION:
        sum_of(enter)->a = OPERAND_ZERO;
        sum_of(enter)->b = OPERAND_ZERO;
        break;
    case RESET_ON_RETRY:
        reset_known_guid(enter);
        break;
    default:
        break;
    }
}

static void change_primitives(const struct sabotage *sabotage, struct primitive *table)
{
    for (size_t i = 0; i < COUNT(copies); i++) {
        if (copies[i].which == sabotage->which) {
            table[COPY] = table[copies[i].of];
        }
    }
    for (size_t i = 0; i < COUNT(untested); i++) {
        if (untested[i].which == sabotage->which) {
            drop_tests(&table[untested[i].primitive], (enum op_test)untested[i].test);
        }
    }
    rewrite_primitives(sabotage->which, table);
}

/* ---- bundles --------------------------------------------------------------------------------- */

static void use_copy(struct bundle *bundle, enum primitive_id primitive)
{
    struct call *call = sabotage_book_call(bundle, (uint8_t)primitive);
    if (call != NULL) {
        call->primitive = COPY;
    }
}

/* The activity's marker is incremented by every GUID that does the step, after the GUID's own: a
 * skipped step adds nothing. */
static void mark_literally(struct bundle *bundle)
{
    use_copy(bundle, PRIMITIVE_MARK_ACTIVITY);
    struct call first = bundle->calls[0];
    bundle->calls[0] = bundle->calls[1];
    bundle->calls[1] = first;
}

/* The changed copy of Leg2's entry gets the job as a further parameter. */
static void pass_job(const struct activity_worker *worker, struct bundle *bundle)
{
    struct call *call = sabotage_book_call(bundle, PRIMITIVE_ENTER_LEG2);
    uint8_t params = primitive_table[PRIMITIVE_ENTER_LEG2].params;
    memcpy(&bundle->params[bundle->param_count], &bundle->params[call->params],
           params * sizeof *bundle->params);
    call->params = bundle->param_count;
    call->primitive = COPY;
    bundle->params[bundle->param_count + params] = worker->message[1 + MESSAGE_JOB];
    bundle->param_count = (uint16_t)(bundle->param_count + params + 1);
}

/* Another GUID for each claim of the task, except the first, so that the run without faults stays
 * the same. */
static void answer_afresh(const struct activity_worker *worker, struct bundle *bundle)
{
    if (worker->message[1 + MESSAGE_EPOCH] == 1) {
        return;
    }
    int64_t *p = &bundle->params[sabotage_book_call(bundle, PRIMITIVE_PUBLISH)->params];
    int64_t guid = identity_mint(p[1 + MESSAGE_GUID], worker->message[1 + MESSAGE_EPOCH]);
    p[1 + MESSAGE_GUID] = guid;
    p[0] = identity_mint(guid, IDENTITY_LEG2);
}

/* First everything but the markers, then the markers. */
static void unbundle_step2(const struct sabotage_memory *memory,
                           const struct activity_worker *worker, struct bundle *bundle)
{
    if (memory->stage == 0) {
        use_copy(bundle, PRIMITIVE_COLLATE);
        memmove(&bundle->calls[0], &bundle->calls[1],
                (size_t)(bundle->count - 1) * sizeof *bundle->calls);
        bundle->count--;
        return;
    }
    bundle_begin(bundle, BUNDLE_STEP2);
    int64_t *p = bundle_append(bundle, PRIMITIVE_MARK_ACTIVITY, CALL_PLAIN, 6);
    p[0] = worker->message[1 + MESSAGE_ACTIVITY];
    p[1] = weight(ACTIVITY_CHILDREN_SPAWNED);
    p = bundle_append(bundle, PRIMITIVE_MARK_GUID, CALL_UNLESS_DONE, 0);
    p[0] = worker->message[1 + MESSAGE_GUID];
    p[1] = weight(GUID_CHILDREN_SPAWNED);
}

/* The trigger is published as if its task had been answered. */
static void publish_leg2(struct bundle *bundle)
{
    int64_t *p = &bundle->params[sabotage_book_call(bundle, PRIMITIVE_PUBLISH)->params];
    int64_t task = identity_mint(p[1 + MESSAGE_ACTIVITY], IDENTITY_TASK);
    p[1 + MESSAGE_KIND] = MESSAGE_LEG2;
    p[1 + MESSAGE_GUID] = identity_mint(task, IDENTITY_CLOSE);
    p[1 + MESSAGE_CONTENT] = 7;
    p[0] = identity_mint(p[1 + MESSAGE_GUID], IDENTITY_LEG2);
}

static void remove_call(struct bundle *bundle, int at)
{
    bundle->count--;
    memmove(&bundle->calls[at], &bundle->calls[at + 1],
            (size_t)(bundle->count - at) * sizeof *bundle->calls);
}

/* Leaves out the last child, or the message of a cycle, and adjusts the semaphore. */
static void leave_out(struct bundle *bundle, enum message_kind kind)
{
    for (int i = bundle->count - 1; i >= 0; i--) {
        const struct call *call = &bundle->calls[i];
        if (call->primitive != PRIMITIVE_PUBLISH ||
            bundle->params[call->params + 1 + MESSAGE_KIND] != kind) {
            continue;
        }
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_COLLATE)->params + 2]--;
        remove_call(bundle, i);
        if (kind == MESSAGE_LEG1) {
            remove_call(bundle, i - 1); /* its activity */
        }
        return;
    }
}

static void keep_pending_back(struct bundle *bundle)
{
    struct call *call = sabotage_book_call(bundle, PRIMITIVE_PUBLISH);
    int64_t *p = &bundle->params[call->params];
    if (p[1 + MESSAGE_ANSWER] > 0) {
        remove_call(bundle, (int)(call - bundle->calls));
    } else {
        p[1 + MESSAGE_PENDINGS] = 0;
    }
}

/* In the scenario, nodes 1 and 2 have opposite conditions. */
static void swap_branch(struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        bool adds = call->primitive == PRIMITIVE_ADD_ACTIVITY;
        int64_t *node = &bundle->params[call->params + (adds ? 2 : 1 + MESSAGE_NODE)];
        if ((adds || call->primitive == PRIMITIVE_PUBLISH) && (*node == 1 || *node == 2)) {
            *node = 3 - *node;
        }
    }
}

/* Sabotages that depend on the scenario alone, not on the state. */
static void ask_otherwise(enum named which, const struct activity_worker *worker,
                          struct bundle *bundle)
{
    enum bundle_name name = (enum bundle_name)bundle->name;
    if (which == CHILD_LEFT_OUT && name == BUNDLE_STEP2) {
        leave_out(bundle, MESSAGE_LEG1);
    } else if (which == CYCLE_CUT_SHORT && name == BUNDLE_STEP2) {
        leave_out(bundle, MESSAGE_LEG2);
    } else if (which == CYCLE_STORES_42 && name == BUNDLE_STEP1 &&
               worker->message[1 + MESSAGE_ANSWER] == ANSWER_CYCLES) {
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_RECORD_OUTPUT)->params + 3] = 42;
    } else if (which == PENDING_NEVER_GIVEN && name == BUNDLE_ANSWER) {
        keep_pending_back(bundle);
    } else if (which == OTHER_BRANCH && name == BUNDLE_STEP2) {
        swap_branch(bundle);
    } else if (which == ONE_INPUT && name == BUNDLE_CREATE) {
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_CREATE_JOB)->params + 2] = 1000;
    } else if (which == PUT_BACK_FOR_LONG && name == BUNDLE_PUT_BACK) {
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_PUT_BACK)->params + 2] *= 100;
    } else if (which == ONE_THRESHOLD && name == BUNDLE_CREATE) {
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_CREATE_JOB)->params + 1] = 0;
    }
}

/* A claim lasts longer or shorter by the offset of the worker's clock from the store's. */
static void claim_by_clock(const struct sabotage_memory *memory, struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        uint8_t lasts = call->primitive == PRIMITIVE_EXTEND         ? 2
                        : call->primitive == PRIMITIVE_PUBLISH_HELD ? 1 + MESSAGE_VISIBLE_AT
                                                                    : 0;
        if (lasts != 0 || call->primitive == PRIMITIVE_CLAIM ||
            call->primitive == PRIMITIVE_CLAIM_NEXT) {
            bundle->params[call->params + lasts] += memory->skew;
        }
    }
}

static bool is_step(enum bundle_name name)
{
    return name == BUNDLE_STEP1 || name == BUNDLE_STEP2 || name == BUNDLE_STEP3;
}

static void change_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                          const struct actor *actor, struct bundle *bundle)
{
    const struct activity_worker *worker =
        ACTOR_IS(actor, activity_worker); /* no bundle of the client asks for it */
    enum bundle_name name = (enum bundle_name)bundle->name;
    enum named which = (enum named)sabotage->which;
    if (which == CLAIM_BY_OWN_CLOCK) {
        claim_by_clock(memory, bundle);
    } else if (which == LITERAL_MARKERS && is_step(name)) {
        mark_literally(bundle);
    } else if ((which == JOB_STATE_FIRST || which == STEP3_BY_SEMAPHORE) &&
               name == BUNDLE_ENTER_LEG2) {
        pass_job(worker, bundle);
    } else if (which == FRESH_GUID && name == BUNDLE_ANSWER) {
        answer_afresh(worker, bundle);
    } else if (which == TRUST_STALE_READ && name == BUNDLE_LEG1) {
        use_copy(bundle, PRIMITIVE_MARK_ACTIVITY);
    } else if (which == UNBUNDLED_STEP2 && name == BUNDLE_STEP2) {
        unbundle_step2(memory, worker, bundle);
    } else if (which == CEILING_RACE && name == BUNDLE_ENTER_LEG1 && memory->flag) {
        use_copy(bundle, PRIMITIVE_ENTER_LEG1);
    } else if (which == RETRY_WITHOUT_MARKER && memory->flag &&
               (name == BUNDLE_STEP1 || name == BUNDLE_STEP3)) {
        use_copy(bundle, PRIMITIVE_MARK_GUID);
    } else if (which == LEG2_BEFORE_LEG1 && name == BUNDLE_CREATE) {
        publish_leg2(bundle);
    }
    ask_otherwise(which, worker, bundle);
}

/* The stale read of the ceiling: was there room when the worker got its message? */
static void get_ready(const struct sabotage *sabotage, struct sabotage_memory *memory,
                      const struct bundle *next, const struct rows *rows)
{
    if (sabotage->which != CEILING_RACE || next->name != BUNDLE_ENTER_LEG1) {
        return;
    }
    uint32_t slot = row_find(rows, TABLE_ACTIVITY, next->params[next->calls[0].params]);
    int64_t ledger = slot == ROW_NONE ? 0 : row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_LEDGER);
    memory->flag =
        ledger_get(ledger, ACTIVITY_LEG1_ENTRIES) < ledger_layout(ACTIVITY_LEG1_ENTRIES)->ceiling;
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static bool is_marked(int64_t ledger, enum ledger_field field)
{
    return ledger_get(ledger, field) == 1;
}

/* What entries and reads return: the GUID ledger, then its dimension. */
static void returned_guid(enum named which, struct outcome *outcome)
{
    int64_t *ledger = &outcome->values[0];
    if (which == DIMENSION_FROM_COUNTER) {
        outcome->values[1] = ledger_get(*ledger, GUID_ATTEMPTS) - 1;
    } else if (which == STEPS_SWAPPED && !is_marked(*ledger, GUID_WORK_DONE)) {
        *ledger += weight(GUID_WORK_DONE);
    } else if (which == STEP3_BY_SEMAPHORE && outcome->values[5] == 0 &&
               ledger_resume(*ledger) == LEDGER_SPAWNED_JOB_OPEN) {
        *ledger += weight(GUID_JOB_CLOSED);
    }
}

static void returned_step2(enum named which, struct outcome *outcome)
{
    int64_t *ledger = &outcome->values[0];
    bool hit = outcome->skipped == 0 && outcome->values[2] == 1;
    if (((which == LOST_SNAPSHOT && hit) || which == EAGER_COMPLETION) &&
        !is_marked(*ledger, GUID_JOB_CLOSED)) {
        *ledger += weight(GUID_JOB_CLOSED);
    }
}

static bool between_halves(struct sabotage_memory *memory, const struct outcome *outcome)
{
    if (memory->stage == 0 && outcome->kind == OUTCOME_COMMITTED && outcome->skipped == 0) {
        memory->stage = 1;
        return true;
    }
    if (outcome->kind != OUTCOME_ABORTED) {
        memory->stage = 0;
    }
    return false;
}

/* A worker that assumes success goes on as if nothing were owed any more. */
static void assume_committed(const struct bundle *sent, struct outcome *outcome)
{
    bool step = is_step((enum bundle_name)sent->name);
    if (outcome->kind == OUTCOME_UNKNOWN &&
        (step || sent->name == BUNDLE_ANSWER || sent->name == BUNDLE_LEG1)) {
        outcome->kind = OUTCOME_COMMITTED;
        outcome->skipped = 0;
    }
}

static bool change_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                           const struct bundle *sent, struct outcome *outcome)
{
    enum named which = (enum named)sabotage->which;
    bool committed = outcome->kind == OUTCOME_COMMITTED;
    if (which == RETRY_WITHOUT_MARKER) {
        memory->flag = committed && sent->name == BUNDLE_READ; /* the outcome is known */
    } else if (which == ASSUME_COMMITTED) {
        assume_committed(sent, outcome);
    } else if (which == TRIES_NOT_COUNTED && outcome->kind == OUTCOME_ABORTED) {
        return false;
    } else if (which == LETS_GO_AT_ONCE && outcome->kind == OUTCOME_ABORTED) {
        outcome->kind = OUTCOME_REFUSED; /* as if it had lost its claim */
        outcome->refusal = REFUSED_EPOCH;
    } else if (which == UNBUNDLED_STEP2 && sent->name == BUNDLE_STEP2) {
        return !between_halves(memory, outcome);
    } else if (which == CEILING_BEFORE_MARKER && sent->name == BUNDLE_ENTER_LEG1 &&
               outcome->refusal == REFUSED_CEILING) {
        outcome->kind = OUTCOME_COMMITTED; /* not counted and, it assumes, not complete */
        memset(outcome->values, 0, sizeof outcome->values);
    } else if (which == CLOSE_OVERTAKES && sent->name == BUNDLE_ENTER_LEG2) {
        outcome->values[PRIMITIVE_VALUES_MAX] = 0; /* nor does it notice that its task was closed */
    } else if (committed && sent->name == BUNDLE_STEP2) {
        returned_step2(which, outcome);
    } else if (committed && (sent->name == BUNDLE_ENTER_LEG2 ||
                             (sent->name == BUNDLE_READ && which == DIMENSION_FROM_COUNTER))) {
        returned_guid(which, outcome);
    }
    return true;
}

static const struct sabotage_shape shapes[] = {
    SHAPE(BUNDLE_CREATE, PRIMITIVE_CREATE_JOB, PRIMITIVE_ADD_ACTIVITY, PRIMITIVE_PUBLISH),
    SHAPE(BUNDLE_CLAIM, PRIMITIVE_CLAIM),
    SHAPE(BUNDLE_EXTEND, PRIMITIVE_EXTEND),
    SHAPE_BEFORE_ACK(BUNDLE_ENTER_LEG1, PRIMITIVE_ENTER_LEG1, PRIMITIVE_READ_INPUT,
                     PRIMITIVE_READ_OUTPUT),
    SHAPE_BEFORE_ACK(BUNDLE_LEG1, PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_RECORD_TASK,
                     PRIMITIVE_PUBLISH),
    SHAPE_BEFORE_ACK(BUNDLE_ANSWER, PRIMITIVE_PUBLISH),
    SHAPE_BEFORE_ACK(BUNDLE_ENTER_LEG2, PRIMITIVE_ENTER_LEG2, PRIMITIVE_REQUIRE_MARK,
                     PRIMITIVE_READ_TASK, PRIMITIVE_READ_OUTPUT),
    SHAPE_BEFORE_ACK(BUNDLE_STEP1, PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_MARK_GUID,
                     PRIMITIVE_RECORD_OUTPUT),
    SHAPE_BEFORE_ACK(BUNDLE_STEP2, PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_COLLATE, PRIMITIVE_CLOSE_TASK,
                     PRIMITIVE_ADD_ACTIVITY, PRIMITIVE_PUBLISH),
    SHAPE_BEFORE_ACK(BUNDLE_STEP3, PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_MARK_GUID,
                     PRIMITIVE_RECORD_COMPLETION),
    SHAPE(BUNDLE_ACK, PRIMITIVE_ACK),
    SHAPE(BUNDLE_ESCALATE, PRIMITIVE_ACK, PRIMITIVE_REQUIRE_UNMARKED, PRIMITIVE_REQUIRE_STUCK,
          PRIMITIVE_ESCALATE_JOB, PRIMITIVE_RECORD_ESCALATION),
    SHAPE(BUNDLE_PUT_BACK, PRIMITIVE_PUT_BACK),
    SHAPE_BEFORE_ACK(BUNDLE_READ, PRIMITIVE_READ_ACTIVITY, PRIMITIVE_READ_GUID),
    /* with merged commits */
    SHAPE_BEFORE_ACK(BUNDLE_LEG1_ACK, PRIMITIVE_ACK, PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_RECORD_TASK,
                     PRIMITIVE_PUBLISH_HELD, PRIMITIVE_PUBLISH, PRIMITIVE_CLAIM_NEXT),
    SHAPE_BEFORE_ACK(BUNDLE_ANSWER_ACK, PRIMITIVE_ACK, PRIMITIVE_PUBLISH_HELD, PRIMITIVE_ENTER_LEG2,
                     PRIMITIVE_READ_TASK, PRIMITIVE_PUBLISH, PRIMITIVE_CLAIM_NEXT),
    SHAPE_BEFORE_ACK(BUNDLE_STEPS_ACK, PRIMITIVE_HOLD, PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_MARK_GUID,
                     PRIMITIVE_RECORD_OUTPUT, PRIMITIVE_COLLATE, PRIMITIVE_CLOSE_TASK,
                     PRIMITIVE_ADD_ACTIVITY, PRIMITIVE_PUBLISH_HELD, PRIMITIVE_PUBLISH,
                     PRIMITIVE_STAYS_OPEN, PRIMITIVE_ACK, PRIMITIVE_ENTER_LEG1,
                     PRIMITIVE_READ_OUTPUT, PRIMITIVE_CLAIM_NEXT),
    SHAPE_BEFORE_ACK(BUNDLE_STEP3_ACK, PRIMITIVE_ACK, PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_MARK_GUID,
                     PRIMITIVE_RECORD_COMPLETION, PRIMITIVE_CLAIM_NEXT),
    SHAPE(BUNDLE_ACK_CLAIM, PRIMITIVE_ACK, PRIMITIVE_CLAIM_NEXT),
};

static const struct sabotage_reason equivalents[] = {
#include "faults/activity_equivalents.def"
};

static const struct sabotage_reason differing[] = {
#include "faults/activity_differing.def"
};

const struct sabotage_book sabotage_book_activity = {
    .bare = true,
    SABOTAGE_BOOK(named, shapes, equivalents),
    SABOTAGE_DIFFERING(differing),
    .primitives = change_primitives,
    .ready = get_ready,
    .bundle = change_bundle,
    .outcome = change_outcome,
    .tears = tears,
};

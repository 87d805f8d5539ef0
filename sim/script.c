#include "sim/script.h"

#include "model/check.h"
#include "scenarios/pcg.h"

#include <stdio.h>
#include <string.h>

#define P(i)  ((uint8_t)(OPERAND_PARAM + (i)))
#define TO(i) ((uint8_t)((i) + 1))

/* Every table of a script has three keys. */
#define KEYS 3
static const int64_t first_keys[TABLE_COUNT] = {
    [TABLE_JOB] = 1,         [TABLE_ACTIVITY] = 11, [TABLE_MESSAGE] = 21,   [TABLE_GUID] = 31,
    [TABLE_COMPLETION] = 41, [TABLE_ENTRY] = 51,    [TABLE_SWEEP_LOG] = 61, [TABLE_SIGNATURE] = 71,
    [TABLE_CHANGE_SET] = 81, [TABLE_VERIFY] = 91};

/* Where a number is added to and tested. */
static const uint8_t cells[TABLE_COUNT] = {[TABLE_JOB] = JOB_SEMAPHORE,
                                           [TABLE_ACTIVITY] = ACTIVITY_LEDGER,
                                           [TABLE_MESSAGE] = MESSAGE_VISIBLE_AT,
                                           [TABLE_GUID] = GUID_LEDGER,
                                           [TABLE_COMPLETION] = COMPLETION_RUNS,
                                           [TABLE_ENTRY] = ENTRY_STATUS,
                                           [TABLE_SWEEP_LOG] = SWEEP_LOG_WHY,
                                           [TABLE_SIGNATURE] = SIGNATURE_PRIOR,
                                           [TABLE_CHANGE_SET] = CHANGE_SET_SIGNATURE,
                                           [TABLE_VERIFY] = VERIFY_OUTCOME};

static const uint32_t column_counts[TABLE_COUNT] = {[TABLE_JOB] = JOB_COLUMNS,
                                                    [TABLE_ACTIVITY] = ACTIVITY_COLUMNS,
                                                    [TABLE_MESSAGE] = MESSAGE_COLUMNS,
                                                    [TABLE_GUID] = GUID_COLUMNS,
                                                    [TABLE_COMPLETION] = COMPLETION_COLUMNS,
                                                    [TABLE_ENTRY] = ENTRY_COLUMNS,
                                                    [TABLE_SWEEP_LOG] = SWEEP_LOG_COLUMNS,
                                                    [TABLE_SIGNATURE] = SIGNATURE_COLUMNS,
                                                    [TABLE_CHANGE_SET] = CHANGE_SET_COLUMNS,
                                                    [TABLE_VERIFY] = VERIFY_COLUMNS};

/* A new row's columns: the one that refers to another row, or is tested, from a parameter. */
#define ZEROS10 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
static const uint8_t new_job[JOB_COLUMNS] = {P(1), 0, 0, 0, 0};
static const uint8_t new_activity[ACTIVITY_COLUMNS] = {P(1), 0, P(2), 0};
static const uint8_t new_guid[GUID_COLUMNS] = {P(1), P(2), 0, 0, 0};
static const uint8_t new_completion[COMPLETION_COLUMNS] = {P(1), 0, OPERAND_ONE};
static const uint8_t new_message[MESSAGE_COLUMNS] = {0, 0, P(1), ZEROS10, P(2), 0};
static const uint8_t new_entry[ENTRY_COLUMNS] = {0, P(1), 0, 0, 0};
static const uint8_t new_sweep[SWEEP_LOG_COLUMNS] = {0, 0, P(1)};
static const uint8_t new_signature[SIGNATURE_COLUMNS] = {P(1), P(2), P(3), 0};
static const uint8_t new_verify[VERIFY_COLUMNS] = {P(1), P(2), P(3), 0, 0, 0};
static const uint8_t null_job[JOB_COLUMNS] = {P(1), OPERAND_NULL, 0, 0, 0};
static const uint8_t null_activity[ACTIVITY_COLUMNS] = {P(1), 0, OPERAND_NULL, 0};

static const uint8_t *const new_rows[TABLE_COUNT] = {[TABLE_JOB] = new_job,
                                                     [TABLE_ACTIVITY] = new_activity,
                                                     [TABLE_MESSAGE] = new_message,
                                                     [TABLE_GUID] = new_guid,
                                                     [TABLE_COMPLETION] = new_completion};

/* ---- drawing --------------------------------------------------------------------------------- */

/* The main subject of a script. */
enum style {
    STYLE_ANYTHING,
    STYLE_ADVISORY, /* every session begins with the same advisory lock */
    STYLE_SKEW,     /* serializable; plain reads and additions of two rows */
    STYLE_DELETES,  /* rows without references to them come and go */
    STYLE_FAMILY,   /* a row that is written again and again, and its parent */
    STYLE_RIGHTS,   /* principals and their rights */
    STYLE_LOOKS     /* rows that are looked for without their keys, and writes that decide what is
                       found */
};

struct drawing {
    struct script *script;
    struct pcg pcg;
    struct bundle *bundle;
    enum style style;
    uint8_t child; /* STYLE_FAMILY: the table of the row that refers to the other */
};

static uint32_t below(struct drawing *draw, uint32_t bound)
{
    return pcg_below(&draw->pcg, bound);
}

static bool chance(struct drawing *draw, uint32_t times, uint32_t of)
{
    return below(draw, of) < times;
}

static uint8_t parent_of(const struct drawing *draw)
{
    return primitive_foreign_keys[draw->child][0].parent;
}

static uint8_t any_table(struct drawing *draw)
{
    static const uint8_t often[] = {TABLE_JOB,      TABLE_JOB,     TABLE_JOB, TABLE_ACTIVITY,
                                    TABLE_ACTIVITY, TABLE_MESSAGE, TABLE_GUID};
    static const uint8_t leaves[] = {TABLE_MESSAGE, TABLE_GUID};
    return draw->style == STYLE_SKEW      ? TABLE_JOB
           : draw->style == STYLE_DELETES ? leaves[below(draw, sizeof leaves)]
           : draw->style == STYLE_FAMILY  ? (chance(draw, 3, 4) ? draw->child : parent_of(draw))
                                          : often[below(draw, sizeof often)];
}

/* Few keys, so that transactions conflict. */
static int64_t any_key(struct drawing *draw, uint8_t table)
{
    static const uint8_t often[] = {0, 0, 0, 0, 0, 1, 1, 2};
    return first_keys[table] + (draw->style == STYLE_SKEW     ? below(draw, 2)
                                : draw->style == STYLE_FAMILY ? 0
                                                              : often[below(draw, sizeof often)]);
}

static uint8_t any_lock(struct drawing *draw)
{
    static const uint8_t often[] = {LOCK_USUAL,  LOCK_USUAL,        LOCK_NONE,
                                    LOCK_SHARE,  LOCK_KEY_SHARE,    LOCK_KEY_SHARE,
                                    LOCK_UPDATE, LOCK_NO_KEY_UPDATE};
    static const uint8_t strong[] = {LOCK_UPDATE, LOCK_UPDATE, LOCK_SHARE, LOCK_KEY_SHARE,
                                     LOCK_KEY_SHARE};
    return draw->style == STYLE_SKEW     ? LOCK_USUAL
           : draw->style == STYLE_FAMILY ? strong[below(draw, sizeof strong)]
                                         : often[below(draw, sizeof often)];
}

static enum call_mode any_mode(struct drawing *draw)
{
    static const uint8_t often[] = {CALL_PLAIN, CALL_PLAIN, CALL_PLAIN, CALL_REQUIRE,
                                    CALL_UNLESS_DONE};
    return (enum call_mode)often[below(draw, sizeof often)];
}

/* Appends a call of a primitive of this one operation. */
static int64_t *call_one(struct drawing *draw, struct op op, uint8_t params, enum call_mode mode)
{
    struct script *script = draw->script;
    struct bundle *bundle = draw->bundle;
    struct call *call = &bundle->calls[bundle->count];
    script->primitives[script->primitive_count] =
        (struct primitive){.name = "one", .params = params, .op_count = 1, .ops = {op}};
    *call = (struct call){.primitive = (uint8_t)script->primitive_count++,
                          .mode = (uint8_t)mode,
                          .values = (uint8_t)(3 * (bundle->count % SCRIPT_CALLS_MAX)),
                          .params = bundle->param_count};
    bundle->count++;
    bundle->param_count = (uint16_t)(bundle->param_count + params);
    return &bundle->params[call->params];
}

static void call_primitive(struct drawing *draw, const struct primitive *primitive,
                           enum call_mode mode, const int64_t *params)
{
    int64_t *at = call_one(draw, (struct op){0}, primitive->params, mode);
    draw->script->primitives[draw->script->primitive_count - 1] = *primitive;
    draw->bundle->calls[draw->bundle->count - 1].values = 0; /* up to six of them, all told */
    memcpy(at, params, primitive->params * sizeof *params);
}

/* The first job with a semaphore below that: a plain read that names no row. No table here has such an
 * index, which changes nothing of what is found. */
static const struct op find_job = {.kind = OP_FIND,
                                   .table = TABLE_JOB,
                                   .column = JOB_COLUMNS - 1,
                                   .beside = JOB_COLUMNS - 2,
                                   .order = JOB_SEMAPHORE,
                                   .c = P(0),
                                   .returns = TO(0)};

/* ... and whose key is no job's semaphore. */
static const struct op find_unnamed = {.kind = OP_FIND,
                                       .table = TABLE_JOB,
                                       .column = JOB_COLUMNS - 1,
                                       .beside = JOB_COLUMNS - 2,
                                       .order = JOB_SEMAPHORE,
                                       .unnamed = 1 + JOB_SEMAPHORE,
                                       .c = P(0),
                                       .returns = TO(0)};

/* The last signature of a lane: no other names it. */
static const struct op find_last = {.kind = OP_FIND,
                                    .table = TABLE_SIGNATURE,
                                    .column = SIGNATURE_LANE,
                                    .beside = SIGNATURE_PRINCIPAL,
                                    .order = SIGNATURE_ENTRY,
                                    .unnamed = 1 + SIGNATURE_PRIOR,
                                    .a = P(0),
                                    .b = OPERAND_ONE,
                                    .c = P(1),
                                    .returns = TO(0)};

/* The activity of every GUID with that ledger has this one. */
static const struct op every_guid = {.kind = OP_EVERY,
                                     .table = TABLE_GUID,
                                     .column = GUID_LEDGER,
                                     .beside = GUID_ACTIVITY,
                                     .order = ACTIVITY_LEDGER,
                                     .a = P(0),
                                     .b = P(1),
                                     .miss = MISS_BY_CALL,
                                     .reason = REFUSED_BLOCKED};

static void draw_find(struct drawing *draw)
{
    if (chance(draw, 1, 4)) {
        int64_t *params = call_one(draw, find_last, 2, CALL_PLAIN);
        params[0] = 1 + below(draw, 2);
        params[1] = INT64_MAX;
    } else {
        call_one(draw, chance(draw, 1, 2) ? find_job : find_unnamed, 1, CALL_PLAIN)[0] =
            1 + below(draw, 3);
    }
}

static void draw_every(struct drawing *draw)
{
    static const uint8_t locks[] = {LOCK_NONE, LOCK_NONE, LOCK_SHARE, LOCK_SHARE,
                                    LOCK_NO_KEY_UPDATE};
    struct op op = every_guid;
    op.lock = locks[below(draw, sizeof locks)];
    int64_t *params = call_one(draw, op, 2, any_mode(draw));
    params[0] = below(draw, 2);
    params[1] = below(draw, 3);
}

/* Signed after another, or after none. */
static void draw_signature(struct drawing *draw)
{
    static const uint8_t chained[SIGNATURE_COLUMNS] = {P(1), P(2), OPERAND_ONE, P(3)};
    struct op op = {.kind = OP_INSERT,
                    .table = TABLE_SIGNATURE,
                    .key = P(0),
                    .columns = chained,
                    .miss = MISS_BY_CALL};
    int64_t *params = call_one(draw, op, 4, any_mode(draw));
    params[0] = first_keys[TABLE_SIGNATURE] + below(draw, 4);
    params[1] = any_key(draw, TABLE_ENTRY);
    params[2] = 1 + below(draw, 2);
    params[3] = chance(draw, 1, 2) ? first_keys[TABLE_SIGNATURE] + below(draw, 2) : 0;
}

static void draw_look(struct drawing *draw)
{
    uint8_t table = any_table(draw);
    struct op op = {.kind = OP_READ,
                    .table = table,
                    .column = cells[table],
                    .key = P(0),
                    .returns = TO(0),
                    .found = TO(1),
                    .lock = any_lock(draw)};
    op.skips = op.lock > LOCK_NONE && chance(draw, 1, 4);
    int64_t key = any_key(draw, table);
    bool finds = table == TABLE_JOB && op.lock == LOCK_NONE;
    call_one(draw, finds ? find_job : op, 1, CALL_PLAIN)[0] = key;
}

static void draw_write(struct drawing *draw)
{
    static const uint8_t kinds[] = {OP_ADD, OP_ADD, OP_ADD, OP_SET, OP_SET, OP_TEST, OP_DELETE};
    uint8_t table = any_table(draw), kind = kinds[below(draw, sizeof kinds)];
    kind = draw->style == STYLE_DELETES && chance(draw, 1, 2) ? OP_DELETE
           : draw->style == STYLE_SKEW                        ? OP_ADD
                                                              : kind;
    struct op op = {.kind = kind,
                    .table = table,
                    .column = cells[table],
                    .key = P(0),
                    .value = P(1),
                    .returns = TO(0),
                    .found = TO(1),
                    .miss = chance(draw, 1, 2) ? MISS_BY_CALL : MISS_GOES_ON,
                    .reason = REFUSED_CLOSED};
    if (draw->style != STYLE_SKEW && chance(draw, 1, 2)) {
        op.test = chance(draw, 1, 2) ? TEST_EQUAL : TEST_NOT_BELOW;
        op.a = P(2);
    }
    if (kind == OP_TEST && op.test == TEST_NOT_BELOW) {
        op.test = TEST_EQUAL;
    }
    int64_t *params = call_one(draw, op, 3, any_mode(draw));
    params[0] = any_key(draw, table);
    params[1] = (int64_t)below(draw, 5) - 1;
    params[2] = below(draw, 3);
}

static void draw_insert(struct drawing *draw)
{
    static const uint8_t tables[] = {TABLE_JOB,      TABLE_JOB,     TABLE_ACTIVITY,
                                     TABLE_ACTIVITY, TABLE_MESSAGE, TABLE_GUID};
    uint8_t table = tables[below(draw, sizeof tables)];
    struct op op = {.kind = OP_INSERT,
                    .table = table,
                    .key = P(0),
                    .columns = new_rows[table],
                    .miss = chance(draw, 3, 4) ? MISS_BY_CALL : MISS_GOES_ON};
    bool null = chance(draw, 1, 16) && (table == TABLE_JOB || table == TABLE_ACTIVITY);
    if (null) {
        op.columns = table == TABLE_JOB ? null_job : null_activity;
    }
    int64_t *params = call_one(draw, op, 3, any_mode(draw));
    params[0] = any_key(draw, table);
    params[1] = table == TABLE_JOB        ? below(draw, 3)
                : table == TABLE_ACTIVITY ? any_key(draw, TABLE_JOB)
                                          : any_key(draw, TABLE_ACTIVITY);
    params[2] = below(draw, 3);
}

static void draw_record(struct drawing *draw)
{
    struct op op = {
        .kind = OP_RECORD, .table = TABLE_COMPLETION, .key = P(0), .columns = new_completion};
    int64_t *params = call_one(draw, op, 2, CALL_PLAIN);
    params[0] = any_key(draw, TABLE_COMPLETION);
    params[1] = any_key(draw, TABLE_JOB);
}

static void draw_claim(struct drawing *draw)
{
    struct op op = {.kind = OP_CLAIM,
                    .table = TABLE_MESSAGE,
                    .value = P(0),
                    .miss = chance(draw, 1, 4) ? MISS_REFUSES : MISS_GOES_ON,
                    .reason = REFUSED_NO_MESSAGE};
    call_one(draw, op, 1, CALL_PLAIN)[0] = 1 + below(draw, 50);
}

static void draw_advisory(struct drawing *draw)
{
    struct op op = {.kind = OP_ADVISORY, .key = P(0)};
    call_one(draw, op, 1, CALL_PLAIN)[0] = draw->style == STYLE_ADVISORY ? 1 : 1 + below(draw, 2);
}

/* The child is written, so that only a lock can stand in the way. */
static void draw_again(struct drawing *draw)
{
    struct op op = {.kind = chance(draw, 1, 2) ? OP_ADD : OP_SET,
                    .table = draw->child,
                    .column = cells[draw->child],
                    .key = P(0),
                    .value = P(1),
                    .returns = TO(0),
                    .found = TO(1),
                    .miss = MISS_GOES_ON};
    if (draw->child == TABLE_COMPLETION) {
        draw_record(draw);
    } else if (draw->child == TABLE_MESSAGE && chance(draw, 1, 3)) {
        draw_claim(draw);
    } else {
        int64_t *params = call_one(draw, op, 2, CALL_PLAIN);
        params[0] = any_key(draw, draw->child);
        params[1] = below(draw, 3);
    }
}

/* The parent goes, or comes. */
static void draw_parent(struct drawing *draw)
{
    uint8_t table = parent_of(draw);
    struct op gone = {.kind = OP_DELETE,
                      .table = table,
                      .column = cells[table],
                      .key = P(0),
                      .returns = TO(0),
                      .found = TO(1),
                      .miss = MISS_GOES_ON};
    struct op made = {.kind = OP_INSERT,
                      .table = table,
                      .key = P(0),
                      .columns = new_rows[table],
                      .miss = MISS_GOES_ON};
    int64_t *params = call_one(draw, chance(draw, 1, 2) ? gone : made, 3, CALL_PLAIN);
    params[0] = any_key(draw, table);
    params[1] = first_keys[TABLE_JOB]; /* of an activity, the job; of a job, any number */
}

/* As engines send it. It comes first in its transaction: else it would write some row a second time,
 * which a server looks at when the statement ends, and a session at once. */
static void draw_step2(struct drawing *draw)
{
    int64_t activity = any_key(draw, TABLE_ACTIVITY), guid = any_key(draw, TABLE_GUID);
    int64_t job = any_key(draw, TABLE_JOB), delta = (int64_t)below(draw, 3) - 1;
    uint32_t children = below(draw, 3);
    call_primitive(draw, &primitive_table[PRIMITIVE_MARK_ACTIVITY], CALL_PLAIN,
                   (int64_t[]){activity, 10});
    draw->bundle->calls[0].values = 5;
    call_primitive(draw, &primitive_table[PRIMITIVE_COLLATE], CALL_UNLESS_DONE,
                   (int64_t[]){guid, job, delta, 10, 100});
    if (children > 1) {
        call_primitive(draw, &primitive_table[PRIMITIVE_ADD_ACTIVITY], CALL_REQUIRE,
                       (int64_t[]){any_key(draw, TABLE_ACTIVITY), job, 0, below(draw, 3), guid});
    }
    if (children > 0) {
        int64_t message[PRIMITIVE_PUBLISH_HELD_PARAMS] = {any_key(draw, TABLE_MESSAGE)};
        message[1 + MESSAGE_ACTIVITY] = any_key(draw, TABLE_ACTIVITY);
        message[1 + MESSAGE_VISIBLE_AT] = below(draw, 50);
        bool held = chance(draw, 1, 2);
        call_primitive(draw, &primitive_table[held ? PRIMITIVE_PUBLISH_HELD : PRIMITIVE_PUBLISH],
                       CALL_REQUIRE, message);
        draw->bundle->calls[draw->bundle->count - 1].values = 6;
    }
    bundle_join(draw->bundle, 0);
}

/* One statement over several rows: Step 2, its heart, and the traps. */
static void draw_compound(struct drawing *draw)
{
    int64_t guid = any_key(draw, TABLE_GUID), job = any_key(draw, TABLE_JOB);
    enum call_mode mode = chance(draw, 1, 2) ? CALL_UNLESS_DONE : CALL_REQUIRE;
    int64_t delta = (int64_t)below(draw, 3) - 1;
    switch (below(draw, 4)) {
    case 0:
        call_primitive(draw, &primitive_traps[TRAP_TWO_UPDATES], mode, (int64_t[]){guid, 10, 1000});
        break;
    case 1:
        call_primitive(draw, &primitive_traps[TRAP_PLAIN_TEST], mode,
                       (int64_t[]){guid, job, delta, 10});
        break;
    default:
        if (draw->bundle->count == 0) {
            draw_step2(draw);
        } else {
            call_primitive(draw, &primitive_table[PRIMITIVE_COLLATE], mode,
                           (int64_t[]){guid, job, delta, 10, 100});
        }
    }
}

/* Mostly operations that the principal may do: a transaction that fails at once shows little. */
static void draw_new_by_right(struct drawing *draw)
{
    static const uint8_t tables[] = {TABLE_SIGNATURE, TABLE_SIGNATURE, TABLE_SIGNATURE, TABLE_ENTRY,
                                     TABLE_ENTRY,     TABLE_SWEEP_LOG, TABLE_VERIFY};
    static const uint8_t *const columns[TABLE_COUNT] = {[TABLE_ENTRY] = new_entry,
                                                        [TABLE_SWEEP_LOG] = new_sweep,
                                                        [TABLE_SIGNATURE] = new_signature,
                                                        [TABLE_VERIFY] = new_verify};
    uint8_t table = tables[below(draw, sizeof tables)];
    struct op op = {.kind = OP_INSERT,
                    .table = table,
                    .key = P(0),
                    .columns = columns[table],
                    .miss = chance(draw, 3, 4) ? MISS_BY_CALL : MISS_GOES_ON};
    int64_t *params = call_one(draw, op, 4, any_mode(draw));
    bool verifies = (draw->bundle->principal == PRINCIPAL_VERIFY) != chance(draw, 1, 6);
    params[0] = any_key(draw, table);
    params[1] = table == TABLE_SIGNATURE ? any_key(draw, TABLE_ENTRY)
                : table == TABLE_VERIFY  ? any_key(draw, TABLE_CHANGE_SET)
                                         : below(draw, 3);
    if (table == TABLE_VERIFY) {
        params[2] = params[3] = first_keys[TABLE_SIGNATURE];
        return;
    }
    params[2] = verifies ? LANE_VERIFIER : LANE_EXECUTOR;
    params[3] = chance(draw, 7, 8) == verifies ? PRINCIPAL_VERIFY : PRINCIPAL_EXEC;
}

static void draw_by_right(struct drawing *draw)
{
    static const uint8_t tables[] = {TABLE_ENTRY,     TABLE_ENTRY,     TABLE_ENTRY,
                                     TABLE_ENTRY,     TABLE_ENTRY,     TABLE_ENTRY,
                                     TABLE_SIGNATURE, TABLE_SWEEP_LOG, TABLE_CHANGE_SET};
    static const uint8_t kinds[] = {OP_READ, OP_READ, OP_READ, OP_TEST,  OP_ADD,
                                    OP_SET,  OP_SET,  OP_SET,  OP_DELETE};
    uint8_t table = tables[below(draw, sizeof tables)], kind = kinds[below(draw, sizeof kinds)];
    struct op op = {.kind = kind,
                    .table = table,
                    .column = cells[table],
                    .key = P(0),
                    .value = P(1),
                    .returns = TO(0),
                    .found = TO(1),
                    .lock = kind == OP_READ ? any_lock(draw) : LOCK_USUAL};
    if (table == TABLE_ENTRY && chance(draw, 1, 12)) {
        op.column = ENTRY_PAYLOAD;
    }
    int64_t *params = call_one(draw, op, 2, CALL_PLAIN);
    params[0] = any_key(draw, table);
    params[1] = below(draw, 5);
}

static void draw_call(struct drawing *draw)
{
    static void (*const kinds[])(struct drawing *) = {
        draw_look,   draw_look,   draw_look,   draw_write, draw_write,    draw_write,    draw_write,
        draw_insert, draw_insert, draw_record, draw_claim, draw_advisory, draw_compound,
    };
    if (draw->style == STYLE_ADVISORY && draw->bundle->count == 0) {
        draw_advisory(draw);
    } else if (draw->style == STYLE_RIGHTS) {
        (chance(draw, 2, 5) ? draw_new_by_right : draw_by_right)(draw);
    } else if (draw->style == STYLE_SKEW || draw->style == STYLE_DELETES) {
        (chance(draw, 1, 2) ? draw_look : draw_write)(draw);
    } else if (draw->style == STYLE_LOOKS) {
        static void (*const often[])(struct drawing *) = {
            draw_find, draw_find, draw_every, draw_write, draw_write, draw_insert, draw_signature};
        often[below(draw, COUNT(often))](draw);
    } else if (draw->style == STYLE_FAMILY) {
        static void (*const often[])(struct drawing *) = {draw_again, draw_again, draw_look,
                                                          draw_look, draw_parent};
        often[below(draw, COUNT(often))](draw);
    } else {
        kinds[below(draw, COUNT(kinds))](draw);
    }
}

static void draw_row(struct drawing *draw, uint8_t table, int64_t key, int64_t refers)
{
    struct script *script = draw->script;
    struct script_row *row = &script->rows[script->row_count++];
    *row = (struct script_row){.table = table, .key = key};
    const struct foreign_key *parent = primitive_foreign_keys[table];
    if (parent->there) {
        row->columns[parent->column] = refers;
    }
    if ((primitive_foreign_columns[table] >> cells[table] & 1) == 0) {
        row->columns[cells[table]] =
            table == TABLE_GUID && chance(draw, 1, 4) ? 10 : below(draw, 3);
    }
    if (table == TABLE_COMPLETION) {
        row->columns[COMPLETION_RUNS] = 1;
    }
}

/* Most parents exist; children only of existing parents. */
static void draw_rows(struct drawing *draw)
{
    bool jobs[KEYS], activities[KEYS];
    for (int k = 0; k < KEYS; k++) {
        jobs[k] = chance(draw, 5, 6);
        if (jobs[k]) {
            draw_row(draw, TABLE_JOB, first_keys[TABLE_JOB] + k, 0);
        }
    }
    for (int k = 0; k < KEYS; k++) {
        activities[k] = jobs[k] && chance(draw, 4, 5);
        if (activities[k]) {
            draw_row(draw, TABLE_ACTIVITY, first_keys[TABLE_ACTIVITY] + k, 1 + k);
        }
    }
    for (int k = 0; k < KEYS; k++) {
        if (activities[k] && chance(draw, 2, 3)) {
            draw_row(draw, TABLE_MESSAGE, first_keys[TABLE_MESSAGE] + k, 11 + k);
        }
        if (activities[k] && chance(draw, 2, 3)) {
            draw_row(draw, TABLE_GUID, first_keys[TABLE_GUID] + k, 11 + k);
        }
        if (jobs[k] && chance(draw, 1, 4)) {
            draw_row(draw, TABLE_COMPLETION, first_keys[TABLE_COMPLETION] + k, 1 + k);
        }
    }
}

/* An entry, and one of everything that refers to it. */
static void draw_entries(struct drawing *draw)
{
    for (int k = 0; k < KEYS; k++) {
        if (chance(draw, 3, 4)) {
            draw_row(draw, TABLE_ENTRY, first_keys[TABLE_ENTRY] + k, 0);
        }
    }
    draw_row(draw, TABLE_SWEEP_LOG, first_keys[TABLE_SWEEP_LOG], 0);
    if (draw->script->rows[draw->script->row_count - 2].table == TABLE_ENTRY) {
        int64_t entry = draw->script->rows[draw->script->row_count - 2].key;
        draw_row(draw, TABLE_SIGNATURE, first_keys[TABLE_SIGNATURE], entry);
        draw_row(draw, TABLE_CHANGE_SET, first_keys[TABLE_CHANGE_SET], entry);
        draw->script->rows[draw->script->row_count - 1].columns[CHANGE_SET_SIGNATURE] =
            first_keys[TABLE_SIGNATURE];
    }
}

static uint8_t any_principal(struct drawing *draw)
{
    static const uint8_t often[] = {PRINCIPAL_NONE, PRINCIPAL_EXEC, PRINCIPAL_EXEC,
                                    PRINCIPAL_VERIFY, PRINCIPAL_VERIFY};
    return often[below(draw, sizeof often)];
}

void script_draw(struct script *script, uint64_t seed)
{
    struct drawing draw = {.script = script, .pcg = pcg_stream(seed, PCG_SCRIPT)};
    memset(script, 0, sizeof *script);
    draw_rows(&draw);
    static const uint8_t styles[] = {STYLE_ANYTHING, STYLE_ANYTHING, STYLE_LOOKS,   STYLE_FAMILY,
                                     STYLE_ADVISORY, STYLE_SKEW,     STYLE_DELETES, STYLE_RIGHTS};
    static const uint8_t children[] = {TABLE_ACTIVITY, TABLE_MESSAGE, TABLE_GUID, TABLE_COMPLETION};
    draw.style = (enum style)styles[below(&draw, sizeof styles)];
    if (draw.style == STYLE_RIGHTS || draw.style == STYLE_LOOKS) {
        draw_entries(&draw);
    } else if (draw.style == STYLE_FAMILY) {
        draw.child = children[below(&draw, sizeof children)];
    }
    script->sessions = chance(&draw, 1, 4) ? 4 : 2 + below(&draw, 2);
    bool all = draw.style == STYLE_SKEW || draw.style == STYLE_LOOKS;
    uint32_t serializable = all ? 3 : below(&draw, 4); /* 3: all, 2: half */
    uint32_t turns = 0;
    for (uint32_t s = 0; s < script->sessions; s++) {
        draw.bundle = &script->bundles[s];
        draw.bundle->isolation = serializable == 3 || (serializable == 2 && chance(&draw, 1, 2))
                                     ? SERIALIZABLE
                                     : READ_COMMITTED;
        draw.bundle->principal =
            draw.style == STYLE_RIGHTS ? any_principal(&draw) : (uint8_t)PRINCIPAL_NONE;
        uint32_t calls = 2 + below(&draw, SCRIPT_CALLS_MAX - 1);
        for (uint32_t c = 0; c < calls; c++) {
            draw_call(&draw);
        }
        script->gives_up[s] = chance(&draw, 1, 6);
        turns += calls + 1;
    }
    script->turn_count = turns < SCRIPT_TURNS_MAX ? turns : SCRIPT_TURNS_MAX;
    for (uint32_t t = 0; t < script->turn_count; t++) {
        script->turns[t] = (uint8_t)below(&draw, script->sessions);
    }
    CHECK_ALL(script_check(script));
}

/* ---- a world --------------------------------------------------------------------------------- */

struct world_capacity script_capacity(void)
{
    struct world_capacity capacity = {.changes = 512};
    for (int t = 0; t < TABLE_COUNT; t++) {
        capacity.rows[t] = column_counts[t] > 0 ? 64 : 0;
    }
    return capacity;
}

void script_fill(const struct script *script, struct world *world)
{
    world_reset(world);
    world->now = SCRIPT_NOW;
    for (uint32_t r = 0; r < script->row_count; r++) {
        const struct script_row *row = &script->rows[r];
        world_insert(world, (enum row_table)row->table, row->key, row->columns);
    }
    world_keep(world);
}

/* ---- smaller ones ---------------------------------------------------------------------------- */

/* In this order: a session, a call, a row, a turn. */
static uint32_t all_calls(const struct script *script)
{
    uint32_t calls = 0;
    for (uint32_t s = 0; s < script->sessions; s++) {
        calls += script->bundles[s].count;
    }
    return calls;
}

uint32_t script_cuts(const struct script *script)
{
    return script->sessions + all_calls(script) + script->row_count + script->turn_count;
}

static void cut_session(struct script *script, uint32_t session)
{
    uint32_t kept = 0;
    for (uint32_t s = session; s + 1 < script->sessions; s++) {
        script->bundles[s] = script->bundles[s + 1];
        script->gives_up[s] = script->gives_up[s + 1];
    }
    script->sessions--;
    for (uint32_t t = 0; t < script->turn_count; t++) {
        if (script->turns[t] != session) {
            script->turns[kept++] = (uint8_t)(script->turns[t] - (script->turns[t] > session));
        }
    }
    script->turn_count = kept;
}

/* What is left of a compound is no longer one. */
static void cut_call(struct bundle *bundle, uint32_t call)
{
    bool joined = bundle->calls[call].joined;
    for (uint8_t c = 0; joined && c < bundle->count; c++) {
        bundle->calls[c].joined = false;
    }
    memmove(&bundle->calls[call], &bundle->calls[call + 1],
            (bundle->count - call - 1) * sizeof *bundle->calls);
    bundle->count--;
}

static bool is_referred_to(const struct script *script, const struct script_row *row)
{
    for (uint32_t r = 0; r < script->row_count; r++) {
        const struct foreign_key *key = primitive_foreign_keys[script->rows[r].table];
        for (; key->there; key++) {
            if (key->parent == row->table && script->rows[r].columns[key->column] == row->key) {
                return true;
            }
        }
    }
    return false;
}

static bool cut(const struct script *script, uint32_t which, struct script *smaller)
{
    *smaller = *script;
    if (which < script->sessions) {
        cut_session(smaller, which);
        return smaller->sessions > 0;
    }
    which -= script->sessions;
    for (uint32_t s = 0; s < script->sessions; s++) {
        if (which < script->bundles[s].count) {
            cut_call(&smaller->bundles[s], which);
            return true;
        }
        which -= script->bundles[s].count;
    }
    if (which < script->row_count) {
        if (is_referred_to(script, &script->rows[which])) {
            return false;
        }
        memmove(&smaller->rows[which], &smaller->rows[which + 1],
                (script->row_count - which - 1) * sizeof *script->rows);
        smaller->row_count--;
        return true;
    }
    which -= script->row_count;
    if (which < script->turn_count) {
        memmove(&smaller->turns[which], &smaller->turns[which + 1], script->turn_count - which - 1);
        smaller->turn_count--;
        return true;
    }
    return false;
}

bool script_cut(const struct script *script, uint32_t which, struct script *smaller)
{
    bool applies = cut(script, which, smaller);
    if (applies) {
        CHECK_ALL(script_check(smaller));
    }
    return applies;
}

static bool has_row(const struct script *script, uint8_t table, int64_t key)
{
    for (uint32_t r = 0; r < script->row_count; r++) {
        if (script->rows[r].table == table && script->rows[r].key == key) {
            return true;
        }
    }
    return false;
}

static bool has_parents(const struct script *script, const struct script_row *row)
{
    const struct foreign_key *key = primitive_foreign_keys[row->table];
    for (; key->there; key++) {
        if (column_counts[key->parent] > 0 && foreign_key_applies(key, row->columns) &&
            !has_row(script, key->parent, row->columns[key->column])) {
            return false;
        }
    }
    return true;
}

void script_check(const struct script *script)
{
    CHECK(script->sessions >= 1 && script->sessions <= SCRIPT_SESSIONS_MAX); /* SP2 */
    for (uint32_t s = 0; s < script->sessions; s++) {
        const struct bundle *bundle = &script->bundles[s];
        for (uint8_t c = 0; c < bundle->count; c++) {
            const struct call *call = &bundle->calls[c];
            CHECK(call->primitive < script->primitive_count); /* SP2 */
            CHECK(call->params + script->primitives[call->primitive].params <=
                  bundle->param_count); /* SP2 */
        }
    }
    for (uint32_t t = 0; t < script->turn_count; t++) {
        CHECK(script->turns[t] < script->sessions); /* SP2 */
    }
    for (uint32_t r = 0; r < script->row_count; r++) {
        CHECK(has_parents(script, &script->rows[r])); /* SP2 */
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const table_names[TABLE_COUNT] = {[TABLE_JOB] = "job",
                                                     [TABLE_ACTIVITY] = "activity",
                                                     [TABLE_MESSAGE] = "message",
                                                     [TABLE_GUID] = "GUID",
                                                     [TABLE_COMPLETION] = "completion",
                                                     [TABLE_ENTRY] = "entry",
                                                     [TABLE_SWEEP_LOG] = "sweep row",
                                                     [TABLE_SIGNATURE] = "signature",
                                                     [TABLE_CHANGE_SET] = "change set",
                                                     [TABLE_VERIFY] = "verify result"};
static const char *const mode_names[] = {[CALL_PLAIN] = "",
                                         [CALL_REQUIRE] = ", required",
                                         [CALL_UNLESS_DONE] = ", else the rest is skipped"};
static const char *const lock_names[LOCK_COUNT] = {[LOCK_USUAL] = "",
                                                   [LOCK_NONE] = "",
                                                   [LOCK_KEY_SHARE] = " for key share",
                                                   [LOCK_SHARE] = " for share",
                                                   [LOCK_NO_KEY_UPDATE] = " for no key update",
                                                   [LOCK_UPDATE] = " for update"};

static void test_text(const struct op *op, const int64_t *params, char *text, size_t size)
{
    text[0] = '\0';
    if (op->test == TEST_EQUAL) {
        snprintf(text, size, " if it is %lld", (long long)params[2]);
    } else if (op->test == TEST_NOT_BELOW) {
        snprintf(text, size, " if that leaves it at least 0");
    }
}

void script_call_text(const struct primitive *primitive, const struct bundle *bundle, unsigned call,
                      char *text, size_t size)
{
    const struct op *op = &primitive->ops[0];
    const int64_t *params = &bundle->params[bundle->calls[call].params];
    const char *mode = op->miss == MISS_BY_CALL   ? mode_names[bundle->calls[call].mode]
                       : op->miss == MISS_REFUSES ? ", required"
                                                  : "";
    const char *table = table_names[op->table];
    long long key = params[0], value = primitive->params > 1 ? params[1] : 0;
    char test[48];
    test_text(op, params, test, sizeof test);
    if (primitive->op_count > 1) {
        snprintf(text, size, "%s: GUID %lld%s", primitive->name, key, mode);
        return;
    }
    switch ((enum op_kind)op->kind) {
    case OP_READ:
        snprintf(text, size, "read %s %lld%s%s", table, key, lock_names[op->lock],
                 op->skips ? ", skip locked" : "");
        break;
    case OP_TEST:
        snprintf(text, size, "test %s %lld%s%s", table, key, test, mode);
        break;
    case OP_ADD:
        snprintf(text, size, "add %lld to %s %lld%s%s", value, table, key, test, mode);
        break;
    case OP_SET:
        snprintf(text, size, "set %s %lld to %lld%s%s", table, key, value, test, mode);
        break;
    case OP_DELETE:
        snprintf(text, size, "delete %s %lld%s%s", table, key, test, mode);
        break;
    case OP_INSERT:
        snprintf(text, size, "insert %s %lld, %lld%s%s", table, key, value,
                 op->columns == null_job || op->columns == null_activity ? ", null" : "", mode);
        break;
    case OP_RECORD:
        snprintf(text, size, "insert %s %lld of job %lld, or count in it", table, key, value);
        break;
    case OP_CLAIM:
        snprintf(text, size, "claim a message%s", mode);
        break;
    case OP_FIND:
        snprintf(text, size, "find %s%s %s %lld", op->unnamed != 0 ? "unnamed " : "", table,
                 op->table == TABLE_JOB ? "below" : "of lane", key);
        break;
    case OP_EVERY:
        snprintf(text, size, "every %s of %lld is of an activity of %lld%s%s", table, key, value,
                 lock_names[op->lock], mode);
        break;
    case OP_ADVISORY:
        snprintf(text, size, "advisory lock %lld", key);
        break;
    case OP_LET_EQUAL:
    case OP_LET_SUM:
    case OP_LET_MODULO:
        snprintf(text, size, "let");
        break;
    }
}

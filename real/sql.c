#include "real/sql.h"

#include "model/check.h"
#include "model/text.h"
#include "real/cell.h"
#include "real/schema.h"

#include <string.h>

/* ---- templates ------------------------------------------------------------------------------- *
 * {word} is filled in for the operation at hand; {job} .. {message} are tables; {miss:i} is what a
 * miss of the primitive's operation i means in the call's mode; {gate} whether the statement is to
 * do anything at all; {get T.C} is a column of t as a number, {id T $i} a parameter as T's key.
 * "(SELECT) AS one" gives the row that is answered in any case. */

/* The cell, and whether its test passes: the latest version of the row once the lock is held. */
#define CELL                                                                                       \
    "WITH cell AS MATERIALIZED (\n"                                                                \
    "  SELECT {cell} AS was, {test} AS passed\n"                                                   \
    "    FROM {table} AS t WHERE t.{id} = {key} AND {gate}{lock})"
#define MISSED                                                                                     \
    "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN cell.passed IS NULL THEN {absent}\n"             \
    "            WHEN NOT cell.passed THEN {failed} ELSE 0::bigint END{values}\n"

static const char *const templates[] = {
    [OP_READ] = CELL "\n" MISSED "  FROM (SELECT) AS one LEFT JOIN cell ON true",
    [OP_TEST] = CELL "\n" MISSED "  FROM (SELECT) AS one LEFT JOIN cell ON true",
    [OP_ADD] = CELL ", written AS (\n"
                    "  UPDATE {table} AS t SET {added}\n"
                    "    FROM cell WHERE t.{id} = {key} AND cell.passed\n"
                    "    RETURNING {cell} AS now)\n" MISSED
                    "  FROM (SELECT) AS one LEFT JOIN cell ON true LEFT JOIN written ON true",
    [OP_SET] = CELL ", written AS (\n"
                    "  UPDATE {table} AS t SET {set}\n"
                    "    FROM cell WHERE t.{id} = {key} AND cell.passed\n"
                    "    RETURNING {cell} AS now)\n" MISSED
                    "  FROM (SELECT) AS one LEFT JOIN cell ON true LEFT JOIN written ON true",
    [OP_DELETE] =
        CELL ", gone AS (\n"
             "  DELETE FROM {table} AS t USING cell WHERE t.{id} = {key} AND cell.passed)\n" MISSED
             "  FROM (SELECT) AS one LEFT JOIN cell ON true",
    /* A row that may be there; a parent that is not ends the transaction by itself (23503). */
    [OP_INSERT] = "WITH made AS (\n"
                  "  INSERT INTO {table} AS t ({columns}) SELECT {row} WHERE {gate}\n"
                  "    ON CONFLICT ({id}) DO NOTHING RETURNING t.{id})\n"
                  "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN made.{id} IS NULL THEN {failed}\n"
                  "            ELSE 0::bigint END\n"
                  "  FROM (SELECT) AS one LEFT JOIN made ON true",
    [OP_RECORD] = "INSERT INTO {table} AS t ({columns}) SELECT {row} WHERE {gate}\n"
                  "  ON CONFLICT ({id}) DO UPDATE SET {last} = t.{last} + 1 RETURNING 0::bigint",
    [OP_CLAIM] = "WITH due AS MATERIALIZED (\n"
                 "  SELECT t.id FROM {table} AS t WHERE t.visible_at <= {now} AND {gate}\n"
                 "    ORDER BY t.visible_at, t.id LIMIT 1 FOR UPDATE SKIP LOCKED), taken AS (\n"
                 "  UPDATE {table} AS t SET epoch = t.epoch + 1, visible_at = {now} + {value}\n"
                 "    FROM due WHERE t.id = due.id RETURNING t.*)\n"
                 "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN taken.id IS NULL THEN {failed}\n"
                 "            ELSE 0::bigint END, taken.*\n"
                 "  FROM (SELECT) AS one LEFT JOIN taken ON true",
    /* By an index of exactly these columns (PM6). */
    [OP_FIND] = "WITH cell AS MATERIALIZED (\n"
                "  SELECT {number} AS was FROM {table} AS t WHERE {place} AND {gate}\n"
                "    ORDER BY {order} LIMIT 1)\n"
                "SELECT CASE WHEN {gate} THEN 0::bigint END{values}\n"
                "  FROM (SELECT) AS one LEFT JOIN cell ON true",
    /* Counted, so that every row that is named is locked. */
    [OP_EVERY] =
        "WITH cell AS MATERIALIZED (\n"
        "  SELECT {named cell} AS was FROM {table} AS r JOIN {named table} AS t ON {named by}\n"
        "    WHERE {which} AND {gate} ORDER BY r.{id}{lock}{of named})\n"
        "SELECT CASE WHEN NOT ({gate}) THEN NULL\n"
        "            WHEN (SELECT count(*) FROM cell WHERE cell.was <> {equal}) > 0 THEN {failed}\n"
        "            ELSE 0::bigint END",
    /* One class of keys a schema (E-CUT-17). Where two ids share a hash one waits for nothing. */
    [OP_ADVISORY] = "SELECT CASE WHEN {gate} THEN 0 * length(pg_advisory_xact_lock(\n"
                    "  hashtext('{class}'), hashtext({key}::text))::text)::bigint END",
    [OP_LET_EQUAL] = "SELECT CASE WHEN {gate} THEN 0::bigint END{values}",
    [OP_LET_SUM] = "SELECT CASE WHEN {gate} THEN 0::bigint END{values}",
    [OP_LET_MODULO] = "SELECT CASE WHEN {gate} THEN 0::bigint END{values}",
};

/* An insert that must succeed: 23505 ends the transaction by itself, too. */
static const char strict_insert[] = "INSERT INTO {table} ({columns})\n"
                                    "  SELECT {row} WHERE {gate} RETURNING 0::bigint";

/* What a list of operations begins with: values are 0 until something is put into them. */
static const char no_values[] =
    "SELECT 0 * length(set_config('assay.v0', '0', true) || set_config('assay.v1', '0', true)\n"
    "  || set_config('assay.v2', '0', true) || set_config('assay.v3', '0', true)\n"
    "  || set_config('assay.v4', '0', true) || set_config('assay.v5', '0', true))::bigint";

/* ---- whole primitives ------------------------------------------------------------------------ */

struct whole {
    const struct primitive *list;
    bool guarded; /* the guard decides: not for calls that go on whatever it says */
    const char *text;
    uint8_t places_count;
    uint8_t places[PRIMITIVE_VALUES_MAX];
};

static const struct whole wholes[] = {
    /* $1 message, $2 epoch, $3 ticks; also PUT_BACK, which is the same list */
    {&primitive_table[PRIMITIVE_EXTEND],
     true,
     "WITH cell AS MATERIALIZED (\n"
     "  SELECT t.epoch = $2 AS passed FROM {message} AS t WHERE t.id = $1 AND {gate}\n"
     "    FOR NO KEY UPDATE), written AS (\n"
     "  UPDATE {message} AS t SET visible_at = {now} + $3 FROM cell WHERE t.id = $1 AND "
     "cell.passed\n"
     "    RETURNING t.visible_at)\n"
     "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN cell.passed IS NOT TRUE THEN {miss:0}\n"
     "            ELSE 0::bigint END, written.visible_at\n"
     "  FROM (SELECT) AS one LEFT JOIN cell ON true LEFT JOIN written ON true",
     1,
     {0}},
    /* $1 message, $2 .. $14 its columns up to spawned_by, $15 ticks */
    {&primitive_table[PRIMITIVE_PUBLISH_HELD],
     false,
     "WITH made AS (\n"
     "  INSERT INTO {message} AS t (id, kind, job, activity, node, guid, source, dimension, "
     "answer,\n"
     "      content, pendings, round, head, spawned_by, visible_at, epoch)\n"
     "    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, {now} + $15, 1\n"
     "      WHERE {gate} ON CONFLICT (id) DO NOTHING RETURNING t.id)\n"
     "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN made.id IS NULL THEN {miss:1}\n"
     "            ELSE 0::bigint END, {now} + $15\n"
     "  FROM (SELECT) AS one LEFT JOIN made ON true",
     1,
     {0}},
    /* $1 activity, $2 weight, $3 modulus, $4 ceiling */
    {&primitive_table[PRIMITIVE_ENTER_LEG1],
     false,
     "WITH cell AS MATERIALIZED (\n"
     "  SELECT t.ledger AS was, t.ledger / $2 % $3 < $4 AS room\n"
     "    FROM {activity} AS t WHERE t.id = $1 AND {gate} FOR NO KEY UPDATE), written AS (\n"
     "  UPDATE {activity} AS t SET ledger = t.ledger + $2 FROM cell WHERE t.id = $1 AND cell.room\n"
     "    RETURNING t.ledger AS now)\n"
     "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN cell.room IS NULL THEN {miss:0}\n"
     "            ELSE 0::bigint END, coalesce(written.now, cell.was), cell.room::int::bigint\n"
     "  FROM (SELECT) AS one LEFT JOIN cell ON true LEFT JOIN written ON true",
     2,
     {0, 1}},
    /* $1 activity, $2 GUID, $3 answer, $4 content, $5 Leg1's weight, $6 modulus, $7 ceiling,
     * $8 ceiling - 1. Whether the GUID is new is asked of its unique index, not of the snapshot: a
     * rival that entered it while this one waited for the activity's lock is not in the snapshot.
     * A row that the upsert found has been locked by it, which xmax tells; a new one has not. */
    {&primitive_table[PRIMITIVE_ENTER_LEG2],
     false,
     "WITH a AS MATERIALIZED (\n"
     "  SELECT t.ledger AS was, t.ledger / $5 % 10 = 1 AS complete, t.ledger % $6 < $7 AS room\n"
     "    FROM {activity} AS t WHERE t.id = $1 AND {gate} FOR NO KEY UPDATE), g AS (\n"
     "  INSERT INTO {guid} AS t (id, activity, ledger, dimension, answer, content)\n"
     "    SELECT $2, $1, (a.was + 1) % $6, (a.was + 1) % $6 - 1, $3, $4 FROM a WHERE a.complete\n"
     "    ON CONFLICT (id) DO UPDATE SET ledger = CASE\n"
     "      WHEN t.ledger % $6 < $7 THEN t.ledger + 1\n"
     "      WHEN t.ledger / $6 % 10000 IN (110, 1111) OR t.dimension = $8 THEN t.ledger\n"
     "      ELSE {miss:3} END\n"
     "    RETURNING t.*, t.xmax = 0 AS is_new), u AS (\n"
     "  UPDATE {activity} AS t SET ledger = t.ledger + 1 FROM a, g WHERE t.id = $1 AND a.room\n"
     "    RETURNING t.ledger)\n"
     "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN a.room IS NULL THEN {miss:0}\n"
     "            WHEN NOT a.complete THEN {miss:1}\n"
     "            WHEN g.is_new AND NOT a.room THEN {miss:6} ELSE 0::bigint END,\n"
     "       g.ledger, g.dimension, g.answer, g.content, (NOT g.is_new)::int::bigint,\n"
     "       CASE WHEN g.is_new THEN u.ledger END\n"
     "  FROM (SELECT) AS one LEFT JOIN a ON true LEFT JOIN g ON true LEFT JOIN u ON true",
     6,
     {0, 1, 2, 3, 4, 5}},
    /* $1 GUID, $2 job, $3 delta, $4 marker's weight, $5 snapshot's weight. The marker is tested on
     * the row as it is under its lock, and everything else hangs on that (E-ACL-25); the GUID's row
     * is updated once (E-ACL-24), and so is the job's. The semaphore is tested under its lock, too:
     * a condition of the update itself would be asked of the snapshot first, and refuse a healthy
     * job whose semaphore rose meanwhile. */
    {&primitive_table[PRIMITIVE_COLLATE],
     true,
     "WITH g AS MATERIALIZED (\n"
     "  SELECT t.ledger, t.ledger / $4 % 10 = 0 AS owed\n"
     "    FROM {guid} AS t WHERE t.id = $1 AND {gate} FOR NO KEY UPDATE), s AS MATERIALIZED (\n"
     "  SELECT t.semaphore + $3 >= 0 AS enough\n"
     "    FROM g, {job} AS t WHERE g.owed AND t.id = $2 FOR NO KEY UPDATE OF t), j AS (\n"
     "  UPDATE {job} AS t SET semaphore = t.semaphore + $3,\n"
     "                        state = (t.semaphore + $3 = 0)::int\n"
     "    FROM s WHERE s.enough AND t.id = $2\n"
     "    RETURNING t.semaphore, (t.semaphore = t.threshold)::int::bigint AS hit), u AS (\n"
     "  UPDATE {guid} AS t SET ledger = t.ledger + $4 + j.hit * $5 FROM j WHERE t.id = $1\n"
     "    RETURNING t.ledger)\n"
     "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN g.owed IS NOT TRUE THEN {miss:0}\n"
     "            WHEN j.hit IS NULL THEN {miss:2} ELSE 0::bigint END,\n"
     "       coalesce(u.ledger, g.ledger, 0), j.semaphore, j.hit,\n"
     "       (j.semaphore = 0)::int::bigint, $4 + j.hit * $5\n"
     "  FROM (SELECT) AS one LEFT JOIN g ON true LEFT JOIN j ON true LEFT JOIN u ON true",
     5,
     {0, 1, 2, 3, 4}},
    /* $1 GUID */
    {&primitive_table[PRIMITIVE_READ_GUID],
     false,
     "SELECT CASE WHEN {gate} THEN 0::bigint END, coalesce(t.ledger, 0),\n"
     "       coalesce(t.dimension, 0), (t.id IS NOT NULL)::int::bigint\n"
     "  FROM (SELECT) AS one LEFT JOIN {guid} AS t ON t.id = $1",
     3,
     {0, 1, 2}},
    /* $1 flow */
    {&primitive_table[PRIMITIVE_READ_FLOW],
     false,
     "SELECT CASE WHEN {gate} THEN 0::bigint END, coalesce(t.key, 0), coalesce(t.untaken, 0),\n"
     "       coalesce(t.shape, 0), coalesce(t.case_number, 0), coalesce(t.parent, 0),\n"
     "       coalesce(t.awaiter, 0)\n"
     "  FROM (SELECT) AS one LEFT JOIN {flow} AS t ON t.id = $1",
     6,
     {0, 1, 2, 3, 4, 5}},
    /* $1 entry */
    {&primitive_table[PRIMITIVE_READ_ENTRY],
     false,
     "SELECT CASE WHEN {gate} THEN 0::bigint END, coalesce({get decision_backlog_entry.status}, "
     "0),\n"
     "       coalesce({get decision_backlog_entry.payload_hash}, 0)\n"
     "  FROM (SELECT) AS one LEFT JOIN {decision_backlog_entry} AS t\n"
     "    ON t.entry_id = {id decision_backlog_entry $1}",
     2,
     {0, 1}},
    /* $1 state, $2 retry, $3 ticks */
    {&primitive_table[PRIMITIVE_SEQ_NEXT],
     false,
     "SELECT CASE WHEN {gate} THEN 0::bigint END, coalesce(t.id, 0), coalesce(t.number, 0)\n"
     "  FROM (SELECT) AS one LEFT JOIN (SELECT s.* FROM {seq} AS s\n"
     "    WHERE s.state = $1 AND s.retry = $2 AND s.heartbeat < {now} - $3\n"
     "    ORDER BY s.state, s.retry, s.heartbeat, s.id LIMIT 1) AS t ON true",
     2,
     {0, 1}},
    /* $1 state, $2 any */
    {&primitive_table[PRIMITIVE_SEQ_UNWANTED],
     false,
     "SELECT CASE WHEN {gate} THEN 0::bigint END, coalesce(t.id, 0), coalesce(t.number, 0),\n"
     "       coalesce(t.cancel_at, 0)\n"
     "  FROM (SELECT) AS one LEFT JOIN (SELECT s.* FROM {seq} AS s\n"
     "    WHERE s.state = $1 AND s.unwanted = 1 AND s.cancel_at < $2\n"
     "    ORDER BY s.state, s.unwanted, s.cancel_at, s.id LIMIT 1) AS t ON true",
     3,
     {0, 1, 2}},
    /* $1 any */
    {&primitive_table[PRIMITIVE_FIND_STOPPED],
     false,
     "SELECT CASE WHEN {gate} THEN 0::bigint END, coalesce(t.id, 0), coalesce(t.kind, 0),\n"
     "       coalesce(t.activity, 0), coalesce(t.round, 0), coalesce(t.job, 0),\n"
     "       coalesce(t.node, 0)\n"
     "  FROM (SELECT) AS one LEFT JOIN (SELECT m.* FROM {message} AS m\n"
     "    WHERE m.head = 1 AND m.dimension = 0 AND m.round < $1\n"
     "    ORDER BY m.head, m.dimension, m.round, m.id LIMIT 1) AS t ON true",
     6,
     {0, 1, 2, 3, 4, 5}},
    /* $1 seq */
    {&primitive_table[PRIMITIVE_SEQ_READ],
     false,
     "SELECT CASE WHEN {gate} THEN 0::bigint END, coalesce(t.owner, 0),\n"
     "       coalesce(t.attempts, 0), coalesce(t.state, 0)\n"
     "  FROM (SELECT) AS one LEFT JOIN {seq} AS t ON t.id = $1",
     3,
     {0, 1, 2}},
    /* $1 GUID, $2 weight, $3 second weight: wrong, and meant to be (E-ACL-24) */
    {&primitive_traps[TRAP_TWO_UPDATES],
     true,
     "WITH g AS MATERIALIZED (\n"
     "  SELECT t.ledger, t.ledger / $2 % 10 = 0 AS owed\n"
     "    FROM {guid} AS t WHERE t.id = $1 AND {gate} FOR NO KEY UPDATE), u AS (\n"
     "  UPDATE {guid} AS t SET ledger = t.ledger + $2 FROM g WHERE t.id = $1 AND g.owed\n"
     "    RETURNING t.ledger), v AS (\n"
     "  UPDATE {guid} AS t SET ledger = t.ledger + $3 FROM u WHERE t.id = $1\n"
     "    RETURNING t.ledger)\n"
     "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN g.owed IS NOT TRUE THEN {miss:0}\n"
     "            ELSE 0::bigint END, coalesce(u.ledger, g.ledger, 0)\n"
     "  FROM (SELECT) AS one LEFT JOIN g ON true LEFT JOIN u ON true LEFT JOIN v ON true",
     1,
     {0}},
    /* $1 GUID, $2 job, $3 delta, $4 weight: wrong, and meant to be (E-ACL-25) */
    {&primitive_traps[TRAP_PLAIN_TEST],
     true,
     "WITH g AS MATERIALIZED (\n"
     "  SELECT t.ledger, t.ledger / $4 % 10 = 0 AS owed\n"
     "    FROM {guid} AS t WHERE t.id = $1 AND {gate}), j AS (\n"
     "  UPDATE {job} AS t SET semaphore = t.semaphore + $3 FROM g WHERE g.owed AND t.id = $2\n"
     "    RETURNING t.semaphore), u AS (\n"
     "  UPDATE {guid} AS t SET ledger = t.ledger + $4 FROM j WHERE t.id = $1\n"
     "    RETURNING t.ledger)\n"
     "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN g.owed IS NOT TRUE THEN {miss:0}\n"
     "            WHEN j.semaphore IS NULL THEN {miss:1} ELSE 0::bigint END,\n"
     "       coalesce(u.ledger, g.ledger, 0), j.semaphore\n"
     "  FROM (SELECT) AS one LEFT JOIN g ON true LEFT JOIN j ON true LEFT JOIN u ON true",
     2,
     {0, 1}},
};

static bool same_op(const struct op *left, const struct op *right)
{
    return left->kind == right->kind && left->table == right->table &&
           left->column == right->column && left->key == right->key &&
           left->value == right->value && left->test == right->test && left->a == right->a &&
           left->b == right->b && left->c == right->c && left->miss == right->miss &&
           left->reason == right->reason && left->returns == right->returns &&
           left->found == right->found && left->when == right->when &&
           left->unless == right->unless && left->lock == right->lock &&
           left->skips == right->skips && left->fresh == right->fresh &&
           left->joins == right->joins && left->beside == right->beside &&
           left->order == right->order && left->unnamed == right->unnamed &&
           left->columns == right->columns;
}

bool sql_same_list(const struct primitive *left, const struct primitive *right)
{
    if (left == right) {
        return true;
    }
    if (left->params != right->params || left->op_count != right->op_count ||
        left->one_statement != right->one_statement) {
        return false;
    }
    for (uint8_t i = 0; i < left->op_count; i++) {
        if (!same_op(&left->ops[i], &right->ops[i])) {
            return false;
        }
    }
    return true;
}

static const struct whole *whole_of(const struct primitive *primitive, enum call_mode mode,
                                    enum sql_form form)
{
    for (size_t i = 0; form == SQL_WHOLE && i < COUNT(wholes); i++) {
        if (sql_same_list(primitive, wholes[i].list) &&
            !(wholes[i].guarded && mode == CALL_PLAIN)) {
            return &wholes[i];
        }
    }
    return NULL;
}

/* ---- filling in ------------------------------------------------------------------------------ */

struct filling {
    struct text *text;
    const struct primitive *primitive;
    const struct op *op; /* NULL: a whole primitive */
    enum call_mode mode;
    const char *schema;
};

/* SQL that yields a bigint. */
static void put_operand(const struct filling *fill, struct text *text, uint8_t operand)
{
    static const char *const constants[OPERAND_CONSTANTS] = {[OPERAND_ZERO] = "0",
                                                             [OPERAND_ONE] = "1",
                                                             [OPERAND_MINUS_ONE] = "(-1)",
                                                             [OPERAND_NULL] = "NULL::bigint"};
    unsigned place = OPERAND_PLACE(operand);
    if (operand >= OPERAND_VALUE) {
        text_put(text, "current_setting('assay.v%u')::bigint", place);
    } else if (operand >= OPERAND_PARAM) {
        text_put(text, "$%u", place + 1);
    } else if (operand == OPERAND_NOW) {
        text_put(text, "%s." SCHEMA_CLOCK "()", fill->schema);
    } else if (operand == OPERAND_WALL) {
        text_put(text, "%s." SCHEMA_WALL "()", fill->schema);
    } else {
        text_put(text, "%s", constants[operand]);
    }
}

static void add_operand(const struct filling *fill, uint8_t operand)
{
    put_operand(fill, fill->text, operand);
}

static void number_of(const struct filling *fill, uint8_t operand, char number[CELL_NUMBER_SIZE])
{
    struct text text = text_begin(number, CELL_NUMBER_SIZE);
    put_operand(fill, &text, operand);
}

static enum row_table own_table(const struct filling *fill)
{
    return (enum row_table)fill->op->table;
}

/* The operation's cell, as a number. */
static void add_cell(const struct filling *fill)
{
    cell_put_number(fill->text, own_table(fill), fill->op->column, "t.");
}

static void add_table(const struct filling *fill, enum row_table table)
{
    text_put(fill->text, "%s.%s", fill->schema, schema_table(table));
}

/* Text with operands in it: a, b, c and v are those of the operation, @ its cell. */
static void add_formula(const struct filling *fill, const char *formula)
{
    for (const char *at = formula; *at != '\0'; at++) {
        switch (*at) {
        case 'a':
            add_operand(fill, fill->op->a);
            break;
        case 'b':
            add_operand(fill, fill->op->b);
            break;
        case 'c':
            add_operand(fill, fill->op->c);
            break;
        case 'v':
            add_operand(fill, fill->op->value);
            break;
        case '@':
            add_cell(fill);
            break;
        default:
            text_put(fill->text, "%c", *at);
        }
    }
}

static void add_test(const struct filling *fill)
{
    static const char *const formulas[] = {
        [TEST_NONE] = "(1 = 1)",
        [TEST_BELOW] = "(@ / a % b < c)",
        [TEST_MARKED] = "(@ / a % 10 = 1)",
        [TEST_UNMARKED] = "(@ / a % 10 = 0)",
        [TEST_EQUAL] = "(@ = a)",
        [TEST_NOT_BELOW] = "(@ + v >= 0)",
        [TEST_DIGIT] = "(@ / a % 10 = b)",
        [TEST_LACKS] = "(@::text !~ ('[' || (a)::text || ']'))",
        [TEST_RESUMABLE] = "(@ % a < b OR @ / a % 10000 IN (110, 1111) OR ",
        [TEST_STUCK] = "(NOT (@ % a < b OR @ / a % 10000 IN (110, 1111) OR ",
        [TEST_AMONG] = "((a >> @::int) & 1 = 1)",
        [TEST_PAIR] = "(@ = a AND ",
    };
    add_formula(fill, formulas[fill->op->test]);
    bool pair = fill->op->test == TEST_PAIR;
    if (pair || fill->op->test == TEST_RESUMABLE || fill->op->test == TEST_STUCK) {
        text_put(fill->text,
                 "t.%s = ", schema_column((enum row_table)fill->op->table, fill->op->beside));
        add_operand(fill, pair ? fill->op->b : fill->op->c);
        text_put(fill->text, fill->op->test == TEST_STUCK ? "))" : ")");
    }
}

/* Whether the statement does anything: nothing before it was skipped, its own condition holds. */
static void add_gate(const struct filling *fill)
{
    text_put(fill->text, "current_setting('assay.skip') = '0'");
    if (fill->op != NULL && fill->op->when != 0) {
        text_put(fill->text, " AND current_setting('assay.v%d') <> '0'", fill->op->when - 1);
    }
    if (fill->op != NULL && fill->op->unless != 0) {
        text_put(fill->text, " AND current_setting('assay.v%d') = '0'", fill->op->unless - 1);
    }
}

static bool refuses(const struct op *op, enum call_mode mode)
{
    return op->miss == MISS_REFUSES || (op->miss == MISS_BY_CALL && mode == CALL_REQUIRE);
}

static void add_miss(const struct filling *fill, const struct op *op, unsigned reason)
{
    if (refuses(op, fill->mode)) {
        text_put(fill->text, "%s." SCHEMA_REFUSE "(%u)", fill->schema, reason);
    } else if (op->miss == MISS_BY_CALL && fill->mode == CALL_UNLESS_DONE) {
        text_put(fill->text, "set_config('assay.skip', '1', true)::bigint");
    } else {
        text_put(fill->text, "0::bigint");
    }
}

/* A row that is not there is a miss of all but a read. */
static void add_absent(const struct filling *fill)
{
    const struct op *op = fill->op;
    if (op->kind == OP_READ) {
        text_put(fill->text, "0::bigint");
    } else {
        add_miss(fill, op, op->reason == REFUSED_NOTHING ? REFUSED_NO_ROW : op->reason);
    }
}

static void add_columns(const struct filling *fill)
{
    cell_put_columns(fill->text, own_table(fill));
}

static void add_row(const struct filling *fill)
{
    char numbers[1 + ROW_COLUMNS_MAX][CELL_NUMBER_SIZE];
    number_of(fill, fill->op->key, numbers[0]);
    for (int c = 0; c < schema_columns(own_table(fill)); c++) {
        number_of(fill, fill->op->columns[c], numbers[1 + c]);
    }
    cell_put_row(fill->text, own_table(fill), numbers);
}

static void add_lock(const struct filling *fill)
{
    static const char *const locks[LOCK_COUNT] = {[LOCK_NONE] = "",
                                                  [LOCK_KEY_SHARE] = " FOR KEY SHARE",
                                                  [LOCK_SHARE] = " FOR SHARE",
                                                  [LOCK_NO_KEY_UPDATE] = " FOR NO KEY UPDATE",
                                                  [LOCK_UPDATE] = " FOR UPDATE"};
    enum op_lock lock = op_lock_of(fill->op);
    text_put(fill->text, "%s%s", locks[lock],
             lock != LOCK_NONE && fill->op->skips ? " SKIP LOCKED" : "");
}

/* What an operation returns, as an expression. */
static void add_result(const struct filling *fill)
{
    switch ((enum op_kind)fill->op->kind) {
    case OP_ADD:
    case OP_SET:
        text_put(fill->text, "coalesce(written.now, cell.was, 0)");
        break;
    case OP_LET_EQUAL:
        add_formula(fill, "(a = b)::int");
        break;
    case OP_LET_SUM:
        add_formula(fill, "a + b * c");
        break;
    case OP_LET_MODULO:
        add_formula(fill, "a % b");
        break;
    case OP_READ:
    case OP_TEST:
    case OP_DELETE:
    case OP_INSERT:
    case OP_RECORD:
    case OP_CLAIM:
    case OP_FIND:
    case OP_EVERY:
    case OP_ADVISORY:
        text_put(fill->text, "coalesce(cell.was, 0)");
        break;
    }
}

static void add_expression(const struct filling *fill, bool found)
{
    if (found) {
        text_put(fill->text, "(cell.passed IS TRUE)::int::bigint");
    } else {
        add_result(fill);
    }
}

/* One value: told to the caller and, if the list goes on, kept for the operations that follow. The
 * gate may have been shut meanwhile, by this statement's own miss: then it is still told. */
static void add_value(const struct filling *fill, uint8_t to, bool found)
{
    text_put(fill->text, ",\n       ");
    if (fill->primitive->op_count > 1) {
        text_put(fill->text, "CASE WHEN ");
        add_gate(fill);
        text_put(fill->text, " THEN set_config('assay.v%d', (", to - 1);
        add_expression(fill, found);
        text_put(fill->text, ")::text, true)::bigint ELSE ");
        add_expression(fill, found);
        text_put(fill->text, " END");
    } else {
        add_expression(fill, found);
    }
}

static void add_values(const struct filling *fill)
{
    if (fill->op->returns != 0) {
        add_value(fill, fill->op->returns, false);
    }
    if (fill->op->found != 0) {
        add_value(fill, fill->op->found, true);
    }
}

/* "decision_backlog_entry.status" */
static void add_named_cell(const struct filling *fill, const char *name)
{
    size_t length = strcspn(name, ".");
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        bool is = strlen(schema_table(table)) == length &&
                  strncmp(schema_table(table), name, length) == 0;
        for (int c = 0; is && c < schema_columns(table); c++) {
            if (strcmp(schema_column(table, c), name + length + 1) == 0) {
                cell_put_number(fill->text, table, c, "t.");
                return;
            }
        }
    }
    CHECK(false);
}

/* "decision_backlog_entry $1" */
static void add_named_key(const struct filling *fill, const char *name)
{
    size_t length = strcspn(name, " ");
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        if (strlen(schema_table(table)) == length &&
            strncmp(schema_table(table), name, length) == 0) {
            cell_put_value(fill->text, table, CELL_KEY, name + length + 1);
            return;
        }
    }
    CHECK(false);
}

static bool fill_common(const struct filling *fill, const char *word)
{
    if (strncmp(word, "get ", 4) == 0) {
        add_named_cell(fill, word + 4);
        return true;
    }
    if (strncmp(word, "id ", 3) == 0) {
        add_named_key(fill, word + 3);
        return true;
    }
    if (strcmp(word, "gate") == 0) {
        add_gate(fill);
        return true;
    }
    if (strcmp(word, "now") == 0) {
        add_operand(fill, OPERAND_NOW);
        return true;
    }
    if (strncmp(word, "miss:", 5) == 0) {
        const struct op *op = &fill->primitive->ops[word[5] - '0'];
        add_miss(fill, op, op->reason);
        return true;
    }
    if (strcmp(word, "closed") == 0) {
        text_put(fill->text, "%s." SCHEMA_REFUSE "(%d)", fill->schema, REFUSED_CLOSED);
        return true;
    }
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (strcmp(word, schema_table((enum row_table)t)) == 0) {
            add_table(fill, (enum row_table)t);
            return true;
        }
    }
    return false;
}

static void fill_own_table(const struct filling *fill)
{
    add_table(fill, (enum row_table)fill->op->table);
}

static void fill_id(const struct filling *fill)
{
    text_put(fill->text, "%s", cell_column(own_table(fill), CELL_KEY));
}

static void fill_key(const struct filling *fill)
{
    char number[CELL_NUMBER_SIZE];
    number_of(fill, fill->op->key, number);
    cell_put_value(fill->text, own_table(fill), CELL_KEY, number);
}

static void fill_class(const struct filling *fill)
{
    text_put(fill->text, "%s", fill->schema);
}

static void fill_value(const struct filling *fill)
{
    add_operand(fill, fill->op->value);
}

static void fill_set(const struct filling *fill)
{
    char number[CELL_NUMBER_SIZE];
    number_of(fill, fill->op->value, number);
    cell_put_assignment(fill->text, own_table(fill), fill->op->column, number);
}

static void fill_added(const struct filling *fill)
{
    char sum[CELL_SUM_SIZE];
    struct text text = text_begin(sum, sizeof sum);
    cell_put_number(&text, own_table(fill), fill->op->column, "t.");
    text_put(&text, " + ");
    put_operand(fill, &text, fill->op->value);
    cell_put_assignment(fill->text, own_table(fill), fill->op->column, sum);
}

static void add_own_column(const struct filling *fill, int column)
{
    text_put(fill->text, "t.%s", schema_column((enum row_table)fill->op->table, column));
}

/* A cell that is equal to an operand, in the terms of its column where an index knows them. */
static void add_equal(const struct filling *fill, int column, const char *alias, uint8_t operand)
{
    char number[CELL_NUMBER_SIZE];
    number_of(fill, operand, number);
    if (table_column(own_table(fill), column)->nullable) {
        cell_put_number(fill->text, own_table(fill), column, alias);
        text_put(fill->text, " = %s", number);
    } else {
        text_put(fill->text, "%s%s = ", alias, schema_column(own_table(fill), column));
        cell_put_value(fill->text, own_table(fill), column, number);
    }
}

/* FIND: the part of the index in which the row is. */
static void fill_place(const struct filling *fill)
{
    const struct op *op = fill->op;
    add_equal(fill, op->column, "t.", op->a);
    text_put(fill->text, " AND ");
    add_equal(fill, op->beside, "t.", op->b);
    text_put(fill->text, " AND ");
    cell_put_number(fill->text, own_table(fill), op->order, "t.");
    add_formula(fill, " < c");
    if (op->unnamed != 0) {
        text_put(fill->text, " AND NOT EXISTS (SELECT FROM ");
        add_table(fill, own_table(fill));
        text_put(fill->text, " AS n WHERE n.%s = t.%s)",
                 schema_column(own_table(fill), op->unnamed - 1),
                 cell_column(own_table(fill), CELL_KEY));
    }
}

static void fill_order(const struct filling *fill)
{
    add_own_column(fill, fill->op->column);
    text_put(fill->text, ", ");
    add_own_column(fill, fill->op->beside);
    text_put(fill->text, ", ");
    cell_put_number(fill->text, own_table(fill), fill->op->order, "t.");
    text_put(fill->text, ", t.%s", cell_column(own_table(fill), CELL_KEY));
}

static void fill_number(const struct filling *fill)
{
    cell_put_number(fill->text, own_table(fill), CELL_KEY, "t.");
}

/* EVERY: its rows are r, those that they name are t. */
static void fill_named_cell(const struct filling *fill)
{
    cell_put_number(fill->text, primitive_named_table(fill->op), fill->op->order, "t.");
}

static void fill_named_table(const struct filling *fill)
{
    add_table(fill, primitive_named_table(fill->op));
}

static void fill_named_by(const struct filling *fill)
{
    text_put(fill->text, "t.%s = r.%s", cell_column(primitive_named_table(fill->op), CELL_KEY),
             schema_column(own_table(fill), fill->op->beside));
}

static void fill_of_named(const struct filling *fill)
{
    text_put(fill->text, "%s", op_lock_of(fill->op) == LOCK_NONE ? "" : " OF t");
}

static void fill_which(const struct filling *fill)
{
    add_equal(fill, fill->op->column, "r.", fill->op->a);
}

static void fill_equal(const struct filling *fill)
{
    add_operand(fill, fill->op->b);
}

static void fill_last(const struct filling *fill)
{
    enum row_table table = (enum row_table)fill->op->table;
    text_put(fill->text, "%s", schema_column(table, schema_columns(table) - 1));
}

static void fill_failed(const struct filling *fill)
{
    add_miss(fill, fill->op, fill->op->reason);
}

static const struct {
    const char *word;
    void (*add)(const struct filling *fill);
} words[] = {
    {"table", fill_own_table},
    {"cell", add_cell},
    {"key", fill_key},
    {"id", fill_id},
    {"set", fill_set},
    {"added", fill_added},
    {"value", fill_value},
    {"test", add_test},
    {"lock", add_lock},
    {"absent", add_absent},
    {"failed", fill_failed},
    {"values", add_values},
    {"columns", add_columns},
    {"row", add_row},
    {"last", fill_last},
    {"class", fill_class},
    {"place", fill_place},
    {"order", fill_order},
    {"number", fill_number},
    {"which", fill_which},
    {"equal", fill_equal},
    {"named cell", fill_named_cell},
    {"named table", fill_named_table},
    {"named by", fill_named_by},
    {"of named", fill_of_named},
};

static void fill_word(const struct filling *fill, const char *word)
{
    if (fill_common(fill, word)) {
        return;
    }
    CHECK(fill->op != NULL);
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(word, words[i].word) == 0) {
            words[i].add(fill);
            return;
        }
    }
    CHECK(false);
}

static void fill_in(const struct filling *fill, const char *pattern)
{
    while (*pattern != '\0') {
        size_t plain = strcspn(pattern, "{");
        text_put(fill->text, "%.*s", (int)plain, pattern);
        pattern += plain;
        if (*pattern == '{') {
            char word[48] = "";
            size_t length = strcspn(++pattern, "}");
            CHECK(length < sizeof word && pattern[length] == '}');
            memcpy(word, pattern, length);
            fill_word(fill, word);
            pattern += length + 1;
        }
    }
}

void sql_fill(const struct primitive *primitive, enum call_mode mode, const char *schema,
              const char *pattern, char text[SQL_TEXT_SIZE])
{
    struct text to = text_begin(text, SQL_TEXT_SIZE);
    fill_in(&(struct filling){.text = &to, .primitive = primitive, .mode = mode, .schema = schema},
            pattern);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* A list of several operations begins with a statement that forgets the values of other calls. */
static int reset_count(const struct primitive *primitive)
{
    return primitive->op_count > 1;
}

int sql_statement_count(const struct primitive *primitive, enum call_mode mode, enum sql_form form)
{
    if (whole_of(primitive, mode, form) != NULL) {
        return 1;
    }
    return reset_count(primitive) + primitive->op_count;
}

static void whole_statement(struct filling *fill, const struct whole *whole,
                            struct sql_statement *statement)
{
    fill_in(fill, whole->text);
    statement->places_count = whole->places_count;
    memcpy(statement->places, whole->places, sizeof statement->places);
}

static void operation(struct filling *fill, struct sql_statement *statement)
{
    const struct op *op = fill->op;
    bool strict = op->kind == OP_INSERT && refuses(op, fill->mode);
    fill_in(fill, strict ? strict_insert : templates[op->kind]);
    if (op->returns != 0) {
        statement->places[statement->places_count++] = (uint8_t)(op->returns - 1);
    }
    if (op->found != 0) {
        statement->places[statement->places_count++] = (uint8_t)(op->found - 1);
    }
    statement->message = op->kind == OP_CLAIM;
}

void sql_statement(const struct primitive *primitive, enum call_mode mode, enum sql_form form,
                   int index, const char *schema, struct sql_statement *statement)
{
    CHECK(index >= 0 && index < sql_statement_count(primitive, mode, form));
    memset(statement, 0, sizeof *statement);
    statement->params = primitive->params;
    struct text text = text_begin(statement->text, sizeof statement->text);
    struct filling fill = {.text = &text, .primitive = primitive, .mode = mode, .schema = schema};
    const struct whole *whole = whole_of(primitive, mode, form);
    if (whole != NULL) {
        whole_statement(&fill, whole, statement);
    } else if (index < reset_count(primitive)) {
        fill_in(&fill, no_values);
    } else {
        fill.op = &primitive->ops[index - reset_count(primitive)];
        operation(&fill, statement);
        statement->wall = fill.op->value == OPERAND_WALL;
    }
}

/* Plans are made once, while tables are still small: they must not depend on that. A transaction
 * that names its isolation level costs the server a walk through all its settings when it ends. */
void sql_settings(char script[SQL_SETTINGS_SIZE])
{
    struct text text = text_begin(script, SQL_SETTINGS_SIZE);
    text_put(&text, "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; "
                    "SET default_transaction_isolation = 'read committed'; "
                    "SET jit = off; SET client_min_messages = warning; SET assay.skip = '0';");
    for (int v = 0; v < PRIMITIVE_VALUES_MAX; v++) {
        text_put(&text, " SET assay.v%d = '0';", v);
    }
}

#include "real/compound.h"

#include "model/check.h"
#include "real/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the calls ------------------------------------------------------------------------------- */

static bool is_call(const struct bundle *bundle, const struct primitive *primitives, uint8_t at,
                    enum primitive_id id, enum call_mode mode)
{
    const struct call *call = &bundle->calls[at];
    return at < bundle->count && call->joined && call->mode == mode &&
           sql_same_list(&primitives[call->primitive], &primitive_table[id]);
}

static const int64_t *params_of(const struct bundle *bundle, uint8_t at)
{
    return &bundle->params[bundle->calls[at].params];
}

static void add_place(struct compound *compound, int place)
{
    compound->places[compound->places_count++] = (uint8_t)place;
}

static void take_activity(struct compound *compound, const int64_t *params)
{
    memcpy(&compound->activity[compound->activities], params,
           COMPOUND_ACTIVITY_WIDTH * sizeof *params);
    compound->activities += COMPOUND_ACTIVITY_WIDTH;
}

/* Its key and columns up to SPAWNED_BY, for how long it is kept, and its epoch. */
static void take_message(struct compound *compound, const int64_t *params, int64_t ticks,
                         int64_t epoch)
{
    int64_t *to = &compound->message[compound->messages];
    memcpy(to, params, PRIMITIVE_PUBLISH_PARAMS * sizeof *params);
    to[PRIMITIVE_PUBLISH_PARAMS] = ticks;
    to[PRIMITIVE_PUBLISH_PARAMS + 1] = epoch;
    compound->messages += COMPOUND_MESSAGE_WIDTH;
}
_Static_assert(PRIMITIVE_ADD_ACTIVITY_PARAMS == COMPOUND_ACTIVITY_WIDTH, "one row of the array");
_Static_assert(PRIMITIVE_PUBLISH_PARAMS + 2 == COMPOUND_MESSAGE_WIDTH, "one row of the array");

/* False: the call is none of a child. */
static bool take_child(const struct bundle *bundle, const struct primitive *primitives, uint8_t at,
                       struct compound *compound)
{
    const int64_t *params = at < bundle->count ? params_of(bundle, at) : NULL;
    if (is_call(bundle, primitives, at, PRIMITIVE_ADD_ACTIVITY, CALL_REQUIRE)) {
        take_activity(compound, params);
    } else if (is_call(bundle, primitives, at, PRIMITIVE_PUBLISH, CALL_REQUIRE)) {
        take_message(compound, params, 0, 0);
    } else if (is_call(bundle, primitives, at, PRIMITIVE_PUBLISH_HELD, CALL_REQUIRE) &&
               compound->places_count < SQL_VALUES_MAX) {
        take_message(compound, params, params[PRIMITIVE_PUBLISH_PARAMS], 1);
        add_place(compound, bundle->calls[at].values);
    } else {
        return false;
    }
    return true;
}

static void take_numbers(const struct bundle *bundle, struct compound *compound)
{
    const int64_t *mark = params_of(bundle, compound->first);
    const int64_t *collate = params_of(bundle, (uint8_t)(compound->first + 1));
    memcpy(compound->numbers, mark, 2 * sizeof *mark);
    memcpy(compound->numbers + 2, collate, 5 * sizeof *collate);
    compound->numbers[7] = 0;
    add_place(compound, bundle->calls[compound->first].values);
    for (int v = 0; v < 5; v++) {
        add_place(compound, bundle->calls[compound->first + 1].values + v);
    }
}

/* Whether the joined calls from this one on are Step 2 as it should be. */
static bool is_compound(const struct bundle *bundle, const struct primitive *primitives,
                        uint8_t first, struct compound *compound)
{
    if (!is_call(bundle, primitives, first, PRIMITIVE_MARK_ACTIVITY, CALL_PLAIN) ||
        !is_call(bundle, primitives, first + 1, PRIMITIVE_COLLATE, CALL_UNLESS_DONE)) {
        return false;
    }
    compound->first = first;
    compound->places_count = 0;
    compound->activities = 0;
    compound->messages = 0;
    take_numbers(bundle, compound);
    uint8_t at = (uint8_t)(first + 2);
    if (is_call(bundle, primitives, at, PRIMITIVE_CLOSE_TASK, CALL_REQUIRE)) {
        const int64_t *params = params_of(bundle, at++);
        compound->numbers[7] = params[0];
        if (params[0] == 0 || params[1] != compound->numbers[2]) {
            return false;
        }
    }
    while (take_child(bundle, primitives, at, compound)) {
        at++;
    }
    compound->calls = (uint8_t)(at - first);
    return at == bundle->count || !bundle->calls[at].joined;
}

void compound_find(const struct bundle *bundle, const struct primitive *primitives,
                   enum sql_form form, struct compound *compound)
{
    uint8_t first = 0;
    while (first < bundle->count && !bundle->calls[first].joined) {
        first++;
    }
    compound->calls = 0;
    if (form != SQL_WHOLE || !is_compound(bundle, primitives, first, compound)) {
        compound->calls = 0;
    }
}

/* ---- the statement --------------------------------------------------------------------------- */

/* {miss:i} are the misses of collate's operations. A condition on a count makes one part wait for
 * another that it takes nothing from. */
static const char template[] =
    "WITH a AS MATERIALIZED (\n"
    "  SELECT t.ledger, t.ledger / $2 % 10 = 0 AS owed\n"
    "    FROM {activity} AS t WHERE t.id = $1 AND {gate} FOR NO KEY UPDATE), m AS (\n"
    "  UPDATE {activity} AS t SET ledger = t.ledger + $2 FROM a WHERE t.id = $1 AND a.owed\n"
    "    RETURNING t.ledger), g AS MATERIALIZED (\n"
    "  SELECT t.ledger, t.ledger / $6 % 10 = 0 AS owed\n"
    "    FROM {guid} AS t WHERE t.id = $3 AND {gate} AND (SELECT count(*) >= 0 FROM a)\n"
    "    FOR NO KEY UPDATE), s AS MATERIALIZED (\n"
    "  SELECT t.semaphore + $5 >= 0 AS enough\n"
    "    FROM g, {job} AS t WHERE g.owed AND t.id = $4 FOR NO KEY UPDATE OF t), j AS (\n"
    "  UPDATE {job} AS t SET semaphore = t.semaphore + $5,\n"
    "                        state = (t.semaphore + $5 = 0)::int\n"
    "    FROM s WHERE s.enough AND t.id = $4\n"
    "    RETURNING t.semaphore, (t.semaphore = t.threshold)::int::bigint AS hit), u AS (\n"
    "  UPDATE {guid} AS t SET ledger = t.ledger + $6 + j.hit * $7 FROM j WHERE t.id = $3\n"
    "    RETURNING t.ledger), k AS MATERIALIZED (\n"
    "  SELECT t.closed = 0 AS open FROM j, {task} AS t WHERE t.id = $8 FOR NO KEY UPDATE OF t),\n"
    "c AS (\n"
    "  UPDATE {task} AS t SET closed = $3 FROM k WHERE t.id = $8 AND k.open), d AS (\n"
    "  INSERT INTO {activity} (id, job, node, ledger, spawned_by)\n"
    "    SELECT n[i], n[i + 1], n[i + 2], n[i + 3], n[i + 4]\n"
    "      FROM j LEFT JOIN k ON true, (SELECT $9 AS n) AS p,\n"
    "           generate_series(1, cardinality(n), 5) AS i\n"
    "      WHERE $8 = 0 OR k.open RETURNING id), e AS (\n"
    "  INSERT INTO {message} (id, kind, job, activity, node, guid, source, dimension, answer,\n"
    "      content, pendings, round, head, spawned_by, visible_at, epoch)\n"
    "    SELECT n[i], n[i + 1], n[i + 2], n[i + 3], n[i + 4], n[i + 5], n[i + 6], n[i + 7],\n"
    "        n[i + 8], n[i + 9], n[i + 10], n[i + 11], n[i + 12], n[i + 13], {now} + n[i + 14],\n"
    "        n[i + 15]\n"
    "      FROM j LEFT JOIN k ON true, (SELECT $10 AS n) AS p,\n"
    "           generate_series(1, cardinality(n), 16) AS i\n"
    "      WHERE ($8 = 0 OR k.open) AND (SELECT count(*) >= 0 FROM d) RETURNING visible_at, "
    "epoch)\n"
    "SELECT CASE WHEN NOT ({gate}) THEN NULL WHEN g.owed IS NOT TRUE THEN {miss:0}\n"
    "            WHEN j.hit IS NULL THEN {miss:2}\n"
    "            WHEN $8 <> 0 AND k.open IS NOT TRUE THEN {closed} ELSE 0::bigint END,\n"
    "       coalesce(m.ledger, a.ledger, 0), coalesce(u.ledger, g.ledger, 0), j.semaphore, j.hit,\n"
    "       (j.semaphore = 0)::int::bigint, $6 + j.hit * $7,\n"
    "       (SELECT visible_at FROM e WHERE epoch = 1 LIMIT 1)\n"
    "  FROM (SELECT) AS one LEFT JOIN a ON true LEFT JOIN m ON true LEFT JOIN g ON true\n"
    "    LEFT JOIN j ON true LEFT JOIN u ON true LEFT JOIN k ON true";

void compound_statement(const char *schema, struct sql_statement *statement)
{
    memset(statement, 0, sizeof *statement);
    statement->params = COMPOUND_PARAMS;
    sql_fill(&primitive_table[PRIMITIVE_COLLATE], CALL_UNLESS_DONE, schema, template,
             statement->text);
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* "Key (id)=(5) already exists.": the number in the second parentheses. */
static bool number_in(const char *detail, int64_t *number)
{
    const char *at = detail == NULL ? NULL : strstr(detail, ")=(");
    if (at != NULL) {
        *number = strtoll(at + 3, NULL, 10);
    }
    return at != NULL;
}

/* One of the row's foreign keys has the number; its own key comes first. */
static bool refers_to(uint8_t table, const int64_t *row, int64_t number)
{
    const struct foreign_key *key = primitive_foreign_keys[table];
    while (key->there && row[1 + key->column] != number) {
        key++;
    }
    return key->there;
}

/* A call of the compound that inserts into the table and has the number: the key of a row that is
 * there, or the parent that is not. */
static uint8_t call_with(const struct bundle *bundle, const struct primitive *primitives,
                         const struct compound *compound, const struct compound_error *error,
                         int64_t number)
{
    bool is_key = strcmp(error->sqlstate, "23505") == 0;
    for (uint8_t at = compound->first; at < compound->first + compound->calls; at++) {
        const struct primitive *primitive = &primitives[bundle->calls[at].primitive];
        const struct op *last = &primitive->ops[primitive->op_count - 1];
        const int64_t *row = params_of(bundle, at);
        if (last->kind == OP_INSERT &&
            (is_key ? row[0] == number : refers_to(last->table, row, number)) &&
            strcmp(schema_table((enum row_table)last->table), error->table) == 0) {
            return at;
        }
    }
    return compound->first;
}

uint8_t compound_refused(const struct bundle *bundle, const struct primitive *primitives,
                         const struct compound *compound, const struct compound_error *error)
{
    char closed[6];
    int64_t number = 0;
    snprintf(closed, sizeof closed, SCHEMA_REFUSAL_CLASS "%03d", REFUSED_CLOSED);
    if (error->sqlstate == NULL) {
        return compound->first;
    }
    if (strncmp(error->sqlstate, SCHEMA_REFUSAL_CLASS, 2) == 0) {
        return (uint8_t)(compound->first + (strcmp(error->sqlstate, closed) == 0 ? 2 : 1));
    }
    return error->table != NULL && number_in(error->detail, &number)
               ? call_with(bundle, primitives, compound, error, number)
               : compound->first;
}

#include "model/rights.h"

#include "model/check.h"

/* The pipeline's matrix (seed 004, 2 to 5). A lane is no table: what keeps one principal out of the
 * other's is what its signatures must say (E-CUT-14). */
#define VERIFY_BRINGS                                                                              \
    (TABLE_SET(CHANGE_SET) | TABLE_SET(AFFECTED_ROW) | TABLE_SET(ENTRY) | TABLE_SET(PAST) |        \
     TABLE_SET(SIGNATURE))
#define EXEC_BRINGS                                                                                \
    (VERIFY_BRINGS | TABLE_SET(DEPENDENCY) | TABLE_SET(SWEEP_LOG) | TABLE_SET(ENVELOPE) |          \
     TABLE_SET(UNIT_BLOCK) | TABLE_SET(REVIEW))
#define PIPELINE (EXEC_BRINGS | TABLE_SET(VERIFY))

static const struct rights rights_of[PRINCIPAL_COUNT] = {
    [PRINCIPAL_EXEC] = {.name = "exec",
                        .connections = 2, /* CUT-18 */
                        .reads = PIPELINE,
                        .inserts = EXEC_BRINGS,
                        .write_count = 2,
                        .writes = {{TABLE_ENTRY, ENTRY_STATUS}, {TABLE_REVIEW, REVIEW_BY}},
                        .says_count = 2,
                        .says = {{TABLE_SIGNATURE, SIGNATURE_LANE, LANE_EXECUTOR},
                                 {TABLE_SIGNATURE, SIGNATURE_PRINCIPAL, PRINCIPAL_EXEC}}},
    [PRINCIPAL_VERIFY] = {.name = "verify",
                          .connections = 2,
                          .reads = PIPELINE,
                          .inserts = VERIFY_BRINGS | TABLE_SET(VERIFY),
                          .write_count = 1,
                          .writes = {{TABLE_ENTRY, ENTRY_STATUS}},
                          .says_count = 2,
                          .says = {{TABLE_SIGNATURE, SIGNATURE_LANE, LANE_VERIFIER},
                                   {TABLE_SIGNATURE, SIGNATURE_PRINCIPAL, PRINCIPAL_VERIFY}}},
};

const struct rights *rights_get(enum principal principal)
{
    CHECK((unsigned)principal < PRINCIPAL_COUNT);
    return &rights_of[principal];
}

bool rights_to_write(const struct rights *rights, enum row_table table, int column)
{
    for (uint8_t w = 0; w < rights->write_count; w++) {
        if (rights->writes[w].table == table && rights->writes[w].column == column) {
            return true;
        }
    }
    return false;
}

/* To lock a row takes the right to write some column of it. */
static bool may_lock(const struct rights *rights, enum row_table table)
{
    for (uint8_t w = 0; w < rights->write_count; w++) {
        if (rights->writes[w].table == table) {
            return true;
        }
    }
    return false;
}

bool rights_allow(enum principal principal, const struct op *op)
{
    enum row_table table = (enum row_table)op->table;
    if (principal == PRINCIPAL_NONE) {
        return true;
    }
    const struct rights *rights = rights_get(principal);
    switch ((enum op_kind)op->kind) {
    case OP_READ:
    case OP_TEST:
    case OP_FIND:
        return table_in(rights->reads, table) &&
               (op_lock_of(op) == LOCK_NONE || may_lock(rights, table));
    case OP_EVERY: {
        enum row_table named = primitive_named_table(op);
        return table_in(rights->reads, table) && table_in(rights->reads, named) &&
               (op_lock_of(op) == LOCK_NONE || may_lock(rights, named));
    }
    case OP_ADD:
    case OP_SET:
        return rights_to_write(rights, table, op->column);
    case OP_INSERT:
        return table_in(rights->inserts, table);
    case OP_RECORD: /* counts in the last column */
        return table_in(rights->inserts, table) &&
               rights_to_write(rights, table, (int)table_get(table)->columns - 1);
    case OP_ADVISORY:
    case OP_LET_EQUAL:
    case OP_LET_SUM:
    case OP_LET_MODULO:
        return true;
    case OP_DELETE:
    case OP_CLAIM:
        break;
    }
    return false;
}

bool rights_allow_row(enum principal principal, enum row_table table, const int64_t *columns)
{
    if (principal == PRINCIPAL_NONE) {
        return true;
    }
    const struct rights *rights = rights_get(principal);
    for (uint8_t s = 0; s < rights->says_count; s++) {
        if (rights->says[s].table == table &&
            columns[rights->says[s].column] != rights->says[s].value) {
            return false;
        }
    }
    return true;
}

/* The table of rights: what each principal may, and nothing else. */
#include "model/pipeline.h"
#include "model/rights.h"

#include "model/protocol.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>

static uint64_t pipeline(void)
{
    return protocol_pipeline.tables & ~TABLE_SET(MESSAGE);
}

static bool may(enum principal principal, struct op op)
{
    return rights_allow(principal, &op);
}

Test(rights, inserts_are_as_the_matrix_says)
{
    PROVES(CLAUSE_CUT_11);
    static const uint64_t review = TABLE_SET(REVIEW) | TABLE_SET(ENVELOPE) | TABLE_SET(UNIT_BLOCK) |
                                   TABLE_SET(DEPENDENCY) | TABLE_SET(SWEEP_LOG);
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        struct op insert = {.kind = OP_INSERT, .table = (uint8_t)t};
        bool known = table_in(pipeline(), table);
        cr_expect_eq(may(PRINCIPAL_EXEC, insert), known && table != TABLE_VERIFY, "%d", t);
        cr_expect_eq(may(PRINCIPAL_VERIFY, insert), known && !table_in(review, table), "%d", t);
        cr_expect(may(PRINCIPAL_NONE, insert));
    }
}

Test(rights, two_columns_can_be_written_and_nothing_deleted)
{
    PROVES(CLAUSE_CUT_21, CLAUSE_CUT_24);
    for (int p = PRINCIPAL_EXEC; p < PRINCIPAL_COUNT; p++) {
        for (int t = 0; t < TABLE_COUNT; t++) {
            struct op op = {.kind = OP_DELETE, .table = (uint8_t)t};
            cr_expect_not(may((enum principal)p, op));
            for (uint8_t c = 0; c < table_get((enum row_table)t)->columns; c++) {
                bool written = (t == TABLE_ENTRY && c == ENTRY_STATUS) ||
                               (t == TABLE_REVIEW && c == REVIEW_BY && p == PRINCIPAL_EXEC);
                op = (struct op){.kind = OP_SET, .table = (uint8_t)t, .column = c};
                cr_expect_eq(may((enum principal)p, op), written, "%d: %d.%u", p, t, c);
                op.kind = OP_ADD;
                cr_expect_eq(may((enum principal)p, op), written, "%d: %d.%u", p, t, c);
            }
        }
    }
}

/* A lock takes the right to write, and the queue is the caller's. */
Test(rights, what_is_read_locked_and_claimed)
{
    PROVES(CLAUSE_CUT_24);
    static const struct {
        struct op op;
        bool exec, verify;
    } cases[] = {
        {{.kind = OP_READ, .table = TABLE_VERIFY}, true, true},
        {{.kind = OP_READ, .table = TABLE_ENTRY, .lock = LOCK_SHARE}, true, true},
        {{.kind = OP_TEST, .table = TABLE_REVIEW}, true, false},
        {{.kind = OP_TEST, .table = TABLE_REVIEW, .lock = LOCK_NONE}, true, true},
        {{.kind = OP_READ, .table = TABLE_SIGNATURE, .lock = LOCK_KEY_SHARE}, false, false},
        {{.kind = OP_READ, .table = TABLE_MESSAGE}, false, false},
        {{.kind = OP_READ, .table = TABLE_JOB}, false, false},
        {{.kind = OP_CLAIM, .table = TABLE_MESSAGE}, false, false},
        {{.kind = OP_RECORD, .table = TABLE_SIGNATURE}, false, false},
        {{.kind = OP_FIND, .table = TABLE_REVIEW}, true, true},
        {{.kind = OP_FIND, .table = TABLE_MESSAGE}, false, false},
        {{.kind = OP_EVERY, .table = TABLE_DEPENDENCY, .beside = DEPENDENCY_TO}, true, true},
        {{.kind = OP_EVERY, .table = TABLE_DEPENDENCY, .beside = DEPENDENCY_TO, .lock = LOCK_SHARE},
         true,
         true},
        {{.kind = OP_EVERY, .table = TABLE_VERIFY, .beside = VERIFY_SET, .lock = LOCK_SHARE},
         false,
         false},
        {{.kind = OP_EVERY, .table = TABLE_MESSAGE, .beside = MESSAGE_ACTIVITY}, false, false},
        {{.kind = OP_ADVISORY}, true, true},
        {{.kind = OP_LET_SUM}, true, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(may(PRINCIPAL_EXEC, cases[i].op), cases[i].exec, "case %zu", i);
        cr_expect_eq(may(PRINCIPAL_VERIFY, cases[i].op), cases[i].verify, "case %zu", i);
        cr_expect(may(PRINCIPAL_NONE, cases[i].op), "case %zu", i);
    }
}

Test(rights, a_signature_says_who_signed_and_in_which_lane)
{
    PROVES(CLAUSE_CUT_11, CLAUSE_CUT_26);
    SETTLES(ERRATUM_CUT_14);
    static const int64_t lanes[] = {LANE_EXECUTOR, LANE_VERIFIER, ROW_NULL};
    for (int p = PRINCIPAL_NONE; p < PRINCIPAL_COUNT; p++) {
        for (size_t lane = 0; lane < COUNT(lanes); lane++) {
            for (int by = PRINCIPAL_EXEC; by < PRINCIPAL_COUNT; by++) {
                int64_t columns[SIGNATURE_COLUMNS] = {
                    [SIGNATURE_LANE] = lanes[lane], [SIGNATURE_PRINCIPAL] = by};
                bool own =
                    by == p && lanes[lane] == (p == PRINCIPAL_EXEC ? LANE_EXECUTOR : LANE_VERIFIER);
                cr_expect_eq(rights_allow_row((enum principal)p, TABLE_SIGNATURE, columns),
                             p == PRINCIPAL_NONE || own, "%d: %zu, %d", p, lane, by);
                cr_expect(rights_allow_row((enum principal)p, TABLE_ENTRY, columns));
            }
        }
    }
}

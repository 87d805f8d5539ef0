/* The seam: that every protocol is complete, and what its usual roles do. */
#include "model/inbox.h"
#include "model/primitive.h"
#include "model/protocol.h"
#include "model/tests/rules.h"

#include <criterion/criterion.h>
#include <string.h>

static bool is_there(const struct role *role)
{
    return role->name != NULL;
}

Test(protocol, every_one_is_found_by_its_name_and_names_tables_and_roles)
{
    for (size_t p = 0; p < protocol_count(); p++) {
        const struct protocol *protocol = protocol_at(p);
        cr_expect_eq(protocol_find(protocol->name), protocol, "%s", protocol->name);
        cr_expect_eq(protocol_place(protocol), p, "%s", protocol->name);
        cr_expect(protocol->actor_size > 0 && protocol->actor_size <= PROTOCOL_ACTOR_SIZE,
                  "%s: PR3", protocol->name);
        cr_expect(protocol->rules_size <= PROTOCOL_RULES_SIZE, "%s", protocol->name);
        cr_expect_neq(protocol->tables, 0U);
        cr_expect_eq(protocol->tables >> TABLE_COUNT, 0U, "%s: tables that there are",
                     protocol->name);
        cr_expect(protocol_judges(protocol->family));
        cr_expect(is_there(&protocol->roles[0]));
    }
    cr_expect_null(protocol_find(""));
    cr_expect_null(protocol_find("activit"));
    cr_expect_null(protocol_find("activity "));
    cr_expect_not(protocol_judges(CLAUSE_FAMILY_COUNT), "no protocol promises what has no family");
}

Test(protocol, an_actor_has_room_for_the_roles_that_most_protocols_have) /* PR3 */
{
    for (size_t i = 0; i < protocol_count() * PROTOCOL_ROLES_MAX; i++) {
        const struct protocol *protocol = protocol_at(i / PROTOCOL_ROLES_MAX);
        const struct role *role = &protocol->roles[i % PROTOCOL_ROLES_MAX];
        size_t needs = role->begin == protocol_client_begin     ? sizeof(struct client)
                       : role->begin == protocol_consumer_begin ? sizeof(struct consumer)
                                                                : 0;
        cr_expect_geq(protocol->actor_size, needs, "%s: actor_size is less than a %s needs",
                      protocol->name, role->name);
    }
}

Test(protocol, a_role_has_every_function_that_it_must_have)
{
    for (size_t i = 0; i < protocol_count() * PROTOCOL_ROLES_MAX; i++) {
        const struct protocol *protocol = protocol_at(i / PROTOCOL_ROLES_MAX);
        const struct role *role = &protocol->roles[i % PROTOCOL_ROLES_MAX];
        bool complete = role->begin != NULL && role->next != NULL && role->take != NULL &&
                        role->is_idle != NULL && role->due != NULL;
        cr_expect(!is_there(role) || complete, "%s, %s", protocol->name, role->name);
    }
}

Test(protocol, every_table_has_a_name_of_its_own_and_columns_that_have_names)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct table *table = table_get((enum row_table)t);
        cr_assert_not_null(table->name, "table %d is not described", t);
        cr_expect_leq(strlen(table->name), 31U, "%s", table->name);
        for (uint32_t c = 0; c < table->columns; c++) {
            cr_expect_not_null(table->column[c].name, "%s, column %u", table->name, c);
        }
        for (int other = 0; other < t; other++) {
            cr_expect_str_neq(table->name, table_get((enum row_table)other)->name);
        }
    }
}

Test(protocol, a_kind_of_column_has_what_it_needs) /* TD1 */
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct table *table = table_get((enum row_table)t);
        for (int c = 0; c < (int)table->columns; c++) {
            const struct column *column = table_column((enum row_table)t, c);
            bool refers = column->kind == COLUMN_REF && column->of < TABLE_COUNT;
            bool digits = column->kind == COLUMN_LEDGER && column->of < DIGITS_KINDS;
            cr_expect(refers || digits || column->of == 0, "%s.%s", table->name, column->name);
            cr_expect_eq(column->kind == COLUMN_ENUM, column->name_count > 0, "%s.%s", table->name,
                         column->name);
            cr_expect_eq(column->kind == COLUMN_TIME,
                         (table_times((enum row_table)t) >> c & 1) != 0, "%s.%s", table->name,
                         column->name);
        }
    }
}

Test(protocol, a_foreign_key_is_a_reference_to_its_parent) /* TD2 */
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        uint32_t columns = 0;
        for (const struct foreign_key *key = primitive_foreign_keys[t]; key->there; key++) {
            const struct column *column = table_column((enum row_table)t, key->column);
            cr_expect(column->kind == COLUMN_REF && column->of == key->parent, "%s.%s",
                      table_get((enum row_table)t)->name, column->name);
            cr_expect_eq(column->nullable, key->optional, "%s.%s",
                         table_get((enum row_table)t)->name, column->name);
            cr_expect_eq(columns >> key->column & 1, 0, "once");
            columns |= UINT32_C(1) << key->column;
        }
        cr_expect_eq(columns, primitive_foreign_columns[t]);
    }
}

Test(protocol, owners_of_rows_lead_to_a_row_with_a_name_of_its_own) /* TD3 */
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        int steps = table_words(table)->called == NULL ? TABLE_COUNT : 0;
        for (; steps < TABLE_COUNT && table_words(table)->owner != ROW_ITSELF; steps++) {
            const struct column *owner = table_column(table, table_words(table)->owner);
            cr_assert_eq(owner->kind, COLUMN_REF, "%s", table_get(table)->name);
            table = (enum row_table)owner->of;
            cr_assert_not_null(table_words(table)->called, "%s", table_get(table)->name);
        }
        cr_expect(steps < TABLE_COUNT || table_words((enum row_table)t)->called == NULL, "%s",
                  table_get((enum row_table)t)->name);
    }
}

Test(protocol, a_value_without_a_name_has_none)
{
    const struct column *state = table_column(TABLE_JOB, JOB_STATE);
    const struct column *kind = table_column(TABLE_ENTRY, ENTRY_KIND);
    cr_expect_str_eq(column_value_name(state, JOB_COMPLETE), "complete");
    cr_expect_null(column_value_name(state, 2));
    cr_expect_null(column_value_name(state, -1));
    cr_expect_null(column_value_name(kind, 0), "a gap in the enum");
    cr_expect_null(column_value_name(table_column(TABLE_JOB, JOB_SEMAPHORE), 0));
}

static struct rules inbox = {
    .protocol = &protocol_inbox, .actors = 2, .cast = {0, 1}, .jobs = 2, .timeout = 60};
OWN_RULES(inbox, inbox_rules, .accounts = 1)

Test(protocol, a_client_goes_on_after_a_crash_and_is_done_when_it_is_sure_of_everything)
{
    static const struct glance at_9 = {.now = 9, .next_message = PROTOCOL_NEVER};
    const struct role *role = protocol_role(&inbox, 0);
    struct actor client;
    protocol_begin(&client, &inbox, 0);
    cr_expect_eq(role->due(&client, &inbox, &at_9), 9);
    role->take(&client, &inbox, &(struct outcome){.kind = OUTCOME_UNKNOWN});
    cr_expect_eq(ACTOR_IS(&client, client)->job, 0U);
    role->take(&client, &inbox, &(struct outcome){.kind = OUTCOME_COMMITTED});
    protocol_restart(&client, &inbox, 0);
    cr_expect_eq(ACTOR_IS(&client, client)->job, 1U);
    role->take(&client, &inbox, &(struct outcome){.kind = OUTCOME_COMMITTED});
    cr_expect(role->is_done(&client));
    cr_expect_eq(role->due(&client, &inbox, &at_9), PROTOCOL_NEVER);
}

/* Claimed, applied, acked; asked again while it is not known; let go of when it is refused. */
Test(protocol, a_consumer_follows_a_message_to_its_end)
{
    static const struct {
        enum consumer_state from;
        enum outcome_kind outcome;
        int tries;
        enum consumer_state to;
    } cases[] = {{CONSUMER_IDLE, OUTCOME_COMMITTED, 0, CONSUMER_WORK},
                 {CONSUMER_IDLE, OUTCOME_REFUSED, 0, CONSUMER_IDLE},
                 {CONSUMER_WORK, OUTCOME_COMMITTED, 0, CONSUMER_ACK},
                 {CONSUMER_WORK, OUTCOME_ABORTED, 0, CONSUMER_WORK},
                 {CONSUMER_WORK, OUTCOME_UNKNOWN, 0, CONSUMER_WORK},
                 {CONSUMER_WORK, OUTCOME_UNKNOWN, CONSUMER_TRIES_MAX, CONSUMER_IDLE},
                 {CONSUMER_WORK, OUTCOME_REFUSED, 0, CONSUMER_IDLE},
                 {CONSUMER_ACK, OUTCOME_COMMITTED, 0, CONSUMER_IDLE},
                 {CONSUMER_ACK, OUTCOME_REFUSED, 0, CONSUMER_IDLE},
                 {CONSUMER_ACK, OUTCOME_UNKNOWN, 0, CONSUMER_ACK}};
    static const enum bundle_name sent[] = {[CONSUMER_IDLE] = BUNDLE_CLAIM,
                                            [CONSUMER_WORK] = BUNDLE_APPLY,
                                            [CONSUMER_ACK] = BUNDLE_ACK};
    const struct role *role = protocol_role(&inbox, 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct actor worker = {.role = 1};
        struct bundle bundle;
        ACTOR_IS(&worker, consumer)->state = (uint8_t)cases[i].from;
        ACTOR_IS(&worker, consumer)->tries = (uint8_t)cases[i].tries;
        role->next(&worker, &inbox, &bundle);
        cr_expect_eq(bundle.name, sent[cases[i].from], "case %zu", i);
        role->take(&worker, &inbox, &(struct outcome){.kind = (uint8_t)cases[i].outcome});
        cr_expect_eq(ACTOR_IS(&worker, consumer)->state, cases[i].to, "case %zu", i);
        cr_expect_eq(role->is_idle(&worker), cases[i].to == CONSUMER_IDLE, "case %zu", i);
    }
}

#include "real/pipeline_roles.h"

#include "model/check.h"
#include "model/table.h"
#include "real/schema.h"
#include "real/text.h"

#include <stdio.h>

/* ---- the matrix ------------------------------------------------------------------------------ */

#define VERIFY_BRINGS                                                                              \
    (TABLE_SET(CHANGE_SET) | TABLE_SET(AFFECTED_ROW) | TABLE_SET(ENTRY) | TABLE_SET(PAST) |        \
     TABLE_SET(SIGNATURE))
#define ALL_TABLES                                                                                 \
    (VERIFY_BRINGS | TABLE_SET(VERIFY) | TABLE_SET(DEPENDENCY) | TABLE_SET(SWEEP_LOG) |            \
     TABLE_SET(ENVELOPE) | TABLE_SET(UNIT_BLOCK) | TABLE_SET(REVIEW))

bool pipeline_may_insert(enum principal principal, enum row_table table)
{
    uint64_t tables = principal == PRINCIPAL_EXEC ? ALL_TABLES & ~TABLE_SET(VERIFY)
                                                  : VERIFY_BRINGS | TABLE_SET(VERIFY);
    return table_in(tables, table);
}

bool pipeline_may_write(enum principal principal, enum row_table table, int column)
{
    return (table == TABLE_ENTRY && column == ENTRY_STATUS) ||
           (principal == PRINCIPAL_EXEC && table == TABLE_REVIEW && column == REVIEW_BY);
}

/* ---- as SQL ---------------------------------------------------------------------------------- */

struct pipeline_role_name pipeline_role(enum principal principal, const char *schema)
{
    struct pipeline_role_name name;
    CHECK(schema_name_is_sound(schema));
    int length = snprintf(name.text, sizeof name.text, "assay_%s_%s",
                          principal == PRINCIPAL_EXEC ? "exec" : "verify", schema);
    CHECK(length > 0 && (size_t)length < sizeof name.text);
    return name;
}

static void grant_columns(struct text *text, enum principal principal, const char *schema,
                          enum row_table table)
{
    for (int c = 0; c < schema_columns(table); c++) {
        if (pipeline_may_write(principal, table, c)) {
            text_add(text, "GRANT UPDATE (%s) ON %s.%s TO %s;\n", schema_column(table, c), schema,
                     schema_table(table), pipeline_role(principal, schema).text);
        }
    }
}

static void grant_tables(struct text *text, enum principal principal, const char *schema)
{
    struct pipeline_role_name role = pipeline_role(principal, schema);
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        if (!table_in(ALL_TABLES, table)) {
            continue;
        }
        text_add(text, "GRANT SELECT%s ON %s.%s TO %s;\n",
                 pipeline_may_insert(principal, table) ? ", INSERT" : "", schema,
                 schema_table(table), role.text);
        grant_columns(text, principal, schema, table);
    }
}

/* A principal signs as itself, and in its own lane. */
static void add_policy(struct text *text, enum principal principal, const char *schema)
{
    struct pipeline_role_name role = pipeline_role(principal, schema);
    text_add(text,
             "CREATE POLICY signs_%d ON %s.%s FOR INSERT TO %s WITH CHECK (%s = %d AND %s = %d);\n",
             (int)principal, schema, schema_table(TABLE_SIGNATURE), role.text,
             schema_column(TABLE_SIGNATURE, SIGNATURE_LANE),
             principal == PRINCIPAL_EXEC ? LANE_EXECUTOR : LANE_VERIFIER,
             schema_column(TABLE_SIGNATURE, SIGNATURE_PRINCIPAL), (int)principal);
}

static void add_principal(struct text *text, enum principal principal, const char *schema)
{
    struct pipeline_role_name role = pipeline_role(principal, schema);
    text_add(text, "CREATE ROLE %s LOGIN CONNECTION LIMIT %d;\n", role.text,
             PIPELINE_ROLES_CONNECTIONS);
    text_add(text, "GRANT USAGE ON SCHEMA %s TO %s;\n", schema, role.text);
    grant_tables(text, principal, schema);
    add_policy(text, principal, schema);
}

void pipeline_roles_script(const char *schema, char script[PIPELINE_ROLES_SCRIPT_SIZE])
{
    struct text text = text_begin(script, PIPELINE_ROLES_SCRIPT_SIZE);
    const char *signatures = schema_table(TABLE_SIGNATURE);
    text_add(&text, "BEGIN;\nALTER TABLE %s.%s ENABLE ROW LEVEL SECURITY;\n", schema, signatures);
    text_add(&text, "CREATE POLICY reads ON %s.%s FOR SELECT USING (true);\n", schema, signatures);
    add_principal(&text, PRINCIPAL_EXEC, schema);
    add_principal(&text, PRINCIPAL_VERIFY, schema);
    text_add(&text, "COMMIT;\n");
}

void pipeline_roles_drop_script(const char *schema, char script[PIPELINE_ROLES_SCRIPT_SIZE])
{
    struct text text = text_begin(script, PIPELINE_ROLES_SCRIPT_SIZE);
    text_add(&text, "DROP ROLE IF EXISTS %s, %s;\n", pipeline_role(PRINCIPAL_EXEC, schema).text,
             pipeline_role(PRINCIPAL_VERIFY, schema).text);
}

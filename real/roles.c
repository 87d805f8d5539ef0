#include "real/roles.h"

#include "model/text.h"
#include "real/cell.h"
#include "real/schema.h"

#include <sys/random.h>

void roles_draw_digits(char *text, size_t digits)
{
    unsigned char bytes[16];
    CHECK(digits / 2 <= sizeof bytes);
    CHECK(getrandom(bytes, digits / 2, 0) == (ssize_t)(digits / 2));
    for (size_t i = 0; i < digits / 2; i++) {
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
}

void roles_draw(struct roles *roles, uint32_t principals)
{
    char tag[17];
    *roles = (struct roles){.principals = principals};
    roles_draw_digits(tag, 16);
    roles_draw_digits(roles->password, 32);
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        const struct rights *rights = rights_get((enum principal)p);
        roles->connections[p] = rights->connections;
        snprintf(roles->names[p], ROLES_NAME_SIZE, "assay_%s_%s", rights->name, tag);
    }
}

/* ---- what each may ----------------------------------------------------------------------------
 */

static void grant_columns(struct text *text, const struct rights *rights, const char *schema,
                          enum row_table table, const char *role)
{
    for (int c = 0; c < schema_columns(table); c++) {
        if (rights_to_write(rights, table, c)) {
            text_put(text, "GRANT UPDATE (%s) ON %s.%s TO %s;\n", cell_column(table, c), schema,
                     schema_table(table), role);
        }
    }
}

static void grant_tables(struct text *text, const struct rights *rights, const char *schema,
                         const char *role)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        if (table_in(rights->reads, table)) {
            text_put(text, "GRANT SELECT%s ON %s.%s TO %s;\n",
                     table_in(rights->inserts, table) ? ", INSERT" : "", schema,
                     schema_table(table), role);
            grant_columns(text, rights, schema, table, role);
        }
    }
}

/* ---- what a row must say ----------------------------------------------------------------------
 */

static bool is_spoken_for(const struct rights *rights, enum row_table table)
{
    for (uint8_t s = 0; s < rights->says_count; s++) {
        if (rights->says[s].table == table) {
            return true;
        }
    }
    return false;
}

static void put_says(struct text *text, enum row_table table, int column, int64_t value)
{
    char number[CELL_NUMBER_SIZE];
    snprintf(number, sizeof number, "%" PRId64, value);
    text_put(text, " AND %s = ", cell_column(table, column));
    cell_put_value(text, table, column, number);
}

static void add_policies(struct text *text, const struct rights *rights, const char *schema,
                         enum row_table table, const char *role)
{
    text_put(text, "CREATE POLICY %s_reads ON %s.%s FOR SELECT TO %s USING (true);\n", role, schema,
             schema_table(table), role);
    text_put(text, "CREATE POLICY %s ON %s.%s FOR INSERT TO %s WITH CHECK (true", role, schema,
             schema_table(table), role);
    for (uint8_t s = 0; s < rights->says_count; s++) {
        if (rights->says[s].table == table) {
            put_says(text, table, rights->says[s].column, rights->says[s].value);
        }
    }
    text_put(text, ");\n");
}

/* Row security denies a role that no policy names, so every role with a right to the table needs a
 * policy. */
static void secure_table(struct text *text, const struct roles *roles, const char *schema,
                         enum row_table table)
{
    bool secured = false;
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        secured = secured || (principal_in(roles->principals, (enum principal)p) &&
                              is_spoken_for(rights_get((enum principal)p), table));
    }
    if (!secured) {
        return;
    }
    text_put(text, "ALTER TABLE %s.%s ENABLE ROW LEVEL SECURITY;\n", schema, schema_table(table));
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        if (principal_in(roles->principals, (enum principal)p)) {
            add_policies(text, rights_get((enum principal)p), schema, table, roles->names[p]);
        }
    }
}

/* ---- scripts ----------------------------------------------------------------------------------
 */

void roles_script(const struct roles *roles, const char *schema, char script[ROLES_SCRIPT_SIZE])
{
    struct text text = text_begin(script, ROLES_SCRIPT_SIZE);
    text_put(&text, "BEGIN;\n");
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        if (principal_in(roles->principals, (enum principal)p)) {
            text_put(&text,
                     "CREATE ROLE %s LOGIN CONNECTION LIMIT %u PASSWORD '%s' ROLE CURRENT_USER;\n",
                     roles->names[p], roles->connections[p], roles->password);
            text_put(&text, "ALTER ROLE %s SET lock_timeout = %d;\n", roles->names[p],
                     ROLES_LOCK_TIMEOUT_MS);
            text_put(&text, "ALTER ROLE %s SET idle_in_transaction_session_timeout = %d;\n",
                     roles->names[p], ROLES_IDLE_TIMEOUT_MS);
            text_put(&text, "COMMENT ON ROLE %s IS '" ROLES_COMMENT "%s';\n", roles->names[p],
                     schema);
            text_put(&text, "GRANT USAGE ON SCHEMA %s TO %s;\n", schema, roles->names[p]);
            grant_tables(&text, rights_get((enum principal)p), schema, roles->names[p]);
        }
    }
    for (int t = 0; t < TABLE_COUNT; t++) {
        secure_table(&text, roles, schema, (enum row_table)t);
    }
    text_put(&text, "COMMIT;\n");
}

void roles_drop_script(const struct roles *roles, char script[ROLES_SCRIPT_SIZE])
{
    struct text text = text_begin(script, ROLES_SCRIPT_SIZE);
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        if (principal_in(roles->principals, (enum principal)p)) {
            text_put(&text, "DROP OWNED BY %s;\nDROP ROLE %s;\n", roles->names[p], roles->names[p]);
        }
    }
}

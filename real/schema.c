#include "real/schema.h"

#include "model/check.h"
#include "model/primitive.h"
#include "model/table.h"
#include "model/text.h"

#include <string.h>

bool schema_name_is_sound(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < SCHEMA_NAME_SIZE && name[length] == '\0' &&
           strspn(name, "0123456789") == 0 && strncmp(name, "pg_", 3) != 0;
}

const char *schema_table(enum row_table table)
{
    return table_get(table)->name;
}

int schema_columns(enum row_table table)
{
    return (int)table_get(table)->columns;
}

const char *schema_column(enum row_table table, int column)
{
    CHECK(column < schema_columns(table));
    return table_get(table)->column[column].name;
}

static void create_table(struct text *text, const char *schema, enum row_table table,
                         uint64_t tables)
{
    text_put(text, "CREATE TABLE %s.%s (id bigint PRIMARY KEY", schema, schema_table(table));
    for (int c = 0; c < schema_columns(table); c++) {
        text_put(text, ", %s bigint NOT NULL", schema_column(table, c)); /* H2 */
    }
    const struct foreign_key *key = &primitive_foreign_keys[table];
    if (key->there && table_in(tables, (enum row_table)key->parent)) { /* H5 */
        text_put(text, ", FOREIGN KEY (%s) REFERENCES %s.%s", schema_column(table, key->column),
                 schema, schema_table((enum row_table)key->parent));
    }
    text_put(text, ");\n");
}

/* Parents come first: the order of enum row_table. */
void schema_create_script(const char *name, uint64_t tables, char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name));
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    text_put(&text, "CREATE SCHEMA %s;\n", name);
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (table_in(tables, (enum row_table)t)) {
            create_table(&text, name, (enum row_table)t, tables);
        }
    }
    if (table_in(tables, TABLE_MESSAGE)) { /* what a claim asks */
        text_put(&text, "CREATE INDEX ON %s.message (visible_at, id);\n", name);
    }
    text_put(&text,
             "CREATE FUNCTION %s." SCHEMA_REFUSE "(reason bigint) RETURNS bigint\n"
             "LANGUAGE plpgsql AS $$ BEGIN\n"
             "  RAISE EXCEPTION USING ERRCODE = '" SCHEMA_REFUSAL_CLASS
             "' || lpad(reason::text, 3, '0'),\n"
             "    MESSAGE = 'the bundle is refused, reason ' || reason;\n"
             "END $$;\n",
             name);
}

void schema_drop_script(const char *name, char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name));
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    text_put(&text, "DROP SCHEMA IF EXISTS %s CASCADE;\n", name);
}

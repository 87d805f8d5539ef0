#include "real/schema.h"

#include "model/check.h"
#include "model/primitive.h"
#include "real/text.h"

#include <string.h>

struct table {
    const char *name;
    int columns;
    const char *names[ROW_COLUMNS_MAX];
};

static const struct table tables[TABLE_COUNT] = {
    [TABLE_JOB] = {"job",
                   JOB_COLUMNS,
                   {[JOB_SEMAPHORE] = "semaphore",
                    [JOB_THRESHOLD] = "threshold",
                    [JOB_STATE] = "state",
                    [JOB_ESCALATED] = "escalated",
                    [JOB_INPUT] = "input"}},
    [TABLE_ACTIVITY] = {"activity",
                        ACTIVITY_COLUMNS,
                        {[ACTIVITY_JOB] = "job",
                         [ACTIVITY_NODE] = "node",
                         [ACTIVITY_LEDGER] = "ledger",
                         [ACTIVITY_SPAWNED_BY] = "spawned_by"}},
    [TABLE_TASK] = {"task",
                    TASK_COLUMNS,
                    {[TASK_ACTIVITY] = "activity",
                     [TASK_INPUT] = "input",
                     [TASK_CLOSED] = "closed",
                     [TASK_RUNS] = "runs"}},
    [TABLE_GUID] = {"guid",
                    GUID_COLUMNS,
                    {[GUID_ACTIVITY] = "activity",
                     [GUID_LEDGER] = "ledger",
                     [GUID_DIMENSION] = "dimension",
                     [GUID_ANSWER] = "answer",
                     [GUID_CONTENT] = "content"}},
    [TABLE_OUTPUT] = {"output",
                      OUTPUT_COLUMNS,
                      {[OUTPUT_ACTIVITY] = "activity",
                       [OUTPUT_DIMENSION] = "dimension",
                       [OUTPUT_VALUE] = "value",
                       [OUTPUT_GUID] = "guid",
                       [OUTPUT_RUNS] = "runs"}},
    [TABLE_COMPLETION] =
        {"completion",
         COMPLETION_COLUMNS,
         {[COMPLETION_JOB] = "job", [COMPLETION_GUID] = "guid", [COMPLETION_RUNS] = "runs"}},
    [TABLE_ESCALATION] = {"escalation",
                          ESCALATION_COLUMNS,
                          {[ESCALATION_JOB] = "job",
                           [ESCALATION_MESSAGE] = "message",
                           [ESCALATION_REASON] = "reason",
                           [ESCALATION_RUNS] = "runs"}},
    [TABLE_MESSAGE] = {"message",
                       MESSAGE_COLUMNS,
                       {[MESSAGE_KIND] = "kind",
                        [MESSAGE_JOB] = "job",
                        [MESSAGE_ACTIVITY] = "activity",
                        [MESSAGE_NODE] = "node",
                        [MESSAGE_GUID] = "guid",
                        [MESSAGE_SOURCE] = "source",
                        [MESSAGE_DIMENSION] = "dimension",
                        [MESSAGE_ANSWER] = "answer",
                        [MESSAGE_CONTENT] = "content",
                        [MESSAGE_PENDINGS] = "pendings",
                        [MESSAGE_ROUND] = "round",
                        [MESSAGE_HEAD] = "head",
                        [MESSAGE_SPAWNED_BY] = "spawned_by",
                        [MESSAGE_VISIBLE_AT] = "visible_at",
                        [MESSAGE_EPOCH] = "epoch"}},
};

bool schema_name_is_sound(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < SCHEMA_NAME_SIZE && name[length] == '\0' &&
           strspn(name, "0123456789") == 0 && strncmp(name, "pg_", 3) != 0;
}

const char *schema_table(enum row_table table)
{
    return tables[table].name;
}

int schema_columns(enum row_table table)
{
    return tables[table].columns;
}

const char *schema_column(enum row_table table, int column)
{
    CHECK(column < tables[table].columns);
    return tables[table].names[column];
}

static void create_table(struct text *text, const char *schema, enum row_table table)
{
    text_add(text, "CREATE TABLE %s.%s (id bigint PRIMARY KEY", schema, tables[table].name);
    for (int c = 0; c < tables[table].columns; c++) {
        text_add(text, ", %s bigint NOT NULL", tables[table].names[c]); /* H2 */
    }
    const struct foreign_key *key = &primitive_foreign_keys[table];
    if (key->there) {
        text_add(text, ", FOREIGN KEY (%s) REFERENCES %s.%s", tables[table].names[key->column],
                 schema, tables[key->parent].name);
    }
    text_add(text, ");\n");
}

/* Parents come first: the order of enum row_table. */
void schema_create_script(const char *name, char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name));
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    text_add(&text, "BEGIN;\nCREATE SCHEMA %s;\n", name);
    for (int t = 0; t < TABLE_COUNT; t++) {
        create_table(&text, name, (enum row_table)t);
    }
    text_add(&text, "CREATE INDEX ON %s.message (visible_at, id);\n", name); /* what a claim asks */
    text_add(&text,
             "CREATE FUNCTION %s." SCHEMA_REFUSE "(reason bigint) RETURNS bigint\n"
             "LANGUAGE plpgsql AS $$ BEGIN\n"
             "  RAISE EXCEPTION USING ERRCODE = '" SCHEMA_REFUSAL_CLASS
             "' || lpad(reason::text, 3, '0'),\n"
             "    MESSAGE = 'the bundle is refused, reason ' || reason;\n"
             "END $$;\nCOMMIT;\n",
             name);
}

void schema_drop_script(const char *name, char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name));
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    text_add(&text, "DROP SCHEMA IF EXISTS %s CASCADE;\n", name);
}

#include "bench/leg2.h"

#include "faults/performer.h"
#include "model/activity_engine.h"
#include "model/check.h"
#include "model/identity.h"
#include "model/ledger.h"
#include "model/table.h"
#include "model/text.h"
#include "real/compound.h"
#include "real/driver.h"
#include "real/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK         500 /* rows of an INSERT */
#define CHUNK_SIZE    ((size_t)256 * 1024)
#define BUNDLES_MAX   8                /* of a message */
#define MINTED        1000000000000000 /* 10^15: above every weight, below nearly every id */
#define VARIABLES_MAX 64

/* ---- a queue full of messages ---------------------------------------------------------------- */

/* The ids of one message's rows. */
struct ids {
    int64_t job, activity, task, guid, message;
};

static struct ids ids_of(uint32_t number)
{
    struct ids ids = {.job = identity_mint(0, IDENTITY_JOB + (int64_t)number)};
    ids.activity = identity_mint(ids.job, IDENTITY_TRIGGER);
    ids.task = identity_mint(ids.activity, IDENTITY_TASK);
    ids.guid = identity_mint(ids.task, IDENTITY_CLOSE);
    ids.message = identity_mint(ids.guid, IDENTITY_LEG2);
    return ids;
}

static void add_row(struct text *text, const int64_t *row, int columns)
{
    for (int c = 0; c < columns; c++) {
        text_put(text, "%s%" PRId64, c == 0 ? "(" : ", ", row[c]);
    }
    text_put(text, ")");
}

static void add_row_of(struct text *text, enum row_table table, uint32_t number)
{
    struct ids ids = ids_of(number);
    int64_t job[] = {ids.job, 1, 0, JOB_ACTIVE, 0, number};
    int64_t leg1 = ledger_layout(ACTIVITY_LEG1_COMPLETE)->weight +
                   ledger_layout(ACTIVITY_LEG1_ENTRIES)->weight;
    int64_t activity[] = {ids.activity, ids.job, 0, leg1, 0};
    int64_t task[] = {ids.task, ids.activity, number, 0, 1};
    int64_t message[1 + MESSAGE_COLUMNS] = {ids.message};
    message[1 + MESSAGE_KIND] = MESSAGE_LEG2;
    message[1 + MESSAGE_JOB] = ids.job;
    message[1 + MESSAGE_ACTIVITY] = ids.activity;
    message[1 + MESSAGE_GUID] = ids.guid;
    message[1 + MESSAGE_ANSWER] = ANSWER_CLOSES;
    message[1 + MESSAGE_CONTENT] = identity_mint(ids.guid, 0);
    message[1 + MESSAGE_HEAD] = ids.task; /* for the script: no engine looks at it here */
    switch ((int)table) {
    case TABLE_JOB:
        add_row(text, job, 1 + JOB_COLUMNS);
        break;
    case TABLE_ACTIVITY:
        add_row(text, activity, 1 + ACTIVITY_COLUMNS);
        break;
    case TABLE_TASK:
        add_row(text, task, 1 + TASK_COLUMNS);
        break;
    default:
        add_row(text, message, 1 + MESSAGE_COLUMNS);
    }
}

static bool fill_table(struct store_pg *store, const char *schema, enum row_table table,
                       uint32_t count)
{
    char *script = malloc(CHUNK_SIZE);
    bool done = script != NULL;
    for (uint32_t first = 0; first < count && done; first += CHUNK) {
        struct text text = text_begin(script, CHUNK_SIZE);
        text_put(&text, "INSERT INTO %s.%s VALUES ", schema, schema_table(table));
        for (uint32_t i = first; i < count && i < first + CHUNK; i++) {
            text_put(&text, i == first ? "" : ",\n");
            add_row_of(&text, table, i);
        }
        done = store_pg_run(store, script);
    }
    free(script);
    return done;
}

static struct store_pg *open_store(const char *dsn, const char *schema, struct error *error)
{
    struct store_pg_options options = {.dsn = dsn,
                                       .schema = schema,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT,
                                       .form = SQL_WHOLE};
    return store_pg_open(&options, error);
}

/* What the store said, before it is closed. */
static bool closed(struct store_pg *store, bool done, struct error *error)
{
    if (!done) {
        snprintf(error->text, sizeof error->text, "%s", store_pg_why_not(store));
    }
    store_pg_close(store);
    return done;
}

bool leg2_prepare(const char *dsn, const char *schema, uint32_t messages, struct error *error)
{
    static const enum row_table filled[] = {TABLE_JOB, TABLE_ACTIVITY, TABLE_TASK, TABLE_MESSAGE};
    if (!store_pg_make_schema(dsn, schema, protocol_activity.tables, error)) {
        return false;
    }
    struct store_pg *store = open_store(dsn, schema, error);
    if (store == NULL) {
        return false;
    }
    bool done = true;
    for (size_t t = 0; t < COUNT(filled) && done; t++) {
        done = fill_table(store, schema, filled[t], messages);
    }
    done = done && store_pg_run(store, "VACUUM ANALYZE") && store_pg_run(store, "CHECKPOINT");
    return closed(store, done, error);
}

bool leg2_left(const char *dsn, const char *schema, int64_t *left, struct error *error)
{
    char query[120];
    struct store_pg *store = open_store(dsn, schema, error);
    snprintf(query, sizeof query, "SELECT count(*) FROM %s.message WHERE kind = %d", schema,
             MESSAGE_LEG2);
    return store != NULL && closed(store, store_pg_ask(store, query, left), error);
}

/* ---- the script ------------------------------------------------------------------------------ */

/* A variable of the script, by the value that it had for the message that was taken through. */
struct variable {
    int64_t value;
    char name[24];
};

struct recording {
    struct bundle bundles[BUNDLES_MAX];
    size_t count;
    struct variable variables[VARIABLES_MAX];
    size_t variable_count;
};

static void remember(struct recording *recording, int64_t value, const char *name)
{
    CHECK(recording->variable_count < VARIABLES_MAX);
    struct variable *variable = &recording->variables[recording->variable_count++];
    variable->value = value;
    snprintf(variable->name, sizeof variable->name, "%s", name);
}

static const char *name_of(const struct recording *recording, int64_t value)
{
    for (size_t i = 0; i < recording->variable_count; i++) {
        if (recording->variables[i].value == value) {
            return recording->variables[i].name;
        }
    }
    return NULL;
}

/* What a claim returns is called as its column is. */
static void remember_message(struct recording *recording, const int64_t *message)
{
    static const uint8_t columns[] = {MESSAGE_JOB, MESSAGE_ACTIVITY, MESSAGE_GUID, MESSAGE_CONTENT,
                                      MESSAGE_HEAD};
    remember(recording, message[0], "id");
    for (size_t i = 0; i < sizeof columns; i++) {
        remember(recording, message[1 + columns[i]], schema_column(TABLE_MESSAGE, columns[i]));
    }
}

/* Ids that the message does not have: minted from it. */
static void remember_minted(struct recording *recording, struct text *text)
{
    for (size_t b = 0; b < recording->count; b++) {
        const struct bundle *bundle = &recording->bundles[b];
        for (uint16_t p = 0; p < bundle->param_count; p++) {
            int64_t value = bundle->params[p];
            if (value >= MINTED && name_of(recording, value) == NULL) {
                char name[24];
                snprintf(name, sizeof name, "minted%zu", recording->variable_count);
                remember(recording, value, name);
                text_put(text, "\\set %s abs(hash_fnv1a(:guid, %zu))\n", name,
                         recording->variable_count);
            }
        }
    }
}

static void add_number(struct text *text, const struct recording *recording, int64_t value)
{
    const char *name = name_of(recording, value);
    if (name != NULL) {
        text_put(text, ":%s::bigint", name);
    } else {
        text_put(text, "%" PRId64 "::bigint", value);
    }
}

static void add_array(struct text *text, const struct recording *recording, const int64_t *numbers,
                      uint16_t count)
{
    text_put(text, "ARRAY[");
    for (uint16_t i = 0; i < count; i++) {
        text_put(text, i == 0 ? "" : ", ");
        add_number(text, recording, numbers[i]);
    }
    text_put(text, "]::bigint[]");
}

/* What a parameter of a statement is filled in with; from 1. */
struct filling {
    const int64_t *params;           /* of a call, or of a compound */
    const struct compound *compound; /* NULL: of a call */
};

static void add_param(struct text *text, const struct recording *recording,
                      const struct filling *filling, long number)
{
    const struct compound *compound = filling->compound;
    if (compound != NULL && number == COMPOUND_NUMBERS + 1) {
        add_array(text, recording, compound->activity, compound->activities);
    } else if (compound != NULL && number == COMPOUND_NUMBERS + 2) {
        add_array(text, recording, compound->message, compound->messages);
    } else {
        add_number(text, recording, filling->params[number - 1]);
    }
}

/* One statement with its parameters filled in. */
static void add_statement(struct text *text, const struct recording *recording,
                          const struct filling *filling, const struct sql_statement *statement)
{
    for (const char *at = statement->text; *at != '\0';) {
        if (*at != '$') {
            text_put(text, "%c", *at == '\n' ? ' ' : *at);
            at++;
            continue;
        }
        char *end;
        long number = strtol(at + 1, &end, 10);
        at = end;
        add_param(text, recording, filling, number);
    }
}

static void add_call(struct text *text, const struct recording *recording,
                     const struct bundle *bundle, const struct call *call, const char *schema,
                     const char *end)
{
    const struct primitive *primitive = &primitive_table[call->primitive];
    enum call_mode mode = (enum call_mode)call->mode;
    struct sql_statement statement;
    int count = sql_statement_count(primitive, mode, SQL_WHOLE);
    for (int s = 0; s < count; s++) {
        sql_statement(primitive, mode, SQL_WHOLE, s, schema, &statement);
        struct filling filling = {.params = &bundle->params[call->params]};
        add_statement(text, recording, &filling, &statement);
        text_put(text, "%s\n", end);
    }
}

static void add_compound(struct text *text, const struct recording *recording,
                         const struct compound *compound, const char *schema, const char *end)
{
    struct sql_statement statement;
    struct filling filling = {.params = compound->numbers, .compound = compound};
    compound_statement(schema, &statement);
    add_statement(text, recording, &filling, &statement);
    text_put(text, "%s\n", end);
}

static void add_calls(struct text *text, const struct recording *recording,
                      const struct bundle *bundle, const char *schema, const char *end)
{
    struct compound compound;
    compound_find(bundle, primitive_table, SQL_WHOLE, &compound);
    for (uint8_t c = 0; c < bundle->count; c += compound_step(&compound, c)) {
        const struct call *call = &bundle->calls[c];
        if (compound_begins(&compound, c)) {
            add_compound(text, recording, &compound, schema, end);
        } else if (call->primitive != PRIMITIVE_CLAIM_NEXT) {
            add_call(text, recording, bundle, call, schema, end);
        } /* else the next run of the script begins with its own claim */
    }
}

static void write_script(struct recording *recording, const char *schema, char *script)
{
    struct text text = text_begin(script, LEG2_SCRIPT_SIZE);
    for (size_t b = 0; b < recording->count; b++) {
        const struct bundle *bundle = &recording->bundles[b];
        if (bundle->name == BUNDLE_CLAIM) {
            add_calls(&text, recording, bundle, schema, " \\gset");
            remember_minted(recording, &text);
            continue;
        }
        text_put(&text, "\\startpipeline\nBEGIN;\n");
        add_calls(&text, recording, bundle, schema, ";");
        text_put(&text, "COMMIT;\n\\endpipeline\n");
    }
}

/* One message from its claim to its ack. */
static bool take_one_through(struct store_pg *store, const struct rules *rules,
                             struct recording *recording)
{
    struct performer performer;
    int64_t message = 0;
    performer_begin(&performer, rules, 1);
    do {
        struct outcome outcome = {0};
        struct bundle *bundle = &recording->bundles[recording->count++];
        CHECK(recording->count <= BUNDLES_MAX);
        performer_next(&performer, rules, NULL, bundle);
        if (!store_pg_execute(store, bundle, STORE_PG_SERVERS_TIME, &outcome) ||
            outcome.kind != OUTCOME_COMMITTED) {
            return false;
        }
        if (bundle->name == BUNDLE_CLAIM) {
            remember_message(recording, outcome.message);
            message = outcome.message[0];
        }
        performer_take(&performer, rules, NULL, bundle, &outcome, NULL);
    } while (!performer.role->is_idle(&performer.actor) &&
             performer.role->message(&performer.actor)[0] == message);
    return true;
}

bool leg2_record(const char *dsn, const char *schema, const struct rules *rules,
                 char script[LEG2_SCRIPT_SIZE], struct error *error)
{
    struct store_pg *store = open_store(dsn, schema, error);
    struct recording *recording = calloc(1, sizeof *recording);
    CHECK(recording != NULL);
    bool done = store != NULL && closed(store, take_one_through(store, rules, recording), error);
    if (done) {
        write_script(recording, schema, script);
    }
    free(recording);
    return done;
}

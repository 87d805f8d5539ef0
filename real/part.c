#include "real/part.h"

#include "model/check.h"
#include "model/pipeline_trespass.h"
#include "real/seat.h"

#include <stdio.h>
#include <string.h>

#define PROTOCOL(id, name) extern const struct real_part real_part_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct real_part *const parts[PROTOCOL_COUNT] = {
#define PROTOCOL(id, name) [PROTOCOL_##id] = &real_part_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

/* ---- activity -------------------------------------------------------------------------------- */

/* The GUID of an answer. */
static int64_t answer_of(const struct bundle *bundle)
{
    bool acks = bundle->name == BUNDLE_ANSWER_ACK; /* first of all */
    return acks || bundle->name == BUNDLE_ANSWER
               ? bundle->params[bundle->calls[acks].params + 1 + MESSAGE_GUID]
               : 0;
}

static void answer_otherwise(struct actor *actor, bool on)
{
    actor->is.worker.changed = on;
}

/* ---- legacy ---------------------------------------------------------------------------------- */

/* The same as the simulation spares: see struct legacy_rules. */
static int spares_leg2(const struct rules *rules, const struct actor *actor,
                       const struct bundle *bundle)
{
    const struct legacy_rules *of = &rules->of.legacy;
    bool increments = bundle->name == BUNDLE_ENTER_LEG2 || bundle->name == BUNDLE_END_LEG2 ||
                      bundle->name == BUNDLE_UNDO;
    bool in_leg2 = actor->role == LEGACY_WORKER && legacy_engine_in_leg2(&actor->is.legacy);
    return (of->spares_crash && in_leg2 ? SEAT_SPARED_DEATH : 0) |
           (of->spares_unknown && increments ? SEAT_SPARED_DOUBT : 0);
}

/* ---- seq ------------------------------------------------------------------------------------- */

static bool err(struct actor *actor, const struct part_place *places, size_t count, uint32_t which)
{
    bool there[SEQ_STATES] = {false};
    uint8_t pairs[SEQ_MISSTEPS_MAX][2];
    for (size_t i = 0; i < count; i++) {
        there[places[i].state % SEQ_STATES] = true;
    }
    uint32_t ways = seq_durable_missteps(there, true, pairs);
    if (ways == 0 || actor->is.seq.misstep.there) {
        return false;
    }
    const uint8_t *pair = pairs[which % ways];
    for (size_t i = 0; i < count; i++) {
        if (places[i].state == pair[0]) {
            seq_durable_err(actor, (uint32_t)places[i].number, (enum seq_state)pair[0],
                            (enum seq_state)pair[1]);
            return true;
        }
    }
    return false;
}

/* ---- pipeline -------------------------------------------------------------------------------- */

static bool trespass(struct actor *actor, const struct part_place *places, size_t count,
                     uint32_t which)
{
    (void)places, (void)count;
    bool works = actor->role == PIPELINE_WORKER;
    unsigned ways = works ? pipeline_trespass_count(&actor->is.pipeline) : 0;
    if (ways > 0) {
        actor->is.pipeline.trespass = (uint8_t)(1 + which % ways);
    }
    return ways > 0;
}

/* ---- what is left ---------------------------------------------------------------------------- */

#define BIT(name) (UINT64_C(1) << BUNDLE_##name)
_Static_assert(BUNDLE_NAME_COUNT <= 64, "bundles are bits");

/* No message is left, visible or not. */
const struct real_part real_part_activity = {
    .left = "%s.message",
    .answer = answer_of,
    .answered = TABLE_GUID,
    .otherwise = answer_otherwise,
    .resolved = BIT(CREATE) | BIT(LEG1) | BIT(STEP1) | BIT(STEP2) | BIT(STEP3) | BIT(LEG1_ACK) |
                BIT(ANSWER_ACK) | BIT(STEPS_ACK) | BIT(STEP3_ACK)};
const struct real_part real_part_inbox = {.left = "%s.message", .resolved = BIT(APPLY)};
const struct real_part real_part_legacy = {
    .left = "%s.message", .patient = true, .spares = spares_leg2};
const struct real_part real_part_key = {.left = "%s.message"};
const struct real_part real_part_pipeline = {.left = "%s.message",
                                             .resolved =
                                                 BIT(MARK) | BIT(REVIEW) | BIT(CUT) | BIT(VERIFY),
                                             .misstep = trespass};
/* A seq is on its way, and Stage1 has not failed. */
const struct real_part real_part_seq = {
    .left = "%s.seq WHERE state <> 7 AND NOT EXISTS (SELECT FROM %s.stage WHERE stage.seq <> 0)",
    .resolved = BIT(SEQ_ADMIT) | BIT(SEQ_DISPATCH) | BIT(SEQ_TAKE) | BIT(SEQ_FINISH) |
                BIT(SEQ_FAIL), /* to commit a second time is counted */
    .vague = true,
    .missteps = "SELECT number, state FROM %s.seq ORDER BY number",
    .erred = "SELECT coalesce(sum(illegal), 0)::bigint FROM %s.seq_tally",
    .misstep = err};

/* %s is the schema. */
static void put_schema(const char *text, const char *schema, char *query, size_t size, size_t used)
{
    for (const char *at = text; *at != '\0';) {
        size_t plain = strcspn(at, "%");
        used += (size_t)snprintf(query + used, size - used, "%.*s%s", (int)plain, at,
                                 at[plain] == '%' ? schema : "");
        at += plain + (at[plain] == '%' ? 2 : 0);
        CHECK(used < size);
    }
}

int64_t part_answer(enum protocol_id protocol, const struct bundle *bundle, enum row_table *asked)
{
    *asked = parts[protocol]->answered;
    return parts[protocol]->answer == NULL ? 0 : parts[protocol]->answer(bundle);
}

void part_answer_otherwise(enum protocol_id protocol, struct actor *actor, bool on)
{
    CHECK(parts[protocol]->otherwise != NULL);
    parts[protocol]->otherwise(actor, on);
}

uint64_t part_resolved(enum protocol_id protocol)
{
    return parts[protocol]->resolved;
}

bool part_is_vague(enum protocol_id protocol)
{
    return parts[protocol]->vague;
}

bool part_is_patient(enum protocol_id protocol)
{
    return parts[protocol]->patient;
}

int part_spares(const struct rules *rules, const struct actor *actor, const struct bundle *bundle)
{
    const struct real_part *part = parts[rules->protocol];
    return part->spares == NULL ? 0 : part->spares(rules, actor, bundle);
}

static bool put_query(const char *text, const char *schema, char *query, size_t size)
{
    if (text != NULL) {
        put_schema(text, schema, query, size, 0);
    }
    return text != NULL;
}

bool part_missteps_query(enum protocol_id protocol, const char *schema, char *query, size_t size)
{
    return put_query(parts[protocol]->missteps, schema, query, size);
}

bool part_erred_query(enum protocol_id protocol, const char *schema, char *query, size_t size)
{
    return put_query(parts[protocol]->erred, schema, query, size);
}

bool part_misstep(enum protocol_id protocol, struct actor *actor, const struct part_place *places,
                  size_t count, uint32_t which)
{
    const struct real_part *part = parts[protocol];
    return part->misstep != NULL && part->misstep(actor, places, count, which);
}

void part_left_query(enum protocol_id protocol, const char *schema, char *query, size_t size)
{
    put_schema(parts[protocol]->left, schema, query, size,
               (size_t)snprintf(query, size, "SELECT count(*) FROM "));
}

#include "real/part.h"

#include "model/check.h"

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
const struct real_part real_part_legacy = {.left = "%s.message", .delicate = true};
const struct real_part real_part_key = {.left = "%s.message"};
const struct real_part real_part_pipeline = {
    .left = "%s.message", .resolved = BIT(MARK) | BIT(REVIEW) | BIT(CUT) | BIT(VERIFY)};
/* A seq is on its way, and Stage1 has not failed. */
const struct real_part real_part_seq = {
    .left = "%s.seq WHERE state <> 7 AND NOT EXISTS (SELECT FROM %s.stage WHERE stage.seq <> 0)",
    .resolved = BIT(SEQ_ADMIT) | BIT(SEQ_DISPATCH) | BIT(SEQ_TAKE) | BIT(SEQ_FINISH) |
                BIT(SEQ_FAIL), /* to commit a second time is counted */
    .vague = true};

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

bool part_bears_faults(enum protocol_id protocol)
{
    return !parts[protocol]->delicate;
}

void part_left_query(enum protocol_id protocol, const char *schema, char *query, size_t size)
{
    size_t used = (size_t)snprintf(query, size, "SELECT count(*) FROM ");
    for (const char *at = parts[protocol]->left; *at != '\0';) {
        size_t plain = strcspn(at, "%");
        used += (size_t)snprintf(query + used, size - used, "%.*s%s", (int)plain, at,
                                 at[plain] == '%' ? schema : "");
        at += plain + (at[plain] == '%' ? 2 : 0);
        CHECK(used < size);
    }
}

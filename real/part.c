#include "real/part.h"

#include "model/check.h"

#include <stdio.h>
#include <string.h>

#define PROTOCOL(name, called) extern const struct real_part real_part_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct real_part *const parts[] = {
#define PROTOCOL(name, called) &real_part_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

static const struct real_part *real_part_of(const struct protocol *protocol)
{
    return parts[protocol_place(protocol)];
}

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

int64_t real_part_answer(const struct protocol *protocol, const struct bundle *bundle,
                         enum row_table *asked)
{
    const struct real_part *part = real_part_of(protocol);
    *asked = part->answered;
    return part->answer == NULL ? 0 : part->answer(bundle);
}

void part_set_answer_changed(const struct protocol *protocol, struct actor *actor, bool on)
{
    CHECK(real_part_of(protocol)->set_answer_changed != NULL);
    real_part_of(protocol)->set_answer_changed(actor, on);
}

const struct real_part_preset *real_part_preset(const struct protocol *protocol)
{
    return real_part_of(protocol)->preset;
}

uint64_t part_must_resolve_unknown(const struct protocol *protocol)
{
    return real_part_of(protocol)->must_resolve_unknown;
}

bool part_skip_is_ambiguous(const struct protocol *protocol)
{
    return real_part_of(protocol)->skip_is_ambiguous;
}

bool part_assumes_no_delay(const struct protocol *protocol)
{
    return real_part_of(protocol)->assumes_no_delay;
}

int real_part_spares(const struct rules *rules, const struct actor *actor,
                     const struct bundle *bundle)
{
    const struct real_part *part = real_part_of(rules->protocol);
    return part->spares == NULL ? 0 : part->spares(rules, actor, bundle);
}

static bool put_query(const char *text, const char *schema, char *query, size_t size)
{
    if (text != NULL) {
        put_schema(text, schema, query, size, 0);
    }
    return text != NULL;
}

bool part_targets_query(const struct protocol *protocol, const char *schema, char *query,
                        size_t size)
{
    return put_query(real_part_of(protocol)->targets, schema, query, size);
}

bool part_refused_query(const struct protocol *protocol, const char *schema, char *query,
                        size_t size)
{
    return put_query(real_part_of(protocol)->refused, schema, query, size);
}

bool part_illegal_move(const struct protocol *protocol, struct actor *actor,
                       const struct part_target *targets, size_t count, uint32_t which)
{
    const struct real_part *part = real_part_of(protocol);
    return part->illegal_move != NULL && part->illegal_move(actor, targets, count, which);
}

void real_part_left_query(const struct protocol *protocol, const char *schema, char *query,
                          size_t size)
{
    put_schema(real_part_of(protocol)->left, schema, query, size,
               (size_t)snprintf(query, size, "SELECT count(*) FROM "));
}

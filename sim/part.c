#include "sim/part.h"

#define PROTOCOL(name, called) extern const struct sim_part sim_part_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct sim_part *const parts[] = {
#define PROTOCOL(name, called) &sim_part_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

#define PROTOCOL(name, called) extern const struct monitors monitors_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct monitors *const monitors[] = {
#define PROTOCOL(name, called) &monitors_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

const struct sim_part *sim_part_of(const struct protocol *protocol)
{
    return parts[protocol_place(protocol)];
}

const struct monitors *sim_part_monitors(const struct protocol *protocol)
{
    return monitors[protocol_place(protocol)];
}

struct oracle_verdict sim_part_settled(struct oracle *oracle, const struct sim_part *part,
                                       const struct rows *rows, bool quiet)
{
    struct oracle_verdict verdict = oracle->monitors->settled(oracle, rows, quiet);
    struct part_status status;
    uint32_t slot = 0;
    while (!verdict.broken && part->next_status != NULL &&
           part->next_status(rows, &slot, &status)) {
        verdict = oracle->monitors->reported(oracle, rows, status.job, status.text);
    }
    return verdict;
}

struct name sim_part_status_name(const struct names *names, const struct part_status *status)
{
    struct name name = {""};
    names_append(
        &name, "%.80s with what it awaits",
        sim_part_of(names->scenario->protocol)->thing(names, TABLE_COUNT, status->job).text);
    return name;
}

const char *sim_part_status_text(const struct part_status *status)
{
    return status->text[0] == '\0' ? "no status: its keys compose to none" : status->text;
}

/* Protocols that use the defaults for everything else. */
const struct sim_part sim_part_inbox = {.grounds =
                                            (const char *const[]){"inbox", "inbox-stubborn", NULL}};

static bool publishes(const struct bundle *bundle)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        const struct primitive *primitive = &primitive_table[bundle->calls[i].primitive];
        if (bundle->calls[i].primitive < PRIMITIVE_COUNT && primitive->op_count > 0 &&
            primitive->ops[0].kind == OP_INSERT && primitive->ops[0].table == TABLE_MESSAGE) {
            return true;
        }
    }
    return false;
}

bool sim_part_applies(const struct run *run, enum fault_kind kind, unsigned actor)
{
    (void)actor;
    switch ((int)kind) {
    case FAULT_CRASH_BEFORE_ACK:
        return run->bundle.name == BUNDLE_ACK;
    case FAULT_REORDER:
        return run->bundle.name == BUNDLE_CLAIM;
    case FAULT_DELAY:
        return publishes(&run->bundle);
    case FAULT_ANSWER_CHANGED:
        return false;
    default:
        return true;
    }
}

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

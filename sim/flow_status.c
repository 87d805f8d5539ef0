#include "sim/flow_status.h"

/* The flow that an activity of this one awaits, begun after the `from` flows that were looked at; ROW_NONE. */
static uint32_t next_below(const struct rows *rows, int64_t flow, uint32_t from)
{
    const struct row_area *area = &rows->table[TABLE_FLOW];
    for (uint32_t slot = from; slot < area->used; slot++) {
        if (row_is_there(rows, TABLE_FLOW, slot) &&
            row_get(rows, TABLE_FLOW, slot, FLOW_PARENT) == flow) {
            return slot;
        }
    }
    return ROW_NONE;
}

int64_t flow_status_first(const struct rows *rows, int64_t flow)
{
    for (int depth = 0; depth < FLOW_STATUS_FLOWS_MAX; depth++) {
        uint32_t slot = row_find(rows, TABLE_FLOW, flow);
        int64_t parent = slot == ROW_NONE ? 0 : row_get(rows, TABLE_FLOW, slot, FLOW_PARENT);
        if (parent == 0) {
            return flow;
        }
        flow = parent;
    }
    return flow;
}

/* Flows of the job, each behind the one that awaits it. */
struct family {
    int count;
    int64_t ids[FLOW_STATUS_FLOWS_MAX];
    struct key_flow flows[FLOW_STATUS_FLOWS_MAX];
};

static void add(struct family *family, const struct rows *rows, uint32_t slot, int parent)
{
    if (family->count < FLOW_STATUS_FLOWS_MAX) {
        family->ids[family->count] = row_key(rows, TABLE_FLOW, slot);
        family->flows[family->count] =
            (struct key_flow){.key = row_get(rows, TABLE_FLOW, slot, FLOW_KEY),
                              .parent = parent,
                              .position = (int)row_get(rows, TABLE_FLOW, slot, FLOW_AWAITER)};
    }
    family->count++;
}

int flow_status(const struct rows *rows, int64_t first, char text[PART_STATUS_SIZE])
{
    struct family family = {.count = 0};
    uint32_t slot = row_find(rows, TABLE_FLOW, first);
    text[0] = '\0';
    if (slot == ROW_NONE) {
        return 0;
    }
    add(&family, rows, slot, -1);
    for (int i = 0; i < family.count && i < FLOW_STATUS_FLOWS_MAX; i++) {
        for (slot = next_below(rows, family.ids[i], 0); slot != ROW_NONE;
             slot = next_below(rows, family.ids[i], slot + 1)) {
            add(&family, rows, slot, i);
        }
    }
    if (family.count <= FLOW_STATUS_FLOWS_MAX) {
        key_text_compose(family.flows, family.count, text, PART_STATUS_SIZE);
    }
    return family.count;
}

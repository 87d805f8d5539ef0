/* Whether some serial order of the serializable transactions explains what each has seen. */
#include "sim/session_inside.h"

#include "model/check.h"

#include <string.h>

static bool overlap(const struct session_item *left, uint16_t left_count,
                    const struct session_item *right, uint16_t right_count)
{
    for (uint16_t l = 0; l < left_count; l++) {
        for (uint16_t r = 0; r < right_count; r++) {
            if (left[l].table == right[r].table && left[l].key == right[r].key) {
                return true;
            }
        }
    }
    return false;
}

/* `before` must come first in any serial order: the other saw or overwrote its writes, or it did
 * not see the other's. */
static bool precedes(const struct session_record *before, const struct session_record *after)
{
    bool touches = overlap(before->writes, before->write_count, after->reads, after->read_count) ||
                   overlap(before->writes, before->write_count, after->writes, after->write_count);
    bool missed = overlap(before->reads, before->read_count, after->writes, after->write_count);
    return (touches && before->commit <= after->start) || (missed && after->commit > before->start);
}

static void make_record(const struct session *one, uint64_t commit, struct session_record *record)
{
    record->start = one->start;
    record->commit = commit;
    record->read_count = one->read_count;
    memcpy(record->reads, one->reads, one->read_count * sizeof *one->reads);
    record->write_count = one->write_count;
    for (uint16_t w = 0; w < one->write_count; w++) {
        record->writes[w] = (struct session_item){one->writes[w].table, one->writes[w].key};
    }
}

/* Whether this transaction, committed now, would close a cycle: it would have to come both before
 * and after itself. */
static bool closes_cycle(const struct sessions *all, const struct session_record *last)
{
    uint32_t count = all->history_count, after = 0, old = 0;
    for (uint32_t h = 0; h < count; h++) {
        after |= (uint32_t)precedes(last, &all->history[h]) << h;
    }
    if (!all->rules->cycles_only) {
        return after != 0; /* a planted error */
    }
    while (after != old) { /* all that must come after it, directly or not */
        old = after;
        for (uint32_t h = 0; h < count; h++) {
            for (uint32_t g = 0; g < count && (old >> h & 1) != 0; g++) {
                after |= (uint32_t)(g != h && precedes(&all->history[h], &all->history[g])) << g;
            }
        }
    }
    for (uint32_t h = 0; h < count; h++) {
        if ((after >> h & 1) != 0 && precedes(&all->history[h], last)) {
            return true;
        }
    }
    return false;
}

static void remember(struct sessions *all, const struct session_record *record)
{
    if (all->history_count == SESSION_HISTORY_MAX) {
        memmove(&all->history[0], &all->history[1],
                (SESSION_HISTORY_MAX - 1) * sizeof *all->history);
        all->history_count--;
    }
    all->history[all->history_count++] = *record;
}

bool session_finds_order(struct sessions *all, const struct session *one)
{
    struct session_record record;
    make_record(one, all->commits + 1, &record);
    if (closes_cycle(all, &record)) {
        return false;
    }
    remember(all, &record);
    return true;
}

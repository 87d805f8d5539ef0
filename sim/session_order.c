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
                   (after->reads_all && before->write_count > 0) ||
                   overlap(before->writes, before->write_count, after->writes, after->write_count);
    bool missed = overlap(before->reads, before->read_count, after->writes, after->write_count) ||
                  (before->reads_all && after->write_count > 0);
    return (touches && before->commit <= after->start) || (missed && after->commit > before->start);
}

static void make_record(const struct session *session, uint64_t commit,
                        struct session_record *record)
{
    record->start = session->start;
    record->commit = commit;
    record->read_count = session->read_count;
    memcpy(record->reads, session->reads, session->read_count * sizeof *session->reads);
    record->reads_all = session->reads_all;
    record->look_count = session->look_count;
    memcpy(record->looks, session->looks, session->look_count * sizeof *session->looks);
    record->write_count = session->write_count;
    for (uint16_t w = 0; w < session->write_count; w++) {
        record->writes[w] = (struct session_item){session->writes[w].table, session->writes[w].key};
    }
}

/* Whether this transaction, committed now, would close a cycle: it would have to come both before
 * and after itself. */
static bool closes_cycle(const struct sessions *sessions, const struct session_record *last)
{
    uint32_t count = sessions->history_count, after = 0, old = 0;
    for (uint32_t h = 0; h < count; h++) {
        after |= (uint32_t)precedes(last, &sessions->history[h]) << h;
    }
    if (!sessions->rules->cycles_only) {
        return after != 0; /* a planted error */
    }
    while (after != old) { /* all that must come after it, directly or not */
        old = after;
        for (uint32_t h = 0; h < count; h++) {
            for (uint32_t g = 0; g < count && (old >> h & 1) != 0; g++) {
                after |=
                    (uint32_t)(g != h && precedes(&sessions->history[h], &sessions->history[g]))
                    << g;
            }
        }
    }
    for (uint32_t h = 0; h < count; h++) {
        if ((after >> h & 1) != 0 && precedes(&sessions->history[h], last)) {
            return true;
        }
    }
    return false;
}

static void remember(struct sessions *sessions, const struct session_record *record)
{
    if (sessions->history_count == SESSION_HISTORY_MAX) {
        memmove(&sessions->history[0], &sessions->history[1],
                (SESSION_HISTORY_MAX - 1) * sizeof *sessions->history);
        sessions->history_count--;
    }
    sessions->history[sessions->history_count++] = *record;
}

bool session_finds_order(struct sessions *sessions, const struct session *session)
{
    struct session_record record;
    uint16_t counts[SESSION_HISTORY_MAX];
    bool all[SESSION_HISTORY_MAX];
    make_record(session, sessions->commits + 1, &record);
    for (uint32_t h = 0; h < sessions->history_count; h++) {
        counts[h] = sessions->history[h].read_count;
        all[h] = sessions->history[h].reads_all;
    }
    session_noted_by_history(sessions, session);
    if (closes_cycle(sessions, &record)) {
        for (uint32_t h = 0; h < sessions->history_count; h++) { /* it wrote nothing */
            sessions->history[h].read_count = counts[h];
            sessions->history[h].reads_all = all[h];
        }
        return false;
    }
    session_noted_by_open(sessions, session);
    remember(sessions, &record);
    return true;
}

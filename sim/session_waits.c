/* Holders of locks, and the graph of waits. */
#include "sim/session_inside.h"

#include "model/check.h"

#include <string.h>

uint32_t sessions_waiting(const struct sessions *sessions)
{
    uint32_t mask = 0;
    for (uint32_t open = sessions->open; open != 0;) {
        unsigned s = sessions_take(&open);
        mask |= (uint32_t)(sessions->each[s].state == SESSION_WAITS) << s;
    }
    return mask;
}

uint32_t sessions_connected(const struct sessions *sessions, enum principal principal)
{
    uint32_t count = 0;
    for (uint32_t open = sessions->open; open != 0;) {
        count += sessions->each[sessions_take(&open)].bundle.principal == principal;
    }
    return count;
}

/* Other sessions whose locks on the row exclude this mode. */
uint32_t sessions_holders(const struct sessions *sessions, unsigned who, uint8_t table,
                          uint32_t slot, uint8_t mode)
{
    uint32_t mask = 0;
    for (uint32_t others = sessions_others(sessions, who); others != 0;) {
        unsigned s = sessions_take(&others);
        const struct session *other = &sessions->each[s];
        for (uint16_t l = 0; l < other->lock_count; l++) {
            const struct session_lock *lock = &other->locks[l];
            if (lock->table == table && lock->slot == slot &&
                sessions->rules->conflicts[lock->mode][mode]) {
                mask |= UINT32_C(1) << s;
            }
        }
    }
    return mask;
}

/* Other sessions that have an uncommitted write of a row with this key. */
uint32_t sessions_writers(const struct sessions *sessions, unsigned who, uint8_t table, int64_t key)
{
    uint32_t mask = 0;
    for (uint32_t others = sessions_others(sessions, who); others != 0;) {
        unsigned s = sessions_take(&others);
        const struct session *other = &sessions->each[s];
        for (uint16_t w = 0; w < other->write_count; w++) {
            if (other->writes[w].table == table && other->writes[w].key == key) {
                mask |= UINT32_C(1) << s;
            }
        }
    }
    return mask;
}

uint32_t sessions_advisory_holders(const struct sessions *sessions, unsigned who, int64_t key)
{
    uint32_t mask = 0;
    for (uint32_t others = sessions_others(sessions, who); others != 0;) {
        unsigned s = sessions_take(&others);
        const struct session *other = &sessions->each[s];
        for (uint8_t a = 0; a < other->advisory_count; a++) {
            mask |= (uint32_t)(other->advisory[a] == key) << s;
        }
    }
    return mask;
}

bool sessions_locked(const struct sessions *sessions, enum row_table table, uint32_t slot)
{
    return sessions_holders(sessions, SESSIONS_MAX, (uint8_t)table, slot, LOCK_UPDATE) != 0;
}

uint32_t session_waits_for(const struct sessions *sessions, unsigned who)
{
    const struct session *session = &sessions->each[who];
    if (session->state != SESSION_WAITS) {
        return 0;
    }
    switch ((enum session_wait_kind)session->wait_kind) {
    case WAIT_ROW:
        return sessions_holders(sessions, who, session->wait_table, session->wait_slot,
                                session->wait_mode);
    case WAIT_KEY:
        return sessions_writers(sessions, who, session->wait_table, session->wait_key);
    case WAIT_ADVISORY:
        return sessions_advisory_holders(sessions, who, session->wait_key);
    }
    return 0;
}

/* The transitive closure of the graph of waits. */
static void reach(const struct sessions *sessions, uint32_t reached[SESSIONS_MAX])
{
    for (uint32_t s = 0; s < sessions->count; s++) {
        reached[s] = session_waits_for(sessions, s);
    }
    for (uint32_t via = 0; via < sessions->count; via++) {
        for (uint32_t s = 0; s < sessions->count; s++) {
            reached[s] |= (reached[s] >> via & 1) != 0 ? reached[via] : 0;
        }
    }
}

uint32_t session_deadlock(const struct sessions *sessions, unsigned who)
{
    uint32_t reached[SESSIONS_MAX], cycle = 0;
    reach(sessions, reached);
    for (uint32_t s = 0; s < sessions->count && (reached[who] >> who & 1) != 0; s++) {
        cycle |= (uint32_t)((reached[s] >> who & 1) != 0) << s;
    }
    return cycle;
}

uint32_t sessions_stuck(const struct sessions *sessions)
{
    uint32_t stuck = sessions_waiting(sessions), before = 0;
    while (stuck != before) {
        before = stuck;
        for (uint32_t s = 0; s < sessions->count; s++) {
            uint32_t others = session_waits_for(sessions, s);
            stuck &= others == 0 || (others & ~stuck) != 0 ? ~(UINT32_C(1) << s) : UINT32_MAX;
        }
    }
    return stuck;
}

bool session_queues(const struct sessions *sessions, unsigned who)
{
    const struct session *session = &sessions->each[who];
    for (uint32_t s = 0; s < sessions->count && session->wait_kind == WAIT_ROW; s++) {
        const struct session *other = &sessions->each[s];
        if (s != who && other->state == SESSION_WAITS && other->wait_kind == WAIT_ROW &&
            other->wait_since < session->wait_since && other->wait_table == session->wait_table &&
            other->wait_slot == session->wait_slot &&
            sessions->rules->conflicts[other->wait_mode][session->wait_mode]) {
            return true;
        }
    }
    return false;
}

bool session_may_abort(const struct sessions *sessions, unsigned who)
{
    const struct session *session = &sessions->each[who];
    if (session->bundle.isolation != SERIALIZABLE || session->snapshot == SESSION_NO_SNAPSHOT) {
        return false;
    }
    for (uint32_t others = sessions_others(sessions, who); others != 0;) {
        const struct session *other = &sessions->each[sessions_take(&others)];
        if (other->bundle.isolation == SERIALIZABLE && other->snapshot != SESSION_NO_SNAPSHOT) {
            return true;
        }
    }
    for (uint32_t h = 0; h < sessions->history_count; h++) {
        if (sessions->history[h].commit > session->start) {
            return true;
        }
    }
    return false;
}

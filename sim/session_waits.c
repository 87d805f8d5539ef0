/* Holders of locks, and the graph of waits. */
#include "sim/session_inside.h"

#include "model/check.h"

#include <string.h>

static bool is_open(const struct session *one)
{
    return one->state != SESSION_CLOSED;
}

uint32_t sessions_open(const struct sessions *all)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        mask |= (uint32_t)is_open(&all->each[s]) << s;
    }
    return mask;
}

uint32_t sessions_waiting(const struct sessions *all)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < SESSIONS_MAX && s < all->count; s++) { /* for the compilers */
        mask |= (uint32_t)(all->each[s].state == SESSION_WAITS) << s;
    }
    return mask;
}

uint32_t sessions_connected(const struct sessions *all, enum principal principal)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < SESSIONS_MAX && s < all->count; s++) {
        count += all->each[s].state != SESSION_CLOSED && all->each[s].bundle.principal == principal;
    }
    return count;
}

/* Other sessions whose locks on the row exclude this mode. */
uint32_t sessions_holders(const struct sessions *all, unsigned who, uint8_t table, uint32_t slot,
                          uint8_t mode)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        for (uint16_t l = 0; s != who && l < other->lock_count; l++) {
            const struct session_lock *lock = &other->locks[l];
            if (lock->table == table && lock->slot == slot &&
                all->rules->conflicts[lock->mode][mode]) {
                mask |= UINT32_C(1) << s;
            }
        }
    }
    return mask;
}

/* Other sessions that have an uncommitted write of a row with this key. */
uint32_t sessions_writers(const struct sessions *all, unsigned who, uint8_t table, int64_t key)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        for (uint16_t w = 0; s != who && w < other->write_count; w++) {
            if (other->writes[w].table == table && other->writes[w].key == key) {
                mask |= UINT32_C(1) << s;
            }
        }
    }
    return mask;
}

uint32_t sessions_advisory_holders(const struct sessions *all, unsigned who, int64_t key)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        for (uint8_t a = 0; s != who && a < other->advisory_count; a++) {
            mask |= (uint32_t)(other->advisory[a] == key) << s;
        }
    }
    return mask;
}

bool sessions_locked(const struct sessions *all, enum row_table table, uint32_t slot)
{
    return sessions_holders(all, SESSIONS_MAX, (uint8_t)table, slot, LOCK_UPDATE) != 0;
}

uint32_t session_waits_for(const struct sessions *all, unsigned who)
{
    const struct session *one = &all->each[who];
    if (one->state != SESSION_WAITS) {
        return 0;
    }
    switch ((enum session_wait_kind)one->wait_kind) {
    case WAIT_ROW:
        return sessions_holders(all, who, one->wait_table, one->wait_slot, one->wait_mode);
    case WAIT_KEY:
        return sessions_writers(all, who, one->wait_table, one->wait_key);
    case WAIT_ADVISORY:
        return sessions_advisory_holders(all, who, one->wait_key);
    }
    return 0;
}

/* The transitive closure of the graph of waits. */
static void reach(const struct sessions *all, uint32_t reached[SESSIONS_MAX])
{
    for (uint32_t s = 0; s < all->count; s++) {
        reached[s] = session_waits_for(all, s);
    }
    for (uint32_t via = 0; via < all->count; via++) {
        for (uint32_t s = 0; s < all->count; s++) {
            reached[s] |= (reached[s] >> via & 1) != 0 ? reached[via] : 0;
        }
    }
}

uint32_t session_deadlock(const struct sessions *all, unsigned who)
{
    uint32_t reached[SESSIONS_MAX], cycle = 0;
    reach(all, reached);
    for (uint32_t s = 0; s < all->count && (reached[who] >> who & 1) != 0; s++) {
        cycle |= (uint32_t)((reached[s] >> who & 1) != 0) << s;
    }
    return cycle;
}

uint32_t sessions_stuck(const struct sessions *all)
{
    uint32_t stuck = sessions_waiting(all), before = 0;
    while (stuck != before) {
        before = stuck;
        for (uint32_t s = 0; s < all->count; s++) {
            uint32_t others = session_waits_for(all, s);
            stuck &= others == 0 || (others & ~stuck) != 0 ? ~(UINT32_C(1) << s) : UINT32_MAX;
        }
    }
    return stuck;
}

bool session_queues(const struct sessions *all, unsigned who)
{
    const struct session *one = &all->each[who];
    for (uint32_t s = 0; s < all->count && one->wait_kind == WAIT_ROW; s++) {
        const struct session *other = &all->each[s];
        if (s != who && other->state == SESSION_WAITS && other->wait_kind == WAIT_ROW &&
            other->wait_since < one->wait_since && other->wait_table == one->wait_table &&
            other->wait_slot == one->wait_slot &&
            all->rules->conflicts[other->wait_mode][one->wait_mode]) {
            return true;
        }
    }
    return false;
}

bool session_may_abort(const struct sessions *all, unsigned who)
{
    const struct session *one = &all->each[who];
    if (one->bundle.isolation != SERIALIZABLE || one->snapshot == SESSION_NO_SNAPSHOT) {
        return false;
    }
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        if (s != who && is_open(other) && other->bundle.isolation == SERIALIZABLE &&
            other->snapshot != SESSION_NO_SNAPSHOT) {
            return true;
        }
    }
    for (uint32_t h = 0; h < all->history_count; h++) {
        if (all->history[h].commit > one->start) {
            return true;
        }
    }
    return false;
}

/* A walk at statement level: transactions stay open over moves of other actors, and each operation
 * is a move of its own. */
#include "model/check.h"
#include "sim/walk_inside.h"

#include <stdlib.h>
#include <string.h>

static struct sessions *sessions_of(const struct walk *walk)
{
    return walk->run.sessions;
}

bool walk_has_open(const struct walk *walk, unsigned actor)
{
    return (sessions_open(sessions_of(walk)) >> actor & 1) != 0;
}

bool walk_can_operate(const struct walk *walk, unsigned actor)
{
    const struct session *session = &sessions_of(walk)->each[actor];
    return session->state != SESSION_WAITS || session_waits_for(sessions_of(walk), actor) == 0;
}

static bool is_claim(const struct walk *walk, const struct bundle *bundle, uint8_t call, uint8_t op)
{
    const struct primitive *primitive = &walk->run.primitives[bundle->calls[call].primitive];
    return primitive->ops[op].kind == OP_CLAIM;
}

bool walk_comes_to_claim(const struct walk *walk, unsigned actor)
{
    const struct session *session = &sessions_of(walk)->each[actor];
    return session->state == SESSION_OPEN &&
           is_claim(walk, &session->bundle, session->call, session->op);
}

bool walk_begins_with_claim(const struct walk *walk, const struct bundle *bundle)
{
    return bundle->count > 0 && is_claim(walk, bundle, 0, 0);
}

/* ---- doing ----------------------------------------------------------------------------------- */

bool walk_is_done(const struct walk *walk, unsigned actor)
{
    return sessions_of(walk)->each[actor].state == SESSION_DONE;
}

/* An operation that computes with its own values only. */
static bool reckons(const struct walk *walk, const struct session *session)
{
    const struct primitive *primitive =
        &walk->run.primitives[session->bundle.calls[session->call].primitive];
    return primitive->ops[session->op].kind >= OP_LET_EQUAL;
}

/* The next operation, with those behind it that no other session can notice. A failure reaches the
 * actor at once: the session holds nothing any more. */
void walk_operate(struct walk *walk, struct walk_move move)
{
    struct run *run = &walk->run;
    struct session *session = &run->sessions->each[move.actor];
    session->picked = walk_picked(move);
    if (session->state == SESSION_DONE) {
        walk_end(walk, move.actor, WALK_OPERATE);
        return;
    }
    do {
        run->life->step(run, move.actor);
    } while (session->state == SESSION_OPEN && reckons(walk, session));
    if (session->state == SESSION_FAILED) {
        walk_end(walk, move.actor, WALK_OPERATE);
    }
}

/* ---- keeping and bringing back --------------------------------------------------------------- */

/* Copies the used parts of sessions, which are mostly empty, in either direction; `at` NULL: only
 * measures. */
struct copying {
    unsigned char *at;
    size_t used;
    bool back;
};

static void copy_part(struct copying *copying, void *part, size_t size)
{
    if (copying->at != NULL && copying->back) {
        memcpy(part, copying->at + copying->used, size);
    } else if (copying->at != NULL) {
        memcpy(copying->at + copying->used, part, size);
    }
    copying->used += size;
}

static void copy_session(struct copying *copying, struct session *session)
{
    copy_part(copying, session, offsetof(struct session, bundle));
    if (session->state == SESSION_CLOSED) {
        return;
    }
    struct bundle *bundle = &session->bundle;
    copy_part(copying, bundle, offsetof(struct bundle, calls));
    copy_part(copying, bundle->calls, bundle->count * sizeof *bundle->calls);
    copy_part(copying, bundle->params, bundle->param_count * sizeof *bundle->params);
    copy_part(copying, &session->outcome, sizeof session->outcome);
    copy_part(copying, session->writes, session->write_count * sizeof *session->writes);
    copy_part(copying, session->inserts, session->insert_count * sizeof *session->inserts);
    copy_part(copying, session->locks, session->lock_count * sizeof *session->locks);
    copy_part(copying, session->advisory, sizeof session->advisory);
    copy_part(copying, session->advisory_statement, sizeof session->advisory_statement);
    copy_part(copying, session->reads, session->read_count * sizeof *session->reads);
    copy_part(copying, session->looks, session->look_count * sizeof *session->looks);
}

static void copy_record(struct copying *copying, struct session_record *record)
{
    copy_part(copying, record, offsetof(struct session_record, reads));
    copy_part(copying, record->reads, record->read_count * sizeof *record->reads);
    copy_part(copying, record->writes, record->write_count * sizeof *record->writes);
    copy_part(copying, record->looks, record->look_count * sizeof *record->looks);
}

static size_t copy_sessions(struct sessions *sessions, unsigned char *at, bool back)
{
    struct copying copying = {.at = at, .back = back};
    copy_part(&copying, &sessions->count,
              offsetof(struct sessions, versions) - offsetof(struct sessions, count));
    copy_part(&copying, sessions->versions, sessions->version_count * sizeof *sessions->versions);
    copy_part(&copying, sessions->ended, sessions->version_count * sizeof *sessions->ended);
    for (uint32_t h = 0; h < sessions->history_count; h++) {
        copy_record(&copying, &sessions->history[h]);
    }
    for (uint32_t s = 0; s < sessions->count; s++) {
        copy_session(&copying, &sessions->each[s]);
    }
    return copying.used;
}

void walk_keep_sessions(struct walk *walk, struct walk_record *record)
{
    if (!walk->plan.by_statement) {
        return;
    }
    size_t size = copy_sessions(sessions_of(walk), NULL, false);
    free(record->sessions); /* of an earlier move at this depth */
    record->sessions = malloc(size);
    CHECK(record->sessions != NULL);
    copy_sessions(sessions_of(walk), record->sessions, false);
}

void walk_bring_sessions_back(struct walk *walk, const struct walk_record *record)
{
    if (walk->plan.by_statement) {
        copy_sessions(sessions_of(walk), record->sessions, true);
    }
}

/* ---- what of it makes a difference ----------------------------------------------------------- */

/* A row by its key, and whether it is the one that has the key now. */
static uint64_t mix_row(const struct walk *walk, uint64_t hash, uint8_t table, uint32_t slot)
{
    const struct rows *rows = &walk->run.world.rows;
    int64_t key = slot == ROW_NONE || slot >= rows->table[table].used
                      ? -1
                      : row_key(rows, (enum row_table)table, slot);
    bool there = key != -1 && row_find(rows, (enum row_table)table, key) == slot;
    hash = fingerprint_mix(hash, (uint64_t)table << 1 | there);
    return fingerprint_mix(hash, (uint64_t)key);
}

static uint64_t mix_items(uint64_t hash, const struct session_item *items, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        hash = fingerprint_mix(fingerprint_mix(hash, items[i].table), (uint64_t)items[i].key);
    }
    return hash;
}

/* What was looked for; nothing, if no row was looked for without its key. */
static uint64_t mix_looks(uint64_t hash, const struct session_look *looks, uint8_t count, bool all)
{
    for (uint8_t l = 0; l < count; l++) {
        const struct session_look *look = &looks[l];
        const int64_t words[] = {look->kind,  look->table, look->column,  look->beside,
                                 look->order, look->a,     look->unnamed, look->b,
                                 look->c,     look->found, look->rank,    look->snapshot};
        hash = fingerprint_mix_words(hash, words, COUNT(words));
    }
    return count == 0 ? hash : fingerprint_mix(hash, all);
}

static uint64_t mix_writes(const struct walk *walk, uint64_t hash, const struct session *session)
{
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        const int64_t words[] = {write->kind,      write->column, write->insert, write->ends,
                                 write->statement, write->key,    write->value};
        hash = mix_row(walk, fingerprint_mix_words(hash, words, COUNT(words)), write->table,
                       write->slot);
    }
    for (uint8_t i = 0; i < session->insert_count; i++) {
        hash = fingerprint_mix_words(hash, session->inserts[i], ROW_COLUMNS_MAX);
    }
    return hash;
}

static uint64_t mix_locks(const struct walk *walk, uint64_t hash, const struct session *session)
{
    for (uint16_t l = 0; l < session->lock_count; l++) {
        const struct session_lock *lock = &session->locks[l];
        hash = fingerprint_mix(hash, (uint64_t)lock->beside << 40 | (uint64_t)lock->mode << 32 |
                                         lock->since);
        hash = mix_row(walk, hash, lock->table, lock->slot);
    }
    return fingerprint_mix_words(hash, session->advisory, session->advisory_count);
}

static uint64_t mix_session(const struct walk *walk, uint64_t hash, const struct session *session)
{
    const struct sessions *sessions = sessions_of(walk);
    const int64_t words[] = {session->state,
                             session->call,
                             session->op,
                             session->in_statement,
                             session->written,
                             session->statement,
                             session->snapshot,
                             session->looks_from,
                             session->unchecked,
                             session->bundle.name,
                             session->bundle.count,
                             session->outcome.skipped,
                             (int64_t)(sessions->commits - session->start)};
    hash = fingerprint_mix(hash, session->state);
    if (session->state == SESSION_CLOSED) {
        return hash;
    }
    hash = fingerprint_mix_words(hash, words, COUNT(words));
    if (session->state == SESSION_WAITS) {
        hash = fingerprint_mix(hash, (uint64_t)session->wait_kind << 8 | session->wait_mode);
        hash = fingerprint_mix(mix_row(walk, hash, session->wait_table, session->wait_slot),
                               (uint64_t)session->wait_key);
    }
    hash = mix_row(walk, hash, TABLE_MESSAGE, session->picked);
    hash = fingerprint_mix_words(hash, session->bundle.params, session->bundle.param_count);
    hash = fingerprint_mix_words(hash, session->outcome.values, BUNDLE_VALUES_MAX);
    hash = mix_locks(walk, mix_writes(walk, hash, session), session);
    hash = mix_items(hash, session->reads, session->read_count);
    return mix_looks(hash, session->looks, session->look_count, session->reads_all);
}

uint64_t walk_mix_sessions(const struct walk *walk, uint64_t state)
{
    const struct sessions *sessions = sessions_of(walk);
    for (uint32_t s = 0; s < sessions->count; s++) {
        state = mix_session(walk, state, &sessions->each[s]);
    }
    for (uint32_t v = 0; v < sessions->version_count; v++) {
        const struct row_change *change = &sessions->versions[v];
        int64_t before = change->kind == ROW_UPDATED ? change->before : 0;
        state = fingerprint_mix(state, (uint64_t)change->kind << 16 |
                                           (uint64_t)change->column << 8 | sessions->ended[v]);
        state =
            fingerprint_mix(mix_row(walk, state, change->table, change->slot), (uint64_t)before);
    }
    for (uint32_t h = 0; h < sessions->history_count; h++) {
        const struct session_record *record = &sessions->history[h];
        state = fingerprint_mix(state, sessions->commits - record->start);
        state = fingerprint_mix(state, sessions->commits - record->commit);
        state = mix_items(state, record->reads, record->read_count);
        state = mix_items(state, record->writes, record->write_count);
        state = mix_looks(state, record->looks, record->look_count, record->reads_all);
    }
    return fingerprint_finish(state);
}

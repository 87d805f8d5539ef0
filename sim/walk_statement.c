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
    return walk->plan.by_statement && sessions_of(walk)->each[actor].state != SESSION_CLOSED;
}

bool walk_can_operate(const struct walk *walk, unsigned actor)
{
    const struct session *one = &sessions_of(walk)->each[actor];
    return one->state != SESSION_WAITS || session_waits_for(sessions_of(walk), actor) == 0;
}

static bool is_claim(const struct walk *walk, const struct bundle *bundle, uint8_t call, uint8_t op)
{
    const struct primitive *primitive = &walk->run.primitives[bundle->calls[call].primitive];
    return primitive->ops[op].kind == OP_CLAIM;
}

bool walk_comes_to_claim(const struct walk *walk, unsigned actor)
{
    const struct session *one = &sessions_of(walk)->each[actor];
    return one->state == SESSION_OPEN && is_claim(walk, &one->bundle, one->call, one->op);
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

/* Commits or rolls back. A transaction that came to its end and does not commit is applied and then
 * rolled back: a torn store leaves half of it. */
static void settle_session(struct walk *walk, unsigned actor, size_t mark, bool commits)
{
    struct sessions *all = sessions_of(walk);
    struct session *one = &all->each[actor];
    bool applied = one->state == SESSION_DONE && session_apply(all, actor);
    walk->run.outcome = one->outcome;
    session_seen(all, actor, &walk->run.seen);
    if (applied || one->outcome.kind == OUTCOME_REFUSED) {
        walk_judge(walk, mark, commits);
    }
    if (applied && !commits) {
        session_abort(all, actor, ABORT_NONE);
        sessions_note(all, mark);
    }
}

void walk_end(struct walk *walk, unsigned actor, enum walk_kind kind)
{
    struct sessions *all = sessions_of(walk);
    struct run *run = &walk->run;
    size_t mark = world_mark(&run->world);
    bundle_copy(&run->bundle, &all->each[actor].bundle);
    if (kind == WALK_ABORT || (kind == WALK_LOST && !walk_is_done(walk, actor))) {
        session_abort(all, actor, kind == WALK_ABORT ? ABORT_SERIALIZATION : ABORT_CONNECTION);
    }
    settle_session(walk, actor, mark, kind == WALK_OPERATE || kind == WALK_UNSURE);
    session_end(all, actor, mark);
    if (kind == WALK_LOST || (kind == WALK_UNSURE && run->outcome.kind != OUTCOME_ABORTED)) {
        run->outcome.kind = OUTCOME_UNKNOWN;
    }
    if (kind == WALK_TEAR) {
        performer_restart(&run->actors[actor].performer, &run->rules, actor);
    } else if (run->result.verdict == RUN_HELD) {
        walk_tell(walk, actor);
    }
}

/* An operation that computes with its own values only. */
static bool reckons(const struct walk *walk, const struct session *one)
{
    const struct primitive *primitive =
        &walk->run.primitives[one->bundle.calls[one->call].primitive];
    return primitive->ops[one->op].kind >= OP_LET_EQUAL;
}

/* The next operation, with those behind it that no other session can notice. A failure reaches the
 * actor at once: the session holds nothing any more. */
void walk_operate(struct walk *walk, struct walk_move move)
{
    struct sessions *all = sessions_of(walk);
    unsigned actor = move.actor;
    struct session *one = &all->each[actor];
    one->picked = move.slot == WALK_NO_SLOT ? ROW_NONE : move.slot;
    if (one->state == SESSION_DONE) {
        walk_end(walk, actor, WALK_OPERATE);
        return;
    }
    enum session_state state = SESSION_OPEN;
    do {
        state = session_operation(all, actor);
    } while (state == SESSION_OPEN && reckons(walk, one));
    if (state == SESSION_WAITS && session_deadlock(all, actor) != 0) {
        session_abort(all, actor, ABORT_DEADLOCK);
        state = SESSION_FAILED;
    }
    if (state == SESSION_FAILED) {
        walk_end(walk, actor, WALK_OPERATE);
    }
}

/* BEGIN alone has no visible effect, so the first operation comes with it. */
void walk_open(struct walk *walk, struct walk_move move)
{
    struct run *run = &walk->run;
    walk_send(walk, move.actor);
    walk_work(walk, move.actor);
    session_begin(run->sessions, move.actor, &run->bundle, ROW_NONE);
    walk_operate(walk, move);
}

void walk_drop(struct walk *walk, unsigned actor)
{
    if (walk_has_open(walk, actor)) {
        session_abort(sessions_of(walk), actor, ABORT_CONNECTION);
        session_end(sessions_of(walk), actor, world_mark(&walk->run.world));
    }
}

void walk_note_sessions(struct walk *walk, size_t mark)
{
    if (walk->plan.by_statement) {
        sessions_note(sessions_of(walk), mark);
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

static void copy_session(struct copying *copying, struct session *one)
{
    copy_part(copying, one, offsetof(struct session, bundle));
    if (one->state == SESSION_CLOSED) {
        return;
    }
    struct bundle *bundle = &one->bundle;
    copy_part(copying, bundle, offsetof(struct bundle, calls));
    copy_part(copying, bundle->calls, bundle->count * sizeof *bundle->calls);
    copy_part(copying, bundle->params, bundle->param_count * sizeof *bundle->params);
    copy_part(copying, &one->outcome, sizeof one->outcome);
    copy_part(copying, one->writes, one->write_count * sizeof *one->writes);
    copy_part(copying, one->inserts, one->insert_count * sizeof *one->inserts);
    copy_part(copying, one->locks, one->lock_count * sizeof *one->locks);
    copy_part(copying, one->advisory, sizeof one->advisory);
    copy_part(copying, one->advisory_statement, sizeof one->advisory_statement);
    copy_part(copying, one->reads, one->read_count * sizeof *one->reads);
}

static void copy_record(struct copying *copying, struct session_record *record)
{
    copy_part(copying, record, offsetof(struct session_record, reads));
    copy_part(copying, record->reads, record->read_count * sizeof *record->reads);
    copy_part(copying, record->writes, record->write_count * sizeof *record->writes);
}

static size_t copy_sessions(struct sessions *all, unsigned char *at, bool back)
{
    struct copying copying = {.at = at, .back = back};
    copy_part(&copying, &all->count,
              offsetof(struct sessions, versions) - offsetof(struct sessions, count));
    copy_part(&copying, all->versions, all->version_count * sizeof *all->versions);
    copy_part(&copying, all->replaced, all->version_count * sizeof *all->replaced);
    for (uint32_t h = 0; h < all->history_count; h++) {
        copy_record(&copying, &all->history[h]);
    }
    for (uint32_t s = 0; s < all->count; s++) {
        copy_session(&copying, &all->each[s]);
    }
    return copying.used;
}

void walk_keep_sessions(struct walk *walk, struct walk_frame *frame)
{
    if (!walk->plan.by_statement) {
        return;
    }
    size_t size = copy_sessions(sessions_of(walk), NULL, false);
    free(frame->sessions); /* of an earlier move at this depth */
    frame->sessions = malloc(size);
    CHECK(frame->sessions != NULL);
    copy_sessions(sessions_of(walk), frame->sessions, false);
}

void walk_bring_sessions_back(struct walk *walk, const struct walk_frame *frame)
{
    if (walk->plan.by_statement) {
        copy_sessions(sessions_of(walk), frame->sessions, true);
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
    hash = sameness_mix(hash, (uint64_t)table << 1 | there);
    return sameness_mix(hash, (uint64_t)key);
}

static uint64_t mix_items(uint64_t hash, const struct session_item *items, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++) {
        hash = sameness_mix(sameness_mix(hash, items[i].table), (uint64_t)items[i].key);
    }
    return hash;
}

static uint64_t mix_writes(const struct walk *walk, uint64_t hash, const struct session *one)
{
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        const int64_t words[] = {write->kind,      write->column, write->insert, write->replaces,
                                 write->statement, write->key,    write->value};
        hash = mix_row(walk, sameness_mix_words(hash, words, sizeof words / sizeof *words),
                       write->table, write->slot);
    }
    for (uint8_t i = 0; i < one->insert_count; i++) {
        hash = sameness_mix_words(hash, one->inserts[i], ROW_COLUMNS_MAX);
    }
    return hash;
}

static uint64_t mix_locks(const struct walk *walk, uint64_t hash, const struct session *one)
{
    for (uint16_t l = 0; l < one->lock_count; l++) {
        hash = sameness_mix(hash, (uint64_t)one->locks[l].mode << 32 | one->locks[l].since);
        hash = mix_row(walk, hash, one->locks[l].table, one->locks[l].slot);
    }
    return sameness_mix_words(hash, one->advisory, one->advisory_count);
}

static uint64_t mix_session(const struct walk *walk, uint64_t hash, const struct session *one)
{
    const struct sessions *all = sessions_of(walk);
    const int64_t words[] = {one->state,
                             one->call,
                             one->op,
                             one->in_statement,
                             one->written,
                             one->statement,
                             one->snapshot,
                             one->looks_from,
                             one->bundle.name,
                             one->bundle.count,
                             one->outcome.skipped,
                             (int64_t)(all->commits - one->start)};
    hash = sameness_mix(hash, one->state);
    if (one->state == SESSION_CLOSED) {
        return hash;
    }
    hash = sameness_mix_words(hash, words, sizeof words / sizeof *words);
    if (one->state == SESSION_WAITS) {
        hash = sameness_mix(hash, (uint64_t)one->wait_kind << 8 | one->wait_mode);
        hash = sameness_mix(mix_row(walk, hash, one->wait_table, one->wait_slot),
                            (uint64_t)one->wait_key);
    }
    hash = mix_row(walk, hash, TABLE_MESSAGE, one->picked);
    hash = sameness_mix_words(hash, one->bundle.params, one->bundle.param_count);
    hash = sameness_mix_words(hash, one->outcome.values, BUNDLE_VALUES_MAX);
    hash = mix_locks(walk, mix_writes(walk, hash, one), one);
    return mix_items(hash, one->reads, one->read_count);
}

uint64_t walk_mix_sessions(const struct walk *walk, uint64_t state)
{
    const struct sessions *all = sessions_of(walk);
    for (uint32_t s = 0; s < all->count; s++) {
        state = mix_session(walk, state, &all->each[s]);
    }
    for (uint32_t v = 0; v < all->version_count; v++) {
        const struct row_change *change = &all->versions[v];
        int64_t before = change->kind == ROW_UPDATED ? change->before : 0;
        state = sameness_mix(state, (uint64_t)change->kind << 16 | (uint64_t)change->column << 8 |
                                        all->replaced[v]);
        state = sameness_mix(mix_row(walk, state, change->table, change->slot), (uint64_t)before);
    }
    for (uint32_t h = 0; h < all->history_count; h++) {
        const struct session_record *record = &all->history[h];
        state = sameness_mix(state, all->commits - record->start);
        state = sameness_mix(state, all->commits - record->commit);
        state = mix_items(state, record->reads, record->read_count);
        state = mix_items(state, record->writes, record->write_count);
    }
    return sameness_finish(state);
}

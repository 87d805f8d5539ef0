/* What is claimed of PostgreSQL, and every way to get one line of it wrong. */
#include "sim/session.h"

#include <stdio.h>

#define KS LOCK_KEY_SHARE
#define SH LOCK_SHARE
#define NK LOCK_NO_KEY_UPDATE
#define UP LOCK_UPDATE

const struct session_claims session_postgresql = {
    .conflicts =
        {
            [KS] = {[UP] = true},
            [SH] = {[NK] = true, [UP] = true},
            [NK] = {[SH] = true, [NK] = true, [UP] = true},
            [UP] = {[KS] = true, [SH] = true, [NK] = true, [UP] = true},
        },
    .locks = {[OP_READ] = LOCK_NONE,
              [OP_TEST] = NK,
              [OP_ADD] = NK,
              [OP_SET] = NK,
              [OP_DELETE] = UP,
              [OP_CLAIM] = UP,
              [OP_FIND] = LOCK_NONE,
              [OP_EVERY] = LOCK_NONE},
    .parent_lock = KS,
    .locks_last = true,
    .sees_committed_only = true,
    .sees_own_writes = true,
    .snapshot_each_statement = true,
    .snapshot_outlasts_waits = true,
    .tests_anew = true,
    .writes_on_latest = true,
    .gone_is_gone = true,
    .key_share_looks_back = true,
    .one_update_a_statement = true,
    .unique = true,
    .unique_waits = true,
    .not_null = true,
    .grants = true,
    .policies = true,
    .parents = true,
    .checks_anew = true,
    .checks_moved = true,
    .children = true,
    .deletes_first = true,
    .skip_locked = true,
    .skip_stops_at_first = true,
    .advisory_waits = true,
    .advisory_lasts = true,
    .snapshot_before_wait = true,
    .first_updater_wins = true,
    .conflict_unseen_fails = true,
    .cycles_only = true,
};

static const char *const mode_names[LOCK_COUNT] = {[LOCK_NONE] = "no lock",
                                                   [KS] = "FOR KEY SHARE",
                                                   [SH] = "FOR SHARE",
                                                   [NK] = "FOR NO KEY UPDATE",
                                                   [UP] = "FOR UPDATE"};

/* ---- two modes that exclude each other, or do not -------------------------------------------- */

static const uint8_t pairs[][2] = {{KS, KS}, {KS, SH}, {KS, NK}, {KS, UP}, {SH, SH},
                                   {SH, NK}, {SH, UP}, {NK, NK}, {NK, UP}, {UP, UP}};
#define PAIR_COUNT COUNT(pairs)

static void flip_pair(size_t index, struct session_claims *rules, char *name)
{
    uint8_t left = pairs[index][0], right = pairs[index][1];
    bool excludes = !rules->conflicts[left][right];
    rules->conflicts[left][right] = excludes;
    rules->conflicts[right][left] = excludes;
    snprintf(name, SESSION_ERROR_NAME_SIZE, "%s %s %s", mode_names[left] + 4,
             excludes ? "excludes" : "lets in", mode_names[right] + 4);
}

/* ---- the lock that an operation takes -------------------------------------------------------- */

static const struct {
    uint8_t kind;
    const char *name;
} kinds[] = {{OP_READ, "a read"}, {OP_TEST, "a test"},     {OP_ADD, "an addition"},
             {OP_SET, "a set"},   {OP_DELETE, "a delete"}, {OP_CLAIM, "a claim"}};
#define MODES      (LOCK_COUNT - LOCK_NONE)
#define LOCK_SWAPS (COUNT(kinds) * (MODES - 1))

/* The mode with this number among all but the right one. */
static uint8_t other_mode(uint8_t right, size_t number)
{
    uint8_t mode = (uint8_t)(LOCK_NONE + number);
    return mode < right ? mode : (uint8_t)(mode + 1);
}

static void swap_lock(size_t index, struct session_claims *rules, char *name)
{
    uint8_t kind = kinds[index / (MODES - 1)].kind;
    rules->locks[kind] = other_mode(rules->locks[kind], index % (MODES - 1));
    snprintf(name, SESSION_ERROR_NAME_SIZE, "%s takes %s", kinds[index / (MODES - 1)].name,
             mode_names[rules->locks[kind]]);
}

static void swap_parent_lock(size_t index, struct session_claims *rules, char *name)
{
    rules->parent_lock = other_mode(rules->parent_lock, index);
    snprintf(name, SESSION_ERROR_NAME_SIZE, "a foreign key takes %s",
             mode_names[rules->parent_lock]);
}

/* ---- the rest: a rule that is not kept ------------------------------------------------------- */

#define RULE(member, text)                                                                         \
    {                                                                                              \
        offsetof(struct session_claims, member), text                                              \
    }

static const struct {
    size_t offset;
    const char *name;
} flags[] = {
    RULE(locks_last, "row locks end with their statement"),
    RULE(sees_committed_only, "uncommitted rows are seen"),
    RULE(sees_own_writes, "own writes are not seen"),
    RULE(snapshot_each_statement, "one snapshot for all statements"),
    RULE(snapshot_outlasts_waits, "a wait renews the snapshot"),
    RULE(tests_anew, "no new test after a wait"),
    RULE(writes_on_latest, "an update is lost after a wait"),
    RULE(gone_is_gone, "a deleted row is there after a wait"),
    RULE(key_share_looks_back, "FOR KEY SHARE sees the latest version"),
    RULE(one_update_a_statement, "a statement updates a row twice"),
    RULE(unique, "no unique check"),
    RULE(unique_waits, "a racing insert does not wait"),
    RULE(not_null, "no not-null check"),
    RULE(grants, "no check of rights"),
    RULE(policies, "no check of what a row must say"),
    RULE(parents, "no foreign key check of an insert"),
    RULE(checks_anew, "no foreign key check of a second write"),
    RULE(checks_moved, "no foreign key check of an update"),
    RULE(children, "no foreign key check of a delete"),
    RULE(deletes_first, "a row that waits for its delete is there"),
    RULE(skip_locked, "SKIP LOCKED waits"),
    RULE(skip_stops_at_first, "SKIP LOCKED never waits"),
    RULE(advisory_waits, "an advisory lock excludes nobody"),
    RULE(advisory_lasts, "an advisory lock ends with its statement"),
    RULE(snapshot_before_wait, "snapshot taken after an advisory wait"),
    RULE(first_updater_wins, "no 40001 on a changed row"),
    RULE(conflict_unseen_fails, "no 40001 on an unseen conflict"),
    RULE(cycles_only, "40001 at commit without a cycle"),
};
#define FLAG_COUNT COUNT(flags)

static void break_rule(size_t index, struct session_claims *rules, char *name)
{
    *(bool *)((char *)rules + flags[index].offset) = false;
    snprintf(name, SESSION_ERROR_NAME_SIZE, "%s", flags[index].name);
}

size_t session_error_count(void)
{
    return FLAG_COUNT + PAIR_COUNT + LOCK_SWAPS + (MODES - 1);
}

void session_error(size_t index, struct session_claims *rules, char name[SESSION_ERROR_NAME_SIZE])
{
    *rules = session_postgresql;
    if (index < FLAG_COUNT) {
        break_rule(index, rules, name);
    } else if (index < FLAG_COUNT + PAIR_COUNT) {
        flip_pair(index - FLAG_COUNT, rules, name);
    } else if (index < FLAG_COUNT + PAIR_COUNT + LOCK_SWAPS) {
        swap_lock(index - FLAG_COUNT - PAIR_COUNT, rules, name);
    } else {
        swap_parent_lock(index - FLAG_COUNT - PAIR_COUNT - LOCK_SWAPS, rules, name);
    }
}

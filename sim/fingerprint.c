#include "sim/fingerprint.h"

#include "model/check.h"
#include "sim/part.h"

#include <stdlib.h>
#include <string.h>

#define LOG_MAX (1 << 18)

/* ---- rows ------------------------------------------------------------------------------------ */

/* Leases count from a time in the past, so its distance matters, too. */
static int64_t told_time(const struct fingerprint *same, enum row_table table, int64_t moment)
{
    return moment == 0              ? INT64_MIN
           : table == TABLE_MESSAGE ? fingerprint_ahead(same, moment)
                                    : moment - same->run->world.now;
}

struct fingerprint_share fingerprint_raw_row(const struct fingerprint *same, enum row_table table,
                                             uint32_t slot)
{
    const struct row_area *area = &same->run->world.rows.table[table];
    const int64_t *row = &area->cells[(size_t)slot * area->stride];
    uint64_t hash = fingerprint_mix((uint64_t)table + 1, (uint64_t)row[0]);
    uint32_t times = table_times(table);
    for (uint32_t c = 0; c + 1 < area->stride; c++) {
        int64_t value = (times >> c & 1) != 0 ? told_time(same, table, row[1 + c]) : row[1 + c];
        hash = fingerprint_mix(hash, (uint64_t)value);
    }
    return (struct fingerprint_share){.hash = fingerprint_finish(hash)};
}

static bool lives(const struct rows *rows, enum row_table table, uint32_t slot)
{
    return slot < rows->table[table].used &&
           row_find(rows, table, row_key(rows, table, slot)) == slot;
}

static struct fingerprint_share share_of_row(struct fingerprint *same, enum row_table table,
                                             uint32_t slot)
{
    const struct fingerprint_hooks *hooks = same->run->part->fingerprint;
    if (!lives(&same->run->world.rows, table, slot)) {
        return (struct fingerprint_share){0};
    }
    return hooks == NULL ? fingerprint_raw_row(same, table, slot) : hooks->row(same, table, slot);
}

/* ---- what oracles remember ------------------------------------------------------------------- */

/* Monitors without memory have one cell. */
static size_t plain_of(const struct fingerprint *same)
{
    const struct monitors *monitors = same->run->oracle.monitors;
    return monitors->cells == NULL ? 1 : monitors->plain;
}

/* Plain cells come first, each by itself; then entries. */
static size_t entry_of(const struct fingerprint *same, size_t cell)
{
    size_t plain = plain_of(same);
    return cell < plain ? cell : plain + (cell - plain) / GHOST_CELLS;
}

static size_t entry_count(const struct fingerprint *same)
{
    return entry_of(same, same->run->oracle.ghosts.count - 1) + 1;
}

/* The memory of the run without faults for the same id; NULL: none. */
static const int64_t *expected_of(const struct fingerprint *same, int memory, const int64_t *cells)
{
    const struct monitors *monitors = same->run->oracle.monitors;
    const struct rows *rows = &same->run->world.rows;
    size_t count = same->run->oracle.ghosts.count;
    size_t first = (size_t)(cells - same->run->ghosts);
    /* Open addressing: it is here or, after other collisions, further on. */
    for (size_t at = first; at + GHOST_CELLS <= count; at += GHOST_CELLS) {
        if (same->expected[at] == cells[0] &&
            (monitors->memory_of == NULL || monitors->memory_of(rows, at) == memory)) {
            return &same->expected[at];
        }
    }
    return NULL;
}

static bool counts_away(const struct fingerprint *same, uint8_t kind)
{
    return kind == GHOST_COUNTER && (same->reductions & REDUCE_COUNTERS) != 0;
}

static int64_t told_moment(const struct fingerprint *same, int64_t moment)
{
    return moment == 0 || !same->keeps_paths ? 0 : 1 + same->run->world.now - moment;
}

/* The cells of an entry that can affect the future. False: all are zero, which equals no entry. */
static bool judged_cells(const struct fingerprint *same, int memory, const int64_t *cells,
                         int64_t judged[GHOST_CELLS])
{
    const struct ghost_memory *kinds = &same->run->oracle.monitors->memories[memory];
    bool some = false;
    for (int c = 1; c < GHOST_CELLS; c++) {
        judged[c] = c == GHOST_FLAGS && !same->keeps_paths ? cells[c] & ~kinds->sights
                    : kinds->kinds[c] == GHOST_MOMENT      ? told_moment(same, cells[c])
                    : counts_away(same, kinds->kinds[c])   ? 0
                                                           : cells[c];
        some = some || judged[c] != 0;
    }
    return some;
}

/* A datum that equals that of the run without faults counts as 1; false: one differs. */
static bool normal_data(const struct fingerprint *same, int memory, const int64_t *cells,
                        int64_t judged[GHOST_CELLS])
{
    const struct ghost_memory *kinds = &same->run->oracle.monitors->memories[memory];
    for (int c = 1; c < GHOST_CELLS; c++) {
        if (kinds->kinds[c] == GHOST_DATUM && judged[c] != 0) {
            const int64_t *expected = expected_of(same, memory, cells);
            if (expected == NULL || expected[c] != judged[c]) {
                return false;
            }
            judged[c] = 1;
        }
    }
    return true;
}

static struct fingerprint_share share_of_memory(struct fingerprint *same, int memory,
                                                const int64_t *cells)
{
    const struct fingerprint_hooks *hooks = same->run->part->fingerprint;
    struct fingerprint_share share = {0};
    uint64_t what = 0;
    int64_t judged[GHOST_CELLS] = {cells[0]};
    if (!judged_cells(same, memory, cells, judged)) {
        return share;
    }
    bool known = hooks != NULL && hooks->locate(same, cells[0], &share.place, &what) &&
                 normal_data(same, memory, cells, judged);
    if (known) {
        judged[0] = (int64_t)what;
    } else {
        share.place = 0;
    }
    uint64_t hash = fingerprint_mix(UINT64_C(0x60605) + (uint64_t)known, (uint64_t)memory);
    share.hash = fingerprint_finish(fingerprint_mix_words(hash, judged, GHOST_CELLS));
    return share;
}

static struct fingerprint_share share_of_entry(struct fingerprint *same, size_t entry)
{
    const struct monitors *monitors = same->run->oracle.monitors;
    const int64_t *cells = same->run->ghosts;
    size_t plain = plain_of(same);
    if (entry < plain) {
        uint64_t hash = fingerprint_mix(UINT64_C(0x60607) + entry, (uint64_t)cells[entry]);
        return (struct fingerprint_share){.hash = cells[entry] == 0 ? 0 : fingerprint_finish(hash)};
    }
    size_t cell = plain + (entry - plain) * GHOST_CELLS;
    if (cell + GHOST_CELLS > same->run->oracle.ghosts.count || cells[cell] == 0) {
        return (struct fingerprint_share){0};
    }
    int memory =
        monitors->memory_of == NULL ? 0 : monitors->memory_of(&same->run->world.rows, cell);
    return share_of_memory(same, memory, &cells[cell]);
}

/* ---- keeping it up to date ------------------------------------------------------------------- */

static void count_out(struct fingerprint *same, struct fingerprint_share share)
{
    same->sums[share.place] -= share.hash;
}

static void count_in(struct fingerprint *same, struct fingerprint_share share)
{
    same->sums[share.place] += share.hash;
}

static void renew(struct fingerprint *same, int table, size_t slot)
{
    struct fingerprint_share *share = &same->shares[table][slot];
    struct fingerprint_share fresh =
        table == TABLE_COUNT ? share_of_entry(same, slot)
                             : share_of_row(same, (enum row_table)table, (uint32_t)slot);
    if (fresh.hash == share->hash && fresh.place == share->place) {
        return;
    }
    CHECK(same->logged < same->log_capacity);
    same->log[same->logged++] = (struct fingerprint_before){
        .table = (uint8_t)table, .slot = (uint32_t)slot, .share = *share};
    count_out(same, *share);
    count_in(same, fresh);
    *share = fresh;
}

void fingerprint_note(struct fingerprint *same, size_t mark, const struct ghost_write *writes,
                      size_t count)
{
    const struct world *world = &same->run->world;
    for (size_t i = mark; i < world->change_count; i++) {
        renew(same, world->changes[i].table, world->changes[i].slot);
    }
    for (size_t i = 0; i < count; i++) {
        renew(same, TABLE_COUNT, entry_of(same, writes[i].cell));
    }
}

void fingerprint_note_time(struct fingerprint *same)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        uint32_t used =
            table_times((enum row_table)t) == 0 ? 0 : same->run->world.rows.table[t].used;
        for (uint32_t slot = 0; slot < used; slot++) {
            renew(same, t, slot);
        }
    }
    for (size_t e = plain_of(same); same->keeps_paths && e < entry_count(same); e++) {
        renew(same, TABLE_COUNT, e); /* GHOST_MOMENT */
    }
}

void fingerprint_undo(struct fingerprint *same, size_t logged)
{
    while (same->logged > logged) {
        const struct fingerprint_before *before = &same->log[--same->logged];
        struct fingerprint_share *share = &same->shares[before->table][before->slot];
        count_out(same, *share);
        count_in(same, before->share);
        *share = before->share;
    }
}

void fingerprint_begin(struct fingerprint *same)
{
    const struct rows *rows = &same->run->world.rows;
    memset(same->sums, 0, sizeof same->sums);
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (uint32_t slot = 0; slot < rows->table[t].capacity; slot++) {
            same->shares[t][slot] = share_of_row(same, (enum row_table)t, slot);
            count_in(same, same->shares[t][slot]);
        }
    }
    for (size_t e = 0; e < entry_count(same); e++) {
        same->shares[TABLE_COUNT][e] = share_of_entry(same, e);
        count_in(same, same->shares[TABLE_COUNT][e]);
    }
    same->logged = 0;
}

void fingerprint_check(struct fingerprint *same)
{
    uint64_t sums[FINGERPRINT_PLACES_MAX] = {0};
    const struct rows *rows = &same->run->world.rows;
    bool saturated = same->saturated;
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (uint32_t slot = 0; slot < rows->table[t].capacity; slot++) {
            struct fingerprint_share fresh = share_of_row(same, (enum row_table)t, slot);
            const struct fingerprint_share *share = &same->shares[t][slot];
            CHECK(share->hash == fresh.hash && share->place == fresh.place); /* SA1 */
            sums[share->place] += share->hash;
        }
    }
    for (size_t e = 0; e < entry_count(same); e++) {
        sums[same->shares[TABLE_COUNT][e].place] += same->shares[TABLE_COUNT][e].hash;
    }
    for (uint32_t p = 0; p < FINGERPRINT_PLACES_MAX; p++) {
        CHECK(same->sums[p] == sums[p]); /* SA1 */
    }
    same->saturated = saturated; /* looking changes nothing */
}

/* ---- actors ---------------------------------------------------------------------------------- */

uint64_t fingerprint_mix_message(const struct fingerprint *same, uint64_t hash,
                                 const int64_t *message)
{
    hash = fingerprint_mix_words(hash, message, 1 + MESSAGE_VISIBLE_AT);
    hash =
        fingerprint_mix(hash, (uint64_t)fingerprint_ahead(same, message[1 + MESSAGE_VISIBLE_AT]));
    return fingerprint_mix(hash, (uint64_t)message[1 + MESSAGE_EPOCH]);
}

/* Hashes the memory of an actor, by its protocol's hook or as a consumer's. */
/* An engine that only its protocol knows counts with every byte: states that differ are never taken
 * for one, at the price of equal ones that are told apart by padding or by a time. */
static uint64_t mix_actor(const struct fingerprint *same, uint64_t hash,
                          const struct performer *performer)
{
    const struct actor *one = &performer->actor;
    const struct consumer *consumer = ACTOR_IS(one, consumer);
    if (same->run->part->knows != NULL) {
        return same->run->part->knows(same, hash, one);
    }
    if (performer->role->work == NULL) {
        int64_t words[PROTOCOL_ACTOR_SIZE / sizeof(int64_t)];
        memcpy(words, one->is, sizeof words);
        return fingerprint_mix_words(hash, words, COUNT(words));
    }
    hash = fingerprint_mix(hash, (uint64_t)(consumer->state << 8 | consumer->tries));
    return fingerprint_mix_message(same, hash, consumer->message);
}

/* The memory of a planted bug is never exchanged with that of another actor. */
static uint64_t mix_sabotage(uint64_t hash, const struct performer *performer)
{
    const struct sabotage_memory *memory = &performer->memory;
    hash = fingerprint_mix(hash, (uint64_t)memory->stage << 2 | (uint64_t)memory->has_stale << 1 |
                                     memory->flag);
    hash = fingerprint_mix(hash, (uint64_t)memory->stale);
    return fingerprint_mix_words(hash, memory->held, BUNDLE_VALUES_MAX);
}

bool fingerprint_keeps_nothing(const struct performer *performer)
{
    const struct sabotage_memory *memory = &performer->memory;
    bool blank = memory->stage == 0 && !memory->has_stale && !memory->flag;
    for (int v = 0; v < BUNDLE_VALUES_MAX; v++) {
        blank = blank && memory->held[v] == 0;
    }
    return blank && memory->stale == 0;
}

/* A worker is interchangeable if its role holds messages: no row then names it. */
static bool is_one_of_many(const struct performer *performer)
{
    return performer->role->message != NULL;
}

/* The actor has the result of the work for the claim that it holds. Oracles remember which claims
 * have been worked for; this can matter only through the holder of a claim. */
static bool has_worked(const struct performer *performer)
{
    const int64_t *message = performer->role->message(&performer->actor);
    return performer->done.what != 0 && performer->done.claim == message[0] &&
           performer->done.epoch == message[1 + MESSAGE_EPOCH];
}

static struct fingerprint_share share_of_worker(struct fingerprint *same,
                                                const struct performer *performer)
{
    const struct fingerprint_hooks *hooks = same->run->part->fingerprint;
    struct fingerprint_share share = {.hash = UINT64_C(0x1D1E)};
    bool idle = performer->role->is_idle(&performer->actor);
    if (!idle && hooks != NULL) {
        share = hooks->actor(same, performer);
    } else if (!idle) {
        share.hash = mix_actor(same, performer->actor.role, performer);
    }
    if (!idle && has_worked(performer)) {
        share.hash = fingerprint_mix(share.hash, UINT64_C(0xD0E));
    }
    if (same->run->sabotage != NULL && !fingerprint_keeps_nothing(performer)) {
        share.hash = mix_sabotage(
            fingerprint_mix(share.hash, (uint64_t)performer->role->message(&performer->actor)[0]),
            performer);
    }
    return share;
}

struct fingerprint_share fingerprint_actor(struct fingerprint *same, unsigned actor)
{
    const struct performer *performer = &same->run->actors[actor].performer;
    struct fingerprint_share share = {.hash = UINT64_C(0xAC)};
    bool many = is_one_of_many(performer);
    if (many) {
        share = share_of_worker(same, performer);
    } else if (performer->role->is_done != NULL) {
        share.hash = fingerprint_mix(share.hash, ACTOR_IS(&performer->actor, client)->job);
    } else {
        share.hash = mix_actor(same, share.hash, performer);
    }
    if (!many && same->run->sabotage != NULL && !fingerprint_keeps_nothing(performer)) {
        share.hash = mix_sabotage(share.hash, performer);
    }
    if (!many || (same->reductions & REDUCE_WORKERS) == 0) {
        share.hash = fingerprint_mix(share.hash, actor + 1);
    }
    share.hash = fingerprint_finish(share.hash);
    return share;
}

/* ---- a state --------------------------------------------------------------------------------- */

static uint64_t climb(struct fingerprint *same)
{
    for (uint32_t p = same->place_count - 1; p > 0; p--) {
        uint64_t whole = fingerprint_finish(fingerprint_mix(same->below[p], same->places[p].salt));
        same->below[p] = whole;
        same->below[same->places[p].parent] += whole;
    }
    return same->below[0];
}

uint64_t fingerprint_state(struct fingerprint *same, uint64_t left)
{
    memcpy(same->below, same->sums, same->place_count * sizeof *same->below);
    for (unsigned a = 0; a < same->run->actor_count; a++) {
        struct fingerprint_share share = fingerprint_actor(same, a);
        same->below[share.place] += share.hash;
    }
    return fingerprint_finish(fingerprint_mix(climb(same), left));
}

uint64_t fingerprint_rows(struct fingerprint *same)
{
    memset(same->below, 0, same->place_count * sizeof *same->below);
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (uint32_t slot = 0; slot < same->run->world.rows.table[t].used; slot++) {
            struct fingerprint_share share = share_of_row(same, (enum row_table)t, slot);
            same->below[share.place] += share.hash;
        }
    }
    return fingerprint_finish(climb(same));
}

uint64_t fingerprint_rank(const struct fingerprint *same, struct fingerprint_share actor)
{
    uint64_t rank = actor.hash;
    for (uint32_t p = actor.place; p > 0; p = same->places[p].parent) {
        rank = fingerprint_mix(rank, same->below[p]);
    }
    return rank;
}

/* ---- making ---------------------------------------------------------------------------------- */

bool fingerprint_make(struct fingerprint *same, const struct run *run, unsigned reductions)
{
    memset(same, 0, sizeof *same);
    same->run = run;
    same->reductions = reductions;
    same->place_count = 1;
    size_t cells = run->oracle.ghosts.count;
    bool made = true;
    for (int t = 0; t <= TABLE_COUNT; t++) {
        size_t slots = t < TABLE_COUNT ? run->world.rows.table[t].capacity : entry_count(same);
        same->shares[t] = calloc(slots + 1, sizeof *same->shares[t]);
        made = made && same->shares[t] != NULL;
    }
    same->expected = calloc(cells, sizeof *same->expected);
    same->log_capacity = LOG_MAX;
    same->log = malloc(LOG_MAX * sizeof *same->log);
    made = made && same->expected != NULL && same->log != NULL;
    if (made) {
        memcpy(same->expected, run->ghosts, cells * sizeof *same->expected);
        made = run->part->fingerprint == NULL || run->part->fingerprint->make(same);
    }
    if (!made) {
        fingerprint_free(same);
    }
    return made;
}

void fingerprint_free(struct fingerprint *same)
{
    for (int t = 0; t <= TABLE_COUNT; t++) {
        free(same->shares[t]);
        same->shares[t] = NULL;
    }
    free(same->expected);
    free(same->log);
    free(same->own);
    same->expected = NULL;
    same->log = NULL;
    same->own = NULL;
}

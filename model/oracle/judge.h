/* What the monitors of all protocols share: how they report a breach, count a clause, and remember.
 *
 * Private to model/oracle/. Memory is open-addressed tables of JUDGE_MEMO_CELLS cells an entry in
 * the ghost cells, keyed by id: the first cell is the id, 0 if free; the others are the protocol's.
 */
#ifndef MODEL_ORACLE_JUDGE_H
#define MODEL_ORACLE_JUDGE_H

#include "model/check.h"
#include "model/oracle/oracle.h"

#define JUDGE_MEMORIES_MAX GHOST_MEMORIES_MAX
#define JUDGE_MEMO_CELLS   GHOST_CELLS
#define JUDGE_MEMO_FLAGS   GHOST_FLAGS /* that memory_flag sets bits in */

/* ---- reporting ------------------------------------------------------------------------------- */

struct judge {
    struct oracle *oracle;
    const struct rows *rows;
    size_t base[JUDGE_MEMORIES_MAX]; /* the first cell of each table of the memory */
    size_t mask[JUDGE_MEMORIES_MAX]; /* its number of entries, a power of two, less one */
    struct oracle_verdict verdict;   /* the first breach of a clause that is on (OR2) */
};

/* A judge without a breach; it has no memory yet. */
static inline void judge_begin(struct judge *judge, struct oracle *oracle, const struct rows *rows)
{
    judge->oracle = oracle;
    judge->rows = rows;
    judge->verdict = oracle_fine();
}

/* The antecedent of the clause held. */
static inline void judge_held(struct judge *judge, enum clause_id clause)
{
    judge->oracle->evaluated[clause] += judge->oracle->off[clause] ? 0 : 1;
}

__attribute__((cold)) void judge_breach(struct judge *judge, enum oracle_name who,
                                        enum clause_id clause, enum row_table table, uint32_t slot,
                                        const char *why);

/* The antecedent of the clause held, and this is whether the promise did. */
static inline void judge_that(struct judge *judge, bool holds, enum oracle_name who,
                              enum clause_id clause, enum row_table table, uint32_t slot,
                              const char *why)
{
    judge_held(judge, clause);
    if (!holds) {
        judge_breach(judge, who, clause, table, slot, why);
    }
}

/* Everything has come to an end: the first thing that most protocols' `settled` looks at. */
static inline void judge_quiet(struct judge *judge, bool quiet, enum oracle_name who,
                               enum clause_id clause)
{
    if (!quiet) {
        bool queue = judge->rows->table[TABLE_MESSAGE].used > 0;
        judge_breach(judge, who, clause, TABLE_COUNT, ROW_NONE,
                     queue ? "messages are left in the queue" : "work is left, and does not end");
    }
}

static inline void judge_see(struct judge *judge, enum oracle_cover point)
{
    judge->oracle->seen[point]++;
}

/* A column of the row with this key; 0 if there is no such row. */
static inline int64_t judge_column(const struct rows *rows, enum row_table table, int64_t key,
                                   int column)
{
    uint32_t slot = row_find(rows, table, key);
    return slot == ROW_NONE ? 0 : row_get(rows, table, slot, column);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Gives it memory for `mask` + 1 ids, a power of two, from cell `base` on; returns the first cell
 * after it. */
static inline size_t judge_remember(struct judge *judge, int memory, size_t base, size_t mask)
{
    judge->base[memory] = base;
    judge->mask[memory] = mask;
    return base + (mask + 1) * JUDGE_MEMO_CELLS;
}

/* The first cell after all memories, the last of which is this one. */
static inline size_t judge_cells(const struct judge *judge, int last)
{
    return judge->base[last] + (judge->mask[last] + 1) * JUDGE_MEMO_CELLS;
}

/* The memory that the cell belongs to, up to the last. */
static inline int judge_memory_of(const struct judge *judge, int last, size_t cell)
{
    while (cell < judge->base[last]) {
        last--;
    }
    return last;
}

/* Where the entry of the id is, or would be. */
static inline size_t memory_place(const struct judge *judge, int memory, int64_t id)
{
    const struct ghosts *ghosts = &judge->oracle->ghosts;
    size_t mask = judge->mask[memory];
    size_t at = (size_t)id & mask;
    for (size_t probes = 0;; probes++) {
        CHECK(probes <= mask); /* there are never more ids than rows */
        size_t place = judge->base[memory] + at * JUDGE_MEMO_CELLS;
        int64_t key = ghost_get(ghosts, place);
        if (key == id || key == 0) {
            return place;
        }
        at = (at + 1) & mask;
    }
}

/* 0 of an id that was never seen. */
static inline int64_t memory_get(const struct judge *judge, int memory, int64_t id, int cell)
{
    return ghost_get(&judge->oracle->ghosts, memory_place(judge, memory, id) + (size_t)cell);
}

static inline void memory_set(struct judge *judge, int memory, int64_t id, int cell, int64_t value)
{
    struct ghosts *ghosts = &judge->oracle->ghosts;
    size_t place = memory_place(judge, memory, id);
    bool nobody = id == 0; /* a row that names nobody, which is judged elsewhere */
    if (!nobody && ghost_get(ghosts, place) != id) {
        ghost_set(ghosts, place, id);
    }
    if (!nobody && ghost_get(ghosts, place + (size_t)cell) != value) {
        ghost_set(ghosts, place + (size_t)cell, value);
    }
}

/* Sets flags; says whether all of them were set already. */
static inline bool memory_flag(struct judge *judge, int memory, int64_t id, int64_t flags)
{
    int64_t had = memory_get(judge, memory, id, JUDGE_MEMO_FLAGS);
    memory_set(judge, memory, id, JUDGE_MEMO_FLAGS, had | flags);
    return (had & flags) == flags;
}

/* ---- work outside rows ----------------------------------------------------------------------- */

#define JUDGE_CLAIMS_MAX 62 /* of one message, whose work is told apart */

/* A memory of which claims of a message have been worked for, a bit each; by 1 + its slot, since
 * one that is published again after its ack is claimed from 1 on. To a search they are cover points:
 * what can still be done under a claim is told by who holds it. */
#define JUDGE_CLAIMS_MEMORY                                                                        \
    {                                                                                              \
        .sights = ~INT64_C(0)                                                                      \
    }

/* The next older message with this key and this number of claims, below `end`; ROW_NONE: there is
 * none. Work may go on after another worker's ack. */
static inline uint32_t judge_claim_before(const struct rows *rows, const struct side_effect *effect,
                                          uint32_t end)
{
    for (uint32_t slot = end; slot > 0; slot--) {
        if (row_key(rows, TABLE_MESSAGE, slot - 1) == effect->claim &&
            row_get(rows, TABLE_MESSAGE, slot - 1, MESSAGE_EPOCH) >= effect->epoch) {
            return slot - 1;
        }
    }
    return ROW_NONE;
}

/* The message that the work was done on, the one that is there first. */
static inline uint32_t judge_claim(const struct rows *rows, const struct side_effect *effect)
{
    uint32_t slot = row_find(rows, TABLE_MESSAGE, effect->claim);
    if (effect->epoch < 1) {
        return ROW_NONE;
    }
    bool there =
        slot != ROW_NONE && effect->epoch <= row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH);
    return there ? slot : judge_claim_before(rows, effect, rows->table[TABLE_MESSAGE].used);
}

/* monitors.granted of a protocol whose claims are the queue's. Whether a claim still stands its
 * holder cannot know. */
static inline bool judge_granted(const struct rows *rows, const struct side_effect *effect)
{
    return judge_claim(rows, effect) != ROW_NONE;
}

/* Work was done on a claim of the queue: that there was such a claim, and that it is the first time
 * under this one. Returns the message, ROW_NONE if there was no claim. */
static inline uint32_t judge_claimed(struct judge *judge, int memory,
                                     const struct side_effect *effect, enum clause_id clause)
{
    judge_held(judge, clause);
    uint32_t found = judge_claim(judge->rows, effect), slot = found;
    if (found == ROW_NONE) {
        slot = row_find(judge->rows, TABLE_MESSAGE, effect->claim);
        judge_breach(judge, ORACLE_JOURNAL, clause, slot == ROW_NONE ? TABLE_COUNT : TABLE_MESSAGE,
                     slot, "work was done without a claim");
    }
    while (found != ROW_NONE && effect->epoch <= JUDGE_CLAIMS_MAX && slot != ROW_NONE &&
           memory_flag(judge, memory, (int64_t)slot + 1, INT64_C(1) << effect->epoch)) {
        slot = judge_claim_before(judge->rows, effect, slot);
    }
    if (found != ROW_NONE && slot == ROW_NONE) {
        judge_breach(judge, ORACLE_JOURNAL, clause, TABLE_MESSAGE, found,
                     "work was done twice under one claim");
    }
    return found;
}

#endif

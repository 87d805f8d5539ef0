#include "model/reference/seq_memory.h"

#include "model/check.h"

#include <stdatomic.h>

/* See "usual moves": this stays out of their way, and that becomes part of them. */
#define COLD   __attribute__((noinline, cold))
#define INLINE static inline __attribute__((always_inline))

/* ---- the word: state 3 bits, cancel asked 1, hung 1, attempts 8, owner 19, heartbeat 32 -------
 * A committed seq has no heartbeat; those bits keep the terminal state it was committed from. */
#define WORD_CANCEL     (UINT64_C(1) << 3)
#define WORD_HUNG       (UINT64_C(1) << 4) /* it hangs in the wheel */
#define ATTEMPT_SHIFT   5
#define OWNER_SHIFT     13
#define HEARTBEAT_SHIFT 32

_Static_assert(SEQ_STATES <= 1 << 3, "a state fits in 3 bits");
_Static_assert(SEQ_ATTEMPTS_MAX < 1 << (OWNER_SHIFT - ATTEMPT_SHIFT), "attempts fit");
_Static_assert(SEQ_ACTOR_MAX < UINT64_C(1) << (HEARTBEAT_SHIFT - OWNER_SHIFT), "owners fit");

/* ---- the wheel: a ring of slots, each the head of a list of seqs whose lease may be due ---- */
#define SLOTS    65536U
#define LIST_END 0U /* links are seq + 1, so that zeroed memory is an empty wheel */
_Static_assert(SEQ_CAPACITY_MAX < UINT32_MAX, "a link fits in 32 bits");

/* ---- counters: one stripe for every 64th actor id, each on cache lines of its own ---------- */
#define STRIPES 64U

struct stripe {
    _Alignas(SEQ_ALIGNMENT) _Atomic uint64_t moves[SEQ_MOVES];
    _Atomic uint64_t stale;
    _Atomic uint64_t repeated;
    _Atomic uint64_t examined;
};

enum latch { LATCH_OPEN, LATCH_CLOSING, LATCH_CLOSED };

/* The words of five seqs and their links share a cache line, so that a move at a random place costs
 * one cache miss, also when it takes a lease: 12.8 bytes a seq. */
#define LINE_SEQS 5U

struct line {
    _Alignas(64) _Atomic uint64_t words[LINE_SEQS];
    _Atomic uint32_t links[LINE_SEQS];
};

_Static_assert(sizeof(struct line) == 64, "a line of the ledger is a cache line");

struct seq_memory {
    uint64_t capacity;
    struct seq_policy policy;
    uint32_t slot_shift;      /* a slot is 2^slot_shift ms wide */
    _Atomic uint32_t latch;   /* enum latch */
    struct seq_report report; /* written between CLOSING and CLOSED */
    struct stripe stripes[STRIPES];
    _Alignas(64) _Atomic uint64_t reclaimed_ms;         /* when the wheel was last looked at */
    _Alignas(64) _Atomic uint64_t occupied[SLOTS / 64]; /* a bit a slot: see hang() and visit() */
    _Atomic uint32_t heads[SLOTS];
    struct line lines[];
};

_Static_assert(sizeof(struct stripe) == 128, "a stripe is two cache lines, shared with nobody");
_Static_assert(_Alignof(struct seq_memory) == SEQ_ALIGNMENT, "as the header says");

static uint64_t line_count(uint64_t capacity)
{
    return (capacity + LINE_SEQS - 1) / LINE_SEQS;
}

size_t seq_memory_bytes(uint64_t capacity)
{
    CHECK(capacity >= 1 && capacity <= SEQ_CAPACITY_MAX);
    return sizeof(struct seq_memory) + (size_t)line_count(capacity) * sizeof(struct line);
}

struct seq_memory *seq_memory_init(void *memory, uint64_t capacity, const struct seq_policy *policy)
{
    CHECK((uintptr_t)memory % SEQ_ALIGNMENT == 0);
    CHECK(capacity >= 1 && capacity <= SEQ_CAPACITY_MAX);
    CHECK(policy->lease_ms >= 1 && policy->lease_ms <= SEQ_LEASE_MS_MAX);
    CHECK(policy->retry_budget <= SEQ_ATTEMPTS_MAX);
    struct seq_memory *ledger = memory;
    ledger->capacity = capacity;
    ledger->policy = *policy;
    /* Half the ring holds every deadline from now on, the other half what is due. */
    while ((policy->lease_ms >> ledger->slot_shift) + 2 > SLOTS / 2) {
        ledger->slot_shift++;
    }
    return ledger;
}

/* ---- words --------------------------------------------------------------------------------- */

/* The word that follows another. It goes on hanging in the wheel, if it hung there. */
static uint64_t word_after(uint64_t word, enum seq_state state, uint32_t attempt, uint32_t owner,
                           uint32_t heartbeat)
{
    return (word & WORD_HUNG) | (uint64_t)state | (uint64_t)attempt << ATTEMPT_SHIFT |
           (uint64_t)owner << OWNER_SHIFT | (uint64_t)heartbeat << HEARTBEAT_SHIFT;
}

static enum seq_state word_state(uint64_t word)
{
    return (enum seq_state)(word & 7U);
}

static uint32_t word_attempt(uint64_t word)
{
    return (uint32_t)(word >> ATTEMPT_SHIFT) & SEQ_ATTEMPTS_MAX;
}

static uint32_t word_owner(uint64_t word)
{
    return (uint32_t)(word >> OWNER_SHIFT) & SEQ_ACTOR_MAX;
}

static uint32_t word_heartbeat(uint64_t word)
{
    return (uint32_t)(word >> HEARTBEAT_SHIFT);
}

static bool word_held_by(uint64_t word, struct seq_token token)
{
    return word_state(word) == SEQ_IN_FLIGHT && word_owner(word) == token.owner &&
           word_attempt(word) == token.attempt;
}

static _Atomic uint64_t *word_of(struct seq_memory *ledger, uint64_t seq)
{
    CHECK(seq < ledger->capacity);
    return &ledger->lines[(uint32_t)seq / LINE_SEQS].words[(uint32_t)seq % LINE_SEQS];
}

static _Atomic uint32_t *link_of(struct seq_memory *ledger, uint64_t seq)
{
    return &ledger->lines[(uint32_t)seq / LINE_SEQS].links[(uint32_t)seq % LINE_SEQS];
}

/* The link of the seq whose word is at this place. */
static _Atomic uint32_t *link_beside(_Atomic uint64_t *place)
{
    void *start = (char *)place - (uintptr_t)place % sizeof(struct line);
    struct line *line = start;
    return &line->links[place - line->words];
}

static uint64_t word_load(const struct seq_memory *ledger, uint64_t seq)
{
    CHECK(seq < ledger->capacity);
    return atomic_load(&ledger->lines[seq / LINE_SEQS].words[seq % LINE_SEQS]);
}

static bool swap(_Atomic uint64_t *word, uint64_t *expected, uint64_t desired)
{
    return atomic_compare_exchange_strong(word, expected, desired);
}

/* ---- counters, results, the latch ---------------------------------------------------------- */

static void add(_Atomic uint64_t *counter, uint64_t count)
{
    atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

static void bump(_Atomic uint64_t *counter)
{
    add(counter, 1);
}

static void check_actor(uint32_t actor)
{
    CHECK(actor >= 1 && actor <= SEQ_ACTOR_MAX);
}

static struct stripe *stripe_of(struct seq_memory *ledger, uint32_t actor)
{
    check_actor(actor);
    return &ledger->stripes[actor % STRIPES];
}

static struct seq_result unmoved(enum seq_verdict verdict, uint64_t word)
{
    return (struct seq_result){
        .verdict = verdict, .from = word_state(word), .to = word_state(word)};
}

static struct seq_result stale(struct stripe *stripe, uint64_t word)
{
    bump(&stripe->stale);
    return unmoved(SEQ_STALE, word);
}

/* A swap has succeeded: hand out the event if the chain of attempts ends here. */
static struct seq_result moved_result(enum seq_state from, enum seq_state to)
{
    return (struct seq_result){
        .verdict = SEQ_MOVED, .from = from, .to = to, .event = seq_rules_terminal(to)};
}

static struct seq_result moved(struct stripe *stripe, enum seq_move move, enum seq_state from,
                               enum seq_state to)
{
    bump(&stripe->moves[move]);
    return moved_result(from, to);
}

/* A failed run is a legal 2 -> 5 and, when it is retried, a legal 5 -> 1 with it (E-SEQ-1). */
static struct seq_result moved_by_failing(struct stripe *stripe, bool retry)
{
    if (!retry) {
        return moved(stripe, SEQ_MOVE_FAIL, SEQ_IN_FLIGHT, SEQ_FAIL);
    }
    bump(&stripe->moves[SEQ_MOVE_FAIL]);
    return moved(stripe, SEQ_MOVE_RETRY, SEQ_IN_FLIGHT, SEQ_DISPATCHED);
}

static bool latched(const struct seq_memory *ledger)
{
    return atomic_load_explicit(&ledger->latch, memory_order_acquire) != LATCH_OPEN;
}

static struct seq_result halted(const struct seq_memory *ledger, uint64_t seq)
{
    return unmoved(SEQ_HALTED, word_load(ledger, seq));
}

/* The first illegal move leaves its report; a later one finds the ledger halted. */
static struct seq_result fatal(struct seq_memory *ledger, uint64_t seq, uint64_t word,
                               enum seq_state attempted, uint32_t by, uint64_t wall_ms)
{
    uint32_t open = LATCH_OPEN;
    bool first = atomic_compare_exchange_strong(&ledger->latch, &open, LATCH_CLOSING);
    if (first) {
        ledger->report = (struct seq_report){.seq = seq,
                                             .prior = word_state(word),
                                             .attempted = attempted,
                                             .owner = word_owner(word),
                                             .wall_ms = wall_ms,
                                             .by = by};
        atomic_store_explicit(&ledger->latch, LATCH_CLOSED, memory_order_release);
    }
    return unmoved(first ? SEQ_FATAL : SEQ_HALTED, word);
}

/* ---- the wheel ----------------------------------------------------------------------------- */

static uint32_t slot_of(const struct seq_memory *ledger, uint64_t time_ms)
{
    return (uint32_t)(time_ms >> ledger->slot_shift) % SLOTS;
}

/* The time whose slot a lease hangs in: its deadline. A thread that was held up for long comes with
 * a deadline so old that its slot would soon stand for the future again; then the slot that was
 * looked at last, and will be looked at next, has to do. */
static uint64_t hanging_time(const struct seq_memory *ledger, uint64_t deadline_ms)
{
    uint64_t looked_ms = atomic_load(&ledger->reclaimed_ms);
    bool too_late =
        looked_ms > deadline_ms && (looked_ms - deadline_ms) >> ledger->slot_shift > SLOTS / 4;
    return too_late ? looked_ms : deadline_ms;
}

/* Hangs up a chain of seqs, linked from the last down to the first, whose words have WORD_HUNG and
 * that no list has: only the thread whose swap set the bit, or that took the seq off its list and
 * left the bit set, may do so. A seq that hangs already stays in the slot of an earlier lease; it
 * is looked at in time and hung up anew, so that neither a heartbeat nor a retry costs the wheel
 * anything. The bit of a slot is set after the push here, and cleared before the list is taken in
 * visit(), so that no list is left behind a cleared bit. */
INLINE void hang_chain(struct seq_memory *ledger, _Atomic uint32_t *first_link, uint64_t last,
                       uint64_t heartbeat_ms)
{
    uint64_t deadline_ms = heartbeat_ms + ledger->policy.lease_ms;
    uint32_t slot = slot_of(ledger, hanging_time(ledger, deadline_ms));
    uint32_t head = atomic_load(&ledger->heads[slot]);
    do {
        atomic_store_explicit(first_link, head, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&ledger->heads[slot], &head, (uint32_t)last + 1));
    uint64_t bit = UINT64_C(1) << slot % 64;
    if ((atomic_load(&ledger->occupied[slot / 64]) & bit) == 0) {
        atomic_fetch_or(&ledger->occupied[slot / 64], bit);
    }
}

static void hang(struct seq_memory *ledger, uint64_t seq, uint64_t heartbeat_ms)
{
    hang_chain(ledger, link_of(ledger, seq), seq, heartbeat_ms);
}

/* The full time of a heartbeat, of which a word keeps 32 bits, seen from a nearby `now`. */
static uint64_t heartbeat_time(uint32_t heartbeat_ms, uint64_t now_ms)
{
    return now_ms - (uint64_t)(int64_t)(int32_t)((uint32_t)now_ms - heartbeat_ms);
}

struct reclaim {
    struct seq_memory *ledger;
    struct stripe *stripe;
    struct seq_time now;
    void (*each)(void *context, const struct seq_reclaimed *reclaimed);
    void *context;
    uint64_t count;
};

static void tell(struct reclaim *job, uint64_t seq, uint64_t before, uint64_t after)
{
    bool retry = word_state(after) == SEQ_DISPATCHED;
    struct seq_reclaimed reclaimed = {.seq = seq,
                                      .lost_owner = word_owner(before),
                                      .result = moved_by_failing(job->stripe, retry),
                                      .attempt = word_attempt(after)};
    job->count++;
    job->each(job->context, &reclaimed);
}

/* What becomes of a run whose lease has expired (E-SEQ-1). Its owner is forgotten, so that a late
 * report of it is never taken for a repeated one. */
static uint64_t word_after_expiry(const struct seq_policy *policy, uint64_t word)
{
    uint32_t attempt = word_attempt(word);
    bool retry = seq_rules_retry(policy, SEQ_CLASS_LEASE_EXPIRED, attempt);
    return retry ? word_after(word, SEQ_DISPATCHED, attempt + 1, 0, 0)
                 : word_after(word, SEQ_FAIL, attempt, 0, 0);
}

/* This seq was taken off its list: end its run, hang it up again, or let go of it. Once the ledger
 * is halted nothing of it matters any more (SEQ-20). */
static void lapse(struct reclaim *job, uint64_t seq)
{
    const struct seq_policy *policy = &job->ledger->policy;
    _Atomic uint64_t *place = word_of(job->ledger, seq);
    uint64_t word = atomic_load(place);
    uint64_t next = 0;
    bump(&job->stripe->examined);
    do {
        if (latched(job->ledger)) {
            return;
        }
        next = word;
        if (word_state(word) == SEQ_IN_FLIGHT) {
            uint32_t heartbeat_ms = word_heartbeat(word);
            if (!seq_rules_lease_expired(policy, heartbeat_ms, (uint32_t)job->now.mono_ms)) {
                hang(job->ledger, seq, heartbeat_time(heartbeat_ms, job->now.mono_ms));
                return;
            }
            next = word_after_expiry(policy, word);
        }
    } while (!swap(place, &word, next & ~WORD_HUNG));
    if (word_state(word) == SEQ_IN_FLIGHT) {
        tell(job, seq, word, next);
    }
}

static void visit(struct reclaim *job, uint32_t slot)
{
    struct seq_memory *ledger = job->ledger;
    atomic_fetch_and(&ledger->occupied[slot / 64], ~(UINT64_C(1) << slot % 64));
    uint32_t link = atomic_exchange(&ledger->heads[slot], LIST_END);
    while (link != LIST_END) {
        uint64_t seq = link - 1;
        link = atomic_load_explicit(link_of(ledger, seq), memory_order_relaxed);
        lapse(job, seq);
    }
}

static void visit_range(struct reclaim *job, uint64_t first, uint64_t end)
{
    uint64_t i = first;
    while (i < end) {
        uint32_t slot = (uint32_t)(i % SLOTS);
        uint64_t ahead = atomic_load(&job->ledger->occupied[slot / 64]) >> slot % 64;
        if ((ahead & 1U) != 0) {
            visit(job, slot);
            i++;
        } else {
            i += ahead == 0 ? 64 - slot % 64 : (uint64_t)__builtin_ctzll(ahead);
        }
    }
}

uint64_t seq_memory_reclaim(struct seq_memory *ledger, uint32_t by, struct seq_time now,
                            void (*each)(void *context, const struct seq_reclaimed *reclaimed),
                            void *context)
{
    struct reclaim job = {.ledger = ledger,
                          .stripe = stripe_of(ledger, by),
                          .now = now,
                          .each = each,
                          .context = context};
    if (latched(ledger)) {
        return 0;
    }
    /* Only slots that lie wholly in the past. If nobody has looked for half a turn, or the clock
     * was set, everywhere. That this was looked at is said when it has been, not before. */
    uint64_t last = atomic_load(&ledger->reclaimed_ms);
    uint64_t silent_ms = now.mono_ms > last ? now.mono_ms - last : last - now.mono_ms;
    uint64_t end = (now.mono_ms + 1) >> ledger->slot_shift;
    uint64_t span = (silent_ms >> ledger->slot_shift) + 2 < SLOTS / 2 ? SLOTS / 2 : SLOTS;
    visit_range(&job, end > span ? end - span : 0, end);
    atomic_store(&ledger->reclaimed_ms, now.mono_ms);
    return job.count;
}

/* ---- moves ---------------------------------------------------------------------------------
 * Dispatch, take, succeed and commit, of a seq that goes well, are the usual moves. Each is tried
 * first by itself, as x_usual(): it makes the move or changes nothing, and then x_unusual() decides
 * by the contract, for this as for everything else.
 *
 * At a random place a move costs the cache miss of its word, less what the processor overlaps with
 * the moves to come; it looks a few hundred instructions ahead. So a usual move is short. It
 * compares the word with the usual one and makes the next from its arguments, not from the word,
 * so that little waits for the word to arrive. And it needs few registers: one that is saved for
 * the caller is read back behind the swap, and the caller's next call with it. */

void seq_memory_prefetch(const struct seq_memory *ledger, uint64_t seq)
{
    CHECK(seq < ledger->capacity);
    __builtin_prefetch(&ledger->lines[(uint32_t)seq / LINE_SEQS], 1);
}

/* What a caller without token or expectation may do; the rest needs a lease, the grace period, or
 * belongs to a failing run. */
#define OPEN_TO_ORDERS                                                                             \
    (1U << SEQ_MOVE_DISPATCH | 1U << SEQ_MOVE_CANCEL_EARLY | 1U << SEQ_MOVE_COMMIT_SUCCESS |       \
     1U << SEQ_MOVE_COMMIT_SKIP | 1U << SEQ_MOVE_COMMIT_FAIL | 1U << SEQ_MOVE_COMMIT_CANCEL)

static uint64_t word_after_order(uint64_t word, enum seq_state to)
{
    uint32_t ended_as = to == SEQ_COMMITTED ? (uint32_t)word_state(word) : 0;
    uint32_t owner = to == SEQ_CANCEL ? 0 : word_owner(word);
    return word_after(word, to, word_attempt(word), owner, ended_as);
}

COLD static struct seq_result order_unusual(struct seq_memory *ledger, uint64_t seq,
                                            enum seq_state to, uint32_t by, struct seq_time now)
{
    struct stripe *stripe = stripe_of(ledger, by);
    _Atomic uint64_t *place = word_of(ledger, seq);
    if (latched(ledger)) {
        return halted(ledger, seq);
    }
    uint64_t word = atomic_load(place);
    enum seq_move move = SEQ_MOVE_NONE;
    do {
        move = seq_rules_move(word_state(word), to);
        if ((OPEN_TO_ORDERS >> move & 1U) == 0) {
            return seq_rules_pair(word_state(word), to) == SEQ_PAIR_NOOP
                       ? unmoved(SEQ_UNCHANGED, word)
                       : fatal(ledger, seq, word, to, by, now.wall_ms);
        }
    } while (!swap(place, &word, word_after_order(word, to)));
    return moved(stripe, move, word_state(word), to);
}

/* Nothing but its state is set in the word of an unseen seq; a resting SUCCESS has no heartbeat and
 * no cancel, and COMMITTED has all the bits of a state. */
INLINE bool order_usual(const struct seq_memory *ledger, _Atomic uint64_t *place, enum seq_state to)
{
    if (latched(ledger)) {
        return false;
    }
    uint64_t word = atomic_load(place);
    if (to == SEQ_DISPATCHED) {
        return word == SEQ_UNSEEN && swap(place, &word, SEQ_DISPATCHED);
    }
    return to == SEQ_COMMITTED && word_state(word) == SEQ_SUCCESS &&
           swap(place, &word, word | SEQ_COMMITTED | (uint64_t)SEQ_SUCCESS << HEARTBEAT_SHIFT);
}

struct seq_result seq_memory_order(struct seq_memory *ledger, uint64_t seq, enum seq_state to,
                                   uint32_t by, struct seq_time now)
{
    check_actor(by);
    if (!order_usual(ledger, word_of(ledger, seq), to)) {
        return order_unusual(ledger, seq, to, by, now);
    }
    if (to == SEQ_DISPATCHED) {
        return moved(stripe_of(ledger, by), SEQ_MOVE_DISPATCH, SEQ_UNSEEN, SEQ_DISPATCHED);
    }
    return moved(stripe_of(ledger, by), SEQ_MOVE_COMMIT_SUCCESS, SEQ_SUCCESS, SEQ_COMMITTED);
}

COLD static struct seq_result take_unusual(struct seq_memory *ledger, uint64_t seq,
                                           uint32_t attempt, uint32_t owner, struct seq_time now,
                                           struct seq_token *token)
{
    struct stripe *stripe = stripe_of(ledger, owner);
    _Atomic uint64_t *place = word_of(ledger, seq);
    if (latched(ledger)) {
        return halted(ledger, seq);
    }
    uint64_t word = atomic_load(place);
    uint64_t next = 0;
    do {
        if (word_state(word) == SEQ_UNSEEN) { /* nobody can have told the caller to */
            return fatal(ledger, seq, word, SEQ_IN_FLIGHT, owner, now.wall_ms);
        }
        if (word_state(word) != SEQ_DISPATCHED || word_attempt(word) != attempt) {
            return stale(stripe, word);
        }
        next = word_after(word, SEQ_IN_FLIGHT, attempt, owner, (uint32_t)now.mono_ms) | WORD_HUNG;
    } while (!swap(place, &word, next));
    if ((word & WORD_HUNG) == 0) {
        hang(ledger, seq, now.mono_ms);
    }
    *token = (struct seq_token){.seq = seq, .owner = owner, .attempt = attempt};
    return moved(stripe, SEQ_MOVE_TAKE, SEQ_DISPATCHED, SEQ_IN_FLIGHT);
}

/* The first run of a seq: DISPATCHED, and nothing else is set in its word. The caller hangs it up.
 */
INLINE bool take_usual(const struct seq_memory *ledger, _Atomic uint64_t *place, uint32_t attempt,
                       uint32_t owner, uint64_t now_ms)
{
    if (latched(ledger) || attempt != 0) {
        return false;
    }
    uint64_t word = atomic_load(place);
    return word == SEQ_DISPATCHED &&
           swap(place, &word, word_after(WORD_HUNG, SEQ_IN_FLIGHT, 0, owner, (uint32_t)now_ms));
}

struct seq_result seq_memory_take(struct seq_memory *ledger, uint64_t seq, uint32_t attempt,
                                  uint32_t owner, struct seq_time now, struct seq_token *token)
{
    check_actor(owner);
    _Atomic uint64_t *place = word_of(ledger, seq);
    if (!take_usual(ledger, place, attempt, owner, now.mono_ms)) {
        return take_unusual(ledger, seq, attempt, owner, now, token);
    }
    *token = (struct seq_token){.seq = seq, .owner = owner};
    bump(&stripe_of(ledger, owner)->moves[SEQ_MOVE_TAKE]);
    hang_chain(ledger, link_beside(place), seq, now.mono_ms);
    return moved_result(SEQ_DISPATCHED, SEQ_IN_FLIGHT);
}

struct seq_result seq_memory_heartbeat(struct seq_memory *ledger, struct seq_token token,
                                       struct seq_time now)
{
    struct stripe *stripe = stripe_of(ledger, token.owner);
    _Atomic uint64_t *place = word_of(ledger, token.seq);
    if (latched(ledger)) {
        return halted(ledger, token.seq);
    }
    uint64_t word = atomic_load(place);
    uint64_t next = 0;
    do {
        if (!word_held_by(word, token)) {
            return stale(stripe, word);
        }
        uint32_t forward_ms = (uint32_t)now.mono_ms - word_heartbeat(word);
        bool goes_back = forward_ms > UINT32_MAX / 2; /* SEQ-19 */
        next = goes_back ? word : word + ((uint64_t)forward_ms << HEARTBEAT_SHIFT);
    } while (!swap(place, &word, next));
    struct seq_result result = unmoved(SEQ_MOVED, word);
    result.cancel_asked = (word & WORD_CANCEL) != 0;
    return result;
}

/* Was this token's report of `to` applied before? A resting terminal state keeps the owner whose
 * report made it; so does a seq that this owner's failure sent back, until it is taken again. */
static bool applied_before(uint64_t word, struct seq_token token, enum seq_state to)
{
    if (word_owner(word) != token.owner) {
        return false;
    }
    if (word_state(word) == SEQ_DISPATCHED) {
        return word_attempt(word) == token.attempt + 1 && to == SEQ_FAIL;
    }
    enum seq_state ended_as =
        word_state(word) == SEQ_COMMITTED ? (enum seq_state)word_heartbeat(word) : word_state(word);
    return word_attempt(word) == token.attempt && ended_as == to;
}

static struct seq_result repeated_or_stale(struct stripe *stripe, uint64_t word,
                                           struct seq_token token, enum seq_state to)
{
    if (!applied_before(word, token, to)) {
        return stale(stripe, word);
    }
    bump(&stripe->repeated);
    return unmoved(SEQ_REPEATED, word);
}

COLD static struct seq_result finish_unusual(struct seq_memory *ledger, struct seq_token token,
                                             enum seq_state to, uint32_t fail_class,
                                             uint64_t wall_ms)
{
    struct stripe *stripe = stripe_of(ledger, token.owner);
    _Atomic uint64_t *place = word_of(ledger, token.seq);
    if (latched(ledger)) {
        return halted(ledger, token.seq);
    }
    bool retry = to == SEQ_FAIL && seq_rules_retry(&ledger->policy, fail_class, token.attempt);
    enum seq_state state = retry ? SEQ_DISPATCHED : to;
    uint32_t attempt = token.attempt + (retry ? 1 : 0);
    uint64_t word = atomic_load(place);
    do {
        if (!word_held_by(word, token)) {
            return repeated_or_stale(stripe, word, token, to);
        }
        if (to != SEQ_SUCCESS && to != SEQ_SKIP && to != SEQ_FAIL) {
            return fatal(ledger, token.seq, word, to, token.owner, wall_ms); /* E-SEQ-3 */
        }
    } while (!swap(place, &word, word_after(word, state, attempt, token.owner, 0)));
    return to == SEQ_FAIL ? moved_by_failing(stripe, retry)
                          : moved(stripe, seq_rules_move(SEQ_IN_FLIGHT, to), SEQ_IN_FLIGHT, to);
}

/* SUCCESS of a first run that holds its lease (so it hangs in the wheel: SL4) and that nobody has
 * asked to end. */
INLINE bool finish_usual(const struct seq_memory *ledger, _Atomic uint64_t *place,
                         struct seq_token token, enum seq_state to)
{
    if (latched(ledger) || token.attempt != 0 || to != SEQ_SUCCESS) {
        return false;
    }
    uint32_t held = (uint32_t)word_after(WORD_HUNG, SEQ_IN_FLIGHT, 0, token.owner, 0);
    uint64_t word = atomic_load(place);
    return (uint32_t)word == held && swap(place, &word, held + (SEQ_SUCCESS - SEQ_IN_FLIGHT));
}

struct seq_result seq_memory_finish(struct seq_memory *ledger, struct seq_token token,
                                    enum seq_state to, uint32_t fail_class, struct seq_time now)
{
    check_actor(token.owner);
    if (!finish_usual(ledger, word_of(ledger, token.seq), token, to)) {
        return finish_unusual(ledger, token, to, fail_class, now.wall_ms);
    }
    return moved(stripe_of(ledger, token.owner), SEQ_MOVE_SUCCEED, SEQ_IN_FLIGHT, SEQ_SUCCESS);
}

struct seq_result seq_memory_cancel(struct seq_memory *ledger, uint64_t seq,
                                    struct seq_view expected, uint32_t by, struct seq_time now,
                                    struct seq_cancellation *asked)
{
    struct stripe *stripe = stripe_of(ledger, by);
    _Atomic uint64_t *place = word_of(ledger, seq);
    if (latched(ledger)) {
        return halted(ledger, seq);
    }
    uint64_t word = atomic_load(place);
    uint64_t next = 0;
    do {
        if (word_state(word) != expected.state || word_attempt(word) != expected.attempt) {
            return stale(stripe, word); /* E-SEQ-8 */
        }
        if (seq_rules_move(expected.state, SEQ_CANCEL) == SEQ_MOVE_NONE) {
            return fatal(ledger, seq, word, SEQ_CANCEL, by, now.wall_ms);
        }
        next = expected.state == SEQ_IN_FLIGHT
                   ? word | WORD_CANCEL
                   : word_after(word, SEQ_CANCEL, expected.attempt, 0, 0);
    } while (!swap(place, &word, next));
    if (expected.state != SEQ_IN_FLIGHT) {
        return moved(stripe, SEQ_MOVE_CANCEL_EARLY, SEQ_DISPATCHED, SEQ_CANCEL);
    }
    struct seq_token run = {.seq = seq, .owner = word_owner(word), .attempt = expected.attempt};
    *asked = (struct seq_cancellation){.run = run, .asked_ms = now.mono_ms};
    return unmoved(SEQ_ASKED, word);
}

struct seq_result seq_memory_cancel_force(struct seq_memory *ledger, struct seq_cancellation asked,
                                          uint32_t by, struct seq_time now)
{
    struct stripe *stripe = stripe_of(ledger, by);
    _Atomic uint64_t *place = word_of(ledger, asked.run.seq);
    if (latched(ledger)) {
        return halted(ledger, asked.run.seq);
    }
    uint64_t word = atomic_load(place);
    do {
        if (!word_held_by(word, asked.run) || (word & WORD_CANCEL) == 0) {
            return stale(stripe, word);
        }
        if (!seq_rules_grace_over(&ledger->policy, asked.asked_ms, now.mono_ms)) {
            return unmoved(SEQ_TOO_SOON, word);
        }
    } while (!swap(place, &word, word_after(word, SEQ_CANCEL, asked.run.attempt, 0, 0)));
    return moved(stripe, SEQ_MOVE_CANCEL_FORCED, SEQ_IN_FLIGHT, SEQ_CANCEL);
}

/* ---- many moves ----------------------------------------------------------------------------
 * Usual moves are counted and hung up when all have been made; the others look after themselves. */

#define HINT_AHEAD 16U /* moves between a hint and the move it is for */

uint64_t seq_memory_order_many(struct seq_memory *ledger, const uint64_t *seqs, size_t count,
                               enum seq_state to, uint32_t by, struct seq_time now,
                               struct seq_result *results)
{
    struct stripe *stripe = stripe_of(ledger, by);
    bool dispatch = to == SEQ_DISPATCHED;
    struct seq_result usual_result = moved_result(dispatch ? SEQ_UNSEEN : SEQ_SUCCESS, to);
    uint64_t usual = 0;
    uint64_t unusual = 0;
    for (size_t i = 0; i < count && i < HINT_AHEAD; i++) {
        seq_memory_prefetch(ledger, seqs[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (i + HINT_AHEAD < count) {
            seq_memory_prefetch(ledger, seqs[i + HINT_AHEAD]);
        }
        if (order_usual(ledger, word_of(ledger, seqs[i]), to)) {
            results[i] = usual_result;
            usual++;
        } else {
            results[i] = order_unusual(ledger, seqs[i], to, by, now);
            unusual += results[i].verdict == SEQ_MOVED;
        }
    }
    add(&stripe->moves[dispatch ? SEQ_MOVE_DISPATCH : SEQ_MOVE_COMMIT_SUCCESS], usual);
    return usual + unusual;
}

uint64_t seq_memory_take_many(struct seq_memory *ledger, struct seq_token *runs, size_t count,
                              uint32_t owner, struct seq_time now, struct seq_result *results)
{
    struct stripe *stripe = stripe_of(ledger, owner);
    struct seq_result usual_result = moved_result(SEQ_DISPATCHED, SEQ_IN_FLIGHT);
    uint64_t usual = 0;
    uint64_t unusual = 0;
    _Atomic uint32_t *first_link = NULL; /* of the chain that is hung up in the end */
    uint32_t last = LIST_END;
    for (size_t i = 0; i < count && i < HINT_AHEAD; i++) {
        seq_memory_prefetch(ledger, runs[i].seq);
    }
    for (size_t i = 0; i < count; i++) {
        if (i + HINT_AHEAD < count) {
            seq_memory_prefetch(ledger, runs[i + HINT_AHEAD].seq);
        }
        uint64_t seq = runs[i].seq;
        _Atomic uint64_t *place = word_of(ledger, seq);
        if (take_usual(ledger, place, runs[i].attempt, owner, now.mono_ms)) {
            atomic_store_explicit(link_beside(place), last, memory_order_relaxed);
            first_link = last == LIST_END ? link_beside(place) : first_link;
            last = (uint32_t)seq + 1;
            runs[i].owner = owner;
            results[i] = usual_result;
            usual++;
        } else {
            results[i] = take_unusual(ledger, seq, runs[i].attempt, owner, now, &runs[i]);
            unusual += results[i].verdict == SEQ_MOVED;
        }
    }
    if (usual > 0) {
        hang_chain(ledger, first_link, last - 1, now.mono_ms);
    }
    add(&stripe->moves[SEQ_MOVE_TAKE], usual);
    return usual + unusual;
}

uint64_t seq_memory_finish_many(struct seq_memory *ledger, const struct seq_token *runs,
                                size_t count, enum seq_state to, uint32_t fail_class,
                                struct seq_time now, struct seq_result *results)
{
    struct seq_result usual_result = moved_result(SEQ_IN_FLIGHT, SEQ_SUCCESS);
    uint64_t usual = 0;
    uint64_t unusual = 0;
    for (size_t i = 0; i < count && i < HINT_AHEAD; i++) {
        seq_memory_prefetch(ledger, runs[i].seq);
    }
    for (size_t i = 0; i < count; i++) {
        if (i + HINT_AHEAD < count) {
            seq_memory_prefetch(ledger, runs[i + HINT_AHEAD].seq);
        }
        check_actor(runs[i].owner);
        if (finish_usual(ledger, word_of(ledger, runs[i].seq), runs[i], to)) {
            results[i] = usual_result;
            usual++;
        } else {
            results[i] = finish_unusual(ledger, runs[i], to, fail_class, now.wall_ms);
            unusual += results[i].verdict == SEQ_MOVED;
        }
    }
    if (usual > 0) { /* any stripe will do */
        add(&stripe_of(ledger, runs[0].owner)->moves[SEQ_MOVE_SUCCEED], usual);
    }
    return usual + unusual;
}

/* ---- reading ------------------------------------------------------------------------------- */

uint64_t seq_memory_capacity(const struct seq_memory *ledger)
{
    return ledger->capacity;
}

struct seq_view seq_memory_read(const struct seq_memory *ledger, uint64_t seq)
{
    uint64_t word = word_load(ledger, seq);
    bool in_flight = word_state(word) == SEQ_IN_FLIGHT;
    bool committed = word_state(word) == SEQ_COMMITTED;
    return (struct seq_view){
        .state = word_state(word),
        .ended_as = committed ? (enum seq_state)word_heartbeat(word) : word_state(word),
        .attempt = word_attempt(word),
        .owner = word_owner(word),
        .heartbeat_ms = in_flight ? word_heartbeat(word) : 0,
        .cancel_asked = (word & WORD_CANCEL) != 0,
    };
}

static void add_stripe(struct seq_counts *counts, const struct stripe *stripe)
{
    for (int move = 0; move < SEQ_MOVES; move++) {
        counts->moves[move] += atomic_load_explicit(&stripe->moves[move], memory_order_relaxed);
    }
    counts->stale += atomic_load_explicit(&stripe->stale, memory_order_relaxed);
    counts->repeated += atomic_load_explicit(&stripe->repeated, memory_order_relaxed);
    counts->examined += atomic_load_explicit(&stripe->examined, memory_order_relaxed);
}

/* What came in less what went out. While others move seqs, a departure may be seen before the
 * arrival that it belongs to. */
static uint64_t less(uint64_t in, uint64_t out)
{
    return in > out ? in - out : 0;
}

/* Occupancy follows from the moves made (E-SEQ-4). A stripe needs one addition a move instead of
 * two, and the moves are worth knowing by themselves. */
struct seq_counts seq_memory_count(const struct seq_memory *ledger)
{
    struct seq_counts counts = {0};
    for (uint32_t i = 0; i < STRIPES; i++) {
        add_stripe(&counts, &ledger->stripes[i]);
    }
    uint64_t in[SEQ_STATES] = {[SEQ_UNSEEN] = ledger->capacity};
    uint64_t out[SEQ_STATES] = {0};
    for (int pair = 0; pair < SEQ_STATES * SEQ_STATES; pair++) {
        enum seq_state from = (enum seq_state)(pair / SEQ_STATES);
        enum seq_state to = (enum seq_state)(pair % SEQ_STATES);
        uint64_t made = counts.moves[seq_rules_move(from, to)];
        out[from] += made;
        in[to] += made;
    }
    uint64_t ended = in[SEQ_SUCCESS] + in[SEQ_SKIP] + in[SEQ_FAIL] + in[SEQ_CANCEL];
    uint64_t left = out[SEQ_SUCCESS] + out[SEQ_SKIP] + out[SEQ_FAIL] + out[SEQ_CANCEL];
    counts.unseen = less(in[SEQ_UNSEEN], out[SEQ_UNSEEN]);
    counts.dispatched = less(in[SEQ_DISPATCHED], out[SEQ_DISPATCHED]);
    counts.in_flight = less(in[SEQ_IN_FLIGHT], out[SEQ_IN_FLIGHT]);
    counts.terminal = less(ended, left);
    counts.committed = in[SEQ_COMMITTED];
    counts.events =
        less(ended, counts.moves[SEQ_MOVE_RETRY]); /* a retried fail has none: E-SEQ-2 */
    return counts;
}

bool seq_memory_halted(const struct seq_memory *ledger, struct seq_report *report)
{
    uint32_t latch = LATCH_CLOSING;
    while (latch == LATCH_CLOSING) { /* the report is being written: a few stores */
        latch = atomic_load_explicit(&ledger->latch, memory_order_acquire);
    }
    if (latch == LATCH_CLOSED) {
        *report = ledger->report;
    }
    return latch == LATCH_CLOSED;
}

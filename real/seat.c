#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "real/seat.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

struct seat_page *seat_page_make(void)
{
    void *page = mmap(NULL, sizeof(struct seat_page), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

void seat_page_free(struct seat_page *page)
{
    if (page != NULL) {
        (void)munmap(page, sizeof *page);
    }
}

void seat_page_begin(struct seat_page *page, const struct rules *rules)
{
    memset(page, 0, offsetof(struct seat_page, cuts));
    page->ack_count = 0;
    for (unsigned a = 0; a < rules->actors; a++) {
        page->seats[a].actor_now = -1;
        page->seats[a].snare = -1;
        page->seats[a].moment = SEAT_AT_REST;
        page->clients_left += protocol_role(rules, a)->is_done != NULL;
    }
}

/* ---- the actor ------------------------------------------------------------------------------- */

void seat_take_place(struct seat *seat, struct performer *performer, const struct rules *rules,
                     unsigned number)
{
    performer_begin(performer, rules, number);
    if (seat->actor_now >= 0) {
        performer->actor = seat->actor[seat->actor_now];
        performer_restart(performer, rules, number);
    }
    seat->moment = SEAT_AT_REST;
    seat->holds = false;
    seat->backend = 0;
    seat->snare = -1;
    seat_keep(seat, &performer->actor);
}

void seat_keep(struct seat *seat, const struct actor *actor)
{
    int other = seat->actor_now == 0;
    seat->actor[other] = *actor;
    seat->actor_now = other;
}

/* ---- snares ---------------------------------------------------------------------------------- */

static bool changes_rows(const struct op *op)
{
    return op->kind == OP_ADD || op->kind == OP_SET || op->kind == OP_DELETE;
}

/* The last table that the bundle changes rows of, and whether it is not the only one. */
static int last_table(const struct bundle *bundle, bool *several)
{
    int last = -1;
    *several = false;
    for (uint8_t i = 0; i < bundle->count; i++) {
        uint8_t number = bundle->calls[i].primitive; /* one that was altered is left out */
        const struct primitive *primitive = &primitive_table[number < PRIMITIVE_COUNT ? number : 0];
        for (uint8_t o = 0; number < PRIMITIVE_COUNT && o < primitive->op_count; o++) {
            if (changes_rows(&primitive->ops[o])) {
                *several = *several || (last >= 0 && last != primitive->ops[o].table);
                last = primitive->ops[o].table;
            }
        }
    }
    return last;
}

/* What a snare is compared with. */
struct place {
    struct seat_page *page;
    struct seat *seat;
    const struct bundle *bundle;
    bool several; /* it changes rows of more than one table */
    bool cut;     /* its answer was lost on purpose */
};

static bool fits(const struct place *place, const struct seat_snare *snare)
{
    return snare->state == SEAT_SNARE_SET && snare->from <= place->page->progress &&
           (snare->bundle == SEAT_ANY || snare->bundle == place->bundle->name) &&
           (!snare->serializable ||
            (place->bundle->isolation == SERIALIZABLE && place->seat->last_table >= 0)) &&
           (!snare->writes_twice || place->several);
}

static bool is_held(const struct place *place, const struct seat_snare *snare)
{
    return !snare->held || place->seat->holds || snare->moment == SEAT_BEFORE_COMMIT ||
           snare->moment == SEAT_SENT;
}

/* Springs one that is set for this moment; NULL: none is. */
static struct seat_snare *spring(const struct place *place, enum seat_act act,
                                 enum seat_moment moment)
{
    for (int i = 0; i < SEAT_SNARES; i++) {
        struct seat_snare *snare = &place->page->snares[i];
        int set = SEAT_SNARE_SET;
        if (fits(place, snare) && snare->act == act &&
            (act != SEAT_STOPS || (snare->moment == moment && is_held(place, snare))) &&
            atomic_compare_exchange_strong(&snare->state, &set, SEAT_SNARE_SPRUNG)) { /* SE1 */
            place->seat->snare = act == SEAT_STOPS ? i : -1;
            return snare;
        }
    }
    return NULL;
}

/* Whether anything may befall it between its statements and its answer. */
static bool is_awaited_inside(const struct place *place)
{
    for (int i = 0; i < SEAT_SNARES; i++) {
        const struct seat_snare *snare = &place->page->snares[i];
        bool inside = snare->moment == SEAT_SENT || snare->moment == SEAT_BEFORE_COMMIT;
        bool cuts = snare->act == SEAT_CUTS_EARLY || snare->act == SEAT_CUTS_LATE;
        if (fits(place, snare) && (cuts || (snare->act == SEAT_STOPS && inside))) {
            return true;
        }
    }
    return false;
}

static void pass(const struct place *place, enum seat_moment moment)
{
    place->seat->moment = (int)moment;
    if (spring(place, SEAT_STOPS, moment) != NULL) {
        raise(SIGSTOP); /* whoever watches takes the snare back */
    }
}

bool seat_is_to_answer_otherwise(struct seat_page *page, unsigned number,
                                 const struct bundle *bundle)
{
    struct place place = {.page = page, .seat = &page->seats[number], .bundle = bundle};
    return spring(&place, SEAT_ANSWERS, SEAT_BEFORE_BEGIN) != NULL;
}

/* ---- a transaction --------------------------------------------------------------------------- */

static void note_cut(const struct place *place, const struct store_pg *store, enum seat_act how)
{
    unsigned at = atomic_fetch_add(&place->page->cut_count, 1);
    if (at < SEAT_CUTS_MAX) {
        place->page->cuts[at] = (struct seat_cut){
            .mark = store_pg_mark(store), .bundle = place->bundle->name, .how = (uint8_t)how};
    }
}

/* The answer to COMMIT will not be heard. */
static void cut(struct place *place, struct store_pg *store, enum seat_act how)
{
    note_cut(place, store, how);
    place->cut = true;
    if (how == SEAT_CUTS_EARLY) {
        store_pg_break(store);
        store_pg_send_commit(store);
    } else {
        store_pg_send_commit(store);
        store_pg_break(store);
    }
    store_pg_cut(store);
}

/* A transaction that changed nothing has no fate that could be lost. */
static enum seat_act cut_awaited(const struct place *place, const struct store_pg *store)
{
    if (store_pg_mark(store).change == 0) {
        return SEAT_STOPS;
    }
    return spring(place, SEAT_CUTS_EARLY, SEAT_SENT) != NULL  ? SEAT_CUTS_EARLY
           : spring(place, SEAT_CUTS_LATE, SEAT_SENT) != NULL ? SEAT_CUTS_LATE
                                                              : SEAT_STOPS;
}

/* COMMIT goes apart from the statements. */
static void send_in_parts(struct place *place, struct store_pg *store, int64_t now)
{
    bool open = store_pg_send_open(store, place->bundle, now);
    place->seat->backend = store_pg_backend(store);
    if (!open) {
        store_pg_send_commit(store);
        return;
    }
    pass(place, SEAT_BEFORE_COMMIT);
    enum seat_act how = cut_awaited(place, store);
    if (how != SEAT_STOPS) {
        cut(place, store, how);
        return;
    }
    store_pg_send_commit(store);
    pass(place, SEAT_SENT);
}

/* A principal with few connections is turned away in fine weather, too: no fault. */
static void note_abort(const struct place *place, const struct outcome *outcome)
{
    bool crowded = outcome->kind == OUTCOME_ABORTED && outcome->aborted == ABORT_CONNECTIONS;
    if (crowded && place->bundle->principal != PRINCIPAL_NONE && !place->page->crowd) {
        place->page->turned_away++;
    } else if (outcome->kind == OUTCOME_ABORTED &&
               (!crowded || (place->seat->holds && !place->seat->crowded))) {
        place->seat->aborted[outcome->aborted]++;
    }
    place->seat->crowded = crowded;
}

static void note_outcome(const struct place *place, const struct store_pg *store,
                         const struct outcome *outcome)
{
    struct store_pg_mark mark = store_pg_mark(store);
    if (outcome->kind == OUTCOME_COMMITTED && mark.change != 0) { /* SE3 */
        unsigned long at = atomic_fetch_add(&place->page->ack_count, 1);
        if (at < SEAT_ACKS_MAX) {
            place->page->acks[at] = mark;
        }
    }
    note_abort(place, outcome);
    if (outcome->kind == OUTCOME_UNKNOWN && !place->cut && mark.change != 0) {
        note_cut(place, store, SEAT_STOPS);
    }
    place->seat->transactions++;
}

bool seat_execute(struct seat_page *page, unsigned number, struct store_pg *store,
                  const struct bundle *bundle, int64_t now, struct outcome *outcome)
{
    struct place place = {.page = page, .seat = &page->seats[number], .bundle = bundle};
    place.seat->bundle = bundle->name;
    place.seat->last_table = last_table(bundle, &place.several);
    pass(&place, SEAT_BEFORE_BEGIN);
    if (is_awaited_inside(&place)) {
        send_in_parts(&place, store, now);
    } else {
        store_pg_send(store, bundle, now);
        place.seat->moment = SEAT_SENT;
    }
    bool told = store_pg_receive(store, outcome);
    place.seat->backend = store_pg_backend(store);
    if (told) {
        note_outcome(&place, store, outcome);
        if (outcome->kind == OUTCOME_COMMITTED) {
            pass(&place, SEAT_AFTER_COMMIT); /* SE2 */
        }
    }
    place.seat->moment = SEAT_AT_REST;
    return told;
}

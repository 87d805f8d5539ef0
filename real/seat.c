#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "real/seat.h"

#include "real/part.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
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
    size_t works = page->work_count < SEAT_WORKS_MAX ? page->work_count : SEAT_WORKS_MAX;
    memset(page->works, 0, works * sizeof *page->works);
    page->work_count = 0;
    page->resolved = part_resolved(rules->protocol);
    page->vague = part_is_vague(rules->protocol);
    for (unsigned a = 0; a < rules->actors; a++) {
        page->seats[a].actor_now = -1;
        page->seats[a].snare = -1;
        page->seats[a].moment = SEAT_AT_REST;
        page->clients_left += protocol_role(rules, a)->is_done != NULL;
    }
}

void seat_page_disturb(struct seat_page *page, int64_t transaction)
{
    if (transaction != 0) {
        unsigned long at = atomic_fetch_add(&page->disturbance_count, 1);
        CHECK(at < SEAT_DISTURBANCES_MAX);
        page->disturbances[at] = transaction;
    }
}

bool seat_page_is_disturbance(const struct seat_page *page, int64_t transaction)
{
    for (unsigned long i = 0; i < page->disturbance_count; i++) {
        if (page->disturbances[i] == transaction) {
            return true;
        }
    }
    return false;
}

void seat_page_move(struct seat_page *page, const char *dsn)
{
    size_t length = strlen(dsn);
    CHECK(length < SEAT_DSN_SIZE);
    unsigned changes = page->dsn_changes;
    memcpy(page->dsn[(changes + 1) % 2], dsn, length + 1);
    page->dsn_changes = changes + 1;
}

const char *seat_page_dsn(const struct seat_page *page)
{
    unsigned changes = page->dsn_changes;
    return changes == 0 ? NULL : page->dsn[changes % 2];
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
    seat->struck = SEAT_UNHARMED;
    seat->spared = 0;
    seat->claimer = 0;
    seat->broken_off = 0;
    seat->kept_off = 0;
    seat->doubt = 0;
    if (seat->sending != 0) {
        seat->unheard[seat->unheard_count++ % SEAT_DEATHS] = seat->sending;
        seat->sending = 0;
    }
    seat_keep(seat, &performer->actor);
}

void seat_keep(struct seat *seat, const struct actor *actor)
{
    int other = seat->actor_now == 0;
    seat->actor[other] = *actor;
    seat->actor_now = other;
}

void seat_work(struct seat_page *page, const struct side_effect *effect)
{
    unsigned long at = atomic_fetch_add(&page->work_count, 1);
    if (at < SEAT_WORKS_MAX) {
        page->works[at].claim = effect->claim;
        page->works[at].epoch = effect->epoch;
        page->works[at].what = effect->what;
    }
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
           (!snare->writes_twice || place->several) &&
           (!snare->claims || bundle_claims(place->bundle));
}

static bool publishes(const struct bundle *bundle)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_PUBLISH) {
            return true;
        }
    }
    return false;
}

/* What may happen to somebody that is spared something. */
static bool may_meet(const struct place *place, const struct seat_snare *snare)
{
    int spared = place->seat->spared;
    bool cuts = snare->act == SEAT_CUTS_EARLY || snare->act == SEAT_CUTS_LATE;
    return (!snare->kills || (spared & SEAT_SPARED_DEATH) == 0) &&
           (!cuts || (spared & SEAT_SPARED_DOUBT) == 0) &&
           (snare->act != SEAT_DELAYS ||
            (publishes(place->bundle) && place->bundle->principal == PRINCIPAL_NONE));
}

bool seat_is_hit(const struct seat *seat)
{
    return seat->holds || seat->moment == SEAT_BEFORE_COMMIT || seat->moment == SEAT_SENT ||
           seat->moment == SEAT_AFTER_COMMIT;
}

static bool is_held(const struct place *place, const struct seat_snare *snare)
{
    return (!snare->held || seat_is_hit(place->seat)) && (!snare->claimed || place->seat->holds);
}

/* Springs one that is set for this moment; NULL: none is. */
static struct seat_snare *spring(const struct place *place, enum seat_act act,
                                 enum seat_moment moment)
{
    for (int i = 0; i < SEAT_SNARES; i++) {
        struct seat_snare *snare = &place->page->snares[i];
        int set = SEAT_SNARE_SET;
        if (fits(place, snare) && snare->act == act && may_meet(place, snare) &&
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
        bool asks = cuts || snare->act == SEAT_DELAYS;
        if (fits(place, snare) && (asks || (snare->act == SEAT_STOPS && inside))) {
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
    bool sprung = spring(&place, SEAT_ANSWERS, SEAT_BEFORE_BEGIN) != NULL;
    page->answered += sprung;
    return sprung;
}

bool seat_is_awaited(const struct seat_page *page, enum seat_act act)
{
    for (int i = 0; i < SEAT_SNARES; i++) {
        const struct seat_snare *snare = &page->snares[i];
        if (snare->state == SEAT_SNARE_SET && snare->act == act && snare->from <= page->progress) {
            return true;
        }
    }
    return false;
}

bool seat_is_to_err(struct seat_page *page, unsigned number, uint32_t *amount)
{
    struct bundle any = {0}; /* it is not known yet what it attempts */
    struct place place = {.page = page, .seat = &page->seats[number], .bundle = &any};
    const struct seat_snare *snare = spring(&place, SEAT_ERRS, SEAT_BEFORE_BEGIN);
    *amount = snare == NULL ? 0 : snare->amount;
    return snare != NULL;
}

/* ---- messages that are hidden ---------------------------------------------------------------- */

/* What this transaction has published, and nobody has seen yet. */
static void delay(const struct place *place, struct store_pg *store, int64_t now)
{
    char text[300];
    const char *schema = store_pg_schema(store);
    const struct seat_snare *snare = spring(place, SEAT_DELAYS, SEAT_BEFORE_COMMIT);
    if (snare == NULL) {
        return;
    }
    int64_t until = now + snare->amount;
    snprintf(text, sizeof text,
             "UPDATE %s.message SET visible_at = %" PRId64 " WHERE epoch = 0 AND visible_at <= "
             "%" PRId64 " AND xmin::text::bigint = (txid_current() & 4294967295)",
             schema, until, now);
    unsigned long at = store_pg_slip_in(store, text) > 0
                           ? atomic_fetch_add(&place->page->delay_count, 1)
                           : SEAT_DELAYS_MAX;
    if (at < SEAT_DELAYS_MAX) {
        place->page->delays[at].from = now;
        place->page->delays[at].until = until;
    }
}

/* Somebody looked for a message at that time. */
static void note_look(const struct place *place, int64_t now)
{
    for (unsigned long i = 0; i < place->page->delay_count && i < SEAT_DELAYS_MAX; i++) {
        struct seat_delay *one = &place->page->delays[i];
        if (now > one->from && now < one->until) {
            one->looked = true;
        }
    }
}

/* ---- doubts ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t sum, int64_t number) /* FNV-1a, by words */
{
    return (sum ^ (uint64_t)number) * UINT64_C(1099511628211);
}

/* The queue's own: whoever does the same work later holds another claim. */
static bool is_queues(uint8_t primitive)
{
    return primitive == PRIMITIVE_CLAIM || primitive == PRIMITIVE_CLAIM_NEXT ||
           primitive == PRIMITIVE_EXTEND || primitive == PRIMITIVE_ACK ||
           primitive == PRIMITIVE_PUT_BACK;
}

/* What the bundle does: all of it, or without what belongs to its sender's claim. */
static uint64_t digest(const struct bundle *bundle, bool whole)
{
    uint64_t sum = mix(UINT64_C(14695981039346656037), bundle->name);
    for (uint8_t i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        if (call->primitive < PRIMITIVE_COUNT && (whole || !is_queues(call->primitive))) {
            sum = mix(sum, call->primitive);
            for (int p = 0; p < primitive_table[call->primitive].params; p++) {
                sum = mix(sum, bundle->params[call->params + p]);
            }
        }
    }
    return sum;
}

static void conclude(const struct place *place, enum seat_conclusion what)
{
    place->page->cuts[place->seat->doubt - 1].concluded = (uint8_t)what;
    place->seat->doubt = 0;
}

/* Gives up the work that it is in doubt about. */
static bool is_leaving(const struct bundle *bundle)
{
    enum bundle_name name = (enum bundle_name)bundle->name;
    return bundle_has(name, TRAIT_LEAVES) ||
           (bundle_has(name, TRAIT_LEAVES_UNLESS) && !publishes(bundle));
}

/* What it is in doubt about, once more. A phase of a principal is all of its request, and whoever
 * sends one of that name again means it, whatever it has learnt to fill in. */
static bool is_again(const struct place *place)
{
    const struct seat_cut *cut = &place->page->cuts[place->seat->doubt - 1];
    return place->bundle->name == cut->bundle &&
           (place->bundle->principal != PRINCIPAL_NONE ||
            digest(place->bundle, true) == place->seat->doubt_about);
}

/* Before it is sent. Whoever does the same once more shows by what comes of it what it thinks. */
static void say_by_sending(const struct place *place)
{
    enum bundle_name name = (enum bundle_name)place->bundle->name;
    if (place->seat->doubt != 0 && !bundle_has(name, TRAIT_ASKS) && !is_again(place)) {
        bool leaves = is_leaving(place->bundle) || place->page->cuts[place->seat->doubt - 1].phase;
        conclude(place, leaves ? SEAT_LEFT : SEAT_WENT_ON);
    }
}

/* Once it was answered. A refusal is about what the store is like now. */
static void say_by_doing(const struct place *place, const struct outcome *outcome, bool changed)
{
    bool told = outcome->kind == OUTCOME_COMMITTED || outcome->kind == OUTCOME_REFUSED;
    if (place->seat->doubt != 0 && told && is_again(place)) {
        bool tells_nothing =
            outcome->kind == OUTCOME_REFUSED || (outcome->skipped != 0 && place->page->vague);
        conclude(place, tells_nothing                      ? SEAT_LEFT
                        : outcome->skipped == 0 && changed ? SEAT_NOT_DONE
                                                           : SEAT_DONE);
    }
}

/* ---- a transaction --------------------------------------------------------------------------- */

static void note_cut(const struct place *place, const struct store_pg *store, enum seat_act how)
{
    unsigned at = atomic_fetch_add(&place->page->cut_count, 1);
    if (at < SEAT_CUTS_MAX) {
        place->page->cuts[at] =
            (struct seat_cut){.mark = store_pg_mark(store),
                              .work = digest(place->bundle, false),
                              .bundle = place->bundle->name,
                              .how = (uint8_t)how,
                              .may_fail = place->bundle->isolation == SERIALIZABLE,
                              .phase = place->bundle->principal != PRINCIPAL_NONE};
        if ((place->page->resolved >> place->bundle->name & 1) != 0) {
            place->seat->doubt = at + 1;
            place->seat->doubt_about = digest(place->bundle, true);
        }
    }
}

/* The answer to COMMIT will not be heard. */
static void cut(struct place *place, struct store_pg *store, enum seat_act how)
{
    note_cut(place, store, how);
    place->cut = true;
    place->seat->broken_off = store_pg_backend(store);
    if (how == SEAT_CUTS_EARLY) {
        store_pg_break(store);
        store_pg_send_commit(store);
    } else {
        store_pg_send_commit(store);
        store_pg_break(store);
    }
    store_pg_cut(store);
}

/* A transaction that changed nothing has no fate that could be lost, and one whose connection is
 * gone already none that a cut could decide. */
static enum seat_act cut_awaited(const struct place *place, struct store_pg *store)
{
    if (store_pg_mark(store).change == 0 || !store_pg_is_well(store)) {
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
    delay(place, store, now);
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
            place->page->acks[at] =
                (struct seat_ack){.mark = mark, .work = digest(place->bundle, false)};
        }
    }
    note_abort(place, outcome);
    say_by_doing(place, outcome, mark.change != 0);
    int64_t kept_off = atomic_exchange(&place->seat->kept_off, 0);
    bool committed = outcome->kind == OUTCOME_COMMITTED;
    bool passed_by = kept_off != 0 && committed && bundle_claims(place->bundle) &&
                     outcome->message[0] != 0 && outcome->message[0] != kept_off;
    int struck = SEAT_STRUCK;
    (void)atomic_compare_exchange_strong(&place->seat->struck, &struck,
                                         (kept_off == 0 ? !committed : passed_by) ? SEAT_DEFEATED
                                                                                  : SEAT_TOLD);
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
    page->sent[bundle->name]++;
    say_by_sending(&place);
    pass(&place, SEAT_BEFORE_BEGIN);
    if (bundle_claims(bundle)) {
        place.seat->claimer = store_pg_backend(store); /* if it stands; else it is told below */
    }
    place.seat->sending = digest(bundle, false);
    if (is_awaited_inside(&place)) {
        send_in_parts(&place, store, now);
    } else {
        store_pg_send(store, bundle, now);
        place.seat->moment = store_pg_backend(store) != 0 ? SEAT_SENT : SEAT_AT_REST;
    }
    if (bundle_claims(bundle)) {
        place.seat->claimer = store_pg_backend(store);
    }
    bool told = store_pg_receive(store, outcome);
    place.seat->backend = store_pg_backend(store);
    if (told && bundle_claims(bundle)) {
        note_look(&place, now);
    }
    if (told) {
        note_outcome(&place, store, outcome);
        if (outcome->kind == OUTCOME_COMMITTED) {
            pass(&place, SEAT_AFTER_COMMIT); /* SE2 */
        }
    }
    place.seat->sending = 0;
    place.seat->moment = SEAT_AT_REST;
    return told;
}

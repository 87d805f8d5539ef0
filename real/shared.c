#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "real/shared.h"

#include "real/part.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct shared_page *shared_page_make(void)
{
    void *page = mmap(NULL, sizeof(struct shared_page), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

void shared_page_free(struct shared_page *page)
{
    if (page != NULL) {
        (void)munmap(page, sizeof *page);
    }
}

void shared_page_begin(struct shared_page *page, const struct rules *rules)
{
    memset(page, 0, offsetof(struct shared_page, cuts));
    page->ack_count = 0;
    size_t works = page->work_count < SHARED_WORKS_MAX ? page->work_count : SHARED_WORKS_MAX;
    memset(page->works, 0, works * sizeof *page->works);
    page->work_count = 0;
    page->must_resolve_unknown = part_must_resolve_unknown(rules->protocol);
    page->skip_is_ambiguous = part_skip_is_ambiguous(rules->protocol);
    for (unsigned a = 0; a < rules->actors; a++) {
        page->actors[a].actor_now = -1;
        page->actors[a].breakpoint = -1;
        page->actors[a].moment = SHARED_AT_REST;
        page->clients_left += protocol_role(rules, a)->is_done != NULL;
    }
}

void shared_page_disturb(struct shared_page *page, int64_t transaction)
{
    if (transaction != 0) {
        unsigned long at = atomic_fetch_add(&page->disturbance_count, 1);
        CHECK(at < SHARED_DISTURBANCES_MAX);
        page->disturbances[at] = transaction;
    }
}

bool shared_page_is_disturbance(const struct shared_page *page, int64_t transaction)
{
    for (unsigned long i = 0; i < page->disturbance_count; i++) {
        if (page->disturbances[i] == transaction) {
            return true;
        }
    }
    return false;
}

void shared_page_move(struct shared_page *page, const char *dsn)
{
    size_t length = strlen(dsn);
    CHECK(length < SHARED_DSN_SIZE);
    unsigned changes = page->dsn_changes;
    memcpy(page->dsn[(changes + 1) % 2], dsn, length + 1);
    page->dsn_changes = changes + 1;
}

const char *shared_page_dsn(const struct shared_page *page)
{
    unsigned changes = page->dsn_changes;
    return changes == 0 ? NULL : page->dsn[changes % 2];
}

/* ---- the actor ------------------------------------------------------------------------------- */

void shared_actor_begin(struct shared_actor *shared, struct performer *performer,
                        const struct rules *rules, unsigned number)
{
    performer_begin(performer, rules, number);
    if (shared->actor_now >= 0) {
        performer->actor = shared->actor[shared->actor_now];
        performer_restart(performer, rules, number);
    }
    shared->moment = SHARED_AT_REST;
    shared->holds = false;
    shared->backend = 0;
    shared->breakpoint = -1;
    shared->struck = SHARED_UNHARMED;
    shared->spared = 0;
    shared->claimer = 0;
    shared->broken_off = 0;
    shared->kept_off = 0;
    shared->doubt = 0;
    if (shared->sending != 0) {
        shared->unheard[shared->unheard_count++ % SHARED_DEATHS] = shared->sending;
        shared->sending = 0;
    }
    shared_actor_keep(shared, &performer->actor);
}

void shared_actor_keep(struct shared_actor *shared, const struct actor *actor)
{
    int other = shared->actor_now == 0;
    shared->actor[other] = *actor;
    shared->actor_now = other;
}

void shared_work(struct shared_page *page, const struct side_effect *effect)
{
    unsigned long at = atomic_fetch_add(&page->work_count, 1);
    if (at < SHARED_WORKS_MAX) {
        page->works[at].claim = effect->claim;
        page->works[at].epoch = effect->epoch;
        page->works[at].what = effect->what;
    }
}

/* ---- breakpoints ---------------------------------------------------------------------------------- */

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
        uint8_t number = bundle->calls[i].primitive; /* an altered one is left out */
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

/* The position of an actor, which breakpoints are matched with. */
struct point {
    struct shared_page *page;
    struct shared_actor *shared;
    const struct bundle *bundle;
    bool several; /* it changes rows of more than one table */
    bool cut;     /* its answer was lost on purpose */
};

static bool fits(const struct point *point, const struct shared_breakpoint *breakpoint)
{
    return breakpoint->state == SHARED_BREAKPOINT_SET &&
           breakpoint->from <= point->page->progress &&
           (breakpoint->bundle == SHARED_ANY || breakpoint->bundle == point->bundle->name) &&
           (!breakpoint->serializable ||
            (point->bundle->isolation == SERIALIZABLE && point->shared->last_table >= 0)) &&
           (!breakpoint->writes_twice || point->several) &&
           (!breakpoint->claims || bundle_claims(point->bundle));
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

/* The actor is not spared this fault now. */
static bool may_meet(const struct point *point, const struct shared_breakpoint *breakpoint)
{
    int spared = point->shared->spared;
    bool cuts = breakpoint->act == SHARED_CUTS_EARLY || breakpoint->act == SHARED_CUTS_LATE;
    return (!breakpoint->kills || (spared & SHARED_SPARED_DEATH) == 0) &&
           (!cuts || (spared & SHARED_SPARED_DOUBT) == 0) &&
           (breakpoint->act != SHARED_DELAYS ||
            (publishes(point->bundle) && point->bundle->principal == PRINCIPAL_NONE));
}

bool shared_actor_is_exposed(const struct shared_actor *shared)
{
    return shared->holds || shared->moment == SHARED_BEFORE_COMMIT ||
           shared->moment == SHARED_SENT || shared->moment == SHARED_AFTER_COMMIT;
}

static bool is_held(const struct point *point, const struct shared_breakpoint *breakpoint)
{
    return (!breakpoint->held || shared_actor_is_exposed(point->shared)) &&
           (!breakpoint->claimed || point->shared->holds);
}

/* Hits a breakpoint that is set for this moment; NULL: none is. */
static struct shared_breakpoint *hit(const struct point *point, enum shared_act act,
                                     enum shared_moment moment)
{
    for (int i = 0; i < SHARED_BREAKPOINTS; i++) {
        struct shared_breakpoint *breakpoint = &point->page->breakpoints[i];
        int set = SHARED_BREAKPOINT_SET;
        if (fits(point, breakpoint) && breakpoint->act == act && may_meet(point, breakpoint) &&
            (act != SHARED_STOPS || (breakpoint->moment == moment && is_held(point, breakpoint))) &&
            atomic_compare_exchange_strong(&breakpoint->state, &set,
                                           SHARED_BREAKPOINT_HIT)) { /* SE1 */
            point->shared->breakpoint = act == SHARED_STOPS ? i : -1;
            return breakpoint;
        }
    }
    return NULL;
}

/* A breakpoint may be hit between its statements and its answer. */
static bool is_awaited_inside(const struct point *point)
{
    for (int i = 0; i < SHARED_BREAKPOINTS; i++) {
        const struct shared_breakpoint *breakpoint = &point->page->breakpoints[i];
        bool inside =
            breakpoint->moment == SHARED_SENT || breakpoint->moment == SHARED_BEFORE_COMMIT;
        bool cuts = breakpoint->act == SHARED_CUTS_EARLY || breakpoint->act == SHARED_CUTS_LATE;
        bool asks = cuts || breakpoint->act == SHARED_DELAYS;
        if (fits(point, breakpoint) && (asks || (breakpoint->act == SHARED_STOPS && inside))) {
            return true;
        }
    }
    return false;
}

static void pass(const struct point *point, enum shared_moment moment)
{
    point->shared->moment = (int)moment;
    if (hit(point, SHARED_STOPS, moment) != NULL) {
        raise(SIGSTOP); /* the supervisor takes the breakpoint back */
    }
}

bool shared_is_to_change_answer(struct shared_page *page, unsigned number,
                                const struct bundle *bundle)
{
    struct point point = {.page = page, .shared = &page->actors[number], .bundle = bundle};
    bool changes = hit(&point, SHARED_ANSWERS, SHARED_BEFORE_BEGIN) != NULL;
    page->answered += changes;
    return changes;
}

bool shared_has_breakpoint(const struct shared_page *page, enum shared_act act)
{
    for (int i = 0; i < SHARED_BREAKPOINTS; i++) {
        const struct shared_breakpoint *breakpoint = &page->breakpoints[i];
        if (breakpoint->state == SHARED_BREAKPOINT_SET && breakpoint->act == act &&
            breakpoint->from <= page->progress) {
            return true;
        }
    }
    return false;
}

bool shared_is_to_err(struct shared_page *page, unsigned number, uint32_t *amount)
{
    struct bundle any = {0}; /* the bundle is not known yet */
    struct point point = {.page = page, .shared = &page->actors[number], .bundle = &any};
    const struct shared_breakpoint *breakpoint = hit(&point, SHARED_ERRS, SHARED_BEFORE_BEGIN);
    *amount = breakpoint == NULL ? 0 : breakpoint->amount;
    return breakpoint != NULL;
}

/* ---- messages that are hidden ---------------------------------------------------------------- */

/* Hides what this transaction has published, before any other sees it. */
static void delay(const struct point *point, struct store_pg *store)
{
    char text[300];
    int64_t now = store_pg_time(store);
    const char *schema = store_pg_schema(store);
    const struct shared_breakpoint *breakpoint = hit(point, SHARED_DELAYS, SHARED_BEFORE_COMMIT);
    if (breakpoint == NULL) {
        return;
    }
    int64_t until = now + breakpoint->amount;
    snprintf(text, sizeof text,
             "UPDATE %s.message SET visible_at = %" PRId64 " WHERE epoch = 0 AND visible_at <= "
             "%" PRId64 " AND xmin::text::bigint = (txid_current() & 4294967295)",
             schema, until, now);
    unsigned long at = store_pg_slip_in(store, text) > 0
                           ? atomic_fetch_add(&point->page->delay_count, 1)
                           : SHARED_DELAYS_MAX;
    if (at < SHARED_DELAYS_MAX) {
        point->page->delays[at].from = now;
        point->page->delays[at].until = until;
    }
}

/* An actor looked for a message at this time. */
static void note_look(const struct point *point, int64_t now)
{
    for (unsigned long i = 0; i < point->page->delay_count && i < SHARED_DELAYS_MAX; i++) {
        struct shared_delay *one = &point->page->delays[i];
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

/* Of the queue: another actor that does the same work has another claim. */
static bool is_queues(uint8_t primitive)
{
    return primitive == PRIMITIVE_CLAIM || primitive == PRIMITIVE_CLAIM_NEXT ||
           primitive == PRIMITIVE_EXTEND || primitive == PRIMITIVE_ACK ||
           primitive == PRIMITIVE_PUT_BACK;
}

/* Digest of the bundle: all of it, or without the part of its sender's claim. */
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

static void conclude(const struct point *point, enum shared_conclusion what)
{
    point->page->cuts[point->shared->doubt - 1].concluded = (uint8_t)what;
    point->shared->doubt = 0;
}

/* The bundle gives up the work in doubt. */
static bool is_leaving(const struct bundle *bundle)
{
    enum bundle_name name = (enum bundle_name)bundle->name;
    return bundle_has(name, TRAIT_LEAVES) ||
           (bundle_has(name, TRAIT_LEAVES_UNLESS) && !publishes(bundle));
}

/* The bundle repeats what the actor is in doubt about. A phase of a principal is its whole request,
 * so the same name is a repetition, even with other parameters. */
static bool is_again(const struct point *point)
{
    const struct shared_cut *cut = &point->page->cuts[point->shared->doubt - 1];
    return point->bundle->name == cut->bundle &&
           (point->bundle->principal != PRINCIPAL_NONE ||
            digest(point->bundle, true) == point->shared->doubt_about);
}

/* Before the bundle is sent. A repetition shows the conclusion by its outcome. */
static void say_by_sending(const struct point *point)
{
    enum bundle_name name = (enum bundle_name)point->bundle->name;
    if (point->shared->doubt != 0 && !bundle_has(name, TRAIT_ASKS) && !is_again(point)) {
        bool leaves =
            is_leaving(point->bundle) || point->page->cuts[point->shared->doubt - 1].phase;
        conclude(point, leaves ? SHARED_LEFT : SHARED_WENT_ON);
    }
}

/* After the answer. A refusal concerns the present state of the store. */
static void say_by_doing(const struct point *point, const struct outcome *outcome,
                         struct store_pg_mark mark)
{
    bool told = outcome->kind == OUTCOME_COMMITTED || outcome->kind == OUTCOME_REFUSED;
    if (point->shared->doubt != 0 && told && is_again(point)) {
        bool tells_nothing = outcome->kind == OUTCOME_REFUSED ||
                             (outcome->skipped != 0 && point->page->skip_is_ambiguous);
        point->page->cuts[point->shared->doubt - 1].repeat = mark;
        conclude(point, tells_nothing                             ? SHARED_LEFT
                        : outcome->skipped == 0 && mark.word != 0 ? SHARED_REPEATED
                                                                  : SHARED_DONE);
    }
}

/* ---- a transaction --------------------------------------------------------------------------- */

static void note_cut(const struct point *point, const struct store_pg *store, enum shared_act how)
{
    unsigned at = atomic_fetch_add(&point->page->cut_count, 1);
    if (at < SHARED_CUTS_MAX) {
        point->page->cuts[at] =
            (struct shared_cut){.mark = store_pg_mark(store),
                                .work = digest(point->bundle, false),
                                .bundle = point->bundle->name,
                                .how = (uint8_t)how,
                                .may_fail = point->bundle->isolation == SERIALIZABLE,
                                .phase = point->bundle->principal != PRINCIPAL_NONE};
        if ((point->page->must_resolve_unknown >> point->bundle->name & 1) != 0) {
            point->shared->doubt = at + 1;
            point->shared->doubt_about = digest(point->bundle, true);
        }
    }
}

/* The answer to COMMIT is lost. */
static void cut(struct point *point, struct store_pg *store, enum shared_act how)
{
    note_cut(point, store, how);
    point->cut = true;
    point->shared->broken_off = store_pg_backend(store);
    if (how == SHARED_CUTS_EARLY) {
        store_pg_break(store);
        store_pg_send_commit(store);
    } else {
        store_pg_send_commit(store);
        store_pg_break(store);
    }
    store_pg_cut(store);
}

/* A transaction without an id has no outcome to lose, and the outcome of one whose connection
 * is gone does not depend on a cut. */
static enum shared_act cut_awaited(const struct point *point, struct store_pg *store)
{
    if (store_pg_mark(store).word == 0 || !store_pg_is_well(store)) {
        return SHARED_STOPS;
    }
    return hit(point, SHARED_CUTS_EARLY, SHARED_SENT) != NULL  ? SHARED_CUTS_EARLY
           : hit(point, SHARED_CUTS_LATE, SHARED_SENT) != NULL ? SHARED_CUTS_LATE
                                                               : SHARED_STOPS;
}

/* Sends COMMIT separately from the statements. */
static void send_in_parts(struct point *point, struct store_pg *store)
{
    bool open = store_pg_send_open(store, point->bundle, STORE_PG_SERVERS_TIME);
    point->shared->backend = store_pg_backend(store);
    if (!open) {
        store_pg_send_commit(store);
        return;
    }
    delay(point, store);
    pass(point, SHARED_BEFORE_COMMIT);
    enum shared_act how = cut_awaited(point, store);
    if (how != SHARED_STOPS) {
        cut(point, store, how);
        return;
    }
    store_pg_send_commit(store);
    pass(point, SHARED_SENT);
}

/* A principal with few connections gets 53300 without a fault, too: that does not count. */
static void note_abort(const struct point *point, const struct outcome *outcome)
{
    bool crowded = outcome->kind == OUTCOME_ABORTED && outcome->aborted == ABORT_CONNECTIONS;
    if (crowded && point->bundle->principal != PRINCIPAL_NONE && !point->page->crowd) {
        point->page->turned_away++;
    } else if (outcome->kind == OUTCOME_ABORTED &&
               (!crowded || (point->shared->holds && !point->shared->crowded))) {
        point->shared->aborted[outcome->aborted]++;
    }
    point->shared->crowded = crowded;
}

static void note_outcome(const struct point *point, const struct store_pg *store,
                         const struct outcome *outcome)
{
    struct store_pg_mark mark = store_pg_mark(store);
    if (outcome->kind == OUTCOME_COMMITTED && mark.word != 0) { /* SE3 */
        unsigned long at = atomic_fetch_add(&point->page->ack_count, 1);
        if (at < SHARED_ACKS_MAX) {
            point->page->acks[at] =
                (struct shared_ack){.mark = mark, .work = digest(point->bundle, false)};
        }
    }
    note_abort(point, outcome);
    say_by_doing(point, outcome, mark);
    int64_t kept_off = atomic_exchange(&point->shared->kept_off, 0);
    bool committed = outcome->kind == OUTCOME_COMMITTED;
    bool passed_by = kept_off != 0 && committed && bundle_claims(point->bundle) &&
                     outcome->message[0] != 0 && outcome->message[0] != kept_off;
    int struck = SHARED_STRUCK;
    (void)atomic_compare_exchange_strong(&point->shared->struck, &struck,
                                         (kept_off == 0 ? !committed : passed_by) ? SHARED_DEFEATED
                                                                                  : SHARED_TOLD);
    if (outcome->kind == OUTCOME_UNKNOWN && !point->cut && mark.word != 0) {
        note_cut(point, store, SHARED_STOPS);
    }
    point->shared->transactions++;
}

bool shared_execute(struct shared_page *page, unsigned number, struct store_pg *store,
                    const struct bundle *bundle, struct outcome *outcome)
{
    struct point point = {.page = page, .shared = &page->actors[number], .bundle = bundle};
    point.shared->bundle = bundle->name;
    point.shared->last_table = last_table(bundle, &point.several);
    page->sent[bundle->name]++;
    say_by_sending(&point);
    pass(&point, SHARED_BEFORE_BEGIN);
    if (bundle_claims(bundle)) {
        point.shared->claimer =
            store_pg_backend(store); /* if it is connected; else it is set below */
    }
    point.shared->sending = digest(bundle, false);
    if (is_awaited_inside(&point)) {
        send_in_parts(&point, store);
    } else {
        store_pg_send(store, bundle, STORE_PG_SERVERS_TIME);
        point.shared->moment = store_pg_backend(store) != 0 ? SHARED_SENT : SHARED_AT_REST;
    }
    if (bundle_claims(bundle)) {
        point.shared->claimer = store_pg_backend(store);
    }
    bool told = store_pg_receive(store, outcome);
    point.shared->backend = store_pg_backend(store);
    if (told && bundle_claims(bundle)) {
        note_look(&point, outcome->now);
    }
    if (told) {
        note_outcome(&point, store, outcome);
        if (outcome->kind == OUTCOME_COMMITTED) {
            pass(&point, SHARED_AFTER_COMMIT); /* SE2 */
        }
    }
    point.shared->sending = 0;
    point.shared->moment = SHARED_AT_REST;
    return told;
}

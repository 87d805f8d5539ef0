#include "real/outcome_audit.h"

#include "model/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* How much of a page is filled. */
struct noted {
    unsigned long acks;
    unsigned cuts;
};

static bool is_known(const struct history *history, struct store_pg_mark mark)
{
    return history_find(history, mark) != NULL;
}

#define LOOKS_MAX 5000 /* a millisecond each */

/* PostgreSQL's own record. A backend may take a while to notice that its client is gone.
 * False: it could not be asked. */
static bool ask_status(struct store_pg *store, int64_t transaction, bool *committed, bool *over)
{
    char text[200];
    int64_t status = 0;
    snprintf(text, sizeof text,
             "SELECT CASE pg_xact_status('%" PRId64 "'::xid8) WHEN 'committed' THEN 1 WHEN "
             "'aborted' THEN 2 ELSE 3 END::bigint",
             transaction);
    bool asked = store_pg_ask(store, text, &status);
    for (int looks = 0; asked && status == 3 && looks < LOOKS_MAX; looks++) {
        usleep(1000);
        asked = store_pg_ask(store, text, &status);
    }
    *committed = status == 1;
    *over = status != 3;
    return asked;
}

static bool look_up_cut(struct store_pg *store, const struct history *history,
                        const struct shared_cut *cut, bool ids_stand, struct outcome_audit *audit)
{
    bool known = is_known(history, cut->mark), committed = known, over = true;
    if (ids_stand && !ask_status(store, cut->mark.transaction, &committed, &over)) {
        return false;
    }
    audit->asked += ids_stand;
    audit->committed += known;
    audit->lost += !known;
    bool must =
        cut->how == SHARED_CUTS_LATE && ids_stand && !cut->may_fail; /* it arrived, all went on */
    audit->contradictions +=
        !over || committed != known || (known && cut->how == SHARED_CUTS_EARLY) || (!known && must);
    return true;
}

/* Another transaction did the same work: a sender that found it done was right. */
static bool is_done_by_another(const struct history *history, const struct shared_page *page,
                               const struct noted *noted, const struct shared_cut *cut)
{
    for (unsigned long i = 0; i < noted->acks; i++) {
        if (page->acks[i].work == cut->work && is_known(history, page->acks[i].mark)) {
            return true;
        }
    }
    for (unsigned i = 0; i < noted->cuts; i++) {
        if (page->cuts[i].work == cut->work && is_known(history, page->cuts[i].mark)) {
            return true;
        }
    }
    return false;
}

/* A process died during the same work and may have done it: no mark tells. */
static bool may_be_done(const struct shared_page *page, const struct shared_cut *cut)
{
    for (size_t s = 0; s < COUNT(page->actors); s++) {
        const struct shared_actor *shared = &page->actors[s];
        for (uint32_t i = 0; i < SHARED_DEATHS && i < shared->unheard_count; i++) {
            if (shared->unheard[i] == cut->work) {
                return true;
            }
        }
        if (shared->sending == cut->work) {
            return true;
        }
    }
    return false;
}

static bool was_not_done(const struct history *history, const struct shared_page *page,
                         const struct noted *noted, const struct shared_cut *cut)
{
    return !is_known(history, cut->mark) && !is_done_by_another(history, page, noted, cut) &&
           !may_be_done(page, cut);
}

/* What the sender went by, the server's record being the judge of what a repetition did. */
static void compare_conclusion(const struct history *history, const struct shared_page *page,
                               const struct noted *noted, const struct shared_cut *cut,
                               struct outcome_audit *audit)
{
    const struct history_transaction *repeat =
        cut->concluded == SHARED_REPEATED ? history_find(history, cut->repeat) : NULL;
    bool not_done = repeat != NULL && repeat->changes > 0;
    bool done = cut->concluded == SHARED_DONE || (cut->concluded == SHARED_REPEATED && !not_done);
    bool undone = was_not_done(history, page, noted, cut);
    audit->done += done || cut->concluded == SHARED_WENT_ON;
    audit->not_done += not_done;
    audit->unexplained += cut->concluded == SHARED_WENT_ON && undone;
    if ((not_done && is_known(history, cut->mark)) || (done && undone)) {
        audit->misjudged++;
        audit->wrong = *cut;
        audit->wrong.concluded = done ? SHARED_DONE : SHARED_REPEATED;
    }
}

bool outcome_audit_look_up(struct store_pg *store, const struct history *history,
                           const struct shared_page *page, bool ids_stand,
                           struct outcome_audit *audit)
{
    bool done = true;
    struct noted noted = {
        .acks = page->ack_count < SHARED_ACKS_MAX ? page->ack_count : SHARED_ACKS_MAX,
        .cuts = page->cut_count < SHARED_CUTS_MAX ? page->cut_count : SHARED_CUTS_MAX};
    audit->unnoted += page->ack_count - noted.acks + page->cut_count - noted.cuts;
    for (unsigned long i = 0; i < noted.acks; i++) {
        audit->acknowledged++;
        audit->forgotten += !is_known(history, page->acks[i].mark);
    }
    for (unsigned i = 0; i < noted.cuts && done; i++) {
        compare_conclusion(history, page, &noted, &page->cuts[i], audit);
        done = look_up_cut(store, history, &page->cuts[i], ids_stand, audit);
    }
    return done;
}

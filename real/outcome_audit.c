#include "real/outcome_audit.h"

#include "model/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Every change with its transaction, in their order. A mark is a transaction's last one, but for
 * what a fault or the schema added to it afterwards. */
struct book {
    struct store_pg_mark *marks;
    size_t count, capacity;
};

static void note(void *context, const int64_t *row)
{
    struct book *book = context;
    if (book->count == book->capacity) {
        book->capacity = book->capacity == 0 ? 1024 : 2 * book->capacity;
        book->marks = realloc(book->marks, book->capacity * sizeof *book->marks);
        CHECK(book->marks != NULL);
    }
    book->marks[book->count++] =
        (struct store_pg_mark){.transaction = row[0], .change = row[1], .backend = row[2]};
}

static int compare(const void *one, const void *other)
{
    const struct store_pg_mark *a = one, *b = other;
    return (a->change > b->change) - (a->change < b->change);
}

/* How much of a page is filled. */
struct noted {
    unsigned long acks;
    unsigned cuts;
};

static bool is_known(const struct book *book, struct store_pg_mark mark)
{
    const struct store_pg_mark *found =
        book->count == 0 ? NULL : bsearch(&mark, book->marks, book->count, sizeof mark, compare);
    return found != NULL && found->transaction == mark.transaction &&
           found->backend == mark.backend;
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

static bool look_up_cut(struct store_pg *store, const struct book *book,
                        const struct shared_cut *cut, bool ids_stand, struct outcome_audit *audit)
{
    bool known = is_known(book, cut->mark), committed = known, over = true;
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
static bool is_done_by_another(const struct book *book, const struct shared_page *page,
                               const struct noted *noted, const struct shared_cut *cut)
{
    for (unsigned long i = 0; i < noted->acks; i++) {
        if (page->acks[i].work == cut->work && is_known(book, page->acks[i].mark)) {
            return true;
        }
    }
    for (unsigned i = 0; i < noted->cuts; i++) {
        if (page->cuts[i].work == cut->work && is_known(book, page->cuts[i].mark)) {
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

static bool was_not_done(const struct book *book, const struct shared_page *page,
                         const struct noted *noted, const struct shared_cut *cut)
{
    return !is_known(book, cut->mark) && !is_done_by_another(book, page, noted, cut) &&
           !may_be_done(page, cut);
}

static void compare_conclusion(const struct book *book, const struct shared_page *page,
                               const struct noted *noted, const struct shared_cut *cut,
                               struct outcome_audit *audit)
{
    bool undone = was_not_done(book, page, noted, cut);
    bool again = cut->concluded == SHARED_NOT_DONE && is_known(book, cut->mark);
    audit->done += cut->concluded == SHARED_DONE || cut->concluded == SHARED_WENT_ON;
    audit->not_done += cut->concluded == SHARED_NOT_DONE;
    audit->unexplained += cut->concluded == SHARED_WENT_ON && undone;
    if (again || (cut->concluded == SHARED_DONE && undone)) {
        audit->misjudged++;
        audit->wrong = *cut;
    }
}

bool outcome_audit_look_up(struct store_pg *store, const char *schema,
                           const struct shared_page *page, bool ids_stand,
                           struct outcome_audit *audit)
{
    char text[200];
    struct book book = {0};
    struct noted noted = {
        .acks = page->ack_count < SHARED_ACKS_MAX ? page->ack_count : SHARED_ACKS_MAX,
        .cuts = page->cut_count < SHARED_CUTS_MAX ? page->cut_count : SHARED_CUTS_MAX};
    audit->unnoted += page->ack_count - noted.acks + page->cut_count - noted.cuts;
    snprintf(text, sizeof text, "SELECT xid, seq, backend FROM %s.history ORDER BY seq", schema);
    bool done = store_pg_query(store, text, note, &book);
    for (unsigned long i = 0; i < noted.acks && done; i++) {
        audit->acknowledged++;
        audit->forgotten += !is_known(&book, page->acks[i].mark);
    }
    for (unsigned i = 0; i < noted.cuts && done; i++) {
        compare_conclusion(&book, page, &noted, &page->cuts[i], audit);
        done = look_up_cut(store, &book, &page->cuts[i], ids_stand, audit);
    }
    free(book.marks);
    return done;
}

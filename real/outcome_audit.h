/* Audit of outcomes: what the server knows of the transactions that it acknowledged, and of those
 * whose answer was lost. */
#ifndef REAL_OUTCOME_AUDIT_H
#define REAL_OUTCOME_AUDIT_H

#include "real/history.h"
#include "real/shared.h"

struct outcome_audit {
    uint64_t acknowledged;   /* acknowledged commits of transactions with an id */
    uint64_t forgotten;      /* ... that the history lacks */
    uint64_t committed;      /* commits whose answer was lost and that the history has */
    uint64_t lost;           /* ... and that it lacks */
    uint64_t asked;          /* commits with a lost answer that pg_xact_status was asked about */
    uint64_t contradictions; /* commits on which pg_xact_status, the history and the moment of the
                                cut contradict each other */
    uint64_t done;      /* lost answers whose sender concluded that the work was done (shared.h) */
    uint64_t not_done;  /* ... that it was not done */
    uint64_t misjudged; /* wrong conclusions: assumed done though no transaction did it, or
                                repeated with effect though it was done */
    struct shared_cut wrong; /* the last of those */
    uint64_t unexplained;    /* senders that went on though no transaction is known to have done the
                                work: no proof, since the next bundle may have another reason */
    uint64_t unnoted;        /* transactions that had no room in the page: not looked up */
};

/* Looks up everything that a run recorded in its page; adds to *audit. `ids_stand`: the server did
 * not crash. A server that crashed reissues the transaction ids that its log lacks, so
 * pg_xact_status would answer for another transaction. False: store_pg_why_not. */
bool outcome_audit_look_up(struct store_pg *store, const struct history *history,
                           const struct shared_page *page, bool ids_stand,
                           struct outcome_audit *audit);

/* The charge, if `forgotten` or `misjudged` is not 0. */
static inline const char *outcome_audit_charge(const struct outcome_audit *audit)
{
    return audit->forgotten > 0 ? "the server lost a commit that it had acknowledged"
                                : "a worker drew the wrong conclusion from a lost answer to COMMIT";
}

#endif

/* What became of transactions, as the server knows it: those that it acknowledged, and those whose
 * answer nobody heard. */
#ifndef REAL_OUTCOME_AUDIT_H
#define REAL_OUTCOME_AUDIT_H

#include "real/shared.h"

struct outcome_audit {
    uint64_t acknowledged;    /* commits that were answered and changed something */
    uint64_t forgotten;       /* ... of which the history has no trace */
    uint64_t committed, lost; /* commits whose answer was lost: what became of them */
    uint64_t asked;           /* ... how many of those pg_xact_status was asked for, too */
    uint64_t contradictions;  /* ... where it and the history say different things; or that
                                 committed and cannot have, or the other way round */
    uint64_t done, not_done;  /* ... what those who sent them took them for (shared.h), of those */
    uint64_t misjudged;       /* that found out; and how many of these were wrong: held for done,
                                 and nobody did it; or done again, and it had been done */
    struct shared_cut wrong;  /* ... the last of them */
    uint64_t unexplained; /* who went on, and nobody is known to have done it: no proof, for what
                             comes next may have another reason */
    uint64_t unnoted;     /* for which there was no room: not looked up */
};

/* Looks up everything that a run noted in its page; adds to *audit. `ids_stand`: the server did not
 * crash. One that did gives ids again that never got to its log, and pg_xact_status then speaks of
 * another transaction. False: store_pg_why_not. */
bool outcome_audit_look_up(struct store_pg *store, const char *schema,
                           const struct shared_page *page, bool ids_stand,
                           struct outcome_audit *audit);

/* What is wrong with them, of those that are not what they should be. */
static inline const char *outcome_audit_charge(const struct outcome_audit *audit)
{
    return audit->forgotten > 0
               ? "the server lost what it had acknowledged"
               : "a worker took a lost commit for done, or one that was done for lost";
}

#endif

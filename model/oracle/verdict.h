/* What an oracle says of one value or one move: fine, or which promise is broken and in what words.
 *
 * Oracles judge what the rest of model/ does, so they are written from the specification alone and
 * share nothing with it but the names of the clauses: no header, no table, no arithmetic. They are
 * pure: a verdict depends on the arguments only. A broken promise is data, never a CHECK; a CHECK
 * here is about the caller of the oracle.
 *
 * An oracle writes its promises down as a list of verdicts, each broken or not, in the order that
 * its header gives, and reports the first that is broken. */
#ifndef MODEL_ORACLE_VERDICT_H
#define MODEL_ORACLE_VERDICT_H

#include "model/check.h"
#include "model/clause.h"

#include <stdbool.h>
#include <stddef.h>

#define ORACLE_COUNT(array) COUNT(array)

struct oracle_verdict {
    bool broken;
    enum clause_id clause; /* the promise that is broken; CLAUSE_COUNT when fine */
    const char *why;       /* the contradiction, a sentence without its full stop; "" when fine */
};

static inline struct oracle_verdict oracle_fine(void)
{
    return (struct oracle_verdict){.broken = false, .clause = CLAUSE_COUNT, .why = ""};
}

static inline struct oracle_verdict oracle_broken(enum clause_id clause, const char *why)
{
    return (struct oracle_verdict){.broken = true, .clause = clause, .why = why};
}

static inline struct oracle_verdict oracle_first_broken(const struct oracle_verdict *list,
                                                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].broken) {
            return list[i];
        }
    }
    return oracle_fine();
}

#endif

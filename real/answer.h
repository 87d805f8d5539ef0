/* Maps a server's answer to a bundle to an outcome. The function is pure, so that every way to lose
 * a connection is a line of a table in a test.
 *
 * Neither the SQLSTATE nor the connection state proves a loss. libpq gives a null SQLSTATE for a
 * broken connection, 57P01 on the first result and nothing after it, and reports a dead connection
 * as open until it is used. The position of an error in the pipeline's stream of results is
 * certain.
 *
 * (X1) COMMITTED only if COMMIT itself answered with the tag COMMIT. In a failed transaction it
 *      succeeds with the tag ROLLBACK.
 * (X2) ABORTED only if the answer proves that COMMIT was not executed, or failed.
 * (X3) Every other answer is UNKNOWN (B3, E-ACL-13). */
#ifndef REAL_ANSWER_H
#define REAL_ANSWER_H

#include "model/bundle.h"

/* How COMMIT was answered. */
enum answer_commit {
    ANSWER_COMMIT_NONE,       /* not at all */
    ANSWER_COMMIT_DONE,       /* COMMIT */
    ANSWER_COMMIT_ROLLED_BACK /* ROLLBACK */
};

/* Where the first error stands in the stream of results. */
enum answer_place {
    ANSWER_NO_ERROR,
    ANSWER_BEFORE_COMMIT, /* of a statement before COMMIT */
    ANSWER_AT_COMMIT
};

struct answer {
    bool bound;                /* sent by a principal: every refusal is an outcome */
    bool sent;                 /* COMMIT may have left this process */
    bool lost;                 /* the connection is gone */
    enum answer_commit commit; /* how COMMIT was answered */
    enum answer_place place;   /* where the first error stands */
    char sqlstate[6];          /* of that error; empty: it had none */
    bool fatal;                /* the error ended the session: FATAL or PANIC */
};

/* True: kind, refusal and aborted of the outcome are filled in. False: no outcome describes the error
 * (a missing table, a number out of range): Assay's own statements are wrong. For a principal it is
 * always true: its database is not Assay's, and an unclassified error goes to people (E-CUT-16). */
bool answer_outcome(const struct answer *answer, struct outcome *outcome);

#endif

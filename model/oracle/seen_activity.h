/* What a commit did to the claims of its client: read once, in seen_activity.c, and judged there
 * and in activity_entries.c. Private to both. */
#ifndef MODEL_ORACLE_SEEN_ACTIVITY_H
#define MODEL_ORACLE_SEEN_ACTIVITY_H

#include "model/oracle/activity_judge.h"
#include "model/oracle/seen.h"

/* What is known of a client. */
enum {
    CELL_MESSAGE, /* 1 + the slot of the message that it claimed last; 0: it holds none */
    CELL_EPOCH,   /* of that claim */
    CELL_UNTIL,   /* when it runs out, */
    CELL_LIFE,    /* ... and for how long that was, at its last look */
    CELL_GIVEN,   /* for how long it was claimed, or extended, the last time that this changed it */
    CELL_SHORT,   /* ... which was by much less than before, if that was no putting back */
    CELL_TOLD,    /* the store's clock as of its last answer but one, */
    CELL_LAST,    /* ... and as of its last one */
    CELL_WORKED,  /* ticks that it has worked since that, by its own clock */
    CELL_FAILURES, /* its transactions that failed since it made a step forward */
    CELL_DOUBT,    /* ... as it counts them, there may be fewer, or more */
    CELL_ANSWER,   /* the message that it published under this claim, and was told of; 0: none */
    CELL_ENTERS,   /* 1 + the slot of the message whose entries are watched; 0: none is known */
    CELL_TABLE,    /* the table of the ledger that it enters, */
    CELL_LEDGER,   /* ... and the ledger's id; 0: a task, which has no ledger */
    CELL_ENTERED,  /* ENTERED_KNOWN, ENTERED_UNTOLD */
    CELL_COUNT
};
_Static_assert(CELL_COUNT <= SEEN_CELLS, "a client has room for what is known of it");

/* What a commit did to one ledger. */
struct ledger_deed {
    uint32_t slot; /* ROW_NONE: it was left alone */
    bool born;
    int64_t before; /* the number that was there; -1: it was not changed */
};

#define LEDGER_LEFT_ALONE ((struct ledger_deed){.slot = ROW_NONE, .before = -1})

/* One change of it more. */
static inline void ledger_deed_note(struct ledger_deed *deed, const struct row_change *change)
{
    int column = change->table == TABLE_GUID ? (int)GUID_LEDGER : (int)ACTIVITY_LEDGER;
    bool moves = change->kind == ROW_UPDATED && change->column == column;
    deed->slot = change->slot;
    deed->born = deed->born || change->kind == ROW_INSERTED;
    deed->before = moves && deed->before < 0 ? change->before : deed->before;
}

/* What a commit did, as its client is concerned. */
struct doing {
    uint32_t takes;            /* the slot of the message that it claimed, or published and kept */
    bool publishes;            /* ... and it is that */
    uint32_t keeps;            /* the slot whose time it changed, and that it had claimed before */
    bool acks;                 /* it took away the one that it had claimed before */
    int64_t published;         /* the last message that it published; 0: none */
    uint32_t again;            /* the slot of one that it had published before, and knew it */
    uint32_t escalation;       /* a row that came, of any message; ROW_NONE: none */
    struct ledger_deed ledger; /* the one that its claim enters */
    bool nothing; /* it changed nothing: it found its step made, or it extended its claim to the
                     very time that stands, after the clock had fallen back */
};

/* Entries held against claims (ACL-4, 6, 9, 12, 13, 15), of a commit. */
void seen_entries(struct judge *judge, const struct observed *seen,
                  const struct row_change *changes, size_t count, const struct doing *doing,
                  int64_t *cells);

#endif

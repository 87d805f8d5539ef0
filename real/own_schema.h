/* A schema that this process makes on a server, which may be somebody else's, and drops again; and
 * those that processes which are gone left there.
 *
 * The lock of a schema is an advisory one of the session, keyed by its name. The maker shares in it
 * on a connection of its own, and so does every connection of store and stepper to that schema
 * (own_schema_share): the server itself drops it when the last of them is gone, wherever they ran.
 *
 * (OS1) A name ends in 64 bits of chance: two processes never want the same, whatever their pid.
 * (OS2) Only what this process has made is dropped: nothing after a CREATE that failed, nor after
 *       one of which it is not known.
 * (OS3) A schema that is not to be kept carries a mark in its comment, from the transaction that
 *       makes it: its name, its OID, and when its server was started. Without that it is not
 *       Assay's: a name like ours, a comment that was copied from another schema, one that was
 *       renamed or came out of a dump are left alone.
 * (OS4) The maker is gone if nobody shares in the lock. It is taken before the schema is made. A
 *       server that was started again since the mark has forgotten who held what: then nothing can
 *       be told, and the schema is left alone.
 * (OS5) A schema is removed under its lock, held alone, after another look at its mark: two that
 *       clean up at a time do not meet.
 *
 * Limits. Who writes the mark of a schema by hand, with its right name and OID, cannot be told from
 * Assay. A living maker that loses all its connections at once without a restart of the server, or
 * that reaches it through a pooler that changes sessions between transactions, can be taken for
 * gone; it loses that schema of its own, and its run ends with 69. */
#ifndef REAL_OWN_SCHEMA_H
#define REAL_OWN_SCHEMA_H

#include "real/schema.h"
#include "real/store.h"

struct pg_conn;

struct own_schema {
    char name[SCHEMA_NAME_SIZE];
    bool made;            /* by this process, and not dropped yet */
    struct pg_conn *hold; /* shares in the lock and does nothing else; NULL: it has no mark */
};

struct own_schema_plan {
    const char *dsn;
    const char *verb;  /* lower-case letters: "real" makes assay_real_0f3a... */
    const char *about; /* the comment */
    uint64_t tables;   /* TABLE_SET */
    bool unmarked;     /* it is to be kept, or the server goes as a whole: no mark, no lock */
};

/* False: nothing is to be dropped, and *problem says why. */
bool own_schema_make(struct own_schema *own, const struct own_schema_plan *plan,
                     struct store_pg_problem *problem);
/* True if there was nothing to drop, too. The server may have moved since. */
bool own_schema_drop(struct own_schema *own, const char *dsn, struct store_pg_problem *problem);
/* It stays on the server; nothing of it is held any more. */
void own_schema_leave(struct own_schema *own);

/* The statement by which a connection shares in the lock of a schema; "" for a name that is not
 * made here. */
#define OWN_SCHEMA_SHARE_SIZE 96
void own_schema_share(const char *name, char statement[OWN_SCHEMA_SHARE_SIZE]);

/* ---- what others left ------------------------------------------------------------------------ */

enum own_schema_state {
    OWN_SCHEMA_HELD,   /* its maker lives */
    OWN_SCHEMA_GONE,   /* its maker is gone */
    OWN_SCHEMA_UNSURE, /* the server was started again since: nothing can be told */
    OWN_SCHEMA_STATES
};

#define OWN_SCHEMA_LIST_MAX 64
struct own_schema_list {
    size_t count; /* at most that many; others are found when these are gone */
    struct {
        char name[SCHEMA_NAME_SIZE];
        enum own_schema_state state;
    } each[OWN_SCHEMA_LIST_MAX];
};

/* Marked schemas of the DSN's database that its user may drop. */
bool own_schema_look(const char *dsn, struct own_schema_list *list,
                     struct store_pg_problem *problem);

/* Drops one whose maker is gone, with the roles that were made for it. *removed is false if it is
 * not such a one, or not any more. False: *problem says what went wrong. */
bool own_schema_remove(const char *dsn, const char *name, bool *removed,
                       struct store_pg_problem *problem);

#endif

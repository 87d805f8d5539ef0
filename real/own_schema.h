/* A schema that this process makes on a server, possibly a foreign one, and drops again; and the
 * cleanup of schemas whose makers are gone.
 *
 * The lock of a schema is an advisory lock of the session, keyed by its name. The maker shares it on
 * a connection of its own, and so does every connection of store and stepper to that schema
 * (own_schema_share). The server releases it when the last of them is gone, wherever they ran.
 *
 * (OS1) A name ends in 64 random bits: two processes never choose the same, whatever their pid.
 * (OS2) Only what this process has made is dropped: nothing after a CREATE that failed or whose
 *       outcome is unknown.
 * (OS3) A schema that is not to be kept carries a mark in its comment, from the transaction that
 *       makes it: its name, its OID, and the start time of its server. A schema without its own mark
 *       is not Assay's and is left alone: one with a similar name, with a comment copied from
 *       another schema, renamed, or restored from a dump.
 * (OS4) The maker is gone if no session shares the lock, which is taken before the schema is made.
 *       A server that restarted since the mark has lost its locks, so nothing is known and the
 *       schema is left alone.
 * (OS5) A schema is removed under its lock, held exclusively, after a second look at its mark: two
 *       cleanups at a time do not collide.
 *
 * Limits. A mark that is written by hand, with the right name and OID, looks like Assay's. A living
 * maker can be taken for gone if it loses all its connections at once without a restart of the
 * server, or reaches the server through a pooler that switches sessions between transactions. It
 * then loses that schema of its own, and its run ends with 69. */
#ifndef REAL_OWN_SCHEMA_H
#define REAL_OWN_SCHEMA_H

#include "model/error.h"
#include "real/schema.h"
#include "real/store.h"

struct pg_conn;

struct own_schema {
    char name[SCHEMA_NAME_SIZE];
    bool made;            /* by this process, and not dropped yet */
    struct pg_conn *hold; /* shares the lock and does nothing else; NULL: it has no mark */
};

struct own_schema_plan {
    const char *dsn;
    const char *verb;  /* lower-case letters: "real" makes assay_real_0f3a... */
    const char *about; /* the comment */
    uint64_t tables;   /* TABLE_SET */
    bool lockstep;     /* its clocks are set by each connection (schema.h) */
    bool unmarked;     /* it is kept, or the whole server is temporary: no mark, no lock */
};

/* False: nothing is to be dropped, and *error says why. */
bool own_schema_make(struct own_schema *own, const struct own_schema_plan *plan,
                     struct error *error);
/* True if there was nothing to drop, too. The server may have moved since. */
bool own_schema_drop(struct own_schema *own, const char *dsn, struct error *error);
/* Leaves it on the server and releases its lock. */
void own_schema_leave(struct own_schema *own);

/* The statement by which a connection shares the lock of a schema; "" for a name of another form. */
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
bool own_schema_look(const char *dsn, struct own_schema_list *list, struct error *error);

/* Drops one whose maker is gone, with the roles that were made for it. *removed is false if it is
 * not such a one, or not any more. False: *error says what went wrong. */
bool own_schema_remove(const char *dsn, const char *name, bool *removed, struct error *error);

#endif

/* The principals of model/rights.h as roles of a server: exactly the grants that stand there, as
 * many connections as each may have, and what a row that it inserts must say as a policy of the
 * table (E-CUT-14), with the same 42501.
 *
 * Roles belong to the whole server, so they are named by chance: nobody else's are in the way,
 * whatever the schema and the database are called. They may log in, with a password of their own,
 * and go with roles_drop_script, before the schema or after it.
 *
 * Text only, like schema.h: who runs it is store.h's business. */
#ifndef REAL_ROLES_H
#define REAL_ROLES_H

#include "model/rights.h"

/* What a principal waits for is bounded (E-CUT-16), and so far away that no run that goes on gets
 * there: a lock, the next statement of an open transaction. */
#define ROLES_LOCK_TIMEOUT_MS 60000
#define ROLES_IDLE_TIMEOUT_MS 120000

#define ROLES_NAME_SIZE   48
#define ROLES_SCRIPT_SIZE 8192

/* What a role's comment says in front of the name of its schema: by that it is found when its maker
 * is gone (own_schema.h). */
#define ROLES_COMMENT "made by assay for schema "

struct roles {
    uint32_t principals; /* PRINCIPAL_SET; none: there is nothing to make */
    uint32_t connections[PRINCIPAL_COUNT];
    char names[PRINCIPAL_COUNT][ROLES_NAME_SIZE]; /* assay_exec_0f3a... */
    char password[33];
};

/* An even number of hexadecimal digits, at most 32, by chance. */
void roles_draw_digits(char *text, size_t digits);

/* Names and a password that nobody can guess, and as many connections as the rights say. */
void roles_draw(struct roles *roles, uint32_t principals);

/* For a schema that is made. Who runs it is a member of the roles, and can act as them. */
void roles_script(const struct roles *roles, const char *schema, char script[ROLES_SCRIPT_SIZE]);
void roles_drop_script(const struct roles *roles, char script[ROLES_SCRIPT_SIZE]);

#endif

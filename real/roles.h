/* The principals of model/rights.h as roles of a server: their grants, their limits on connections,
 * and a policy of the table for the rows that each may insert (E-CUT-14), with the same 42501.
 *
 * Roles belong to the whole server, so their names are random: they collide with no other role. They
 * may log in, with a password of their own. roles_drop_script drops them, before the schema or after
 * it.
 *
 * Text only, like schema.h; store.h runs it. */
#ifndef REAL_ROLES_H
#define REAL_ROLES_H

#include "model/rights.h"

/* Bounds on a principal's waits (E-CUT-16) for a lock and for the next statement of an open
 * transaction. They are so long that no run that makes progress reaches them. */
#define ROLES_LOCK_TIMEOUT_MS 60000
#define ROLES_IDLE_TIMEOUT_MS 120000

#define ROLES_NAME_SIZE   48
#define ROLES_SCRIPT_SIZE 16384

/* A role's comment is this and the name of its schema. A cleanup finds the role by it when its maker
 * is gone (own_schema.h). */
#define ROLES_COMMENT "made by assay for schema "

struct roles {
    uint32_t principals; /* PRINCIPAL_SET; none: there is nothing to make */
    uint32_t connections[PRINCIPAL_COUNT];
    char names[PRINCIPAL_COUNT][ROLES_NAME_SIZE]; /* assay_exec_0f3a... */
    char password[33];
};

/* An even number of random hexadecimal digits, at most 32. */
void roles_draw_digits(char *text, size_t digits);

/* Random names and a random password, with the connections that the rights allow. */
void roles_draw(struct roles *roles, uint32_t principals);

/* For a schema that exists. The role that runs it becomes a member of these roles. */
void roles_script(const struct roles *roles, const char *schema, char script[ROLES_SCRIPT_SIZE]);
void roles_drop_script(const struct roles *roles, char script[ROLES_SCRIPT_SIZE]);

#endif

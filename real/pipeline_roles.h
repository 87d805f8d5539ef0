/* The two principals of the pipeline as roles of a server, with exactly the grants of its matrix:
 *
 *      cutter_exec     may insert everything but verify results, and write entry.status and
 *                      review_decision.superseded_by
 *      cutter_verify   may insert what a VERIFY brings, and write entry.status
 *
 * Each may log in, on 2 connections at most (CUT-18), and read all tables; nobody may delete
 * (CUT-21). A lane is no table, so grants cannot keep one principal out of the other's lane: a row
 * security policy of the signatures does (E-CUT-14), with the same 42501.
 *
 * Text only, like schema.h. Roles belong to the whole server: they carry the schema's name, and go
 * with pipeline_roles_drop_script once the schema is gone. */
#ifndef REAL_PIPELINE_ROLES_H
#define REAL_PIPELINE_ROLES_H

#include "model/rows.h"

#define PIPELINE_ROLES_NAME_SIZE   64
#define PIPELINE_ROLES_SCRIPT_SIZE 8192
#define PIPELINE_ROLES_CONNECTIONS 2

struct pipeline_role_name {
    char text[PIPELINE_ROLES_NAME_SIZE];
};

/* assay_exec_SCHEMA, assay_verify_SCHEMA */
struct pipeline_role_name pipeline_role(enum principal principal, const char *schema);

/* Whether the matrix lets the principal insert into the table, and write the column. */
bool pipeline_may_insert(enum principal principal, enum row_table table);
bool pipeline_may_write(enum principal principal, enum row_table table, int column);

/* For a schema that is made. */
void pipeline_roles_script(const char *schema, char script[PIPELINE_ROLES_SCRIPT_SIZE]);
void pipeline_roles_drop_script(const char *schema, char script[PIPELINE_ROLES_SCRIPT_SIZE]);

#endif

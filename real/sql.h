/* SQL of the primitives: for every row operation of model/primitive.h one template, and for the
 * primitives of several operations one statement that was written by hand. Text only. Calls that are
 * joined to one statement are compound.h's.
 *
 * A primitive is executed in one of two forms. *By operation*: one statement for each operation of
 * its list, values handed from one to the next in settings that end with the transaction. *Whole*:
 * one statement, where there is one for exactly this list. That both forms mean
 * what the list means on the rows of the simulation is what real/tests/test_store_pg.c proves. A
 * primitive that was altered (a planted bug) has no whole form and is executed by operation.
 *
 * A bundle's control flow happens on the server, so that it needs no second round trip:
 *   require      a miss calls a function that raises SQLSTATE AS and the refusal's number
 *                (schema.h). The transaction is over; which statement failed tells the call.
 *                A required insert of a key that is there fails by itself (23505), and so does
 *                any insert whose parent is not there (23503)
 *   unless done  a miss sets assay.skip until the transaction ends; every statement asks for it
 *                first and then does nothing. The transaction commits (B1)
 *
 * Parameters of every statement of a primitive: $1 .. $n are the call's. What time it is, the schema
 * says (SCHEMA_CLOCK, SCHEMA_WALL). All are bigint, and so is every column that comes back:
 *   first        1: the guard missed, and the rest of the bundle is skipped; 0: the call goes on;
 *                null, or no row at all: the statement did nothing, because it was skipped
 *   others       what is put into the outcome's values, at sql_statement.places; null: nothing
 *   or           (message) the claimed message, key first
 *
 * (Q1) A test and the write that hangs on it are one statement, and the cell is read under the
 *      lock that the write needs: the answer is the cell as it now is, also after a wait, and also
 *      when the test missed (PM1, PM2, E-ACL-25, E-ACL-26).
 * (Q2) No statement updates a row twice: one of the updates would be lost (E-ACL-24).
 * (Q3) Within a statement rows are locked in the order of (PM3), by what depends on what
 *      (E-ACL-28).
 * (Q4) Rows that stay are locked FOR NO KEY UPDATE, which excludes every other writer, as UPDATE
 *      itself does. FOR UPDATE would exclude the share locks of foreign keys, too: a cycle's Step
 *      2, which holds the job and refers to an activity, and that activity's own Step 2, which
 *      waits for the job, would lock each other out in spite of (PM3). */
#ifndef REAL_SQL_H
#define REAL_SQL_H

#include "model/bundle.h"

#define SQL_TEXT_SIZE     8192
#define SQL_SETTINGS_SIZE 1024
#define SQL_VALUES_MAX    7 /* columns after the first: those of Step 2 are the most */

enum sql_form { SQL_WHOLE, SQL_BY_OPERATION };

struct sql_statement {
    char text[SQL_TEXT_SIZE];
    uint8_t params;                       /* the call's */
    uint8_t places_count;                 /* columns after the first that are values */
    uint8_t places[PRIMITIVE_VALUES_MAX]; /* which value of the call each of them is */
    bool wall;                            /* it asks for the wall clock */
    bool message;                         /* columns after the first are a message */
};

/* How many statements a primitive takes in this form and mode. */
int sql_statement_count(const struct primitive *primitive, enum call_mode mode, enum sql_form form);

/* One of them. `schema` is sound (schema.h). */
void sql_statement(const struct primitive *primitive, enum call_mode mode, enum sql_form form,
                   int index, const char *schema, struct sql_statement *statement);

/* Fills in a pattern whose {miss:i} are this primitive's, called in this mode. */
void sql_fill(const struct primitive *primitive, enum call_mode mode, const char *schema,
              const char *pattern, char text[SQL_TEXT_SIZE]);

/* They consist of the same operations. */
bool sql_same_list(const struct primitive *left, const struct primitive *right);

/* What a connection must have set before it prepares any of these statements. */
void sql_settings(char script[SQL_SETTINGS_SIZE]);

#endif

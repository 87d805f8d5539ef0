/* What a principal may do. A transaction is sent by the caller, who has all rights, or by one of
 * the principals of rows.h: a role of the database with few connections and exactly the rights
 * listed here. This is the one table of rights: simulated stores consult it, and real/roles.h
 * derives grants from it.
 *
 * A missing right is 42501, whatever the rows are: a server checks it before it touches any. No
 * principal may delete (CUT-21), and only the caller may use the queue. */
#ifndef MODEL_RIGHTS_H
#define MODEL_RIGHTS_H

#include "model/primitive.h"
#include "model/table.h"

#define RIGHTS_CELLS_MAX 2

struct rights {
    const char *name;    /* of the principal: "exec" */
    uint8_t connections; /* the most that it may have open */
    uint64_t reads;      /* tables (TABLE_SET) */
    uint64_t inserts;
    uint8_t write_count;
    struct {
        uint8_t table, column;
    } writes[RIGHTS_CELLS_MAX]; /* all else is insert-only */
    uint8_t says_count;
    struct {
        uint8_t table, column;
        int64_t value;
    } says[RIGHTS_CELLS_MAX]; /* values that a row that it inserts must have */
};

/* A set of principals is or'ed of these. */
#define PRINCIPAL_SET(id) (UINT32_C(1) << PRINCIPAL_##id)

static inline bool principal_in(uint32_t set, enum principal principal)
{
    return (set >> principal & 1) != 0;
}

/* Of a principal; PRINCIPAL_NONE, which may do everything (rights_allow), has no right by name. */
const struct rights *rights_get(enum principal principal);

bool rights_to_write(const struct rights *rights, enum row_table table, int column);

/* Whether a principal, or the caller, may do the operation; whether a row that it inserts has the
 * required values. False: 42501. */
bool rights_allow(enum principal principal, const struct op *op);
bool rights_allow_row(enum principal principal, enum row_table table, const int64_t *columns);

#endif

/* What a principal may do. A transaction is the caller's, whom nothing binds, or that of one of the
 * principals of rows.h: a role of the database with few connections and exactly the rights that
 * stand here. The one table of them: simulated stores ask it, and real/roles.h makes grants of it.
 *
 * A right that is missing is 42501, whatever the rows are: a server looks before it touches any.
 * Nobody may delete (CUT-21), and the queue is nobody's but the caller's. */
#ifndef MODEL_RIGHTS_H
#define MODEL_RIGHTS_H

#include "model/primitive.h"
#include "model/table.h"

#define RIGHTS_CELLS_MAX 2

struct rights {
    const char *name;    /* of the principal: "exec" */
    uint8_t connections; /* that it may have at a time */
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
    } says[RIGHTS_CELLS_MAX]; /* what a row that it inserts must say */
};

/* A set of principals is or'ed of these. */
#define PRINCIPAL_SET(id) (UINT32_C(1) << PRINCIPAL_##id)

static inline bool principal_in(uint32_t set, enum principal principal)
{
    return (set >> principal & 1) != 0;
}

/* Of a principal; the caller has no entry. */
const struct rights *rights_get(enum principal principal);

bool rights_to_write(const struct rights *rights, enum row_table table, int column);

/* Whether a principal, or the caller, may do the operation; whether a row that it inserts says what
 * it must. False: 42501. */
bool rights_allow(enum principal principal, const struct op *op);
bool rights_allow_row(enum principal principal, enum row_table table, const int64_t *columns);

#endif

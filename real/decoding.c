#include "real/decoding.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#define QUERY_SIZE 300

static bool run(PGconn *connection, const char *query)
{
    PGresult *result = PQexec(connection, query);
    bool done = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    return done;
}

bool decoding_begin(PGconn *connection, const char *slot, bool temporary)
{
    char query[QUERY_SIZE];
    snprintf(query, sizeof query,
             "SELECT pg_create_logical_replication_slot('%s', 'test_decoding', %s)", slot,
             temporary ? "true" : "false");
    return run(connection, query);
}

bool decoding_end(PGconn *connection, const char *slot)
{
    char query[QUERY_SIZE];
    snprintf(query, sizeof query, "SELECT pg_drop_replication_slot('%s')", slot);
    return run(connection, query);
}

/* A slot that is further already stays where it is. */
static bool give_up(PGconn *connection, const char *slot, uint64_t from)
{
    char query[QUERY_SIZE];
    snprintf(query, sizeof query,
             "SELECT pg_replication_slot_advance(slot_name, '%" PRIX64 "/%" PRIX64
             "') FROM pg_replication_slots WHERE slot_name = '%s' AND confirmed_flush_lsn < "
             "'%" PRIX64 "/%" PRIX64 "'",
             from >> 32, from & UINT32_MAX, slot, from >> 32, from & UINT32_MAX);
    return run(connection, query);
}

/* "0/15C2348" */
static uint64_t place_of(const char *text)
{
    char *slash;
    uint64_t high = strtoull(text, &slash, 16);
    return high << 32 | (*slash == '/' ? strtoull(slash + 1, NULL, 16) : 0);
}

bool decoding_read(PGconn *connection, const char *slot, uint64_t from, decoding_reader *each,
                   void *context)
{
    char query[QUERY_SIZE];
    if (from != 0 && !give_up(connection, slot, from)) {
        return false;
    }
    snprintf(query, sizeof query,
             "SELECT lsn, xid, data FROM pg_logical_slot_peek_changes('%s', NULL, NULL)", slot);
    PGresult *lines = PQexec(connection, query);
    bool done = PQresultStatus(lines) == PGRES_TUPLES_OK;
    for (int i = 0; done && i < PQntuples(lines); i++) {
        each(context, &(struct decoding_line){
                          .place = place_of(PQgetvalue(lines, i, 0)),
                          .transaction = (uint32_t)strtoul(PQgetvalue(lines, i, 1), NULL, 10),
                          .text = PQgetvalue(lines, i, 2)});
    }
    PQclear(lines);
    return done;
}

/* What a text of SQL will do, as far as its words tell: without a catalogue, so a SELECT may write
 * (it may call a function that does). Pure. */
#ifndef WIRE_STATEMENT_H
#define WIRE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

enum statement_writes {
    STATEMENT_READS,     /* SHOW, SET, BEGIN, LISTEN, EXPLAIN without ANALYZE ... */
    STATEMENT_MAY_WRITE, /* SELECT, WITH, EXECUTE, CALL, DO ... */
    STATEMENT_WRITES     /* INSERT, UPDATE, DELETE, MERGE, COPY FROM, NOTIFY, DDL ... */
};

/* Of one statement, or of several in one text together. */
struct statement_facts {
    unsigned statements; /* that are not empty */
    enum statement_writes writes;
    bool begins;    /* BEGIN, START TRANSACTION, or AND CHAIN */
    bool commits;   /* COMMIT, END, also of a prepared transaction */
    bool renews;    /* COMMIT of a transaction that began in the text, after the end of another */
    bool rolls;     /* ROLLBACK, ABORT; not ROLLBACK TO */
    bool recovers;  /* ROLLBACK TO, after which a failed transaction goes on */
    bool prepares;  /* PREPARE TRANSACTION */
    bool calls;     /* CALL or DO */
    bool listens;   /* LISTEN */
    bool copies_in; /* COPY FROM STDIN, and nothing else */
    bool open;      /* after the last BEGIN there is no COMMIT and no ROLLBACK */
    bool closed;    /* after the last COMMIT or ROLLBACK there is no BEGIN */
    bool tail;      /* after the last COMMIT or ROLLBACK, outside of BEGIN, something may write */
};

/* The text need not be terminated, and need not be SQL. */
struct statement_facts statement_look(const char *text, size_t length);

#endif

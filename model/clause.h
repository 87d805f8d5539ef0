/* The promises Assay holds a protocol to, and the decisions where the specifications contradict
 * themselves: tables that tests, oracles and reports name by id and a user reads as a document.
 *
 * Five specifications, the seeds, are the source; a family of clauses belongs to each:
 *   ACL  seed 000  activity ledger, GUID ledger and job semaphore of the two-leg protocol
 *   SEQ  seed 001  the seq state machine with leases
 *   KEY  seed 002  the collation key
 *   LEG  seed 003  the activity ledger that seed 000 replaces
 *   CUT  seed 004  the pipeline MARK, REVIEW, CUT, VERIFY
 * and one is Assay's own, its example of a protocol:
 *   BOX            the inbox that applies each message once
 *
 * Clauses are written "ACL-19", errata "E-ACL-19". Owns nothing but constant tables; oracles may
 * use the ids (they need no object code), everybody else the tables too. */
#ifndef MODEL_CLAUSE_H
#define MODEL_CLAUSE_H

#include <stdbool.h>
#include <stddef.h>

/* CLAUSE_FAMILY_ACL, ... */
enum clause_family {
#define FAMILY(id, seed, about) CLAUSE_FAMILY_##id,
#include "model/families.def"
#undef FAMILY
    CLAUSE_FAMILY_COUNT
};

/* How a clause is shown to hold. */
enum clause_kind {
    CLAUSE_KIND_FMT,    /* arithmetic or format: unit tests */
    CLAUSE_KIND_LIMIT,  /* behaviour at a boundary */
    CLAUSE_KIND_SAFE,   /* safety invariant: checked at every commit of every run */
    CLAUSE_KIND_LIVE,   /* liveness: checked after faults stop */
    CLAUSE_KIND_PATH,   /* a path that must be seen taken */
    CLAUSE_KIND_GOLDEN, /* a worked example, reproduced digit by digit */
    CLAUSE_KIND_IMPL,   /* a rule about how it is built */
    CLAUSE_KIND_COUNT
};

/* CLAUSE_ACL_1, CLAUSE_ACL_2, ... */
enum clause_id {
#define CLAUSE(family, number, kind, section, promise) CLAUSE_##family##_##number,
#include "model/clauses.def"
#undef CLAUSE
    CLAUSE_COUNT
};

struct clause {
    const char *id;            /* "ACL-19" */
    enum clause_family family; /* which specification it comes from */
    enum clause_kind kind;     /* how it is shown */
    const char *section;       /* where in that specification */
    const char *promise;       /* what is promised */
};

struct erratum {
    const char *id;            /* "E-ACL-4" */
    enum clause_family family; /* which specification it is about */
    const char *text;          /* what the specification says, or leaves out */
    const char *problem;       /* what goes wrong when it is followed */
    const char *decided;       /* what Assay does instead */
};

/* A number that is no erratum: nobody has to accept it. */
struct withdrawn {
    const char *id;            /* "E-ACL-15" */
    enum clause_family family; /* which specification it would be about */
    const char *why;
};

const struct clause *clause_get(enum clause_id id);

/* The clause written as text[0..length), such as "KEY-3". False if there is none. */
bool clause_find(const char *text, size_t length, enum clause_id *found);

size_t clause_errata_count(void);
const struct erratum *clause_erratum(size_t index);

size_t clause_withdrawn_count(void);
const struct withdrawn *clause_withdrawn(size_t index);

/* "ACL", "000" (Assay's own: "none"), and one line on what the specification is about. */
const char *clause_family_name(enum clause_family family);
const char *clause_family_seed(enum clause_family family);
const char *clause_family_about(enum clause_family family);

/* "fmt", "limit", ... and what it means. */
const char *clause_kind_name(enum clause_kind kind);
const char *clause_kind_about(enum clause_kind kind);

#endif

/* Evidence: what the lines of one or many results.jsonl add up to. Everything that people are shown
 * (report.h, sign_off.h) is said of this and of nothing else, so that a page, a JUnit file and an
 * exit status cannot disagree.
 *
 * A file holds sessions: a line "begin" with the verb and where it ran, the verb's results, a line
 * "end" with its exit status. A session without its end was killed. Lines of several files one
 * after the other are the evidence of all of them, whatever order they come in. What is no such
 * file (line.h) is refused.
 *
 * (EV1) Runs with a planted bug say nothing about a promise: they count as kills, or as runs that
 *       broke, never as evaluations.
 * (EV2) Neither does how fast something is: a bar that a benchmark missed is told as such, and
 *       leaves the verdict alone.
 * (EV3) A new finding is a broken promise from its line on, however its session ends; with a
 *       planted bug it is a bug that was caught. Where the session expected one (--expect-finding)
 *       and ended, it counts as 0 and the reason says so.
 * (EV4) What breaks where a scenario is there to break it is told of the clause by the scenario's
 *       name, and is no finding. A session of this one run ends with 1 all the same.
 * (EV5) An exit status does not outweigh what its session says: a scenario with new findings, a
 *       regression that broke, runs on a server that ended otherwise, a gate that was not met, a
 *       planted bug that survived, a difference from PostgreSQL, a run that was not deterministic.
 *       Each of these is a reason (verdict.h), and so is a status that no line explains.
 * (EV6) Nothing held where nothing ran: a session that ended with 0 and shows no run (line.h), or
 *       evidence without any, is incomplete.
 * (EV7) A bug that was planted in runs and that no finding shows has survived, if the session
 *       ended by itself. */
#ifndef REPORTS_EVIDENCE_H
#define REPORTS_EVIDENCE_H

#include "model/clause.h"
#include "model/error.h"
#include "model/oracle/oracle.h"
#include "reports/line.h"
#include "reports/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum evidence_world { EVIDENCE_SIM, EVIDENCE_REAL, EVIDENCE_WORLDS };

#define EVIDENCE_SIDES      3 /* before begin, before commit, after commit */
#define EVIDENCE_DEPTHS     3
#define EVIDENCE_POINTS_MAX 256

extern const char *const evidence_sides[EVIDENCE_SIDES];

/* What is known of one promise. */
struct evidence_clause {
    uint64_t evaluated[EVIDENCE_WORLDS];
    uint64_t findings;    /* that are new */
    uint64_t planted;     /* ... of these by planted bugs */
    uint64_t known;       /* that were listed as known (--known) */
    uint64_t expected;    /* where a scenario is there to break it */
    char broken_in[80];   /* those scenarios; "": none broke it */
    bool weakness;        /* a scenario is there to break it */
    uint64_t sabotages;   /* planted bugs that it found first */
    const char *sabotage; /* the first of them; NULL: none */
    const char *alone;    /* one that it reports with every other promise off; NULL: none */
};

/* Crashes in one kind of transaction. */
struct evidence_point {
    const char *protocol, *phase;
    uint64_t crashes[EVIDENCE_WORLDS][EVIDENCE_SIDES][EVIDENCE_DEPTHS];
    bool told[EVIDENCE_WORLDS][EVIDENCE_DEPTHS]; /* some line counts there, if only to 0 */
};

struct evidence {
    json_t *lines;           /* all of them; each knows its session's verb as "verb" */
    json_t *begin;           /* the first "begin", borrowed; NULL: none */
    char servers[200];       /* the PostgreSQL that was run on, each once; "": none */
    size_t sessions, killed; /* killed: without an end */
    struct verdict verdict;  /* of all sessions, when all is added */
    int status;              /* ... its status */
    bool any_ran;            /* some session shows that something ran */
    struct evidence_session {
        bool open, expecting; /* it has no end yet; it expects a finding */
        bool ran;             /* it shows that something ran */
        bool interrupted;     /* it was, by a signal */
        uint64_t made;        /* new findings */
        int said;             /* the worst status that a line of it has */
        char verb[32];
        char planted[80]; /* the bug that its command plants; "": none */
        char bounded[80]; /* the scenario whose search stopped at a bound; "": none */
        json_t *bugs;     /* planted in its runs: by name, whether a finding shows it */
        struct verdict verdict;
    } session; /* the one that is read */
    bool measured[EVIDENCE_WORLDS];
    json_t *protocols; /* whose runs were watched, in either world: the set of their names */
    struct evidence_clause clauses[CLAUSE_COUNT];
    uint64_t seen[EVIDENCE_WORLDS][COVER_COUNT];
    json_t *fired[EVIDENCE_WORLDS]; /* by kind of fault */
    struct evidence_point points[EVIDENCE_POINTS_MAX];
    size_t point_count;
    json_t *found;     /* the findings that are counted: the set of their keys */
    uint64_t findings; /* that are new */
    uint64_t known;    /* ... that are not */
    json_t *suites;    /* of unit tests, by name: whether they passed */
};

/* Adds lines. `origin` names them in messages. */
void evidence_begin(struct evidence *evidence);
bool evidence_add(struct evidence *evidence, const char *text, size_t length, const char *origin,
                  struct error *error);
/* All are added: what depends on all of them. */
void evidence_end(struct evidence *evidence);
void evidence_free(struct evidence *evidence);

/* Whether sessions of this verb are there, and all of them ended with status 0. */
bool evidence_has(const struct evidence *evidence, const char *verb);

/* How many promises were put to the test, of CLAUSE_COUNT. */
uint64_t evidence_covered(const struct evidence *evidence);

/* Whether one build made all of it: sessions that say what they were built of say the same. */
bool evidence_is_of_one_build(const struct evidence *evidence);

/* Notes a finding by its name and the line that makes it again. False: it was noted before, by
 * another session that found the very same, and counts once. */
bool evidence_is_first(json_t *found, const json_t *finding);

/* The line is about runs with a planted bug. */
bool evidence_is_planted(const json_t *line);

/* Of a table of a line, or of the report (report.h): "", or the text of a member; 0, or its number.
 * Members of a line are line.h's. */
const char *evidence_text(const json_t *line, const char *key);
uint64_t evidence_number(const json_t *line, const char *key);

/* Of two counts; a sum that would be too large stays as large as it can be. */
uint64_t evidence_sum_of(uint64_t one, json_int_t other);
bool evidence_is(const json_t *line, const char *key, const char *text);

#endif

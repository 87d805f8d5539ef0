/* Where a fault hits and which: "a:13:kill-after" is worker a, its 13th counting commit, killed after
 * the commit happened and before anyone was told.
 *
 * Workers are a to h, clients x to z. A commit counts if it has a transaction id and its statements
 * are not background; its number is given when it is announced, just before it happens. */
#ifndef WIRE_POINT_H
#define WIRE_POINT_H

#include <stdbool.h>
#include <stddef.h>

#define POINT_DEPTH_MAX 2
#define POINT_TEXT_SIZE 64

enum point_act {
    POINT_NOTHING,      /* the control arm: held as long, and let go */
    POINT_KILL,         /* the whole tree of the worker */
    POINT_CUT,          /* this connection */
    POINT_CUT_ALL,      /* all of this worker */
    POINT_CUT_LISTENER, /* the worker's connection that listens for notifications */
    POINT_CUT_IDLE,     /* the worker's connections that are in no transaction, but this one */
    POINT_LATE,         /* killed; the commit happens after a successor acted */
    POINT_HALF_OPEN,    /* killed; the backend keeps its locks meanwhile, then rolls back */
    POINT_PAUSE,        /* stopped, and woken after a successor acted */
    POINT_RESTART,      /* the server crashes and recovers */
    POINT_RAISE,        /* an SQLSTATE inside the transaction */
    POINT_END           /* the backend ends: 57P01 */
};

struct point_fault {
    const char *name;
    enum point_act act;
    bool after; /* the commit */
    const char *sqlstate;
    const char *words; /* after "worker a" */
};

/* In the order in which a sweep tries them: answers lost and kills after a commit first. */
extern const struct point_fault point_faults[];
extern const size_t point_fault_count;
extern const struct point_fault point_control_before, point_control_after;

struct point {
    char worker;
    unsigned ordinal;
    const struct point_fault *fault;
};

/* A fault by its name, or NULL. */
const struct point_fault *point_fault_find(const char *name);
/* Whether the fault is one of a list such as "kill,cut,40001": a word stands for all that begin with
 * it. */
bool point_fault_is_of(const struct point_fault *fault, const char *list);
/* Whether every word of such a list names a fault; if not, *word is the first that does not. */
bool point_list_is_sound(const char *list, char *word, size_t size);

/* Up to POINT_DEPTH_MAX points with a comma between. False: it is none. */
bool point_parse(const char *text, struct point *points, size_t *count);
void point_write(const struct point *points, size_t count, char text[2 * POINT_TEXT_SIZE]);

#endif

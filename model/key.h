/* The collation key: the state of every activity of a job in one number of 15 digits (seed 002).
 *
 * An activity has a digit, the most significant digit being position 0. A change of state is one
 * subtraction at the activity's weight. A store makes it by a single atomic add, and the value that
 * this returns says whether the job is now complete.
 *
 * Owns the digits, the positions, the table of changes and the rule of skipping. Never stores a
 * key, never decides which branch an activity takes, and knows nothing of parentheses: nested flows
 * are text (model/key_text.h). A value from a store is data: one that is no key is refused by an
 * outcome, never by a CHECK, since a sabotaged protocol can write anything.
 *
 * (KE1) A key is 1 to 15 digits from 9 to 3, then zeros up to 15 digits; never a 1 or a 2.
 * (KE2) A change moves one digit, from the one it expects, and downwards: it cannot borrow.
 * (KE3) A complete key never changes again, so exactly one change completes a job.
 * (KE4) A graph has no self edge and no edge to an activity it does not have; it is acyclic where
 *       skips are judged.
 * (KE5) Where every change comes with its skips, no pending activity waits for dead edges alone. */
#ifndef MODEL_KEY_H
#define MODEL_KEY_H

#include "model/digits.h"

#define KEY_ACTIVITIES_MAX 15

/* ---- digits -------------------------------------------------------------------------------- */

/* KEY-1. The parentheses occur in composed text only. */
enum key_digit {
    KEY_NONE = 0,      /* the flow has no activity at this position */
    KEY_LEFT = 1,      /* the flow that the activity before it awaits begins */
    KEY_RIGHT = 2,     /* that flow ends */
    KEY_SKIPPED = 3,   /* will never run */
    KEY_RELEASED = 4,  /* completed, was paused */
    KEY_PAUSED = 5,    /* completed, held until it is released */
    KEY_COMPLETED = 6, /* ran, with success */
    KEY_ERRORED = 7,   /* ran, without success */
    KEY_STARTED = 8,   /* running, or suspended while it awaits another flow */
    KEY_PENDING = 9    /* not yet begun */
};

/* "pending", "left parenthesis", ... */
const char *key_digit_name(enum key_digit digit);

/* What one unit of the digit at a position counts: 10^14 at position 0, 1 at position 14. */
int64_t key_weight(int position);

/* How many activities the key has; 0 if the value is no key (KE1). */
int key_activities(int64_t key);
bool key_valid(int64_t key);

/* The digit at a position of any value; KEY_NONE where there is none. */
enum key_digit key_get(int64_t value, int position);

/* The 15 digits of any value; question marks if it has more, or is negative. */
void key_format(int64_t value, char out[DIGITS_TEXT_SIZE]);

/* KEY-9: the key of a flow of 1 to 15 activities before anything happened. */
int64_t key_initial(int activities);

/* KEY-4. A value that is no key is neither complete nor in error. A key in error may still have
 * active digits; a job completed in error when both hold. */
bool key_complete(int64_t key);
bool key_in_error(int64_t key);

/* ---- positions ----------------------------------------------------------------------------- */

struct key_id {
    const char *text; /* the bytes of an activity's id, not terminated */
    size_t length;    /* how many */
};

enum key_placing {
    KEY_PLACED,
    KEY_PLACE_NO_ID,    /* a flow of no activity */
    KEY_PLACE_TOO_MANY, /* more than 15 */
    KEY_PLACE_EMPTY,    /* an id of no character */
    KEY_PLACE_TWIN      /* an id that an earlier activity has */
};

struct key_places {
    enum key_placing outcome;         /* KEY_PLACED, or why these ids have no positions */
    size_t at;                        /* index of the first id that is refused */
    int position[KEY_ACTIVITIES_MAX]; /* when placed: the position of ids[i] */
};

/* KEY-2: the position of each id in ascending bytewise order, a prefix before a longer id. */
struct key_places key_place(const struct key_id *ids, size_t count);

/* What would be right, as a sentence without its full stop: "a flow has at most 15 activities". */
const char *key_placing_rule(enum key_placing outcome);

/* ---- changes ------------------------------------------------------------------------------- */

enum key_change {
    KEY_CHANGE_START,    /* 9 to 8 */
    KEY_CHANGE_ERROR,    /* 8 to 7 */
    KEY_CHANGE_COMPLETE, /* 8 to 6 */
    KEY_CHANGE_PAUSE,    /* 6 to 5 */
    KEY_CHANGE_HOLD,     /* 8 to 5: the work is finished and held at once (E-KEY-2) */
    KEY_CHANGE_RELEASE,  /* 5 to 4 */
    KEY_CHANGE_SKIP,     /* 9 to 3 */
    KEY_CHANGE_COUNT
};

/* "start", "error", ... */
const char *key_change_name(enum key_change change);

/* The guard and the add of a change, for a store: the digit that must be there before, and the
 * negative number to add. A pause is guarded by !key_complete too (KE3). */
enum key_digit key_expected(enum key_change change);
int64_t key_delta(enum key_change change, int position);

enum key_outcome {
    KEY_CHANGED,
    KEY_REFUSED_VALUE,    /* the value is no key, or not one of the graph's job */
    KEY_REFUSED_POSITION, /* the key has no activity there */
    KEY_REFUSED_DIGIT,    /* the activity's digit is not the one the change expects */
    KEY_REFUSED_COMPLETE  /* the job is complete; pausing a completed activity would reopen it */
};

struct key_result {
    enum key_outcome outcome; /* changed, or why not */
    enum key_digit found;     /* the activity's digit before; KEY_NONE if it has none */
    bool completes;           /* this change completed the job: KEY-10 */
    uint16_t skipped;         /* the activities skipped with it, a bit a position */
    int64_t delta;            /* the one number to add, skips included; 0 when refused */
    int64_t key;              /* the key after; as it was when refused */
};

/* One change of one activity. Total: every value, position and digit has an outcome. */
struct key_result key_apply(int64_t key, int position, enum key_change change);

/* Asserts that a change made this of a key: (KE1) to (KE3). */
void key_check(int64_t before, int position, enum key_change change, int64_t after);

/* ---- graph and skips ----------------------------------------------------------------------- */

struct key_graph {
    int count;                         /* activities, 1 to 15 */
    uint16_t next[KEY_ACTIVITIES_MAX]; /* by position: its children, a bit a position */
};

enum key_edge {
    KEY_EDGE_ADDED,
    KEY_EDGE_OUTSIDE, /* from or to an activity that the graph does not have */
    KEY_EDGE_SELF     /* an activity cannot follow itself */
};

/* Adding an edge twice is harmless. */
enum key_edge key_graph_add(struct key_graph *graph, int from, int to);
bool key_graph_acyclic(const struct key_graph *graph);

/* One change and all the skips that follow from it, as one add (KEY-5, E-KEY-5).
 *
 * An edge is dead when its source errored, was skipped, or finished without taking it; a pending
 * activity is skipped when it has incoming edges and all are dead, and so on downwards. Digits do
 * not tell which edges were taken: untaken[i] names the children that the finished activity i is
 * known not to have taken, the one that finishes now included. It is not read for others.
 *
 * A start or a pause kills no edge and skips nothing. A hold or a release can, as completing does:
 * else the branch that held work did not take would stay pending for ever. */
struct key_result key_apply_skipping(const struct key_graph *graph,
                                     const uint16_t untaken[KEY_ACTIVITIES_MAX], int64_t key,
                                     int position, enum key_change change);

#endif

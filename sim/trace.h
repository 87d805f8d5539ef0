/* A trace: a run in words, one line an event, and a recorder that keeps what a story needs.
 *
 *       step  when   who        what                      outcome      what changed
 *         12  t=11   worker 1   Step 2 of trigger         committed    job semaphore 1 -> 2; ...
 *
 * It reads events and rows through the observer of run.h and never changes a run. Names are those
 * of names.h.
 *
 * (V1) Equal runs give equal lines; nothing in a line depends on an address, an id or a slot.
 * (V2) A record outlives its run: it copies what it needs of the rows during the event. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "model/text.h"
#include "sim/names.h"
#include "sim/run.h"

#include <stdio.h>

#define TRACE_WHAT_SIZE    160
#define TRACE_OUTCOME_SIZE 120
#define TRACE_EFFECT_SIZE  1400 /* a Step 2 with GRAPH_CHILDREN_MAX children fits */

/* One event in words. */
struct trace_line {
    uint32_t step;
    int64_t now;
    unsigned actor; /* whose turn it was; CHOICE_NOBODY: no actor's */
    enum run_turn turn;
    enum fault_kind fault;
    bool usual;              /* no fault, and the transaction did what it was sent for */
    bool committed;          /* its changes are committed */
    enum bundle_name bundle; /* BUNDLE_NAME_COUNT: none was sent or held back */
    int64_t leg;             /* enum message_kind of the message it was about; 0: none */
    uint64_t digest;         /* of the run so far */
    const char *who;         /* "worker 1" */
    const char *subject;     /* what it was about, such as an activity; "" if nothing */
    const char *what;        /* "Step 2 of trigger" */
    const char *outcome;     /* "committed", "dies before COMMIT", ... */
    const char *effect;      /* what changed; "" if nothing did */
};

/* The memory of a line's texts. */
struct trace_words {
    struct name who, subject;
    char what[TRACE_WHAT_SIZE];
    char outcome[TRACE_OUTCOME_SIZE];
    char effect[TRACE_EFFECT_SIZE];
};

struct trace_line trace_describe(const struct scenario *scenario, const struct run_event *event,
                                 struct trace_words *words);

/* Writes one line of text. `alarm` and `plain` enclose what is unusual: two escape sequences, or
 * two empty strings. */
void trace_write(FILE *out, const struct trace_line *line, const char *alarm, const char *plain);

/* Whether these rows show that the protocol of the scenario has halted, and why, in one line. */
#define TRACE_HALT_SIZE 192
bool trace_halted(const struct scenario *scenario, const struct rows *rows,
                  char why[TRACE_HALT_SIZE]);

/* The digit string of a ledger, or the bare number if it is none. */
struct trace_digits {
    char text[24];
};
struct trace_digits trace_ledger(int64_t value);

/* ---- for the words of a protocol (part.h) ---------------------------------------------------- */

/* Adds a phrase to a list; what does not fit is cut. */
void trace_add(struct text *list, const char *separator, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An event, and the list that describes it. */
struct trace_effect {
    struct names names;
    const struct run_event *event;
    struct text *list;
};

/* Whether the event was about a message. A claim that failed was about none. */
bool trace_is_about_message(const struct run_event *event);

/* The current value of an updated cell. */
int64_t trace_now(const struct trace_effect *effect, const struct row_change *change);

/* Described already, by the first write of its cell or by the row's insertion. */
bool trace_is_repeated(const struct run_event *event, size_t index);

/* A change of a message of the queue: acked, held, visible again. */
void trace_tell_message(const struct trace_effect *effect, const struct row_change *change);

/* The messages that were published; one that `is_child` (NULL: none) is called by its subject. */
void trace_tell_published(const struct trace_effect *effect,
                          bool (*is_child)(const struct run_event *event, const int64_t *message));

/* ---- recording ------------------------------------------------------------------------------- */

/* A row that an event wrote. */
struct trace_change {
    uint8_t table;  /* enum row_table */
    uint8_t kind;   /* enum row_change_kind */
    uint8_t column; /* ROW_UPDATED: which cell */
    uint32_t slot;
    int64_t key;
    int64_t before, after; /* ROW_UPDATED: of the cell, over the whole event */
};

struct trace_record {
    struct trace_line line; /* its texts are the record's */
    struct trace_change *changes;
    size_t change_count;
    void *memory; /* owns all of the above */
};

struct trace {
    const struct scenario *scenario;
    struct trace_record *records; /* one a step */
    size_t count, capacity;
    bool failed; /* no memory: records are missing */
};

/* An empty trace; a run adds records if its observer is trace_observe, with the trace as
 * context. */
struct trace trace_begin(const struct scenario *scenario);
void trace_observe(void *context, const struct run_event *event);
void trace_free(struct trace *trace);

#endif

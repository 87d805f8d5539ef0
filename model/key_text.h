/* Compositional status as text: a flow's collation key, and inside it, in parentheses, the keys of
 * the flows that its activities await (KEY-6).
 *
 *      9999 6 1 466366 2 9      flow A 999969000000000, whose activity 5 awaits
 *           |   |               flow B 466366000000000
 *           |   flow B
 *           activity 5 of flow A
 *
 * Traces, stories and findings write it (sim/flow_status.h), `assay decode` reads it; the oracle of the
 * key protocol composes by itself and compares.
 *
 * Owns the grammar: flow = activity+ 0*, activity = 3..9 group?, group = 1 flow 2. The digits are
 * the truth, whatever was said of them: here flow B is complete and flow A is not (E-KEY-1).
 * A composed text may exceed 15 digits and is never a number. Any depth, bounded by the caller's
 * array alone; no recursion.
 *
 * (KT1) flows[0] is the outermost; every other flow has a parent earlier in the array.
 * (KT2) A flow is awaited by an activity that was started, digit 8 to 4: a 9 has awaited nothing
 *       yet and a 3 never will. An activity awaits one flow at most.
 * (KT3) Parsing what was composed gives the flows in the order of their left parentheses, and
 *       composing those gives the same text: a text has one form, without trailing zeros. */
#ifndef MODEL_KEY_TEXT_H
#define MODEL_KEY_TEXT_H

#include "model/key.h"
#include "model/text_error.h"

struct key_flow {
    int64_t key;  /* the state of its own activities, model/key.h */
    int parent;   /* index of the flow that awaits it, -1 for the outermost */
    int position; /* of the awaiting activity in the parent; 0 and unread for the outermost */
};

/* Bytes that the text of so many flows always fits in, terminator included. */
#define KEY_TEXT_SIZE(flows) ((size_t)(flows) * (KEY_ACTIVITIES_MAX + 2))

enum key_text_outcome {
    KEY_TEXT_COMPOSED,
    KEY_TEXT_TOO_SMALL,    /* the text and its terminator do not fit */
    KEY_TEXT_NO_FLOW,      /* there is nothing to compose */
    KEY_TEXT_NOT_A_KEY,    /* a flow's key is not valid */
    KEY_TEXT_PARENT_LATER, /* (KT1) does not hold */
    KEY_TEXT_CANNOT_AWAIT, /* (KT2) the parent's digit there is no 8, 7, 6, 5 or 4 */
    KEY_TEXT_AWAITS_TWICE  /* (KT2) two flows for one activity */
};

/* Writes the text, terminated; refused, it writes an empty one. Flows in the order of their left
 * parentheses take one pass; in any other order each group costs a search of the array. */
enum key_text_outcome key_text_compose(const struct key_flow *flows, int count, char *out,
                                       size_t size);

/* Asserts (KT1) and (KT2) of flows in the order of their left parentheses. */
void key_text_check(const struct key_flow *flows, int count);

/* Reads a text into at most `capacity` flows, in the order of their left parentheses. On refusal
 * *count is untouched and *error says why. */
bool key_text_parse(const char *text, size_t length, struct key_flow *flows, int capacity,
                    int *count, struct text_error *error);

#endif

/* The flows of a scenario of the key protocol, as YAML:
 *
 *      cases: 3
 *      flows:
 *        story:                         # the first is what a client begins
 *          quick: [brown]               # short for {next: [brown]}
 *          brown: [fox]
 *          fox: [{to: jumped, when: [1]}, {to: slept, when: [2, 3]}]
 *          slept: [ate]
 *          ate: {holds: [2], errors: [3]}
 *
 * Jobs take the cases in turn, from 1; a list of cases says in which something happens, and an
 * empty one never. An activity that only follows others needs no key of its own. Private to
 * scenarios/. */
#ifndef SCENARIOS_FLOW_TEXT_H
#define SCENARIOS_FLOW_TEXT_H

#include "model/flow.h"
#include "scenarios/reader.h"

/* What is known about the flows while they are read, beside the scenario's book, which lists
 * activities in the order of their first mention. */
struct flow_draft {
    size_t line;                         /* of the key flows */
    size_t case_line;                    /* of the mention of the greatest case */
    int greatest_case;                   /* that case, from 1; 0: none is named */
    size_t lines[FLOW_SHAPES_MAX];       /* of each flow */
    uint16_t described[FLOW_SHAPES_MAX]; /* activities with a key of their own */
    struct {
        char flow[FLOW_NAME_SIZE]; /* "": none */
        size_t line;
    } awaits[FLOW_SHAPES_MAX][KEY_ACTIVITIES_MAX];
};

bool flow_text_read(struct reader *reader, struct flow_book *book, struct flow_draft *draft);

/* Numbers every activity and checks the whole. */
bool flow_text_build(struct reader *reader, struct flow_book *book, const struct flow_draft *draft);

#endif

/* What the scenario of a key protocol asks for: its flows with their activities in positions, and
 * the digit that each activity must end with in each case. Written from the specification, the
 * errata and scenarios/MEANING.md. */
#ifndef MODEL_ORACLE_EXPECTED_FLOW_H
#define MODEL_ORACLE_EXPECTED_FLOW_H

#include "model/oracle/document.h"

#define EXPECTED_FLOWS     4
#define EXPECTED_CASES     8
#define EXPECTED_POSITIONS 15
#define EXPECTED_NAME_SIZE 16

/* A set of cases has a bit for each, from 0. */
struct expected_place {
    char name[EXPECTED_NAME_SIZE];
    uint16_t next;                    /* its children, a bit a position */
    uint8_t when[EXPECTED_POSITIONS]; /* of each child: the cases in which it is taken */
    uint8_t errors, holds, pauses;    /* the cases in which it does so */
    int8_t awaits;                    /* which flow; -1: none */
    uint8_t digit[EXPECTED_CASES]; /* that it ends with: 7, 6, 4 or 3; where it is to be paused, a
                                      6 may have become a 4 */
};

struct expected_flow {
    char name[EXPECTED_NAME_SIZE];
    int places;
    struct expected_place place[EXPECTED_POSITIONS]; /* by position */
};

struct expected_flows {
    int64_t jobs; /* runs of the first flow: job j takes case j mod cases */
    int cases, flows;
    struct expected_flow flow[EXPECTED_FLOWS];
};

void expected_flow_read(const struct document *scenario, struct expected_flows *expected);

/* The key of the flow that job j asks for. */
int64_t expected_flow_id(int64_t job);

/* The children that an activity decides against in a case, a bit a position. */
uint16_t expected_flow_leaves(const struct expected_place *place, int at);

/* Whether an activity may end with this digit. */
bool expected_flow_ends(const struct expected_place *place, int at, int digit);

#endif

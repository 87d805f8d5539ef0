/* What must happen in a run, computed from the scenario's text (document.h) and the specification
 * alone: not by running an engine, not from rows that one wrote.
 *
 * Each protocol has an evaluator of its own, expected_NAME.[ch], written from the specification,
 * the errata and scenarios/MEANING.md. It reads the text into a plain struct once a scenario
 * (monitors->expect); the monitors hold rows against it. It includes no header of an engine, and
 * none of the graph and rules that engines share with the loader.
 *
 * (EX1) An expectation is a function of the text.
 * (EX2) Where the specification leaves the choice to the schedule, it is a set of outcomes, and a
 *       monitor asks whether what came is one of them. */
#ifndef MODEL_ORACLE_EXPECTATION_H
#define MODEL_ORACLE_EXPECTATION_H

#include "model/oracle/expected_activity.h"
#include "model/oracle/expected_flow.h"
#include "model/oracle/expected_legacy.h"
#include "model/oracle/expected_pipeline.h"
#include "model/oracle/expected_seq.h"

struct expectation {
    union {
        struct expected_activity activity;
        struct {
            int64_t messages, accounts; /* message j is for account j mod accounts */
        } inbox;
        struct expected_flows flow;
        struct expected_legacy legacy;
        struct expected_seq seq;
        struct expected_pipeline pipeline;
    } of; /* of the run's protocol */
};

#endif

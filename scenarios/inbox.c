/* The keys of a scenario of the inbox protocol: accounts. */
#include "model/inbox.h"
#include "scenarios/part.h"

static const struct scenario_part_number numbers[] = {
    SCENARIO_PART_OWN_NUMBER("accounts", inbox_rules, accounts, 100)};

const struct scenario_part scenario_part_inbox = {SCENARIO_PART_NUMBERS(numbers),
                                                  .needs = "accounts"};

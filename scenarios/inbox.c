/* The keys of a scenario of the inbox protocol: accounts. */
#include "scenarios/part.h"

static const struct part_number numbers[] = {PART_NUMBER("accounts", of.inbox.accounts, 100)};

const struct scenario_part scenario_part_inbox = {PART_NUMBERS(numbers), .needs = "accounts"};

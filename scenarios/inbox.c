/* What a scenario of the inbox protocol has: accounts. */
#include "scenarios/part.h"

#include <inttypes.h>

static bool read_accounts(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return part_read_count(reader, 100, &loading->scenario->inbox.accounts);
}

static const struct reader_field fields[] = {{"timeout", part_read_timeout},
                                             {"accounts", read_accounts}};

static bool check(struct reader *reader, struct loading *loading)
{
    return loading->scenario->inbox.accounts > 0 ||
           reader_fail(reader, 1, "the key accounts is missing; it is a number");
}

static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    rules->of.inbox = scenario->inbox;
}

static void make_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    rows[TABLE_ACCOUNT] = scenario->inbox.accounts;
    rows[TABLE_INBOX] = scenario->jobs;
    rows[TABLE_MESSAGE] = 4 * scenario->jobs + 64; /* sent again, duplicated, replayed */
}

static void write_keys(struct page *page, const struct scenario *scenario, const bool *gone)
{
    (void)gone;
    page_put(page, "accounts: %" PRIu32 "\n", scenario->inbox.accounts);
}

const struct scenario_part scenario_part_inbox = {.fields = fields,
                                                  .field_count = sizeof fields / sizeof *fields,
                                                  .needs = "a name and accounts",
                                                  .check = check,
                                                  .rules = make_rules,
                                                  .room = make_room,
                                                  .write = write_keys};

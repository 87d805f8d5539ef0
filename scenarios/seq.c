/* What a scenario of the seq ledger has: the fates of its seqs and a budget of retries. */
#include "scenarios/part.h"

#include <inttypes.h>
#include <string.h>

#define BUDGET_MAX 8

static const char *const fate_names[SEQ_FATES] = {
    [SEQ_FATE_SUCCESS] = "success", [SEQ_FATE_SKIP] = "skip",   [SEQ_FATE_RETRY] = "retry",
    [SEQ_FATE_EXHAUST] = "exhaust", [SEQ_FATE_FATAL] = "fatal", [SEQ_FATE_CANCEL] = "cancel",
};

static bool read_fate(struct reader *reader, void *context)
{
    static const char right[] = "it is success, skip, retry, exhaust, fatal or cancel";
    struct seq_plan *plan = context;
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (plan->fate_count == SEQ_FATES_MAX) {
        return reader_fail(reader, reader_line(reader), "too many; at most %d fates",
                           SEQ_FATES_MAX);
    }
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    for (uint8_t fate = 0; fate < SEQ_FATES; fate++) {
        if (strcmp(text.text, fate_names[fate]) == 0) {
            plan->fates[plan->fate_count++] = fate;
            return true;
        }
    }
    return reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

/* Seqs have them in turn. */
static bool read_fates(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return reader_list(reader, "it is a list such as [success, retry, cancel]", read_fate,
                       &loading->scenario->seq);
}

static bool read_budget(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return part_read_count(reader, BUDGET_MAX, &loading->scenario->seq.budget);
}

/* Illegal moves are attempted on purpose: Stage1 may fail (E-SEQ-15). */
static bool read_drill(struct reader *reader, void *context)
{
    static const char right[] = "it is on or off";
    struct loading *loading = context;
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    loading->scenario->seq.drill = strcmp(text.text, "on") == 0;
    return loading->scenario->seq.drill || strcmp(text.text, "off") == 0 ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

static const struct reader_field fields[] = {{"timeout", part_read_timeout},
                                             {"budget", read_budget},
                                             {"drill", read_drill},
                                             {"fates", read_fates}};

static bool check(struct reader *reader, struct loading *loading)
{
    return loading->scenario->seq.fate_count > 0 ||
           reader_fail(reader, 1,
                       "the key fates is missing; it is a list such as [success, retry, cancel]");
}

/* A dispatcher, the workers, and one of each other role. */
static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    static const uint8_t others[] = {SEQ_RECLAIMER, SEQ_CANCELLER, SEQ_COMMITTER};
    rules->of.seq = scenario->seq;
    memcpy(&rules->cast[rules->actors], others, sizeof others);
    rules->actors = (uint8_t)(rules->actors + sizeof others);
}

static void make_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    rows[TABLE_STAGE] = 1;
    rows[TABLE_SEQ] = scenario->jobs;
    rows[TABLE_SEQ_EVENT] = scenario->jobs;
    rows[TABLE_SEQ_TALLY] = PROTOCOL_ACTORS_MAX;
}

static void write_keys(struct page *page, const struct scenario *scenario, const bool *gone)
{
    (void)gone;
    if (scenario->seq.budget > 0) {
        page_put(page, "budget: %" PRIu32 "\n", scenario->seq.budget);
    }
    if (scenario->seq.drill) {
        page_put(page, "drill: on\n");
    }
    page_put(page, "fates: [");
    for (uint32_t i = 0; i < scenario->seq.fate_count; i++) {
        page_put(page, "%s%s", i == 0 ? "" : ", ", fate_names[scenario->seq.fates[i]]);
    }
    page_put(page, "]\n");
}

const struct scenario_part scenario_part_seq = {.fields = fields,
                                                .field_count = sizeof fields / sizeof *fields,
                                                .needs = "a name and fates",
                                                .check = check,
                                                .rules = make_rules,
                                                .room = make_room,
                                                .write = write_keys};

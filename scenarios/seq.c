/* The keys of a scenario of the seq ledger: the fates of its seqs and a budget of retries. */
#include "model/seq.h"
#include "scenarios/part.h"

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
    for (int fate = 0; fate < SEQ_FATES; fate++) {
        if (strcmp(text.text, fate_names[fate]) == 0) {
            plan->fates[plan->fate_count++] = (uint8_t)fate;
            return true;
        }
    }
    return reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

/* Seqs have them in turn. */
static bool read_fates(struct reader *reader, void *context)
{
    static const char right[] = "it is a list such as [success, retry, cancel]";
    struct seq_plan *plan = RULES_OF(((struct loading *)context)->scenario, seq_plan);
    size_t line = reader_line(reader);
    return reader_list(reader, right, read_fate, plan) &&
           (plan->fate_count > 0 || reader_fail(reader, line, "an empty list; %s", right));
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
    RULES_OF(loading->scenario, seq_plan)->drill = strcmp(text.text, "on") == 0;
    return RULES_OF(loading->scenario, seq_plan)->drill || strcmp(text.text, "off") == 0 ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

static const struct scenario_part_number numbers[] = {
    SCENARIO_PART_OWN_NUMBER("budget", seq_plan, budget, BUDGET_MAX)};
static const struct reader_field fields[] = {{"drill", read_drill}, {"fates", read_fates}};

/* A dispatcher, the workers, and one of each other role. */
static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    static const uint8_t others[] = {SEQ_RECLAIMER, SEQ_CANCELLER, SEQ_COMMITTER};
    (void)scenario;
    RULES_OF(rules, seq_plan)->retryable = SEQ_PLAN_RETRYABLE;
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

static void write_keys(struct text *page, const struct scenario *scenario, const bool *gone)
{
    (void)gone;
    if (RULES_OF(scenario, seq_plan)->drill) {
        text_add(page, "drill: on\n");
    }
    text_add(page, "fates: [");
    for (uint32_t i = 0; i < RULES_OF(scenario, seq_plan)->fate_count; i++) {
        text_add(page, "%s%s", i == 0 ? "" : ", ",
                 fate_names[RULES_OF(scenario, seq_plan)->fates[i]]);
    }
    text_add(page, "]\n");
}

const struct scenario_part scenario_part_seq = {SCENARIO_PART_NUMBERS(numbers),
                                                SCENARIO_PART_FIELDS(fields),
                                                .needs = "fates",
                                                .rules = make_rules,
                                                .room = make_room,
                                                .write = write_keys};

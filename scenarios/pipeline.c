/* What a scenario of the pipeline has: the entries of a batch, and what becomes of each.
 *
 *      entries:
 *        base: {verify: [pass, fail]}
 *        next: {needs: [base], reviews: [reject, approve]}
 *        odd: {flaw: no-payload}
 *
 *      chain: global
 *
 * An entry that says nothing is approved by its one review and passes its one verify. It may need
 * entries that stand before it. */
#include "model/pipeline.h"
#include "scenarios/part.h"

#include <string.h>

#define PASSES_MAX 9

static const char *const flaws[FLAW_COUNT] = {[FLAW_NONE] = "none",
                                              [FLAW_NO_PAYLOAD] = "no-payload",
                                              [FLAW_NO_BLOCKER] = "no-blocker",
                                              [FLAW_OTHER_PAYLOAD] = "other-payload",
                                              [FLAW_RIVAL_REVIEWER] = "rival-reviewer"};
static const char *const decisions[] = {
    [0] = "", [DECISION_APPROVE] = "approve", [DECISION_REJECT] = "reject"};
static const char *const outcomes[] = {
    [0] = "", [VERIFIED_PASS] = "pass", [VERIFIED_FAIL] = "fail"};

/* What the signatures of a lane are chained by (E-CUT-19). */
enum { CHAIN_ENTRY = 1, CHAIN_GLOBAL };
static const char *const chains[] = {[0] = "", [CHAIN_ENTRY] = "entry", [CHAIN_GLOBAL] = "global"};

/* The entry that is being read, and the ones before it. */
struct entry_reading {
    struct pipeline_rules *rules;
    struct pipeline_entry *entry;
};

/* ---- its keys -------------------------------------------------------------------------------- */

/* A word of a list of them; 0 is no word. */
static bool read_word(struct reader *reader, const char *const *words, size_t count,
                      const char *right, uint8_t *word)
{
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (words[i][0] != '\0' && strcmp(words[i], text.text) == 0) {
            *word = (uint8_t)i;
            return true;
        }
    }
    return reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

static bool has_room(struct reader *reader, uint8_t count, int most)
{
    return count < most || reader_fail(reader, reader_line(reader), "too many; at most %d", most);
}

static bool read_blocker(struct reader *reader, void *context)
{
    struct entry_reading *reading = context;
    struct pipeline_entry *entry = reading->entry;
    char name[PIPELINE_NAME_SIZE];
    size_t line = reader_line(reader);
    if (!has_room(reader, entry->blocker_count, PIPELINE_BLOCKERS_MAX) ||
        !reader_name(reader, name, sizeof name)) {
        return false;
    }
    for (uint32_t i = 0; &reading->rules->entries[i] < entry; i++) {
        if (strcmp(reading->rules->entries[i].name, name) == 0) {
            entry->blockers[entry->blocker_count++] = (uint8_t)i;
            return true;
        }
    }
    return reader_fail(reader, line, "there is no entry %s before this one", name);
}

static bool read_needs(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list of entries before this one", read_blocker, context);
}

static bool read_decision(struct reader *reader, void *context)
{
    struct pipeline_entry *entry = ((struct entry_reading *)context)->entry;
    return has_room(reader, entry->reviews, PIPELINE_REVIEWS_MAX) &&
           read_word(reader, decisions, COUNT(decisions), "it is approve or reject",
                     &entry->decisions[entry->reviews++]);
}

static bool read_reviews(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list such as [reject, approve]", read_decision, context);
}

static bool read_outcome(struct reader *reader, void *context)
{
    struct pipeline_entry *entry = ((struct entry_reading *)context)->entry;
    return has_room(reader, entry->verifies, PIPELINE_VERIFIES_MAX) &&
           read_word(reader, outcomes, COUNT(outcomes), "it is pass or fail",
                     &entry->outcomes[entry->verifies++]);
}

static bool read_verify(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list such as [pass, fail]", read_outcome, context);
}

static bool read_flaw(struct reader *reader, void *context)
{
    return read_word(reader, flaws, COUNT(flaws),
                     "it is no-payload, no-blocker, other-payload, rival-reviewer or none",
                     &((struct entry_reading *)context)->entry->flaw);
}

static const struct reader_field entry_fields[] = {
    {"needs", read_needs}, {"reviews", read_reviews}, {"verify", read_verify}, {"flaw", read_flaw}};

static void fill_in_usual(struct pipeline_entry *entry)
{
    if (entry->reviews == 0) {
        entry->decisions[entry->reviews++] = DECISION_APPROVE;
    }
    if (entry->verifies == 0) {
        entry->outcomes[entry->verifies++] = VERIFIED_PASS;
    }
}

static bool is_known(const struct pipeline_rules *rules, const char *name)
{
    for (uint32_t i = 0; i < rules->entry_count; i++) {
        if (strcmp(rules->entries[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_entry(struct reader *reader, const struct reader_text *key, void *context)
{
    struct pipeline_rules *rules = context;
    uint64_t seen;
    if (rules->entry_count == PIPELINE_ENTRIES_MAX) {
        return reader_fail(reader, key->line, "too many; at most %d entries", PIPELINE_ENTRIES_MAX);
    }
    if (!reader_is_name(reader, key, PIPELINE_NAME_SIZE)) {
        return false;
    }
    if (is_known(rules, key->text)) {
        return reader_fail(reader, key->line, "the entry %s comes twice", key->text);
    }
    reader_enter(reader, key->text);
    struct pipeline_entry *entry = &rules->entries[rules->entry_count];
    struct entry_reading reading = {.rules = rules, .entry = entry};
    memcpy(entry->name, key->text, key->length + 1);
    if (!reader_fields(reader, "it is a map such as {reviews: [reject, approve]}, or {}",
                       entry_fields, COUNT(entry_fields), &reading, &seen)) {
        return false;
    }
    fill_in_usual(entry);
    rules->entry_count++;
    return true;
}

static bool read_entries(struct reader *reader, void *context)
{
    static const char right[] = "it is a map of entries";
    struct pipeline_rules *rules = RULES_OF(((struct loading *)context)->scenario, pipeline_rules);
    size_t line = reader_line(reader);
    return reader_map(reader, right, read_entry, rules) &&
           (rules->entry_count > 0 || reader_fail(reader, line, "an empty map; %s", right));
}

static bool read_chain(struct reader *reader, void *context)
{
    struct pipeline_rules *rules = RULES_OF(((struct loading *)context)->scenario, pipeline_rules);
    uint8_t which = 0;
    bool read = read_word(reader, chains, COUNT(chains), "it is entry or global", &which);
    rules->one_chain = which == CHAIN_GLOBAL;
    return read;
}

static const struct scenario_part_number numbers[] = {
    SCENARIO_PART_OWN_NUMBER("passes", pipeline_rules, passes, PASSES_MAX)};
static const struct reader_field fields[] = {{"entries", read_entries}, {"chain", read_chain}};

/* ---- what becomes of it ---------------------------------------------------------------------- */

/* The entries as a graph: shrinking can remove an entry with all that need it. */
static void draw_graph(const struct pipeline_rules *rules, struct graph *graph)
{
    graph->node_count = (uint16_t)rules->entry_count;
    for (uint32_t from = 0; from < rules->entry_count; from++) {
        struct graph_node *node = &graph->nodes[from];
        memcpy(node->name, rules->entries[from].name, PIPELINE_NAME_SIZE);
        node->first_edge = graph->edge_count;
        for (uint32_t to = from + 1; to < rules->entry_count; to++) {
            const struct pipeline_entry *entry = &rules->entries[to];
            if (memchr(entry->blockers, (int)from, entry->blocker_count) != NULL) {
                graph->edges[graph->edge_count++] =
                    (struct graph_edge){.from = (uint16_t)from, .to = (uint16_t)to};
            }
        }
        node->edge_count = (uint16_t)(graph->edge_count - node->first_edge);
    }
}

static bool check(struct reader *reader, struct loading *loading)
{
    (void)reader;
    draw_graph(RULES_OF(loading->scenario, pipeline_rules), &loading->scenario->graph);
    return true;
}

/* A client, the workers, and the sweep. */
static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    struct pipeline_rules *own = RULES_OF(rules, pipeline_rules);
    (void)scenario;
    own->passes = own->passes == 0 ? PIPELINE_PASSES_USUAL : own->passes;
    rules->cast[rules->actors++] = PIPELINE_SWEEP;
}

/* Each decision is made by a review or its rival, each may be cut and verified, each verify may
 * fail. */
static void make_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    uint32_t entries = RULES_OF(scenario, pipeline_rules)->entry_count * scenario->jobs;
    uint32_t reviews = entries * 2 * PIPELINE_REVIEWS_MAX;
    uint32_t verifies = entries * PIPELINE_VERIFIES_MAX;
    rows[TABLE_ENTRY] = entries + verifies;
    rows[TABLE_PAST] = 2 * entries + reviews + 2 * verifies;
    rows[TABLE_DEPENDENCY] = entries * (PIPELINE_BLOCKERS_MAX + 1);
    rows[TABLE_SWEEP_LOG] = 16 * entries + 64;
    rows[TABLE_ENVELOPE] = reviews;
    rows[TABLE_UNIT_BLOCK] = reviews * PIPELINE_PARTS_MAX;
    rows[TABLE_REVIEW] = reviews;
    rows[TABLE_SIGNATURE] = reviews + verifies;
    rows[TABLE_CHANGE_SET] = reviews + verifies;
    rows[TABLE_AFFECTED_ROW] = (reviews + verifies) * PIPELINE_PARTS_MAX;
    rows[TABLE_VERIFY] = verifies;
    rows[TABLE_MESSAGE] = 80 * entries + 128; /* each replay asks for what follows once more */
}

/* ---- as YAML again --------------------------------------------------------------------------- */

static void put_list(struct text *page, const char *key, const char *const *words,
                     const uint8_t *list, uint8_t count)
{
    text_add(page, "%s: [", key);
    for (uint8_t i = 0; i < count; i++) {
        text_add(page, "%s%s", i == 0 ? "" : ", ", words[list[i]]);
    }
    text_add(page, "]");
}

static void put_entry(struct text *page, const struct pipeline_rules *rules,
                      const struct pipeline_entry *entry)
{
    text_add(page, "  %s: {", entry->name);
    if (entry->blocker_count > 0) {
        text_add(page, "needs: [");
        for (uint8_t b = 0; b < entry->blocker_count; b++) {
            text_add(page, "%s%s", b == 0 ? "" : ", ", rules->entries[entry->blockers[b]].name);
        }
        text_add(page, "], ");
    }
    put_list(page, "reviews", decisions, entry->decisions, entry->reviews);
    put_list(page, ", verify", outcomes, entry->outcomes, entry->verifies);
    text_add(page, ", flaw: %s}\n", flaws[entry->flaw]);
}

static void write_keys(struct text *page, const struct scenario *scenario, const bool *gone)
{
    if (RULES_OF(scenario, pipeline_rules)->one_chain) {
        text_add(page, "chain: %s\n", chains[CHAIN_GLOBAL]);
    }
    text_add(page, "entries:\n");
    for (uint32_t i = 0; i < RULES_OF(scenario, pipeline_rules)->entry_count; i++) {
        if (gone == NULL || !gone[i]) {
            put_entry(page, RULES_OF(scenario, pipeline_rules),
                      &RULES_OF(scenario, pipeline_rules)->entries[i]);
        }
    }
}

const struct scenario_part scenario_part_pipeline = {SCENARIO_PART_NUMBERS(numbers),
                                                     SCENARIO_PART_FIELDS(fields),
                                                     .needs = "entries",
                                                     .check = check,
                                                     .rules = make_rules,
                                                     .room = make_room,
                                                     .write = write_keys};

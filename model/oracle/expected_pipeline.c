#include "model/oracle/expected_pipeline.h"

#include "model/oracle/mint.h"

/* Roles of minted ids (scenarios/MEANING.md). A batch has room for one node more than there can be:
 * the entry that nobody makes. */
#define KEY_OF     (INT64_C(1) << 26)
#define KEY_STRIDE (EXPECTED_ENTRIES + 1)
#define ENTRY_OF   4096
#define PAYLOAD_OF 4097

#define TIMEOUT_USUAL 60
#define PASSES_USUAL  3

/* ---- reading --------------------------------------------------------------------------------- */

/* The first item of a list or map that may be missing: a missing one has none. */
static uint32_t first_of(const struct document *scenario, uint32_t list)
{
    return list == DOCUMENT_NONE ? DOCUMENT_NONE : document_first(scenario, list);
}

/* The place of a name in a map; the map's size if it has none. */
static int place_of(const struct document *scenario, uint32_t map, const char *name)
{
    int place = 0;
    uint32_t at = first_of(scenario, map);
    while (at != DOCUMENT_NONE && !document_same(document_key(scenario, at), name)) {
        at = document_next(scenario, at);
        place++;
    }
    return place;
}

/* A list of words, the first of which has number 1 and all others 2; one 1 if it is empty. */
static uint8_t read_words(const struct document *scenario, uint32_t list, const char *first,
                          uint8_t *words, int most)
{
    int count = 0;
    for (uint32_t at = first_of(scenario, list); at != DOCUMENT_NONE && count < most;
         at = document_next(scenario, at)) {
        words[count++] = document_is(scenario, at, first) ? 1 : 2;
    }
    if (count == 0) {
        words[count++] = 1;
    }
    return (uint8_t)count;
}
_Static_assert(DECISION_APPROVE == 1 && DECISION_REJECT == 2, "as read_words numbers them");
_Static_assert(VERIFIED_PASS == 1 && VERIFIED_FAIL == 2, "as read_words numbers them");

/* The payload is written before the dependencies are, so that a null is found first. Whatever needs
 * an entry that does not exist refers to nothing, and does not exist either. */
static uint8_t stop_of(const struct expected_pipeline *expected, const struct expected_entry *entry,
                       bool null, bool adrift)
{
    for (int i = 0; i < entry->needs; i++) {
        adrift = adrift || expected->entry[entry->need[i]].stop != SWEEP_MARKED;
    }
    return null ? SWEEP_NULL : adrift ? SWEEP_NO_PARENT : SWEEP_MARKED;
}

static void read_entry(const struct document *scenario, uint32_t entries, uint32_t from,
                       struct expected_pipeline *expected)
{
    struct expected_entry *entry = &expected->entry[expected->entries];
    uint32_t needs = document_find(scenario, from, "needs");
    uint32_t flaw = document_find(scenario, from, "flaw");
    for (uint32_t at = first_of(scenario, needs);
         at != DOCUMENT_NONE && entry->needs < EXPECTED_NEEDS; at = document_next(scenario, at)) {
        int blocker = place_of(scenario, entries, document_text(scenario, at));
        if (blocker < expected->entries) {
            entry->need[entry->needs++] = (uint8_t)blocker;
        }
    }
    entry->reviews = read_words(scenario, document_find(scenario, from, "reviews"), "approve",
                                entry->review, EXPECTED_REVIEWS);
    entry->verifies = read_words(scenario, document_find(scenario, from, "verify"), "pass",
                                 entry->verify, EXPECTED_VERIFIES);
    entry->other_load = document_is(scenario, flaw, "other-payload");
    entry->rival = document_is(scenario, flaw, "rival-reviewer");
    entry->stop = stop_of(expected, entry, document_is(scenario, flaw, "no-payload"),
                          document_is(scenario, flaw, "no-blocker"));
    expected->entries++;
}

void expected_pipeline_read(const struct document *scenario, struct expected_pipeline *expected)
{
    uint32_t entries = document_find(scenario, 0, "entries");
    *expected = (struct expected_pipeline){
        .batches = document_number(scenario, document_find(scenario, 0, "jobs"), 1),
        .timeout = document_number(scenario, document_find(scenario, 0, "timeout"), TIMEOUT_USUAL),
        .passes = document_number(scenario, document_find(scenario, 0, "passes"), PASSES_USUAL),
        .one_chain = document_is(scenario, document_find(scenario, 0, "chain"), "global")};
    for (uint32_t at = first_of(scenario, entries);
         at != DOCUMENT_NONE && expected->entries < EXPECTED_ENTRIES;
         at = document_next(scenario, at)) {
        read_entry(scenario, entries, at, expected);
    }
}

/* ---- what a request for an entry names ------------------------------------------------------- */

int64_t expected_pipeline_key(int64_t batch, int node)
{
    return oracle_mint(0, KEY_OF + KEY_STRIDE * batch + node);
}

int64_t expected_pipeline_id(int64_t batch, int node)
{
    return oracle_mint(expected_pipeline_key(batch, node), ENTRY_OF);
}

int64_t expected_pipeline_payload(int64_t batch, int node, bool other_load)
{
    return oracle_mint(expected_pipeline_key(batch, node), PAYLOAD_OF + (other_load ? 1 : 0));
}

int expected_pipeline_node(const struct expected_pipeline *expected, int64_t batch, int64_t key)
{
    for (int node = 0; batch >= 0 && batch < expected->batches && node < expected->entries;
         node++) {
        if (expected_pipeline_key(batch, node) == key) {
            return node;
        }
    }
    return -1;
}

int expected_pipeline_needs(const struct expected_entry *entry, int node)
{
    int times = 0;
    for (int i = 0; i < entry->needs; i++) {
        times += entry->need[i] == node;
    }
    return times;
}

int expected_pipeline_parts(int node)
{
    return 1 + node % 2;
}

/* ---- what may come --------------------------------------------------------------------------- */

bool expected_pipeline_decides(const struct expected_entry *entry, int n, int64_t decision)
{
    if (n < 1 || n > entry->reviews) {
        return false;
    }
    bool opposite = decision == DECISION_APPROVE + DECISION_REJECT - entry->review[n - 1];
    return decision == entry->review[n - 1] || (opposite && entry->rival && n > 1);
}

int64_t expected_pipeline_outcome(const struct expected_entry *entry, int n)
{
    return n < 1 || n > entry->verifies ? 0 : entry->verify[n - 1];
}

/* Reviews end early only where the entry is cut on the decision that stands then; the cut waits for
 * blockers alone, and what was cut is verified as often as it passes. */
bool expected_pipeline_ends(const struct expected_entry *entry, const struct pipeline_story *story)
{
    bool decided = story->decisions == entry->reviews;
    switch (story->status) {
    case STATUS_REJECTED:
        return decided;
    case STATUS_APPROVED:
        return decided && !story->unblocked; /* it waits rightly (E-CUT-20) */
    case STATUS_COMPLETE:
        return story->results == entry->verifies;
    case STATUS_ESCALATED:
        return true; /* no outcome but a failure leads there */
    default:
        return false;
    }
}

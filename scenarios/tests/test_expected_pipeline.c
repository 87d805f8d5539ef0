/* What scenarios of the pipeline ask for by the oracles' own reading, beside what people work out
 * by hand from the specification, the errata and MEANING.md. */
#include "model/check.h"
#include "model/oracle/expected_pipeline.h"
#include "model/tests/proves.h"
#include "scenarios/document.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct expected_pipeline expected;

static void read_text(const char *text)
{
    struct document document;
    cr_assert(document_make(&document, text, strlen(text)));
    expected_pipeline_read(&document, &expected);
    document_free(&document);
}

Test(expected_pipeline, entries_are_numbered_as_the_file_has_them)
{
    read_text("jobs: 3\nentries: {b: {}, a: {needs: [b]}, c: {needs: [a, b], reviews: [reject, "
              "approve], verify: [pass, fail]}}");
    cr_expect_eq(expected.batches, 3);
    cr_assert_eq(expected.entries, 3);
    cr_expect_eq(expected.entry[0].needs, 0);
    cr_expect_eq(expected.entry[1].needs, 1);
    cr_expect_eq(expected.entry[1].need[0], 0);
    cr_expect_eq(expected.entry[2].needs, 2);
    cr_expect_eq(expected.entry[2].need[0], 1);
    cr_expect_eq(expected.entry[2].need[1], 0);
    cr_expect_eq(expected_pipeline_needs(&expected.entry[2], 1), 1);
    cr_expect_eq(expected_pipeline_needs(&expected.entry[2], 2), 0);
    cr_expect_eq(expected.entry[2].review[0], DECISION_REJECT);
    cr_expect_eq(expected.entry[2].review[1], DECISION_APPROVE);
    cr_expect_eq(expected_pipeline_outcome(&expected.entry[2], 1), VERIFIED_PASS);
    cr_expect_eq(expected_pipeline_outcome(&expected.entry[2], 2), VERIFIED_FAIL);
    cr_expect_eq(expected_pipeline_outcome(&expected.entry[2], 3), 0);
}

Test(expected_pipeline, what_is_left_out_or_empty_is_one_approval_and_one_pass)
{
    read_text("entries: {a: {}, b: {reviews: [], verify: [], needs: []}}");
    cr_expect_eq(expected.batches, 1);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(expected.entry[i].reviews, 1);
        cr_expect_eq(expected.entry[i].review[0], DECISION_APPROVE);
        cr_expect_eq(expected.entry[i].verifies, 1);
        cr_expect_eq(expected.entry[i].verify[0], VERIFIED_PASS);
        cr_expect_eq(expected.entry[i].needs, 0);
    }
}

Test(expected_pipeline, what_stops_an_entry_stops_all_that_needs_it)
{
    PROVES(CLAUSE_CUT_14);
    static const struct {
        const char *flaws[2];       /* of the first and of the second entry */
        enum sweep_reason stops[3]; /* of the second, and of the third, which needs it */
    } cases[] = {
        {{"none", "none"}, {SWEEP_MARKED, SWEEP_MARKED, SWEEP_MARKED}},
        {{"no-payload", "none"}, {SWEEP_NULL, SWEEP_MARKED, SWEEP_NO_PARENT}},
        {{"no-blocker", "other-payload"}, {SWEEP_NO_PARENT, SWEEP_MARKED, SWEEP_NO_PARENT}},
        {{"none", "no-payload"}, {SWEEP_MARKED, SWEEP_NULL, SWEEP_MARKED}},
        {{"other-payload", "rival-reviewer"}, {SWEEP_MARKED, SWEEP_MARKED, SWEEP_MARKED}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "entries: {a: {flaw: %s}, free: {flaw: %s}, c: {needs: [a]}, d: {needs: [c, "
                 "free], flaw: no-payload}}",
                 cases[i].flaws[0], cases[i].flaws[1]);
        read_text(text);
        for (int n = 0; n < 3; n++) {
            cr_expect_eq(expected.entry[n].stop, cases[i].stops[n], "case %zu, entry %d", i, n);
        }
        cr_expect_eq(expected.entry[3].stop, SWEEP_NULL, "the payload comes before dependencies");
    }
}

Test(expected_pipeline, a_rival_may_win_from_the_second_review_on)
{
    read_text("entries: {a: {reviews: [approve, reject]}, b: {reviews: [approve, reject], flaw: "
              "rival-reviewer}}");
    static const struct {
        int entry, n;
        int64_t decision;
        bool may;
    } cases[] = {
        {0, 1, DECISION_APPROVE, true},
        {0, 1, DECISION_REJECT, false},
        {0, 2, DECISION_REJECT, true},
        {0, 2, DECISION_APPROVE, false},
        {1, 1, DECISION_APPROVE, true},
        {1, 1, DECISION_REJECT, false},
        {1, 2, DECISION_REJECT, true},
        {1, 2, DECISION_APPROVE, true},
        {1, 2, 0, false},
        {1, 2, 3, false},
        {1, 3, DECISION_APPROVE, false},
        {1, 0, DECISION_APPROVE, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(expected_pipeline_decides(&expected.entry[cases[i].entry], cases[i].n,
                                               cases[i].decision),
                     cases[i].may, "case %zu", i);
    }
}

/* Two reviews, two verifies. */
Test(expected_pipeline, how_an_entry_may_end)
{
    PROVES(CLAUSE_CUT_2);
    SETTLES(ERRATUM_CUT_12, ERRATUM_CUT_20);
    read_text("entries: {a: {reviews: [approve, approve], verify: [pass, pass]}}");
    static const struct {
        struct pipeline_story story;
        bool may;
    } cases[] = {
        {{STATUS_NONE, 0, 0, true}, false},
        {{STATUS_MARKED, 0, 0, false}, false},
        {{STATUS_APPROVED, 1, 0, false}, false}, /* reviews do not wait for blockers */
        {{STATUS_APPROVED, 2, 0, false}, true},
        {{STATUS_APPROVED, 2, 0, true}, false}, /* nothing holds it up */
        {{STATUS_REJECTED, 1, 0, false}, false},
        {{STATUS_REJECTED, 2, 0, true}, true},
        {{STATUS_CUT, 2, 0, true}, false},
        {{STATUS_COMPLETE, 1, 2, true}, true},  /* cut before the second review */
        {{STATUS_COMPLETE, 2, 2, false}, true}, /* a blocker failed later */
        {{STATUS_COMPLETE, 2, 1, true}, false},
        {{STATUS_ESCALATED, 1, 1, true}, true},
        {{STATUS_ESCALATED, 2, 2, false}, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(expected_pipeline_ends(&expected.entry[0], &cases[i].story), cases[i].may,
                     "case %zu", i);
    }
}

Test(expected_pipeline, keys_of_batches_and_entries_are_apart)
{
    SETTLES(ERRATUM_CUT_2);
    read_text("jobs: 2\nentries: {a: {}, b: {}}");
    cr_expect_eq(expected_pipeline_id(0, 0), 1285049329341606473); /* as MEANING.md has it */
    for (int64_t batch = 0; batch < 2; batch++) {
        for (int node = 0; node < 2; node++) {
            int64_t key = expected_pipeline_key(batch, node);
            cr_expect_eq(expected_pipeline_node(&expected, batch, key), node);
            cr_expect_eq(expected_pipeline_node(&expected, 1 - batch, key), -1);
            cr_expect_neq(expected_pipeline_payload(batch, node, false),
                          expected_pipeline_payload(batch, node, true));
        }
    }
    cr_expect_eq(expected_pipeline_node(&expected, 2, expected_pipeline_key(2, 0)), -1);
    cr_expect_eq(expected_pipeline_node(&expected, 0, expected_pipeline_key(0, 2)), -1);
    cr_expect_eq(expected_pipeline_parts(0), 1);
    cr_expect_eq(expected_pipeline_parts(3), 2);
}

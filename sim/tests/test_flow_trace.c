/* The key protocol at work: the specification's examples digit by digit in a run of quick-fox, what
 * traces and stories call things, and which paths a scenario can show.
 *
 * UPDATE_GOLDEN=1 in the environment rewrites golden/; look at what changed before you keep it. */
#include "model/tests/proves.h"
#include "sim/flow_words.h"
#include "sim/part.h"
#include "sim/teller.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN ASSAY_SOURCE_DIR "/sim/tests/golden/"

static struct scenario scenario;
static struct run run;

static void make(const char *text)
{
    struct error error;
    memset(&scenario, 0, sizeof scenario);
    cr_assert(strchr(text, '\n') == NULL
                  ? scenario_load(text, &scenario, &error)
                  : scenario_parse(text, strlen(text), "test", &scenario, &error),
              "%s", error.text);
    memset(&run, 0, sizeof run);
    cr_assert(run_make(&run, &scenario, NULL));
}

static void write_event(void *context, const struct run_event *event)
{
    struct trace_words words;
    struct trace_line line = trace_describe(&scenario, event, &words);
    trace_write(context, &line, "", "");
}

/* The trace of a run with these choices, and every row at its end. */
static char *traced(struct choice_source *source)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    run.observer = write_event;
    run.observer_context = out;
    run_once(&run, source);
    teller_dump(out, &(struct names){.scenario = &scenario, .rows = &run.world.rows});
    fclose(out);
    return text;
}

static char *calm_trace(const char *text)
{
    struct choice_list none = {.items = NULL};
    struct choice_source source = choice_listed(&none);
    make(text);
    char *trace = traced(&source);
    cr_expect_eq(run.result.verdict, RUN_HELD);
    run_free(&run);
    return trace;
}

static void says_in_order(const char *text, const char *const *phrases)
{
    const char *at = text;
    for (; *phrases != NULL && at != NULL; phrases++) {
        at = strstr(at, *phrases);
        cr_expect_not_null(at, "'%s' does not come where it should in\n%s", *phrases, text);
    }
}

static void equals_golden(const char *text, const char *path)
{
    if (getenv("UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "w");
        cr_assert_not_null(file);
        fputs(text, file);
        fclose(file);
    }
    char *golden = calloc(1, 1 << 17);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_gt(fread(golden, 1, (1 << 17) - 1, file), 0U);
    fclose(file);
    cr_expect_str_eq(text, golden, "it now reads\n%s", text);
    free(golden);
}

/* ---- the worked examples --------------------------------------------------------------------- */

Test(flow_trace, quick_fox_goes_through_the_keys_of_the_specification)
{
    PROVES(CLAUSE_KEY_7, CLAUSE_KEY_2, CLAUSE_KEY_3, CLAUSE_KEY_5);
    static const char *const jumped[] = {
        "flow 1 begins, 999999000000000",
        "-> 999969000000000", /* after the trigger */
        "start fox of flow 1",
        "flow 1 969969000000000 -> 968969000000000", /* example 1 */
        "-> 366963000000000; skipped ate, slept",
        "flow 1 366963000000000 -> 366863000000000",                     /* example 2 */
        "flow 1 366863000000000 -> 366663000000000; flow 1 is complete", /* example 3 */
        NULL};
    static const char *const released[] = {
        "flow 2 begins, 999999000000000",
        "flow 2 969969000000000 -> 968969000000000",
        "hold ate of flow 2",
        "-> 566366000000000; published release of ate of flow 2", /* example 4 */
        "release ate of flow 2",
        "flow 2 566366000000000 -> 466366000000000; flow 2 is complete\n", /* example 5 */
        NULL};
    static const char *const failed[] = {
        "fail ate of flow 3",
        "flow 3 866366000000000 -> 766366000000000; flow 3 is complete, in error", /* ERROR */
        NULL};
    char *text = calm_trace("quick-fox");
    says_in_order(text, jumped);
    says_in_order(text, released);
    says_in_order(text, failed);
    free(text);
}

/* The whole of it, so that a change of words is looked at. */
Test(flow_trace, the_trace_of_quick_fox_reads_as_it_did)
{
    char *text = calm_trace("quick-fox");
    equals_golden(text, GOLDEN "quick-fox.txt");
    free(text);
}

/* ---- awaited flows --------------------------------------------------------------------------- */

Test(flow_trace, an_awaiting_activity_stays_8_until_the_flow_has_ended)
{
    SETTLES(ERRATUM_KEY_9);
    static const char *const phrases[] = {
        "start call",
        "flow 900000000000000 -> 800000000000000; flow/call begins, 990000000000000",
        "ack run of call",
        "complete a of flow/call",
        ("flow/call 680000000000000 -> 660000000000000; flow/call is complete; published resume of "
         "call"),
        "claim resume of call",
        "complete call",
        "flow 800000000000000 -> 600000000000000; flow is complete",
        NULL};
    char *text = calm_trace("name: s\nprotocol: key\nworkers: 1\n"
                            "flows: {outer: {call: {awaits: inner}}, inner: {a: [b]}}\n");
    says_in_order(text, (const char *const[]){phrases[0], phrases[1], phrases[2], phrases[4],
                                              phrases[5], phrases[6], phrases[7], NULL});
    cr_expect_not_null(strstr(text, phrases[3]));
    free(text);
}

/* Flow A is the specification's flow, and its activity 5, quick, awaits flow B, the same flow on the way
 * of example 5. */
static const char two_flows[] =
    "name: s\nprotocol: key\nworkers: 1\ncases: 2\n"
    "flows:\n"
    "  a: {quick: {next: [brown], awaits: b}, brown: [fox], fox: [jumped, slept], slept: [ate]}\n"
    "  b: {quick: [brown], brown: [fox], fox: [{to: jumped, when: [2]}, {to: slept, when: [1]}],\n"
    "      slept: [ate], ate: {holds: [1]}}\n";

Test(flow_trace, the_compositional_status_of_the_specification_is_told_of_a_run)
{
    PROVES(CLAUSE_KEY_6);
    SETTLES(ERRATUM_KEY_1, ERRATUM_KEY_9);
    static const char *const phrases[] = {
        "flow with what it awaits 9999819999992", /* suspended: 8 stays while b runs */
        "flow with what it awaits 99998196996929",
        "flow with what it awaits 99998156636629",
        "flow/quick 566366000000000 -> 466366000000000; flow/quick is complete",
        "flow with what it awaits 99998146636629",
        "flow 999989000000000 -> 999969000000000",
        "flow with what it awaits 99996146636629", /* the specification's */
        "flow with what it awaits 66666146636626",
        NULL};
    char *text = calm_trace(two_flows);
    says_in_order(text, phrases);
    equals_golden(text, GOLDEN "await.txt");
    free(text);
}

static void judge_every_status(void *context, const struct run_event *event)
{
    struct part_status status;
    uint32_t slot = 0;
    while (run.part->next_status(event->rows, &slot, &status)) {
        struct oracle_verdict verdict =
            run.oracle.monitors->reported(&run.oracle, event->rows, status.job, status.text);
        cr_expect_not(verdict.broken, "step %u: %s", event->step, status.text);
        ++*(unsigned *)context;
    }
}

/* The oracle composes by itself. */
Test(flow_trace, at_every_step_of_every_run_the_status_is_what_the_oracle_reads_off_the_rows)
{
    PROVES(CLAUSE_KEY_6);
    unsigned judged = 0;
    make("key-await");
    run.observer = judge_every_status;
    run.observer_context = &judged;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct choice_source source = choice_random(seed, &scenario.faults);
        run_once(&run, &source);
        cr_expect_eq(run.result.verdict, RUN_HELD);
    }
    cr_expect_gt(judged, 10000U);
    run_free(&run);
}

/* A flow alone has a key, and no status beside it. */
Test(flow_trace, a_flow_that_awaits_none_has_no_status_beside_its_key)
{
    char *text = calm_trace("quick-fox");
    cr_expect_null(strstr(text, "with what it awaits"));
    free(text);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* As the inbox would tell these rows, whose part names nothing. */
Test(flow_trace, rows_that_no_part_names_are_numbered)
{
    static struct scenario inbox;
    struct error error;
    make("key-await");
    struct choice_list none = {.items = NULL};
    struct choice_source source = choice_listed(&none);
    run_once(&run, &source);
    cr_assert(scenario_load("inbox", &inbox, &error), "%s", error.text);
    struct names names = {.scenario = &inbox, .rows = &run.world.rows};
    cr_expect_str_eq(names_row(&names, TABLE_FLOW, 0).text, "flow 1");
    cr_expect_str_eq(names_row(&names, TABLE_FLOW_PLACE, 0).text, "place in flow 1");
    int64_t of = row_get(&run.world.rows, TABLE_FLOW_END, 0, FLOW_END_FLOW);
    cr_expect_str_eq(names_reference(&names, TABLE_FLOW, of).text,
                     names_row(&names, TABLE_FLOW, row_find(&run.world.rows, TABLE_FLOW, of)).text);
    cr_expect_str_eq(names_reference(&names, TABLE_FLOW, 12345).text, "a row that is not there");
}

Test(flow_trace, rows_and_messages_have_names)
{
    make("key-await");
    struct choice_list none = {.items = NULL};
    struct choice_source source = choice_listed(&none);
    run_once(&run, &source);
    struct names names = {.scenario = &scenario, .rows = &run.world.rows};
    cr_expect_str_eq(names_row(&names, TABLE_FLOW, 0).text, "flow 1");
    cr_expect_str_eq(names_row(&names, TABLE_FLOW_PLACE, 0).text, "place of ask of flow 1");
    cr_expect_str_eq(names_row(&names, TABLE_FLOW_EVENT, 0).text, "ask of flow 1 started");
    cr_expect_not_null(strstr(names_row(&names, TABLE_FLOW_END, 0).text, "end of flow 1/"));
    cr_expect_str_eq(flow_activity_name(&names, 12345, 0).text, "an activity that is not there");
    int64_t flow = row_key(&run.world.rows, TABLE_FLOW, 0);
    cr_expect_str_eq(flow_activity_name(&names, flow, 14).text,
                     "an activity that is not there of flow 1");
    int64_t message[1 + MESSAGE_COLUMNS] = {1, [1 + MESSAGE_KIND] = FLOW_PAUSE,
                                            [1 + MESSAGE_JOB] = flow, [1 + MESSAGE_NODE] = 1};
    cr_expect_str_eq(flow_message_name(&names, message).text, "pause of call of flow 1 (copy)");
    cr_expect_str_eq(flow_kind_text(9), "message");
    cr_expect_str_eq(flow_skip_reason(BUNDLE_BEGIN_FLOW), "the flow is there");
    cr_expect_str_eq(flow_skip_reason(BUNDLE_ACK), "done before");
    run_free(&run);
}

/* ---- what a scenario can show ---------------------------------------------------------------- */

Test(flow_trace, a_path_that_a_scenario_cannot_take_is_not_asked_for)
{
    PROVES(CLAUSE_KEY_5);
    static const struct {
        const char *scenario;
        bool chain, spares, join, error;
    } expected[] = {{"quick-fox", true, false, false, false},
                    {"key-branches", true, true, true, false},
                    {"key-pause", true, false, true, false},
                    {"key-error", true, true, true, true},
                    {"key-await", true, false, true, true}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        const bool *can = &expected[i].chain;
        make(expected[i].scenario);
        for (int sight = COVER_SKIP_CHAIN; sight <= COVER_SKIP_ERROR; sight++) {
            cr_expect_eq(run.part->can_see(&scenario, (enum oracle_cover)sight),
                         can[sight - COVER_SKIP_CHAIN], "%s: %s", expected[i].scenario,
                         oracle_cover_text((enum oracle_cover)sight));
        }
        run_free(&run);
    }
}

Test(flow_trace, moves_of_a_digit_are_asked_for_where_they_can_be_seen)
{
    PROVES(CLAUSE_KEY_3);
    static const struct {
        const char *scenario;
        bool moves[COVER_KEY_SKIPPED - COVER_KEY_STARTED + 1]; /* in the order of enum flow_event */
    } expected[] = {{"quick-fox", {true, true, true, false, true, true, true}},
                    {"key-branches", {true, false, true, false, false, false, true}},
                    {"key-pause", {true, false, true, true, true, true, true}},
                    {"key-error", {true, true, true, false, false, false, true}},
                    {"key-await", {true, true, true, true, true, true, true}}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        make(expected[i].scenario);
        for (int sight = COVER_KEY_STARTED; sight <= COVER_KEY_SKIPPED; sight++) {
            cr_expect_eq(run.part->can_see(&scenario, (enum oracle_cover)sight),
                         expected[i].moves[sight - COVER_KEY_STARTED], "%s: %s",
                         expected[i].scenario, oracle_cover_text((enum oracle_cover)sight));
        }
        run_free(&run);
    }
}

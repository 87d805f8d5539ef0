/* Traces and stories. The worked examples of seed 000 (18.1 to 18.4) are run and compared whole
 * with the texts in golden/, and the numbers that the specification prints are looked for in them.
 *
 * UPDATE_GOLDEN=1 in the environment rewrites golden/; look at what changed before you keep it. */
#include "sim/trace.h"

#include "model/tests/proves.h"
#include "sim/story.h"
#include "sim/teller.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN ASSAY_SOURCE_DIR "/sim/tests/golden/"

/* ---- running --------------------------------------------------------------------------------- */

/* A run of a scenario given as text, with the choices given. */
struct stage {
    struct scenario *scenario;
    struct run *run;
    struct sabotage *sabotage;
};

static struct stage stage_begin(const char *text, const char *sabotage)
{
    struct stage stage = {.scenario = calloc(1, sizeof *stage.scenario),
                          .run = calloc(1, sizeof *stage.run),
                          .sabotage = sabotage == NULL ? NULL : calloc(1, sizeof *stage.sabotage)};
    struct error error;
    cr_assert(strchr(text, '\n') == NULL
                  ? scenario_load(text, stage.scenario, &error)
                  : scenario_parse(text, strlen(text), "test", stage.scenario, &error),
              "%s", error.text);
    if (sabotage != NULL) {
        cr_assert(sabotage_find(sabotage, stage.sabotage));
    }
    cr_assert(run_make(stage.run, stage.scenario, stage.sabotage));
    return stage;
}

static void stage_end(struct stage *stage)
{
    run_free(stage->run);
    free(stage->run);
    free(stage->sabotage);
    free(stage->scenario);
}

struct written {
    const struct scenario *scenario;
    FILE *out;
};

static void write_line(void *context, const struct run_event *event)
{
    const struct written *written = context;
    struct trace_words words;
    struct trace_line line = trace_describe(written->scenario, event, &words);
    trace_write(written->out, &line, "", "");
}

/* The whole trace of one run, to be freed. */
static char *trace_of(struct stage *stage, struct choice_source *source)
{
    char *text = NULL;
    size_t size = 0;
    struct written written = {stage->scenario, open_memstream(&text, &size)};
    stage->run->observer = write_line;
    stage->run->observer_context = &written;
    run_once(stage->run, source);
    stage->run->observer = NULL;
    fclose(written.out);
    return text;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static char *read_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 17);
    if (file != NULL) {
        size_t size = fread(text, 1, (1 << 17) - 1, file);
        text[size] = '\0';
        fclose(file);
    }
    return text;
}

static void equals_golden(const char *text, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s%s", GOLDEN, name);
    if (getenv("UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "w");
        cr_assert_not_null(file);
        fputs(text, file);
        fclose(file);
    }
    char *golden = read_golden(path);
    cr_expect_str_eq(text, golden, "%s has changed; it now reads\n%s", name, text);
    free(golden);
}

/* Each of these is there, each after the one before. */
static void says_in_order(const char *text, const char *const *phrases)
{
    const char *at = text;
    for (; *phrases != NULL && at != NULL; phrases++) {
        at = strstr(at, *phrases);
        cr_expect_not_null(at, "'%s' does not come where it should", *phrases);
    }
}

struct example {
    const char *scenario;
    struct choice choices[4];
    size_t count;
    const char *golden;
    const char *phrases[20]; /* the specification's numbers, in its order */
};

/* Transactions of the only worker, counted from 0 as choices count them. */
enum { CLAIM_TASK = 4, STEP_2 = 10 };

static void shows(const struct example *example)
{
    struct stage stage = stage_begin(example->scenario, NULL);
    struct choice items[4];
    memcpy(items, example->choices, sizeof items);
    struct choice_list list = {.items = items, .count = example->count, .capacity = 4};
    choice_list_sort(&list);
    struct choice_source source = choice_listed(&list);
    char *text = trace_of(&stage, &source);
    cr_expect_eq(stage.run->result.verdict, RUN_HELD, "%s",
                 stage.run->result.verdict == RUN_BROKEN ? stage.run->result.breach.why : "full");
    equals_golden(text, example->golden);
    says_in_order(text, example->phrases);
    free(text);
    stage_end(&stage);
}

#define ALONE "name: alone\ncommits: literal\nworkers: 1\ngraph: {trigger: []}\n"

/* ---- the worked examples --------------------------------------------------------------------- */

Test(trace, example_18_1_leg1_completes_and_a_replayed_message_is_stale)
{
    PROVES(CLAUSE_ACL_9, CLAUSE_ACL_10, CLAUSE_ACL_35);
    shows(&(struct example){
        .scenario = ALONE,
        .choices = {{CHOICE_FAULT, 1, CLAIM_TASK, FAULT_REPLAY}},
        .count = 1,
        .golden = "18.1.txt",
        .phrases = {"enter Leg1 of trigger", "trigger 000000000000000 -> 001000000000000",
                    "Leg1's work of trigger", "trigger 001000000000000 -> 001100000000000",
                    "Leg1 of trigger: comes again after its ack", "enter Leg1 of trigger",
                    "trigger 001100000000000 -> 002100000000000", "ack Leg1 of trigger (copy)"},
    });
}

Test(trace, example_18_2_leg2_resumes_at_step_2_after_a_crash)
{
    PROVES(CLAUSE_ACL_13, CLAUSE_ACL_24, CLAUSE_ACL_36, CLAUSE_ACL_42);
    shows(&(struct example){
        .scenario = "name: parent\ncommits: literal\nworkers: 1\ngraph: {trigger: [child]}\n",
        .choices = {{CHOICE_FAULT, 1, STEP_2, FAULT_CRASH_BEFORE_BEGIN}},
        .count = 1,
        .golden = "18.2.txt",
        .phrases = {"enter Leg2 of trigger", "GUID 000000000000001",
                    "trigger 001100000000000 -> 001100000000001", "Step 1 of trigger",
                    "GUID 000000000000001 -> 000010000000001",
                    "trigger 001100000000001 -> 001110000000001",
                    "Step 2 of trigger            dies before it sends anything",
                    "enter Leg2 of trigger", "GUID 000010000000001 -> 000010000000002",
                    "trigger 001110000000001 -> 001110000000002", "Step 2 of trigger",
                    "GUID 000010000000002 -> 000011000000002",
                    "trigger 001110000000002 -> 001111000000002", "published child",
                    "ack Leg2 of trigger"},
    });
}

Test(trace, example_18_2_continued_where_step_2_closes_the_job)
{
    PROVES(CLAUSE_ACL_24, CLAUSE_ACL_36, CLAUSE_ACL_42);
    shows(&(struct example){
        .scenario = ALONE,
        .choices = {{CHOICE_FAULT, 1, STEP_2, FAULT_CRASH_BEFORE_BEGIN}},
        .count = 1,
        .golden = "18.2-closes.txt",
        .phrases = {"GUID 000000000000001 -> 000010000000001", "dies before it sends anything",
                    "GUID 000010000000001 -> 000010000000002", "job complete",
                    "GUID 000010000000002 -> 000111000000002",
                    "trigger 001110000000002 -> 001111000000002", "Step 3 of trigger",
                    "GUID 000111000000002 -> 000111100000002",
                    "trigger 001111000000002 -> 001111100000002"},
    });
}

Test(trace, example_18_3_two_children_raise_the_semaphore_from_5_to_6)
{
    PROVES(CLAUSE_ACL_17, CLAUSE_ACL_20, CLAUSE_ACL_21, CLAUSE_ACL_37);
    shows(&(struct example){
        .scenario = "name: fan\ncommits: literal\nworkers: 1\n"
                    "graph: {trigger: [a, b, c, d, e], a: [x, y]}\n",
        .golden = "18.3.txt",
        .phrases = {"job semaphore 1 -> 5", "job semaphore 5 -> 6",
                    "GUID 000010000000001 -> 000011000000001", "001110000000001 -> 001111000000001",
                    "published x, y", "job semaphore 6 -> 5"},
    });
}

Test(trace, example_18_4_step_3_runs_on_replay_though_the_semaphore_is_0)
{
    PROVES(CLAUSE_ACL_21, CLAUSE_ACL_25, CLAUSE_ACL_38);
    shows(&(struct example){
        .scenario = ALONE,
        .choices = {{CHOICE_FAULT, 1, STEP_2, FAULT_CRASH_AFTER_COMMIT}},
        .count = 1,
        .golden = "18.4.txt",
        .phrases = {"Step 2 of trigger            dies after COMMIT, before it sees the answer",
                    "job semaphore 1 -> 0; job complete", "GUID 000010000000001 -> 000111000000001",
                    "trigger 001110000000001 -> 001111000000001", "claim no. 2",
                    "GUID 000111000000001 -> 000111000000002", "Step 3 of trigger",
                    "GUID 000111000000002 -> 000111100000002", "completion tasks of job run"},
    });
}

/* ---- the same with merged commits ------------------------------------------------------------ */

/* Transactions of the only worker. */
enum { MERGED_ANSWER = 3, MERGED_STEPS = 4 };

#define MERGED "name: alone\ncommits: merged\nworkers: 1\ngraph: {trigger: []}\n"

Test(trace, example_18_1_with_merged_commits_enters_and_completes_leg1_alike)
{
    SETTLES(ERRATUM_ACL_35);
    shows(&(struct example){
        .scenario = MERGED,
        .choices = {{CHOICE_FAULT, 1, MERGED_ANSWER, FAULT_REPLAY}},
        .count = 1,
        .golden = "18.1-merged.txt",
        .phrases = {"enter Leg1 of trigger", "trigger 000000000000000 -> 001000000000000",
                    "trigger 001000000000000 -> 001100000000000",
                    "Leg1 of trigger: comes again after its ack",
                    "trigger 001111100000001 -> 002111100000001",
                    "ack and claim Leg1 of trigger (copy)"},
    });
}

/* No state between Steps 1 and 2: a crash before their commit loses both, and both are done again. */
Test(trace, merged_steps_1_and_2_are_lost_together)
{
    SETTLES(ERRATUM_ACL_35);
    shows(&(struct example){
        .scenario = "name: parent\ncommits: merged\nworkers: 1\ngraph: {trigger: [child]}\n",
        .choices = {{CHOICE_FAULT, 1, MERGED_STEPS, FAULT_CRASH_BEFORE_COMMIT}},
        .count = 1,
        .golden = "18.2-merged.txt",
        .phrases = {"GUID of trigger 000000000000001, dimension 0", "dies before COMMIT",
                    "claim no. 2", "GUID 000000000000001 -> 000000000000002",
                    "GUID 000000000000002 -> 000011000000002",
                    "trigger 001100000000002 -> 001111000000002", "published child"},
    });
}

Test(trace, example_18_3_with_merged_commits_moves_the_semaphore_alike)
{
    SETTLES(ERRATUM_ACL_35);
    shows(&(struct example){
        .scenario = "name: fan\ncommits: merged\nworkers: 1\n"
                    "graph: {trigger: [a, b, c, d, e], a: [x, y]}\n",
        .golden = "18.3-merged.txt",
        .phrases = {"job semaphore 1 -> 5", "job semaphore 5 -> 6",
                    "GUID 000000000000001 -> 000011000000001", "001100000000001 -> 001111000000001",
                    "published x, held until t=68, y", "job semaphore 6 -> 5"},
    });
}

Test(trace, example_18_4_with_merged_commits_runs_step_3_on_replay)
{
    SETTLES(ERRATUM_ACL_35);
    shows(&(struct example){
        .scenario = MERGED,
        .choices = {{CHOICE_FAULT, 1, MERGED_STEPS, FAULT_CRASH_AFTER_COMMIT}},
        .count = 1,
        .golden = "18.4-merged.txt",
        .phrases = {"job semaphore 1 -> 0; job complete", "GUID 000000000000001 -> 000111000000001",
                    "trigger 001100000000001 -> 001111000000001", "claim no. 2",
                    "GUID 000111000000001 -> 000111000000002",
                    "GUID 000111000000002 -> 000111100000002", "completion tasks of job run"},
    });
}

/* ---- any trace ------------------------------------------------------------------------------- */

static const char *const scenarios[] = {"tree-3",     "cycle",       "pending",
                                        "thresholds", "ceilings",    "jobs-20",
                                        "peer-5",     "conditional", "lossy-failover"};
#define SCENARIOS COUNT(scenarios)

/* (V1) */
Test(trace, equal_runs_read_equal_and_watching_changes_nothing)
{
    for (size_t i = 0; i < SCENARIOS; i++) {
        struct stage stage = stage_begin(scenarios[i], NULL);
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct choice_source source = choice_random(seed, &stage.scenario->faults);
            struct choice_source again = source, unseen = source;
            char *first = trace_of(&stage, &source);
            char *second = trace_of(&stage, &again);
            uint64_t digest = stage.run->result.digest;
            cr_expect_str_eq(first, second, "%s, seed %d", scenarios[i], (int)seed);
            cr_expect_eq(run_once(stage.run, &unseen)->digest, digest);
            free(first);
            free(second);
        }
        stage_end(&stage);
    }
}

/* (V2) */
Test(trace, a_recorder_keeps_what_the_lines_say)
{
    struct stage stage = stage_begin("cycle", NULL);
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct choice_source source = choice_random(seed, &stage.scenario->faults);
        struct choice_source again = source;
        char *lines = trace_of(&stage, &source);
        struct trace trace = trace_begin(stage.scenario);
        stage.run->observer = trace_observe;
        stage.run->observer_context = &trace;
        run_once(stage.run, &again);
        char *kept = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&kept, &size);
        for (size_t i = 0; i < trace.count; i++) {
            trace_write(out, &trace.records[i].line, "", "");
        }
        fclose(out);
        cr_expect_str_eq(lines, kept);
        cr_expect_eq(trace.count, stage.run->result.steps);
        cr_expect_eq(trace.records[trace.count - 1].line.digest, stage.run->result.digest);
        trace_free(&trace);
        free(lines);
        free(kept);
    }
    stage_end(&stage);
}

/* Words for what must be told, and a fault that each stands for. */
Test(trace, every_fault_is_told_in_words)
{
    static const char *const words[FAULT_KIND_COUNT] = {
        [FAULT_CRASH_BEFORE_BEGIN] = "dies before it sends anything",
        [FAULT_CRASH_BEFORE_COMMIT] = "dies before COMMIT",
        [FAULT_CRASH_AFTER_COMMIT] = "dies after COMMIT, before it sees the answer",
        [FAULT_UNKNOWN_COMMITTED] = "answer lost (it did commit)",
        [FAULT_UNKNOWN_LOST] = "answer lost (it did not commit)",
        [FAULT_CONNECTION_CUT] = "aborted: connection lost (08006)",
        [FAULT_SERIALIZATION] = "aborted: 40001",
        [FAULT_DEADLOCK] = "aborted: 40P01",
        [FAULT_CONNECTIONS] = "aborted: 53300",
        [FAULT_DUPLICATE] = "delivered twice",
        [FAULT_REPLAY] = "comes again after its ack",
        [FAULT_PAUSE] = "stops for 1 ticks",
        [FAULT_RESTART] = "the server restarts",
        [FAULT_FAILOVER] = "a standby that lost nothing takes over",
        [FAULT_CLOCK_FORWARD] = "the clock leaps ahead to t=",
        [FAULT_CLOCK_BACK] = "the clock falls back to t=",
        [FAULT_COMMIT_LATE] = "answer lost (its COMMIT is on its way)",
        [FAULT_CRASH_COMMIT_LATE] = "dies with its COMMIT on its way",
        [FAULT_SKEW] = "the clock of worker 1 is set to t=",
        [FAULT_SUCCESSOR] = "worker 1 is started again, and its former self lives on",
    };
    struct stage stage = stage_begin(ALONE, NULL);
    for (uint32_t kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        if (words[kind] == NULL) {
            continue; /* needs a certain transaction */
        }
        struct choice fault = {CHOICE_FAULT, 1, 5, kind};
        struct choice_list list = {.items = &fault, .count = 1, .capacity = 1};
        struct choice_source source = choice_listed(&list);
        char *text = trace_of(&stage, &source);
        cr_expect_not_null(strstr(text, words[kind]), "%s: %s",
                           fault_get((enum fault_kind)kind)->name, text);
        free(text);
    }
    stage_end(&stage);
}

Test(trace, a_claim_that_failed_names_no_message)
{
    struct stage stage = stage_begin(ALONE, NULL);
    struct choice fault = {CHOICE_FAULT, 1, CLAIM_TASK, FAULT_CONNECTIONS};
    struct choice_list list = {.items = &fault, .count = 1, .capacity = 1};
    struct choice_source source = choice_listed(&list);
    char *text = trace_of(&stage, &source);
    cr_expect_not_null(strstr(text, "claim                        aborted: 53300\n"), "%s", text);
    free(text);
    stage_end(&stage);
}

/* ---- the generic teller ---------------------------------------------------------------------- */

/* What an event that made this change says. */
static const char *told(const struct stage *stage, struct row_change change)
{
    static char text[TRACE_EFFECT_SIZE];
    const struct bundle bundle = {.name = BUNDLE_STEP1};
    const struct outcome outcome = {.kind = OUTCOME_COMMITTED};
    struct run_event event = {.rows = &stage->run->world.rows,
                              .bundle = &bundle,
                              .outcome = &outcome,
                              .changes = &change,
                              .change_count = 1};
    struct text list = {.text = text, .size = sizeof text};
    text[0] = '\0';
    teller_changes(
        &(struct trace_effect){.names = {.scenario = stage->scenario, .rows = event.rows},
                               .event = &event,
                               .list = &list});
    return text;
}

Test(teller, a_change_is_told_by_the_kind_of_its_column) /* TL1 */
{
    struct stage stage = stage_begin("tree-3", NULL);
    struct choice_source source = choice_listed(NULL);
    run_once(stage.run, &source);
    static const struct {
        struct row_change change;
        const char *says;
    } cases[] = {
        {{.table = TABLE_JOB, .kind = ROW_INSERTED}, "job created, semaphore 0, threshold 0"},
        {{.table = TABLE_JOB, .kind = ROW_DELETED}, "job deleted"},
        {{.table = TABLE_JOB, .column = JOB_SEMAPHORE, .before = 2}, "job semaphore 2 -> 0"},
        {{.table = TABLE_JOB, .column = JOB_STATE}, "job complete"},
        {{.table = TABLE_JOB, .column = JOB_ESCALATED, .before = 1}, "job not escalated"},
        {{.table = TABLE_ACTIVITY, .column = ACTIVITY_LEDGER, .before = -1},
         "trigger -1 -> 001111000000001"},
        {{.table = TABLE_ACTIVITY, .column = ACTIVITY_SPAWNED_BY, .before = 1},
         "trigger spawned_by a GUID that is not there -> none"},
        {{.table = TABLE_GUID, .kind = ROW_INSERTED},
         "GUID of trigger 000011000000001, dimension 0"},
        {{.table = TABLE_TASK, .column = TASK_RUNS, .before = 1},
         "Leg1's work of trigger stored 1 times"},
        {{.table = TABLE_OUTPUT, .kind = ROW_INSERTED}, "output of trigger in dimension 0 stored"},
        {{.table = TABLE_COMPLETION, .kind = ROW_INSERTED}, "completion tasks of job run"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_str_eq(told(&stage, cases[i].change), cases[i].says, "%zu: %s", i,
                         told(&stage, cases[i].change));
    }
    stage_end(&stage);
}

/* ---- names ----------------------------------------------------------------------------------- */

Test(trace, jobs_and_rounds_are_told_apart)
{
    static const char *const jobs[] = {"job 1 created", "claim Leg1 of job 1: trigger",
                                       "claim Leg1 of job 2: trigger", "job 3 complete", NULL};
    static const char *const rounds[] = {"published step, aside",
                                         "published Leg2 of trigger#2",
                                         "enter Leg2 of trigger#2",
                                         "published step#2, aside#2",
                                         "Step 1 of trigger#3",
                                         "step#3",
                                         NULL};
    const struct {
        const char *scenario;
        const char *const *phrases;
    } cases[] = {{"thresholds", jobs}, {"cycle", rounds}};
    for (size_t i = 0; i < 2; i++) {
        struct stage stage = stage_begin(cases[i].scenario, NULL);
        struct choice_source source = choice_listed(NULL);
        char *text = trace_of(&stage, &source);
        says_in_order(text, cases[i].phrases);
        cr_expect_null(strstr(text, "that is not there"));
        free(text);
        stage_end(&stage);
    }
}

/* ---- stories --------------------------------------------------------------------------------- */

static void write_unwrapped(FILE *out, const char *text, int indent)
{
    (void)indent;
    fprintf(out, "%s\n", text);
}

static const struct story_style plain_style = {
    .strong = "", .alarm = "", .plain = "", .wrapped = write_unwrapped};

/* The story of a seed's run as it is, not shrunk; NULL: it broke nothing. */
static char *story_of(struct stage *stage, uint64_t seed)
{
    static struct choice items[4096];
    struct choice_list list = {.items = items, .capacity = 4096};
    struct choice_source source = choice_random(seed, &stage->scenario->faults);
    source.record = &list;
    run_once(stage->run, &source);
    choice_list_sort(&list);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct story story = {.choices = &list, .reproduce = "assay run"};
    bool told = story_tell(out, &plain_style, stage->run, &story);
    fclose(out);
    if (!told) {
        free(text);
    }
    return told ? text : NULL;
}

Test(story, a_lost_snapshot_is_told_whole)
{
    struct stage stage =
        stage_begin("name: alone\ncommits: literal\nworkers: 2\ngraph: {trigger: []}\n"
                    "faults: {crash: 1/20}\n",
                    "lost-snapshot");
    char *text = story_of(&stage, 1);
    cr_assert_not_null(text);
    equals_golden(text, "story.txt");
    free(text);
    stage_end(&stage);
}

Test(story, parts_come_in_the_promised_order)
{
    static const char *const parts[] = {"at step ",
                                        "  breaks     ACL-",
                                        "  reproduce  assay run",
                                        "the schedule",
                                        " step  client",
                                        " breaks\n",
                                        "the ledgers, before and after step",
                                        "the nearest schedule",
                                        NULL};
    struct stage stage = stage_begin("tree-5", "read-then-write");
    int told = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char *text = story_of(&stage, seed);
        if (text != NULL && !stage.run->result.settled &&
            strstr(text, "after faults had") == NULL) {
            says_in_order(text, parts);
            told++;
        }
        free(text);
    }
    cr_expect_gt(told, 0);
    stage_end(&stage);
}

/* The lines of the table, up to the first that is not. */
static int count_rows(const char *text, bool *hides_nothing_late)
{
    const char *at = strstr(text, " step  client");
    int rows = 0, together = 0, after = 0;
    for (at = strchr(at, '\n') + 1; *at == ' '; at = strchr(at, '\n') + 1) {
        bool starts = at[4] >= '0' && at[4] <= '9';
        const char *dots = strstr(at, "... ");
        bool summary = starts && dots != NULL && dots < strchr(at, '\n');
        rows += starts;
        after = summary ? 0 : after + starts;
        together += summary;
    }
    *hides_nothing_late = together == 0 || after >= STORY_ROWS_LAST;
    return rows;
}

Test(story, a_long_schedule_hides_no_fault_and_not_its_end)
{
    struct stage stage = stage_begin("tree-7", "lost-snapshot");
    int told = 0, shorter = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *text = story_of(&stage, seed);
        if (text == NULL) {
            continue;
        }
        bool honest = false;
        int rows = count_rows(text, &honest);
        cr_expect(honest, "seed %d:\n%s", (int)seed, text);
        shorter += rows < (int)stage.run->result.steps;
        told++;
        free(text);
    }
    cr_expect_gt(told, 0);
    cr_expect_gt(shorter, 0);
    stage_end(&stage);
}

Test(story, of_a_run_that_holds_nothing_is_told)
{
    struct stage stage = stage_begin("tree-3", NULL);
    cr_expect_null(story_of(&stage, 1));
    stage_end(&stage);
}

Test(story, statistics_and_observer_are_left_alone)
{
    struct stage stage = stage_begin(ALONE, "lost-snapshot");
    struct choice_list nothing = {0};
    struct choice_source source = choice_listed(&nothing);
    struct written written = {stage.scenario, stdout};
    run_once(stage.run, &source);
    uint64_t evaluated[CLAUSE_COUNT];
    memcpy(evaluated, stage.run->oracle.evaluated, sizeof evaluated);
    stage.run->observer = write_line;
    stage.run->observer_context = &written;
    FILE *nowhere = fopen("/dev/null", "w");
    struct story story = {.choices = &nothing, .reproduce = ""};
    cr_expect(story_tell(nowhere, &plain_style, stage.run, &story));
    fclose(nowhere);
    cr_expect_eq(memcmp(evaluated, stage.run->oracle.evaluated, sizeof evaluated), 0);
    cr_expect(stage.run->observer == write_line);
    cr_expect(stage.run->observer_context == &written);
    stage_end(&stage);
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

/* Its specification has no worked example; this is one of each of its paths: a rejection and a
 * re-review, a pass, a failure that is compensated, requests for people, a lost connection. */
Test(trace, the_pipeline_is_told_phase_by_phase)
{
    PROVES(CLAUSE_CUT_12, CLAUSE_CUT_14, CLAUSE_CUT_20);
    shows(&(struct example){
        .scenario = "name: phases\nprotocol: pipeline\nworkers: 1\n"
                    "entries:\n"
                    "  good: {reviews: [reject, approve]}\n"
                    "  bad: {needs: [good], verify: [fail]}\n"
                    "  empty: {flaw: no-payload}\n"
                    "  adrift: {flaw: no-blocker}\n"
                    "  twice: {flaw: other-payload}\n"
                    "  argued: {reviews: [approve, approve], flaw: rival-reviewer}\n",
        .choices = {{CHOICE_FAULT, 1, 1, FAULT_CONNECTION_CUT},
                    {CHOICE_FAULT, 1, 4, FAULT_DUPLICATE}},
        .count = 2,
        .golden = "pipeline.txt",
        .phrases = {"aborted: connection lost", "good marked; after 1 retry",
                    "decided: reject; marked -> reviewed_reject", "bad marked; needs good",
                    "REVIEW of good (copy)        refused: exists already (23505)",
                    "refused: a column is null (23502)", "needs a human: a column is null",
                    "signed by cutter_exec in lane DOT-991", "reviewed_approve -> cut_applied",
                    "refused: refers to no row (23503)", "refused: a dependency is not complete",
                    "signed by cutter_verify in lane DOT-992; verified: pass",
                    "needs a human: the same key with another payload",
                    "compensating change set of 2 rows; verified: fail; escalation of bad marked",
                    "cut_applied -> verify_failed_escalated",
                    "refused: the decision is superseded"},
    });
}

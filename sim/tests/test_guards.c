/* What each of the four guards of the pipeline is good for beside the others (seed 004, 7): every
 * combination of them is switched off, and the promises that then break are those of the table in
 * faults/README.md. CUT-16 and CUT-17, which say that the guards are there, are not asked here. */
#include "faults/pipeline_guards.h"
#include "sim/run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 1000
#define LINE  200

static const char *const grounds[] = {"pipeline",        "pipeline-race",  "pipeline-lapse",
                                      "pipeline-people", "pipeline-crowd", "pipeline-chain"};

/* Adds the first promise that each seed breaks. */
static void hunt(unsigned guards, const char *name, unsigned broken[CLAUSE_COUNT])
{
    struct scenario *scenario = calloc(1, sizeof *scenario);
    struct run *run = calloc(1, sizeof *run);
    struct sabotage sabotage = pipeline_without_guards(guards);
    struct error error;
    cr_assert(scenario_load(name, scenario, &error), "%s", error.text);
    cr_assert(run_make(run, scenario, &sabotage));
    run->oracle.off[CLAUSE_CUT_16] = true;
    run->oracle.off[CLAUSE_CUT_17] = true;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct choice_source source = run_draw(run, seed);
        const struct run_result *result = run_once(run, &source);
        if (result->verdict == RUN_BROKEN) {
            broken[result->breach.clause]++;
        }
    }
    run_free(run);
    free(run);
    free(scenario);
}

static void add(char text[], const char *separator, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, LINE - used, "%s%s", used > 0 && text[used - 1] != ' ' ? separator : "",
             word);
}

/* "| CAS, lock | CUT-15, CUT-27 |" */
static void row_of(unsigned guards, const unsigned broken[CLAUSE_COUNT], char row[LINE])
{
    static const char *const names[] = {"CAS", "lock", "isolation", "keys"};
    bool any = false;
    snprintf(row, LINE, "| ");
    for (unsigned g = 0; g < 4; g++) {
        if ((guards >> g & 1) != 0) {
            add(row, ", ", names[g]);
        }
    }
    add(row, "", " | ");
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (broken[c] > 0) {
            add(row, ", ", clause_get((enum clause_id)c)->id);
            any = true;
        }
    }
    add(row, "", any ? " |" : "nothing |");
}

static char *read_page(const char *path)
{
    static char page[1 << 17];
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    return page;
}

Test(guards, the_table_says_which_promises_break_without_which_of_them)
{
    const char *page = read_page(ASSAY_SOURCE_DIR "/faults/README.md");
    for (unsigned guards = 0; guards < PIPELINE_GUARD_SETS; guards++) {
        unsigned broken[CLAUSE_COUNT] = {0};
        char row[LINE];
        for (size_t g = 0; g < sizeof grounds / sizeof *grounds; g++) {
            hunt(guards, grounds[g], broken);
        }
        row_of(guards, broken, row);
        if (guards == 0) {
            cr_expect_str_eq(row, "|  | nothing |", "the sound engine: %s", row);
        } else {
            cr_expect_not_null(strstr(page, row), "faults/README.md lacks the line\n%s", row);
        }
    }
}

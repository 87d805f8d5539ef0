/* The text of a scenario as the oracles read it, and texts that are changed. */
#include "scenarios/document.h"
#include "scenarios/scenario.h"

#include <criterion/criterion.h>
#include <string.h>

static struct document document;

static void make(const char *text)
{
    cr_assert(document_make(&document, text, strlen(text)));
}

/* (DO1), (DO2) */
Test(document, maps_lists_and_texts_are_found_in_the_order_of_the_text)
{
    make("name: x\ngraph: {a: [b, {to: c, when: even}], b: []}\njobs: 12\n");
    uint32_t graph = document_find(&document, 0, "graph");
    uint32_t a = document_first(&document, graph), b = document_next(&document, a);
    cr_expect_str_eq(document_key(&document, a), "a");
    cr_expect_str_eq(document_key(&document, b), "b");
    cr_expect_eq(document_next(&document, b), DOCUMENT_NONE);
    cr_expect_eq(document_size(&document, a), 2);
    cr_expect_eq(document_size(&document, b), 0);
    uint32_t child = document_first(&document, a), other = document_next(&document, child);
    cr_expect(document_is(&document, child, "b"));
    cr_expect_eq(document_kind(&document, other), DOCUMENT_MAP);
    cr_expect(document_is(&document, document_find(&document, other, "when"), "even"));
    cr_expect_eq(document_number(&document, document_find(&document, 0, "jobs"), 1), 12);
    cr_expect_eq(document_number(&document, document_find(&document, 0, "workers"), 2), 2);
    document_free(&document);
}

Test(document, every_built_in_scenario_has_one)
{
    static struct scenario scenario;
    struct error error;
    for (size_t i = 0; i < scenario_count(); i++) {
        cr_assert(scenario_load(scenario_name(i), &scenario, &error), "%s", error.text);
        cr_assert(document_make(&document, scenario.text, scenario.text_size));
        cr_expect(document_is(&document, document_find(&document, 0, "name"), scenario.name));
        document_free(&document);
    }
}

Test(document, a_changed_number_is_in_the_scenario_and_in_its_text)
{
    static const struct {
        const char *text, *changed;
    } cases[] = {
        {"name: x\njobs: 3 # few\ngraph: {a: []}\n", "name: x\njobs: 40 # few\ngraph: {a: []}\n"},
        {"name: x\ngraph: {a: []}\n", "jobs: 40\nname: x\ngraph: {a: []}\n"},
        {"about: caf\xc3\xa9\njobs: 3\nname: x\ngraph: {a: []}\n",
         "about: caf\xc3\xa9\njobs: 40\nname: x\ngraph: {a: []}\n"},
        {"# first\n  name: x\n  graph: {a: []}\n",
         "# first\n  jobs: 40\n  name: x\n  graph: {a: []}\n"},
        {"{name: x, graph: {a: []}}", "{jobs: 40, name: x, graph: {a: []}}"},
    };
    static struct scenario scenario;
    struct error error;
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_assert(scenario_parse(cases[i].text, strlen(cases[i].text), "x", &scenario, &error),
                  "%s", error.text);
        cr_assert(scenario_change(&scenario, "jobs", 40, &error), "%s", error.text);
        cr_expect_eq(scenario.jobs, 40);
        cr_expect_eq(scenario.text_size, strlen(cases[i].changed));
        cr_expect_arr_eq(scenario.text, cases[i].changed, scenario.text_size, "%.*s",
                         (int)scenario.text_size, scenario.text);
    }
}

Test(document, a_number_out_of_range_is_refused_and_nothing_changes)
{
    static struct scenario scenario;
    struct error error;
    const char *text = "name: x\njobs: 3\ngraph: {a: []}\n";
    cr_assert(scenario_parse(text, strlen(text), "x", &scenario, &error));
    cr_expect_not(scenario_change(&scenario, "jobs", 10001, &error));
    cr_expect_eq(scenario.jobs, 3);
}

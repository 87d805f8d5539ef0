/* Subjects: what is read, and what is refused with the line and with what would be right. */
#include "wire/subject.h"

#include <criterion/criterion.h>
#include <string.h>

#define NEEDED "setup: a\nworkers: { run: b }\ndone: select true\n"

static bool parse(struct subject *subject, const char *text, struct error *error)
{
    return subject_parse(subject, text, strlen(text), "mine.yaml", error);
}

Test(subject, whole_one_is_read)
{
    static const char text[] =
        "setup: psql -f schema.sql\n"
        "clients: { run: ./enqueue, count: 2 }\n"
        "workers: { run: ./worker, count: 3 }\n"
        "done: select not exists (select 1 from jobs)\n"
        "promises:\n"
        "  - { is: exactly-once, of: \"app.effects(job, step)\", each: jobs(id), says: README }\n"
        "  - { never: select 1 where false, says: docs }\n"
        "  - { never: select 2 where false, says: docs }\n"
        "  - { is: attempts-bounded, of: jobs(attempts), most: 3, says: docs }\n"
        "always: [{ is: at-most-at-a-time, of: running(queue), most: 1, says: docs }]\n"
        "expect: [{ select: select 1, is: \"1\" }, { same: select 2 }]\n"
        "known: [{ breaks: exactly-once, fault: kill-after, says: docs }]\n"
        "clock: shim\n"
        "patience: 60\n";
    struct subject subject;
    struct error error;
    cr_assert(parse(&subject, text, &error), "%s", error.text); /* SJ1 */
    cr_assert_str_eq(subject.setup, "psql -f schema.sql");
    cr_assert_eq(subject.clients.count, 2);
    cr_assert_eq(subject.workers.count, 3);
    cr_assert_eq(subject.promise_count, 4);
    cr_assert_str_eq(subject.promises[0].of.table, "app.effects");
    cr_assert_eq(subject.promises[0].of.column_count, 2);
    cr_assert_str_eq(subject.promises[0].of.columns[1], "step");
    cr_assert_str_eq(subject.promises[1].name, "never");
    cr_assert_str_eq(subject.promises[2].name, "never-3");
    cr_assert_eq(subject.promises[3].most, 3);
    cr_assert_eq(subject.always_count, 1);
    cr_assert(subject.expect[1].same && !subject.expect[0].same);
    cr_assert_eq(subject.clock, SUBJECT_CLOCK_SHIM);
    cr_assert_eq(subject.patience, 60);
    subject_free(&subject);
}

Test(subject, defaults_follow_the_clock)
{
    struct subject subject;
    struct error error;
    cr_assert(parse(&subject, NEEDED, &error));
    cr_assert_eq(subject.patience, SUBJECT_PATIENCE_SEC);
    cr_assert_eq(subject.workers.count, 1);
    cr_assert_null(subject.clients.run);
    subject_free(&subject);
    cr_assert(parse(&subject, NEEDED "clock: shim\n", &error));
    cr_assert_eq(subject.patience, SUBJECT_CLOCK_SEC);
    subject_free(&subject);
}

/* Text, and what the message must say. */
static const struct {
    const char *text, *line, *right;
} refused[] = {
    {"", "mine.yaml:1", "nothing"},
    {"setup: a\nworker: { run: b }\n", "mine.yaml:2", "unknown key \"worker\"; known: setup"},
    {"setup: a\ndone: select true\n", "mine.yaml:1", "'workers' is missing"},
    {"workers: { run: b }\ndone: select true\n", "mine.yaml:1", "'setup' is missing"},
    {"setup: a\nworkers: { run: b }\n", "mine.yaml:1", "'done' is missing"},
    {"setup: a\nworkers: { count: 2 }\ndone: select true\n", "mine.yaml:2", "'run' is missing"},
    {"setup: a\nworkers: { run: b, count: 9 }\n", "mine.yaml:2", "from 1 to 8"},
    {"setup: a\nworkers: b\n", "mine.yaml:2", "{ run: COMMAND, count: 2 }"},
    {"setup: [a]\n", "mine.yaml:1", "a shell command"},
    {NEEDED "clients: { run: c, count: 4 }\n", "mine.yaml:4", "at most 3 clients"},
    {NEEDED "clock: sundial\n", "mine.yaml:4", "none, server or shim"},
    {NEEDED "patience: 0\n", "mine.yaml:4", "from 1 to"},
    {NEEDED "promises: [{ is: twice, of: a(b), says: c }]\n", "mine.yaml:4", "known: exactly-once"},
    {NEEDED "promises: [{ says: c }]\n", "mine.yaml:4", "either 'is'"},
    {NEEDED "promises: [{ is: fenced, never: a, of: a(b), says: c }]\n", "mine.yaml:4",
     "either 'is'"},
    {NEEDED "promises: [{ is: exactly-once, of: a(b) }]\n", "mine.yaml:4", "'says' is missing"},
    {NEEDED "promises: [{ is: exactly-once, says: c }]\n", "mine.yaml:4", "needs 'of'"},
    {NEEDED "promises: [{ is: exactly-once, of: a, says: c }]\n", "mine.yaml:4",
     "effects(job, step)"},
    {NEEDED "promises: [{ is: exactly-once, of: \"a(b; drop table c)\", says: c }]\n",
     "mine.yaml:4", "effects(job, step)"},
    {NEEDED "promises: [{ is: attempts-bounded, of: a(b), says: c }]\n", "mine.yaml:4",
     "needs 'most'"},
    {NEEDED "promises: [{ is: ordered-by-key, of: \"a(b, c)\", says: c }]\n", "mine.yaml:4",
     "3 columns"},
    {NEEDED "promises: [{ never: a, says: c, most: 2 }]\n", "mine.yaml:4", "takes no 'most'"},
    {NEEDED "promises:\n  - { never: a, name: n, says: c }\n  - { never: b, name: n, says: c }\n",
     "mine.yaml:6", "a name stands once"},
    {NEEDED "expect: [{ select: a }]\n", "mine.yaml:4", "{ select: SQL, is: ROWS }"},
    {NEEDED "known: [{ breaks: stranded }]\n", "mine.yaml:4", "'says'"},
    {NEEDED "known: [{ breaks: nothing, says: c }]\n", "mine.yaml:1", "no promise nothing"},
    {NEEDED "setup: again\n", "mine.yaml:4", "a key stands once"},
    {"setup: &a b\n", "mine.yaml:1", "anchor"},
    {"setup: \"a\n", "mine.yaml:", "no YAML"},
};

Test(subject, others_are_refused_with_line_and_what_would_be_right)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct subject subject;
        struct error error;
        cr_assert(!parse(&subject, refused[i].text, &error), "case %zu is read", i);
        cr_assert(strstr(error.text, refused[i].line) != NULL, "case %zu: %s", i, error.text);
        cr_assert(strstr(error.text, refused[i].right) != NULL, "case %zu: %s", i, error.text);
        subject_free(&subject);
    }
}

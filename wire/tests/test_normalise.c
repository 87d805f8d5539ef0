/* Statements without literals, and what statements may do. */
#include "model/check.h"
#include "wire/lexer.h"
#include "wire/normalise.h"
#include "wire/statement.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *normal(const char *text)
{
    static char form[512];
    size_t length = normalise(text, strlen(text), form, sizeof form - 1);
    cr_assert(length <= strlen(text), "(NM1) %s", text);
    form[length] = '\0';
    return form;
}

static const struct {
    const char *text, *normal;
} forms[] = {
    {"SELECT * FROM jobs WHERE id = 17", "select * from jobs where id = ?"},
    {"  select\t1 ;\n; -- done", "select ?"},
    {"select 'it''s', E'it\\'s', B'01', x'ff', U&'\\0061', N'n'", "select ?, ?, ?, ?, ?, ?"},
    {"select $$a;b$$, $tag$ $$ $tag$, $1, $12", "select ?, ?, ?, ?"},
    {"select 1.5, .5, 1e10, 1.5E-3, 0x1F, 1_000", "select ?, ?, ?, ?, ?, ?"},
    {"select a1, \"Quoted 1\", \"with \"\" quote\"",
     "select a1, \"Quoted 1\", \"with \"\" quote\""},
    {"where id in (1, 2,3)", "where id in (?)"},
    {"where id in ($1)", "where id in (?)"},
    {"values (1, 'a'), (2, 'b'),(3,'c') on conflict", "values (?) on conflict"},
    {"values (1, default), (2, 'b')", "values (?, default), (?)"},
    {"f(1, x)", "f(?, x)"},
    {"f()", "f()"},
    {"a/* c /* nested */ */b", "a b"},
    {"select 1 -- to the end", "select ?"},
    {"x-1", "x-?"},
    {"'no end", "?"},
    {"$tag$ no end", "?"},
    {"/* no end", ""},
    {"\"no end", "\"no end"},
    {"a::text[]", "a::text[]"},
    {"data->>'k' ? 'j'", "data->>? ? ?"},
    {"1..2", "?..?"},
    {"é$x = 1", "é$x = ?"},
    {"", ""},
};

Test(normalise, literals_go_and_the_rest_stays)
{
    for (size_t i = 0; i < COUNT(forms); i++) {
        cr_expect_str_eq(normal(forms[i].text), forms[i].normal, "%s: %s", forms[i].text,
                         normal(forms[i].text));
        char once[512];
        snprintf(once, sizeof once, "%s", normal(forms[i].text));
        cr_expect_str_eq(normal(once), once, "(NM2) %s: %s", once, normal(once));
    }
}

/* (NM3), with every end that a text can have. */
Test(normalise, any_bytes_have_a_form)
{
    static const char soup[] = "'\"$a$E'\\--/**/()?,1.e5;\x80\0U&'x'";
    char form[sizeof soup];
    for (size_t from = 0; from < sizeof soup; from++) {
        for (size_t to = from; to < sizeof soup; to++) {
            size_t length = normalise(soup + from, to - from, form, sizeof form);
            cr_expect(length <= to - from);
            size_t at = 0;
            struct lexer_token token;
            while ((token = lexer_next(soup + from, to - from, at)).kind != LEXER_END) {
                cr_assert(token.at == at && token.length > 0); /* LX1 */
                at += token.length;
            }
            cr_expect_eq(at, to - from);
        }
    }
}

Test(normalise, a_form_that_does_not_fit_is_cut)
{
    char form[8] = "........";
    cr_expect_eq(normalise("select 123 from t", 17, form, 6), 15);
    cr_expect_arr_eq(form, "select..", 8);
}

/* ---- facts ---- */

#define NO  STATEMENT_READS
#define MAY STATEMENT_MAY_WRITE
#define YES STATEMENT_WRITES

static const struct {
    const char *text;
    struct statement_facts facts;
} looks[] = {
    {"", {.statements = 0}},
    {" ; ; -- x", {.statements = 0}},
    {"select 1", {.statements = 1, .writes = MAY, .tail = true}},
    {"show x; set y = 1", {.statements = 2, .writes = NO}},
    {"insert into t values (1)", {.statements = 1, .writes = YES, .tail = true}},
    {"begin", {.statements = 1, .begins = true, .open = true}},
    {"START TRANSACTION", {.statements = 1, .begins = true, .open = true}},
    {"begin; delete from t; end",
     {.statements = 3, .writes = YES, .begins = true, .commits = true, .closed = true}},
    {"commit; insert into t default values",
     {.statements = 2, .writes = YES, .commits = true, .closed = true, .tail = true}},
    {"rollback; delete from t; end; begin",
     {.statements = 4,
      .writes = YES,
      .begins = true,
      .commits = true,
      .renews = true,
      .rolls = true,
      .open = true}},
    {"rollback; begin; commit",
     {.statements = 3,
      .begins = true,
      .commits = true,
      .renews = true,
      .rolls = true,
      .closed = true}},
    {"commit and chain", {.statements = 1, .commits = true, .begins = true, .open = true}},
    {"commit and no chain", {.statements = 1, .commits = true, .closed = true}},
    {"rollback", {.statements = 1, .rolls = true, .closed = true}},
    {"rollback to savepoint s", {.statements = 1, .recovers = true}},
    {"abort", {.statements = 1, .rolls = true, .closed = true}},
    {"prepare transaction 'x'", {.statements = 1, .prepares = true, .closed = true}},
    {"commit prepared 'x'", {.statements = 1, .writes = YES, .commits = true}},
    {"prepare q as select 1", {.statements = 1, .tail = false}},
    {"call p()", {.statements = 1, .writes = MAY, .calls = true, .tail = true}},
    {"do 'begin end'", {.statements = 1, .writes = MAY, .calls = true, .tail = true}},
    {"listen a", {.statements = 1, .listens = true}},
    {"notify a", {.statements = 1, .writes = YES, .tail = true}},
    {"explain select 1", {.statements = 1}},
    {"explain (analyze) delete from t", {.statements = 1, .writes = MAY, .tail = true}},
    {"copy t from stdin", {.statements = 1, .writes = YES, .copies_in = true, .tail = true}},
    {"copy t from '/x'", {.statements = 1, .writes = YES, .tail = true}},
    {"copy (select 1 from t) to stdout", {.statements = 1, .writes = MAY, .tail = true}},
    {"create function f() returns int begin atomic select case when true then 1 end; select 2; end",
     {.statements = 1, .writes = YES, .tail = true}},
    {"/* x */ update t set a = ';commit;'", {.statements = 1, .writes = YES, .tail = true}},
    {"with x as (delete from t) select 1", {.statements = 1, .writes = MAY, .tail = true}},
};

Test(statement, its_words_tell_what_it_may_do)
{
    for (size_t i = 0; i < COUNT(looks); i++) {
        struct statement_facts is = statement_look(looks[i].text, strlen(looks[i].text));
        const struct statement_facts *due = &looks[i].facts;
        cr_expect(is.statements == due->statements && is.writes == due->writes, "%s",
                  looks[i].text);
        cr_expect(is.begins == due->begins && is.commits == due->commits &&
                      is.rolls == due->rolls && is.prepares == due->prepares,
                  "%s", looks[i].text);
        cr_expect(is.open == due->open && is.closed == due->closed && is.tail == due->tail, "%s",
                  looks[i].text);
        cr_expect(is.calls == due->calls && is.listens == due->listens &&
                      is.copies_in == due->copies_in && is.recovers == due->recovers &&
                      is.renews == due->renews,
                  "%s", looks[i].text);
    }
}

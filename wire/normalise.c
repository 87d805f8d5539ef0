#include "wire/normalise.h"

#include "wire/lexer.h"

#include <stdbool.h>
#include <string.h>

#define NOWHERE ((size_t)-1)

/* The form as it is written. A list is what stands between a parenthesis and literals with commas
 * between; rows are such lists with commas between. */
struct form {
    char *out;
    size_t size, used;
    bool blank;      /* white space has come that is not written */
    size_t list;     /* where the list begins that may be one; NOWHERE: none */
    size_t literals; /* in it */
    bool comma;      /* its last token is a comma, or its parenthesis */
    size_t row_end;  /* where the last list ended; NOWHERE: something else has come since */
    bool row_comma;  /* a comma has come since */
    size_t before;   /* row_end for the list that is open, if a comma was between; NOWHERE: none */
};

static void put(struct form *form, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++, form->used++) {
        if (form->used < form->size) {
            form->out[form->used] = bytes[i];
        }
    }
}

static void put_lower(struct form *form, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        put(form, (char[]){c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c}, 1);
    }
}

/* True: the token closed a list, which is written. */
static bool close_list(struct form *form)
{
    if (form->list == NOWHERE || form->literals == 0 || form->comma) {
        return false;
    }
    if (form->before != NOWHERE) { /* the row before says it all */
        form->used = form->before;
    } else {
        form->used = form->list;
        put(form, "(?)", 3);
    }
    form->row_end = form->used;
    form->row_comma = false;
    form->list = NOWHERE;
    form->blank = false;
    return true;
}

static void open_list(struct form *form)
{
    form->before = form->row_comma ? form->row_end : NOWHERE;
    form->list = form->used;
    form->literals = 0;
    form->comma = true;
}

/* Whether the token can be part of a list, or stands between two. */
static void follow_lists(struct form *form, enum lexer_kind kind, char symbol)
{
    if (symbol == '(') {
        open_list(form);
        form->row_end = NOWHERE;
        return;
    }
    if (form->list != NOWHERE && kind == LEXER_LITERAL && form->comma) {
        form->literals++;
        form->comma = false;
    } else if (form->list != NOWHERE && symbol == ',' && !form->comma) {
        form->comma = true;
    } else {
        form->list = NOWHERE;
    }
    if (symbol == ',' && !form->row_comma) {
        form->row_comma = form->row_end != NOWHERE;
    } else {
        form->row_end = NOWHERE;
        form->row_comma = false;
    }
}

static void put_token(struct form *form, const char *text, struct lexer_token token)
{
    char symbol = token.kind == LEXER_SYMBOL ? text[token.at] : '\0';
    if (symbol == ')' && close_list(form)) {
        return;
    }
    if (form->blank && form->used > 0) {
        put(form, " ", 1);
    }
    form->blank = false;
    follow_lists(form, token.kind, symbol);
    if (token.kind == LEXER_LITERAL) {
        put(form, "?", 1);
    } else if (token.kind == LEXER_WORD) {
        put_lower(form, text + token.at, token.length);
    } else {
        put(form, text + token.at, token.length);
    }
}

/* The length without semicolons, white space and comments at its end. */
static size_t meant(const char *text, size_t length)
{
    size_t end = 0;
    for (struct lexer_token token = lexer_next(text, length, 0); token.kind != LEXER_END;
         token = lexer_next(text, length, token.at + token.length)) {
        bool nothing =
            token.kind == LEXER_SPACE || (token.kind == LEXER_SYMBOL && text[token.at] == ';');
        end = nothing ? end : token.at + token.length;
    }
    return end;
}

size_t normalise(const char *text, size_t length, char *out, size_t size)
{
    struct form form = {
        .out = out, .size = size, .list = NOWHERE, .row_end = NOWHERE, .before = NOWHERE};
    length = meant(text, length);
    for (struct lexer_token token = lexer_next(text, length, 0); token.kind != LEXER_END;
         token = lexer_next(text, length, token.at + token.length)) {
        if (token.kind == LEXER_SPACE) {
            form.blank = true;
        } else {
            put_token(&form, text, token);
        }
    }
    return form.used;
}

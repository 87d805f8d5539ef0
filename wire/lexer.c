#include "wire/lexer.h"

#include "model/check.h"

#include <stdbool.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

static bool in_word(char c)
{
    return begins_word(c) || is_digit(c) || c == '$';
}

struct reader {
    const char *text;
    size_t length;
};

static char at(const struct reader *in, size_t i)
{
    return i < in->length ? in->text[i] : '\0';
}

static bool is_pair(const struct reader *in, size_t i, char first, char second)
{
    return i + 1 < in->length && in->text[i] == first && in->text[i + 1] == second;
}

/* Each of these returns where what begins at i ends. */

static size_t line_comment(const struct reader *in, size_t i)
{
    while (i < in->length && in->text[i] != '\n' && in->text[i] != '\r') {
        i++;
    }
    return i;
}

static size_t block_comment(const struct reader *in, size_t i)
{
    size_t depth = 0;
    while (i < in->length) {
        if (is_pair(in, i, '/', '*')) {
            depth++;
            i += 2;
        } else if (is_pair(in, i, '*', '/')) {
            depth--;
            i += 2;
            if (depth == 0) {
                return i;
            }
        } else {
            i++;
        }
    }
    return i;
}

static size_t space(const struct reader *in, size_t i)
{
    for (;;) {
        if (i < in->length && is_space(in->text[i])) {
            i++;
        } else if (is_pair(in, i, '-', '-')) {
            i = line_comment(in, i);
        } else if (is_pair(in, i, '/', '*')) {
            i = block_comment(in, i);
        } else {
            return i;
        }
    }
}

/* i is at the opening quote, which doubled stands for itself. */
static size_t quoted(const struct reader *in, size_t i, bool escapes)
{
    char quote = in->text[i++];
    while (i < in->length) {
        if (escapes && in->text[i] == '\\') {
            i += i + 1 < in->length ? 2 : 1;
        } else if (is_pair(in, i, quote, quote)) {
            i += 2;
        } else if (in->text[i++] == quote) {
            return i;
        }
    }
    return i;
}

static size_t word(const struct reader *in, size_t i)
{
    while (i < in->length && in_word(in->text[i])) {
        i++;
    }
    return i;
}

static size_t digits(const struct reader *in, size_t i)
{
    while (i < in->length && (is_digit(in->text[i]) || in->text[i] == '_')) {
        i++;
    }
    return i;
}

static size_t hexadecimal(const struct reader *in, size_t i)
{
    while (i < in->length && (is_digit(in->text[i]) || in->text[i] == '_' ||
                              ((in->text[i] | 0x20) >= 'a' && (in->text[i] | 0x20) <= 'f'))) {
        i++;
    }
    return i;
}

/* .5, but not the second dot of 1..5 */
static bool begins_fraction(const struct reader *in, size_t i)
{
    return in->text[i] == '.' && is_digit(at(in, i + 1)) && (i == 0 || in->text[i - 1] != '.');
}

static size_t number(const struct reader *in, size_t i)
{
    char base = at(in, i + 1) | 0x20;
    if (in->text[i] == '0' && (base == 'x' || base == 'o' || base == 'b') &&
        hexadecimal(in, i + 2) > i + 2) {
        return hexadecimal(in, i + 2);
    }
    i = digits(in, i);
    if (at(in, i) == '.' && at(in, i + 1) != '.') {
        i = digits(in, i + 1);
    }
    size_t sign = at(in, i + 1) == '+' || at(in, i + 1) == '-';
    if ((at(in, i) | 0x20) == 'e' && is_digit(at(in, i + 1 + sign))) {
        i = digits(in, i + 1 + sign);
    }
    return i;
}

/* i is at a dollar: a parameter, a string between two equal tags, or i itself for neither. */
static size_t dollar(const struct reader *in, size_t i)
{
    if (is_digit(at(in, i + 1))) {
        return digits(in, i + 1);
    }
    size_t end = i + 1;
    if (end < in->length && begins_word(in->text[end])) {
        while (end < in->length && in->text[end] != '$' && in_word(in->text[end])) {
            end++;
        }
    }
    if (at(in, end) != '$') {
        return i;
    }
    size_t tag = end + 1 - i;
    for (size_t at = end + 1; at + tag <= in->length; at++) {
        if (memcmp(in->text + at, in->text + i, tag) == 0) {
            return at + tag;
        }
    }
    return in->length;
}

/* The length of what may stand before a quote: E, B, X, N, U&; 0: nothing of that is here. */
static size_t prefix(const struct reader *in, size_t i)
{
    if (i >= in->length) {
        return 0;
    }
    char letter = in->text[i] | 0x20;
    if (letter == 'u' && is_pair(in, i + 1, '&', '\'')) {
        return 2;
    }
    return strchr("ebxn", letter) != NULL && letter != '\0' && at(in, i + 1) == '\'';
}

static struct lexer_token token(enum lexer_kind kind, size_t from, size_t to)
{
    CHECK(to > from); /* LX1 */
    return (struct lexer_token){kind, from, to - from};
}

struct lexer_token lexer_next(const char *text, size_t length, size_t from)
{
    struct reader in = {text, length};
    if (from >= length) {
        return (struct lexer_token){LEXER_END, length, 0};
    }
    char c = text[from];
    size_t before = prefix(&in, from), end = space(&in, from);
    if (end > from) {
        return token(LEXER_SPACE, from, end);
    }
    if (c == '\'' || before > 0) {
        bool escapes = before == 1 && (c | 0x20) == 'e';
        return token(LEXER_LITERAL, from, quoted(&in, from + before, escapes));
    }
    if (c == '"') {
        return token(LEXER_QUOTED, from, quoted(&in, from, false));
    }
    if (begins_word(c)) {
        return token(LEXER_WORD, from, word(&in, from));
    }
    if (is_digit(c) || begins_fraction(&in, from)) {
        return token(LEXER_LITERAL, from, number(&in, from));
    }
    if (c == '$' && dollar(&in, from) > from) {
        return token(LEXER_LITERAL, from, dollar(&in, from));
    }
    return token(c == '?' ? LEXER_LITERAL : LEXER_SYMBOL, from, from + 1);
}

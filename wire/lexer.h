/* The tokens of PostgreSQL's SQL, as far as literals, names and comments need it: where each begins
 * and ends. Strings are read as standard_conforming_strings has them. Pure.
 *
 * (LX1) The tokens of a text cover it from end to end, and none is empty. */
#ifndef WIRE_LEXER_H
#define WIRE_LEXER_H

#include <stddef.h>

enum lexer_kind {
    LEXER_END,
    LEXER_SPACE,   /* white space and comments, as many as follow each other */
    LEXER_WORD,    /* a keyword, or a name without quotes */
    LEXER_QUOTED,  /* "a name" */
    LEXER_LITERAL, /* a string of any kind, a number, a parameter, or the ? of a normal form */
    LEXER_SYMBOL   /* one byte of anything else */
};

struct lexer_token {
    enum lexer_kind kind;
    size_t at, length;
};

/* The token that begins at `from`; LEXER_END at the end of the text. */
struct lexer_token lexer_next(const char *text, size_t length, size_t from);

#endif

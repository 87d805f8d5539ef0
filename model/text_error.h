/* Text as the parsers of model/ take it: characters and a length, no terminator needed; and what
 * a parser says when it refuses one. Everything is plain data with static strings, so that a
 * parser neither allocates nor formats. */
#ifndef MODEL_TEXT_ERROR_H
#define MODEL_TEXT_ERROR_H

#include <stddef.h>

/* Why a text is refused: "at position 16: a 16th digit; a ledger has 1 to 15 digits". */
struct text_error {
    const char *wrong; /* what stands there, as a noun phrase */
    const char *right; /* what would be right, as a sentence without its full stop */
    size_t at;         /* 0-based offset of the first offending character, or the length */
};

#endif

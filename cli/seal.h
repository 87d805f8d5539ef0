/* The seal of the acceptance page: a line with the hash of all above it. Below it is the signature
 * block, which a person fills in; nothing else of the page may change.
 */
#ifndef CLI_SEAL_H
#define CLI_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the seal of `text` and an empty signature block. */
void seal_write(FILE *out, const char *text, size_t length);

/* Where the seal of a page begins, and in *block the signature block; 0: there is no seal, or it is
 * that of another text. */
size_t seal_end(const char *text, size_t length, const char **block);

/* Nobody has written anything into the block. */
bool seal_is_empty(const char *block);

/* It has a name and a date. */
bool seal_is_signed(const char *block);

#endif

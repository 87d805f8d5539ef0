/* A statement without its literals: what stays the same from run to run, and names it.
 *
 *   select * from jobs where id = 17 and name = E'it\'s' -- poll
 *   select * from jobs where id = ? and name = ?
 *
 * Strings ('', E'', B'', X'', N'', U&'', $tag$), numbers and the parameters $1 become ?; a list of
 * those, (?, ?, ?), becomes (?), and so do several rows of VALUES; comments go, white space is one
 * blank, semicolons at the end go; words are in lower case, quoted names as they are. Pure.
 *
 * (NM1) The result is never longer than the text.
 * (NM2) Normalising a normal form changes nothing.
 * (NM3) Any bytes are accepted; a literal without an end reaches to the end. */
#ifndef WIRE_NORMALISE_H
#define WIRE_NORMALISE_H

#include <stddef.h>

/* Writes at most `size` bytes, not terminated; returns how many the whole form has. `out` may not
 * overlap the text. */
size_t normalise(const char *text, size_t length, char *out, size_t size);

#endif

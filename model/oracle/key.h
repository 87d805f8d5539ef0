/* Judges the collation key of seed 002: one value, or one move of it.
 *
 * Owns its own list of the changes that a digit can make. Never knows the graph, nor which change
 * was meant: digits alone do not tell a replayed start (8 to 7) from an error, nor whether a
 * skipped activity could still be reached. That takes a data-flow oracle.
 *
 * (OK1) A digit moves 9>8, 8>7, 8>6, 6>5, 8>5, 5>4 or 9>3 and in no other way. A borrow always
 *      raises a digit, so it is never mistaken for a change.
 * (OK2) One commit makes one change, and any number of skips with it (E-KEY-5). */
#ifndef MODEL_ORACLE_KEY_H
#define MODEL_ORACLE_KEY_H

#include "model/oracle/verdict.h"

#include <stdint.h>

/* A key at rest, in this order:
 *   KEY-2  it has at most 15 digits and is not negative; it has an activity; unused positions are
 *          at the end
 *   KEY-1  an activity's digit is 3 to 9: parentheses occur in composed text only */
struct oracle_verdict oracle_key_value(int64_t key);

/* A key's move, in this order:
 *   KEY-2   there was a number of 15 digits before
 *   KEY-8   no digit rose (a borrow), no digit fell otherwise than (OK1)
 *   KEY-3   at most one of the changes is no skip (OK2)
 *   KEY-10  a complete key does not move: two changes would see its completion */
struct oracle_verdict oracle_key_move(int64_t before, int64_t after);

/* KEY-4: a key without 9, 8 and 5; a key with a 7. What is no key is neither. */
bool oracle_key_complete(int64_t key);
bool oracle_key_in_error(int64_t key);

#endif

/* Judges one move of the earlier activity ledger (seed 003).
 *
 * Owns its own list of what the lifecycle does to the five fields of LEG-8:
 *
 *      Leg1 entry   Leg1 exit   Leg2 exit   Leg2 entries   Leg2 exits
 *      -1                                                               Leg1 begins
 *                   -1                                                  Leg1 ends
 *                                           +1                          Leg2 begins
 *                                           -1                          a late call is undone
 *                                                          +1           pending
 *                               -1                         +1           success
 *
 * Never recognises a message and never counts the lives of a run: this design cannot, and its known
 * weaknesses (E-LEG-3) are found by the data they lose, not here. */
#ifndef MODEL_ORACLE_LEGACY_H
#define MODEL_ORACLE_LEGACY_H

#include "model/oracle/verdict.h"

#include <stdint.h>

/* A move, in this order; no move at all is fine:
 *   LEG-8  there was an integer of 15 digits before
 *   LEG-5  no field ran over: no status fell from 0 to 9, no counter went from 999999 to 0 or back
 *   LEG-1  the fields moved as exactly one line of the list says
 *   LEG-4  an entry is undone only after Leg2 was closed */
struct oracle_verdict oracle_legacy_move(int64_t before, int64_t after);

#endif

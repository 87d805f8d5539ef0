/* State machines as tables: which move leads from which state to which, and by which cover point of
 * the oracles it is known that it was taken. */
#ifndef REPORTS_MACHINE_H
#define REPORTS_MACHINE_H

#include "reports/evidence.h"

/* A list of machines, each {"name", "corner", "rows", "columns", "cells", "kinds", "seen"}.
 *
 *      corner  what a row is
 *      cells   how often each was seen, in both worlds; null: no run of its protocol was watched;
 *              false: no run can show it
 *      kinds   "move"; "refused": it is not legal, and was seen being refused; "same": it is legal
 *              and changes nothing; null: no run can show it
 *      seen    by kind: the words after "12 of 12"; a kind that has none is not summed up */
json_t *machine_all(const struct evidence *evidence);

#endif

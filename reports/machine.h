/* State machines as tables: which move leads from which state to which, and by which sighting of
 * the oracles it is known that it was taken. */
#ifndef REPORTS_MACHINE_H
#define REPORTS_MACHINE_H

#include "reports/evidence.h"

/* A list of machines, each {"name", "rows", "columns", "cells"}: how often each move was seen in
 * both worlds; null: no run of its protocol was watched; false: no run can show it. */
json_t *machine_all(const struct evidence *evidence);

#endif

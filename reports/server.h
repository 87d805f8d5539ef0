/* What runs on PostgreSQL did to the server and its clients, and what became of commits. */
#ifndef REPORTS_SERVER_H
#define REPORTS_SERVER_H

#include "reports/evidence.h"

/* {"commits", "acknowledged", "forgotten", ..., "faults": [{"kind", "planned", "hit"}]}: sums of all lines
 * about runs with faults, by the keys of lines.def, and every real fault by its own name. null: there
 * are no such lines. */
json_t *report_server(const struct evidence *evidence);

#endif

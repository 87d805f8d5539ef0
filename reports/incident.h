/* An illegal transition of the seq ledger, told to whoever has to look into it (SEQ-4): seq, prior
 * state, attempted state, owner id and wall-clock time, and who attempted it. */
#ifndef REPORTS_INCIDENT_H
#define REPORTS_INCIDENT_H

#include "model/seq.h"
#include "reports/format.h"

#include <stdio.h>

/* Text: one line. JSON: one object of type "illegal_transition". Markdown is the text. */
void incident_write(FILE *out, enum format_kind format, const struct seq_report *report);

#endif

/* SEQ-4: an illegal transition tells seq, prior state, attempted state, owner and wall-clock. */
#include "reports/incident.h"

#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *told(enum format_kind format, const struct seq_report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    incident_write(out, format, report);
    fclose(out);
    return text;
}

static const struct seq_report report = {.seq = 42,
                                         .prior = SEQ_SUCCESS,
                                         .attempted = SEQ_DISPATCHED,
                                         .owner = 7,
                                         .by = 9,
                                         .wall_ms = 1763280000123};

Test(incident, the_five_facts_are_told_in_one_line)
{
    PROVES(CLAUSE_SEQ_4);
    char *text = told(FORMAT_TEXT, &report);
    cr_expect_str_eq(
        text, "illegal transition: seq 42 TERMINAL_SUCCESS -> DISPATCHED, owner 7, attempted "
              "by 9 at 2025-11-16T08:00:00.123Z; the ledger is halted\n");
    free(text);
}

Test(incident, the_five_facts_are_fields_in_json)
{
    PROVES(CLAUSE_SEQ_4);
    char *text = told(FORMAT_JSON, &report);
    cr_expect_str_eq(text, "{\"type\":\"illegal_transition\",\"seq\":42,\"prior\":"
                           "\"TERMINAL_SUCCESS\",\"attempted\":\"DISPATCHED\",\"owner\":7,\"by\":9,"
                           "\"at\":\"2025-11-16T08:00:00.123Z\"}\n");
    free(text);
}

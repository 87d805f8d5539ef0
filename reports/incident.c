#include "reports/incident.h"

#include "reports/json_line.h"

#include <inttypes.h>
#include <time.h>

/* "2026-11-16T08:00:00.123Z" */
static void format_time(uint64_t wall_ms, char *out, size_t size)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc = {0};
    char date[32] = "";
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, size, "%s.%03uZ", date, (unsigned)(wall_ms % 1000));
}

void incident_write(FILE *out, enum format_kind format, const struct seq_report *report)
{
    const char *prior = seq_rules_state_name(report->prior);
    const char *attempted = seq_rules_state_name(report->attempted);
    char when[48];
    format_time(report->wall_ms, when, sizeof when);
    if (format == FORMAT_JSON) {
        json_t *object =
            json_pack("{ss sI ss ss sI sI ss}", "type", "illegal_transition", "seq",
                      (json_int_t)report->seq, "prior", prior, "attempted", attempted, "owner",
                      (json_int_t)report->owner, "by", (json_int_t)report->by, "at", when);
        json_line_write(out, object);
        return;
    }
    fprintf(out, "illegal transition: seq %" PRIu64 " %s -> %s, owner %" PRIu32, report->seq, prior,
            attempted, report->owner);
    fprintf(out, ", attempted by %" PRIu32 " at %s; the ledger is halted\n", report->by, when);
}

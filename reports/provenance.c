#include "reports/provenance.h"

#include "reports/format.h"
#include "reports/line.h"
#include "reports/repeat.h"
#include "reports/report.h"

#include <string.h>

/* ---- sessions -------------------------------------------------------------------------------- */

/* In a cell of a table; commands may have bars. */
static void write_command(FILE *out, const char *command)
{
    fputc('`', out);
    for (const char *c = command; *c != '\0'; c++) {
        fputs(*c == '|' ? "\\|" : (char[2]){*c, '\0'}, out);
    }
    fputc('`', out);
}

static bool has(const json_t *session, const char *key)
{
    return json_is_number(json_object_get(session, key));
}

/* "2,000 from seed 1 on", or "1". */
static void write_seeds(FILE *out, const json_t *session)
{
    if (has(session, "seeds")) {
        fputs(format_grouped(evidence_number(session, "seeds")).text, out);
    }
    if (has(session, "seeds") && has(session, "base_seed")) {
        fprintf(out, ", from %s on", format_grouped(evidence_number(session, "base_seed")).text);
    }
    const json_t *seed = json_object_get(session, "seed");
    if (json_is_integer(seed)) {
        fprintf(out, "seed %" JSON_INTEGER_FORMAT, json_integer_value(seed));
    } else if (json_is_string(seed)) {
        fprintf(out, "seed %s", json_string_value(seed));
    }
}

static void write_result(FILE *out, const json_t *session)
{
    const json_t *status = json_object_get(session, "status");
    if (!json_is_integer(status)) {
        fputs("killed half-way", out);
        return;
    }
    int ended = (int)json_integer_value(status);
    fprintf(out, "%s (status %d)",
            ended == 0 ? "ended well" : line_status_words(line_status_rank(ended)), ended);
}

void provenance_write_sessions(FILE *out, const struct evidence *evidence, const json_t *hashes)
{
    json_t *sessions = repeat_commands(evidence), *session;
    size_t i;
    fputs("\n### Where it comes from\n\n"
          "A row is what one command wrote. Its hash is that of its lines in `results.jsonl`; of a "
          "step "
          "of `assay sign-off` SHA256SUMS has the same.\n\n"
          "| command | seeds | runs | seconds | result | sha256 |\n|---|---|--:|--:|---|---|\n",
          out);
    json_array_foreach(sessions, i, session)
    {
        const char *hash = json_string_value(json_array_get(hashes, i));
        fputs("| ", out);
        write_command(out, evidence_text(session, "command"));
        fputs(" | ", out);
        write_seeds(out, session);
        fprintf(out, " | %s | ",
                has(session, "runs") ? format_grouped(evidence_number(session, "runs")).text : "");
        if (has(session, "seconds")) {
            fprintf(out, "%.1f", json_number_value(json_object_get(session, "seconds")));
        }
        fputs(" | ", out);
        write_result(out, session);
        fprintf(out, " | %s%s%s |\n", hash == NULL ? "" : "`", hash == NULL ? "" : hash,
                hash == NULL ? "" : "`");
    }
    json_decref(sessions);
}

/* ---- what is not proved ---------------------------------------------------------------------- */

/* The last line of the verb that sums it up; NULL: there is none. */
static const json_t *summary_of(const struct evidence *evidence, const char *verb)
{
    const json_t *found = NULL;
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        bool is = line_is(line, LINE_SUMMARY) && line_text_is(line_get_verb(line), verb);
        found = is ? line : found;
    }
    return found;
}

static void write_schedules(FILE *out, const struct evidence *evidence)
{
    json_t *bound = report_bound(evidence);
    const char *words = evidence_text(bound, "words");
    fprintf(out,
            "- **Not every schedule.** A campaign draws schedules at random%s%s. A sweep has every "
            "crash point of one schedule, a search every schedule of a small scope.\n",
            words[0] == '\0' ? "" : ": ", words);
    json_decref(bound);
}

static void write_planted(FILE *out, const struct evidence *evidence)
{
    const json_t *hunt = summary_of(evidence, "sabotage");
    fputs("- **Not what leaves no trace.** Promises are judged by committed rows, by what a store "
          "saw of "
          "each transaction and by the journal of work outside rows.",
          out);
    if (hunt != NULL) {
        fprintf(out,
                " Of %s planted bugs %s were found; %s are invisible there, as is shown, and %s as "
                "is not shown.",
                format_grouped(line_get_sabotages(hunt)).text,
                format_grouped(line_get_found(hunt)).text,
                format_grouped(line_get_equivalents(hunt)).text,
                format_grouped(line_get_not_shown(hunt)).text);
    }
    fputc('\n', out);
}

void provenance_write_limits(FILE *out, const struct evidence *evidence)
{
    const json_t *compared = summary_of(evidence, "conform");
    fputs("\n## What a pass does not prove\n\n", out);
    write_schedules(out, evidence);
    write_planted(out, evidence);
    fputs("- **Not all of PostgreSQL.** The simulated store was ", out);
    if (compared == NULL) {
        fputs("not compared with a server.", out);
    } else {
        fprintf(out, "compared with a server by %s statements, of the kinds that Assay sends.",
                format_grouped(line_get_statements(compared)).text);
    }
    fputs(" Runs on PostgreSQL kill processes and servers and cut no power: the private server has "
          "fsync off.\n"
          "- **Not another engine.** What ran are Assay's own engines, written from the "
          "specifications "
          "with the decisions below. An engine that decided otherwise is judged otherwise, and was "
          "not "
          "run.\n"
          "- **Not the decisions.** That a deviation is what the authors of a specification would "
          "have "
          "decided is what a signature says.\n",
          out);
}

#include "reports/clauses.h"

#include "model/clause.h"
#include "reports/json_line.h"
#include "reports/line.h"

#include <stdbool.h>
#include <string.h>

/* "ACL" names a family, "ACL-1" one id: the prefix ends where the id does, or before a hyphen. */
static bool matches(const char *id, const char *prefix)
{
    size_t length = strlen(prefix);
    return length == 0 ||
           (strncmp(id, prefix, length) == 0 && (id[length] == '\0' || id[length] == '-'));
}

static void write_family_heading(FILE *out, enum clause_family family)
{
    const char *seed = clause_family_seed(family);
    bool own = strcmp(seed, "none") == 0;
    fprintf(out, "\n## %s: %s (%s%s)\n\n", clause_family_name(family), clause_family_about(family),
            own ? "Assay's own" : "seed ", own ? "" : seed);
}

static void write_clause(FILE *out, enum format_kind format, const struct clause *clause)
{
    const char *kind = clause_kind_name(clause->kind);
    switch (format) {
    case FORMAT_TEXT:
    case FORMAT_COLOUR:
        fprintf(out, "%s%-7s%s %-6s ", format_strong(format), clause->id, format_plain(format),
                kind);
        format_wrapped(out, clause->promise, 15);
        break;
    case FORMAT_JSON:
        json_line_write(out,
                        line_make(LINE_LISTED_CLAUSE, line_id(clause->id), line_kind(kind),
                                  line_specification(clause_family_seed(clause->family)),
                                  line_section(clause->section), line_promise(clause->promise)));
        break;
    case FORMAT_MARKDOWN:
        fprintf(out, "| %s | %s | %s | %s |\n", clause->id, kind, clause->section, clause->promise);
        break;
    }
}

static void write_clauses_preamble(FILE *out)
{
    fputs(
        "# The promises, numbered\n\n"
        "Every clause that Assay holds a protocol to. They come from five specifications, called\n"
        "seeds 000 to 004, which are not part of this project; a section is one of theirs. Those\n"
        "of the last family are Assay's own, of its example of a protocol. Made\n"
        "from `model/clauses.def` by `assay list clauses --markdown`; a test keeps the two "
        "equal.\n\n"
        "| kind | how it is shown |\n|---|---|\n",
        out);
    for (int kind = 0; kind < CLAUSE_KIND_COUNT; kind++) {
        fprintf(out, "| %s | %s |\n", clause_kind_name((enum clause_kind)kind),
                clause_kind_about((enum clause_kind)kind));
    }
}

int clauses_write(FILE *out, enum format_kind format, const char *prefix)
{
    int count = 0;
    enum clause_family last = CLAUSE_FAMILY_COUNT;
    if (format == FORMAT_MARKDOWN) {
        write_clauses_preamble(out);
    }
    for (int id = 0; id < CLAUSE_COUNT; id++) {
        const struct clause *clause = clause_get((enum clause_id)id);
        if (!matches(clause->id, prefix)) {
            continue;
        }
        if (format == FORMAT_MARKDOWN && clause->family != last) {
            write_family_heading(out, clause->family);
            fputs("| clause | kind | section | promise |\n|---|---|---|---|\n", out);
            last = clause->family;
        }
        write_clause(out, format, clause);
        count++;
    }
    return count;
}

static void write_erratum(FILE *out, enum format_kind format, const struct erratum *erratum)
{
    switch (format) {
    case FORMAT_TEXT:
    case FORMAT_COLOUR:
        fprintf(out, "%s%-9s%s the text  ", format_strong(format), erratum->id,
                format_plain(format));
        format_wrapped(out, erratum->text, 20);
        fprintf(out, "%-9s problem   ", "");
        format_wrapped(out, erratum->problem, 20);
        fprintf(out, "%-9s decided   ", "");
        format_wrapped(out, erratum->decided, 20);
        break;
    case FORMAT_JSON:
        json_line_write(out, line_make(LINE_LISTED_ERRATUM, line_id(erratum->id),
                                       line_specification(clause_family_seed(erratum->family)),
                                       line_text(erratum->text), line_problem(erratum->problem),
                                       line_decided(erratum->decided)));
        break;
    case FORMAT_MARKDOWN:
        fprintf(out, "| %s | %s | %s | %s |\n", erratum->id, erratum->text, erratum->problem,
                erratum->decided);
        break;
    }
}

/* As lines of JSON there are none: they are no deviations to accept. */
static int write_withdrawn(FILE *out, enum format_kind format, const char *prefix)
{
    int count = 0;
    for (size_t i = 0; i < clause_withdrawn_count() && format != FORMAT_JSON; i++) {
        const struct withdrawn *number = clause_withdrawn(i);
        if (!matches(number->id, prefix)) {
            continue;
        }
        if (format == FORMAT_MARKDOWN) {
            fprintf(out, "%s| %s | %s |\n",
                    count > 0 ? ""
                              : "\n## Withdrawn numbers\n\nNo deviations to accept.\n\n"
                                "| id | why |\n|---|---|\n",
                    number->id, number->why);
        } else {
            fprintf(out, "%s%-9s%s withdrawn  %s\n", format_strong(format), number->id,
                    format_plain(format), number->why);
        }
        count++;
    }
    return count;
}

int clauses_write_errata(FILE *out, enum format_kind format, const char *prefix)
{
    int count = 0;
    enum clause_family last = CLAUSE_FAMILY_COUNT;
    if (format == FORMAT_MARKDOWN) {
        fputs(
            "# Errata: what the specifications leave open, and what Assay decides\n\n"
            "To the person who signs, each entry is a deviation to accept. Made from\n"
            "`model/errata.def` by `assay list errata --markdown`; a test keeps the two equal.\n"
            "A sabotage named here is the planted bug that follows the other reading; [PG] marks\n"
            "what was seen on PostgreSQL 15.\n",
            out);
    }
    for (size_t i = 0; i < clause_errata_count(); i++) {
        const struct erratum *erratum = clause_erratum(i);
        if (!matches(erratum->id, prefix)) {
            continue;
        }
        if (format == FORMAT_MARKDOWN && erratum->family != last) {
            write_family_heading(out, erratum->family);
            fputs("| id | the text | the problem | decided |\n|---|---|---|---|\n", out);
            last = erratum->family;
        }
        write_erratum(out, format, erratum);
        count++;
    }
    int numbers = write_withdrawn(out, format, prefix);
    return count > 0 ? count : numbers;
}

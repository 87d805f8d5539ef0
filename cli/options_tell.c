/* What is written from a table: the help of a verb, and the line that does a request again. */
#include "cli/options.h"
#include "model/check.h"
#include "reports/format.h"
#include "scenarios/builtin.h"

#include <inttypes.h>
#include <string.h>

/* cli/help/VERB.txt; a line "@options" stands for the rows. */
extern const struct builtin help_texts[];
extern const size_t help_texts_count;

/* ---- words on lines -------------------------------------------------------------------------- */

/* Writes one item of a list, on a new line if this one is full. */
static void put_item(FILE *out, const char *item, int indent, int *column)
{
    int length = (int)strlen(item);
    if (*column + 1 + length > FORMAT_WIDTH) {
        *column = fprintf(out, "\n%*s", indent, "") - 1;
    }
    *column += fprintf(out, " %s", item);
}

/* "--seed N", "SCENARIO..." */
static struct options_value name_text(const struct option *option)
{
    struct options_value text;
    bool both = option->name != NULL && option->value != NULL;
    snprintf(text.text, sizeof text.text, "%.60s%s%.60s%s",
             option->name == NULL ? "" : option->name, both ? " " : "",
             option->value == NULL ? "" : option->value,
             option->kind == OPTION_ARGUMENTS ? "..." : "");
    return text;
}

/* "SCENARIO", "[--trace]", "[--without NAME]..."; with the next row "[--seeds N | --time 60s]". */
static void put_usage_of(FILE *out, const struct option *option, const struct option *other,
                         int indent, int *column)
{
    char item[500];
    snprintf(item, sizeof item, "%s%s%s%s%s%s", option->needed ? "" : "[", name_text(option).text,
             other == NULL ? "" : " | ", other == NULL ? "" : name_text(other).text,
             option->needed ? "" : "]", option->kind == OPTION_TEXTS ? "..." : "");
    put_item(out, item, indent, column);
}

/* The row below, if it is all that this one excludes; else NULL. */
static const struct option *alternative(const struct cli_verb *verb, size_t row)
{
    const struct option *option = &verb->options[row], *next = option + 1;
    bool fits = row + 1 < verb->option_count && option->excludes != NULL && next->name != NULL;
    return fits && strcmp(option->excludes, next->name) == 0 ? next : NULL;
}

static void put_usage(FILE *out, const struct cli_verb *verb)
{
    int indent = fprintf(out, "usage: assay %s", verb->name);
    int column = indent;
    for (size_t i = 0; i < verb->option_count; i++) {
        const struct option *other = alternative(verb, i);
        put_usage_of(out, &verb->options[i], other, indent, &column);
        i += other != NULL;
    }
    fputs("\n\n", out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct options_value number_text(const struct option *option, uint64_t number)
{
    struct options_value text;
    snprintf(text.text, sizeof text.text, "%" PRIu64, number);
    return option->kind == OPTION_SIZE ? options_size(number) : text;
}

/* " (0 to 50, default 1)": what the row says besides its text. */
static struct options_value bounds_text(const struct option *option)
{
    struct options_value all = {""}, usual = {""};
    bool counted = option->kind == OPTION_NUMBER || option->kind == OPTION_SIZE;
    if (option->usual_text != NULL) {
        snprintf(usual.text, sizeof usual.text, "default %.100s", option->usual_text);
    } else if (counted && option->usual >= option->least && !option->needed) {
        snprintf(usual.text, sizeof usual.text, "default %.100s",
                 number_text(option, option->usual).text);
    }
    const char *between = usual.text[0] == '\0' ? "" : option->kind == OPTION_WORD ? "; " : ", ";
    if (counted) {
        snprintf(all.text, sizeof all.text, " (%.30s to %.30s%s%.100s)",
                 number_text(option, option->least).text, number_text(option, option->most).text,
                 between, usual.text);
    } else if (option->kind == OPTION_WORD) {
        snprintf(all.text, sizeof all.text, " (one of %.80s%s%.100s)",
                 options_words(option->words).text, between, usual.text);
    } else if (option->kind == OPTION_TIME) {
        snprintf(all.text, sizeof all.text, " (such as 60s, 5m or 2h)");
    } else if (option->kind == OPTION_TEXTS) {
        snprintf(all.text, sizeof all.text, " (may be given several times)");
    } else if (usual.text[0] != '\0') {
        snprintf(all.text, sizeof all.text, " (%.120s)", usual.text);
    }
    return all;
}

static void put_rows(FILE *out, const struct cli_verb *verb)
{
    char text[1500];
    int width = 0;
    for (size_t i = 0; i < verb->option_count; i++) {
        int length = (int)strlen(name_text(&verb->options[i]).text);
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < verb->option_count; i++) {
        const struct option *option = &verb->options[i];
        fprintf(out, "  %-*s  ", width, name_text(option).text);
        int length = snprintf(text, sizeof text, "%s%s", option->about, bounds_text(option).text);
        CHECK(length > 0 && (size_t)length < sizeof text);
        format_wrapped(out, text, width + 4);
    }
}

/* ---- the help of a verb ---------------------------------------------------------------------- */

void options_help(FILE *out, const struct cli_verb *verb)
{
    static const char mark[] = "@options\n";
    put_usage(out, verb);
    for (size_t i = 0; i < help_texts_count; i++) {
        const char *line = (const char *)help_texts[i].text, *end = line + help_texts[i].size;
        if (strcmp(help_texts[i].name, verb->name) != 0) {
            continue;
        }
        while (line < end) {
            const char *feed = memchr(line, '\n', (size_t)(end - line));
            size_t length = feed == NULL ? (size_t)(end - line) : (size_t)(feed - line) + 1;
            if (length == sizeof mark - 1 && memcmp(line, mark, length) == 0) {
                put_rows(out, verb);
            } else {
                fwrite(line, 1, length, out);
            }
            line += length;
        }
    }
}

/* ---- the same again -------------------------------------------------------------------------- */

void options_write_word(FILE *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-_./:=,@%+";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
    }
    fputc('\'', out);
}

/* Whether it is another value than the usual one. */
static bool is_changed(const struct option *option, const void *slot)
{
    switch (option->kind) {
    case OPTION_FLAG:
        return *(const bool *)slot;
    case OPTION_NUMBER:
    case OPTION_SIZE:
        return *(const uint64_t *)slot != option->usual;
    case OPTION_TIME:
        return *(const double *)slot > 0;
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_SABOTAGE: {
        const char *text = *(const char *const *)slot;
        return text != NULL &&
               (option->usual_text == NULL || strcmp(text, option->usual_text) != 0);
    }
    case OPTION_TEXTS:
        return ((const struct cli_values *)slot)->count > 0;
    case OPTION_ARGUMENTS:
        return ((const struct cli_arguments *)slot)->count > 0;
    case OPTION_KIND_COUNT:
        break;
    }
    return false;
}

static void put_text(FILE *out, const struct option *option, const char *text)
{
    fprintf(out, " %s%s", option->name == NULL ? "" : option->name,
            option->name == NULL ? "" : " ");
    options_write_word(out, text);
}

/* In the largest unit that it is a whole number of. */
static void put_time(FILE *out, const struct option *option, double seconds)
{
    uint64_t whole = (uint64_t)seconds;
    uint64_t scale = whole % 3600 == 0 ? 3600 : whole % 60 == 0 ? 60 : 1;
    fprintf(out, " %s %" PRIu64 "%c", option->name, whole / scale,
            scale == 3600 ? 'h'
            : scale == 60 ? 'm'
                          : 's');
}

static void put_value(FILE *out, const struct option *option, const void *slot)
{
    switch (option->kind) {
    case OPTION_FLAG:
        fprintf(out, " %s", option->name);
        break;
    case OPTION_NUMBER:
    case OPTION_SIZE:
        put_text(out, option, number_text(option, *(const uint64_t *)slot).text);
        break;
    case OPTION_TIME:
        put_time(out, option, *(const double *)slot);
        break;
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_SABOTAGE:
        put_text(out, option, *(const char *const *)slot);
        break;
    case OPTION_TEXTS:
        for (int i = 0; i < ((const struct cli_values *)slot)->count; i++) {
            put_text(out, option, ((const struct cli_values *)slot)->values[i]);
        }
        break;
    case OPTION_ARGUMENTS:
        for (int i = 0; i < ((const struct cli_arguments *)slot)->count; i++) {
            put_text(out, option, ((const struct cli_arguments *)slot)->positional[i]);
        }
        break;
    case OPTION_KIND_COUNT:
        break;
    }
}

/* Whether a value of the request does not go with the row of that name. */
static bool is_excluded(const struct cli_verb *verb, const char *request, const char *name)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        const struct option *option = &verb->options[i];
        if (options_excludes(option, name) && is_changed(option, request + option->at)) {
            return true;
        }
    }
    return false;
}

/* Whether a value belongs to the line. */
static bool is_said(const struct cli_verb *verb, const char *request, const struct option *option)
{
    return (option->again != AGAIN_NEVER && is_changed(option, request + option->at)) ||
           (option->again == AGAIN_ALWAYS && !is_excluded(verb, request, option->name));
}

/* The rows with a name, or those without. */
static void put_values(FILE *out, const struct cli_verb *verb, const char *request, bool named)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        const struct option *option = &verb->options[i];
        if ((option->name != NULL) == named && is_said(verb, request, option)) {
            put_value(out, option, request + option->at);
        }
    }
}

/* An argument that begins with a hyphen would be read as an option. */
static bool begins_with_hyphen(const struct cli_verb *verb, const char *request)
{
    bool hyphen = false;
    for (size_t i = 0; i < verb->option_count && verb->options[i].name == NULL; i++) {
        const void *slot = request + verb->options[i].at;
        if (verb->options[i].kind == OPTION_ARGUMENTS) {
            const struct cli_arguments *arguments = slot;
            for (int a = 0; a < arguments->count; a++) {
                hyphen = hyphen || arguments->positional[a][0] == '-';
            }
        } else {
            const char *text = *(const char *const *)slot;
            hyphen = hyphen || (text != NULL && text[0] == '-');
        }
    }
    return hyphen;
}

struct options_line options_again(const struct cli_verb *verb, const void *request)
{
    struct options_line line = {""};
    bool last = begins_with_hyphen(verb, request);
    FILE *out = fmemopen(line.text, sizeof line.text, "w");
    if (out == NULL) {
        return line;
    }
    fprintf(out, "assay %s", verb->name);
    if (!last) {
        put_values(out, verb, request, false);
    }
    put_values(out, verb, request, true);
    if (last) {
        fputs(" --", out);
        put_values(out, verb, request, false);
    }
    fclose(out);
    line.text[sizeof line.text - 1] = '\0';
    return line;
}

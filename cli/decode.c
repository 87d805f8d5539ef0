/* assay decode: what a ledger says, digit by digit. */
#include "cli/options.h"
#include "model/check.h"
#include "reports/reading.h"
#include "verify/terminal.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *value, *as;
    bool json;
};

static const char *const kinds[] = {"activity", "guid", "legacy", "key", NULL};
_Static_assert(COUNT(kinds) == READING_KINDS + 1, "every kind has its word");

static const struct option options[] = {
    {ARGUMENT_ROW(struct request, value, "VALUE"), .names = NAMES_OF_NOTHING,
     .about = "the digits of a ledger"},
    {WORD_ROW(struct request, as, "--as", "KIND", kinds),
     .about = "read it as this kind only, and say what is wrong if it cannot be one"},
    {JSON_ROW(struct request, ": one object a reading")},
};

/* Positions are counted from 1: they are for people. */
static int decode_refuse(const char *text, const struct text_error *error)
{
    return cli_usage_error(&cli_decode, "'%s': position %zu: %s; %s", cli_quote(text).text,
                           error->at + 1, error->wrong, error->right);
}

static int decode_as(const char *text, enum reading_kind kind, enum format_kind format)
{
    struct reading reading;
    struct text_error error;
    if (!reading_make(text, strlen(text), kind, &reading, &error)) {
        return decode_refuse(text, &error);
    }
    reading_write(stdout, format, text, &reading);
    return reading_defect(&reading) == NULL ? CLI_OK : CLI_BROKEN;
}

/* A text that is no ledger: as what was it meant? Only a key begins with 3 to 9 and may be long. */
static int refuse_any(const char *text)
{
    struct reading reading;
    struct text_error error;
    bool like_a_key = text[0] >= '3' && text[0] <= '9' && strspn(text, "0123456789") > 15;
    reading_make(text, strlen(text), like_a_key ? READING_KEY : READING_ACTIVITY, &reading, &error);
    return decode_refuse(text, &error);
}

/* No protocol can have written it: says why, for each kind that it is the text of. */
static int tell_defects(const char *text, enum format_kind format)
{
    struct reading reading;
    struct text_error error;
    for (int kind = 0; kind < READING_KINDS; kind++) {
        bool made = reading_make(text, strlen(text), (enum reading_kind)kind, &reading, &error);
        if (format != FORMAT_JSON) {
            printf("%s is no %s: %s\n", text, reading_kind_title((enum reading_kind)kind),
                   made ? reading_defect(&reading) : error.wrong);
        } else if (made) {
            reading_write(stdout, format, text, &reading);
        }
    }
    return CLI_BROKEN;
}

/* Shows every reading that is legal. */
static int decode_any(const char *text, enum format_kind format)
{
    struct reading reading;
    struct text_error error;
    int made = 0;
    int shown = 0;
    for (int kind = 0; kind < READING_KINDS; kind++) {
        if (!reading_make(text, strlen(text), (enum reading_kind)kind, &reading, &error)) {
            continue;
        }
        made++;
        if (reading_defect(&reading) == NULL) {
            if (shown++ > 0 && format != FORMAT_JSON) {
                putchar('\n');
            }
            reading_write(stdout, format, text, &reading);
        }
    }
    if (made == 0) {
        return refuse_any(text);
    }
    return shown > 0 ? CLI_OK : tell_defects(text, format);
}

static int decode_verb(void *asked)
{
    const struct request *request = asked;
    enum format_kind format = request->json ? FORMAT_JSON : terminal_format();
    for (int kind = 0; request->as != NULL && kind < READING_KINDS; kind++) {
        if (strcmp(request->as, reading_kind_name((enum reading_kind)kind)) == 0) {
            return decode_as(request->value, (enum reading_kind)kind, format);
        }
    }
    return decode_any(request->value, format);
}

const struct cli_verb cli_decode = {.name = "decode",
                                    .about = "what a ledger says, digit by digit",
                                    .options = options,
                                    .option_count = COUNT(options),
                                    .request_size = sizeof(struct request),
                                    .run = decode_verb};

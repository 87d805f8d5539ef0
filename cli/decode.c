/* assay decode: what a ledger says, digit by digit. */
#include "cli/cli.h"
#include "reports/reading.h"
#include "verify/terminal.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: assay decode VALUE [--as activity|guid|legacy|key] [--json]\n"
    "\n"
    "Says what a ledger means, digit by digit. Without --as, VALUE is shown in every way in which\n"
    "the protocols can have written it.\n"
    "\n"
    "  activity  activity ledger of the two-leg protocol    001110000000001\n"
    "  guid      GUID ledger of one Leg2 message            000111000000002\n"
    "  legacy    ledger of the earlier design               889000001000000\n"
    "  key       collation key, with the flows in it        99996146636629 (at most 64 flows)\n"
    "\n"
    "  --as KIND  read it as this kind only, and say what is wrong if it cannot be one\n"
    "  --json     one JSON object a reading\n"
    "\n"
    "Exit status: 0 a protocol can have written it; 1 it is such a number, but no run that keeps "
    "the\n"
    "promises can have written it; 64 it is not the text of a ledger.\n"
    "\n"
    "example: assay decode 000111000000002 --as guid\n";

/* Positions are counted from 1: they are for people. */
static int refuse(const char *text, const struct text_fault *fault)
{
    return cli_usage_error(&cli_decode, "'%s': position %zu: %s; %s", cli_quote(text).text,
                           fault->at + 1, fault->wrong, fault->right);
}

static int decode_as(const char *text, enum reading_kind kind, enum format_kind format)
{
    struct reading reading;
    struct text_fault fault;
    if (!reading_make(text, strlen(text), kind, &reading, &fault)) {
        return refuse(text, &fault);
    }
    reading_write(stdout, format, text, &reading);
    return reading_defect(&reading) == NULL ? CLI_OK : CLI_BROKEN;
}

/* A text that is no ledger: as what was it meant? Only a key begins with 3 to 9 and may be long. */
static int refuse_any(const char *text)
{
    struct reading reading;
    struct text_fault fault;
    bool like_a_key = text[0] >= '3' && text[0] <= '9' && strspn(text, "0123456789") > 15;
    reading_make(text, strlen(text), like_a_key ? READING_KEY : READING_ACTIVITY, &reading, &fault);
    return refuse(text, &fault);
}

/* No protocol can have written it: says why, for each kind that it is the text of. */
static int tell_defects(const char *text, enum format_kind format)
{
    struct reading reading;
    struct text_fault fault;
    for (int kind = 0; kind < READING_KINDS; kind++) {
        bool made = reading_make(text, strlen(text), (enum reading_kind)kind, &reading, &fault);
        if (format != FORMAT_JSON) {
            printf("%s is no %s: %s\n", text, reading_kind_title((enum reading_kind)kind),
                   made ? reading_defect(&reading) : fault.wrong);
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
    struct text_fault fault;
    int made = 0;
    int shown = 0;
    for (int kind = 0; kind < READING_KINDS; kind++) {
        if (!reading_make(text, strlen(text), (enum reading_kind)kind, &reading, &fault)) {
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

static int run(int argc, char **argv)
{
    const char *as = NULL;
    bool json = false;
    const struct cli_option options[] = {{"--as", &as, NULL}, {"--json", NULL, &json}};
    struct cli_arguments arguments;
    int status = cli_parse(&cli_decode, argc, argv, options, 2, &arguments);
    if (status != CLI_OK) {
        return status;
    }
    if (arguments.count != 1) {
        return cli_usage_error(&cli_decode, "one VALUE is needed, %d were given", arguments.count);
    }
    enum format_kind format = json ? FORMAT_JSON : terminal_format();
    if (as == NULL) {
        return decode_any(arguments.positional[0], format);
    }
    for (int kind = 0; kind < READING_KINDS; kind++) {
        if (strcmp(as, reading_kind_name((enum reading_kind)kind)) == 0) {
            return decode_as(arguments.positional[0], (enum reading_kind)kind, format);
        }
    }
    return cli_usage_error(&cli_decode, "--as %s: it is one of activity, guid, legacy, key",
                           cli_quote(as).text);
}

const struct cli_verb cli_decode = {
    .name = "decode", .about = "what a ledger says, digit by digit", .help = help, .run = run};

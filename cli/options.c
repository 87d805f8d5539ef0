#include "cli/cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
{
    va_list values;
    fprintf(stderr, "assay %s: ", verb->name);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, " (see assay %s --help)\n", verb->name);
    return CLI_USAGE;
}

unsigned cli_cores(unsigned most)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > (long)most ? most : (unsigned)online;
}

struct cli_quoted cli_quote(const char *text)
{
    struct cli_quoted quoted = {0};
    size_t used = 0;
    for (; *text != '\0' && used < 40; text++) {
        bool printable = *text >= ' ' && *text <= '~';
        used += (size_t)snprintf(quoted.text + used, sizeof quoted.text - used,
                                 printable ? "%c" : "\\x%02x", (unsigned char)*text);
    }
    snprintf(quoted.text + used, sizeof quoted.text - used, "%s", *text == '\0' ? "" : "...");
    return quoted;
}

/* -5 is a (bad) value and not an option, so that its own error is the one that is given. */
static bool looks_like_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0' && !(text[1] >= '0' && text[1] <= '9');
}

/* "--as" itself, or the "--as" of "--as=key": then *inline_value is "key". */
static bool is_option(const char *text, const char *name, const char **inline_value)
{
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0 || (text[length] != '\0' && text[length] != '=')) {
        return false;
    }
    *inline_value = text[length] == '=' ? text + length + 1 : NULL;
    return true;
}

/* Notes one option; *index moves on when its value is the next argument. */
static int note_option(const struct cli_verb *verb, int argc, char **argv, int *index,
                       const struct cli_option *options, size_t option_count)
{
    for (size_t i = 0; i < option_count; i++) {
        const char *value = NULL;
        if (!is_option(argv[*index], options[i].name, &value)) {
            continue;
        }
        if (options[i].flag == NULL && *options[i].value != NULL) {
            return cli_usage_error(verb, "%s is given twice", options[i].name);
        }
        if (options[i].flag != NULL) {
            *options[i].flag = true;
            return value == NULL ? CLI_OK
                                 : cli_usage_error(verb, "%s takes no value", options[i].name);
        }
        if (value == NULL && *index + 1 < argc) {
            value = argv[++*index];
        }
        *options[i].value = value;
        return value != NULL ? CLI_OK : cli_usage_error(verb, "%s needs a value", options[i].name);
    }
    return cli_usage_error(verb, "there is no option '%s'", cli_quote(argv[*index]).text);
}

int cli_parse(const struct cli_verb *verb, int argc, char **argv, const struct cli_option *options,
              size_t option_count, struct cli_arguments *arguments)
{
    const int room = (int)(sizeof arguments->positional / sizeof arguments->positional[0]);
    bool options_ended = false;
    *arguments = (struct cli_arguments){0};
    for (int i = 1; i < argc; i++) {
        int status = CLI_OK;
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && looks_like_option(argv[i])) {
            status = note_option(verb, argc, argv, &i, options, option_count);
        } else if (arguments->count < room) {
            arguments->positional[arguments->count++] = argv[i];
        } else {
            status = cli_usage_error(verb, "%d arguments are the most it takes", room);
        }
        if (status != CLI_OK) {
            return status;
        }
    }
    return CLI_OK;
}

int cli_take_values(const struct cli_verb *verb, int *argc, char **argv, const char *name,
                    struct cli_values *values)
{
    const int room = (int)(sizeof values->values / sizeof values->values[0]);
    bool options_ended = false;
    int kept = 1;
    *values = (struct cli_values){0};
    for (int i = 1; i < *argc; i++) {
        const char *value = NULL;
        options_ended = options_ended || strcmp(argv[i], "--") == 0;
        if (options_ended || !is_option(argv[i], name, &value)) {
            argv[kept++] = argv[i];
            continue;
        }
        if (value == NULL && ++i == *argc) {
            return cli_usage_error(verb, "%s needs a value", name);
        }
        if (values->count == room) {
            return cli_usage_error(verb, "%s is given more than %d times", name, room);
        }
        values->values[values->count++] = value == NULL ? argv[i] : value;
    }
    *argc = kept;
    return CLI_OK;
}

bool cli_read_number(const char *text, uint64_t *number)
{
    *number = 0;
    for (const char *c = text; *c != '\0'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (*c < '0' || *c > '9' || *number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = 10 * *number + digit;
    }
    return text[0] != '\0';
}

int cli_number_option(const struct cli_verb *verb, const char *option, const char *text,
                      uint64_t least, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;
    if (text == NULL) {
        return CLI_OK;
    }
    if (!cli_read_number(text, &value) || value < least || value > most) {
        return cli_usage_error(verb, "%s '%s': it is a number from %" PRIu64 " to %" PRIu64, option,
                               cli_quote(text).text, least, most);
    }
    *number = value;
    return CLI_OK;
}

int cli_time_option(const struct cli_verb *verb, const char *option, const char *text,
                    double *seconds)
{
    char digits[8] = "";
    uint64_t number = 0;
    size_t length = text == NULL ? 0 : strlen(text);
    char unit = length > 0 ? text[length - 1] : '\0';
    double scale = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    if (text == NULL) {
        return CLI_OK;
    }
    if (length > 0 && length <= sizeof digits) {
        memcpy(digits, text, length - 1);
    }
    if (scale == 0 || !cli_read_number(digits, &number) || number == 0 || number > 1000000) {
        return cli_usage_error(verb,
                               "%s '%s': it is a whole number with its unit, such as 60s, 5m or 2h",
                               option, cli_quote(text).text);
    }
    *seconds = (double)number * scale;
    return CLI_OK;
}

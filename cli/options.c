#include "cli/options.h"

#include "faults/sabotage.h"
#include "model/check.h"

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

int cli_no_memory(const struct cli_verb *verb)
{
    fprintf(stderr, "assay %s: not enough memory\n", verb->name);
    return CLI_UNAVAILABLE;
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

/* ---- values ---------------------------------------------------------------------------------- */

static const char size_units[] = "KMG";

/* "500M", "8G", "1000000": bytes. */
static bool read_size(const char *text, uint64_t *size)
{
    char digits[24];
    size_t length = strlen(text), shift = 0;
    if (length == 0 || length >= sizeof digits) {
        return false;
    }
    const char *unit = strchr(size_units, text[length - 1]);
    if (unit != NULL && length > 1) {
        shift = 10 * (size_t)(unit - size_units + 1);
        length--;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    uint64_t number;
    if (!cli_read_number(digits, &number) || number > UINT64_MAX >> shift) {
        return false;
    }
    *size = number << shift;
    return true;
}

struct options_value options_size(uint64_t size)
{
    struct options_value value;
    size_t unit = 0;
    while (unit < 3 && size > 0 && size % 1024 == 0) {
        size /= 1024;
        unit++;
    }
    const char letter[2] = {unit == 0 ? '\0' : size_units[unit - 1], '\0'};
    snprintf(value.text, sizeof value.text, "%" PRIu64 "%s", size, letter);
    return value;
}

/* "60s", "5m", "2h": seconds. */
static bool read_time(const char *text, double *seconds)
{
    char digits[8] = "";
    uint64_t number = 0;
    size_t length = strlen(text);
    char unit = length > 0 ? text[length - 1] : '\0';
    double scale = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    if (length > 0 && length <= sizeof digits) {
        memcpy(digits, text, length - 1);
    }
    if (scale == 0 || !cli_read_number(digits, &number) || number == 0 || number > 1000000) {
        return false;
    }
    *seconds = (double)number * scale;
    return true;
}

/* "activity, guid, legacy, key" */
struct options_value options_words(const char *const *words)
{
    struct options_value value = {""};
    size_t used = 0;
    for (; *words != NULL && used < sizeof value.text; words++) {
        used += (size_t)snprintf(value.text + used, sizeof value.text - used, "%s%s",
                                 used == 0 ? "" : ", ", *words);
    }
    return value;
}

/* Says what is wrong with a value, and what would be right. */
static int refuse_value(const struct cli_verb *verb, const struct option *option, const char *text)
{
    struct cli_quoted quoted = cli_quote(text);
    const char *name = option->name;
    if (name == NULL) {
        return cli_usage_error(verb, "'%s' %s%s", quoted.text,
                               option->right == NULL ? "is none of " : option->right,
                               option->right == NULL ? options_words(option->words).text : "");
    }
    if (option->kind == OPTION_SABOTAGE) {
        return cli_usage_error(verb, "there is no sabotage '%s'; assay list sabotages shows them",
                               quoted.text);
    }
    if (option->right != NULL) {
        return cli_usage_error(verb, "%s %s: %s", name, quoted.text, option->right);
    }
    if (option->kind == OPTION_NUMBER) {
        return cli_usage_error(verb, "%s '%s': it is a number from %" PRIu64 " to %" PRIu64, name,
                               quoted.text, option->least, option->most);
    }
    if (option->kind == OPTION_SIZE) {
        return cli_usage_error(verb, "%s %s: it is a size from %s to %s, such as 500M", name,
                               quoted.text, options_size(option->least).text,
                               options_size(option->most).text);
    }
    if (option->kind == OPTION_TIME) {
        return cli_usage_error(verb,
                               "%s '%s': it is a whole number with its unit, such as 60s, 5m or 2h",
                               name, quoted.text);
    }
    return cli_usage_error(verb, "%s %s: it is one of %s", name, quoted.text,
                           options_words(option->words).text);
}

/* A number or a size within its bounds. */
static bool take_number(const struct option *option, const char *text, uint64_t *slot)
{
    uint64_t number;
    bool read =
        option->kind == OPTION_SIZE ? read_size(text, &number) : cli_read_number(text, &number);
    if (!read || number < option->least || number > option->most) {
        return false;
    }
    *slot = number;
    return true;
}

static bool take_word(const struct option *option, const char *text, const char **slot)
{
    const char *const *word = option->words;
    while (*word != NULL && strcmp(*word, text) != 0) {
        word++;
    }
    *slot = *word;
    return *word != NULL;
}

/* False: it is no such value. */
static bool take_value(const struct option *option, const char *text, void *slot)
{
    struct sabotage sabotage;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)slot = true;
        return true;
    case OPTION_NUMBER:
    case OPTION_SIZE:
        return take_number(option, text, slot);
    case OPTION_TIME:
        return read_time(text, slot);
    case OPTION_WORD:
        return take_word(option, text, slot);
    case OPTION_TEXT:
    case OPTION_SABOTAGE:
        *(const char **)slot = text;
        return option->kind == OPTION_TEXT || sabotage_find(text, &sabotage);
    case OPTION_TEXTS: {
        struct cli_values *values = slot;
        values->values[values->count++] = text;
        return true;
    }
    case OPTION_ARGUMENTS: {
        struct cli_arguments *arguments = slot;
        arguments->positional[arguments->count++] = text;
        return true;
    }
    case OPTION_KIND_COUNT:
        break;
    }
    return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    const struct cli_verb *verb;
    int argc;
    char **argv;
    char *request;
    int arguments;  /* without a name, so far */
    uint64_t given; /* a bit a row */
};

void options_begin(const struct cli_verb *verb, void *request)
{
    memset(request, 0, verb->request_size);
    for (size_t i = 0; i < verb->option_count; i++) {
        const struct option *option = &verb->options[i];
        if (option->kind == OPTION_NUMBER || option->kind == OPTION_SIZE) {
            *(uint64_t *)((char *)request + option->at) = option->usual;
        }
    }
}

static int options_take(struct reader *reader, size_t row, const char *text)
{
    const struct option *option = &reader->verb->options[row];
    reader->given |= UINT64_C(1) << row;
    return take_value(option, text, reader->request + option->at)
               ? CLI_OK
               : refuse_value(reader->verb, option, text);
}

/* -5 is a (bad) value and not an option, so that its own error is the one that is given. */
static bool looks_like_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0' && !(text[1] >= '0' && text[1] <= '9');
}

/* "--as" itself, or the "--as" of "--as=key": then *inline_value is "key". */
static bool is_option(const char *text, const char *name, const char **inline_value)
{
    size_t length = name == NULL ? 0 : strlen(name);
    if (name == NULL || strncmp(text, name, length) != 0 ||
        (text[length] != '\0' && text[length] != '=')) {
        return false;
    }
    *inline_value = text[length] == '=' ? text + length + 1 : NULL;
    return true;
}

/* Whether a row may be given, or given once more. */
static int check_again(const struct reader *reader, size_t row)
{
    const struct option *option = &reader->verb->options[row];
    const struct cli_values *values = (const void *)(reader->request + option->at);
    const int room = (int)COUNT(values->values);
    if (option->kind == OPTION_TEXTS && values->count == room) {
        return cli_usage_error(reader->verb, "%s is given more than %d times", option->name, room);
    }
    if (option->kind != OPTION_TEXTS && option->kind != OPTION_FLAG &&
        (reader->given >> row & 1) != 0) {
        return cli_usage_error(reader->verb, "%s is given twice", option->name);
    }
    return CLI_OK;
}

/* One option; *index moves on when its value is the next argument. */
static int read_option(struct reader *reader, int *index)
{
    const struct cli_verb *verb = reader->verb;
    const char *value = NULL;
    size_t row = 0;
    while (row < verb->option_count &&
           !is_option(reader->argv[*index], verb->options[row].name, &value)) {
        row++;
    }
    if (row == verb->option_count) {
        return cli_usage_error(verb, "there is no option '%s'",
                               cli_quote(reader->argv[*index]).text);
    }
    const struct option *option = &verb->options[row];
    if (option->kind == OPTION_FLAG) {
        return value == NULL ? options_take(reader, row, "")
                             : cli_usage_error(verb, "%s takes no value", option->name);
    }
    int status = check_again(reader, row);
    if (status != CLI_OK) {
        return status;
    }
    if (value == NULL && *index + 1 < reader->argc) {
        value = reader->argv[++*index];
    }
    return value != NULL ? options_take(reader, row, value)
                         : cli_usage_error(verb, "%s needs a value", option->name);
}

/* The row that the next argument without a name belongs to; option_count: none. */
static size_t argument_row(const struct reader *reader)
{
    const struct cli_verb *verb = reader->verb;
    size_t row = 0;
    while (row < verb->option_count && verb->options[row].name == NULL &&
           verb->options[row].kind != OPTION_ARGUMENTS && row < (size_t)reader->arguments) {
        row++;
    }
    return row < verb->option_count && verb->options[row].name == NULL ? row : verb->option_count;
}

static int read_argument(struct reader *reader, const char *text)
{
    const struct cli_verb *verb = reader->verb;
    size_t row = argument_row(reader);
    reader->arguments++;
    if (row == verb->option_count) {
        return row > 0 && verb->options[0].name == NULL
                   ? CLI_OK /* check_needed says how many there are */
                   : cli_usage_error(verb, "it takes no argument, such as '%s'",
                                     cli_quote(text).text);
    }
    const struct cli_arguments *arguments = (void *)(reader->request + verb->options[row].at);
    if (verb->options[row].kind == OPTION_ARGUMENTS && arguments->count == (int)CLI_ARGUMENTS_MAX) {
        return cli_usage_error(verb, "%d arguments are the most it takes", (int)CLI_ARGUMENTS_MAX);
    }
    return options_take(reader, row, text);
}

/* ---- what goes together ---------------------------------------------------------------------- */

/* Verbs with one argument say how many were given. */
static int check_arguments(const struct reader *reader)
{
    const struct cli_verb *verb = reader->verb;
    const struct option *first = verb->options;
    bool one = verb->option_count > 0 && first->name == NULL && first->kind != OPTION_ARGUMENTS &&
               first->lacking == NULL;
    return !one || reader->arguments == 1 ? CLI_OK
                                          : cli_usage_error(verb, "one %s is needed, %d were given",
                                                            first->value, reader->arguments);
}

static int check_needed(const struct reader *reader)
{
    const struct cli_verb *verb = reader->verb;
    int status = check_arguments(reader);
    for (size_t row = 0; row < verb->option_count && status == CLI_OK; row++) {
        const struct option *option = &verb->options[row];
        if (!option->needed || (reader->given >> row & 1) != 0) {
            continue;
        }
        status = option->lacking != NULL
                     ? cli_usage_error(verb, "%s", option->lacking)
                     : cli_usage_error(verb, "%s%s%s is needed",
                                       option->name == NULL ? "a " : option->name,
                                       option->name == NULL ? "" : " ", option->value);
    }
    return status;
}

bool options_excludes(const struct option *option, const char *name)
{
    size_t length = name == NULL ? 0 : strlen(name);
    const char *word = option->excludes == NULL || name == NULL ? "" : option->excludes;
    while (*word != '\0') {
        size_t word_length = strcspn(word, " ");
        if (word_length == length && strncmp(word, name, length) == 0) {
            return true;
        }
        word += word_length + strspn(word + word_length, " ");
    }
    return false;
}

static int check_exclusions(const struct reader *reader)
{
    const struct option *options = reader->verb->options;
    for (size_t row = 0; row < reader->verb->option_count; row++) {
        for (size_t other = 0; other < reader->verb->option_count; other++) {
            bool both = (reader->given >> row & reader->given >> other & 1) != 0;
            if (both && options_excludes(&options[row], options[other].name)) {
                return cli_usage_error(reader->verb,
                                       "%s and %s exclude each other; give one of them",
                                       options[row].name, options[other].name);
            }
        }
    }
    return CLI_OK;
}

int options_read(const struct cli_verb *verb, int argc, char **argv, void *request)
{
    struct reader reader = {.verb = verb, .argc = argc, .argv = argv, .request = request};
    bool ended = false;
    int status = CLI_OK;
    CHECK(verb->option_count <= 64);
    options_begin(verb, request);
    for (int i = 1; i < argc && status == CLI_OK; i++) {
        if (!ended && strcmp(argv[i], "--") == 0) {
            ended = true;
        } else if (!ended && looks_like_option(argv[i])) {
            status = read_option(&reader, &i);
        } else {
            status = read_argument(&reader, argv[i]);
        }
    }
    status = status == CLI_OK ? check_needed(&reader) : status;
    return status == CLI_OK ? check_exclusions(&reader) : status;
}

int cli_run_verb(const struct cli_verb *verb, int argc, char **argv)
{
    if (verb->pass != NULL) {
        return verb->pass(argc, argv);
    }
    void *request = calloc(1, verb->request_size);
    if (request == NULL) {
        return cli_no_memory(verb);
    }
    int status = options_read(verb, argc, argv, request);
    status = status == CLI_OK ? verb->run(request) : status;
    free(request);
    return status;
}

#include "sim/schedule.h"

#include "model/identity.h"
#include "scenarios/pcg.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX ((size_t)8 * 1024 * 1024)

static const char *const why_names[CHOICE_WHY_COUNT] = {[CHOICE_WHO] = "who",
                                                        [CHOICE_FAULT] = "fault",
                                                        [CHOICE_AMOUNT] = "amount",
                                                        [CHOICE_STOP] = "stop"};

/* ---- memory ---------------------------------------------------------------------------------- */

bool schedule_make(struct schedule *schedule)
{
    *schedule = (struct schedule){.scenario = calloc(1, sizeof *schedule->scenario)};
    schedule->choices.items = calloc(SCHEDULE_CHOICES_MAX, sizeof *schedule->choices.items);
    schedule->choices.capacity = SCHEDULE_CHOICES_MAX;
    if (schedule->scenario == NULL || schedule->choices.items == NULL) {
        schedule_free(schedule);
        return false;
    }
    return true;
}

void schedule_free(struct schedule *schedule)
{
    free(schedule->scenario);
    free(schedule->choices.items);
    *schedule = (struct schedule){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

/* FNV-1a over the compact, key-sorted text without the sum itself: guards against accidents, not
 * against an adversary. */
static uint64_t schedule_sum_of(const json_t *root)
{
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (const char *c = text; c != NULL && *c != '\0'; c++) {
        sum = (sum ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
    }
    free(text);
    return sum;
}

static json_t *versions(void)
{
    return json_pack("{s:i, s:i, s:i, s:i}", "choice", CHOICE_VERSION, "fault", FAULT_VERSION,
                     "identity", IDENTITY_VERSION, "generator", PCG_VERSION);
}

static json_t *pack_choice(const struct choice *choice)
{
    const char *why = why_names[choice->why];
    json_int_t ordinal = choice->ordinal, value = choice->value;
    if (choice->why == CHOICE_WHO) {
        return json_pack("[s, I, I]", why, ordinal, value);
    }
    if (choice->why == CHOICE_FAULT) {
        return json_pack("[s, i, I, s]", why, (int)choice->actor, ordinal,
                         fault_get((enum fault_kind)choice->value)->name);
    }
    return json_pack("[s, i, I, I]", why, (int)choice->actor, ordinal, value);
}

/* One line a key, and one a choice: a file to be read, compared and edited. */
static char *lay_out(const json_t *root)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    const char *key, *separator = "{";
    json_t *value;
    json_object_foreach((json_t *)root, key, value)
    {
        fprintf(out, "%s\"%s\": ", separator, key);
        separator = ",\n ";
        if (!json_is_array(value)) {
            json_dumpf(value, out, JSON_ENCODE_ANY);
            continue;
        }
        for (size_t i = 0; i < json_array_size(value); i++) {
            fputs(i == 0 ? "[" : ",\n  ", out);
            json_dumpf(json_array_get(value, i), out, 0);
        }
        fputs(json_array_size(value) == 0 ? "[]" : "]", out);
    }
    fputs("}\n", out);
    return fclose(out) == 0 ? text : NULL;
}

char *schedule_text(const struct schedule *schedule)
{
    json_t *root = json_object();
    json_object_set_new(root, "assay-schedule", json_integer(SCHEDULE_VERSION));
    json_object_set_new(root, "versions", versions());
    json_object_set_new(root, "scenario",
                        json_stringn(schedule->scenario->text, schedule->scenario->text_size));
    if (schedule->sabotaged) {
        json_object_set_new(root, "sabotage", json_string(schedule->sabotage.name));
    }
    if (schedule->breaks) {
        json_object_set_new(root, "breaks", json_string(clause_get(schedule->broken)->id));
    }
    json_object_set_new(root, "seed", json_integer((json_int_t)schedule->seed));
    if (schedule->strategy.depth != 0) {
        char strategy[CHOICE_STRATEGY_SIZE];
        choice_strategy_text(&schedule->strategy, strategy);
        json_object_set_new(root, "strategy", json_string(strategy));
    }
    json_t *choices = json_array();
    for (size_t i = 0; i < schedule->choices.count; i++) {
        json_array_append_new(choices, pack_choice(&schedule->choices.items[i]));
    }
    json_object_set_new(root, "choices", choices);
    char sum[17];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)schedule_sum_of(root));
    json_object_set_new(root, "sum", json_string(sum));
    char *text = lay_out(root);
    json_decref(root);
    return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One line that a terminal can show, whatever bytes of the file it quotes. */
__attribute__((format(printf, 3, 4))) static bool refuse(struct error *error, const char *origin,
                                                         const char *format, ...)
{
    int length = snprintf(error->text, sizeof error->text, "%s: ", origin);
    va_list arguments;
    va_start(arguments, format);
    if (length >= 0 && (size_t)length < sizeof error->text) {
        vsnprintf(error->text + length, sizeof error->text - (size_t)length, format, arguments);
    }
    va_end(arguments);
    for (char *c = error->text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            *c = '?';
        }
    }
    return false;
}

static bool is_whole(json_t *item, json_int_t below)
{
    return json_is_integer(item) && json_integer_value(item) >= 0 &&
           json_integer_value(item) < below;
}

/* A fault by its name, anything else as a number. */
static bool read_value(json_t *item, enum choice_why why, uint32_t *value)
{
    if (why == CHOICE_FAULT) {
        enum fault_kind kind;
        if (!json_is_string(item) ||
            !fault_find(json_string_value(item), json_string_length(item), &kind)) {
            return false;
        }
        *value = (uint32_t)kind;
        return true;
    }
    *value = (uint32_t)json_integer_value(item);
    return is_whole(item, (json_int_t)UINT32_MAX + 1);
}

static bool read_choice(json_t *item, struct choice *choice)
{
    const char *name = json_string_value(json_array_get(item, 0));
    for (int why = 0; name != NULL && why < CHOICE_WHY_COUNT; why++) {
        if (strcmp(name, why_names[why]) != 0) {
            continue;
        }
        bool who = why == CHOICE_WHO;
        json_t *actor = who ? NULL : json_array_get(item, 1);
        json_t *ordinal = json_array_get(item, who ? 1 : 2);
        choice->why = (uint8_t)why;
        choice->actor = who ? 0 : (uint8_t)json_integer_value(actor);
        choice->ordinal = (uint32_t)json_integer_value(ordinal);
        return json_array_size(item) == (who ? 3 : 4) && (who || is_whole(actor, 256)) &&
               is_whole(ordinal, (json_int_t)UINT32_MAX + 1) &&
               read_value(json_array_get(item, who ? 2 : 3), (enum choice_why)why, &choice->value);
    }
    return false;
}

static bool read_choices(json_t *root, const char *origin, struct schedule *schedule,
                         struct error *error)
{
    json_t *choices = json_object_get(root, "choices");
    if (!json_is_array(choices) || json_array_size(choices) > SCHEDULE_CHOICES_MAX) {
        return refuse(error, origin, "\"choices\" must be a list of at most %d entries",
                      SCHEDULE_CHOICES_MAX);
    }
    schedule->choices.count = 0;
    for (size_t i = 0; i < json_array_size(choices); i++) {
        if (!read_choice(json_array_get(choices, i), &schedule->choices.items[i])) {
            return refuse(error, origin,
                          "choice %zu is none; right is [\"who\", TURN, ACTOR], [\"fault\", ACTOR, "
                          "TRANSACTION, NAME] or [\"amount\", ACTOR, TRANSACTION, NUMBER]",
                          i + 1);
        }
        schedule->choices.count++;
    }
    choice_list_sort(&schedule->choices);
    return true;
}

static bool read_names(json_t *root, const char *origin, struct schedule *schedule,
                       struct error *error)
{
    json_t *sabotage = json_object_get(root, "sabotage");
    json_t *breaks = json_object_get(root, "breaks");
    schedule->sabotaged = sabotage != NULL;
    if (sabotage != NULL && (!json_is_string(sabotage) ||
                             !sabotage_find(json_string_value(sabotage), &schedule->sabotage))) {
        return refuse(error, origin, "\"sabotage\" names none; `assay list sabotages` has them");
    }
    schedule->breaks = breaks != NULL;
    if (breaks != NULL &&
        (!json_is_string(breaks) ||
         !clause_find(json_string_value(breaks), json_string_length(breaks), &schedule->broken))) {
        return refuse(error, origin, "\"breaks\" names no clause; `assay list clauses` has them");
    }
    json_t *seed = json_object_get(root, "seed");
    if (!json_is_integer(seed)) {
        return refuse(error, origin, "\"seed\" must be a whole number");
    }
    schedule->seed = (uint64_t)json_integer_value(seed);
    json_t *strategy = json_object_get(root, "strategy");
    schedule->strategy = (struct choice_strategy){0};
    return strategy == NULL ||
           (json_is_string(strategy) &&
            choice_strategy_read(json_string_value(strategy), &schedule->strategy)) ||
           refuse(error, origin, "\"strategy\" is random, or pct");
}

static bool read_scenario(json_t *root, const char *origin, struct schedule *schedule,
                          struct error *error)
{
    json_t *text = json_object_get(root, "scenario");
    struct error why;
    if (!json_is_string(text)) {
        return refuse(error, origin, "\"scenario\" must hold the text of a scenario");
    }
    if (!scenario_parse(json_string_value(text), json_string_length(text), "scenario",
                        schedule->scenario, &why)) {
        return refuse(error, origin, "%s", why.text);
    }
    return true;
}

static bool check_versions(json_t *root, const char *origin, struct error *error)
{
    json_t *version = json_object_get(root, "assay-schedule");
    if (!json_is_integer(version)) {
        return refuse(error, origin, "no schedule of assay's: \"assay-schedule\" is missing");
    }
    json_t *ours = versions();
    bool same = json_integer_value(version) == SCHEDULE_VERSION &&
                json_equal(ours, json_object_get(root, "versions"));
    json_decref(ours);
    return same || refuse(error, origin,
                          "written by another version of assay, whose choices mean something else; "
                          "record it again with this one (assay run ... --schedule FILE)");
}

static bool check_sum(json_t *root, const char *origin, bool edited, struct error *error)
{
    json_t *sum = json_incref(json_object_get(root, "sum"));
    json_object_del(root, "sum");
    char right[17];
    snprintf(right, sizeof right, "%016llx", (unsigned long long)schedule_sum_of(root));
    bool fits = json_is_string(sum) && strcmp(json_string_value(sum), right) == 0;
    json_decref(sum);
    return fits || edited ||
           refuse(error, origin,
                  "changed since it was written; if that was meant, run it with --edited");
}

bool schedule_parse(const char *text, size_t size, const char *origin, bool edited,
                    struct schedule *schedule, struct error *fault)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        return refuse(fault, origin, "line %d: not JSON (%s); was the file cut short?", error.line,
                      error.text);
    }
    bool read = (json_is_object(root) || refuse(fault, origin, "no schedule of assay's")) &&
                check_versions(root, origin, fault) && check_sum(root, origin, edited, fault) &&
                read_scenario(root, origin, schedule, fault) &&
                read_names(root, origin, schedule, fault) &&
                read_choices(root, origin, schedule, fault);
    json_decref(root);
    return read;
}

bool schedule_load(const char *path, bool edited, struct schedule *schedule, struct error *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return refuse(error, path, "cannot be opened; give the path of a schedule file");
    }
    char *text = malloc(FILE_SIZE_MAX);
    size_t size = text == NULL ? 0 : fread(text, 1, FILE_SIZE_MAX, file);
    const char *why = text == NULL            ? "there is not enough memory to read it"
                      : ferror(file) != 0     ? "cannot be read; give the path of a schedule file"
                      : size == FILE_SIZE_MAX ? "larger than any schedule"
                                              : NULL;
    fclose(file);
    bool read = why == NULL ? schedule_parse(text, size, path, edited, schedule, error)
                            : refuse(error, path, "%s", why);
    free(text);
    return read;
}

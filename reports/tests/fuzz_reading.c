/* libFuzzer target: whatever text decode is given, each kind of reading is either refused with a
 * reason inside the text, or written in both formats; the JSON is JSON. */
#include "model/check.h"
#include "reports/reading.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(enum format_kind format, const char *text, const struct reading *reading)
{
    char *out_text = NULL;
    size_t out_size = 0;
    FILE *out = open_memstream(&out_text, &out_size);
    reading_write(out, format, text, reading);
    fclose(out);
    return out_text;
}

static void read_as(enum reading_kind kind, const char *text, size_t length)
{
    static struct reading reading;
    struct text_error error;
    if (!reading_make(text, length, kind, &reading, &error)) {
        CHECK(error.at <= length && error.wrong[0] != '\0' && error.right[0] != '\0');
        return;
    }
    char *words = written(FORMAT_TEXT, text, &reading);
    CHECK(strstr(words, reading_kind_title(kind)) != NULL);
    CHECK((reading_defect(&reading) != NULL) == (strstr(words, "Not legal") != NULL));
    free(words);
    char *json = written(FORMAT_JSON, text, &reading);
    json_t *object = json_loads(json, 0, NULL);
    CHECK(object != NULL);
    json_decref(object);
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    for (int kind = 0; kind < READING_KINDS; kind++) {
        read_as((enum reading_kind)kind, text, size);
    }
    free(text);
    return 0;
}

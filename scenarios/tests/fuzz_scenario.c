/* Any bytes as a scenario, alone and after a name: refused in one line that names the origin and a
 * line of the text, or read, and then sound (SN1), kept (SN2) and read the same once more. */
#include "model/check.h"
#include "scenarios/scenario.h"
#include "scenarios/tests/sound.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fault(const struct error *error, const char *text, size_t size)
{
    size_t lines = 2; /* an end that is missed may be said to be on the line after the last */
    for (size_t i = 0; i < size; i++) {
        /* What YAML takes for the end of a line; of those of several bytes, the last byte. */
        unsigned char c = (unsigned char)text[i];
        lines += c == '\n' || c == '\r' || c == 0x85 || c == 0xa8 || c == 0xa9;
    }
    CHECK(memchr(error->text, '\0', sizeof error->text) != NULL);
    CHECK(strncmp(error->text, "fuzz:", 5) == 0);
    unsigned long line = strtoul(error->text + 5, NULL, 10);
    CHECK(line >= 1 && line <= lines);
    for (const char *c = error->text; *c != '\0'; c++) {
        CHECK((unsigned char)*c >= ' ');
    }
}

static void parse(const char *text, size_t size)
{
    static struct scenario scenario, again;
    struct error error;
    if (!scenario_parse(text, size, "fuzz", &scenario, &error)) {
        check_fault(&error, text, size);
        return;
    }
    CHECK(sound_fault(&scenario) == NULL);
    CHECK(scenario.text_size == size && memcmp(scenario.text, text, size) == 0);
    CHECK(scenario_parse(scenario.text, scenario.text_size, "fuzz", &again, &error));
    CHECK(memcmp(&scenario, &again, sizeof scenario) == 0);
}

/* Most bytes are no YAML, and most YAML has no name: begin where it becomes interesting, too. */
static void parse_after_name(const uint8_t *data, size_t size)
{
    static const char name[] = "name: fuzz\n";
    static char text[sizeof name + 4096];
    if (size <= 4096) {
        memcpy(text, name, sizeof name - 1);
        memcpy(text + sizeof name - 1, data, size);
        parse(text, sizeof name - 1 + size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse((const char *)data, size);
    parse_after_name(data, size);
    return 0;
}

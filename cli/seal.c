#include "cli/seal.h"

#include "cli/sums.h"

#include <string.h>

#define SEAL "<!-- written by assay, sha256 of all above: "

static const char empty_block[] =
    "\n## Signature\n\n"
    "What stands below the hash may be filled in; `assay verify` finds any other change.\n\n"
    "Every deviation is accepted, but for: ______________________\n\n"
    "Signed: ______________________  Date: ____________\n";

void seal_write(FILE *out, const char *text, size_t length)
{
    fprintf(out, SEAL "%s -->\n%s", sums_hash(text, length).text, empty_block);
}

size_t seal_end(const char *text, size_t length, const char **block)
{
    char line[sizeof SEAL + 80];
    const char *seal = strstr(text, SEAL);
    *block = "";
    if (seal == NULL || seal >= text + length) {
        return 0;
    }
    int written =
        snprintf(line, sizeof line, SEAL "%s -->\n", sums_hash(text, (size_t)(seal - text)).text);
    if (strncmp(seal, line, (size_t)written) != 0) {
        return 0;
    }
    *block = seal + written;
    return (size_t)(seal - text);
}

bool seal_is_empty(const char *block)
{
    return strcmp(block, empty_block) == 0;
}

/* Something other than blanks and lines to write on, before `end`. */
static bool is_filled(const char *text, const char *end)
{
    return text + strspn(text, "_ \t*") < end;
}

bool seal_is_signed(const char *block)
{
    const char *name = strstr(block, "Signed:");
    const char *date = name == NULL ? NULL : strstr(name, "Date:");
    if (date == NULL) {
        return false;
    }
    name += strlen("Signed:");
    const char *name_end = name + strcspn(name, "\n");
    const char *written = date + strlen("Date:");
    return is_filled(name, date < name_end ? date : name_end) &&
           is_filled(written, written + strcspn(written, "\n"));
}

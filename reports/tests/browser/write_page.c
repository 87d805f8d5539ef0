/* Writes the page for the JSON on standard input: what `assay report` does, for made-up reports. */
#include "reports/html.h"

#include <stdlib.h>

int main(void)
{
    size_t size = 0;
    size_t capacity = 1 << 16;
    char *json = malloc(capacity);
    while (json != NULL) {
        size += fread(json + size, 1, capacity - size, stdin);
        if (size < capacity) {
            break;
        }
        capacity *= 2;
        char *larger = realloc(json, capacity);
        if (larger == NULL) {
            free(json);
        }
        json = larger;
    }
    bool ok = json != NULL && report_html_write(stdout, json, size) && fflush(stdout) == 0;
    free(json);
    return ok ? 0 : 1;
}

#include "reports/html.h"

/* A script element ends at the first "</", wherever it stands: "<" is written as \u003c, which is
 * the same character inside a JSON string and cannot stand outside of one. */
static void write_embedded(FILE *to, const char *json, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (json[i] == '<') {
            fputs("\\u003c", to);
        } else {
            fputc(json[i], to);
        }
    }
}

bool report_html_write(FILE *to, const char *json, size_t length)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Assay</title>"
          "</head><body><pre id=\"page\"></pre>\n<script type=\"application/json\" id=\"data\">",
          to);
    write_embedded(to, json, length);
    fputs("</script>\n<script>document.getElementById('page').textContent = JSON.stringify("
          "JSON.parse(document.getElementById('data').textContent), null, 1);</script>\n"
          "</body></html>\n",
          to);
    return ferror(to) == 0;
}

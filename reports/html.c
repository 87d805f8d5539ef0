#include "reports/html.h"

#include "reports/html_page.h"

#include <string.h>

/* Outside of strings JSON has no '<', and inside of them \u003c means the same. So there is no
 * "</script>" and no "<!--" in what is written. (HT1) */
static void write_data(FILE *to, const char *json, size_t length)
{
    const char *end = json + length;
    while (json < end) {
        const char *angle = memchr(json, '<', (size_t)(end - json));
        const char *stop = angle == NULL ? end : angle;
        fwrite(json, 1, (size_t)(stop - json), to);
        if (angle != NULL) {
            fputs("\\u003c", to);
            stop++;
        }
        json = stop;
    }
}

bool report_html_write(FILE *to, const char *json, size_t length)
{
    fwrite(html_before, 1, html_before_size, to);
    write_data(to, json, length);
    fwrite(html_after, 1, html_after_size, to);
    return ferror(to) == 0;
}

#include "reports/format.h"

#include <inttypes.h>
#include <string.h>

const char *format_strong(enum format_kind format)
{
    return format == FORMAT_COLOUR ? "\033[1m" : "";
}

const char *format_alarm(enum format_kind format)
{
    return format == FORMAT_COLOUR ? "\033[1;31m" : "";
}

const char *format_plain(enum format_kind format)
{
    return format == FORMAT_COLOUR ? "\033[0m" : "";
}

struct format_grouped format_grouped(uint64_t number)
{
    struct format_grouped grouped;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            grouped.text[used++] = ',';
        }
        grouped.text[used++] = digits[i];
    }
    grouped.text[used] = '\0';
    return grouped;
}

void format_wrapped(FILE *out, const char *text, int indent)
{
    int column = indent;
    while (*text != '\0') {
        int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > FORMAT_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

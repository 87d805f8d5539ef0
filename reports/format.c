#include "reports/format.h"

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

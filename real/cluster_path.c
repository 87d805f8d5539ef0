#include "real/cluster_path.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

bool cluster_path(char *path, unsigned long size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, size, format, arguments);
    va_end(arguments);
    if (length < 0 || (unsigned long)length >= size) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

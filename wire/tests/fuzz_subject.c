/* Any bytes are a subject or are refused with a message. */
#include "wire/subject.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct subject subject;
    struct error error = {.text = ""};
    if (!subject_parse(&subject, (const char *)bytes, size, "fuzz", &error) &&
        error.text[0] == '\0') {
        abort();
    }
    subject_free(&subject);
    return 0;
}

/* SHA-256 (FIPS 180-4), for saying which program and which tables made a report: sha256sum of the
 * same file says the same. */
#ifndef REPORTS_SHA256_H
#define REPORTS_SHA256_H

#include <stddef.h>

#define SHA256_TEXT_SIZE 65

/* Of bytes, as 64 hexadecimal digits. */
void sha256_text(const void *bytes, size_t length, char text[SHA256_TEXT_SIZE]);

#endif

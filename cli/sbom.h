/* The software bill of materials of this program, as SPDX 2.3: the program and every shared object
 * that is loaded with it, each with the hash of its file. */
#ifndef CLI_SBOM_H
#define CLI_SBOM_H

#include <stdio.h>

/* `version` is the program's; `created` is a time as SPDX has it: "2026-01-31T12:00:00Z". */
void sbom_write(FILE *out, const char *version, const char *created);

#endif

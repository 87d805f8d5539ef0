/* JUnit XML as Jenkins, GitLab and GitHub read it: a suite a session, a case for each scenario and
 * promise, for each planted bug and for each suite of unit tests. A finding is a failure, with the
 * line that reproduces it. Where the verdict is not that every promise held, at least one case is
 * no success. tests/junit.xsd is the shape. */
#ifndef REPORTS_JUNIT_H
#define REPORTS_JUNIT_H

#include "reports/evidence.h"

#include <stdio.h>

void junit_write(FILE *out, const struct evidence *evidence);

/* The same cases as JSON: a list of {name, status, duration, suite: [name], message}. The caller drops it. */
json_t *junit_cases(const struct evidence *evidence);

#endif

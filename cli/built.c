/* What the program that this is linked into was built of. Compiled once for each, by
 * assay_program of CMakeLists.txt. */
#include "build.h" /* made by build.cmake */
#include "cli/results.h"

const struct results_build results_built = {.version = ASSAY_VERSION,
                                            .commit = BUILD_COMMIT,
                                            .compiler = ASSAY_COMPILER,
                                            .flags = ASSAY_FLAGS,
                                            .dirty = BUILD_DIRTY,
                                            .clauses_hash = BUILD_CLAUSES,
                                            .errata_hash = BUILD_ERRATA,
                                            .binary = "/proc/self/exe"};

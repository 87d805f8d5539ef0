# Writes OUTPUT, which says of which sources the program is built: commit, changes, and the hashes of
# the tables that people sign. Run when the program is linked anew.
#   cmake -DSOURCE=DIR -DOUTPUT=FILE -P build.cmake
set(commit unknown)
set(dirty false)
find_program(GIT git)
if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE head
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
        set(commit ${head})
        execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain --untracked-files=no
            OUTPUT_VARIABLE changes ERROR_QUIET)
        if(changes)
            set(dirty true)
        endif()
    endif()
endif()
file(SHA256 ${SOURCE}/model/clauses.def clauses)
file(SHA256 ${SOURCE}/model/errata.def errata)
file(WRITE ${OUTPUT}
    "#define BUILD_COMMIT \"${commit}\"\n#define BUILD_DIRTY ${dirty}\n"
    "#define BUILD_CLAUSES \"${clauses}\"\n#define BUILD_ERRATA \"${errata}\"\n")

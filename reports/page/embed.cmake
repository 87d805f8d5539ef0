# Puts the files of the page into one and writes that as two C arrays: what stands before the data of a
# report and what stands after it (reports/html.c). A line "/*PART name*/" of page.html stands for the
# file of that name; "/*PART data*/" is where the data go.
#
# usage: cmake -DFOLDER=... -DPARTS="page.css;..." -DOUTPUT=... -P embed.cmake
# All in hexadecimal, because CMake's strings are not safe for brackets and semicolons.
file(READ ${FOLDER}/page.html page HEX)
foreach(part IN LISTS PARTS)
    file(READ ${FOLDER}/${part} content HEX)
    string(HEX "/*PART ${part}*/" mark)
    string(REPLACE ${mark} ${content} with_part ${page})
    if(with_part STREQUAL page)
        message(FATAL_ERROR "page.html has no place for ${part}")
    endif()
    set(page ${with_part})
endforeach()

string(HEX "/*PART data*/" mark)
string(LENGTH ${mark} mark_length)
string(FIND ${page} ${mark} at)
if(at EQUAL -1)
    message(FATAL_ERROR "page.html has no place for the data")
endif()
string(SUBSTRING ${page} 0 ${at} before)
math(EXPR at "${at} + ${mark_length}")
string(SUBSTRING ${page} ${at} -1 after)

string(HEX "/*PART " mark)
string(FIND "${before}${after}" ${mark} at)
if(NOT at EQUAL -1)
    message(FATAL_ERROR "page.html asks for a part that is not in the list")
endif()

foreach(side IN ITEMS before after)
    string(REGEX REPLACE "(................................)" "\\1\n" ${side} ${${side}})
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," ${side} "${${side}}")
endforeach()
file(WRITE ${OUTPUT} "#include \"reports/html_page.h\"\n\n"
    "const unsigned char html_before[] = {\n${before}};\n"
    "const size_t html_before_size = sizeof html_before;\n"
    "const unsigned char html_after[] = {\n${after}};\n"
    "const size_t html_after_size = sizeof html_after;\n")

# Writes the files of a folder with one extension as C arrays (scenarios/builtin.h).
#
# usage: cmake -DFOLDER=... -DEXTENSION=yaml -DSYMBOL=builtin_scenarios -DOUTPUT=... -P embed.cmake
file(GLOB paths ${FOLDER}/*.${EXTENSION})
set(names "")
foreach(path IN LISTS paths)
    get_filename_component(name ${path} NAME_WLE)
    list(APPEND names ${name})
endforeach()
list(SORT names) # names without extension: '-' and '.' would sort otherwise

set(arrays "")
set(table "")
set(number 0)
foreach(name IN LISTS names)
    file(READ ${FOLDER}/${name}.${EXTENSION} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const unsigned char text_${number}[] = {\n${bytes}};\n")
    string(APPEND table "    {\"${name}\", text_${number}, sizeof text_${number}},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"scenarios/builtin.h\"\n\n${arrays}\n"
    "const struct builtin ${SYMBOL}[] = {\n${table}    {0}};\n"
    "const size_t ${SYMBOL}_count = ${number};\n")

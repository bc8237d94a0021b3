# SPDX-License-Identifier: Apache-2.0
# The operators that the library has: all, or those the user lists. `tengine inspect --operators
# MODEL` prints such a list. The choice is read from source/operator/*/*_ops.c, where
# every row begins with OP_ROW(Conv, …), MICROSOFT_ROW(QGemm, …) or TENGINE_ROW(Convolution, …).

set(TENGINE_OPERATORS "" CACHE STRING
    "Operators to build, full names, separated by ; or , (Conv;tengine.Pooling). Empty: all")
set(TENGINE_OPERATORS_FROM "" CACHE STRING
    "Models, or text files with an operator a line, separated by ;, whose operators are built")

# tengine_select_operators(): sets TENGINE_OPERATOR_TABLES, the tables with a selected operator, and
# generates registry/selection.h, left_out.c and left_out_names.c.
function(tengine_select_operators)
    tengine_find_operators()
    tengine_read_selection(selected)
    set(unknown ${selected})
    list(REMOVE_ITEM unknown ${known})
    if(unknown)
        list(JOIN unknown ", " unknown)
        message(FATAL_ERROR
            "TENGINE_OPERATORS: unknown operators: ${unknown}. Names are those of ONNX (Conv) or begin "
            "with their domain (com.microsoft.QGemm, tengine.Convolution); `tengine inspect "
            "--operators MODEL` prints those of a model.")
    endif()
    set(left_out "")
    if(selected)
        # The operators that represent a graph's inputs and constants.
        list(APPEND selected tengine.InputOp tengine.Const)
        # The nodes of a compiled file's model, which are not run.
        if(TENGINE_RUNTIME_ONLY)
            list(APPEND selected tengine.Generic)
        endif()
        # After an If is decided, a result of its branch that no node of the branch computes needs a
        # node.
        if("If" IN_LIST selected)
            list(APPEND selected Identity)
        endif()
        list(REMOVE_DUPLICATES selected)
        set(left_out ${known})
        list(REMOVE_ITEM left_out ${selected})
    else()
        set(selected ${known})
    endif()
    set(tables "")
    foreach(name IN LISTS selected)
        list(APPEND tables ${table_of_${name}})
    endforeach()
    list(REMOVE_DUPLICATES tables)
    list(SORT tables)
    set(TENGINE_OPERATOR_TABLES "${tables}" PARENT_SCOPE)
    tengine_write_selection()
    tengine_write_left_out()
    list(LENGTH selected number)
    list(LENGTH known all)
    tengine_note(programs TENGINE_OPERATORS "${number} of ${all}")
endfunction()

# Sets `known`, the full names, and for each table_of_<name> and, if tmfiles have a number for it,
# number_of_<name>.
macro(tengine_find_operators)
    set(known "")
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/source/operator/*/*_ops.c)
    tengine_drop_operators(files)
    # A new row must be known at the next build.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    set(gap "[ \n]*")
    foreach(file IN LISTS files)
        get_filename_component(table ${file} NAME_WE)
        if(file MATCHES "/(tengine|tflite)/[^/]*$")
            string(PREPEND table ${CMAKE_MATCH_1}_)
        endif()
        file(READ ${file} text)
        string(REGEX MATCHALL
               "[A-Z]+_ROW\\(${gap}[A-Za-z0-9_]+,${gap}(\"[^\"]*\",${gap})?(-?[0-9]+,${gap}[0-9]+,)?"
               rows "${text}")
        foreach(row IN LISTS rows)
            tengine_read_row("${row}")
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES known)
    list(SORT known)
endmacro()

# Drops the sources of operators that no format of this build reads, and of what raises to them.
macro(tengine_drop_operators sources)
    get_property(parts GLOBAL PROPERTY TENGINE_BUILT_PARTS)
    if(NOT tflite IN_LIST parts)
        list(FILTER ${sources} EXCLUDE REGEX "/operator/tflite/|/dialect/tflite[.]cc$")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/dialect/tflite_absent[.]cc$")
    endif()
endmacro()

# Reads the beginning of a row: kind, operator, its name if that is not an identifier, and for one
# of Tengine's its number in the API and in files.
macro(tengine_read_row row)
    set(domain none)
    if("${row}" MATCHES "^OP_ROW")
        set(domain "")
    elseif("${row}" MATCHES "^MICROSOFT_ROW")
        set(domain com.microsoft.)
    elseif("${row}" MATCHES "^ML_ROW")
        set(domain ai.onnx.ml.)
    elseif("${row}" MATCHES "^TRAINING_ROW")
        set(domain ai.onnx.preview.training.)
    elseif("${row}" MATCHES "^(TFLITE|SHAPELESS|UNLOWERED)_ROW")
        set(domain tflite.)
    elseif("${row}" MATCHES "^(TENGINE|NAMED|OWN)_ROW")
        set(domain tengine.)
    endif()
    if(NOT domain STREQUAL "none")
        string(REGEX MATCH "\\(${gap}([A-Za-z0-9_]+)" name "${row}")
        set(name ${CMAKE_MATCH_1})
        if("${row}" MATCHES "\"([^\"]*)\"")
            set(name ${CMAKE_MATCH_1})
        endif()
        string(PREPEND name "${domain}")
        list(APPEND known ${name})
        set(table_of_${name} ${table})
        if("${row}" MATCHES "-?[0-9]+,${gap}([0-9]+),$")
            set(number_of_${name} ${CMAKE_MATCH_1})
        endif()
    endif()
endmacro()

# The operators that TENGINE_OPERATORS and TENGINE_OPERATORS_FROM name, each once.
function(tengine_read_selection out_names)
    string(REPLACE "," ";" names "${TENGINE_OPERATORS}")
    list(TRANSFORM names STRIP)
    list(REMOVE_ITEM names "")
    foreach(file IN LISTS TENGINE_OPERATORS_FROM)
        get_filename_component(file ${file} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
        if(NOT EXISTS ${file} OR IS_DIRECTORY ${file})
            message(FATAL_ERROR "TENGINE_OPERATORS_FROM: file ${file} does not exist; relative paths "
                                "start at the source folder")
        endif()
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        if(file MATCHES "\\.(onnx|tmfile)$")
            tengine_inspect_operators(listed ${file})
        else()
            tengine_read_list(listed ${file})
        endif()
        if(NOT listed)
            message(FATAL_ERROR "TENGINE_OPERATORS_FROM: ${file} names no operator")
        endif()
        list(APPEND names ${listed})
    endforeach()
    list(REMOVE_DUPLICATES names)
    set(${out_names} "${names}" PARENT_SCOPE)
endfunction()

function(tengine_read_list out_names file)
    file(STRINGS ${file} lines)
    list(TRANSFORM lines STRIP)
    list(FILTER lines EXCLUDE REGEX "^(#.*)?$")
    foreach(line IN LISTS lines)
        if(NOT line MATCHES "^[A-Za-z0-9_.]+$")
            string(SUBSTRING "${line}" 0 40 line)
            message(FATAL_ERROR
                "TENGINE_OPERATORS_FROM: ${file} is read as text, but '${line}' is not a name of an "
                "operator. It has one name per line and comments that begin with #; the names of "
                "models end in .onnx or .tmfile.")
        endif()
    endforeach()
    set(${out_names} "${lines}" PARENT_SCOPE)
endfunction()

function(tengine_inspect_operators out_names model)
    find_program(TENGINE_HOST_PROGRAM tengine
        DOC "A program tengine that runs on this machine, to read models of TENGINE_OPERATORS_FROM")
    if(NOT TENGINE_HOST_PROGRAM)
        message(FATAL_ERROR
            "TENGINE_OPERATORS_FROM: reading ${model} needs a program tengine that runs on this "
            "machine: set -DTENGINE_HOST_PROGRAM=<path>, or the output of `tengine inspect "
            "--operators ${model}` as a text file")
    endif()
    execute_process(COMMAND ${TENGINE_HOST_PROGRAM} inspect --operators ${model}
                    OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "TENGINE_OPERATORS_FROM: `${TENGINE_HOST_PROGRAM} inspect --operators "
                            "${model}`, TENGINE_HOST_PROGRAM, gave ${result}: ${error}")
    endif()
    string(REGEX REPLACE "[ \n]+" ";" names "${output}")
    list(REMOVE_ITEM names "")
    set(${out_names} "${names}" PARENT_SCOPE)
endfunction()

# selection.h, which operator/row.h includes.
macro(tengine_write_selection)
    set(text "#pragma once\n\n")
    set(can_write 1)
    if(TENGINE_MINIMAL)
        set(can_write 0)
    endif()
    string(APPEND text "#define TENGINE_CAN_WRITE_TMFILE ${can_write}\n")
    if(left_out)
        string(APPEND text "#define TENGINE_SELECTED_OPERATORS")
        foreach(name IN LISTS selected)
            string(APPEND text "${comma} \\\n    \"${name}\"")
            set(comma ",")
        endforeach()
        string(APPEND text "\n")
        foreach(name IN LISTS selected)
            if(NOT name MATCHES "^(ai.onnx|com.microsoft|tengine|tflite)\\.")
                string(PREPEND name onnx.)
            endif()
            string(MAKE_C_IDENTIFIER ${name} id)
            string(APPEND text "#define OP_SELECTED_${id} ~, 1\n")
        endforeach()
    endif()
    tengine_write_registry(selection.h "${text}")
endmacro()

# left_out.c and left_out_names.c: the arrays of operator/selection.h.
macro(tengine_write_left_out)
    set(text "#include \"operator/selection.h\"\n\n")
    string(APPEND text "const struct left_out_operator tengine_left_out_operators[] = {\n")
    set(number 0)
    foreach(name IN LISTS left_out)
        if(DEFINED number_of_${name})
            string(APPEND text "    {\"${name}\", ${number_of_${name}}},\n")
            math(EXPR number "${number} + 1")
        endif()
    endforeach()
    set(selective 0)
    if(left_out)
        set(selective 1)
    endif()
    string(APPEND text "    {0, -1}};\n"
                       "const int tengine_left_out_operator_num = ${number};\n"
                       "const int tengine_is_selective = ${selective};\n")
    tengine_write_registry(left_out.c "${text}")
    set(text "#include \"operator/selection.h\"\n\n")
    string(APPEND text "const char* const tengine_left_out_names[] = {\n")
    foreach(name IN LISTS left_out)
        string(APPEND text "    \"${name}\",\n")
    endforeach()
    tengine_write_registry(left_out_names.c "${text}    0};\n")
endmacro()

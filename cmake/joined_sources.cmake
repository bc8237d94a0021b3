# SPDX-License-Identifier: Apache-2.0
# Most of the time to compile a C++ source goes to templates of GoogleTest and of the C++ library, the
# same ones in each file. Joined, ten sources are compiled at a time, which takes 40 % of the time; an
# edit of one then compiles ten.
set(TENGINE_JOINED_SOURCES "" CACHE STRING
    "C++ sources that are compiled ten at a time, for builds from nothing: library;tests")

# tengine_join_sources(library|tests <target>): sources with the same settings are joined. A
# file's unnamed namespace lies in a named one of its own, so that files may use the same
# names. A program's tests are its *_test.cc. Files with the property TENGINE_ALONE are compiled alone.
function(tengine_join_sources kind target)
    if(NOT kind IN_LIST TENGINE_JOINED_SOURCES)
        return()
    endif()
    set(names COMPILE_OPTIONS COMPILE_DEFINITIONS SKIP_PRECOMPILE_HEADERS)
    get_target_property(sources ${target} SOURCES)
    set(joined "[.]cc$")
    if(kind STREQUAL "tests")
        set(joined "_test[.]cc$")
    endif()
    set(groups "")
    set(alone "")
    foreach(source IN LISTS sources)
        get_source_file_property(is_alone ${source} TENGINE_ALONE)
        if(is_alone OR NOT source MATCHES "${joined}")
            list(APPEND alone ${source})
            continue()
        endif()
        set(settings "")
        foreach(name IN LISTS names)
            get_source_file_property(value ${source} ${name})
            string(APPEND settings "${value}|")
        endforeach()
        string(MD5 group "${settings}")
        list(APPEND groups ${group})
        cmake_path(ABSOLUTE_PATH source)
        list(APPEND sources_${group} ${source})
    endforeach()
    list(REMOVE_DUPLICATES groups)
    set(index 0)
    foreach(group IN LISTS groups)
        list(GET sources_${group} 0 first)
        tengine_split_evenly(10 ${sources_${group}})
        foreach(unit IN LISTS units)
            set(file ${CMAKE_CURRENT_BINARY_DIR}/joined/${target}_${index}.cc)
            math(EXPR index "${index} + 1")
            add_custom_command(OUTPUT ${file} VERBATIM
                COMMAND ${PROJECT_SOURCE_DIR}/cmake/join_sources.sh ${file} ${${unit}}
                DEPENDS ${PROJECT_SOURCE_DIR}/cmake/join_sources.sh ${${unit}}
                COMMENT "Joining sources of ${target}")
            foreach(name IN LISTS names)
                get_source_file_property(value ${first} ${name})
                if(value)
                    set_property(SOURCE ${file} PROPERTY ${name} "${value}")
                endif()
            endforeach()
            list(APPEND alone ${file})
        endforeach()
        # A file includes its neighbours, which are not the unit's.
        list(TRANSFORM sources_${group} REPLACE "/[^/]*$" "" OUTPUT_VARIABLE folders)
        list(REMOVE_DUPLICATES folders)
        target_include_directories(${target} BEFORE PRIVATE ${folders})
    endforeach()
    set_target_properties(${target} PROPERTIES SOURCES "${alone}")
endfunction()

# tengine_split_evenly(<most> <item>…): sets `units` to the names of lists with at most so many items.
macro(tengine_split_evenly most)
    set(items ${ARGN})
    list(LENGTH items count)
    math(EXPR unit_count "(${count} + ${most} - 1) / ${most}")
    math(EXPR length "(${count} + ${unit_count} - 1) / ${unit_count}")
    set(units "")
    foreach(number RANGE 1 ${unit_count})
        math(EXPR start "(${number} - 1) * ${length}")
        list(SUBLIST items ${start} ${length} unit_${number})
        list(APPEND units unit_${number})
    endforeach()
endmacro()

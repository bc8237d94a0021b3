# SPDX-License-Identifier: Apache-2.0
# Tests mirror source/: every folder below tests/ with *_test.cc files becomes one program and each
# of its cases a ctest entry, or each share of them, if starting the program takes longer than most
# cases.
include(GoogleTest)

set(shares 0)
if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(shares 6)
endif()
set(TENGINE_TEST_SHARES ${shares} CACHE STRING
    "Entries of ctest for the cases of each program; 0: each case has its own")

# tengine_find_test_cost(<out> <room>): the seconds of tests/room_budget.txt, after which ctest orders
# its entries: of two at a time the last is then a short one.
function(tengine_find_test_cost out_cost room)
    string(MAKE_C_IDENTIFIER ${room} id)
    file(STRINGS ${PROJECT_SOURCE_DIR}/tests/room_budget.txt row REGEX "^${id} ")
    string(REGEX REPLACE ".* " "" cost "0${row}")
    set(${out_cost} ${cost} PARENT_SCOPE)
endfunction()

# tengine_register_tests(<target> <room> <seconds> <labels> [EMULATED <pattern>…]): registers the
# cases of a program as ctest entries <room>/…; each case may take so long. An emulator runs those
# that the patterns choose, by default all. TENGINE_LEFT_OUT_CASES are not run.
function(tengine_register_tests target room seconds labels)
    cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "EMULATED")
    set(chosen "")
    if(CMAKE_CROSSCOMPILING_EMULATOR)
        list(JOIN arg_EMULATED ":" chosen)
    else()
        list(JOIN TENGINE_SLOW_CASES ":" slow)
        foreach(share RANGE 1)
            tengine_add_quick_test(${room}/share_${share}
                COMMAND ${target} --gtest_brief=1 --gtest_filter=-${slow})
            set_tests_properties(quick/${room}/share_${share} PROPERTIES
                ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${share}")
        endforeach()
    endif()
    tengine_find_test_cost(cost ${room})
    list(JOIN TENGINE_LEFT_OUT_CASES ":" left_out)
    set(filter "${chosen}-${left_out}")
    if(NOT TENGINE_TEST_SHARES)
        gtest_discover_tests(${target} TEST_PREFIX ${room}/ TEST_FILTER ${filter}
            DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
            PROPERTIES TIMEOUT ${seconds} LABELS "${labels}" COST ${cost})
        return()
    endif()
    math(EXPR last "${TENGINE_TEST_SHARES} - 1")
    foreach(share RANGE ${last})
        add_test(NAME ${room}/share_${share} COMMAND ${target} --gtest_filter=${filter})
        set_tests_properties(${room}/share_${share} PROPERTIES TIMEOUT 1200 LABELS "${labels}"
            COST ${cost}
            ENVIRONMENT "GTEST_TOTAL_SHARDS=${TENGINE_TEST_SHARES};GTEST_SHARD_INDEX=${share}")
    endforeach()
endfunction()

# tengine_add_quick_test(<name> COMMAND …): an entry quick/<name>, for quick answers (`ctest -C
# quick -L quick`): the tests of a program in two processes, without the slow ones. Other entries run
# the same tests.
function(tengine_add_quick_test name)
    add_test(NAME quick/${name} CONFIGURATIONS quick ${ARGN})
    set_tests_properties(quick/${name} PROPERTIES LABELS quick TIMEOUT 300)
endfunction()

# tengine_add_tests(<room> [WITHOUT_LIBRARY]): tests/<room>/*.{c,cc} -> <room>_test, slashes as
# underscores. Tests see internal headers and hidden functions. Those of TENGINE_CORE_ROOMS have the
# label `core` and belong to the target core_tests, those of TENGINE_KERNEL_ROOMS `kernel` and
# kernel_tests.
function(tengine_add_tests room)
    cmake_parse_arguments(PARSE_ARGV 1 arg "WITHOUT_LIBRARY" "" "")
    set(folder ${PROJECT_SOURCE_DIR}/tests/${room})
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc ${folder}/*.c)
    string(MAKE_C_IDENTIFIER ${room}_test target)
    add_executable(${target} ${sources})
    tengine_set_language_options(${target})
    set_target_properties(${target} PROPERTIES C_STANDARD 99)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE ${TENGINE_TEST_DEFINITIONS})
    target_link_libraries(${target} PRIVATE tengine::gtest)
    set(headers tengine_test_headers)
    if(room IN_LIST TENGINE_COMPUTING_ROOMS)
        target_compile_options(${target} PRIVATE ${TENGINE_KERNEL_TEST_OPTIONS})
        set(headers tengine_kernel_test_headers)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${headers})
    file(GLOB c_sources CONFIGURE_DEPENDS ${folder}/*.c)
    set_source_files_properties(${c_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    tengine_join_sources(tests ${target})
    if(NOT arg_WITHOUT_LIBRARY)
        target_link_libraries(${target} PRIVATE
            $<TARGET_NAME_IF_EXISTS:tengine_test_support> tengine_internal)
    endif()
    if(room IN_LIST TENGINE_CASE_ROOMS)
        target_link_libraries(${target} PRIVATE tengine_cases)
    endif()
    set(labels "")
    foreach(label IN ITEMS core kernel)
        string(TOUPPER ${label} upper)
        if(room IN_LIST TENGINE_${upper}_ROOMS)
            list(APPEND labels ${label})
            add_dependencies(${label}_tests ${target})
        endif()
    endforeach()
    tengine_register_tests(${target} ${room} 300 "${labels}")
endfunction()

# The folder in which tests find the programs that they start. In a cross build it has scripts that
# call the emulator, see tengine_let_tests_start().
function(tengine_program_directory out_directory)
    set(${out_directory} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} PARENT_SCOPE)
    if(CMAKE_CROSSCOMPILING_EMULATOR)
        set(${out_directory} ${PROJECT_BINARY_DIR}/emulated PARENT_SCOPE)
    endif()
endfunction()

# tengine_let_tests_start(<target>…): programs that tests start by their path.
function(tengine_let_tests_start)
    if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
        return()
    endif()
    tengine_program_directory(directory)
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    foreach(target IN LISTS ARGN)
        # Several folders of tests may start the same program.
        get_target_property(is_done ${target} TENGINE_STARTED_BY_TESTS)
        if(is_done)
            continue()
        endif()
        set_target_properties(${target} PROPERTIES TENGINE_STARTED_BY_TESTS ON)
        file(GENERATE OUTPUT ${directory}/$<TARGET_FILE_NAME:${target}>
             CONTENT "#!/bin/sh\nexec ${emulator} $<TARGET_FILE:${target}> \"$@\"\n"
             FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    endforeach()
endfunction()

# For tests that build the library again, or programs on it. <settings> becomes a file that, as
# CMakeCache.txt of another build, makes it compile as this one does, so that a compiler cache has
# most files already. <out_environment> is for the tests' scripts: compilers and binutils, EMULATOR,
# which precedes programs to start, and in a cross build the toolchain file, which CMake takes from
# there.
function(tengine_describe_build settings out_environment)
    set(entries "")
    foreach(name IN ITEMS BUILD_TYPE COMPILE_WARNING_AS_ERROR C_COMPILER CXX_COMPILER C_FLAGS
                          CXX_FLAGS C_FLAGS_DEBUG CXX_FLAGS_DEBUG)
        string(APPEND entries "CMAKE_${name}:STRING=${CMAKE_${name}}\n")
    endforeach()
    string(APPEND entries "TENGINE_JOINED_SOURCES:STRING=${TENGINE_JOINED_SOURCES}\n")
    file(WRITE ${settings} "${entries}")
    set(sysroot "")
    if(CMAKE_SYSROOT)
        set(sysroot "--sysroot=${CMAKE_SYSROOT} ")
    endif()
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    set(environment "CC=${CMAKE_C_COMPILER} ${sysroot}${CMAKE_C_FLAGS}"
                    "CXX=${CMAKE_CXX_COMPILER} ${sysroot}${CMAKE_CXX_FLAGS}"
                    "AR=${CMAKE_AR}" "STRIP=${CMAKE_STRIP}" "EMULATOR=${emulator}")
    if(CMAKE_CROSSCOMPILING)
        list(APPEND environment "CMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}"
                                "TENGINE_SYSROOT=${TENGINE_SYSROOT}")
    endif()
    set(${out_environment} "${environment}" PARENT_SCOPE)
endfunction()

# The folders below tests/ that have tests, except those under a CMakeLists.txt of their own.
# tests/device/<part> and tests/serializer/<part> count when that part is built.
function(tengine_find_test_rooms out_rooms)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests
         ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
    set(rooms "")
    foreach(file IN LISTS files)
        get_filename_component(room ${file} DIRECTORY)
        string(REGEX REPLACE "/.*" "" top "${room}")
        tengine_has_part(built "${room}")
        if(room AND built AND NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/${top}/CMakeLists.txt)
            list(APPEND rooms ${room})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES rooms)
    set(${out_rooms} ${rooms} PARENT_SCOPE)
endfunction()

# FALSE if <room> is the folder of a part, or below it, and that part is left out.
function(tengine_has_part out_built room)
    set(${out_built} TRUE PARENT_SCOPE)
    if(room MATCHES "^(device|serializer)/([^/]+)")
        string(MAKE_C_IDENTIFIER ${CMAKE_MATCH_2} id)
        if(NOT TARGET tengine_${CMAKE_MATCH_1}_${id})
            set(${out_built} FALSE PARENT_SCOPE)
        endif()
    endif()
endfunction()

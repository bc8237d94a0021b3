# SPDX-License-Identifier: Apache-2.0
# TENGINE_MINIMAL: a static library for boards with little memory. It has the CPU device and reads
# tmfiles; everything else is left out unless it is requested. Only the functions that a program
# calls are linked, and apart from the C library nothing is needed. docs/size.md has the figures.
option(TENGINE_MINIMAL "Build a small static library: the CPU device, reading tmfiles" OFF)

# It runs the graphs that `tengine compile` has prepared in a tmfile, and has no passes to prepare
# others.
option(TENGINE_RUNTIME_ONLY "Build a minimal library that runs compiled files only" OFF)
if(TENGINE_RUNTIME_ONLY)
    set(TENGINE_MINIMAL ON)
endif()

# The parts and dependencies that AUTO still builds; tengine_switch() reads the list.
set(TENGINE_MINIMAL_PARTS TENGINE_ENABLE_CPU TENGINE_ENABLE_TMFILE TENGINE_WITH_HIGHWAY)
if(TENGINE_RUNTIME_ONLY)
    list(APPEND TENGINE_MINIMAL_PARTS TENGINE_WITH_PART_CACHE)
endif()
# From the second run on it is set, to AUTO.
if(TENGINE_ENABLE_ONNX AND NOT TENGINE_ENABLE_ONNX MATCHES "^[Aa][Uu][Tt][Oo]$")
    list(APPEND TENGINE_MINIMAL_PARTS TENGINE_WITH_PROTOBUF TENGINE_WITH_ONNX_PROTO)
endif()
if(TENGINE_BUILD_TOOLS)
    list(APPEND TENGINE_MINIMAL_PARTS TENGINE_WITH_CLI11 TENGINE_WITH_JSON)
endif()
if(TENGINE_BUILD_TOOLS OR TENGINE_BUILD_EXAMPLES)
    list(APPEND TENGINE_MINIMAL_PARTS TENGINE_WITH_STB)
endif()
if(TENGINE_BUILD_TESTS)
    list(APPEND TENGINE_MINIMAL_PARTS TENGINE_WITH_GTEST TENGINE_WITH_ONNX_TESTDATA)
endif()
if(TENGINE_BUILD_BENCHMARK)
    list(APPEND TENGINE_MINIMAL_PARTS TENGINE_WITH_BENCHMARK)
endif()

# Defaults of options that are on in the whole library and off in the minimal one.
set(TENGINE_WHOLE ON)
set(TENGINE_DEFAULT_BUILD_TYPE Release)
if(TENGINE_MINIMAL)
    set(TENGINE_WHOLE OFF)
    # -Os; kernels have options of their own, source/device/cpu/CMakeLists.txt.
    set(TENGINE_DEFAULT_BUILD_TYPE MinSizeRel)
endif()

# libstdc++ can do with less memory than its default: source/base/terminate.c.
set(TENGINE_SHRINKS_RUNTIME OFF)
if(TENGINE_MINIMAL AND "stdc++" IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    set(TENGINE_SHRINKS_RUNTIME ON)
endif()

# The options of every object, those of the programs included.
function(tengine_shrink_build)
    if(NOT TENGINE_MINIMAL)
        return()
    endif()
    # No exception passes through C.
    set(options "$<$<COMPILE_LANGUAGE:C>:-fno-unwind-tables;-fno-asynchronous-unwind-tables>")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # All of these make code longer in spite of -Os. GCC keeps frame pointers on 64-bit Arm
        # only; exceptions do not need them.
        list(APPEND options -fno-gcse -fno-move-loop-invariants -fomit-frame-pointer)
    endif()
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY COMPILE_OPTIONS ${options})
endfunction()

# The further options of the library's objects.
function(tengine_shrink_objects target)
    if(TENGINE_MINIMAL)
        target_compile_definitions(${target} PRIVATE TENGINE_MINIMAL)
        if(TENGINE_RUNTIME_ONLY)
            target_compile_definitions(${target} PRIVATE TENGINE_RUNTIME_ONLY)
        endif()
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
    endif()
endfunction()

# Sets the options that programs are linked with. The linker of a C program does not know the C++
# runtime: it is named as an archive.
function(tengine_shrink_programs target)
    if(TENGINE_MINIMAL)
        target_link_options(${target} INTERFACE LINKER:--gc-sections -static-libgcc
                            -static-libstdc++)
        if(TENGINE_MUSL)
            # The C++ runtime, which comes after the library, needs musl.c.
            target_link_options(${target} INTERFACE LINKER:--undefined=_dl_find_object)
        endif()
        if(TENGINE_SHRINKS_RUNTIME)
            # The library's terminate.c must replace that of libstdc++.
            target_link_options(${target} INTERFACE
                LINKER:--undefined=_ZN9__gnu_cxx27__verbose_terminate_handlerEv)
        endif()
    endif()
endfunction()

function(tengine_name_runtime out_libraries)
    set(runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
    list(FILTER runtime INCLUDE REGEX "^(stdc|c)\\+\\+$")
    if(TENGINE_MINIMAL)
        list(TRANSFORM runtime REPLACE "(.+)" "-l:lib\\1.a")
    endif()
    set(${out_libraries} ${runtime} PARENT_SCOPE)
endfunction()

# Stops where an option needs what a build for compiled files does not have.
function(tengine_check_runtime_only)
    if(NOT TENGINE_RUNTIME_ONLY)
        return()
    endif()
    foreach(option IN ITEMS TENGINE_ENABLE_ONNX TENGINE_ENABLE_TFLITE TENGINE_WITH_PRECISIONS
                            TENGINE_WITH_CALIBRATION TENGINE_BUILD_TOOLS TENGINE_BUILD_TESTS)
        if(${option} AND NOT ${option} MATCHES "^[Aa][Uu][Tt][Oo]$")
            message(FATAL_ERROR "TENGINE_RUNTIME_ONLY builds a library for compiled files, without "
                                "the passes that ${option} needs: set one of them to OFF")
        endif()
    endforeach()
    if(TENGINE_WITH_PART_CACHE STREQUAL "OFF")
        message(FATAL_ERROR "TENGINE_RUNTIME_ONLY needs TENGINE_WITH_PART_CACHE, which is OFF")
    endif()
endfunction()

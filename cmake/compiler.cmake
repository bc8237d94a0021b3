# SPDX-License-Identifier: Apache-2.0
# Compiler settings: the build type, ccache, sanitizers, and the common options of the project's
# targets.

include(CheckCXXCompilerFlag)

# Single-configuration generators get <type> if the user named none.
function(tengine_choose_build_type type)
    get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(PROJECT_IS_TOP_LEVEL AND NOT multi_config AND NOT CMAKE_BUILD_TYPE)
        set(CMAKE_BUILD_TYPE ${type} CACHE STRING "Build type" FORCE)
    endif()
endfunction()

# The vector kernels take most of a network's time. -O3, CMake's default for release builds, doubles
# the time to compile some other files, which gain nothing: they have -O2. With a sanitizer only the
# kernels, whose vectors are inlined functions, are optimised. A level that the user chose is kept.
function(tengine_choose_optimisation out_kernel_options)
    set(${out_kernel_options} "" PARENT_SCOPE)
    if(TENGINE_SANITIZE)
        set(${out_kernel_options} "$<$<CONFIG:Debug>:-O1>" PARENT_SCOPE)
    endif()
    foreach(language IN ITEMS C CXX)
        if(CMAKE_${language}_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
            set(CMAKE_${language}_FLAGS_RELEASE "-O2 -DNDEBUG" PARENT_SCOPE)
            set(${out_kernel_options} "$<$<CONFIG:Release>:-O3>" PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# Model files are little-endian and are used in place.
function(tengine_require_little_endian)
    foreach(language IN ITEMS C CXX)
        if(CMAKE_${language}_BYTE_ORDER STREQUAL "BIG_ENDIAN")
            message(FATAL_ERROR "${CMAKE_${language}_COMPILER} compiles for ${CMAKE_SYSTEM_PROCESSOR}, "
                                "which is big-endian; tengine runs on little-endian processors only")
        endif()
    endforeach()
endfunction()

# ccache is used if it is installed and no other launcher is set; nothing depends on it. Paths below
# the build's folder count as relative, so that another build of the same sources, with equal
# generated headers in another folder, hits the cache. Precompiled headers need the sloppiness.
function(tengine_use_ccache)
    find_program(TENGINE_CCACHE ccache)
    mark_as_advanced(TENGINE_CCACHE)
    foreach(language IN ITEMS C CXX)
        if(TENGINE_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
            set(CMAKE_${language}_COMPILER_LAUNCHER
                env CCACHE_BASEDIR=${PROJECT_BINARY_DIR} CCACHE_SLOPPINESS=pch_defines,time_macros
                ${TENGINE_CCACHE} PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# Sets the compiler's option for the processor of this machine if TENGINE_NATIVE is on, else "".
function(tengine_find_native_option out_option)
    set(${out_option} "" PARENT_SCOPE)
    if(NOT TENGINE_NATIVE)
        return()
    endif()
    if(CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "TENGINE_NATIVE: a cross build is for another processor than this one")
    endif()
    foreach(option IN ITEMS march mcpu)
        check_cxx_compiler_flag(-${option}=native TENGINE_KNOWS_${option}_NATIVE)
        if(TENGINE_KNOWS_${option}_NATIVE)
            tengine_note(programs TENGINE_NATIVE "-${option}=native")
            set(${out_option} -${option}=native PARENT_SCOPE)
            return()
        endif()
    endforeach()
    tengine_note(programs TENGINE_NATIVE "off: the compiler knows no option for this processor")
endfunction()

# A finding ends the program: a test that only prints it would pass. The instrumented code makes
# GCC's maybe-uninitialized warning report false positives, also in the standard library.
# `undefined` does not include conversions of floats beyond an integer's range, which would become
# positions in memory.
function(tengine_use_sanitizers names)
    if(names MATCHES undefined)
        string(APPEND names ",float-cast-overflow")
    endif()
    if(names)
        add_compile_options(-fsanitize=${names} -fno-sanitize-recover=all -fno-omit-frame-pointer
                            "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
        add_link_options(-fsanitize=${names})
        # Instrumented programs are large: gold, if it is installed, links them in half of the time.
        find_program(TENGINE_GOLD ld.gold)
        mark_as_advanced(TENGINE_GOLD)
        if(TENGINE_GOLD)
            add_link_options(-fuse-ld=gold)
        endif()
    endif()
endfunction()

# generated/tengine/version.h, a public header.
function(tengine_write_version_header)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in
                   ${PROJECT_BINARY_DIR}/generated/tengine/version.h @ONLY)
endfunction()

# Sets the options of every target of the project. Warnings stop the build if
# CMAKE_COMPILE_WARNING_AS_ERROR is set, as in all presets.
function(tengine_set_language_options target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON)
    # On 32-bit machines: files beyond 2 GiB, and file systems with 64-bit numbers of files and of
    # entries of folders.
    target_compile_definitions(${target} PRIVATE _FILE_OFFSET_BITS=64)
    # With a section per function the linker of a static program drops unused functions.
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wpedantic)
endfunction()

# The headers of the C++ library that many sources include are parsed once for the target, which
# takes a third off the time to compile it. A source with options of its own sets
# SKIP_PRECOMPILE_HEADERS. The minimal build has no precompiled headers, so that a missing include
# is noticed.
function(tengine_precompile_headers target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.]cc$")
    if(sources AND NOT TENGINE_MINIMAL)
        target_precompile_headers(${target} PRIVATE
            "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/standard_headers.h>")
    endif()
endfunction()

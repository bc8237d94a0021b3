# SPDX-License-Identifier: Apache-2.0
# Template for the compiler and the root directory of a board's SDK. Copy it, fill in the settings,
# keep the copy with your project: Tengine and the programs on it are built with
#     cmake -DCMAKE_TOOLCHAIN_FILE=<copy> …
# docs/cross-build.md fills one in, step by step.

# ---- settings: directories are complete paths -------------------------------------------------

# The processor as `uname -m` names it on the board: aarch64, armv7l, riscv64. Must be
# little-endian.
set(processor "")

# The compiler without the last word of its name: with /opt/sdk/bin/aarch64-vendor-linux- the
# programs /opt/sdk/bin/aarch64-vendor-linux-gcc and -g++ are used. Without a directory they are
# searched on PATH.
set(compiler_prefix "")

# The root directory of the board's system, as far as compilers need it: usr/include, usr/lib, lib.
# SDKs call it sysroot; one can also be copied from the board. Empty: the compiler's own, which
# `<compiler_prefix>gcc -print-sysroot` prints.
set(sysroot "")

# Instructions that every board of yours has. Vector code for newer ones is compiled, too, and
# chosen when the program runs, so empty is a good default for aarch64. 32-bit Arm needs an option
# that has NEON, or vector code is left out: -mfpu=neon-vfpv4 -mfp16-format=ieee (and
# -mfloat-abi=hard or softfp, when that is not the compiler's default but the board's).
set(cpu_flags "")

# Optional: where libraries of your own for the board are installed; find_package() looks there.
set(libraries "")

# Optional: the emulator of the board's programs on this machine, for tests:
# qemu-aarch64 -L ${sysroot}
set(emulator "")

# ---- derived settings -------------------------------------------------------------------
if(NOT processor OR NOT compiler_prefix)
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE} is a template: processor and compiler_prefix are "
                        "to be filled in")
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processor})
set(CMAKE_C_COMPILER ${compiler_prefix}gcc)
set(CMAKE_CXX_COMPILER ${compiler_prefix}g++)
# Several words are written in one pair of quotes, or without.
string(REPLACE ";" " " cpu_flags "${cpu_flags}")
set(CMAKE_C_FLAGS_INIT "${cpu_flags}")
set(CMAKE_CXX_FLAGS_INIT "${cpu_flags}")
list(APPEND CMAKE_FIND_ROOT_PATH ${libraries})
if(sysroot)
    if(NOT IS_DIRECTORY ${sysroot}/usr/include)
        message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: sysroot is ${sysroot}, which has no "
                            "usr/include")
    endif()
    set(CMAKE_SYSROOT ${sysroot})
else()
    # Without any root directory CMake would use this machine's packages, and with "/" as well,
    # which some compilers print.
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-sysroot OUTPUT_VARIABLE compiler_root
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(compiler_root MATCHES "^/?$")
        execute_process(COMMAND ${CMAKE_C_COMPILER} -dumpmachine OUTPUT_VARIABLE triplet
                        OUTPUT_STRIP_TRAILING_WHITESPACE)
        set(compiler_root /usr/${triplet})
    endif()
    list(APPEND CMAKE_FIND_ROOT_PATH ${compiler_root})
endif()
if(emulator)
    list(LENGTH emulator words)
    if(words EQUAL 1)
        separate_arguments(emulator UNIX_COMMAND "${emulator}")
    endif()
    set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator})
endif()

# Programs are this machine's, such as protoc; everything else is the board's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

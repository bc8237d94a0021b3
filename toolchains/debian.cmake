# SPDX-License-Identifier: Apache-2.0
# The common part of the toolchain files of this folder. Each sets CMAKE_SYSTEM_PROCESSOR and
# TENGINE_TRIPLET and includes this file: Debian's cross compiler <triplet>-gcc, libraries from the
# sysroot that scripts/sysroot makes, programs for that processor run by <emulator>.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${TENGINE_TRIPLET}-gcc)
set(CMAKE_CXX_COMPILER ${TENGINE_TRIPLET}-g++)

# Empty: the compiler's own directories, which are sufficient for a library without optional parts.
set(TENGINE_SYSROOT "$ENV{TENGINE_SYSROOT}" CACHE PATH "Root directory of the target's libraries")
# The checks of the compiler are projects of their own, which read this file again.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENGINE_SYSROOT)
# The emulator takes the dynamic linker and the libraries from the compiler's directories.
set(emulated_root /usr/${TENGINE_TRIPLET})
if(TENGINE_SYSROOT)
    if(NOT IS_DIRECTORY ${TENGINE_SYSROOT}/usr/include)
        message(FATAL_ERROR "TENGINE_SYSROOT is ${TENGINE_SYSROOT}, which has no usr/include; "
                            "scripts/sysroot makes such a directory")
    endif()
    set(CMAKE_SYSROOT ${TENGINE_SYSROOT})
    set(emulated_root ${TENGINE_SYSROOT})
else()
    # Without any root directory CMake would take this machine's packages.
    list(APPEND CMAKE_FIND_ROOT_PATH ${emulated_root})
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR "${TENGINE_EMULATOR};-L;${emulated_root}"
    CACHE STRING "The program that runs the target's programs")

# Programs are the host's; everything else is the target's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

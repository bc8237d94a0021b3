# SPDX-License-Identifier: Apache-2.0
# TENGINE_COMPILER_GCC, TENGINE_COMPILER_CLANG and TENGINE_COMPILER_MSVC, from which folders of
# Tengine Lite know the compiler. For the library's parts and, in the CMake package, for plug-ins.
foreach(compiler IN ITEMS GNU:GCC Clang:CLANG MSVC:MSVC)
    string(REPLACE ":" ";" compiler ${compiler})
    list(POP_FRONT compiler id)
    set(TENGINE_COMPILER_${compiler} OFF)
    if("${CMAKE_CXX_COMPILER_ID};${CMAKE_C_COMPILER_ID}" MATCHES ${id})
        set(TENGINE_COMPILER_${compiler} ON)
    endif()
endforeach()

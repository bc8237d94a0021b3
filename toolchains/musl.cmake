# SPDX-License-Identifier: Apache-2.0
# musl in place of the C library of Debian's cross compiler: headers, libraries and start files of
# TENGINE_SYSROOT (scripts/sysroot <processor>-musl), with the compiler's own C++ runtime, which was
# made for glibc: source/base/musl.c has the two names that it takes from there. Included after
# debian.cmake.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=include
                OUTPUT_VARIABLE musl_include OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(musl_version ${musl_include}/.. ABSOLUTE)
get_filename_component(musl_version ${musl_version} NAME)
set(musl_cxx /usr/${TENGINE_TRIPLET}/include/c++/${musl_version})

set(musl_c "-isystem ${TENGINE_SYSROOT}/usr/include -isystem ${musl_include}")
set(CMAKE_C_FLAGS_INIT "-nostdinc ${musl_c} -U_FORTIFY_SOURCE")
# The headers of libstdc++ ask for the version of glibc and use its names.
string(CONCAT CMAKE_CXX_FLAGS_INIT
    "-nostdinc -isystem ${musl_cxx} -isystem ${musl_cxx}/${TENGINE_TRIPLET} "
    "-isystem ${musl_cxx}/backward ${musl_c} -U_FORTIFY_SOURCE "
    "'-D__GLIBC_PREREQ(major,minor)=1' -D__locale_t=locale_t -D__uselocale=uselocale")

set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -specs=${TENGINE_SYSROOT}/usr/lib/static.specs")
# CMake does not see the folder of the compiler's target there.
set(hwy_DIR ${TENGINE_SYSROOT}/usr/lib/${TENGINE_TRIPLET}/cmake/hwy CACHE PATH "Highway")
set(TENGINE_MUSL ON CACHE INTERNAL "The C library is musl")

# SPDX-License-Identifier: Apache-2.0
# A function for each package: tengine_wrap_<name>(<target> <out found> <out version>) searches for
# it and fills the interface target. dependencies.cmake calls them by name. A function that rejects
# the package found sets `reason` in its caller.
include(CheckCXXSourceCompiles)

function(tengine_wrap_openblas target out_found out_version)
    find_package(OpenBLAS CONFIG QUIET)
    set(${out_found} ${OpenBLAS_FOUND} PARENT_SCOPE)
    set(${out_version} "${OpenBLAS_VERSION}" PARENT_SCOPE)
    if(OpenBLAS_FOUND)
        cmake_path(NORMAL_PATH OpenBLAS_LIBRARIES)
        target_include_directories(${target} SYSTEM INTERFACE ${OpenBLAS_INCLUDE_DIRS})
        target_link_libraries(${target} INTERFACE ${OpenBLAS_LIBRARIES})
    endif()
endfunction()

function(tengine_wrap_onednn target out_found out_version)
    find_package(dnnl CONFIG QUIET)
    find_package(OpenMP QUIET COMPONENTS CXX)  # Debian's threads
    set(${out_version} "${dnnl_VERSION}" PARENT_SCOPE)
    if(dnnl_FOUND AND OpenMP_CXX_FOUND)
        set(${out_found} TRUE PARENT_SCOPE)
        target_link_libraries(${target} INTERFACE DNNL::dnnl OpenMP::OpenMP_CXX)
    endif()
endfunction()

# Whether the options are those of a 32-bit Arm without the instructions of vector kernels: Highway
# would compile scalar ones. Checked each time, since options change.
function(tengine_lacks_neon out_lacks_neon)
    set(CMAKE_REQUIRED_QUIET ON)
    unset(TENGINE_LACKS_NEON CACHE)
    check_cxx_source_compiles("
        #if !defined(__arm__) || (defined(__ARM_NEON) && defined(__ARM_FP16_FORMAT_IEEE))
        #error nothing is missing
        #endif
        int main() {}" TENGINE_LACKS_NEON)
    set(${out_lacks_neon} "${TENGINE_LACKS_NEON}" PARENT_SCOPE)
endfunction()

function(tengine_wrap_highway target out_found out_version)
    find_package(hwy CONFIG QUIET)
    set(${out_found} ${hwy_FOUND} PARENT_SCOPE)
    set(${out_version} "${hwy_VERSION}" PARENT_SCOPE)
    set(lacks_neon FALSE)
    if(hwy_FOUND AND CMAKE_SIZEOF_VOID_P EQUAL 4)
        tengine_lacks_neon(lacks_neon)
    endif()
    if(lacks_neon)
        set(${out_found} FALSE PARENT_SCOPE)
        set(options "-mfpu=neon-vfpv4 -mfp16-format=ieee")
        set(reason "the compiler's options have no NEON, for ${arg_FOR}: add ${options}"
            PARENT_SCOPE)
    endif()
    # Kernels are written for x86 up to AVX3 and detect further features of the processor
    # themselves. Better targets have lower bits. One of them is AVX3_DL, for which TruncateTo() of
    # Highway 1.0.3 converts words to wrong bytes; the compiler's options for a recent processor
    # choose it. Kernels use no AES instructions: a processor name without them, such as x86-64-v3,
    # still has all the others.
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
        target_compile_definitions(${target} INTERFACE
            "HWY_DISABLED_TARGETS=(HWY_AVX3-1)" HWY_DISABLE_PCLMUL_AES)
    endif()
    if((TENGINE_MINIMAL OR TENGINE_NATIVE_OPTION) AND hwy_FOUND)
        # Highway's library chooses the instruction set at run time. Without it kernels are compiled
        # for the one that the compiler's options name.
        target_compile_definitions(${target} INTERFACE HWY_COMPILE_ONLY_STATIC)
        target_include_directories(${target} SYSTEM INTERFACE
            $<TARGET_PROPERTY:hwy::hwy,INTERFACE_INCLUDE_DIRECTORIES>)
        # Highway's checks end in its library; clang's address sanitizer and debug builds enable
        # them.
        if(TENGINE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
            target_link_libraries(${target} INTERFACE hwy::hwy)
        else()
            set(arg_LINK_NAME "" PARENT_SCOPE)
        endif()
    else()
        target_link_libraries(${target} INTERFACE hwy::hwy)
    endif()
endfunction()

# The lite runtime suffices; the compiler is needed at build time.
function(tengine_wrap_protobuf target out_found out_version)
    find_package(Protobuf QUIET)
    set(${out_version} "${Protobuf_VERSION}" PARENT_SCOPE)
    set(${out_found} FALSE PARENT_SCOPE)
    if(TARGET protobuf::libprotobuf-lite AND TARGET protobuf::protoc)
        set(${out_found} TRUE PARENT_SCOPE)
    endif()
    target_link_libraries(${target} INTERFACE protobuf::libprotobuf-lite)
endfunction()

# The headers suffice; the compiler is needed at build time. The package's own CMake files name a
# library, which is not used.
function(tengine_wrap_flatbuffers target out_found out_version)
    find_path(TENGINE_FLATBUFFERS_INCLUDE_DIR flatbuffers/flatbuffers.h)
    find_program(TENGINE_FLATC flatc)
    mark_as_advanced(TENGINE_FLATBUFFERS_INCLUDE_DIR TENGINE_FLATC)
    set(${out_found} FALSE PARENT_SCOPE)
    if(TENGINE_FLATBUFFERS_INCLUDE_DIR AND TENGINE_FLATC)
        file(STRINGS ${TENGINE_FLATBUFFERS_INCLUDE_DIR}/flatbuffers/base.h lines
             REGEX "define FLATBUFFERS_VERSION_(MAJOR|MINOR|REVISION)")
        string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
        list(JOIN numbers "." version)
        set(${out_version} "${version}" PARENT_SCOPE)
        set(${out_found} TRUE PARENT_SCOPE)
        target_include_directories(${target} SYSTEM INTERFACE ${TENGINE_FLATBUFFERS_INCLUDE_DIR})
    endif()
endfunction()

function(tengine_wrap_cli11 target out_found out_version)
    find_package(CLI11 CONFIG QUIET)
    set(${out_found} ${CLI11_FOUND} PARENT_SCOPE)
    set(${out_version} "${CLI11_VERSION}" PARENT_SCOPE)
    target_link_libraries(${target} INTERFACE CLI11::CLI11)
endfunction()

function(tengine_wrap_json target out_found out_version)
    find_package(nlohmann_json CONFIG QUIET)
    set(${out_found} ${nlohmann_json_FOUND} PARENT_SCOPE)
    set(${out_version} "${nlohmann_json_VERSION}" PARENT_SCOPE)
    target_link_libraries(${target} INTERFACE nlohmann_json::nlohmann_json)
endfunction()

# stb has headers only, and no version of its own.
function(tengine_wrap_stb target out_found out_version)
    # The search is not for stb_image.h: Debian's libarm-compute-dev contains an old copy of that
    # header alone, in a folder that is found first.
    find_path(TENGINE_STB_INCLUDE_DIR stb_image_write.h PATH_SUFFIXES stb)
    mark_as_advanced(TENGINE_STB_INCLUDE_DIR)
    set(${out_version} "without version" PARENT_SCOPE)
    set(${out_found} FALSE PARENT_SCOPE)
    if(TENGINE_STB_INCLUDE_DIR)
        set(${out_found} TRUE PARENT_SCOPE)
        target_include_directories(${target} SYSTEM INTERFACE ${TENGINE_STB_INCLUDE_DIR})
    endif()
endfunction()

function(tengine_wrap_gtest target out_found out_version)
    find_package(GTest CONFIG QUIET)
    set(${out_found} ${GTest_FOUND} PARENT_SCOPE)
    set(${out_version} "${GTest_VERSION}" PARENT_SCOPE)
    target_link_libraries(${target} INTERFACE GTest::gmock GTest::gtest_main)
    # TYPED_TEST_SUITE of two arguments is an extension before C++20.
    target_compile_options(${target} INTERFACE
        $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-gnu-zero-variadic-macro-arguments>)
endfunction()

function(tengine_wrap_benchmark target out_found out_version)
    find_package(benchmark CONFIG QUIET)
    set(${out_found} ${benchmark_FOUND} PARENT_SCOPE)
    set(${out_version} "${benchmark_VERSION}" PARENT_SCOPE)
    target_link_libraries(${target} INTERFACE benchmark::benchmark_main)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# The library: each room below source/ is an object library, as is each part (parts.cmake). All of
# them are linked to `tengine`, and, as a static library with everything visible, to
# `tengine_internal` for the tests and the programs of parts.

# tengine_add_rooms(<folder>…): every *.c and *.cc below source/<folder>; a room may be empty.
function(tengine_add_rooms)
    foreach(room IN LISTS ARGN)
        set(folder ${PROJECT_SOURCE_DIR}/source/${room})
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cc)
        tengine_drop_sources(sources)
        tengine_drop_operators(sources)
        if(sources)
            tengine_add_room(${room} ${sources})
        endif()
    endforeach()
    tengine_generate_operator_tables()
    string(TOUPPER ${TENGINE_DEFAULT_DEVICE} name)
    tengine_write_registry(default_device.c "#include \"graph/core.h\"

const char ir_default_device_name[] = \"${name}\";
")
    set(generated ${PROJECT_BINARY_DIR}/generated/registry)
    tengine_add_room(registry ${generated}/default_device.c ${generated}/devices.c ${generated}/serializers.c
                     ${generated}/operators.c ${generated}/left_out.c
                     ${generated}/left_out_names.c)
endfunction()

# Drops the sources of disabled features from a list, or their replacements.
macro(tengine_drop_sources sources)
    if(TENGINE_WITH_PRECISIONS STREQUAL "OFF")
        list(FILTER ${sources} EXCLUDE REGEX "/optimizer/precision/")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/optimizer/precision_absent[.]cc$")
    endif()
    if(TENGINE_WITH_PART_CACHE STREQUAL "OFF")
        list(FILTER ${sources} EXCLUDE REGEX "/scheduler/(part_store|part_cache|fingerprint)[.]c$")
        list(FILTER ${sources} EXCLUDE REGEX "/tmfile/(compiled_parts|prepared|variants)[.]cc$|/optimizer/graph/prepared[.]cc$")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/(part_store|compiled_parts|prepared)_absent[.]cc?$")
    endif()
    if(TENGINE_HAVE_STB)
        list(FILTER ${sources} EXCLUDE REGEX "/image/decode_absent[.]c$")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/image/(decode|file_header)[.]c$")
    endif()
    if(TENGINE_HAVE_JSON)
        list(FILTER ${sources} EXCLUDE REGEX "/image/settings_json_absent[.]c$")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/image/settings_json[.]cc$")
    endif()
    if(TENGINE_WITH_CALIBRATION STREQUAL "OFF")
        list(FILTER ${sources} EXCLUDE REGEX "/source/calibration/")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/api/calibration_absent[.]c$")
    endif()
    if(TENGINE_RUNTIME_ONLY)
        list(FILTER ${sources} EXCLUDE REGEX
             "/optimizer/(dialect|pass|precision|recognise|split)/|/optimizer/pipeline[.]cc$")
        list(FILTER ${sources} EXCLUDE REGEX
             "/optimizer/graph/(execution_graph|instance|rewriter|shared_constant)[.]cc$")
        list(FILTER ${sources} EXCLUDE REGEX "/optimizer/placement/(candidates|source_nodes|variant)[.]cc$")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/optimizer/runtime_only[.]cc$")
    endif()
    if(TENGINE_MINIMAL)
        list(FILTER ${sources} EXCLUDE REGEX "/api/(plugin(_path)?|string)[.]c$")
        list(FILTER ${sources} EXCLUDE REGEX "/graph/string_pool[.]c$|/scheduler/value_shape[.]c$")
        list(FILTER ${sources} EXCLUDE REGEX "/optimizer/pass/unknown_shape[.]cc$")
        list(FILTER ${sources} EXCLUDE REGEX "/base/(dynamic_library|elf_file)[.]c$|/base/foreign_call[.]cc$")
        list(FILTER ${sources} EXCLUDE REGEX "/source/adapter/")
    else()
        list(FILTER ${sources} EXCLUDE REGEX "/api/(plugin|string)_absent[.]c$")
        list(FILTER ${sources} EXCLUDE REGEX "/scheduler/value_shape_absent[.]c$")
    endif()
    if(NOT TENGINE_MUSL)
        list(FILTER ${sources} EXCLUDE REGEX "/base/musl[.]c$")
    endif()
    if(NOT TENGINE_SHRINKS_RUNTIME)
        list(FILTER ${sources} EXCLUDE REGEX "/base/terminate[.]c$")
    endif()
endmacro()

function(tengine_add_room room)
    add_library(tengine_${room} OBJECT ${ARGN})
    tengine_join_library(tengine_${room})
    tengine_precompile_headers(tengine_${room})
    target_include_directories(tengine_${room} PRIVATE ${PROJECT_SOURCE_DIR}/source)
    tengine_join_sources(library tengine_${room})
endfunction()

# The libraries of the room image, which are headers alone.
function(tengine_join_image_libraries)
    if(TENGINE_HAVE_STB)
        target_link_libraries(tengine_image PRIVATE tengine::stb)
        # It declares functions that it does not define. After a marker within coded data, stb 2.27
        # shifts a zero by more than 31 bits; if the first piece of a PNG's data is empty, it copies 0
        # bytes to a null pointer, plus 0.
        set_source_files_properties(${PROJECT_SOURCE_DIR}/source/image/decode.c PROPERTIES
            COMPILE_OPTIONS
            "-Wno-unused-function;-fno-sanitize=shift,nonnull-attribute,pointer-overflow")
    endif()
    if(TENGINE_HAVE_JSON)
        target_link_libraries(tengine_image PRIVATE tengine::json)
    endif()
endfunction()

# Every object library of the library has these: the project's compile settings and the public
# headers.
function(tengine_join_library target)
    tengine_set_language_options(${target})
    tengine_shrink_objects(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
                               ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(${target} PRIVATE Threads::Threads)
    set_property(GLOBAL APPEND PROPERTY TENGINE_OBJECTS ${target})
endfunction()

# tengine_link_library([LIBRARIES …] [OPTIONS …] [DIRECTORIES …]): the libraries and options of the
# finished library. OBJECT libraries among them are merged instead.
function(tengine_link_library)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LIBRARIES;OPTIONS;DIRECTORIES")
    foreach(library IN LISTS arg_LIBRARIES)
        set(type "")
        if(TARGET ${library})
            get_target_property(type ${library} TYPE)
        endif()
        if(type STREQUAL "OBJECT_LIBRARY")
            set_property(GLOBAL APPEND PROPERTY TENGINE_OBJECTS ${library})
        else()
            set_property(GLOBAL APPEND PROPERTY TENGINE_LIBRARIES ${library})
        endif()
    endforeach()
    set_property(GLOBAL APPEND PROPERTY TENGINE_LINK_OPTIONS ${arg_OPTIONS})
    set_property(GLOBAL APPEND PROPERTY TENGINE_LINK_DIRECTORIES ${arg_DIRECTORIES})
endfunction()

function(tengine_add_library)
    # A C program that links the static library does not know the C++ runtime.
    tengine_name_runtime(runtime)
    set(loader ${CMAKE_DL_LIBS})
    if(TENGINE_MINIMAL)
        set(loader "")
    endif()
    tengine_link_library(LIBRARIES Threads::Threads ${runtime} m ${loader})
    add_library(tengine)
    add_library(Tengine::tengine ALIAS tengine)
    # The names that projects written for Tengine Lite link; cmake/TengineConfig.cmake.in has them too.
    foreach(name IN ITEMS tengine-lite tengine-lite-static)
        add_library(${name} ALIAS tengine)
    endforeach()
    tengine_assemble(tengine)
    tengine_shrink_programs(tengine)
    set_target_properties(tengine PROPERTIES VERSION ${PROJECT_VERSION}
                          SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME tengine)
    if(NOT TENGINE_SANITIZE AND NOT APPLE)
        # Sanitizer runtimes resolve at load time; everything else must be resolved here.
        target_link_options(tengine PRIVATE LINKER:--gc-sections LINKER:--no-undefined)
        tengine_restrict_exports(tengine)
    endif()
    get_property(needed GLOBAL PROPERTY TENGINE_NEEDS_INTERNAL)
    if(needed OR TENGINE_BUILD_TESTS)
        add_library(tengine_internal STATIC)
        tengine_assemble(tengine_internal)
        target_include_directories(tengine_internal INTERFACE ${PROJECT_SOURCE_DIR}/source)
        # Programs that link the archive link the libraries that its parts need.
        get_property(options GLOBAL PROPERTY TENGINE_LINK_OPTIONS)
        get_property(directories GLOBAL PROPERTY TENGINE_LINK_DIRECTORIES)
        target_link_options(tengine_internal INTERFACE ${options})
        target_link_directories(tengine_internal INTERFACE ${directories})
    endif()
endfunction()

# tengine_add_common(<source>…): files below source/ that programs on the public headers also
# compile, as the static library tengine_common. tests/rules lists the headers that they may
# include.
function(tengine_add_common)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/source/)
    add_library(tengine_common STATIC EXCLUDE_FROM_ALL ${ARGN})
    tengine_set_language_options(tengine_common)
    target_include_directories(tengine_common PUBLIC ${PROJECT_SOURCE_DIR}/source
                               ${PROJECT_SOURCE_DIR}/include)
endfunction()

# Names that static libraries define, such as a BLAS, are hidden as well.
function(tengine_restrict_exports target)
    set(script ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${script} LINKER:--exclude-libs,ALL)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# Objects, libraries and link settings collected so far make <target>.
function(tengine_assemble target)
    get_property(objects GLOBAL PROPERTY TENGINE_OBJECTS)
    get_property(libraries GLOBAL PROPERTY TENGINE_LIBRARIES)
    get_property(options GLOBAL PROPERTY TENGINE_LINK_OPTIONS)
    get_property(directories GLOBAL PROPERTY TENGINE_LINK_DIRECTORIES)
    list(REMOVE_DUPLICATES libraries)
    foreach(object IN LISTS objects)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
    endforeach()
    foreach(library IN LISTS libraries)
        tengine_link_item(item ${library})
        target_link_libraries(${target} PRIVATE ${item})
    endforeach()
    target_link_options(${target} PRIVATE ${options})
    target_link_directories(${target} PRIVATE ${directories})
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/tengine/compat>
        $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tengine/compat>)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# A dependency of dependencies.cmake is a target of the project in the build tree and a plain name
# once installed, or nothing if it has headers only.
function(tengine_link_item out_item library)
    set(${out_item} ${library} PARENT_SCOPE)
    if(TARGET ${library})
        get_target_property(name ${library} TENGINE_LINK_NAME)
        if(name)
            set(${out_item} $<BUILD_INTERFACE:${library}> $<INSTALL_INTERFACE:${name}>
                PARENT_SCOPE)
        elseif(library MATCHES "^tengine::")
            set(${out_item} $<BUILD_INTERFACE:${library}> PARENT_SCOPE)
        endif()
    endif()
endfunction()

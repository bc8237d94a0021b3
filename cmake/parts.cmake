# SPDX-License-Identifier: Apache-2.0
# Parts: the folders below source/device and source/serializer. A part <name> is a folder with a
# CMakeLists.txt and <name>_<kind>.{c,cc,cpp}, which defines register_<name>_<kind>() and
# unregister_<name>_<kind>(). Its CMakeLists.txt sets the variables
#     TENGINE_<NAME>_HEADER_PATH        include directories
#     TENGINE_<NAME>_LINK_PATH          library directories
#     TENGINE_<NAME>_<KIND>_SOURCE      sources; the default is *.{c,cc,cpp} of the folder
#     TENGINE_<NAME>_COMPILER_DEFINES   TENGINE_<NAME>_COMPILER_OPTIONS
#     TENGINE_<NAME>_LINKER_OPTIONS     TENGINE_<NAME>_LINK_LIBRARIES
# itself, plain or in the cache, or with one call of tengine_add_device()/tengine_add_serializer().
# docs/add-a-device.md is the guide.

# tengine_add_device(<name> SOURCES … [INCLUDE_DIRECTORIES …] [LINK_DIRECTORIES …] [DEFINITIONS …]
#                    [COMPILE_OPTIONS …] [LINK_OPTIONS …] [LINK_LIBRARIES …])
# LINK_LIBRARIES may name OBJECT libraries of the folder; they become part of the library.
macro(tengine_add_device name)
    tengine_set_part_variables(${name} DEVICE ${ARGN})
endmacro()

# tengine_add_plugin(<name> [VERSION …] SOURCES … …): the same for a folder that can also be built
# alone, as a plug-in (TenginePlugin.cmake, which is installed, has the other half).
macro(tengine_add_plugin name)
    cmake_parse_arguments(plugin "" "VERSION" "" ${ARGN})
    tengine_set_part_variables(${name} DEVICE ${plugin_UNPARSED_ARGUMENTS})
endmacro()

macro(tengine_add_serializer name)
    tengine_set_part_variables(${name} SERIALIZER ${ARGN})
endmacro()

# tengine_skip_part(<reason>): a dependency of the part is missing. The caller returns afterwards.
function(tengine_skip_part reason)
    set(TENGINE_PART_SKIPPED "${reason}" PARENT_SCOPE)
endfunction()

# tengine_add_part_program(<program> SOURCES … [LINK_LIBRARIES …]): a command line program of the
# part, which sees internals of the part and the library, as tests do. It is installed. The part
# checks TENGINE_BUILD_TOOLS before.
function(tengine_add_part_program program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK_LIBRARIES")
    string(MAKE_C_IDENTIFIER ${program}_program target)
    add_executable(${target} ${arg_SOURCES})
    tengine_set_language_options(${target})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${program})
    # tengine_internal is made after all parts are known.
    target_link_libraries(${target} PRIVATE tengine_internal ${arg_LINK_LIBRARIES})
    set_property(GLOBAL PROPERTY TENGINE_NEEDS_INTERNAL ON)
    tengine_let_tests_start(${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    tengine_note(programs ${program} "on")
endfunction()

# tengine_add_part_plugin(<plugin> SOURCES …): a plug-in of the part, which contains the internals
# of the part and the library, and works with the library of this build only: plugins/<plugin>.so.
function(tengine_add_part_plugin plugin)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
    if(NOT BUILD_SHARED_LIBS OR NOT TENGINE_BUILD_TOOLS OR TENGINE_SANITIZE)
        tengine_note(programs ${plugin} "off: it needs the shared library, and programs")
        return()
    endif()
    add_library(${plugin} MODULE ${arg_SOURCES})
    tengine_set_language_options(${plugin})
    set_target_properties(${plugin} PROPERTIES PREFIX "" SUFFIX .so
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
    tengine_find_libraries_at(${plugin} "$ORIGIN/..")
    # Functions with TENGINE_API from the archive are exported, so that those of the library, which
    # the process has loaded before, are called in their place.
    target_link_libraries(${plugin} PRIVATE tengine tengine_internal ${CMAKE_DL_LIBS})
    set_property(GLOBAL PROPERTY TENGINE_NEEDS_INTERNAL ON)
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tengine)
    tengine_note(programs ${plugin} "on")
endfunction()

function(tengine_set_part_variables name kind)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" ""
        "SOURCES;INCLUDE_DIRECTORIES;LINK_DIRECTORIES;DEFINITIONS;COMPILE_OPTIONS;LINK_OPTIONS;LINK_LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "part '${name}': unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    tengine_part_prefix(prefix ${name})
    # Quoted: an empty value must hide one that an earlier run left in the cache.
    set(${prefix}_${kind}_SOURCE "${arg_SOURCES}" PARENT_SCOPE)
    set(${prefix}_HEADER_PATH "${arg_INCLUDE_DIRECTORIES}" PARENT_SCOPE)
    set(${prefix}_LINK_PATH "${arg_LINK_DIRECTORIES}" PARENT_SCOPE)
    set(${prefix}_COMPILER_DEFINES "${arg_DEFINITIONS}" PARENT_SCOPE)
    set(${prefix}_COMPILER_OPTIONS "${arg_COMPILE_OPTIONS}" PARENT_SCOPE)
    set(${prefix}_LINKER_OPTIONS "${arg_LINK_OPTIONS}" PARENT_SCOPE)
    set(${prefix}_LINK_LIBRARIES "${arg_LINK_LIBRARIES}" PARENT_SCOPE)
endfunction()

# TENGINE_<NAME>: the folder's name, dashes as underscores, in capitals.
function(tengine_part_prefix out_prefix name)
    string(MAKE_C_IDENTIFIER ${name} id)
    string(TOUPPER ${id} id)
    set(${out_prefix} TENGINE_${id} PARENT_SCOPE)
endfunction()

# tengine_add_parts(<kind> <folder> [<external part>…]) builds every part below <folder> and the
# external ones, and generates their registrations; the default device comes last.
function(tengine_add_parts kind folder)
    include(TengineCompiler)
    file(GLOB lists CONFIGURE_DEPENDS ${folder}/*/CMakeLists.txt)
    set(directories "")
    foreach(file IN LISTS lists ARGN)
        get_filename_component(directory ${file} ABSOLUTE)
        string(REGEX REPLACE "/CMakeLists.txt$" "" directory ${directory})
        list(APPEND directories ${directory})
    endforeach()
    set(ids "")
    foreach(directory IN LISTS directories)
        tengine_add_part(${kind} ${directory} id)
        list(APPEND ids ${id})
    endforeach()
    list(SORT ids)
    if(TENGINE_DEFAULT_DEVICE IN_LIST ids)
        list(REMOVE_ITEM ids ${TENGINE_DEFAULT_DEVICE})
        list(APPEND ids ${TENGINE_DEFAULT_DEVICE})
    endif()
    tengine_generate_registrations(${kind} ${ids})
endfunction()

# Builds one part unless it is switched off; <out_id> is then its identifier, otherwise empty.
function(tengine_add_part kind directory out_id)
    set(${out_id} "" PARENT_SCOPE)
    get_filename_component(name ${directory} NAME)
    string(MAKE_C_IDENTIFIER ${name} id)
    tengine_claim_part_name(${id} ${directory})
    string(TOUPPER TENGINE_ENABLE_${id} switch)
    set(default AUTO)
    if(name STREQUAL TENGINE_DEFAULT_DEVICE)
        set(default ON)
    endif()
    tengine_switch(${switch} ${default} "Build the ${kind} '${name}'")
    if(${switch} STREQUAL "OFF")
        if(name STREQUAL TENGINE_DEFAULT_DEVICE)
            message(FATAL_ERROR "${switch} is OFF, but every build needs the ${kind} '${name}': it runs "
                                "what no other device takes")
        endif()
        tengine_note(${kind}s ${switch} "off: switched off")
        return()
    endif()
    if(name STREQUAL TENGINE_TEMPLATE_DEVICE AND NOT ${switch} STREQUAL "ON")
        tengine_note(${kind}s ${switch} "off: it takes nothing, it is what one copies")
        return()
    endif()
    if(NOT EXISTS ${directory}/CMakeLists.txt)
        message(FATAL_ERROR "${kind} '${name}': ${directory} has no CMakeLists.txt")
    endif()
    add_subdirectory(${directory} ${PROJECT_BINARY_DIR}/${kind}/${name})
    get_directory_property(skipped DIRECTORY ${directory} DEFINITION TENGINE_PART_SKIPPED)
    if(skipped)
        tengine_switched_off(${kind}s ${switch} ${${switch}} "${skipped}")
        return()
    endif()
    tengine_build_part(${kind} ${name} ${directory})
    tengine_note(${kind}s ${switch} "on")
    set_property(GLOBAL APPEND PROPERTY TENGINE_BUILT_PARTS ${id})
    set(${out_id} ${id} PARENT_SCOPE)
endfunction()

# Devices and serializers share the option names, so that a name may be used once.
function(tengine_claim_part_name id directory)
    get_property(owner GLOBAL PROPERTY TENGINE_PART_${id})
    if(owner)
        message(FATAL_ERROR "the name '${id}' is used twice: ${owner} and ${directory}")
    endif()
    set_property(GLOBAL PROPERTY TENGINE_PART_${id} ${directory})
endfunction()

# Sets the part's variables, as its CMakeLists.txt left them, in the caller: SOURCE, HEADER_PATH, …
function(tengine_read_part_variables kind name directory)
    tengine_part_prefix(prefix ${name})
    string(TOUPPER ${kind} kind_upper)
    foreach(field IN ITEMS HEADER_PATH LINK_PATH COMPILER_DEFINES COMPILER_OPTIONS LINKER_OPTIONS
                           LINK_LIBRARIES)
        get_directory_property(value DIRECTORY ${directory} DEFINITION ${prefix}_${field})
        set(${field} "${value}" PARENT_SCOPE)
    endforeach()
    get_directory_property(source DIRECTORY ${directory} DEFINITION ${prefix}_${kind_upper}_SOURCE)
    if(NOT source)
        file(GLOB source CONFIGURE_DEPENDS ${directory}/*.c ${directory}/*.cc ${directory}/*.cpp)
        tengine_drop_sources(source)
    endif()
    set(SOURCE "${source}" PARENT_SCOPE)
endfunction()

# A part is an object library, as a room is.
function(tengine_build_part kind name directory)
    string(MAKE_C_IDENTIFIER ${name} id)
    file(GLOB entry ${directory}/${id}_${kind}.c ${directory}/${id}_${kind}.cc
         ${directory}/${id}_${kind}.cpp)
    if(NOT entry)
        message(FATAL_ERROR "${kind} '${name}': ${directory} has no ${id}_${kind}.{c,cc,cpp}")
    endif()
    tengine_read_part_variables(${kind} ${name} ${directory})
    tengine_absolute_paths(SOURCE ${directory} ${SOURCE})
    tengine_absolute_paths(HEADER_PATH ${directory} ${HEADER_PATH})
    tengine_absolute_paths(LINK_PATH ${directory} ${LINK_PATH})
    set(target tengine_${kind}_${id})
    add_library(${target} OBJECT ${SOURCE})
    tengine_join_library(${target})
    # External parts see the public headers only.
    set(tree ${PROJECT_SOURCE_DIR}/source)
    cmake_path(IS_PREFIX tree ${directory} in_tree)
    if(in_tree)
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/source)
        tengine_precompile_headers(${target})
    endif()
    target_include_directories(${target} PRIVATE ${HEADER_PATH})
    # The directories that device folders of Tengine Lite include come last.
    file(STRINGS ${entry} original_header REGEX "\"device/device[.]h\"")
    if(original_header OR NOT in_tree)
        set(compat ${PROJECT_SOURCE_DIR}/include/tengine/compat)
        target_include_directories(${target} PRIVATE ${compat} ${compat}/inside)
    endif()
    # Tables are filled by designated initialisers, also in C++, without members that were added to
    # their end. In the tree they are in the file that registers the part.
    set(table_options -Wno-missing-field-initializers
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-c++20-extensions>)
    if(in_tree)
        set_property(SOURCE ${entry} APPEND PROPERTY COMPILE_OPTIONS ${table_options})
    else()
        target_compile_options(${target} PRIVATE ${table_options})
    endif()
    target_compile_definitions(${target} PRIVATE ${COMPILER_DEFINES})
    target_compile_options(${target} PRIVATE ${COMPILER_OPTIONS})
    target_link_libraries(${target} PRIVATE ${LINK_LIBRARIES})
    tengine_link_library(LIBRARIES ${LINK_LIBRARIES} OPTIONS ${LINKER_OPTIONS}
                         DIRECTORIES ${LINK_PATH})
    if(in_tree)
        tengine_join_sources(library ${target})
    endif()
endfunction()

function(tengine_absolute_paths out_paths directory)
    set(paths "")
    foreach(path IN LISTS ARGN)
        get_filename_component(path ${path} ABSOLUTE BASE_DIR ${directory})
        list(APPEND paths ${path})
    endforeach()
    set(${out_paths} ${paths} PARENT_SCOPE)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Optional dependencies. Each has a switch TENGINE_WITH_<NAME> and sets TENGINE_HAVE_<NAME>; the
# summary at the end of configure lists them with version or reason.
include(packages)

# tengine_find_package(<NAME> <package> FOR <purpose> HINT <debian packages> [LINK_NAME <library>]
#                      [DEFAULT <AUTO, ON or OFF>])
# makes the target tengine::<name>. LINK_NAME is the name in installed package files, where the
# target does not exist. The default is AUTO.
function(tengine_find_package name package)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "FOR;HINT;LINK_NAME;DEFAULT" "")
    set(found FALSE)
    set(reason "")
    if(NOT DEFINED arg_DEFAULT)  # OFF counts as defined
        set(arg_DEFAULT AUTO)
    endif()
    tengine_switch(TENGINE_WITH_${name} ${arg_DEFAULT} "${package}, for ${arg_FOR}")
    if(NOT TENGINE_WITH_${name} STREQUAL "OFF")
        string(TOLOWER ${name} target)
        add_library(tengine_${target} INTERFACE IMPORTED GLOBAL)
        cmake_language(CALL tengine_wrap_${target} tengine_${target} found version)
    endif()
    if(found)
        add_library(tengine::${target} ALIAS tengine_${target})
        set_target_properties(tengine_${target} PROPERTIES TENGINE_LINK_NAME "${arg_LINK_NAME}")
    endif()
    tengine_conclude_search(${name} "${found}" "${version}" "${package}" "${arg_FOR}" "${arg_HINT}"
                            "${reason}")
    set(TENGINE_HAVE_${name} ${found} PARENT_SCOPE)
endfunction()

# tengine_find_directory(<NAME> <file> [IN <directory>] FOR <purpose> HINT <debian package>)
# finds the directory that holds <file>, a relative path: TENGINE_<NAME>_DIR.
function(tengine_find_directory name file)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "FOR;HINT;IN" "")
    set(found FALSE)
    tengine_switch(TENGINE_WITH_${name} AUTO "${file}, for ${arg_FOR}")
    if(NOT TENGINE_WITH_${name} STREQUAL "OFF")
        # The file is data, the same for every processor: a cross build takes the host's.
        find_path(TENGINE_${name}_DIR ${file} PATHS ${arg_IN} CMAKE_FIND_ROOT_PATH_BOTH)
        mark_as_advanced(TENGINE_${name}_DIR)
        if(TENGINE_${name}_DIR)
            set(found TRUE)
        endif()
    endif()
    tengine_conclude_search(${name} "${found}" "in ${TENGINE_${name}_DIR}" "${file}" "${arg_FOR}"
                            "${arg_HINT}" "")
    set(TENGINE_HAVE_${name} ${found} PARENT_SCOPE)
endfunction()

# tengine_find_ort_headers() makes tengine::ort_headers, the C interface of ONNX Runtime: from the
# folder TENGINE_ORT_HEADERS, or the part of it in 3rdparty.
function(tengine_find_ort_headers)
    set(TENGINE_ORT_HEADERS "" CACHE PATH
        "Folder of onnxruntime_c_api.h, 1.24 or newer (default: the part of it in 3rdparty)")
    set(folder ${PROJECT_SOURCE_DIR}/3rdparty)
    if(TENGINE_ORT_HEADERS)
        set(folder ${TENGINE_ORT_HEADERS})
    endif()
    set(version 0)
    if(EXISTS ${folder}/onnxruntime_c_api.h)
        file(STRINGS ${folder}/onnxruntime_c_api.h line REGEX "^#define ORT_API_VERSION ")
        string(REGEX REPLACE ".* " "" version "${line}")
    endif()
    if(version LESS 24)
        message(FATAL_ERROR "TENGINE_ORT_HEADERS is '${TENGINE_ORT_HEADERS}': expected a folder with "
                            "onnxruntime_c_api.h of ONNX Runtime 1.24 or newer")
    endif()
    add_library(tengine_ort_headers INTERFACE IMPORTED GLOBAL)
    add_library(tengine::ort_headers ALIAS tengine_ort_headers)
    target_include_directories(tengine_ort_headers INTERFACE ${folder})
    tengine_note(dependencies TENGINE_ORT_HEADERS "version ${version} in ${folder}")
endfunction()

# <reason>: why a package is not used although it was found; empty if it was not found.
function(tengine_conclude_search name found version what purpose hint reason)
    set(variable TENGINE_WITH_${name})
    if(found)
        tengine_note(dependencies ${variable} "${version}")
    elseif(${variable} STREQUAL "OFF")
        tengine_note(dependencies ${variable} "off: switched off, for ${purpose}")
    else()
        if(NOT reason)
            set(reason "${what} not found, for ${purpose} (Debian: ${hint})")
        endif()
        tengine_switched_off(dependencies ${variable} ${${variable}} "${reason}")
    endif()
endfunction()

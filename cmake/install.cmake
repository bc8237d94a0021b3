# SPDX-License-Identifier: Apache-2.0
# Installation: headers, library, the CMake package Tengine, tengine.pc, licence and docs.
include(CMakePackageConfigHelpers)

function(tengine_install_library)
    set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tengine)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tengine ${PROJECT_BINARY_DIR}/generated/tengine
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h PATTERN *.hpp)
    install(TARGETS tengine EXPORT TengineTargets)
    # The libraries that it needs may be copied into its folder, on a board without the packages.
    tengine_find_libraries_at(tengine "$ORIGIN")
    install(EXPORT TengineTargets NAMESPACE Tengine:: DESTINATION ${package_dir})
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TengineConfig.cmake.in
        ${PROJECT_BINARY_DIR}/TengineConfig.cmake INSTALL_DESTINATION ${package_dir})
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/TengineConfigVersion.cmake
        COMPATIBILITY SameMajorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/TengineConfig.cmake
            ${PROJECT_BINARY_DIR}/TengineConfigVersion.cmake
            ${PROJECT_SOURCE_DIR}/cmake/TengineCompiler.cmake
            ${PROJECT_SOURCE_DIR}/cmake/TenginePlugin.cmake DESTINATION ${package_dir})
    # The folder that docs/add-a-device.md starts from.
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/source/device/skeleton
            DESTINATION ${CMAKE_INSTALL_DATADIR}/tengine)
    install(FILES ${PROJECT_SOURCE_DIR}/examples/data/digits.onnx
            DESTINATION ${CMAKE_INSTALL_DATADIR}/tengine)
    tengine_write_pkg_config()
    install(FILES ${PROJECT_BINARY_DIR}/tengine.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    set(pages README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md)
    list(TRANSFORM pages PREPEND ${PROJECT_SOURCE_DIR}/)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
            FILES_MATCHING PATTERN *.md PATTERN *.svg)
endfunction()

# tengine_find_libraries_at(<target> <folder>…): sets the folders in which an installed target looks
# for libraries, there and in the build. If these differ, CMake ends the build's list with an empty
# folder, which means the current one, of any owner.
function(tengine_find_libraries_at target)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${ARGN}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# A static library alone cannot be linked, so that Libs includes its private libraries.
function(tengine_write_pkg_config)
    get_property(libraries GLOBAL PROPERTY TENGINE_LIBRARIES)
    get_property(directories GLOBAL PROPERTY TENGINE_LINK_DIRECTORIES)
    list(REMOVE_DUPLICATES libraries)
    set(flags ${directories})
    list(TRANSFORM flags PREPEND -L)
    if(TENGINE_MINIMAL)
        get_target_property(options tengine INTERFACE_LINK_OPTIONS)
        list(TRANSFORM options REPLACE "^LINKER:" "-Wl,")
        list(APPEND flags ${options})
    endif()
    foreach(library IN LISTS libraries)
        tengine_pkg_config_flag(flag ${library})
        list(APPEND flags ${flag})
    endforeach()
    list(JOIN flags " " flags)
    # The path is relative, so that the installation may be moved.
    file(RELATIVE_PATH PKG_CONFIG_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
         ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" PKG_CONFIG_PREFIX ${PKG_CONFIG_PREFIX})
    set(PKG_CONFIG_PUBLIC "")
    set(PKG_CONFIG_PRIVATE "${flags}")
    if(NOT BUILD_SHARED_LIBS)
        set(PKG_CONFIG_PUBLIC " ${flags}")
        set(PKG_CONFIG_PRIVATE "")
    endif()
    configure_file(${PROJECT_SOURCE_DIR}/cmake/tengine.pc.in ${PROJECT_BINARY_DIR}/tengine.pc @ONLY)
endfunction()

function(tengine_pkg_config_flag out_flag library)
    set(flag -l${library})
    if(library STREQUAL "Threads::Threads")
        set(flag -pthread)
    elseif(TARGET ${library})
        get_target_property(name ${library} TENGINE_LINK_NAME)
        set(flag "")
        if(name)
            set(flag -l${name})
        endif()
    elseif(library MATCHES "^(-|/)")
        set(flag ${library})
    endif()
    set(${out_flag} ${flag} PARENT_SCOPE)
endfunction()

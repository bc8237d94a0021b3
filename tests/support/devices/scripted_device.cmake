# SPDX-License-Identifier: Apache-2.0
# The sources that the devices a and b share, built once for either or both of them.
if(NOT TARGET scripted_device)
    add_library(scripted_device OBJECT ${CMAKE_CURRENT_LIST_DIR}/script.c
                ${CMAKE_CURRENT_LIST_DIR}/scripted_device.c)
    tengine_set_language_options(scripted_device)
    target_include_directories(scripted_device PRIVATE ${PROJECT_SOURCE_DIR}/include)
endif()

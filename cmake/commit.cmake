# SPDX-License-Identifier: Apache-2.0
# The commit of the sources.

# tengine_write_commit_header(<file>): TENGINE_COMMIT, the commit's first twelve digits, or "" if
# the tree is not a git checkout of its own. Configure runs again after each commit; the header, and
# so each source that includes it, changes only with the commit.
function(tengine_write_commit_header file)
    set(commit "")
    if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
        execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD
                        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                     ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
    endif()
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "// SPDX-License-Identifier: Apache-2.0
// Written by cmake/commit.cmake.
#pragma once

#define TENGINE_COMMIT \"@commit@\"
")
endfunction()

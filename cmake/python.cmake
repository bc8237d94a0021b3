# SPDX-License-Identifier: Apache-2.0
# The Python package: its installation, and the interpreter of its tests.

# Sets <out_program> to an interpreter that has the modules, the first of Python3_EXECUTABLE, python3
# on PATH, and the system's; empty without one.
function(tengine_find_python out_program)
    list(TRANSFORM ARGN PREPEND "import " OUTPUT_VARIABLE lines)
    list(JOIN lines "\n" program)
    set(${out_program} "" PARENT_SCOPE)
    find_program(TENGINE_PATH_PYTHON python3)
    mark_as_advanced(TENGINE_PATH_PYTHON)
    foreach(candidate IN ITEMS "${Python3_EXECUTABLE}" "${TENGINE_PATH_PYTHON}" /usr/bin/python3)
        if(candidate)
            execute_process(COMMAND ${candidate} -c "${program}" RESULT_VARIABLE status
                            OUTPUT_QUIET ERROR_QUIET)
            if(status EQUAL 0)
                set(${out_program} ${candidate} PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
endfunction()

# Installs the package to <prefix>/lib/python3/dist-packages, Debian's folder for all versions.
# TENGINE_PYTHON is then an interpreter that can import it, or empty, as in a cross build.
function(tengine_add_python)
    tengine_switch(TENGINE_BUILD_PYTHON AUTO "Install the Python package")
    set(python "")
    if(NOT CMAKE_CROSSCOMPILING)
        tengine_find_python(python numpy cffi)
    endif()
    set(TENGINE_PYTHON "${python}" PARENT_SCOPE)
    set(reason "")
    if(NOT BUILD_SHARED_LIBS)
        set(reason "it loads the shared library")
    elseif(TENGINE_BUILD_PYTHON STREQUAL "OFF")
        set(reason "switched off")
    elseif(TENGINE_BUILD_PYTHON STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL)
        set(reason "part of another project")
    elseif(TENGINE_BUILD_PYTHON STREQUAL "AUTO" AND CMAKE_CROSSCOMPILING)
        set(reason "a cross build, whose tests have no interpreter")
    elseif(TENGINE_BUILD_PYTHON STREQUAL "AUTO" AND NOT python)
        set(reason "no python3 with numpy and cffi (Debian: python3-numpy python3-cffi)")
    endif()
    if(reason)
        tengine_switched_off(programs TENGINE_BUILD_PYTHON ${TENGINE_BUILD_PYTHON} "${reason}")
        set(TENGINE_PYTHON "" PARENT_SCOPE)
        return()
    endif()
    tengine_note(programs TENGINE_BUILD_PYTHON "on")
    if(python)
        add_custom_target(python_wheel
            COMMAND ${python} ${PROJECT_SOURCE_DIR}/python/build_wheel.py $<TARGET_FILE:tengine>
                    ${PROJECT_BINARY_DIR}/python ${PROJECT_BINARY_DIR}
            DEPENDS tengine VERBATIM)
    endif()
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tengine DESTINATION lib/python3/dist-packages
            FILES_MATCHING PATTERN *.py PATTERN *.pyi PATTERN py.typed PATTERN __pycache__ EXCLUDE)
endfunction()

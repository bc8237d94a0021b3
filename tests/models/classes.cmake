# SPDX-License-Identifier: Apache-2.0
# Classifies the ten shipped pictures and checks that each is the digit its name says:
#     cmake -D CLASSIFY=<program> -D DATA=<folder> -P classes.cmake
file(GLOB pictures ${DATA}/digit_*.png)
list(LENGTH pictures number)
if(NOT number EQUAL 10)
    message(FATAL_ERROR "${DATA} holds ${number} pictures, expected are 10")
endif()
foreach(picture IN LISTS pictures)
    execute_process(COMMAND ${CLASSIFY} -m ${DATA}/digits.onnx -l ${DATA}/digits_labels.txt
                            ${picture}
                    OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
    string(REGEX REPLACE ".*/digit_([0-9])_.*" "\\1" digit ${picture})
    # The line after the heading has the most probable class.
    if(NOT status EQUAL 0 OR NOT output MATCHES "^[^\n]*\n[^\n]*% +${digit}\n")
        message(FATAL_ERROR "${picture}: status ${status}\n${output}${errors}")
    endif()
endforeach()

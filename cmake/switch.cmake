# SPDX-License-Identifier: Apache-2.0
# Three-valued switches: AUTO takes a feature if it is available, ON requires it, OFF leaves it out.

# tengine_switch(<variable> <default> <help>) declares the cache entry and checks its value.
# Afterwards <variable> is AUTO, ON or OFF, whichever spelling of true or false was given. A minimal
# build takes AUTO as OFF for everything that is not in its list.
function(tengine_switch variable default help)
    set(${variable} ${default} CACHE STRING "${help} (AUTO, ON or OFF)")
    set_property(CACHE ${variable} PROPERTY STRINGS AUTO ON OFF)
    string(TOUPPER "${${variable}}" value)
    if(value STREQUAL "AUTO")
        set(value AUTO)
        if(TENGINE_MINIMAL AND NOT variable IN_LIST TENGINE_MINIMAL_PARTS)
            set(value OFF)
        endif()
    elseif(value MATCHES "^(ON|TRUE|YES|Y|1)$")
        set(value ON)
    elseif(value MATCHES "^(OFF|FALSE|NO|N|0)$")
        set(value OFF)
    else()
        message(FATAL_ERROR "${variable} is '${${variable}}': expected AUTO, ON or OFF")
    endif()
    set(${variable} ${value} PARENT_SCOPE)
endfunction()

# tengine_note(<list> <name> <text>) remembers a line of the summary that ends the configure step.
function(tengine_note list name text)
    set_property(GLOBAL APPEND PROPERTY TENGINE_NOTES_${list} ${name})
    set_property(GLOBAL PROPERTY TENGINE_NOTE_${list}_${name} "${text}")
endfunction()

# tengine_switched_off(<list> <variable> <value> <reason>) notes why something is left out, and
# stops if the user required it.
function(tengine_switched_off list variable value reason)
    if(value STREQUAL "ON")
        message(FATAL_ERROR "${variable} is ON, but ${reason}")
    endif()
    tengine_note(${list} ${variable} "off: ${reason}")
endfunction()

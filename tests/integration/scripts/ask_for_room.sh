#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests that scripts/test --quick --room chooses, of a project with two entries for each of two rooms:
#     ask_for_room.sh <source tree> <work folder>
set -eu
source=$1
work=$2

fail() {
    echo "$*" >&2
    exit 1
}

rm -rf "$work"
mkdir -p "$work/scripts" "$work/tests/graph" "$work/tests/device/cpu"
cd "$work"
cp "$source/scripts/test" scripts
printf '#!/bin/sh\n' >scripts/install_dependencies
chmod +x scripts/install_dependencies
touch tests/graph/node_test.cc tests/device/cpu/plan_test.cc
cat >CMakePresets.json <<'END'
{"version": 4,
 "configurePresets": [{"name": "quick", "generator": "Ninja", "binaryDir": "${sourceDir}/build/quick"}],
 "buildPresets": [{"name": "quick", "configurePreset": "quick"}],
 "testPresets": [{"name": "quick", "configurePreset": "quick",
                  "execution": {"noTestsAction": "error"}}]}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.24)
project(rooms NONE)
enable_testing()
foreach(room graph device/cpu)
    string(REPLACE / _ name ${room})
    add_custom_target(${name}_test)
    foreach(share 0 1)
        add_test(NAME quick/${room}/share_${share} CONFIGURATIONS quick COMMAND true)
        set_tests_properties(quick/${room}/share_${share} PROPERTIES LABELS quick)
    endforeach()
endforeach()
END

# runs <room> <--room's argument>: expects the entries of that room alone.
runs() {
    # shellcheck disable=SC2065 # a program's name, which ends like that of a command
    scripts/test --quick --room "$2" >output 2>&1 || fail "$(cat output)"
    for share in 0 1; do
        grep -q "Test #.*: quick/$1/share_$share \.* *Passed" output ||
            fail "$2 does not run quick/$1/share_$share: $(cat output)"
    done
    grep -q "out of 2$" output || fail "$2 runs others: $(cat output)"
}

# refuses <--room's argument>
refuses() {
    # shellcheck disable=SC2065 # a program's name, which ends like that of a command
    if scripts/test --quick --room "$1" >output 2>&1; then
        fail "'$1' is a room: $(cat output)"
    fi
    grep -q "expected a folder that has some" output || fail "$(cat output)"
}

runs graph graph
runs graph graph/
runs device/cpu device/cpu
runs device/cpu device/cpu//
refuses device
refuses ""
refuses /

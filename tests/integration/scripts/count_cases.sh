#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The last lines of scripts/test, of a project that has an entry of each kind:
#     count_cases.sh <source tree> <work folder>
set -eu
source=$1
work=$2

fail() {
    echo "$*" >&2
    exit 1
}

rm -rf "$work"
mkdir -p "$work/scripts"
cd "$work"
cp "$source/scripts/test" scripts
for script in install_dependencies install_onnxruntime fetch_networks; do
    printf '#!/bin/sh\n' >scripts/$script
    chmod +x scripts/$script
done
cat >CMakePresets.json <<'END'
{"version": 4,
 "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}],
 "buildPresets": [{"name": "release", "configurePreset": "release"}],
 "testPresets": [{"name": "release", "configurePreset": "release"}]}
END

# The output of a GoogleTest program that runs a share of its cases.
cat >share <<'END'
[==========] Running 4 tests from 1 test suite.
[ RUN      ] Case.Passes
[       OK ] Case.Passes (0 ms)
[ RUN      ] Case.IsSkipped
../case_test.cc:7: Skipped
there is no 'a' & no <b>

[  SKIPPED ] Case.IsSkipped (0 ms)
[ RUN      ] Case.IsSkippedToo
../case_test.cc:9: Skipped
there is no 'a' & no <b>

[  SKIPPED ] Case.IsSkippedToo (1 ms)
[ RUN      ] Case.PassesToo
[       OK ] Case.PassesToo (0 ms)
[==========] 4 tests from 1 test suite ran. (1 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 2 tests, listed below:
[  SKIPPED ] Case.IsSkipped
[  SKIPPED ] Case.IsSkippedToo
END
sed -e '/IsSkipped/d' -e '/Skipped$/,/^$/d' -e 's/PASSED  \] 2/PASSED  ] 1/' \
    -e 's/^\[  SKIPPED \] 2/[  FAILED  ] 1/' share >failing_share
sed '/PassesToo/,$d' share >crashing_share

cat >passing.cmake <<'END'
add_test(NAME passes COMMAND true)
add_test(NAME matches COMMAND echo yes)
set_tests_properties(matches PROPERTIES PASS_REGULAR_EXPRESSION yes)
add_test(NAME share COMMAND cat ${CMAKE_SOURCE_DIR}/share)
add_test(NAME says COMMAND echo "skipped: there is no c")
set_tests_properties(says PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
add_test(NAME ends COMMAND sh -c "echo there is no d; exit 77")
set_tests_properties(ends PROPERTIES SKIP_RETURN_CODE 77)
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.24)
project(cases NONE)
enable_testing()
include(entries.cmake)
END

# ends_with <status>: expects it of scripts/test, whose last lines are those of `expected`.
ends_with() {
    actual=0
    # shellcheck disable=SC2065 # a program's name, which ends like that of a command
    scripts/test >output 2>&1 || actual=$?
    [ "$actual" -eq "$1" ] || fail "ended with $actual; $(cat output)"
    tail -n "$(wc -l <expected)" output | diff expected - || fail "$(cat output)"
}

echo "== all pass or are skipped"
cp passing.cmake entries.cmake
cat >expected <<'END'
skipped 2: there is no 'a' & no <b>
skipped 1: there is no c
skipped 1: there is no d
4 passed, 0 failed, 4 skipped
END
ends_with 0

echo "== some fail, crash or are not there"
cat passing.cmake - >entries.cmake <<'END'
add_test(NAME fails COMMAND false)
add_test(NAME is_not_there COMMAND /nowhere/at/all)
add_test(NAME failing_share COMMAND sh -c "cat ${CMAKE_SOURCE_DIR}/failing_share; exit 1")
add_test(NAME crashing_share COMMAND sh -c "cat ${CMAKE_SOURCE_DIR}/crashing_share; exit 1")
END
sed -i -e 's/^skipped 2/skipped 4/' -e 's/^4 passed.*/5 passed, 4 failed, 6 skipped/' expected
ends_with 1

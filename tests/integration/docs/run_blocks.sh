#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the code blocks of a page, in order, in one folder that looks like the project's root:
#     run_blocks.sh <page> <source root> <build folder> <library folder> <empty folder>
# A ```c block is a program: compiled as strict C99 and run, also in an empty folder, where it may
# fail for a file that is not there and must say so. A ```cpp block is one in C++17. A ```sh block is
# run as it stands, with the built programs on PATH. A ```python block is run after those before it on
# the page, by the interpreter $TENGINE_PYTHON, without which it is left out. A ```text, ```cmake or ```diff block is data, and
# there is no other language. Blocks that
# cannot be run here say why in a line above them: <!-- not run here: reason -->. A page whose blocks
# another test runs names it: <!-- run by tests/... -->. A page for which not every machine has what
# it takes starts with a line that names programs, and files of the tree:
# <!-- needs: program file... -->; its folder is empty. $TENGINE is the tree, $PLUGINS the folder with
# the plug-ins of the build. The exit status is
# 77 when something is missing. Below a line <!-- printed --> stands what the ```sh or ```cpp block
# before it prints: its lines, in order, others between.
set -eu
page=$1 source=$2 build=$3 library=$4 work=$5

fail() { echo "$page: $*" >&2; exit 1; }

other=$(sed -n 's/^<!-- run by \(tests\/[^ ]*\) -->$/\1/p' "$source/$page")
if [ -n "$other" ]; then
    grep -q "$(basename "$page")" "$source/$other" || fail "$other does not read this page"
    echo "$page: its blocks are run by $other"
    exit 0
fi

rm -rf "$work"
mkdir -p "$work/blocks" "$work/root" "$work/elsewhere"
needs=$(sed -n 's/^<!-- needs: \(.*\) -->$/\1/p' "$source/$page")
for need in $needs; do
    case $need in
        */*) [ -e "$source/$need" ] ;;
        *) command -v "$need" >/dev/null ;;
    esac || {
        echo "$page is not run: there is no $need"
        exit 77
    }
done
if [ -z "$needs" ]; then
    for entry in "$source"/*; do
        case ${entry##*/} in build) ;; *) ln -s "$entry" "$work/root/" ;; esac
    done
fi

# Writes blocks/<line>.<language>, and blocks/<line>.skip with the reason. Printed output has the
# language `printed`.
awk -v folder="$work/blocks" '
    /^<!-- not run here: .* -->$/ { reason = $0; sub(/^<!-- not run here: /, "", reason)
                                    sub(/ -->$/, "", reason); next }
    /^<!-- printed -->$/ { printed = 1; next }
    /^```/ && !inside { inside = 1; language = substr($0, 4); name = sprintf("%05d", NR)
                        if (language == "") language = "text"
                        file = folder "/" name "." (printed ? "printed" : language)
                        printf "" > file
                        if (reason != "") print reason > (folder "/" name ".skip")
                        reason = ""; printed = 0; next }
    /^```/ { inside = 0; close(file); next }
    inside { print > file }
    /[^ ]/ && !inside { reason = ""; printed = 0 }
' "$source/$page"

PATH="$build/bin:$PATH"
LD_LIBRARY_PATH="$library"
TENGINE="$source"
PLUGINS="$build/plugins"
PYTHONPATH="$source/python"
PYTHONDONTWRITEBYTECODE=1
TENGINE_LIBRARY="$library/libtengine.so"
export PATH LD_LIBRARY_PATH TENGINE PLUGINS PYTHONPATH PYTHONDONTWRITEBYTECODE TENGINE_LIBRARY
cd "$work/root"
output=$work/output
earlier=""
for block in "$work"/blocks/*; do
    [ -e "$block" ] || continue
    line=$(basename "${block%.*}")
    [ "${block##*.}" != skip ] || continue
    if [ -e "${block%.*}.skip" ]; then
        echo "$page:$line: not run: $(cat "${block%.*}.skip")"
        rm -f "$output"
        continue
    fi
    case ${block##*.} in
        c)
            cc -std=c99 -Wall -Wextra -pedantic -Werror -I "$source/include" \
                -I "$source/include/tengine/compat" \
                -I "$source/include/tengine/compat/tflite" "$block" \
                -o "${block%.*}" -L "$library" -ltengine -lm || fail "line $line does not compile"
            "${block%.*}" || fail "the program of line $line fails"
            # In an empty folder files are missing, and the last line of output names one.
            (cd "$work/elsewhere" && "${block%.*}") 2>"$output" >/dev/null ||
                tail -n 1 "$output" | grep -q 'No such file' ||
                fail "the program of line $line hides what is wrong: $(tail -n 1 "$output")" ;;
        cpp)
            c++ -std=c++17 -Wall -Wextra -pedantic -Werror -I "$source/include" \
                -I "$build/generated" "$block" -o "${block%.*}" -L "$library" -ltengine ||
                fail "line $line does not compile"
            "${block%.*}" >"$output" || fail "the program of line $line fails"
            cat "$output" ;;
        sh)
            sh -eu "$block" >"$output" || { cat "$output"; fail "the commands of line $line fail"; }
            cat "$output" ;;
        python)
            if [ -z "${TENGINE_PYTHON-}" ]; then
                echo "$page:$line: not run: no python3 with numpy and cffi"
                rm -f "$output"
                continue
            fi
            # shellcheck disable=SC2086 # names of blocks have no spaces
            "$TENGINE_PYTHON" "$source/tests/integration/docs/run_python.py" $earlier "$block" \
                >"$output" || { cat "$output"; fail "the program of line $line fails"; }
            earlier="$earlier $block"
            cat "$output" ;;
        printed)
            [ -e "$output" ] || continue
            awk 'NR == FNR { wanted[++number] = $0; next }
                 found < number && $0 == wanted[found + 1] { found++ }
                 END { if (found < number) print wanted[found + 1] }' \
                "$block" "$output" >"$work/absent" || fail "line $line: nothing was printed"
            [ ! -s "$work/absent" ] || fail "line $line is not printed: $(cat "$work/absent")" ;;
        text | cmake | diff) continue ;;
        *) fail "line $line: a block in ${block##*.} is not compiled or run by anything" ;;
    esac
    echo "$page:$line: ok"
done

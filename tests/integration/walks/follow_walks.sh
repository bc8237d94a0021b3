#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Follows the walks of docs/ in a copy of the sources: follows all pages up to their section
# "Build", builds once, then follows the rest and compares the output with the pages.
#     follow_walks.sh <source tree> <work folder> <program tengine> <cache settings>
# Pages: add-an-operator.md, add-a-pass.md, add-a-model-format.md, add-a-kernel.md.
set -eu
TENGINE=$1
work=$2
program=$3
settings=$4
pages='add-an-operator add-a-pass add-a-model-format add-a-kernel'

# The build of an earlier run is kept; files keep their times, so that only changed ones are
# compiled.
mkdir -p "$work/tree/build/bin"
cd "$work/tree"
for entry in *; do
    [ "$entry" = build ] || rm -rf "$entry"
done
cp -Rp "$TENGINE/CMakeLists.txt" "$TENGINE/cmake" "$TENGINE/include" "$TENGINE/source" \
    "$TENGINE/3rdparty" .
[ -e build/CMakeCache.txt ] || cp "$settings" build/CMakeCache.txt

# The program is that of other tests, on the library that is built here.
cat >build/bin/tengine <<END
#!/bin/sh
LD_LIBRARY_PATH='$work/tree/build' exec '$program' "\$@"
END
chmod +x build/bin/tengine

# print_script <page> <part>: the blocks of a page as a script, those before its section "Build"
# (make) or those from there on (use). A block below a line that ends in `name.extension`: is that
# file, a sh block is run, and the lines of a block below <!-- printed --> stand in the output of the
# sh block before it, in this order, others between.
print_script() {
    awk -v wanted="$2" '
        BEGIN { part = "make"; print "set -eu" }
        /^## .*Build/ { part = "use" }
        /^<!-- printed -->$/ { printed = 1; next }
        /^```/ && !inside {
            inside = 1
            kind = substr($0, 4)
            if (printed) kind = "printed"
            path = before ~ /`[^`]*[.][^`]*`:$/ ? before : ""
            sub(/`:$/, "", path)
            sub(/.*`/, "", path)
            shown = part == wanted
            if (!shown) next
            if (kind == "printed") {
                path = ""
                print "check_printed <<\047END_OF_BLOCK\047"
            } else if (path != "") {
                print "mkdir -p \"$(dirname " path ")\""
                print "cat >" path " <<\047END_OF_BLOCK\047"
            } else if (kind == "sh") print "{"
            else { print FILENAME ":" FNR ": a block that is not known here" >"/dev/stderr"; exit 1 }
            next
        }
        /^```/ {
            if (shown) print kind == "sh" && path == "" ? "} >\"$output\"; cat \"$output\"" \
                                                        : "END_OF_BLOCK"
            inside = 0; printed = 0; before = ""; next
        }
        inside { if (shown) print; next }
        /[^ ]/ { before = $0 }' "$TENGINE/docs/$1.md"
}

# Checks that the last output has the lines of standard input.
check_printed() {
    awk 'NR == FNR { wanted[++number] = $0; next }
         found < number && $0 == wanted[found + 1] { found++ }
         END { if (found < number) { print "not printed: " wanted[found + 1]; exit 1 } }' \
        - "$output" >&2
}

output=$work/output
trap '[ $? = 0 ] || cat "$output"' EXIT
for part in make use; do
    for page in $pages; do
        echo "== $page, $part"
        print_script "$page" $part >"$work/script"
        . "$work/script"
    done
done

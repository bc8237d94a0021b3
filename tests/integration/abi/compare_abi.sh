#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the declarations of the public headers with the baseline: the signatures of all functions
# that the library exports, and the layout of every structure that these and a plug-in use. Tables
# of functions may grow at their end. (docs/compatibility.md lists other permitted changes.)
#     compare_abi.sh <source tree> <folder of generated headers> <libtengine.so> <work folder>
#                    [--update]
# With --update the headers' declarations become the baseline: after an addition, not to hide a
# break.
set -eu
source=$1
generated=$2
library=$3
work=$4
here=$source/tests/integration/abi

mkdir -p "$work"
cd "$work"
compile() { ${CC:-cc} -I "$source/include" -I "$generated" "$@"; }

# list_entries <struct> <header>: a variable of the type of each entry. Since a table may grow,
# abidiff ignores all other changes in it.
list_entries() {
    awk -v table="$1" '
        $0 == "typedef struct " table { inside = 1 }
        inside && match($0, /^    [a-z].*\(\*[a-z_]+\)\(/) {
            name = substr($0, 1, RLENGTH - 2)
            sub(/.*\(\*/, "", name)
            print "__typeof__(((struct " table "*)0)->" name ") abi_of_" table "_" name ";"
        }
        inside && /^}/ { exit }' "$source/include/tengine/$2.h"
}

# list_macros <source>: a type of its own for each macro that is an integer.
list_macros() {
    compile -dM -E "$1" | LC_ALL=C sort | awk '
        $2 ~ /^(GRAPH|IR|MAX|TE|TENGINE|TENSOR)_/ && NF == 3 && $3 ~ /^[0-9]+[uUlL]*$/ &&
        $2 !~ /^(IR_ABI_MINOR|TENGINE_VERSION.*)$/ {
            print "enum abi_macro_" $2 " { abi_value_of_" $2 " = " $2 " } abi_of_" $2 ";"
        }'
}

{
    for header in c_api inspect quantize calibration run sequence state entry bucket placement string file graph image \
        memory metadata plugin trace fixed_point custom_op compiler_plugin; do
        [ ! -e "$source/include/tengine/$header.h" ] || echo "#include \"tengine/$header.h\""
    done
    nm -D --defined-only "$library" | awk '$2 == "T" { print "__typeof__(" $3 ")* abi_of_" $3 ";" }'
    echo "struct device abi_device;"
    echo "tengine_plugin_t abi_plugin;"
    echo "tengine_compiler_t* abi_compiler;"
    echo "tengine_dispatch_t* abi_dispatch;"
    echo "enum tengine_error abi_error;"
    echo "enum ir_reason abi_reason;"
    for table in interface allocator optimizer scheduler; do
        list_entries $table device
    done
    list_entries tengine_plugin_description plugin
    list_entries tengine_compiler compiler_plugin
    list_entries tengine_dispatch compiler_plugin
} >probe.c
list_macros probe.c >macros
cat macros >>probe.c
compile -g -O0 -shared -fPIC probe.c -o probe.so
if [ "${5-}" = --update ]; then
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --out-file "$here/baseline.xml" probe.so
    exit
fi
if ! abidiff --no-added-syms --suppressions "$here/growth.ini" "$here/baseline.xml" probe.so; then
    echo "compare_abi.sh: the ABI is not that of $here/baseline.xml" >&2
    exit 1
fi

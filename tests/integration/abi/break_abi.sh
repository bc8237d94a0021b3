#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Breaks the ABI of a copy of the headers in every way that docs/compatibility.md rules out, and checks
# that compare_abi.sh notices; and lets it grow as the page allows.
#     break_abi.sh <source tree> <folder of generated headers> <libtengine.so> <work folder>
set -eu
source=$1
generated=$2
library=$3
work=$4

rm -rf "$work/tree"
mkdir -p "$work/tree/tests/integration"
cp -r "$source/tests/integration/abi" "$work/tree/tests/integration/abi"

# change <what> <header> <sed script>: writes the result for a tree with that change to
# $work/output.
change() {
    rm -rf "$work/tree/include"
    cp -r "$source/include" "$work/tree/include"
    header=$work/tree/include/tengine/$2
    sed -i "$3" "$header"
    if cmp -s "$source/include/tengine/$2" "$header"; then
        echo "'$1' changes nothing" >&2
        exit 1
    fi
    sh "$work/tree/tests/integration/abi/compare_abi.sh" "$work/tree" "$generated" "$library" \
        "$work" >"$work/output" 2>&1
}

breaks() {
    if change "$@"; then
        echo "not noticed: $1" >&2
        exit 1
    fi
    grep -q 'the ABI is not that' "$work/output" || { cat "$work/output" >&2; exit 1; }
    echo "noticed: $1"
}

grows() {
    change "$@" || { echo "refused: $1" >&2; cat "$work/output" >&2; exit 1; }
    echo "allowed: $1"
}

breaks "an entry in the middle of a table" device.h \
    's/^    int (\*run)(struct device\* device, struct subgraph\* subgraph);/    int (*early)(void);\n&/'
breaks "another parameter of an entry" device.h \
    's/^\(    int (\*load)(.*\)size_t size);/\1int size);/'
breaks "an entry that is gone" device.h '/^    int (\*pre_run_parts)(/d'
breaks "an entry with another name" device.h 's/(\*cancel)(/(*abandon)(/'
breaks "a structure of the graph that grows" ir.h 's/^} ir_node_t;/    int more;\n&/'
breaks "a structure to be filled that grows" device.h 's/int reserved\[7\];/int reserved[8];/'
breaks "another value of an enumerator" device.h 's/X(IR_REASON_COST, 6,/X(IR_REASON_COST, 16,/'
breaks "another value of a macro" defines.h 's/^#define TENGINE_DT_INT8 .*/#define TENGINE_DT_INT8 13/'
breaks "another parameter of a function" custom_op.h \
    's/^\(TENGINE_API int tengine_op_unregister(.*\));/\1, int more);/'
grows "an entry at the end of a table" device.h 's/^} ir_allocator_t;/    int (*later)(void);\n&/'
grows "an entry at the end of a vendor's table" compiler_plugin.h \
    's/^} tengine_dispatch_t;/    int (*later)(void);\n&/'
grows "a macro more" defines.h 's/^#define TENGINE_DT_INT8 .*/&\n#define TENGINE_DT_LATER 13/'

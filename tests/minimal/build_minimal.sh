#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the example classify on minimal libraries and checks it:
#     build_minimal.sh <source tree> <work folder> <program tengine> <cache settings>
#                      <cmake arguments…>
# Compilers, binutils, emulator and, in a cross build, the toolchain file are in the environment.
set -eu
source=$1
work=$2
tengine=$3
settings=$4
shift 4
data=$source/examples/data
build=$work/build
program=$build/bin/classify

fail() {
    echo "$*" >&2
    exit 1
}

# build <cmake arguments…>
build() {
    cmake -S "$source" -B "$build" "$@"
    cmake --build "$build" --target classify --parallel 2
}

# The shared libraries that a program names.
needed() {
    "$READELF" -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# check_size <most bytes>
check_size() {
    "$STRIP" -o stripped "$program"
    size=$(wc -c <stripped)
    echo "the stripped program has $size bytes"
    [ "$size" -le "$1" ] || fail "that is more than $1"
}

mkdir -p "$build"
[ -e "$build/CMakeCache.txt" ] || cp "$settings" "$build/CMakeCache.txt"
cd "$work"
"$tengine" convert "$data/digits.onnx" digits.tmfile

echo "== unknown operators"
if cmake -S "$source" -B "$build" "$@" "-DTENGINE_OPERATORS=Conv;Cnov;tengine.Relu" \
    -DTENGINE_OPERATORS_FROM= >output 2>&1; then
    fail "operators Cnov and tengine.Relu were taken"
fi
tr -s ' \n' ' ' <output | grep -q "not known here: Cnov, tengine.Relu\." || fail "$(cat output)"

echo "== operators of a text file: MobileNet v2"
build "$@" -DTENGINE_OPERATORS= \
    "-DTENGINE_OPERATORS_FROM=$source/tests/minimal/mobilenet_v2.operators"
for library in $(needed "$program"); do
    case $library in
    libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.*) ;;
    *) fail "the program needs $library" ;;
    esac
done
if $EMULATOR "$program" -m digits.tmfile "$data/digit_3_003.png" >output 2>&1; then
    fail "a model ran without its operators"
fi
grep -q "operator 'tengine.ReLU' of node '.*' is not part of this build; .*TENGINE_OPERATORS" \
    output || fail "$(cat output)"
check_size 1000000

echo "== the same, wholly static"
build "$@" -DCMAKE_EXE_LINKER_FLAGS=-static
[ -z "$(needed "$program")" ] || fail "it needs $(needed "$program")"
$EMULATOR "$program" -h >output
grep -q "MODEL" output || fail "$(cat output)"
# The C library is most of it: 520 kB on aarch64, 370 kB on armhf, more elsewhere.
case $("$READELF" -h "$program" | sed -n 's/.*Machine: *//p') in
AArch64 | ARM) check_size 1000000 ;;
esac
build "$@" -DCMAKE_EXE_LINKER_FLAGS=

echo "== operators of a model"
build "$@" -DTENGINE_OPERATORS= "-DTENGINE_OPERATORS_FROM=$work/digits.tmfile" \
    "-DTENGINE_HOST_PROGRAM=$tengine"
for digit in 0 1 2 3 4 5 6 7 8 9; do
    $EMULATOR "$program" -m digits.tmfile -k 1 "$data/digit_${digit}_00$digit.png" >output
    grep -q "%  class $digit\$" output || fail "digit $digit: $(cat output)"
done

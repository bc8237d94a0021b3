#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the example classify and the programs of this folder on minimal libraries and checks them:
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

libraries="-pthread -lm"

# link_program <program> <C files>: links with `libraries`.
link_program() {
    name=$1
    objects=""
    shift
    for file in "$@"; do
        object=$(basename "$file" .c).o
        objects="$objects $object"
        $CC -std=c99 -Wall -Wextra -Wpedantic -Werror -I "$source/include" -I "$build/generated" \
            -c "$file" -o "$object"
    done
    # shellcheck disable=SC2086 # lists of files and of libraries
    $CXX $objects "$build/libtengine.a" -static-libgcc -static-libstdc++ $libraries -o "$name"
}

# Prints the shared libraries that a program needs.
needed() {
    "$READELF" -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# Prints the processor, by readelf's name.
machine() {
    "$READELF" -h "$program" | sed -n 's/.*Machine: *//p'
}

# check_size <row of the table in docs/size.md>: the limit is 1 MB, and 2 % on either side of the
# table.
check_size() {
    "$STRIP" -o stripped "$program"
    size=$(wc -c <stripped)
    echo "the stripped program has $size bytes"
    [ "$size" -le 1000000 ] || fail "that is more than 1000000"
    case $(machine) in
    AArch64) column=2 ;;
    ARM) column=3 ;;
    *) return ;;
    esac
    stored=$(sed -n "s/^| \*\*$1\*\* //p" "$source/docs/size.md" | cut -d'|' -f$column | tr -d '* .')
    [ -n "$stored" ] || fail "docs/size.md has no row '$1'"
    [ "$size" -le $((stored * 102)) ] && [ "$size" -ge $((stored * 98)) ] ||
        fail "$1: $size bytes, docs/size.md says $((stored * 100)): scripts/size_table writes the table"
}

# refused <pattern of the message> <cmake arguments…>
refused() {
    message=$1
    shift
    if cmake -S "$source" -B "$build" "$@" >output 2>&1; then
        fail "cmake took $*"
    fi
    tr -s ' \n' ' ' <output | grep -q "$message" || fail "$(cat output)"
}

# From an empty folder: an interrupted run may have left its options.
rm -rf "$build"
mkdir -p "$build"
cp "$settings" "$build/CMakeCache.txt"
cd "$work"
"$tengine" convert "$data/digits.onnx" digits.tmfile

"$tengine" quantize "$data/digits.onnx" --random 64 --activations int8 -o quantized.onnx
"$tengine" convert quantized.onnx quantized.tmfile --integer-io

echo "== wrong lists of operators"
refused "unknown operators: Cnov, tengine.Relu\." "$@" "-DTENGINE_OPERATORS=Conv;Cnov;tengine.Relu" \
    -DTENGINE_OPERATORS_FROM=
for list in "$work/absent" "$work"; do
    refused "file $list does not exist;" "$@" -DTENGINE_OPERATORS= "-DTENGINE_OPERATORS_FROM=$list"
done
printf '# none\n\n' >empty
refused "/empty names no operator" "$@" "-DTENGINE_OPERATORS_FROM=$work/empty"
cp digits.tmfile binary
refused "/binary is read as text, but '.*' is not a name" "$@" "-DTENGINE_OPERATORS_FROM=$work/binary"
refused "/nowhere inspect --operators $work/digits.tmfile.*No such file" "$@" \
    "-DTENGINE_OPERATORS_FROM=$work/digits.tmfile" "-DTENGINE_HOST_PROGRAM=$work/nowhere"

echo "== other options"
(build=$work/shared; refused "makes a static library" "$@" -DBUILD_SHARED_LIBS=ON)
(build=$work/no_cpu; refused "TENGINE_ENABLE_CPU is OFF, but every build needs the device 'cpu'" "$@" \
    -DTENGINE_ENABLE_CPU=OFF)
(build=$work/kernels; refused "TENGINE_OMITTED_KERNELS: unknown kernel 'conv.imagined'" "$@" \
    -DTENGINE_OMITTED_KERNELS=conv.imagined)

echo "== operators of a text file: MobileNet v2"
build "$@" -DTENGINE_OPERATORS= \
    "-DTENGINE_OPERATORS_FROM=$source/tests/integration/minimal/mobilenet_v2.operators"
needed "$program" | grep -q '^libc\.so\.' || fail "readelf does not say that the program needs libc"
cmake "$build" >output
grep -q 'TENGINE_WITH_PROTOBUF *off: switched off' output || fail "$(cat output)"
for library in $(needed "$program"); do
    case $library in
    libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.*) ;;
    *) fail "the program needs $library" ;;
    esac
done
if $EMULATOR "$program" -m digits.tmfile "$data/digit_3_003.png" >output 2>&1; then
    fail "a model ran without its operators"
fi
grep -q "operator 'tengine.ReLU' of node '.*' is not part of this build (.*TENGINE_OPERATORS)" \
    output || fail "$(cat output)"
check_size "program on the shared C library"

echo "== the same, wholly static"
build "$@" -DCMAKE_EXE_LINKER_FLAGS=-static
[ -z "$(needed "$program")" ] || fail "it needs $(needed "$program")"
$EMULATOR "$program" -h >output
grep -q "MODEL" output || fail "$(cat output)"
# Most of it is the C library: 520 kB on aarch64, 370 kB on armhf, more elsewhere.
case $(machine) in
AArch64 | ARM)
    check_size "wholly static program"
    "$READELF" -lW "$program" | grep -q GNU_RELRO || fail "tables of addresses stay writable"
    ;;
esac
build "$@" -DCMAKE_EXE_LINKER_FLAGS=

echo "== operators of a model, by the program tengine in PATH; a list with Windows' ends of lines"
printf '  # as some editors write it\r\nAbs\r\nRelu\r\nEinsum\r\nIf\r\n\r\n' >windows
PATH=$(dirname "$tengine"):$PATH build "$@" -DTENGINE_OPERATORS= -UTENGINE_HOST_PROGRAM \
    "-DTENGINE_OPERATORS_FROM=$work/quantized.tmfile;$work/windows"
for digit in 0 1 2 3 4 5 6 7 8 9; do
    $EMULATOR "$program" -m digits.tmfile -k 1 "$data/digit_${digit}_00$digit.png" >output
    grep -q "%  class $digit\$" output || fail "digit $digit: $(cat output)"
done

echo "== in an arena; a quantised model, which this library runs in fp32"
link_program run_in_arena "$source/tests/integration/minimal/run_in_arena.c"
for model in digits quantized; do
    $EMULATOR ./run_in_arena $model.tmfile "$data/heldout_images.npy" \
        "$data/heldout_labels.npy" >output || fail "$model: $(cat output)"
    cat output
    # 376 in float; with a wrong scale or zero point about a tenth is left.
    right=$(sed -n 's/.*: \([0-9]*\) of 382 right.*/\1/p' output)
    [ "$right" -ge 370 ] || fail "$model: too few are right"
done
grep -q "input in type 2" output || fail "the quantised model has no input in int8"

echo "== an Einsum without the operators that it becomes elsewhere"
link_program run_einsum "$source/tests/integration/minimal/run_einsum.c"
$EMULATOR ./run_einsum >output 2>&1 || fail "$(cat output)"

echo "== a device of Neg and Abs, where the library has Abs alone"
link_program list_operators "$source/tests/integration/minimal/list_operators.c" \
    "$source/tests/integration/plugin/library/shout_device.c"
$EMULATOR ./list_operators >output || fail "$(cat output)"
[ "$(cat output)" = Abs ] || fail "SHOUT has $(cat output)"

# The messages are the same for every processor.
[ -z "$EMULATOR" ] || exit 0
echo "== ONNX: an operator that is left out, and one that there is not"
build "$@" -DTENGINE_ENABLE_ONNX=ON
LC_ALL=C sed 's/Softmax/Softmix/g' "$data/digits.onnx" >softmix.onnx
if $EMULATOR "$program" -m softmix.onnx "$data/digit_3_003.png" >output 2>&1; then
    fail "a model ran without its operators"
fi
grep -q "Flatten (opset [0-9]*, left out: .*; Softmix (opset [0-9]*: " output ||
    fail "$(cat output)"

echo "== an If that is decided before the run"
libraries="$libraries -lprotobuf-lite"
link_program run_if "$source/tests/integration/minimal/run_if.c"
./run_if >output 2>&1 || fail "$(cat output)"

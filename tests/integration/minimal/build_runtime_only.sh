#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a library for compiled files (TENGINE_RUNTIME_ONLY) and runs a program on it, whose results
# are compared with those of the whole library:
#     build_runtime_only.sh <source tree> <work folder> <program tengine> <cache settings>
#                           <cmake arguments…>
# Compilers, binutils, emulator and, in a cross build, the toolchain file are in the environment.
set -eu
source=$1
work=$2/runtime_only
tengine=$3
settings=$4
shift 4
data=$source/examples/data
build=$work/build

fail() {
    echo "$*" >&2
    exit 1
}

# refused <pattern of the message> <command…>
refused() {
    message=$1
    shift
    if "$@" >output 2>&1; then fail "this did not fail: $*"; fi
    tr -s ' \n' ' ' <output | grep -q "$message" || fail "$* says: $(cat output)"
}

rm -rf "$build"
mkdir -p "$build"
cp "$settings" "$build/CMakeCache.txt"
cd "$work"

echo "== models: in float for two shapes, in int8, and one without a prepared graph"
for batch in 1 3; do
    model=$data/digits.onnx
    [ "$batch" = 1 ] || model=digits.tmfile
    "$tengine" compile "$model" -o digits.tmfile --shape "image=${batch}x1x8x8" --no-host --allow-empty
done
"$tengine" quantize "$data/digits.onnx" --random 64 -o int8.onnx
"$tengine" compile int8.onnx -o int8.tmfile --precision int8 --no-host --allow-empty
"$tengine" convert "$data/digits.onnx" plain.tmfile
for model in digits int8; do
    precision=int8
    [ $model != digits ] || precision=fp32
    "$tengine" inspect --operators $model.tmfile --precision $precision
done >operators
# The first pictures of the set, as raw elements after the head of the .npy.
tail -c +129 "$data/heldout_images.npy" | head -c 256 >one.bin
tail -c +129 "$data/heldout_images.npy" | head -c 768 >three.bin

echo "== options that need passes"
for option in TENGINE_ENABLE_ONNX TENGINE_WITH_PRECISIONS TENGINE_BUILD_TESTS; do
    rm -rf refused
    refused "without the passes that $option needs" cmake -S "$source" -B refused "$@" -D$option=ON
done

echo "== the library"
cmake -S "$source" -B "$build" "$@" "-DTENGINE_OPERATORS_FROM=$work/operators" -DTENGINE_OPERATORS=
cmake --build "$build" --target tengine --parallel 2
# shellcheck disable=SC2086 # a list
$CC -std=c99 -Os -Wall -Wextra -Werror -I "$source/include" -I "$build/generated" \
    -c "$source/tests/integration/minimal/run_compiled.c" -o run_compiled.o
$CXX run_compiled.o "$build/libtengine.a" -static-libgcc -static-libstdc++ -Wl,--gc-sections \
    -pthread -lm -o run_compiled
for library in $("$READELF" -d run_compiled | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $library in
    libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.*) ;;
    *) fail "the program needs $library" ;;
    esac
done
"$STRIP" -o stripped run_compiled
echo "the stripped program has $(wc -c <stripped) bytes"

echo "== results are those of the whole library"
$EMULATOR ./run_compiled digits.tmfile one.bin one_result.bin 1
$EMULATOR ./run_compiled digits.tmfile three.bin three_result.bin 3
"$tengine" run digits.tmfile --shape image=1x1x8x8 --input one.bin --expect one_result.bin
"$tengine" run digits.tmfile --shape image=3x1x8x8 --input three.bin --expect three_result.bin
$EMULATOR ./run_compiled int8.tmfile one.bin int8_result.bin 1 int8
"$tengine" run int8.tmfile --precision int8 --input one.bin --expect int8_result.bin \
    --tolerance 0.00001

echo "== everything else is refused, with the reason"
refused "prepared for image 1x1x8x8 fp32 in fp32 on CPU; image 3x1x8x8 fp32 in fp32 on CPU; this run has image 2x1x8x8" \
    $EMULATOR ./run_compiled digits.tmfile one.bin output.bin 2
refused "this build runs compiled files only, and the tmfile has no prepared graph" \
    $EMULATOR ./run_compiled plain.tmfile one.bin output.bin
# An altered byte of the prepared graph, whose mark is found by its text.
place=$(grep -abo "prepared graph1" digits.tmfile | head -n 1 | cut -d: -f1)
cp digits.tmfile altered.tmfile
printf '\377' | dd of=altered.tmfile bs=1 seek=$((place + 100)) conv=notrunc 2>/dev/null
refused "altered: its hash differs" $EMULATOR ./run_compiled altered.tmfile one.bin output.bin 1
for size in 1000 $((place + 50)); do
    head -c $size digits.tmfile >short.tmfile
    refused . $EMULATOR ./run_compiled short.tmfile one.bin output.bin 1
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the library and builds C99 programs against it in both ways:
#     use_installed.sh <source tree> <build folder> <work folder> <program tengine> <cache settings>
#                      <cmake arguments…>
# The build folder is made with settings and arguments when it is not there. Compilers, emulator and,
# in a cross build, the toolchain file are in the environment.
set -eu
source=$1
build=$2
work=$3
tengine=$4
settings=$5
shift 5
data=$source/examples/data

mkdir -p "$work"
if [ "$build" = "$work/build" ]; then
    mkdir -p "$build"
    [ -e "$build/CMakeCache.txt" ] || cp "$settings" "$build/CMakeCache.txt"
    cmake -S "$source" -B "$build" -U TENGINE_ENABLE_SKELETON "$@"
    cmake --build "$build" --parallel 2
fi
prefix=$work/prefix
for folder in prefix package ported cmake_project make_project; do
    rm -rf "${work:?}/$folder"
done
cmake --install "$build" --prefix "$prefix"
# A static library alone has no such dependency.
if grep -q '^BUILD_SHARED_LIBS:.*=ON' "$build/CMakeCache.txt"; then
    "$source/tests/rules/library_paths.sh" readelf "$prefix"
fi
# The skeleton, which exists only to be copied, is not in a library unless it is requested.
if ! grep -q '^TENGINE_ENABLE_SKELETON:.*=ON' "$build/CMakeCache.txt" &&
    grep -aq 'SKELETON: node' "$prefix"/lib*/libtengine.* "$prefix"/lib*/*/libtengine.* 2>/dev/null; then
    echo "the installed library has the device SKELETON, which takes nothing" >&2
    exit 1
fi

# A toolchain file confines the search for packages to root directories.
where=CMAKE_PREFIX_PATH
[ -z "${CMAKE_TOOLCHAIN_FILE-}" ] || where=CMAKE_FIND_ROOT_PATH

# use_package <source folder> <build folder>
use_package() {
    cmake -S "$1" -B "$2" "-D$where=$prefix"
    cmake --build "$2"
}

# says <pattern of the output> <program> <arguments…>
says() {
    expected=$1
    shift
    $EMULATOR "$@" >"$work/output"
    cat "$work/output"
    grep -q "$expected" "$work/output" || { echo "$1 does not say: $expected" >&2; exit 1; }
}

echo "== examples, by find_package"
use_package "$source/examples" "$work/package"
(cd "$source" && says '^5  98\.' "$work/package/bin/hello")
says '^9 -> 4$' "$work/package/bin/custom_kernel"

# A build without programs has neither these nor their pages.
if [ -e "$prefix/bin/tengine" ]; then
    echo "== programs and their pages, where they are installed"
    says '^2\.' "$prefix/bin/tengine" --version
    says '^    3 ' "$prefix/bin/tengine" run "$data/digits.onnx" --input "$data/digit_3_003.png"
    says ' 3$' "$prefix/bin/classify" -m "$data/digits.onnx" -l "$data/digits_labels.txt" -k 1 \
        "$data/digit_3_003.png"
    for command in '' -run -bench -inspect -devices -quantize -compile -convert; do
        grep -q '^.SH OPTIONS' "$prefix/share/man/man1/tengine$command.1"
    done
    bash -c '. "$1"; COMP_WORDS=(tengine run --thr) COMP_CWORD=2; _tengine
             [ "${COMPREPLY[*]}" = --threads ]' - \
        "$prefix/share/bash-completion/completions/tengine"
fi
if [ -n "${TENGINE_PYTHON-}" ] && [ -e "$prefix/lib/python3/dist-packages/tengine" ]; then
    echo "== the Python package"
    sed -n '/^```python$/,/^```$/p' "$source/README.md" | grep -v '^```' >"$work/program.py"
    (cd "$source" && PYTHONPATH=$prefix/lib/python3/dist-packages says 'a zero with ' \
        env PYTHONDONTWRITEBYTECODE=1 "$TENGINE_PYTHON" "$work/program.py")
fi
for file in LICENSE README.md docs/build.md; do
    cmp "$source/$file" "$prefix/share/doc/tengine/$file"
done

echo "== a program that looks for the library where pkg-config says it is"
PKG_CONFIG_LIBDIR=$(dirname "$(find "$prefix" -name tengine.pc)")
export PKG_CONFIG_LIBDIR
# shellcheck disable=SC2046 # flags are words
$CC "$source/examples/hello.c" -o "$work/hello" $(pkg-config --cflags --libs tengine) -lm \
    $(pkg-config --variable=rpath tengine)
unset PKG_CONFIG_LIBDIR
(cd "$source" && says '^5  98\.' "$work/hello")

echo "== names of Tengine Lite"
use_package "$source/tests/integration/install/ported" "$work/ported"
says 'without TIMVX' "$work/ported/program-tengine-lite"
says 'without TIMVX' "$work/ported/program-tengine-lite-static"

echo "== a project with CMake, where it is built and where it is copied to"
cp -r "$source/examples/cmake_project" "$work/cmake_project"
cd "$work/cmake_project"
# The pixels follow 128 bytes of header, beginning with the first picture's.
tail -c +129 "$data/heldout_images.npy" | head -c 256 >picture
use_package . build
says '^class    0  0\.9' build/classify "$data/digits.onnx" picture
cmake --install build --prefix "$work/copied"
rm -r build
says '^class    0  0\.9' "$work/copied/bin/classify" "$data/digits.onnx" picture
if build=$($EMULATOR "$work/copied/bin/classify" "$data/digits.onnx" main.c 2>&1); then
    echo "classify took $(wc -c <main.c) bytes as a picture: $build" >&2
    exit 1
fi

echo "== a project with a Makefile, where it is built and where it is copied to"
cp -r "$source/examples/make_project" "$work/make_project"
cd "$work/make_project"
$EMULATOR "$tengine" convert "$data/digits.onnx" digits.tmfile
make PREFIX="$prefix" CC="$CC" STRIP="$STRIP" deploy
says '^5 with 98\.' ./read_digit <five.txt
rm -rf "$work/deploy"
mv deploy "$work"
make clean
# The program must not need the installed library.
mv "$prefix" "$prefix.away"
says '^5 with 98\.' "$work/deploy/read_digit" <five.txt
mv "$prefix.away" "$prefix"

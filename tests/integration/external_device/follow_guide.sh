#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Follows docs/add-a-device.md, block by block, and checks after each form of the device that a
# model runs through it:
#     follow_guide.sh <source tree> <work folder> <cache settings> <build folder to install>
# Compilers, archiver and emulator are in the environment.
set -eu
TENGINE=$1
work=$2
settings=$3
PREFIX=$work/prefix
here=$TENGINE/tests/integration/external_device

# The build of an earlier run is kept, everything else is made again.
mkdir -p "$work/build"
cd "$work"
rm -rf blocks npu probe prefix reference
mkdir blocks
cmake --install "$4" --prefix "$PREFIX" >/dev/null
[ -e build/CMakeCache.txt ] || cp "$settings" build/CMakeCache.txt

# The guide's fenced blocks as files, in order, with the language as extension.
awk '/^```/ { inside = !inside; if (inside) file = sprintf("blocks/%02d.%s", ++n, substr($0, 4)); next }
     inside { print > file }' "$TENGINE/docs/add-a-device.md"

# Inserts a C block: one with the table replaces the skeleton's empty table, one with kernels goes
# before it, any other goes before the tables of entries.
insert_code() {
    place='^static struct interface npu_interface'
    table='^static const struct npu_kernel npu_kernels'
    grep -q '^static int run_' "$1" && place=$table
    awk -v block="$1" -v place="$place" -v skips="$(grep -c "$table" "$1")" '
        $0 ~ place {
            while ((getline line < block) > 0) print line
            skip = skips
        }
        !skip { print }
        /^};/ { skip = 0 }' npu/npu_device.c >npu_device.new
    mv npu_device.new npu/npu_device.c
}

# Runs the digits network on device $1; operator $2, if given, must be on it, even if that does not
# pay.
check_device() {
    $CC -std=c99 -Wall -Wextra -pedantic -I"$TENGINE/include" "$here/placement.c" \
        -o placement -Lbuild -ltengine -Wl,-rpath,"$work/build"
    $EMULATOR ./placement "$TENGINE/examples/data/digits.onnx" "$@" split.prune=0
}

# A toolchain file confines the search for packages to root directories.
where=CMAKE_PREFIX_PATH
[ -z "${CMAKE_TOOLCHAIN_FILE-}" ] || where=CMAKE_FIND_ROOT_PATH

for block in blocks/*; do
    echo "== $block"
    case $block in
        *.sh)
            sed 's/^/+ /' "$block"
            sed "s|^build/bin/|$EMULATOR &|; s|^\"\$PREFIX/bin/|$EMULATOR &|
                 s|-DCMAKE_PREFIX_PATH=|-D$where=|" "$block" >block
            . ./block
            ;;
        *.c) insert_code "$block" ;;
        *.cmake) check_device NPU Relu && cp "$block" npu/CMakeLists.txt ;;
        *.text) ;;
        *) echo "the guide has a block that is not known here" && exit 1 ;;
    esac
done
check_device NPU Relu

echo "== by itself, a folder knows its compiler and may say what is missing"
rm -rf absent
mkdir absent
cat >absent/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(absent LANGUAGES C)
find_package(Tengine REQUIRED)
if(TENGINE_COMPILER_GCC OR TENGINE_COMPILER_CLANG)
    tengine_skip_part("the NPU library was not found")
    return()
endif()
END
if cmake -S absent -B absent/build "-D$where=$PREFIX" >absent/output 2>&1 ||
    ! grep -q 'the NPU library was not found' absent/output; then
    cat absent/output
    exit 1
fi

echo "== a device that sets all seven variables, and the scripted devices, beside the first one"
cp -r "$here/probe" probe
$CC -fPIC -c probe/library/probe_library.c -o probe/probe_library.o
"$AR" rc probe/library/libprobe_library.a probe/probe_library.o
scripted=$TENGINE/tests/support/devices
cmake -DTENGINE_EXTERNAL_DEVICES="$work/npu;$work/probe;$scripted/a;$scripted/b" build
cmake --build build
check_device NPU Relu
check_device PROBE
check_device A,B,NPU NPU.speed=high

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the library and builds C99 programs against it in both ways:
#     use_installed.sh <source tree> <build folder> <work folder> <cmake arguments…>
# The build folder is made with the arguments when it is not there.
set -eu
source=$1
build=$2
work=$3
shift 3

mkdir -p "$work"
if [ "$build" = "$work/build" ]; then
    cmake -S "$source" -B "$build" "$@"
    cmake --build "$build" --parallel 2
fi
rm -rf "$work/prefix" "$work/package" "$work/ported"
cmake --install "$build" --prefix "$work/prefix"

echo "== find_package"
cmake -S "$source/examples" -B "$work/package" -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/package"

echo "== names of Tengine Lite"
cmake -S "$source/tests/install/ported" -B "$work/ported" -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/ported"
"$work/ported/program-tengine-lite"
"$work/ported/program-tengine-lite-static"

echo "== pkg-config"
package_config=$(find "$work/prefix" -name tengine.pc)
PKG_CONFIG_PATH=$(dirname "$package_config")
export PKG_CONFIG_PATH
libraries=$(pkg-config --libs-only-L tengine | sed 's/-L//; s/ *$//')
# shellcheck disable=SC2046
${CC:-cc} -std=c99 -Wall -Wextra -pedantic "$source/examples/hello.c" \
    -o "$work/hello" $(pkg-config --cflags --libs tengine) -Wl,-rpath,"$libraries"

echo "== run"
cd "$source"
"$work/package/bin/hello"
"$work/hello"
"$work/package/bin/custom_kernel"

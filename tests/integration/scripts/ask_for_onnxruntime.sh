#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The requests of scripts/install_onnxruntime to npm, which is a script here:
#     ask_for_onnxruntime.sh <source tree> <work folder>
set -eu
script=$1/scripts/install_onnxruntime
work=$2

fail() {
    echo "$*" >&2
    exit 1
}

# expect <the output, as a pattern>: runs with the PATH and HOME of this test.
shell=$(command -v sh)
expect() {
    HOME=$work PATH=$path "$shell" "$script" >"$work/output" 2>&1 ||
        fail "$?; $(cat "$work/output")"
    tr '\n' ' ' <"$work/output" | grep -q "^$1 *\$" || [ -z "$1$(cat "$work/output")" ] ||
        fail "expected '$1'; $(cat "$work/output")"
}

rm -rf "$work"
mkdir -p "$work/bin"
path=$work/bin
expect "no npm .*: the tests on ONNX Runtime will be skipped"

printf '#!/bin/sh\necho "asked: $*"\nexit "${STATUS:-0}"\n' >"$work/bin/npm"
chmod +x "$work/bin/npm"
path=$work/bin:$PATH
expect "Installing .* asked: install .*--ignore-scripts .*--prefix $work/.cache/tengine onnxruntime-node@[0-9.]*"
export STATUS=1
expect ".*npm could not install onnxruntime-node: the tests on ONNX Runtime will be skipped"

mkdir -p "$work/.cache/tengine/node_modules/onnxruntime-node"
expect ""

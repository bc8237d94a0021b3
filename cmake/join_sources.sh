#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# join_sources.sh <unit> <file>…: writes a C++ source that is all files one after the other, each with
# its unnamed namespace in a namespace with the file's name. The rest of the file uses it; a
# test has nothing there.
set -eu
unit=$1
shift
mkdir -p "${unit%/*}"
for file; do
    name=${file##*/}
    name=in_${name%.cc}
    uses=" using namespace $name;"
    [ "${file%_test.cc}" = "$file" ] || uses=""
    printf '#line 1 "%s"\n' "$file"
    sed -e "s/^namespace {\$/namespace $name { namespace {/" \
        -e "s/^}  \/\/ namespace\$/}}$uses  \/\/ namespace/" "$file"
done >"$unit"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TENGINE_NATIVE: vector kernels are compiled for one instruction set, and Highway's library, which
# would choose among several, is not linked:
#     native.sh <nm> <object file of a kernel> <program on the library>
set -eu
nm=$1 object=$2 program=$3

# Highway has a namespace for each instruction set.
sets=$("$nm" -C "$object" | grep -o '\bN_[A-Z0-9_]*::' | sort -u)
[ "$(echo "$sets" | wc -l)" -eq 1 ] || {
    echo "kernels are compiled for:" $sets
    exit 1
}
! ldd "$program" | grep 'libhwy'

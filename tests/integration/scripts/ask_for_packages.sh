#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The requests of scripts/install_dependencies to apt-get, which is a script here, as are the
# programs that it reads:
#     ask_for_packages.sh <source tree> <work folder>
# shellcheck disable=SC2016 # the bodies of scripts are not expanded here
set -eu
script=$1/scripts/install_dependencies
work=$2

fail() {
    echo "$*" >&2
    exit 1
}

rm -rf "$work"
mkdir -p "$work/bin"
cd "$work"
export PATH="$work/bin:$PATH"

# fake <program> <body>
fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}
fake id 'echo 0'
fake dpkg 'echo amd64'
fake dpkg-query 'for package; do :; done
    grep -qx "$package" absent || echo "amd64 install ok installed"'
fake apt-get 'echo "$@" >>asked
    case " $* " in *" --simulate "*) cat simulated ;; esac'

# ask <status> <names of processors…>: writes the output to `output`, the requests to `asked`.
ask() {
    status=$1
    shift
    : >asked
    actual=0
    "$script" "$@" >output 2>&1 || actual=$?
    [ "$actual" -eq "$status" ] || fail "install_dependencies $*: $actual; $(cat output)"
}

# Prints the requests that install, not only download or simulate.
installed() {
    grep '^install ' asked | grep -v -e --simulate -e --download-only || true
}

installs() {
    [ "$(installed | sed 's/.*--no-remove //')" = "$1" ] || fail "not '$1' but: $(cat asked)"
}

: >absent
: >simulated
echo "== nothing is missing"
ask 0 aarch64 armhf riscv64
[ ! -s asked ] || fail "$(cat asked)"
[ ! -s output ] || fail "$(cat output)"

echo "== what is new alone"
echo gcc-aarch64-linux-gnu >absent
echo 'Inst gcc-aarch64-linux-gnu (4:12.2.0-3 Debian:12/stable [amd64])' >simulated
ask 0 aarch64
installs gcc-aarch64-linux-gnu

echo "== it would upgrade the compiler of this machine"
echo 'Inst gcc-12-base [12.2.0-14] (12.2.0-14+deb12u1 Debian:12/stable [amd64])' >>simulated
ask 1 aarch64
grep -q 'not installed, because it would upgrade gcc-12-base: gcc-aarch64-linux-gnu' output ||
    fail "$(cat output)"
[ -z "$(installed)" ] || fail "$(cat asked)"

echo "== which it may without a processor's name"
printf 'ccache\ngcc\n' >absent
ask 0
installs "gcc ccache"

echo "== an unknown processor"
ask 2 arm64
grep -q "unknown processor 'arm64'" output || fail "$(cat output)"
[ ! -s asked ] || fail "$(cat asked)"

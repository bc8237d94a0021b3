#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The places where programs and libraries look for libraries, whose code the loader runs: below
# their own folder ($ORIGIN) or in the folders given, never in the current one.
#     library_paths.sh <readelf> <folder>…
set -eu
readelf=$1
shift
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find "$@" -type f \( -perm -u+x -o -name '*.so' -o -name '*.so.*' \) >"$list"
number=0
wrong=0
while IFS= read -r file; do
    head -c 4 "$file" | grep -aq '^.ELF' || continue
    number=$((number + 1))
    paths=$("$readelf" -d "$file" 2>/dev/null |
        sed -n 's/.*(RU*N*PATH).*\[\(.*\)\]$/\1/p')
    [ -n "$paths" ] || continue
    # An end mark, so that an empty last element is counted.
    rest=$paths:
    while [ -n "$rest" ]; do
        path=${rest%%:*}
        rest=${rest#*:}
        found=no
        # shellcheck disable=SC2016 # the loader expands it
        case $path in
        '$ORIGIN' | '$ORIGIN/'*) found=yes ;;
        esac
        for folder in "$@"; do
            case $path/ in
            "$folder"/*) found=yes ;;
            esac
        done
        if [ "$found" = no ]; then
            echo "$file looks for libraries in '$path': '$paths'" >&2
            wrong=1
        fi
    done
done <"$list"
echo "$number ELF files"
[ "$number" -gt 0 ] && [ "$wrong" -eq 0 ]

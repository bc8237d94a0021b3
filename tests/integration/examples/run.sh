#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test_<program>.py, or says why not:
#     run.sh <interpreter> <program>
set -eu
python=$1 program=$2
networks=$HOME/.cache/tengine/networks/$program
[ -d "$networks" ] || {
    echo "skipped: no networks in $networks: scripts/fetch_networks $program fetches them"
    exit 0
}
if [ "$program" = wake_word ] && ! command -v espeak-ng >/dev/null; then
    echo "skipped: no espeak-ng to speak words (Debian: espeak-ng)"
    exit 0
fi
cd "$(dirname "$0")"
NETWORKS=$networks exec "$python" -m pytest -q -rs -p no:cacheprovider "test_$program.py"

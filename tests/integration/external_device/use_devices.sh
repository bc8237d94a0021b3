#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Uses devices A and B of tests/support/devices as a user would, well and with every fault their
# options can provoke: results stay those of the CPU, and the reports name the faults.
#     use_devices.sh <source tree> <work folder of follow_guide.sh>
# An emulator of the processor, if it takes one, is in the environment.
set -eu
TENGINE=$1
work=$2
model=$TENGINE/examples/data/digits.onnx
picture=$TENGINE/examples/data/digit_3_003.png
cd "$work"

tengine() {
    $EMULATOR "$work/build/bin/tengine" "$@"
}

# Prints the message, and the report and the log of the last command.
fail() {
    echo "$*" >&2
    cat report.json log >&2 || :
    exit 1
}

# Runs tengine <command> with A and B, with the report in report.json and the log in log.
report() {
    command=$1
    shift
    tengine "$command" "$model" --device A,B --json - --option split.prune=0 "$@" \
        >report.json 2>log || fail "$command $* failed"
    [ "$(grep -c '"version": 1,' report.json)" = 1 ] || fail "$command $*: no report of version 1"
}

# Checks how often a line is in the report.
expect() {
    [ "$(grep -c "$2" report.json)" = "$1" ] || fail "not $1 times in the report: $2"
}

expect_log() {
    grep -q "$1" log || fail "not in the log: $1"
}

# Runs with these options: results are those of the CPU, and the report is that of such a run.
run() {
    echo "== run $*"
    : >report.json
    $EMULATOR ./placement "$model" A,B split.prune=0 "$@" 2>log || fail "wrong results: $*"
    options=
    for option; do options="$options --option $option"; done
    # Word splitting is intended: no option has a blank.
    # shellcheck disable=SC2086
    report run --input "$picture" $options
    expect 0 '"measured_ms": null'
}

echo "== inspect"
report inspect
expect 2 '"id":'
expect 3 '"code": "operator"'
expect_log 'A: 13 nodes, .* 1 part; B: 3 nodes, .* 1 part, because A has no Flatten (1)'
tengine inspect "$model" --device A,B --dot placement.dot >report.json 2>log || fail "--dot"
grep -q '^digraph' placement.dot && grep -q '>A<' placement.dot && grep -q '>B<' placement.dot ||
    fail "placement.dot does not show both devices"
if command -v dot >/dev/null; then
    dot -Tsvg placement.dot -o placement.svg || fail "Graphviz does not read placement.dot"
fi

echo "== an unknown option, and an invalid value"
for option in A.weight=1 A.hang_ms=long C.hang_ms=1; do
    if tengine inspect "$model" --device A,B --option "$option" 2>log; then
        fail "$option was taken"
    fi
    expect_log "${option%%.*}"
done

run
expect 2 '"id":'
expect 0 '"device": "CPU"'

run 'A.refuse=kernel_shape:[3,3]'
expect 4 '"attribute": "kernel_shape"'
expect 4 '"value": "\[3,3\]"'

run A.hand_back=MaxPool
expect 1 '"code": "handback"'

# 13 nodes are halved until no part has more than two; B's part follows them.
run A.max_nodes=2
expect 9 '"id":'
expect 0 '"device": "CPU"'

run A.cannot_compile=Conv A.status=-12345
expect 5 '"code": "compile"'

run A.verdict=77
expect 13 '"code": "device"'

run split.prune=1 A.estimate_ms=1000
expect 13 '"code": "cost"'
expect_log 'A is not worthwhile (13)'

for nonsense in A.estimate_ms=nan A.estimate_ms=-1 A.garbage_evaluation=1; do
    run split.prune=1 $nonsense
    expect 0 '"device": "CPU"'
done

for scheduler in sync pipeline; do
    run scheduler=$scheduler A.fail_run=1
    expect 13 '"code": "run"'
    expect_log 'told to fail; CPU runs the part from now on'

    run scheduler=$scheduler A.fail_run=1 A.status=17
    expect_log 'it returned 17; CPU runs the part from now on'

    run scheduler=$scheduler A.hang_ms=500 run.watchdog_ms=50
    expect 13 '"code": "run"'
    expect_log 'no return within 50 ms'
done

run B.fail_all_runs=1 A.fail_run=2
expect 3 '"code": "run"'

echo "== a failure that must not be mended"
if tengine run "$model" --device A,B --option A.fail_run=1 --option split.fail_on_fallback=1 \
    2>log >report.json; then
    fail "a run that fell back did not fail"
fi

// SPDX-License-Identifier: Apache-2.0
// An axis of a ConvTranspose as phases: output positions a stride apart, which use the same taps. A
// Conv without strides is one phase, whose taps are counted from its first. For phased_conv.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "device/cpu/shared/rounding.h"
#include "operator/onnx/window.h"

namespace tengine::cpu {

constexpr int kMostPhases = 32;  // phases of an axis: its stride

// The output positions phase, phase + stride, ..., numbered from 0. Position n multiplies input
// source + n + i * source_step by tap last_tap - i * tap_step, for each i below taps.
struct Phase
{
    int64_t positions;
    int64_t taps, taps_before;  // taps of this phase; of all phases before it
    int64_t last_tap;
    int64_t source;  // may lie outside the input
};

struct PhasedAxis
{
    int64_t stride, source_step, tap_step;
    Phase phases[kMostPhases];
};

// Returns the distance between taps of the same phase.
inline int64_t find_tap_step(const window_axis& axis)
{
    return axis.stride / std::gcd(axis.stride, axis.dilation);
}

// Returns the largest number of taps that a phase has.
inline int64_t count_most_taps(const window_axis& axis)
{
    return (axis.kernel + find_tap_step(axis) - 1) / find_tap_step(axis);
}

constexpr int64_t kMostPhasedTaps = 1024;  // taps of an axis

// Whether describe_phases() accepts the axis.
inline bool has_few_phases(const window_axis& axis)
{
    return axis.stride <= kMostPhases && axis.kernel <= kMostPhasedTaps;
}

// Returns a number that identifies the assignment of the axis's taps to phases.
inline int64_t find_phase_code(const window_axis& axis)
{
    const int64_t place = axis.pad_begin % axis.stride * kMostPhases + axis.stride - 1;
    return (int64_t{axis.dilation} * (kMostPhasedTaps + 1) + axis.kernel) * kMostPhases *
               kMostPhases +
           place;
}

inline void describe_phases(const window_axis& axis, PhasedAxis* out_phased)
{
    PhasedAxis& phased = *out_phased;
    phased.stride = axis.stride;
    phased.tap_step = find_tap_step(axis);
    phased.source_step = axis.dilation / std::gcd(axis.stride, axis.dilation);
    int64_t before = 0;
    for (int64_t i = 0; i < phased.stride; ++i) {
        Phase phase = {};
        phase.positions = std::max<int64_t>(axis.output - i + phased.stride - 1, 0) / phased.stride;
        phase.taps_before = before;
        for (int64_t tap = 0; tap < axis.kernel; ++tap) {
            const int64_t at = i + axis.pad_begin - tap * axis.dilation;
            if (at % phased.stride != 0) continue;
            ++phase.taps;
            phase.last_tap = tap;
            phase.source = at / phased.stride;
        }
        before += phase.taps;
        phased.phases[i] = phase;
    }
}

inline void describe_single_phase(const window_axis& axis, PhasedAxis* out_phased)
{
    *out_phased = {1, axis.dilation, 1, {{axis.output, axis.kernel, 0, 0, -axis.pad_begin}}};
}

// Positions begin..end-1 of a phase that have the same taps on the input. The taps are counted in
// the order of the inputs: first_tap..last_tap-1.
struct PhaseRange
{
    int64_t begin, end;
    int64_t first_tap, last_tap;

    int64_t size() const { return end - begin; }
    int64_t taps() const { return last_tap - first_tap; }
};

// Returns the longest range of positions from `begin` on, and before `end`, that have the same taps
// on the input. `step` is the axis's source_step.
inline PhaseRange find_phase_range(const Phase& phase, int64_t step, int64_t input, int64_t begin,
                                   int64_t end)
{
    const int64_t source = phase.source + begin, room = input - source;
    const int64_t outside = source < 0 ? divide_up(-source, step) : 0;
    const int64_t inside = room > 0 ? divide_up(room, step) : 0;
    PhaseRange range = {begin, end, std::min(outside, phase.taps), std::min(inside, phase.taps)};
    // The range ends where the tap before the first meets the input, or the last one no longer
    // does.
    if (range.first_tap > 0)
        range.end = std::min(range.end, begin - source - (range.first_tap - 1) * step);
    if (range.last_tap > 0)
        range.end = std::min(range.end, begin + room - (range.last_tap - 1) * step);
    range.last_tap = std::max(range.last_tap, range.first_tap);
    return range;
}

}  // namespace tengine::cpu

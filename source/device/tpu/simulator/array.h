// SPDX-License-Identifier: Apache-2.0
// Cycles of a systolic array by formula, for the three dataflows, as SCALE-Sim counts them (A.
// Samajdar et al., A Systematic Methodology for Characterizing Scalability of DNN Accelerators
// using SCALE-Sim, ISPASS 2020) if memory never stalls the array. The machine here is
// weight-stationary; timing.cc counts its cycles with memories, and agrees if they are infinitely
// fast.
#pragma once

#include <cstdint>

namespace tengine::tpu {

constexpr int64_t divide_up(int64_t number, int64_t by)
{
    return (number + by - 1) / by;
}

enum class Dataflow : uint8_t
{
    kOutputStationary,
    kWeightStationary,
    kInputStationary,
};

// A layer as a product of matrices: outputs[vectors x filters] = inputs[vectors x window] *
// weights[window x filters].
struct ArrayLayer
{
    int64_t vectors;
    int64_t filters;
    int64_t window;
};

struct RepeatedLayer
{
    int64_t number;
    ArrayLayer layer;
};

struct ArrayCycles
{
    int64_t folds;  // times that the array is refilled
    int64_t cycles_per_fold;
    int64_t total() const { return folds * cycles_per_fold; }
};

// Counts the cycles of an array of `rows` and `columns`; all numbers are at least 1.
ArrayCycles count_array_cycles(Dataflow dataflow, int64_t rows, int64_t columns,
                               const ArrayLayer& layer);

}  // namespace tengine::tpu

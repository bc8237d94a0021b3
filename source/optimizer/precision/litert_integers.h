// SPDX-License-Identifier: Apache-2.0
// Shared by the rules for the integers of TensorFlow Lite's kernels.
#pragma once

#include <algorithm>

#include "graph/graph.h"
#include "optimizer/precision/fuser.h"
#include "tengine/fixed_point.h"

namespace tengine {

inline ir_rounding_t rounding_of(const Fuser& fuser)
{
    return static_cast<ir_rounding_t>(fuser.graph().run_options->rounding);
}

// Whether the run rounds as TensorFlow Lite's kernels.
inline bool has_litert_integers(const Fuser& fuser)
{
    return rounding_of(fuser) != IR_ROUNDING_NEAREST;
}

// The value of a byte with these bits, as a distance from the zero point.
inline int distance_of(int bits, const Quantization& by)
{
    const int value = by.data_type == TENGINE_DT_INT8 ? static_cast<int8_t>(bits) : bits;
    return value - by.zero_point;
}

// The bits of the value at this distance from the zero point.
inline uint8_t byte_at(int64_t distance, const Quantization& by)
{
    const int64_t low = by.data_type == TENGINE_DT_INT8 ? -128 : 0;
    return static_cast<uint8_t>(std::clamp(distance + by.zero_point, low, low + 255));
}

// value * ratio, rounded as tflite-micro.
inline int64_t scale_twice(int32_t value, double ratio)
{
    ir_multiplier_t multiplier = {0, 0};  // for a ratio beyond those of int32
    make_ir_multipliers(&ratio, 1, &multiplier);
    return scale_ir_sum(IR_ROUNDING_TWICE, value, multiplier);
}

// The table of a function of distances, distance_of(byte) -> int64_t.
template <class Function>
Int8Table make_distance_table(const Quantization& from, const Quantization& to,
                              const Function& function)
{
    Int8Table table;
    for (int i = 0; i < 256; ++i)
        table[static_cast<size_t>(i)] = byte_at(function(distance_of(i, from)), to);
    return table;
}

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/simulator/array.h"

namespace tengine::tpu {

// The operand that stays in the array has its rows and columns; the third extent streams through
// it, skewed by rows + columns - 2 cycles. Weights and inputs that stay are shifted in first, a row
// a cycle.
ArrayCycles count_array_cycles(Dataflow dataflow, int64_t rows, int64_t columns,
                               const ArrayLayer& layer)
{
    const int64_t skew = rows + columns - 2;
    switch (dataflow) {
        case Dataflow::kOutputStationary:
            return {divide_up(layer.vectors, rows) * divide_up(layer.filters, columns),
                    layer.window + skew};
        case Dataflow::kWeightStationary:
            return {divide_up(layer.window, rows) * divide_up(layer.filters, columns),
                    rows + layer.vectors + skew};
        case Dataflow::kInputStationary:
            return {divide_up(layer.window, rows) * divide_up(layer.vectors, columns),
                    rows + layer.filters + skew};
    }
    return {0, 0};
}

}  // namespace tengine::tpu

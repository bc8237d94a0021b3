// SPDX-License-Identifier: Apache-2.0
// Operators in another order of axes: the part of pass transposes that knows operators.
#pragma once

#include <array>

#include "optimizer/pass.h"

namespace tengine {

// Axis i of a transposed tensor is axis order[i] of the tensor itself.
struct AxisOrder
{
    int rank = 0;
    std::array<int, MAX_SHAPE_DIM_NUM> axes = {};

    bool operator==(const AxisOrder& other) const
    {
        return rank == other.rank && axes == other.axes;
    }
    bool is_identity() const;
    // The order of both, this one first.
    AxisOrder then(const AxisOrder& next) const;
    AxisOrder inverse() const;
};

// Whether the node is a Transpose of an input of known rank; its order.
bool find_order(const node* node, AxisOrder* out_order);

// The inputs of a node that have the axes of its result: their number; 0: the order of axes cannot
// be changed. `out_inputs` has room for all inputs.
int list_ordered_inputs(const node& node, int* out_inputs);

// Changes the attributes and constants of the node, so that it computes from the tensors before
// their Transposes, and finds the order of the Transpose for its results. False: it cannot, and is
// unchanged.
bool reorder_node(node& node, const AxisOrder& order, AxisOrder* out_result, int* out_status);

// Whether Transposes of the node's results are worth moving: they are pictures with the channels
// first, or results of TensorFlow Lite's operators that were raised, or functions of the elements
// of such.
bool has_channels_first(const node* node);

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// The arithmetic of Resize (linear) of bytes along one or two axes: weights are integers in units
// of 2^-11, so that a result has 22 bits of fraction, is exact in an int32 and is rounded once,
// halves to even. A weight is off by half a unit at most, a result before it is rounded by 1/8.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/cpu/reference/resize_coordinate.h"
#include "device/cpu/types.h"
#include "operator/infer.h"
#include "tengine/fixed_point.h"

namespace tengine::cpu {

constexpr int kByteTapBits = 11;

// Elements before and after a position, and what the latter counts; the former counts the rest.
struct ByteTap
{
    int64_t before, after;
    int32_t weight;
};

inline ByteTap find_byte_tap(const resize_param& param, const resize_axis& axis, int64_t input_size,
                             int64_t i)
{
    const double source = limit(find_source<double>(param, axis, input_size, i), input_size);
    const double before = std::floor(source);
    const auto at = static_cast<int64_t>(before);
    return {std::clamp<int64_t>(at, 0, input_size - 1),
            std::clamp<int64_t>(at + 1, 0, input_size - 1),
            static_cast<int32_t>(std::nearbyint((source - before) * (1 << kByteTapBits)))};
}

inline int32_t mix_bytes(int32_t before, int32_t after, const ByteTap& tap)
{
    return before * ((1 << kByteTapBits) - tap.weight) + after * tap.weight;
}

// The resized axes as [outer][rows][middle][columns][inner]: of one axis the rows are one.
struct ByteResize
{
    int64_t outer, middle, inner;
    int64_t rows[2], columns[2];  // of the input, of the output
    int row_axis, column_axis;    // -1: none
};

// Whether a Resize of known shapes is of bytes, linear, and along no more than two axes.
inline bool describe_byte_resize(const node& node, resize_axis axes[MAX_SHAPE_DIM_NUM],
                                 ByteResize* out_resize)
{
    const auto& param = *static_cast<const resize_param*>(node.op.param_mem);
    const tensor& x = *get_ir_node_input(&node, 0);
    const tensor& y = *get_ir_node_output(&node, 0);
    if ((x.data_type != TENGINE_DT_INT8 && x.data_type != TENGINE_DT_UINT8) ||
        !is(param.mode, "linear") || param.antialias || param.exclude_outside ||
        is(param.coordinate_transformation_mode, "tf_crop_and_resize") ||
        resolve_resize(&node, axes) != TENGINE_OK)
        return false;
    ByteResize& resize = *out_resize;
    resize = {1, 1, 1, {1, 1}, {1, 1}, -1, -1};
    for (int i = 0; i < x.dim_num; ++i) {
        if (axes[i].identity) continue;
        if (resize.row_axis >= 0) return false;
        resize.row_axis = resize.column_axis;
        resize.column_axis = i;
    }
    if (resize.column_axis < 0) return false;
    const int first = resize.row_axis < 0 ? resize.column_axis : resize.row_axis;
    resize.outer = multiply_dims(&x, 0, first);
    resize.inner = multiply_dims(&x, resize.column_axis + 1, x.dim_num);
    resize.columns[0] = x.dims[resize.column_axis];
    resize.columns[1] = y.dims[resize.column_axis];
    if (resize.row_axis < 0) return true;
    resize.middle = multiply_dims(&x, resize.row_axis + 1, resize.column_axis);
    resize.rows[0] = x.dims[resize.row_axis];
    resize.rows[1] = y.dims[resize.row_axis];
    return true;
}

}  // namespace tengine::cpu

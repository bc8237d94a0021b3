// SPDX-License-Identifier: Apache-2.0
// The form of a linear Resize of int8 or uint8 along at most two axes, and the layout of its
// tensors.
#pragma once

#include <cstdint>
#include <cstring>

#include "operator/infer.h"
#include "operator/onnx/resize_param.h"

namespace tengine::cpu {

// The resized axes as [outer][rows][middle][columns][inner]: with one axis there is one row.
struct Int8Resize
{
    int64_t outer, middle, inner;
    int64_t rows[2], columns[2];  // of the input, of the output
    int row_axis, column_axis;    // -1: none
};

// Whether a Resize of known shapes has this form.
inline bool describe_int8_resize(const node& node, resize_axis axes[MAX_SHAPE_DIM_NUM],
                                 Int8Resize* out_resize)
{
    const auto& param = *static_cast<const resize_param*>(node.op.param_mem);
    const tensor& x = *get_ir_node_input(&node, 0);
    const tensor& y = *get_ir_node_output(&node, 0);
    if ((x.data_type != TENGINE_DT_INT8 && x.data_type != TENGINE_DT_UINT8) ||
        std::strcmp(param.mode, "linear") != 0 || param.antialias || param.exclude_outside ||
        std::strcmp(param.coordinate_transformation_mode, "tf_crop_and_resize") == 0 ||
        resolve_resize(&node, axes) != TENGINE_OK)
        return false;
    Int8Resize& resize = *out_resize;
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

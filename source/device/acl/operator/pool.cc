// SPDX-License-Identifier: Apache-2.0
// Pools over windows and over whole images.
#include "device/acl/operator/pool.h"

#include <algorithm>
#include <arm_compute/runtime/NEON/functions/NEPoolingLayer.h>

#include "device/acl/operator/image.h"
#include "device/acl/operator_table.h"
#include "operator/onnx/pool_param.h"

namespace tengine::acl {
namespace {

using arm_compute::DataLayout;
using arm_compute::NEPoolingLayer;
using arm_compute::PoolingLayerInfo;
using arm_compute::PoolingType;

// ONNX defines the number of windows, also where it rounds up; ACL gets as much padding at the end
// of the image as the last window needs. False when the axis had less.
bool pad_for_last_window(window_axis* axis)
{
    const int end =
        (axis->output - 1) * axis->stride + axis->kernel - axis->input - axis->pad_begin;
    const bool has_enough = end <= axis->pad_end;
    axis->pad_end = std::max(axis->pad_end, end);
    return has_enough;
}

}  // namespace

bool add_window_pool(Builder& builder, PoolingType type, const TensorInfo& input,
                     const TensorInfo& output)
{
    window window;
    if (resolve_pool_window(&builder.of(), &window) != TENGINE_OK)
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    ImageWindow image;
    if (!read_image_window(builder, window, &image)) return false;
    for (const window_axis& axis : {image.x, image.y})
        if (axis.dilation != 1) return builder.refuse_value("dilations", axis.dilation, "1");
    if (builder.target(1))
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "ACL's indices differ from ONNX's");
    const bool counts_padding = get_ir_node_int(&builder.of(), "count_include_pad", 0) != 0;
    const bool whole_x = pad_for_last_window(&image.x), whole_y = pad_for_last_window(&image.y);
    if (counts_padding && !(whole_x && whole_y))
        return builder.refuse(IR_REASON_ATTRIBUTE, "ceil_mode", "1",
                              "ACL would count what lies beyond the padding");
    const arm_compute::Size2D size(static_cast<size_t>(image.x.kernel),
                                   static_cast<size_t>(image.y.kernel));
    const PoolingLayerInfo info(type, size, DataLayout::NCHW, to_pad_stride(image),
                                !counts_padding);
    return builder.add<NEPoolingLayer>(builder.input(0, input), builder.output(0, output), info);
}

namespace {

template <PoolingType type>
bool build_window_pool(Builder& builder)
{
    return add_window_pool(builder, type, image_info(*builder.source(0)),
                           image_info(*builder.target()));
}

template <PoolingType type>
bool build_global_pool(Builder& builder)
{
    const int rank = builder.source(0)->dim_num;
    if (rank != 3 && rank != 4) return builder.refuse_value("rank", rank, "3 or 4");
    const PoolingLayerInfo info(type, DataLayout::NCHW);
    ITensor* input = builder.input(0, image_info(*builder.source(0)));
    return builder.add<NEPoolingLayer>(input, builder.output(0, image_info(*builder.target())),
                                       info);
}

constexpr Operator kPoolRows[] = {
    {"MaxPool", kFloats, build_window_pool<PoolingType::MAX>},
    {"AveragePool", kFloats, build_window_pool<PoolingType::AVG>},
    {"GlobalMaxPool", kFloats, build_global_pool<PoolingType::MAX>},
    {"GlobalAveragePool", kFloats, build_global_pool<PoolingType::AVG>},
};

}  // namespace

extern const OperatorTable pool_operators;
const OperatorTable pool_operators = make_table(kPoolRows);

}  // namespace tengine::acl

// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of one group.
#include <algorithm>
#include <arm_compute/runtime/NEON/functions/NEDeconvolutionLayer.h>
#include <cstring>

#include "device/acl/operator/image.h"
#include "device/acl/operator_table.h"
#include "operator/onnx/conv_param.h"

namespace tengine::acl {
namespace {

// ONNX has the weights as input channels x output channels, ACL in the reverse order.
ITensor* turn_weights(Builder& builder, const tensor& weights)
{
    TensorInfo info = image_info(weights);
    TensorShape shape = info.tensor_shape();
    const size_t outputs = shape[2], inputs = shape[3];
    const size_t window_bytes = shape[0] * shape[1] * info.element_size();
    shape.set(2, inputs);
    shape.set(3, outputs);
    info.set_tensor_shape(shape);
    std::vector<uint8_t> turned(info.total_size());
    for (size_t i = 0; i < inputs; ++i)
        for (size_t o = 0; o < outputs; ++o)
            std::memcpy(&turned[(o * inputs + i) * window_bytes],
                        weights.u8 + (i * outputs + o) * window_bytes, window_bytes);
    return builder.constant(info, std::move(turned));
}

// ACL has no output_padding, which is subtracted from the padding at the end. It computes with
// kernel - 1 - padding, unsigned.
bool remove_output_padding(Builder& builder, window_axis* axis)
{
    if (axis->dilation != 1) return builder.refuse_value("dilations", axis->dilation, "1");
    const int end = (axis->input - 1) * axis->stride + axis->kernel - axis->pad_begin;
    axis->pad_end = end - axis->output;
    if (axis->pad_end < 0) return builder.refuse_value("output_padding", -axis->pad_end, "0");
    const int pad = std::max(axis->pad_begin, axis->pad_end);
    return pad < axis->kernel || builder.refuse_value("pads", pad, "less than the kernel's size");
}

bool build_conv_transpose(Builder& builder)
{
    window window;
    if (resolve_conv_transpose_window(&builder.of(), &window) != TENGINE_OK)
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    ImageWindow image;
    if (!builder.require_constant(1, "weight") || !builder.require_constant(2, "bias") ||
        !read_image_window(builder, window, &image))
        return false;
    const int64_t group = get_ir_node_int(&builder.of(), "group", 1);
    if (group != 1) return builder.refuse_value("group", group, "1");
    if (!remove_output_padding(builder, &image.x) || !remove_output_padding(builder, &image.y))
        return false;
    return builder.add<arm_compute::NEDeconvolutionLayer>(
        builder.input(0, image_info(*builder.source(0))), turn_weights(builder, *builder.source(1)),
        builder.source(2) ? builder.input(2) : nullptr,
        builder.output(0, image_info(*builder.target())), to_pad_stride(image));
}

constexpr Operator kConvTransposeRows[] = {
    {"ConvTranspose", kFloats, build_conv_transpose},
};

}  // namespace

extern const OperatorTable conv_transpose_operators;
const OperatorTable conv_transpose_operators = make_table(kConvTransposeRows);

}  // namespace tengine::acl

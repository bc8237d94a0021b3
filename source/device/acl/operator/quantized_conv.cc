// SPDX-License-Identifier: Apache-2.0
// QLinearConv. Inputs: x, its scale and zero point, the weights, theirs, the
// scale and zero point of y, the bias in int32.
#include <algorithm>
#include <arm_compute/runtime/NEON/functions/NEConvolutionLayer.h>
#include <arm_compute/runtime/NEON/functions/NEDepthwiseConvolutionLayer.h>

#include "device/acl/operator/image.h"
#include "device/acl/operator/quantized.h"
#include "device/acl/operator_table.h"
#include "operator/conv_param.h"

namespace tengine::acl {
namespace {

using arm_compute::NEConvolutionLayer;
using arm_compute::NEDepthwiseConvolutionLayer;
using arm_compute::Size2D;

struct QuantizedConv
{
    ImageWindow window;
    int group, group_inputs, outputs;  // channels
    Quantization x, y;
    QuantizedWeights weights;

    Size2D dilation() const
    {
        return Size2D(static_cast<size_t>(window.x.dilation),
                      static_cast<size_t>(window.y.dilation));
    }
};

bool read_conv(Builder& builder, QuantizedConv* conv)
{
    window window;
    if (resolve_conv_window(&builder.of(), 3, &window) != TENGINE_OK)
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    if (!read_image_window(builder, window, &conv->window) ||
        !read_quantization(builder, 1, &conv->x) || !read_quantization(builder, 6, &conv->y) ||
        !builder.require_constant(8, "bias"))
        return false;
    const tensor* weights = builder.source(3);
    conv->group = static_cast<int>(get_ir_node_int(&builder.of(), "group", 1));
    conv->outputs = weights->dims[0];
    conv->group_inputs = weights->dims[1];
    if (conv->group > 1 && conv->group_inputs > 1)
        return builder.refuse_value("group", conv->group, "1 and as many as there are channels");
    return conv->weights.read(builder, builder.source(0)->data_type, conv->outputs,
                              weights->elem_num / std::max(1, conv->outputs)) &&
           conv->weights.check_sums(builder, conv->x.scale, conv->y.scale, builder.source(8));
}

bool build_qlinear_conv(Builder& builder)
{
    QuantizedConv conv;
    if (!read_conv(builder, &conv)) return false;
    const tensor& x = *builder.source(0);
    const tensor& y = *builder.target();
    ITensor* input = builder.input(0, quantized_info(image_info(x), x.data_type, conv.x));
    ITensor* output = builder.output(0, quantized_info(image_info(y), y.data_type, conv.y));
    ITensor* bias = builder.source(8) ? builder.input(8) : nullptr;
    TensorShape shape = image_info(*builder.source(3)).tensor_shape();
    if (conv.group == 1)
        return builder.add<NEConvolutionLayer>(
            input, conv.weights.make(builder, shape, 0, conv.outputs), bias, output,
            to_pad_stride(conv.window), arm_compute::WeightsInfo(), conv.dilation(),
            ActivationLayerInfo(), false, 1U);
    // The weights of all channels lie behind one another in the third dimension.
    shape = TensorShape(shape[0], shape[1], shape[3]);
    return builder.add<NEDepthwiseConvolutionLayer>(
        input, conv.weights.make(builder, shape, 0, conv.outputs), bias, output,
        to_pad_stride(conv.window), static_cast<unsigned>(conv.outputs / conv.group),
        ActivationLayerInfo(), conv.dilation());
}

constexpr Operator kRows[] = {
    {"QLinearConv", kBytes, build_qlinear_conv},
};

}  // namespace

extern const OperatorTable quantized_conv_operators;
const OperatorTable quantized_conv_operators = make_table(kRows);

}  // namespace tengine::acl

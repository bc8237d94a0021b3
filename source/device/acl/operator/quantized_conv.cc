// SPDX-License-Identifier: Apache-2.0
// QLinearConv. Inputs: x, its scale and zero point, the weights, theirs, the
// scale and zero point of y, the bias in int32. Depthwise ones have a function
// of their own, other groups are computed one by one.
#include <algorithm>
#include <arm_compute/runtime/NEON/functions/NEConcatenateLayer.h>
#include <arm_compute/runtime/NEON/functions/NEConvolutionLayer.h>
#include <arm_compute/runtime/NEON/functions/NEDepthwiseConvolutionLayer.h>

#include "device/acl/operator/image.h"
#include "device/acl/operator/quantized.h"
#include "device/acl/operator_table.h"
#include "operator/onnx/conv_param.h"

namespace tengine::acl {
namespace {

using arm_compute::NEConvolutionLayer;
using arm_compute::NEDepthwiseConvolutionLayer;
using arm_compute::Size2D;

struct QuantizedConv
{
    ImageWindow window;
    int group, group_inputs, outputs;  // channels; outputs are those of all groups
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
    return conv->weights.read(builder, builder.source(0)->data_type, conv->outputs,
                              weights->elem_num / std::max(1, conv->outputs)) &&
           conv->weights.check_sums(builder, conv->x.scale, conv->y.scale, builder.source(8));
}

bool add_convolution(Builder& builder, const QuantizedConv& conv, ITensor* input, ITensor* weights,
                     ITensor* bias, ITensor* output)
{
    return builder.add<NEConvolutionLayer>(input, weights, bias, output, to_pad_stride(conv.window),
                                           arm_compute::WeightsInfo(), conv.dilation(),
                                           ActivationLayerInfo(), false, 1U);
}

// `shape` is that of all weights.
bool add_groups(Builder& builder, const QuantizedConv& conv, TensorShape shape, ITensor* input,
                ITensor* output)
{
    const int outputs = conv.outputs / conv.group;
    const ITensorInfo& whole = *output->info();
    const TensorInfo bias_info =
        make_info(TensorShape(static_cast<size_t>(outputs)), DataType::S32);
    shape.set(3, static_cast<size_t>(outputs));
    Tensors results;
    for (int g = 0; g < conv.group; ++g) {
        ITensor* part = take_channels(builder, input, g * conv.group_inputs, conv.group_inputs);
        ITensor* bias =
            builder.source(8)
                ? builder.constant(8, bias_info, static_cast<size_t>(g) * bias_info.total_size())
                : nullptr;
        ITensor* result = builder.temporary(with_dimension(
            make_info(whole.tensor_shape(), whole.data_type(), whole.quantization_info()), 2,
            outputs));
        if (!add_convolution(builder, conv, part,
                             conv.weights.make(builder, shape, g * outputs, outputs), bias, result))
            return false;
        results.push_back(result);
    }
    return builder.add<arm_compute::NEConcatenateLayer>(results, output, size_t{2});
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
        return add_convolution(builder, conv, input,
                               conv.weights.make(builder, shape, 0, conv.outputs), bias, output);
    if (conv.group_inputs > 1) return add_groups(builder, conv, shape, input, output);
    // The weights of all channels lie one after the other in the third dimension.
    shape = TensorShape(shape[0], shape[1], shape[3]);
    return builder.add<NEDepthwiseConvolutionLayer>(
        input, conv.weights.make(builder, shape, 0, conv.outputs), bias, output,
        to_pad_stride(conv.window), static_cast<unsigned>(conv.outputs / conv.group),
        ActivationLayerInfo(), conv.dilation());
}

constexpr Operator kQuantizedConvRows[] = {
    {"QLinearConv", kBytes, build_qlinear_conv},
};

}  // namespace

extern const OperatorTable quantized_conv_operators;
const OperatorTable quantized_conv_operators = make_table(kQuantizedConvRows);

}  // namespace tengine::acl

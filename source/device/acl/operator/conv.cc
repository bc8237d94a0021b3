// SPDX-License-Identifier: Apache-2.0
// Convolutions: depthwise ones have a function of their own, other groups are computed one by one.
#include <arm_compute/runtime/NEON/functions/NEConcatenateLayer.h>
#include <arm_compute/runtime/NEON/functions/NEConvolutionLayer.h>
#include <arm_compute/runtime/NEON/functions/NEDepthwiseConvolutionLayer.h>

#include "device/acl/operator/image.h"
#include "device/acl/operator_table.h"
#include "operator/onnx/conv_param.h"

namespace tengine::acl {
namespace {

using arm_compute::Size2D;

struct ConvProblem
{
    ImageWindow window;
    int group;
    int group_inputs;   // channels
    int group_outputs;  // channels
    ActivationLayerInfo activation;

    Size2D dilation() const
    {
        return Size2D(static_cast<size_t>(window.x.dilation),
                      static_cast<size_t>(window.y.dilation));
    }
};

bool read_problem(Builder& builder, ConvProblem* problem)
{
    window window;
    if (resolve_conv_window(&builder.of(), 1, &window) != TENGINE_OK)
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    if (!builder.require_constant(1, "weight") || !builder.require_constant(2, "bias") ||
        !read_image_window(builder, window, &problem->window))
        return false;
    problem->group = static_cast<int>(get_ir_node_int(&builder.of(), "group", 1));
    problem->group_inputs = builder.source(1)->dims[1];
    problem->group_outputs = builder.source(1)->dims[0] / problem->group;
    problem->activation = builder.take_activation();
    return true;
}

ITensor* bias_of(Builder& builder)
{
    return builder.source(2) ? builder.input(2) : nullptr;
}

// ACL has the weights of all channels in the third dimension.
bool build_depthwise(Builder& builder, const ConvProblem& problem)
{
    TensorInfo weights = image_info(*builder.source(1));
    const TensorShape shape = weights.tensor_shape();
    weights.set_tensor_shape(TensorShape(shape[0], shape[1], shape[3]));
    return builder.add<arm_compute::NEDepthwiseConvolutionLayer>(
        builder.input(0, image_info(*builder.source(0))), builder.constant(1, weights),
        bias_of(builder), builder.output(0, image_info(*builder.target())),
        to_pad_stride(problem.window), static_cast<unsigned>(problem.group_outputs),
        problem.activation, problem.dilation());
}

bool add_convolution(Builder& builder, const ConvProblem& problem, ITensor* input, ITensor* weights,
                     ITensor* bias, ITensor* output)
{
    return builder.add<arm_compute::NEConvolutionLayer>(
        input, weights, bias, output, to_pad_stride(problem.window), arm_compute::WeightsInfo(),
        problem.dilation(), problem.activation, builder.settings().fast_math, 1U);
}

bool build_groups(Builder& builder, const ConvProblem& problem)
{
    const TensorInfo input_info = image_info(*builder.source(0));
    const TensorInfo output_info = image_info(*builder.target());
    ITensor* input = builder.input(0, input_info);
    const TensorInfo result_info = with_dimension(output_info, 2, problem.group_outputs);
    const TensorInfo weight_info =
        with_dimension(image_info(*builder.source(1)), 3, problem.group_outputs);
    const TensorInfo bias_info =
        make_info(TensorShape(static_cast<size_t>(problem.group_outputs)), input_info.data_type());
    Tensors results;
    for (int g = 0; g < problem.group; ++g) {
        ITensor* part =
            take_channels(builder, input, g * problem.group_inputs, problem.group_inputs);
        const auto index = static_cast<size_t>(g);
        ITensor* weights = builder.constant(1, weight_info, index * weight_info.total_size());
        ITensor* bias = builder.source(2)
                            ? builder.constant(2, bias_info, index * bias_info.total_size())
                            : nullptr;
        ITensor* result = builder.temporary(result_info);
        if (!add_convolution(builder, problem, part, weights, bias, result)) return false;
        results.push_back(result);
    }
    return builder.add<arm_compute::NEConcatenateLayer>(results, builder.output(0, output_info),
                                                        size_t{2});
}

bool build_conv(Builder& builder)
{
    ConvProblem problem;
    if (!read_problem(builder, &problem)) return false;
    if (problem.group > 1)
        return problem.group_inputs == 1 ? build_depthwise(builder, problem)
                                         : build_groups(builder, problem);
    return add_convolution(builder, problem, builder.input(0, image_info(*builder.source(0))),
                           builder.constant(1, image_info(*builder.source(1))), bias_of(builder),
                           builder.output(0, image_info(*builder.target())));
}

constexpr Operator kConvRows[] = {
    {"Conv", kFloats, build_conv},
};

}  // namespace

extern const OperatorTable conv_operators;
const OperatorTable conv_operators = make_table(kConvRows);

}  // namespace tengine::acl

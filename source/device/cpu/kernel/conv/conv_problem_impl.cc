// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/shared/constant.h"

namespace tengine::cpu {

int describe_conv(const node& node, bool transposed, ConvProblem* out_problem, int weight_index)
{
    window window;
    TENGINE_RETURN_IF_ERROR(transposed ? resolve_conv_transpose_window(&node, &window)
                                       : resolve_conv_window(&node, weight_index, &window));
    if (window.axis_num > kConvAxes) return TENGINE_EINVAL;
    const tensor& input = *get_ir_node_input(&node, 0);
    const tensor& output = *get_ir_node_output(&node, 0);
    ConvProblem& p = *out_problem;
    p.groups = static_cast<const conv_param*>(node.op.param_mem)->group;
    p.batch = input.dims[0];
    p.input_channels = input.dims[1] / p.groups;
    p.output_channels = output.dims[1] / p.groups;
    p.input_plane = p.output_plane = p.taps = 1;
    std::fill_n(p.axes, kConvAxes, window_axis{1, 1, 1, 1, 1, 0, 0});
    std::copy_n(window.axes, window.axis_num, p.axes + kConvAxes - window.axis_num);
    for (const window_axis& axis : p.axes) {
        p.input_plane *= axis.input;
        p.output_plane *= axis.output;
        p.taps *= axis.kernel;
    }
    return TENGINE_OK;
}

bool is_pointwise(const ConvProblem& p)
{
    return std::all_of(std::begin(p.axes), std::end(p.axes), [](const window_axis& axis) {
        return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
    });
}

bool is_plain_conv(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    const tensor& weight = *get_ir_node_input(&node, 1);
    return input.data_type == TENGINE_DT_FP32 && weight.data_type == TENGINE_DT_FP32 &&
           input.dim_num >= 3 && input.dim_num <= 2 + kConvAxes;
}

bool has_pixel_conv_constants(const node& node)
{
    return is_constant(get_ir_node_input(&node, 1)) && is_constant(get_ir_node_input(&node, 2));
}

bool is_pixel_conv(const node& node)
{
    return is_plain_conv(node) && get_ir_node_input(&node, 0)->dim_num == 4 &&
           has_pixel_conv_constants(node);
}

bool is_float16_conv(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    return (input.data_type == TENGINE_DT_FP16 || input.data_type == TENGINE_DT_BF16) &&
           has_pixel_conv_constants(node) && input.dim_num == 4;
}

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// The scales of biases. TensorFlow Lite's kernels add the integers of a bias to the sum of the
// products, whatever its scale says. Files have others than the product of the scales where a
// converter has made one tensor of the equal biases of several convolutions.
#include <cmath>
#include <cstring>

#include "serializer/tflite/numbers.h"
#include "serializer/tflite/reading.h"

namespace tengine::tflite {
namespace {

// 0: the operator has no bias.
int find_bias_place(int code)
{
    if (code == kTransposeConv) return 3;
    return code == kConv2d || code == kDepthwiseConv2d || code == kFullyConnected ? 2 : 0;
}

bool has_scales(const struct tensor& tensor, const Vector<float>& scales)
{
    const auto number = static_cast<size_t>(tensor.quant_param_num);
    if (number != scales.size() && number != 1) return false;
    const float* own = tensor.quant_param_num == 1 ? &tensor.scale : tensor.scale_list;
    for (size_t i = 0; i < scales.size(); ++i)
        if (std::fabs(own[number == 1 ? 0 : i] - scales[i]) > 1e-5f * scales[i]) return false;
    return true;
}

// The products of the scales of the operands; empty: they have none that a bias can have.
Vector<float> multiply_scales(const struct tensor& input, const struct tensor& weights,
                              const struct tensor& bias)
{
    const int number = weights.quant_param_num;
    if (input.quant_param_num != 1 || (number != 1 && number != bias.elem_num)) return {};
    const float* of_weights = number == 1 ? &weights.scale : weights.scale_list;
    Vector<float> scales(of_weights, of_weights + number);
    for (float& scale : scales) {
        scale *= input.scale;
        if (!std::isnormal(scale)) return {};
    }
    return scales;
}

struct tensor* copy_constant(Reading& reading, const struct tensor& constant)
{
    const auto size = static_cast<size_t>(constant.elem_num) * sizeof(int32_t);
    if (reading.budget.charge(sizeof(struct tensor) + size) != TENGINE_OK) return nullptr;
    struct tensor* copy = create_ir_tensor(reading.graph, nullptr, constant.data_type);
    if (!copy) return nullptr;
    copy->tensor_type = TENSOR_TYPE_CONST;
    if (set_ir_tensor_shape(copy, constant.dims, constant.dim_num) != TENGINE_OK ||
        allocate_ir_tensor(copy) != TENGINE_OK)
        return nullptr;
    std::memcpy(copy->data, constant.data, size);
    return copy;
}

}  // namespace

int settle_bias(Reading& reading, struct node* node, int code)
{
    const int place = find_bias_place(code);
    if (place == 0 || node->input_num != place + 1) return TENGINE_OK;
    struct tensor* bias = get_ir_node_input(node, place);
    const struct tensor* input = get_ir_node_input(node, place == 3 ? 2 : 0);
    const struct tensor* weights = get_ir_node_input(node, 1);
    if (!bias || !input || !weights || bias->tensor_type != TENSOR_TYPE_CONST ||
        bias->data_type != TENGINE_DT_INT32 || bias->elem_num < 1)
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(
        reading.budget.charge(static_cast<uint64_t>(weights->quant_param_num) * 16));
    const Vector<float> scales = multiply_scales(*input, *weights, *bias);
    if (scales.empty() || has_scales(*bias, scales)) return TENGINE_OK;
    if (bias->consumer_num > 1) {
        bias = copy_constant(reading, *bias);
        if (!bias) return last_error();
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, place, bias));
    }
    const Vector<int> zero_points(scales.size(), 0);
    bias->quant_axis = 0;
    return set_ir_tensor_quantization_parameter(bias, scales.data(), zero_points.data(),
                                                static_cast<int>(scales.size()));
}

}  // namespace tengine::tflite

// SPDX-License-Identifier: Apache-2.0
// The codes of operators: those of a .tflite have the code of the file. Those of ONNX have one if
// they are the same function of the same tensors as TFLite's operator. Others are
// kLiteRtOpCodeTflCustom, with ONNX's name as their custom code: what depends on the order of an
// image's dimensions, which is NHWC in LiteRT and NCHW here, or has as an attribute what is an
// input there, or the other way round. Part of litert.hpp.
#pragma once

#include <algorithm>

#include "tengine/compat/litert/types.hpp"

TENGINE_LITERT_BEGIN
namespace tengine_litert {

inline LiteRtElementType to_element_type(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
            return kLiteRtElementTypeFloat32;
        case TENGINE_DT_FP16:
            return kLiteRtElementTypeFloat16;
        case TENGINE_DT_INT8:
            return kLiteRtElementTypeInt8;
        case TENGINE_DT_UINT8:
            return kLiteRtElementTypeUInt8;
        case TENGINE_DT_INT32:
            return kLiteRtElementTypeInt32;
        case TENGINE_DT_INT16:
            return kLiteRtElementTypeInt16;
        case TENGINE_DT_INT64:
            return kLiteRtElementTypeInt64;
        case TENGINE_DT_BOOL:
            return kLiteRtElementTypeBool;
        case TENGINE_DT_FP64:
            return kLiteRtElementTypeFloat64;
        case TENGINE_DT_BF16:
            return kLiteRtElementTypeBFloat16;
        case TENGINE_DT_UINT16:
            return kLiteRtElementTypeUInt16;
        case TENGINE_DT_UINT32:
            return kLiteRtElementTypeUInt32;
        case TENGINE_DT_UINT64:
            return kLiteRtElementTypeUInt64;
        default:
            return kLiteRtElementTypeNone;
    }
}

inline bool has_rank(const struct tensor* tensor, int minimum, int maximum)
{
    return tensor && tensor->shape_set && tensor->dim_num >= minimum && tensor->dim_num <= maximum;
}

inline bool has_two_inputs(const struct node& node)
{
    return node.input_num == 2;
}

inline bool has_one_type(const struct node& node)
{
    return get_ir_node_input(&node, 0)->data_type == get_ir_node_input(&node, 1)->data_type;
}

// Inputs of the same shape: LiteRT's AddN does not repeat values.
inline bool has_one_shape(const struct node& node)
{
    const struct tensor& first = *get_ir_node_input(&node, 0);
    for (int i = 0; i < node.input_num; ++i) {
        const struct tensor& input = *get_ir_node_input(&node, i);
        if (!is_ir_tensor_shape_known(&input) || input.dim_num != first.dim_num ||
            !std::equal(input.dims, input.dims + input.dim_num, first.dims))
            return false;
    }
    return node.input_num >= 2;
}

inline bool is_cast_of_numbers(const struct node& node)
{
    for (const struct tensor* tensor : {get_ir_node_input(&node, 0), get_ir_node_output(&node, 0)})
        if (to_element_type(tensor->data_type) == kLiteRtElementTypeNone) return false;
    return true;
}

inline bool has_last_axis(const struct node& node)
{
    const int64_t axis = get_ir_node_int(&node, "axis", -1);
    const struct tensor* input = get_ir_node_input(&node, 0);
    return axis == -1 || (has_rank(input, 1, 8) && axis == input->dim_num - 1);
}

inline bool has_alpha_of_one(const struct node& node)
{
    return get_ir_node_float(&node, "alpha", 1) == 1;
}

// The sign is that of the divisor.
inline bool is_floor_mod(const struct node& node)
{
    return get_ir_node_int(&node, "fmod", 0) == 0;
}

// A constant of one float.
inline bool is_number(const struct tensor* tensor, float wanted)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST && tensor->data &&
           tensor->data_type == TENGINE_DT_FP32 && tensor->elem_num == 1 && *tensor->f32 == wanted;
}

template <int kMinimum, int kMaximum>
bool has_bounds(const struct node& node)
{
    return is_number(get_ir_node_input(&node, 1), kMinimum) &&
           is_number(get_ir_node_input(&node, 2), kMaximum);
}

// LiteRT's has no products with vectors.
inline bool has_matrices(const struct node& node)
{
    return has_rank(get_ir_node_input(&node, 0), 2, 8) &&
           has_rank(get_ir_node_input(&node, 1), 2, 8);
}

// input [n, k] times weights [m, k], transposed, plus a bias [m], if there is one.
inline bool is_fully_connected(const struct node& node)
{
    const struct tensor* weights = get_ir_node_input(&node, 1);
    const struct tensor* bias = get_ir_node_input(&node, 2);
    const bool is_plain = get_ir_node_int(&node, "transA", 0) == 0 &&
                          get_ir_node_int(&node, "transB", 0) != 0 &&
                          get_ir_node_float(&node, "alpha", 1) == 1 &&
                          (!bias || get_ir_node_float(&node, "beta", 1) == 1);
    return is_plain && has_rank(get_ir_node_input(&node, 0), 2, 2) && has_rank(weights, 2, 2) &&
           (!bias || (has_rank(bias, 1, 1) && bias->dims[0] == weights->dims[0]));
}

// Slopes of each sample would be others in LiteRT.
inline bool has_slopes_of_a_sample(const struct node& node)
{
    const struct tensor* input = get_ir_node_input(&node, 0);
    return has_rank(input, 1, 8) && has_rank(get_ir_node_input(&node, 1), 0, input->dim_num - 1);
}

inline bool has_one_axis(const struct node& node)
{
    return get_ir_node_input(&node, 1)->elem_num == 1;
}

inline bool has_axis_of_32_bits(const struct node& node)
{
    return get_ir_node_input(&node, 1)->data_type == TENGINE_DT_INT32;
}

// ONNX takes a 1 for whatever the input has there; LiteRT wants the result's shape.
inline bool has_shape_of_result(const struct node& node)
{
    const struct tensor& shape = *get_ir_node_input(&node, 1);
    const struct tensor& result = *get_ir_node_output(&node, 0);
    return shape.tensor_type == TENSOR_TYPE_CONST && shape.data && result.shape_set &&
           shape.elem_num == result.dim_num &&
           std::equal(shape.i64, shape.i64 + shape.elem_num, result.dims);
}

// An operator of ONNX, its code, and what else must hold (NULL: nothing). Those with an
// `input_num` have that many inputs in LiteRT; the others are in its code.
struct OpMeaning
{
    const char* name;
    LiteRtOpCode code;
    bool (*holds)(const struct node& node);
    int input_num;
};

inline constexpr OpMeaning kOpMeanings[] = {
    {"Abs", kLiteRtOpCodeTflAbs, nullptr, 0},
    {"Add", kLiteRtOpCodeTflAdd, nullptr, 0},
    {"And", kLiteRtOpCodeTflLogicalAnd, nullptr, 0},
    {"Cast", kLiteRtOpCodeTflCast, is_cast_of_numbers, 0},
    {"Ceil", kLiteRtOpCodeTflCeil, nullptr, 0},
    {"Clip", kLiteRtOpCodeTflRelu0To1, has_bounds<0, 1>, 1},
    {"Clip", kLiteRtOpCodeTflRelu6, has_bounds<0, 6>, 1},
    {"Clip", kLiteRtOpCodeTflReluN1To1, has_bounds<-1, 1>, 1},
    {"Concat", kLiteRtOpCodeTflConcatenation, nullptr, 0},
    {"Cos", kLiteRtOpCodeTflCos, nullptr, 0},
    {"CumSum", kLiteRtOpCodeTflCumsum, has_axis_of_32_bits, 0},
    {"Div", kLiteRtOpCodeTflDiv, nullptr, 0},
    {"Elu", kLiteRtOpCodeTflElu, has_alpha_of_one, 0},
    {"Equal", kLiteRtOpCodeTflEqual, nullptr, 0},
    {"Exp", kLiteRtOpCodeTflExp, nullptr, 0},
    {"Expand", kLiteRtOpCodeTflBroadcastTo, has_shape_of_result, 0},
    {"Floor", kLiteRtOpCodeTflFloor, nullptr, 0},
    {"Gelu", kLiteRtOpCodeTflGelu, nullptr, 0},
    {"Gemm", kLiteRtOpCodeTflFullyConnected, is_fully_connected, 0},
    {"Greater", kLiteRtOpCodeTflGreater, nullptr, 0},
    {"GreaterOrEqual", kLiteRtOpCodeTflGreaterEqual, nullptr, 0},
    {"HardSwish", kLiteRtOpCodeTflHardSwish, nullptr, 0},
    {"LeakyRelu", kLiteRtOpCodeTflLeakyRelu, nullptr, 0},
    {"Less", kLiteRtOpCodeTflLess, nullptr, 0},
    {"LessOrEqual", kLiteRtOpCodeTflLessEqual, nullptr, 0},
    {"Log", kLiteRtOpCodeTflLog, nullptr, 0},
    {"LogSoftmax", kLiteRtOpCodeTflLogSoftmax, has_last_axis, 0},
    {"MatMul", kLiteRtOpCodeTflBatchMatmul, has_matrices, 0},
    {"Max", kLiteRtOpCodeTflMaximum, has_two_inputs, 0},
    {"Min", kLiteRtOpCodeTflMinimum, has_two_inputs, 0},
    {"Mod", kLiteRtOpCodeTflFloorMod, is_floor_mod, 0},
    {"Mul", kLiteRtOpCodeTflMul, nullptr, 0},
    {"Neg", kLiteRtOpCodeTflNeg, nullptr, 0},
    {"Not", kLiteRtOpCodeTflLogicalNot, nullptr, 0},
    {"Or", kLiteRtOpCodeTflLogicalOr, nullptr, 0},
    {"PRelu", kLiteRtOpCodeTflPrelu, has_slopes_of_a_sample, 0},
    {"Pow", kLiteRtOpCodeTflPow, has_one_type, 0},
    {"RMSNormalization", kLiteRtOpCodeShloComposite, has_last_axis, 0},
    {"Relu", kLiteRtOpCodeTflRelu, nullptr, 0},
    {"Round", kLiteRtOpCodeTflRound, nullptr, 0},
    {"Sigmoid", kLiteRtOpCodeTflLogistic, nullptr, 0},
    {"Sign", kLiteRtOpCodeTflSign, nullptr, 0},
    {"Sin", kLiteRtOpCodeTflSin, nullptr, 0},
    {"Softmax", kLiteRtOpCodeTflSoftmax, has_last_axis, 0},
    {"Sqrt", kLiteRtOpCodeTflSqrt, nullptr, 0},
    {"Sub", kLiteRtOpCodeTflSub, nullptr, 0},
    {"Sum", kLiteRtOpCodeTflAddN, has_one_shape, 0},
    {"Tanh", kLiteRtOpCodeTflTanh, nullptr, 0},
    {"Tile", kLiteRtOpCodeTflTile, nullptr, 0},
    {"Unsqueeze", kLiteRtOpCodeTflExpandDims, has_one_axis, 0},
    {"Where", kLiteRtOpCodeTflSelectV2, nullptr, 0},
};

// An operator of a .tflite has the code of the file.
inline OpMeaning to_op_meaning(const struct node& node)
{
    const char* name = get_ir_node_op(&node);
    const int code = tengine_node_get_tflite_code(&node);
    if (code >= 0) return {name, static_cast<LiteRtOpCode>(code), nullptr, 0};
    for (const OpMeaning& meaning : kOpMeanings)
        if (*get_ir_node_domain(&node) == '\0' && std::strcmp(name, meaning.name) == 0 &&
            (!meaning.holds || meaning.holds(node)))
            return meaning;
    return {name, kLiteRtOpCodeTflCustom, nullptr, 0};
}

}  // namespace tengine_litert
TENGINE_LITERT_END

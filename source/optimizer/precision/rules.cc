// SPDX-License-Identifier: Apache-2.0
// The table of quantized_operator.h.
#include <cstring>

#include "optimizer/precision/fuser.h"
#include "optimizer/precision/quantized_operator.h"

namespace tengine {
namespace {

constexpr QuantizedRole kWeighted = QuantizedRole::kWeighted;
constexpr QuantizedRole kArithmetic = QuantizedRole::kArithmetic;
constexpr QuantizedRole kActivation = QuantizedRole::kActivation;
constexpr QuantizedRole kFunction = QuantizedRole::kFunction;
constexpr QuantizedRole kPassThrough = QuantizedRole::kPassThrough;

// Rows without a role have an integer form between pairs, but a quantiser adds no pairs.
constexpr QuantizedOperator kOperators[] = {
    {"Conv", fuse_conv, kWeighted, 2, true},
    {"ConvTranspose", fuse_conv_transpose, kWeighted, 2, true},
    {"Gemm", fuse_gemm, kWeighted, 2, true},
    {"MatMul", fuse_matmul, kWeighted, 2, true},

    {"Add", fuse_add, kArithmetic, 2, true},
    {"Mul", fuse_mul, kArithmetic, 2, true},
    {"BatchNormalization", fuse_batch_norm, kArithmetic, 1, true},
    {"AveragePool", fuse_average_pool, kArithmetic},
    {"GlobalAveragePool", fuse_global_average_pool, kArithmetic},
    {"LayerNormalization", fuse_layer_norm},
    {"ReduceMean", fuse_reduce_mean, kArithmetic},
    {"Softmax", fuse_softmax},

    {"Concat", fuse_concat, kPassThrough, 0},
    {"DepthToSpace", fuse_movement, kPassThrough},
    {"Expand", fuse_movement, kPassThrough},
    {"Flatten", fuse_movement, kPassThrough},
    {"Gather", fuse_movement, kPassThrough},
    {"GatherElements", fuse_movement},
    {"GatherND", fuse_movement},
    {"GlobalMaxPool", fuse_global_max_pool, kPassThrough},
    {"Identity", fuse_movement, kPassThrough},
    {"MaxPool", fuse_max_pool, kPassThrough},
    {"Pad", fuse_pad, kPassThrough},
    {"Reshape", fuse_movement, kPassThrough},
    {"Resize", fuse_resize, kPassThrough},
    {"Slice", fuse_movement, kPassThrough},
    {"SpaceToDepth", fuse_movement, kPassThrough},
    {"Split", fuse_movement, kPassThrough},
    {"Squeeze", fuse_movement, kPassThrough},
    {"Tile", fuse_movement, kPassThrough},
    {"Transpose", fuse_movement, kPassThrough},
    {"Unsqueeze", fuse_movement, kPassThrough},

    {"Abs", fuse_unary, kFunction},
    {"Acos", fuse_unary},
    {"Acosh", fuse_unary},
    {"Asin", fuse_unary},
    {"Asinh", fuse_unary},
    {"Atan", fuse_unary},
    {"Atanh", fuse_unary},
    {"Ceil", fuse_unary},
    {"Celu", fuse_unary, kFunction},
    {"Clip", fuse_unary, kActivation},
    {"Cos", fuse_unary},
    {"Cosh", fuse_unary},
    {"Div", fuse_unary, kFunction, 2},
    {"Elu", fuse_unary, kFunction},
    {"Erf", fuse_unary, kFunction},
    {"Exp", fuse_unary, kFunction},
    {"Floor", fuse_unary},
    {"Gelu", fuse_unary, kFunction},
    {"HardSigmoid", fuse_unary, kFunction},
    {"HardSwish", fuse_hard_swish, kFunction},
    {"LeakyRelu", fuse_leaky_relu, kFunction},
    {"Log", fuse_unary, kFunction},
    {"Max", fuse_unary, kFunction, 2},
    {"Min", fuse_unary, kFunction, 2},
    {"Mish", fuse_unary, kFunction},
    {"Neg", fuse_unary, kFunction},
    {"PRelu", fuse_unary, kFunction},
    {"Pow", fuse_unary, kFunction, 2},
    {"Reciprocal", fuse_unary, kFunction},
    {"Relu", fuse_unary, kActivation},
    {"Round", fuse_unary},
    {"Selu", fuse_unary, kFunction},
    {"Shrink", fuse_unary},
    {"Sigmoid", fuse_unary, kFunction},
    {"Sign", fuse_unary},
    {"Sin", fuse_unary},
    {"Sinh", fuse_unary},
    {"Softplus", fuse_unary, kFunction},
    {"Softsign", fuse_unary, kFunction},
    {"Sqrt", fuse_unary, kFunction},
    {"Sub", fuse_sub, kFunction, 2},
    {"Swish", fuse_unary, kFunction},
    {"Tan", fuse_unary},
    {"Tanh", fuse_unary, kFunction},
    {"ThresholdedRelu", fuse_unary, kFunction},

    {"QuantizeLinear", fuse_requantization},
};

}  // namespace

const QuantizedOperator* find_quantized_operator(const node& node)
{
    if (*get_ir_node_domain(&node)) return nullptr;
    for (const QuantizedOperator& op : kOperators)
        if (std::strcmp(op.name, get_ir_node_op(&node)) == 0) return &op;
    return nullptr;
}

FuseRule find_fuse_rule(const node& node)
{
    const QuantizedOperator* op = find_quantized_operator(node);
    return op ? op->rule : nullptr;
}

bool is_movement(const node& node)
{
    const FuseRule rule = find_fuse_rule(node);
    return rule == fuse_movement || rule == fuse_pad || rule == fuse_max_pool ||
           rule == fuse_global_max_pool || rule == fuse_resize || rule == fuse_concat;
}

}  // namespace tengine

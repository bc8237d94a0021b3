// SPDX-License-Identifier: Apache-2.0
// Which rule rewrites which operator.
#include <cstring>

#include "optimizer/precision/fuser.h"

namespace tengine {
namespace {

struct Row
{
    const char* op;  // of ONNX
    FuseRule rule;
};

constexpr Row kRows[] = {
    {"Conv", fuse_conv},
    {"Gemm", fuse_gemm},
    {"MatMul", fuse_matmul},

    {"Add", fuse_add},
    {"Mul", fuse_mul},
    {"BatchNormalization", fuse_batch_norm},
    {"AveragePool", fuse_average_pool},
    {"GlobalAveragePool", fuse_global_average_pool},
    {"ReduceMean", fuse_reduce_mean},

    {"Concat", fuse_concat},
    {"DepthToSpace", fuse_movement},
    {"Expand", fuse_movement},
    {"Flatten", fuse_movement},
    {"Gather", fuse_movement},
    {"GatherElements", fuse_movement},
    {"GatherND", fuse_movement},
    {"GlobalMaxPool", fuse_global_max_pool},
    {"Identity", fuse_movement},
    {"MaxPool", fuse_max_pool},
    {"Pad", fuse_pad},
    {"Reshape", fuse_movement},
    {"Resize", fuse_resize},
    {"Slice", fuse_movement},
    {"SpaceToDepth", fuse_movement},
    {"Split", fuse_movement},
    {"Squeeze", fuse_movement},
    {"Tile", fuse_movement},
    {"Transpose", fuse_movement},
    {"Unsqueeze", fuse_movement},

    {"Abs", fuse_unary},
    {"Acos", fuse_unary},
    {"Acosh", fuse_unary},
    {"Asin", fuse_unary},
    {"Asinh", fuse_unary},
    {"Atan", fuse_unary},
    {"Atanh", fuse_unary},
    {"Ceil", fuse_unary},
    {"Celu", fuse_unary},
    {"Clip", fuse_unary},
    {"Cos", fuse_unary},
    {"Cosh", fuse_unary},
    {"Div", fuse_unary},
    {"Elu", fuse_unary},
    {"Erf", fuse_unary},
    {"Exp", fuse_unary},
    {"Floor", fuse_unary},
    {"Gelu", fuse_unary},
    {"HardSigmoid", fuse_unary},
    {"HardSwish", fuse_unary},
    {"LeakyRelu", fuse_unary},
    {"Log", fuse_unary},
    {"Max", fuse_unary},
    {"Min", fuse_unary},
    {"Mish", fuse_unary},
    {"Neg", fuse_unary},
    {"PRelu", fuse_unary},
    {"Pow", fuse_unary},
    {"Reciprocal", fuse_unary},
    {"Relu", fuse_unary},
    {"Round", fuse_unary},
    {"Selu", fuse_unary},
    {"Shrink", fuse_unary},
    {"Sigmoid", fuse_unary},
    {"Sign", fuse_unary},
    {"Sin", fuse_unary},
    {"Sinh", fuse_unary},
    {"Softplus", fuse_unary},
    {"Softsign", fuse_unary},
    {"Sqrt", fuse_unary},
    {"Sub", fuse_unary},
    {"Tan", fuse_unary},
    {"Tanh", fuse_unary},
    {"ThresholdedRelu", fuse_unary},

    {"QuantizeLinear", fuse_requantization},
};

}  // namespace

FuseRule find_fuse_rule(const node& node)
{
    if (*get_ir_node_domain(&node)) return nullptr;
    for (const Row& row : kRows)
        if (std::strcmp(row.op, get_ir_node_op(&node)) == 0) return row.rule;
    return nullptr;
}

bool is_movement(const node& node)
{
    const FuseRule rule = find_fuse_rule(node);
    return rule == fuse_movement || rule == fuse_pad || rule == fuse_max_pool ||
           rule == fuse_global_max_pool || rule == fuse_resize || rule == fuse_concat;
}

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// Functions of one element, and PRelu.
#include <arm_compute/runtime/NEON/functions/NEActivationLayer.h>
#include <arm_compute/runtime/NEON/functions/NEElementwiseUnaryLayer.h>
#include <arm_compute/runtime/NEON/functions/NEPReluLayer.h>
#include <cfloat>
#include <cstring>

#include "device/acl/operator_table.h"
#include "operator/infer.h"

namespace tengine::acl {
namespace {

using Kind = ActivationLayerInfo::ActivationFunction;

struct Activation
{
    const char* op;
    Kind kind;
    float a;
    float b;
    const char* parameter_a;  // the node's attribute with a; NULL: a is fixed
};

// Without Softplus, nor Log, Sin and Floor below: docs/acl.md gives the reasons.
constexpr Activation kActivations[] = {
    {"Relu", Kind::RELU, 0, 0, nullptr}, {"Sigmoid", Kind::LOGISTIC, 0, 0, nullptr},
    {"Tanh", Kind::TANH, 1, 1, nullptr}, {"LeakyRelu", Kind::LEAKY_RELU, 0, 0, "alpha"},
    {"Elu", Kind::ELU, 0, 0, "alpha"},   {"HardSwish", Kind::HARD_SWISH, 0, 0, nullptr},
    {"Sqrt", Kind::SQRT, 0, 0, nullptr},
};

// Reads the bound at input `index` of a Clip; false when it is computed.
bool read_bound(const node& node, int index, float* bound)
{
    int number = 0;
    return read_float_input(&node, index, bound, 1, &number) == TENGINE_OK;
}

bool read_clip(const node& node, ActivationLayerInfo* out_info)
{
    float low = -FLT_MAX, high = FLT_MAX;
    if (!read_bound(node, 1, &low) || !read_bound(node, 2, &high)) return false;
    *out_info = ActivationLayerInfo(Kind::LU_BOUNDED_RELU, high, low);
    return true;
}

bool build_activation(Builder& builder)
{
    ActivationLayerInfo info;
    if (!read_activation(builder.of(), &info))
        return builder.refuse(IR_REASON_CONSTANT, "", "", "the bounds of a Clip must be constant");
    return builder.add<arm_compute::NEActivationLayer>(builder.input(0), builder.output(), info);
}

template <class Function>
bool build_unary(Builder& builder)
{
    return builder.add<Function>(builder.input(0), builder.output());
}

// ACL rounds through int32 in a library of 32 bits.
bool build_round(Builder& builder)
{
    if (sizeof(void*) > 4) return build_unary<arm_compute::NERoundLayer>(builder);
    return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "ACL for 32 bits rounds up to 2^31 only");
}

// ACL supports a slope for each channel, and ONNX's broadcasting.
bool build_prelu(Builder& builder)
{
    return builder.add<arm_compute::NEPReluLayer>(builder.input(0), builder.input(1),
                                                  builder.output());
}

constexpr Operator kActivationRows[] = {
    {"Relu", kFloats, build_activation},
    {"Sigmoid", kFloats, build_activation},
    {"Tanh", kFloats, build_activation},
    {"LeakyRelu", kFloats, build_activation},
    {"Elu", kFloats, build_activation},
    {"HardSwish", kFloats, build_activation},
    {"Sqrt", kFloats, build_activation},
    {"Clip", kFloats, build_activation},
    {"PRelu", kFloats, build_prelu},
    {"Exp", kFloats, build_unary<arm_compute::NEExpLayer>},
    {"Neg", kFloats, build_unary<arm_compute::NENegLayer>},
    {"Abs", kFloats, build_unary<arm_compute::NEAbsLayer>},
    {"Round", kFloats, build_round},
};

}  // namespace

bool read_activation(const node& node, ActivationLayerInfo* out_info)
{
    if (*get_ir_node_domain(&node)) return false;
    const char* op = get_ir_node_op(&node);
    if (std::strcmp(op, "Clip") == 0) return read_clip(node, out_info);
    for (const Activation& row : kActivations) {
        if (std::strcmp(op, row.op) != 0) continue;
        const float a = row.parameter_a ? get_ir_node_float(&node, row.parameter_a, row.a) : row.a;
        *out_info = ActivationLayerInfo(row.kind, a, row.b);
        return true;
    }
    return false;
}

extern const OperatorTable activation_operators;
const OperatorTable activation_operators = make_table(kActivationRows);

}  // namespace tengine::acl

// SPDX-License-Identifier: Apache-2.0
// Functions of two tensors, element by element with broadcasting.
#include <arm_compute/runtime/NEON/functions/NEActivationLayer.h>
#include <arm_compute/runtime/NEON/functions/NEArithmeticAddition.h>
#include <arm_compute/runtime/NEON/functions/NEArithmeticSubtraction.h>
#include <arm_compute/runtime/NEON/functions/NEElementwiseOperations.h>
#include <arm_compute/runtime/NEON/functions/NEPixelWiseMultiplication.h>

#include "device/acl/operator_table.h"
#include "operator/infer.h"

namespace tengine::acl {
namespace {

using arm_compute::ConvertPolicy;

template <class Function>
bool build_sum(Builder& builder)
{
    const ActivationLayerInfo activation = builder.take_activation();
    return builder.add<Function>(builder.input(0), builder.input(1), builder.output(),
                                 ConvertPolicy::SATURATE, activation);
}

bool build_product(Builder& builder)
{
    const ActivationLayerInfo activation = builder.take_activation();
    return builder.add<arm_compute::NEPixelWiseMultiplication>(
        builder.input(0), builder.input(1), builder.output(), 1.0F, ConvertPolicy::SATURATE,
        arm_compute::RoundingPolicy::TO_ZERO, activation);
}

template <class Function>
bool build_pair(Builder& builder)
{
    return builder.add<Function>(builder.input(0), builder.input(1), builder.output());
}

// ACL's power is exp(y log x), which has no sign, so only squares and square roots are taken, which
// have functions of their own.
bool build_power(Builder& builder)
{
    using Kind = ActivationLayerInfo::ActivationFunction;
    float exponent = 0;
    int number = 0;
    const bool is_known = builder.is_constant(1) &&
                          read_float_input(&builder.of(), 1, &exponent, 1, &number) == TENGINE_OK &&
                          number == 1;
    if (!is_known || (exponent != 2 && exponent != 0.5F))
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "",
                              "ACL does not compute powers of negative numbers, other than x^2");
    const Kind kind = exponent == 2 ? Kind::SQUARE : Kind::SQRT;
    return builder.add<arm_compute::NEActivationLayer>(builder.input(0), builder.output(),
                                                       ActivationLayerInfo(kind));
}

// Combines any number of inputs: the first two, their result with the third, and so on.
template <class Function>
bool build_extreme(Builder& builder)
{
    const int number = builder.of().input_num;
    if (number < 2) return builder.refuse_value("input count", number, "2 or more");
    ITensor* so_far = builder.input(0);
    for (int i = 1; i < number; ++i) {
        ITensor* next = builder.input(i);
        const TensorShape shape = TensorShape::broadcast_shape(so_far->info()->tensor_shape(),
                                                               next->info()->tensor_shape());
        ITensor* result = i == number - 1
                              ? builder.output()
                              : builder.temporary(make_info(shape, so_far->info()->data_type()));
        if (!builder.add<Function>(so_far, next, result)) return false;
        so_far = result;
    }
    return true;
}

constexpr Operator kElementwiseRows[] = {
    {"Add", kFloats, build_sum<arm_compute::NEArithmeticAddition>},
    {"Sub", kFloats, build_sum<arm_compute::NEArithmeticSubtraction>},
    {"Mul", kFloats, build_product},
    {"Div", kFloats, build_pair<arm_compute::NEElementwiseDivision>},
    {"Pow", kFloats, build_power},
    {"Max", kFloats, build_extreme<arm_compute::NEElementwiseMax>},
    {"Min", kFloats, build_extreme<arm_compute::NEElementwiseMin>},
};

}  // namespace

extern const OperatorTable elementwise_operators;
const OperatorTable elementwise_operators = make_table(kElementwiseRows);

}  // namespace tengine::acl

// SPDX-License-Identifier: Apache-2.0
// Normalisations, and softmax.
#include <arm_compute/runtime/NEON/functions/NEArithmeticAddition.h>
#include <arm_compute/runtime/NEON/functions/NEArithmeticSubtraction.h>
#include <arm_compute/runtime/NEON/functions/NEBatchNormalizationLayer.h>
#include <arm_compute/runtime/NEON/functions/NEInstanceNormalizationLayer.h>
#include <arm_compute/runtime/NEON/functions/NENormalizationLayer.h>
#include <arm_compute/runtime/NEON/functions/NEPermute.h>
#include <arm_compute/runtime/NEON/functions/NEPixelWiseMultiplication.h>
#include <arm_compute/runtime/NEON/functions/NEReductionOperation.h>
#include <arm_compute/runtime/NEON/functions/NESoftmaxLayer.h>

#include "device/acl/operator_table.h"
#include "operator/infer.h"

namespace tengine::acl {
namespace {

// N x C x everything else in one row.
TensorInfo channel_info(const tensor& tensor)
{
    const int64_t channels = tensor.dim_num > 1 ? tensor.dims[1] : 1;
    const int64_t size = multiply_dims(&tensor, 2, tensor.dim_num);
    return make_info(
        to_acl_shape({tensor.dims[0], static_cast<int>(channels), 1, static_cast<int>(size)}),
        to_acl_type(tensor.data_type));
}

// Images keep their shape, since another one may cost a copy.
TensorInfo image_or_channel_info(const tensor& tensor)
{
    return tensor.dim_num == 4 ? to_acl_info(tensor) : channel_info(tensor);
}

bool require_constants(Builder& builder, int first, int last)
{
    for (int i = first; i <= last; ++i)
        if (!builder.require_constant(i, "statistics")) return false;
    return true;
}

bool build_batch_norm(Builder& builder)
{
    const node& node = builder.of();
    if (get_ir_node_int(&node, "training_mode", 0) != 0)
        return builder.refuse_value("training_mode", 1, "0");
    if (!require_constants(builder, 1, 4)) return false;
    const TensorInfo info = image_or_channel_info(*builder.source(0));
    const ActivationLayerInfo activation = builder.take_activation();
    return builder.add<arm_compute::NEBatchNormalizationLayer>(
        builder.input(0, info), builder.output(0, info), builder.input(3), builder.input(4),
        builder.input(2), builder.input(1), get_ir_node_float(&node, "epsilon", 1e-5F), activation);
}

// x without the mean of its channel.
ITensor* subtract_mean(Builder& builder, const TensorInfo& info, const TensorInfo& means)
{
    ITensor* x = builder.input(0, info);
    ITensor* mean = builder.temporary(means);
    ITensor* centred = builder.temporary(info);
    if (builder.add<arm_compute::NEReductionOperation>(
            x, mean, 0U, arm_compute::ReductionOperation::MEAN_SUM, true))
        builder.add<arm_compute::NEArithmeticSubtraction>(x, mean, centred,
                                                          arm_compute::ConvertPolicy::SATURATE);
    return centred;
}

// ACL has one scale and bias for all channels, so those of the node are applied after it. Its
// variance is the mean of the squares less the square of the mean, which cancels in fp32 far from
// 0.
bool build_instance_norm(Builder& builder)
{
    if (!require_constants(builder, 1, 2)) return false;
    const TensorInfo info = channel_info(*builder.source(0));
    const TensorInfo channels =
        make_info(TensorShape(1U, 1U, info.dimension(size_t{2})), info.data_type());
    TensorShape planes = info.tensor_shape();
    planes.set(0, 1);
    ITensor* centred = subtract_mean(builder, info, make_info(planes, info.data_type()));
    ITensor* normal = builder.temporary(info);
    ITensor* scaled = builder.temporary(info);
    return builder.add<arm_compute::NEInstanceNormalizationLayer>(
               centred, normal, 1.0F, 0.0F, get_ir_node_float(&builder.of(), "epsilon", 1e-5F)) &&
           builder.add<arm_compute::NEPixelWiseMultiplication>(
               normal, builder.input(1, channels), scaled, 1.0F,
               arm_compute::ConvertPolicy::SATURATE, arm_compute::RoundingPolicy::TO_ZERO) &&
           builder.add<arm_compute::NEArithmeticAddition>(scaled, builder.input(2, channels),
                                                          builder.output(0, info),
                                                          arm_compute::ConvertPolicy::SATURATE);
}

bool build_lrn(Builder& builder)
{
    const node& node = builder.of();
    const int64_t size = get_ir_node_int(&node, "size", 1);
    if (size % 2 == 0) return builder.refuse_value("size", size, "an odd number");
    const arm_compute::NormalizationLayerInfo normalization(
        arm_compute::NormType::CROSS_MAP, static_cast<uint32_t>(size),
        get_ir_node_float(&node, "alpha", 1e-4F), get_ir_node_float(&node, "beta", 0.75F),
        get_ir_node_float(&node, "bias", 1));
    // Channels are ACL's third dimension.
    const TensorInfo info = image_or_channel_info(*builder.source(0));
    return builder.add<arm_compute::NENormalizationLayer>(builder.input(0, info),
                                                          builder.output(0, info), normalization);
}

bool read_axis(Builder& builder, int64_t otherwise, int* out_axis)
{
    const int64_t axis = get_ir_node_int(&builder.of(), "axis", otherwise);
    if (normalize_axis(&builder.of(), axis, builder.source(0)->dim_num, out_axis) == TENGINE_OK)
        return true;
    return builder.refuse_value("axis", axis, "an axis of the input");
}

// ACL's softmax runs along the innermost dimension, so another axis is transposed to it.
template <bool is_log>
bool build_softmax(Builder& builder)
{
    using Softmax = arm_compute::NESoftmaxLayerGeneric<is_log>;
    const tensor& source = *builder.source(0);
    int axis = 0;
    if (!read_axis(builder, -1, &axis)) return false;
    const auto outer = static_cast<size_t>(multiply_dims(&source, 0, axis));
    const auto length = static_cast<size_t>(source.dim_num > 0 ? source.dims[axis] : 1);
    const auto inner = static_cast<size_t>(multiply_dims(&source, axis + 1, source.dim_num));
    const DataType type = to_acl_type(source.data_type);
    if (inner == 1) {
        const TensorInfo rows = make_info(TensorShape(length, outer), type);
        return builder.add<Softmax>(builder.input(0, rows), builder.output(0, rows), 1.0F, 0);
    }
    const TensorInfo stack = make_info(TensorShape(inner, length, outer), type);
    const TensorInfo turned = make_info(TensorShape(length, inner, outer), type);
    const arm_compute::PermutationVector turn(1U, 0U, 2U);
    ITensor* before = builder.temporary(turned);
    ITensor* after = builder.temporary(turned);
    return builder.add<arm_compute::NEPermute>(builder.input(0, stack), before, turn) &&
           builder.add<Softmax>(before, after, 1.0F, 0) &&
           builder.add<arm_compute::NEPermute>(after, builder.output(0, stack), turn);
}

constexpr Operator kNormalizationRows[] = {
    {"BatchNormalization", kFloats, build_batch_norm},
    {"InstanceNormalization", kFloats, build_instance_norm},
    {"LRN", kFloats, build_lrn},
    {"Softmax", kFloats, build_softmax<false>},
    {"LogSoftmax", kFloats, build_softmax<true>},
};

}  // namespace

extern const OperatorTable normalization_operators;
const OperatorTable normalization_operators = make_table(kNormalizationRows);

}  // namespace tengine::acl

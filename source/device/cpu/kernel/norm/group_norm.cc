// SPDX-License-Identifier: Apache-2.0
// GroupNormalization and InstanceNormalization of floats; an instance is a group of one channel.
// Four passes over adjacent channels: the mean of a group, its error, the mean of the squared
// deviations, the results. Workers share the groups. Limits: additions; memory bandwidth for groups
// beyond the cache. Accuracy: values are taken relative to one near the mean, so that a group may
// be far from zero; sums as in normalize-inl.h, for kMostTogether values at once, then in fp64.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/norm_param.h"

#ifndef TENGINE_CPU_GROUP_NORM
#define TENGINE_CPU_GROUP_NORM
namespace tengine::cpu {

// A group: the length of its channels, and a scale and a bias for each channel, or one for all.
struct NormGroup
{
    const float* x;
    int64_t channels, extent;
    float epsilon;
    const float *scale, *bias;
    int64_t step;  // from the scale of a channel to that of the next: 1 or 0
    float* y;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/group_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/norm/normalize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMostTogether = 4096;

// The mean of function(x).
template <class Function>
HWY_INLINE double mean_of_group(const float* x, int64_t n, const Function& function)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += kMostTogether)
        sum += double{sum_row(x + i, std::min(n - i, kMostTogether), function)};
    return sum / static_cast<double>(n);
}

void normalize_group(const NormGroup& group)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t n = group.channels * group.extent;
    const Vector near =
        hn::Set(d, static_cast<float>(mean_of_group(group.x, n, [](Vector v) { return v; })));
    const double rest = mean_of_group(group.x, n, [&](Vector v) { return hn::Sub(v, near); });
    const double squares = mean_of_group(group.x, n, [&](Vector v) {
        const Vector left = hn::Sub(v, near);
        return hn::Mul(left, left);
    });
    const double variance = std::max(squares - rest * rest, 0.0);
    const double inverse = 1 / std::sqrt(variance + double{group.epsilon});
    const Vector far = hn::Set(d, static_cast<float>(rest));
    for (int64_t c = 0; c < group.channels; ++c) {
        const float* x = group.x + c * group.extent;
        float* y = group.y + c * group.extent;
        const double scale = double{group.scale[c * group.step]};
        const Vector factor = hn::Set(d, static_cast<float>(inverse * scale));
        const Vector shift = hn::Set(d, group.bias[c * group.step]);
        for (int64_t i = 0; i < group.extent; i += lanes) {
            const Vector value = load_lanes(x + i, group.extent - i);
            const Vector left = hn::Sub(hn::Sub(value, near), far);
            store_lanes(hn::MulAdd(left, factor, shift), y + i, group.extent - i);
        }
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(normalize_group);

int normalize_groups(const KernelContext& context, int64_t groups, float epsilon)
{
    const tensor &input = *context.input(0), &scale = *context.input(1);
    const int64_t channels = input.dims[1] / groups;
    const int64_t extent = multiply_dims(&input, 2, input.dim_num), size = channels * extent;
    const bool has_one = scale.elem_num == groups && channels > 1;
    const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_group);
    const auto work = [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % groups * (has_one ? 1 : channels);
            normalize({input.f32 + i * size, channels, extent, epsilon, scale.f32 + first,
                       context.input(2)->f32 + first, has_one ? 0 : 1,
                       context.output(0)->f32 + i * size});
        }
    };
    parallel_for(context.pool, input.dims[0] * groups, grain_for(size), work);
    return TENGINE_OK;
}

int run_instance_norm(KernelContext& context)
{
    return normalize_groups(context, context.input(0)->dims[1],
                            context.param<instance_norm_param>().epsilon);
}

int run_group_norm(KernelContext& context)
{
    const auto& param = context.param<group_norm_param>();
    return normalize_groups(context, param.num_groups, param.epsilon);
}

bool accepts(const node& node)
{
    const tensor &x = *get_ir_node_input(&node, 0), &scale = *get_ir_node_input(&node, 1);
    const tensor& bias = *get_ir_node_input(&node, 2);
    return x.data_type == TENGINE_DT_FP32 && scale.data_type == TENGINE_DT_FP32 &&
           bias.data_type == TENGINE_DT_FP32 && x.elem_num > 0 && x.dim_num > 2 &&
           scale.elem_num == bias.elem_num;
}

constexpr Kernel group_norm_rows[] = {
    {.op = "InstanceNormalization",
     .name = "instance_norm.fp.vector",
     .accepts = accepts,
     .run = run_instance_norm,
     .in_place_input = 0},
    {.op = "GroupNormalization",
     .name = "group_norm.fp.vector",
     .accepts = accepts,
     .run = run_group_norm,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable group_norm_kernels;
const KernelTable group_norm_kernels = make_table<group_norm_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

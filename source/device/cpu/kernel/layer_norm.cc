// SPDX-License-Identifier: Apache-2.0
// LayerNormalization in fp32: the mean of a row, that of the squares of what is left, the result;
// three passes over a row that stays in L1. Rows are spread over the workers.
// Limits: additions; the bandwidth of the memory for rows that do not stay.
// Accuracy: mean and variance within (n / lanes + lanes) * eps, relative to the largest |x - mean|
// and its square, for rows of n; sums have one partial sum for each lane.
#include "device/cpu/kernel/layer_norm.h"

#include <cmath>
#include <cstdint>

#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/grain.h"
#include "operator/onnx/norm_param.h"

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/layer_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// The sum of function(x) over a row; function(0) need not be 0.
template <class Function>
HWY_INLINE float sum_row(const float* x, int64_t n, const Function& function)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    Vector sum = hn::Zero(d);
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
        sum = hn::Add(sum, function(hn::LoadU(d, x + i)));
    if (i < n) {
        const auto present = hn::FirstN(d, static_cast<size_t>(n - i));
        sum = hn::Add(sum, hn::IfThenElseZero(present, function(load_lanes(x + i, n - i))));
    }
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

// `bias` may be null.
void normalize_layer(const float* x, int64_t n, float epsilon, const float* scale,
                     const float* bias, float* y)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const float count = static_cast<float>(n);
    const Vector mean = hn::Set(d, sum_row(x, n, [](Vector v) { return v; }) / count);
    const float squares = sum_row(x, n, [&](Vector v) {
        const Vector left = hn::Sub(v, mean);
        return hn::Mul(left, left);
    });
    const Vector inverse = hn::Set(d, 1.0f / std::sqrt(squares / count + epsilon));
    for (int64_t i = 0; i < n; i += lanes) {
        const Vector normal = hn::Mul(hn::Sub(load_lanes(x + i, n - i), mean), inverse);
        const Vector shift = bias ? load_lanes(bias + i, n - i) : hn::Zero(d);
        store_lanes(hn::MulAdd(normal, load_lanes(scale + i, n - i), shift), y + i, n - i);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {

extern const KernelTable layer_norm_kernels;
const KernelTable layer_norm_kernels = {nullptr, 0};

const Kernel* find_fused_layer_norm()
{
    return nullptr;
}

}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(normalize_layer);

void normalize_rows(const KernelContext& context, int64_t n, float epsilon)
{
    const float* x = context.input(0)->f32;
    const float* scale = context.input(1)->f32;
    const float* bias = context.input(2) ? context.input(2)->f32 : nullptr;
    float* y = context.output(0)->f32;
    const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_layer);
    parallel_for(context.pool, context.input(0)->elem_num / n, grain_for(n),
                 [=](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row)
                         normalize(x + row * n, n, epsilon, scale, bias, y + row * n);
                 });
}

int run(KernelContext& context)
{
    normalize_rows(context, context.input(1)->elem_num, context.param<layer_norm_param>().epsilon);
    return TENGINE_OK;
}

int run_fused(KernelContext& context)
{
    normalize_rows(context, context.input(1)->elem_num, context.fusion.parameters[0]);
    return TENGINE_OK;
}

// Scale and bias of as many elements as the axes that are normalised, the last ones.
bool accepts(const node& node)
{
    const tensor& x = *get_ir_node_input(&node, 0);
    const tensor& scale = *get_ir_node_input(&node, 1);
    const tensor* bias = get_ir_node_input(&node, 2);
    const int given = static_cast<const layer_norm_param*>(node.op.param_mem)->axis;
    const int axis = given < 0 ? given + x.dim_num : given;
    if (x.data_type != TENGINE_DT_FP32 || x.elem_num == 0 || axis < 0 || axis >= x.dim_num ||
        get_ir_node_output(&node, 1) || get_ir_node_output(&node, 2))
        return false;
    int64_t n = 1;
    for (int i = axis; i < x.dim_num; ++i)
        n *= x.dims[i];
    const auto is_whole = [&](const tensor& values) {
        return values.elem_num == n && values.dim_num <= x.dim_num - axis;
    };
    return is_whole(scale) && (!bias || is_whole(*bias));
}

constexpr Kernel rows[] = {{"LayerNormalization", "layer_norm.simd", accepts, run, nullptr, 0}};
constexpr Kernel kFused = {"", "layer_norm.fused", nullptr, run_fused, nullptr, 0};

}  // namespace

extern const KernelTable layer_norm_kernels;
const KernelTable layer_norm_kernels = make_table<rows>();

const Kernel* find_fused_layer_norm()
{
    return is_selected("ReduceMean") && is_selected("Sqrt") ? &kFused : nullptr;
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

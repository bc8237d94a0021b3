// SPDX-License-Identifier: Apache-2.0
// Element-wise fp32 operators, written once for all instruction sets with Highway: one pass over
// memory, a vector at a time, large tensors spread over the workers. Two inputs may broadcast
// (broadcast.h): each run along which both advance or stay is one loop. Tensors may lie with
// channels last.
// Limits: memory bandwidth, except for Sigmoid and Tanh, which are polynomials.
// Accuracy: what is made of comparisons and one rounding (Relu, LeakyRelu, Clip, Add, Sub, Mul,
// Div) equals the reference bit by bit, NaN included; HardSigmoid and HardSwish are within 2 ulp,
// Sigmoid, Tanh and Erf within 5 ulp of the exact value. NEON of 32 bits takes subnormal
// numbers for 0.
#include <cstdint>
#include <limits>

#include "device/cpu/broadcast.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "operator/onnx/activation_param.h"

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/elementwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- two inputs ----

struct AddFunction
{
    Vector operator()(Vector a, Vector b) const { return hn::Add(a, b); }
};
struct SubFunction
{
    Vector operator()(Vector a, Vector b) const { return hn::Sub(a, b); }
};
struct MulFunction
{
    Vector operator()(Vector a, Vector b) const { return hn::Mul(a, b); }
};
struct DivFunction
{
    Vector operator()(Vector a, Vector b) const
    {
#if HWY_ARCH_ARM_V7
        // Its NEON only has an estimate of the reciprocal, which rounds wrongly and is 0 beyond
        // 2^126.
        HWY_ALIGN float x[HWY_MAX_BYTES / sizeof(float)], y[HWY_MAX_BYTES / sizeof(float)];
        hn::Store(a, d, x);
        hn::Store(b, d, y);
        for (size_t i = 0; i < hn::Lanes(d); ++i)
            x[i] /= y[i];
        return hn::Load(d, x);
#else
        return hn::Div(a, b);
#endif
    }
    Floats d;
};

// Element i, i + 1, ... of an input that advances, or its one value.
template <bool kAdvances>
HWY_INLINE Vector load(const float* data, int64_t i)
{
    const Floats d;
    if constexpr (kAdvances)
        return hn::LoadU(d, data + i);
    else
        return hn::Set(d, *data);
}

template <class Function, bool kFirstAdvances, bool kSecondAdvances>
void combine(const float* a, const float* b, float* output, int64_t count)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Function function;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(function(load<kFirstAdvances>(a, i), load<kSecondAdvances>(b, i)), d,
                   output + i);
    if (i == count) return;
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)];
    for (; i < count; ++i) {
        const Vector first = hn::Set(d, a[kFirstAdvances ? i : 0]);
        hn::Store(function(first, hn::Set(d, b[kSecondAdvances ? i : 0])), d, rest);
        output[i] = rest[0];
    }
}

template <class Function>
void combine_run(const float* a, bool a_advances, const float* b, bool b_advances, float* output,
                 int64_t count)
{
    if (a_advances && b_advances) return combine<Function, true, true>(a, b, output, count);
    if (a_advances) return combine<Function, true, false>(a, b, output, count);
    if (b_advances) return combine<Function, false, true>(a, b, output, count);
    combine<Function, false, false>(a, b, output, count);
}

#define TENGINE_MAP(Name)                                                                \
    void Name(const float* input, float* output, int64_t count, const float* parameters) \
    {                                                                                    \
        map<Name##Function>(input, output, count, parameters);                           \
    }
#define TENGINE_COMBINE(Name)                                                                  \
    void Name(const float* a, bool a_advances, const float* b, bool b_advances, float* output, \
              int64_t count)                                                                   \
    {                                                                                          \
        combine_run<Name##Function>(a, a_advances, b, b_advances, output, count);              \
    }
TENGINE_MAP(Relu)
TENGINE_MAP(LeakyRelu)
TENGINE_MAP(Clip)
TENGINE_MAP(HardSigmoid)
TENGINE_MAP(HardSwish)
TENGINE_MAP(Sigmoid)
TENGINE_MAP(Tanh)
TENGINE_MAP(Erf)
TENGINE_COMBINE(Add)
TENGINE_COMBINE(Sub)
TENGINE_COMBINE(Mul)
TENGINE_COMBINE(Div)
#undef TENGINE_MAP
#undef TENGINE_COMBINE

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable elementwise_kernels;
const KernelTable elementwise_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

// Fewer elements than this are not worth a second thread.
constexpr int64_t kGrain = 16384;

using MapFunction = void (*)(const float*, float*, int64_t, const float*);
using CombineFunction = void (*)(const float*, bool, const float*, bool, float*, int64_t);

bool is_fp32(const node& node)
{
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32;
}

int map_elements(KernelContext& context, MapFunction map, const float* parameters)
{
    const float* input = context.input(0)->f32;
    float* output = context.output(0)->f32;
    parallel_for(context.pool, context.output(0)->elem_num, kGrain,
                 [=](int64_t begin, int64_t end, int) {
                     map(input + begin, output + begin, end - begin, parameters);
                 });
    return TENGINE_OK;
}

int combine_elements(KernelContext& context, CombineFunction combine)
{
    const tensor* const inputs[] = {context.input(0), context.input(1)};
    const float* a = inputs[0]->f32;
    const float* b = inputs[1]->f32;
    float* output = context.output(0)->f32;
    for_each_run(context, inputs, [=](const BroadcastRun& run) {
        combine(a + run.offsets[0], run.strides[0] != 0, b + run.offsets[1], run.strides[1] != 0,
                output + run.position, run.count);
    });
    return TENGINE_OK;
}

#define TENGINE_EXPORT_MAP(Name)                                               \
    HWY_EXPORT(Name);                                                          \
    int run_##Name(KernelContext& context, const float* parameters)            \
    {                                                                          \
        return map_elements(context, &HWY_DYNAMIC_DISPATCH(Name), parameters); \
    }
#define TENGINE_EXPORT_COMBINE(Name)                                   \
    HWY_EXPORT(Name);                                                  \
    int run_##Name(KernelContext& context)                             \
    {                                                                  \
        return combine_elements(context, &HWY_DYNAMIC_DISPATCH(Name)); \
    }
TENGINE_EXPORT_MAP(Relu)
TENGINE_EXPORT_MAP(LeakyRelu)
TENGINE_EXPORT_MAP(Clip)
TENGINE_EXPORT_MAP(HardSigmoid)
TENGINE_EXPORT_MAP(HardSwish)
TENGINE_EXPORT_MAP(Sigmoid)
TENGINE_EXPORT_MAP(Tanh)
TENGINE_EXPORT_MAP(Erf)
TENGINE_EXPORT_COMBINE(Add)
TENGINE_EXPORT_COMBINE(Sub)
TENGINE_EXPORT_COMBINE(Mul)
TENGINE_EXPORT_COMBINE(Div)
#undef TENGINE_EXPORT_MAP
#undef TENGINE_EXPORT_COMBINE

template <int (*kRun)(KernelContext&, const float*)>
int run_plain(KernelContext& context)
{
    return kRun(context, nullptr);
}

int run_leaky_relu(KernelContext& context)
{
    return run_LeakyRelu(context, &context.param<alpha_param>().alpha);
}

int run_hard_sigmoid(KernelContext& context)
{
    const hard_sigmoid_param& param = context.param<hard_sigmoid_param>();
    const float parameters[] = {param.alpha, param.beta};
    return run_HardSigmoid(context, parameters);
}

int run_clip(KernelContext& context)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const tensor* low = context.input(1);
    const tensor* high = context.input(2);
    const float bounds[] = {low ? low->f32[0] : -kInfinity, high ? high->f32[0] : kInfinity};
    return run_Clip(context, bounds);
}

constexpr Kernel rows[] = {
    {"Relu", "relu.simd", is_fp32, run_plain<run_Relu>, nullptr, 0, nullptr, Layout::kAny},
    {"LeakyRelu", "leaky_relu.simd", is_fp32, run_leaky_relu, nullptr, 0, nullptr, Layout::kAny},
    {"Clip", "clip.simd", is_fp32, run_clip, nullptr, 0, nullptr, Layout::kAny},
    {"HardSigmoid", "hard_sigmoid.simd", is_fp32, run_hard_sigmoid, nullptr, 0, nullptr,
     Layout::kAny},
    {"HardSwish", "hard_swish.simd", is_fp32, run_plain<run_HardSwish>, nullptr, 0, nullptr,
     Layout::kAny},
    {"Sigmoid", "sigmoid.simd", is_fp32, run_plain<run_Sigmoid>, nullptr, 0, nullptr, Layout::kAny},
    {"Tanh", "tanh.simd", is_fp32, run_plain<run_Tanh>, nullptr, 0, nullptr, Layout::kAny},
    {"Erf", "erf.simd", is_fp32, run_plain<run_Erf>, nullptr, 0, nullptr, Layout::kAny},
    {"Add", "add.simd", is_fp32, run_Add, nullptr, 0, nullptr, Layout::kAny},
    {"Sub", "sub.simd", is_fp32, run_Sub, nullptr, 0, nullptr, Layout::kAny},
    {"Mul", "mul.simd", is_fp32, run_Mul, nullptr, 0, nullptr, Layout::kAny},
    {"Div", "div.simd", is_fp32, run_Div, nullptr, 0, nullptr, Layout::kAny},
};

}  // namespace

extern const KernelTable elementwise_kernels;
const KernelTable elementwise_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of floats, written once for all instruction sets with Highway: one pass
// over memory, a vector at a time, large tensors spread over the workers. Two inputs may broadcast
// (broadcast.h): each run along which both advance or stay is one loop. Tensors may lie with
// channels last. fp16 and bf16 are computed in fp32, in blocks that stay in L1, and rounded once.
// Limits: memory bandwidth, except for functions with polynomials (Exp, Log, Sigmoid and others).
// Accuracy: functions made of comparisons and one rounding (Relu, LeakyRelu, PRelu, Clip, Abs, Neg,
// Ceil, Floor, Round, Sqrt, Reciprocal, Add, Sum, Sub, Mul, Div, Max, Min, Pow of 2) equal the
// reference bit by bit, NaN included; HardSigmoid, HardSwish, Exp and Pow of 3 are within 2 ulp,
// Log and Softplus within 3, Sigmoid, Tanh, Erf, Elu, Selu and Mish within 5 ulp of the exact
// value, Gelu and Swish within 5 eps |x|. Results with a factor e^x below 2^-126 are 0, except for
// Exp. NEON of 32 bits takes subnormal numbers for 0.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/broadcast.h"
#include "operator/onnx/activation_param.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/vector/elementwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/elements-inl.h"
#include "device/cpu/kernel/vector/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_ARM_V7
// Lane by lane: NEON of 32 bits only has estimates of the reciprocal and of the root, which are not
// rounded correctly and have smaller ranges.
template <class Function>
Vector map_lanes(Vector a, Vector b, const Function& function)
{
    const Floats d;
    HWY_ALIGN float x[HWY_MAX_BYTES / sizeof(float)], y[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
        x[i] = function(x[i], y[i]);
    return hn::Load(d, x);
}
#endif

HWY_INLINE Vector divide(Vector a, Vector b)
{
#if HWY_ARCH_ARM_V7
    return map_lanes(a, b, [](float x, float y) { return x / y; });
#else
    return hn::Div(a, b);
#endif
}

HWY_INLINE Vector find_root(Vector x)
{
#if HWY_ARCH_ARM_V7
    return map_lanes(x, x, [](float each, float) { return std::sqrt(each); });
#else
    return hn::Sqrt(x);
#endif
}

// pow(x, 1 / 2): the root, except that -infinity gives infinity.
HWY_INLINE Vector find_half_power(Vector x)
{
    const Vector infinity = hn::Set(Floats(), std::numeric_limits<float>::infinity());
    return hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), infinity, find_root(x));
}

// ---- one input ----

#define TENGINE_FUNCTION(Name, expression)                       \
    struct Name##Function                                        \
    {                                                            \
        explicit Name##Function(const float*) {}                 \
        Vector operator()(Vector x) const { return expression; } \
        Floats d;                                                \
    };
TENGINE_FUNCTION(Abs, hn::Abs(x))
TENGINE_FUNCTION(Ceil, hn::Ceil(x))
TENGINE_FUNCTION(Floor, hn::Floor(x))
TENGINE_FUNCTION(Neg, hn::Neg(x))
TENGINE_FUNCTION(Reciprocal, divide(hn::Set(d, 1.0f), x))
TENGINE_FUNCTION(Round, hn::Round(x))
TENGINE_FUNCTION(Sqrt, find_root(x))
TENGINE_FUNCTION(Square, hn::Mul(x, x))
TENGINE_FUNCTION(Cube, hn::Mul(hn::Mul(x, x), x))
TENGINE_FUNCTION(HalfPower, find_half_power(x))
#undef TENGINE_FUNCTION

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
    Vector operator()(Vector a, Vector b) const { return divide(a, b); }
};
// NaN in either makes the result NaN.
struct MaxFunction
{
    Vector operator()(Vector a, Vector b) const
    {
        return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
    }
};
struct MinFunction
{
    Vector operator()(Vector a, Vector b) const
    {
        return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
    }
};
struct PReluFunction
{
    Vector operator()(Vector x, Vector slope) const
    {
        return hn::IfThenElse(hn::Lt(x, hn::Zero(Floats())), hn::Mul(x, slope), x);
    }
};

// Element i, i + 1, ... of an input that advances, or its single value.
template <bool kAdvances, class T>
HWY_INLINE Vector load(const T* data, int64_t i)
{
    const Floats d;
    if constexpr (kAdvances)
        return load_elements(d, data + i);
    else
        return hn::Set(d, static_cast<float>(*data));
}

template <class Function, bool kFirstAdvances, bool kSecondAdvances, class T>
void combine(const T* a, const T* b, T* output, int64_t count)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Function function;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        store_elements(d, function(load<kFirstAdvances>(a, i), load<kSecondAdvances>(b, i)),
                       output + i);
    if (i == count) return;
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)];
    for (; i < count; ++i) {
        const Vector first = hn::Set(d, static_cast<float>(a[kFirstAdvances ? i : 0]));
        const Vector second = hn::Set(d, static_cast<float>(b[kSecondAdvances ? i : 0]));
        hn::Store(function(first, second), d, rest);
        output[i] = T(rest[0]);
    }
}

template <class Function, class T>
void combine_run(const void* a, bool a_advances, const void* b, bool b_advances, void* output,
                 int64_t count)
{
    const T* first = static_cast<const T*>(a);
    const T* second = static_cast<const T*>(b);
    T* result = static_cast<T*>(output);
    if (a_advances && !b_advances)
        return combine<Function, true, false>(first, second, result, count);
    if (b_advances && !a_advances)
        return combine<Function, false, true>(first, second, result, count);
    // A run of one element, or both inputs advance.
    combine<Function, true, true>(first, second, result, count);
}

#define TENGINE_MAP(Name)                                                                \
    void Name(const float* input, float* output, int64_t count, const float* parameters) \
    {                                                                                    \
        map<Name##Function>(input, output, count, parameters);                           \
    }
#define TENGINE_COMBINE(name, Name, T)                                                      \
    void name(const void* a, bool a_advances, const void* b, bool b_advances, void* output, \
              int64_t count)                                                                \
    {                                                                                       \
        combine_run<Name##Function, T>(a, a_advances, b, b_advances, output, count);        \
    }
TENGINE_MAP(Relu)
TENGINE_MAP(LeakyRelu)
TENGINE_MAP(Clip)
TENGINE_MAP(HardSigmoid)
TENGINE_MAP(HardSwish)
TENGINE_MAP(Sigmoid)
TENGINE_MAP(Tanh)
TENGINE_MAP(Erf)
TENGINE_MAP(Abs)
TENGINE_MAP(Ceil)
TENGINE_MAP(Cube)
TENGINE_MAP(Elu)
TENGINE_MAP(Exp)
TENGINE_MAP(Floor)
TENGINE_MAP(Gelu)
TENGINE_MAP(GeluTanh)
TENGINE_MAP(HalfPower)
TENGINE_MAP(Log)
TENGINE_MAP(Mish)
TENGINE_MAP(Neg)
TENGINE_MAP(Reciprocal)
TENGINE_MAP(Round)
TENGINE_MAP(Softplus)
TENGINE_MAP(Sqrt)
TENGINE_MAP(Square)
TENGINE_MAP(Swish)
TENGINE_COMBINE(Add, Add, float)
TENGINE_COMBINE(Sub, Sub, float)
TENGINE_COMBINE(Mul, Mul, float)
TENGINE_COMBINE(Div, Div, float)
TENGINE_COMBINE(Max, Max, float)
TENGINE_COMBINE(Min, Min, float)
TENGINE_COMBINE(PRelu, PRelu, float)
// Operators that networks have between other steps.
TENGINE_COMBINE(AddFp16, Add, Half)
TENGINE_COMBINE(AddBf16, Add, BFloat16)
TENGINE_COMBINE(MulFp16, Mul, Half)
TENGINE_COMBINE(MulBf16, Mul, BFloat16)
#undef TENGINE_MAP
#undef TENGINE_COMBINE

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

// Smaller tensors are not worth a second thread.
constexpr int64_t kGrain = 16384;

using MapFunction = void (*)(const float*, float*, int64_t, const float*);
using CombineFunction = void (*)(const void*, bool, const void*, bool, void*, int64_t);

bool has_floats(const node& node)
{
    return is_fast_float(get_ir_node_input(&node, 0)->data_type);
}

// 16-bit floats, block by block.
HWY_NOINLINE int map_float16(KernelContext& context, MapFunction map, const float* parameters)
{
    const uint16_t* input = context.input(0)->f16;
    uint16_t* output = context.output(0)->f16;
    const FloatRows rows = find_float_rows(context.input(0)->data_type);
    parallel_for(context.pool, context.output(0)->elem_num, kGrain,
                 [=](int64_t begin, int64_t end, int) {
                     alignas(64) float block[kFloatBlock];
                     for (int64_t i = begin; i < end; i += kFloatBlock) {
                         const int64_t count = std::min(kFloatBlock, end - i);
                         rows.widen(input + i, count, block);
                         map(block, block, count, parameters);
                         rows.narrow(block, count, output + i);
                     }
                 });
    return TENGINE_OK;
}

HWY_NOINLINE int map_elements(KernelContext& context, MapFunction map, const float* parameters)
{
    if (has_float16(*context.input(0))) return map_float16(context, map, parameters);
    const float* input = context.input(0)->f32;
    float* output = context.output(0)->f32;
    parallel_for(context.pool, context.output(0)->elem_num, kGrain,
                 [=](int64_t begin, int64_t end, int) {
                     map(input + begin, output + begin, end - begin, parameters);
                 });
    return TENGINE_OK;
}

// 16-bit floats, block by block.
HWY_NOINLINE int combine_float16(KernelContext& context, CombineFunction combine)
{
    const tensor* const inputs[] = {context.input(0), context.input(1)};
    uint16_t* output = context.output(0)->f16;
    const FloatRows rows = find_float_rows(inputs[0]->data_type);
    for_each_run(context, inputs, [=](const BroadcastRun& run) {
        alignas(64) float blocks[2][kFloatBlock];
        for (int64_t i = 0; i < run.count; i += kFloatBlock) {
            const int64_t count = std::min(kFloatBlock, run.count - i);
            for (int k = 0; k < 2; ++k) {
                const bool advances = run.strides[k] != 0;
                if (advances || i == 0)
                    rows.widen(inputs[k]->f16 + run.offsets[k] + (advances ? i : 0),
                               advances ? count : 1, blocks[k]);
            }
            float* result = blocks[run.strides[0] != 0 ? 0 : 1];
            combine(blocks[0], run.strides[0] != 0, blocks[1], run.strides[1] != 0, result, count);
            rows.narrow(result, count, output + run.position + i);
        }
    });
    return TENGINE_OK;
}

// Elements of the type that the function takes.
HWY_NOINLINE int combine_elements(KernelContext& context, CombineFunction combine)
{
    const tensor* const inputs[] = {context.input(0), context.input(1)};
    const tensor& output = *context.output(0);
    const int64_t size = output.elem_size;
    for_each_run(context, inputs, [=, &output](const BroadcastRun& run) {
        combine(inputs[0]->u8 + run.offsets[0] * size, run.strides[0] != 0,
                inputs[1]->u8 + run.offsets[1] * size, run.strides[1] != 0,
                output.u8 + run.position * size, run.count);
    });
    return TENGINE_OK;
}

#define TENGINE_EXPORT_MAP(Name)                                               \
    HWY_EXPORT(Name);                                                          \
    int run_##Name(KernelContext& context, const float* parameters)            \
    {                                                                          \
        return map_elements(context, &HWY_DYNAMIC_DISPATCH(Name), parameters); \
    }
#define TENGINE_EXPORT_COMBINE(Name)                                                \
    HWY_EXPORT(Name);                                                               \
    int run_##Name(KernelContext& context)                                          \
    {                                                                               \
        const CombineFunction combine = HWY_DYNAMIC_DISPATCH(Name);                 \
        return has_float16(*context.input(0)) ? combine_float16(context, combine)   \
                                              : combine_elements(context, combine); \
    }
#define TENGINE_EXPORT_COMBINE_ALL(Name)                                                \
    HWY_EXPORT(Name);                                                                   \
    HWY_EXPORT(Name##Fp16);                                                             \
    HWY_EXPORT(Name##Bf16);                                                             \
    int run_##Name(KernelContext& context)                                              \
    {                                                                                   \
        if (!has_float16(*context.input(0)))                                            \
            return combine_elements(context, HWY_DYNAMIC_DISPATCH(Name));               \
        return combine_elements(context, context.input(0)->data_type == TENGINE_DT_FP16 \
                                             ? HWY_DYNAMIC_DISPATCH(Name##Fp16)         \
                                             : HWY_DYNAMIC_DISPATCH(Name##Bf16));       \
    }
TENGINE_EXPORT_MAP(Relu)
TENGINE_EXPORT_MAP(LeakyRelu)
TENGINE_EXPORT_MAP(Clip)
TENGINE_EXPORT_MAP(HardSigmoid)
TENGINE_EXPORT_MAP(HardSwish)
TENGINE_EXPORT_MAP(Sigmoid)
TENGINE_EXPORT_MAP(Tanh)
TENGINE_EXPORT_MAP(Erf)
TENGINE_EXPORT_MAP(Abs)
TENGINE_EXPORT_MAP(Ceil)
TENGINE_EXPORT_MAP(Cube)
TENGINE_EXPORT_MAP(Elu)
TENGINE_EXPORT_MAP(Exp)
TENGINE_EXPORT_MAP(Floor)
TENGINE_EXPORT_MAP(Gelu)
TENGINE_EXPORT_MAP(GeluTanh)
TENGINE_EXPORT_MAP(HalfPower)
TENGINE_EXPORT_MAP(Log)
TENGINE_EXPORT_MAP(Mish)
TENGINE_EXPORT_MAP(Neg)
TENGINE_EXPORT_MAP(Reciprocal)
TENGINE_EXPORT_MAP(Round)
TENGINE_EXPORT_MAP(Softplus)
TENGINE_EXPORT_MAP(Sqrt)
TENGINE_EXPORT_MAP(Square)
TENGINE_EXPORT_MAP(Swish)
TENGINE_EXPORT_COMBINE_ALL(Add)
TENGINE_EXPORT_COMBINE(Sub)
TENGINE_EXPORT_COMBINE_ALL(Mul)
TENGINE_EXPORT_COMBINE(Div)
TENGINE_EXPORT_COMBINE(Max)
TENGINE_EXPORT_COMBINE(Min)
TENGINE_EXPORT_COMBINE(PRelu)
#undef TENGINE_EXPORT_MAP
#undef TENGINE_EXPORT_COMBINE
#undef TENGINE_EXPORT_COMBINE_ALL

template <int (*kRun)(KernelContext&, const float*)>
int run_plain(KernelContext& context)
{
    return kRun(context, nullptr);
}

int run_leaky_relu(KernelContext& context)
{
    return run_LeakyRelu(context, &context.param<alpha_param>().alpha);
}

int run_swish(KernelContext& context)
{
    return run_Swish(context, &context.param<alpha_param>().alpha);
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
    const float bounds[] = {low ? read_float(*low, 0) : -kInfinity,
                            high ? read_float(*high, 0) : kInfinity};
    return run_Clip(context, bounds);
}

int run_elu(KernelContext& context)
{
    const float parameters[] = {context.param<alpha_param>().alpha, 1.0f};
    return run_Elu(context, parameters);
}

int run_selu(KernelContext& context)
{
    const auto [alpha, gamma] = context.param<selu_param>();
    const float parameters[] = {alpha * gamma, gamma};
    return run_Elu(context, parameters);
}

int run_gelu(KernelContext& context)
{
    const bool has_tanh = !std::strcmp(context.param<gelu_param>().approximate, "tanh");
    return has_tanh ? run_GeluTanh(context, nullptr) : run_Gelu(context, nullptr);
}

int run_pow(KernelContext& context)
{
    const float exponent = read_float(*context.input(1), 0);
    if (exponent == 2) return run_Square(context, nullptr);
    return exponent == 3 ? run_Cube(context, nullptr) : run_HalfPower(context, nullptr);
}

// Whether the exponent is constant and needs no logarithm.
bool accepts_pow(const node& node)
{
    const tensor& exponent = *get_ir_node_input(&node, 1);
    if (!has_floats(node) || !is_fast_float(exponent.data_type) || exponent.elem_num != 1 ||
        exponent.tensor_type != TENSOR_TYPE_CONST || !exponent.data)
        return false;
    const float value = read_float(exponent, 0);
    return value == 2 || value == 3 || value == 0.5f;
}

// For operators with any number of inputs.
bool has_two_inputs(const node& node)
{
    return has_floats(node) && node.input_num == 2;
}

// A row of the table: the output may use the memory of input 0, in any layout.
constexpr Kernel elementwise(const char* op, const char* name, bool (*accepts)(const node&),
                             int (*run)(KernelContext&))
{
    return {.op = op,
            .name = name,
            .accepts = accepts,
            .run = run,
            .in_place_input = 0,
            .layout = Layout::kAny};
}

constexpr Kernel elementwise_rows[] = {
    elementwise("Relu", "relu.fp.vector", has_floats, run_plain<run_Relu>),
    elementwise("LeakyRelu", "leaky_relu.fp.vector", has_floats, run_leaky_relu),
    elementwise("Clip", "clip.fp.vector", has_floats, run_clip),
    elementwise("HardSigmoid", "hard_sigmoid.fp.vector", has_floats, run_hard_sigmoid),
    elementwise("HardSwish", "hard_swish.fp.vector", has_floats, run_plain<run_HardSwish>),
    elementwise("Sigmoid", "sigmoid.fp.vector", has_floats, run_plain<run_Sigmoid>),
    elementwise("Tanh", "tanh.fp.vector", has_floats, run_plain<run_Tanh>),
    elementwise("Erf", "erf.fp.vector", has_floats, run_plain<run_Erf>),
    elementwise("Abs", "abs.fp.vector", has_floats, run_plain<run_Abs>),
    elementwise("Ceil", "ceil.fp.vector", has_floats, run_plain<run_Ceil>),
    elementwise("Exp", "exp.fp.vector", has_floats, run_plain<run_Exp>),
    elementwise("Floor", "floor.fp.vector", has_floats, run_plain<run_Floor>),
    elementwise("Log", "log.fp.vector", has_floats, run_plain<run_Log>),
    elementwise("Mish", "mish.fp.vector", has_floats, run_plain<run_Mish>),
    elementwise("Neg", "neg.fp.vector", has_floats, run_plain<run_Neg>),
    elementwise("Reciprocal", "reciprocal.fp.vector", has_floats, run_plain<run_Reciprocal>),
    elementwise("Round", "round.fp.vector", has_floats, run_plain<run_Round>),
    elementwise("Softplus", "softplus.fp.vector", has_floats, run_plain<run_Softplus>),
    elementwise("Sqrt", "sqrt.fp.vector", has_floats, run_plain<run_Sqrt>),
    elementwise("Elu", "elu.fp.vector", has_floats, run_elu),
    elementwise("Selu", "selu.fp.vector", has_floats, run_selu),
    elementwise("Swish", "swish.fp.vector", has_floats, run_swish),
    elementwise("Gelu", "gelu.fp.vector", has_floats, run_gelu),
    elementwise("Pow", "pow.fp.vector", accepts_pow, run_pow),
    elementwise("Add", "add.fp.vector", has_floats, run_Add),
    elementwise("Sub", "sub.fp.vector", has_floats, run_Sub),
    elementwise("Mul", "mul.fp.vector", has_floats, run_Mul),
    elementwise("Div", "div.fp.vector", has_floats, run_Div),
    elementwise("Max", "max.fp.vector", has_two_inputs, run_Max),
    elementwise("Min", "min.fp.vector", has_two_inputs, run_Min),
    elementwise("PRelu", "prelu.fp.vector", has_floats, run_PRelu),
    elementwise("Sum", "sum.fp.vector", has_two_inputs, run_Add),
};

}  // namespace

extern const KernelTable elementwise_kernels;
const KernelTable elementwise_kernels = make_table<elementwise_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

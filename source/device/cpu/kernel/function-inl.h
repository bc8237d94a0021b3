// SPDX-License-Identifier: Apache-2.0
// Functions of one fp32 number, a vector at a time: for elementwise.cc, and fused into others.
// Included once for each instruction set. Accuracy: see elementwise.cc.
#include <cstdint>

// clang-format off
#if defined(TENGINE_CPU_FUNCTION) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_FUNCTION
#undef TENGINE_CPU_FUNCTION
#else
#define TENGINE_CPU_FUNCTION
#endif
// clang-format on

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// Function(parameters)(vector)

struct ReluFunction
{
    explicit ReluFunction(const float*) {}
    Vector operator()(Vector x) const { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); }
    Floats d;
};

struct LeakyReluFunction
{
    explicit LeakyReluFunction(const float* parameters) : alpha(parameters[0]) {}
    Vector operator()(Vector x) const
    {
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(hn::Set(d, alpha), x), x);
    }
    Floats d;
    float alpha;
};

struct ClipFunction
{
    explicit ClipFunction(const float* parameters) : low(parameters[0]), high(parameters[1]) {}
    Vector operator()(Vector x) const
    {
        const Vector lower = hn::Set(d, low), upper = hn::Set(d, high);
        const Vector raised = hn::IfThenElse(hn::Lt(x, lower), lower, x);
        return hn::IfThenElse(hn::Gt(raised, upper), upper, raised);
    }
    Floats d;
    float low, high;
};

// min(1, max(0, alpha x + beta)); NaN passes.
inline Vector hard_sigmoid(Vector x, float alpha, float beta)
{
    const Floats d;
    const Vector zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    const Vector line = hn::MulAdd(hn::Set(d, alpha), x, hn::Set(d, beta));
    const Vector raised = hn::IfThenElse(hn::Lt(line, zero), zero, line);
    return hn::IfThenElse(hn::Gt(raised, one), one, raised);
}

struct HardSigmoidFunction
{
    explicit HardSigmoidFunction(const float* parameters)
        : alpha(parameters[0]), beta(parameters[1])
    {
    }
    Vector operator()(Vector x) const { return hard_sigmoid(x, alpha, beta); }
    float alpha, beta;
};

struct HardSwishFunction
{
    explicit HardSwishFunction(const float*) {}
    Vector operator()(Vector x) const { return hn::Mul(x, hard_sigmoid(x, 1.0f / 6, 0.5f)); }
};

// With z = e^-|x|, which never overflows: 1 / (1 + z) for positive x, z / (1 + z) for negative.
struct SigmoidFunction
{
    explicit SigmoidFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const Vector one = hn::Set(d, 1.0f);
        const Vector z = hn::Exp(d, hn::Neg(hn::Abs(x)));
        const Vector top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), z, one);
        // Exp() makes a number of NaN.
        return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(top, hn::Add(one, z)));
    }
    Floats d;
};

struct SiluFunction
{
    explicit SiluFunction(const float*) {}
    Vector operator()(Vector x) const { return hn::Mul(x, SigmoidFunction(nullptr)(x)); }
};

struct TanhFunction
{
    explicit TanhFunction(const float*) {}
    Vector operator()(Vector x) const { return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x)); }
    Floats d;
};

template <class Function>
void map(const float* input, float* output, int64_t count, const float* parameters)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Function function(parameters);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(function(hn::LoadU(d, input + i)), d, output + i);
    if (i == count) return;
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
    for (int64_t j = i; j < count; ++j)
        rest[j - i] = input[j];
    hn::Store(function(hn::Load(d, rest)), d, rest);
    for (int64_t j = i; j < count; ++j)
        output[j] = rest[j - i];
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_FUNCTION

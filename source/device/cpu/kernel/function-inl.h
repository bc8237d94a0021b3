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

// e^x of x <= 0 within 2 ulp, 0 below 2^-127, NaN of NaN; half the work of hn::Exp(). S. Moshier's
// polynomial (Cephes, expf.c) of what is left after whole powers of two.
inline Vector exp_of_negative(Vector x)
{
    const Floats d;
    const hn::RebindToSigned<Floats> di;
    // The sum with this has the nearest whole number in its last bits.
    constexpr float kWhole = 12582912.0f;
    constexpr int32_t kWholeBits = 0x4b400000, kExponentOfOne = 127;
    const Vector lowest = hn::Set(d, -88.0f);
    const Vector limited = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);
    const Vector sum = hn::MulAdd(limited, hn::Set(d, 1.44269504f), hn::Set(d, kWhole));
    const Vector powers = hn::Sub(sum, hn::Set(d, kWhole));
    Vector rest = hn::NegMulAdd(powers, hn::Set(d, 0.693359375f), limited);
    rest = hn::MulAdd(powers, hn::Set(d, 2.12194440e-4f), rest);

    Vector result = hn::Set(d, 1.9875691500e-4f);
    for (const float next :
         {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
        result = hn::MulAdd(result, rest, hn::Set(d, next));
    const Vector one = hn::Set(d, 1.0f);
    result = hn::MulAdd(hn::MulAdd(result, rest, one), rest, one);

    const auto exponent = hn::Add(hn::BitCast(di, sum), hn::Set(di, kExponentOfOne - kWholeBits));
    return hn::Mul(result, hn::BitCast(d, hn::ShiftLeft<23>(exponent)));
}

// With z = e^-|x|, which never overflows: 1 / (1 + z) for positive x, z / (1 + z) for negative.
struct SigmoidFunction
{
    explicit SigmoidFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const Vector one = hn::Set(d, 1.0f);
        const Vector z = exp_of_negative(hn::Neg(hn::Abs(x)));
        const Vector top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), z, one);
        return hn::Div(top, hn::Add(one, z));
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

// N. Juffa's two polynomials: of x to 0.93, and of log(1 - erf |x|) beyond, where 4 is as good as
// more. Within 2 ulp of the exact value.
struct ErfFunction
{
    explicit ErfFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const auto step = [this](Vector sum, Vector factor, float next) {
            return hn::MulAdd(sum, factor, hn::Set(d, next));
        };
        const Vector magnitude = hn::Min(hn::Abs(x), hn::Set(d, 4.0f));
        const Vector square = hn::Mul(magnitude, magnitude);

        Vector near = hn::Set(d, -5.96761703e-4f);
        near = step(near, square, 4.99119423e-3f);
        near = step(near, square, -2.67681349e-2f);
        near = step(near, square, 1.12819925e-1f);
        near = step(near, square, -3.76125336e-1f);
        near = step(near, square, 1.28379166e-1f);
        near = hn::MulAdd(near, magnitude, magnitude);

        Vector far = step(hn::Set(d, -1.72853470e-5f), magnitude, 3.83197126e-4f);
        const Vector odd = step(hn::Set(d, -3.88396438e-3f), magnitude, 2.42546219e-2f);
        far = hn::MulAdd(far, square, odd);
        far = step(far, magnitude, -1.06777877e-1f);
        far = step(far, magnitude, -6.34846687e-1f);
        far = step(far, magnitude, -1.28717512e-1f);
        far = hn::MulAdd(far, magnitude, hn::Neg(magnitude));
        far = hn::Sub(hn::Set(d, 1.0f), exp_of_negative(far));

        const Vector result =
            hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0.927734375f)), far, near);
        return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(result, x));
    }
    Floats d;
};

struct GeluFunction
{
    explicit GeluFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const Vector half = hn::Set(d, 0.5f);
        const Vector erf = ErfFunction(nullptr)(hn::Mul(x, hn::Set(d, 0.707106781f)));
        return hn::Mul(hn::Mul(x, half), hn::Add(erf, hn::Set(d, 1.0f)));
    }
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

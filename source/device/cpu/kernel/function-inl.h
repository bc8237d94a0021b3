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

// x <= 0 as a whole power of two, and what is left and returned: e^x = power * e^rest, |rest| <= ln
// 2 / 2. The power is 0 below 2^-126; NaN is left over. S. Moshier's ln 2 in two parts (Cephes,
// expf.c).
inline Vector split_exponent(Vector x, Vector* out_power)
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
    const Vector rest = hn::NegMulAdd(powers, hn::Set(d, 0.693359375f), limited);
    const auto exponent = hn::Add(hn::BitCast(di, sum), hn::Set(di, kExponentOfOne - kWholeBits));
    *out_power = hn::BitCast(d, hn::ShiftLeft<23>(exponent));
    return hn::MulAdd(powers, hn::Set(d, 2.12194440e-4f), rest);
}

// e^x of x <= 0 within 2 ulp, NaN of NaN; half the work of hn::Exp(). The polynomial is Moshier's.
inline Vector exp_of_negative(Vector x)
{
    const Floats d;
    const Vector one = hn::Set(d, 1.0f);
    Vector power;
    const Vector rest = split_exponent(x, &power);
    Vector result = hn::Set(d, 1.9875691500e-4f);
    for (const float next :
         {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
        result = hn::MulAdd(result, rest, hn::Set(d, next));
    result = hn::MulAdd(hn::MulAdd(result, rest, one), rest, one);
    return hn::Mul(result, power);
}

// What e^r is the quotient (even + r) / (even - r) of, within 2^-25 for |r| <= ln 2 / 2: the first
// terms of r coth(r / 2). Sigmoid and Tanh then take one division, and fewer steps one after the
// other than with a polynomial for e^r.
inline Vector even_part(Vector r)
{
    const Floats d;
    const Vector square = hn::Mul(r, r);
    const Vector slope = hn::MulAdd(square, hn::Set(d, -1.0f / 360), hn::Set(d, 1.0f / 6));
    return hn::MulAdd(square, slope, hn::Set(d, 2.0f));
}

// With z = e^-|x|, which never overflows: 1 / (1 + z) for positive x, z / (1 + z) for negative.
struct SigmoidFunction
{
    explicit SigmoidFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        Vector power;
        const Vector rest = split_exponent(hn::Neg(hn::Abs(x)), &power);
        const Vector even = even_part(rest);
        const Vector bottom = hn::Sub(even, rest);
        const Vector top = hn::Mul(hn::Add(even, rest), power);
        return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), top, bottom), hn::Add(bottom, top));
    }
    Floats d;
};

struct SiluFunction
{
    explicit SiluFunction(const float*) {}
    Vector operator()(Vector x) const { return hn::Mul(x, SigmoidFunction(nullptr)(x)); }
};

// (1 - z) / (1 + z) with z = e^-2|x|. Near 0, where z has the power 1, the difference is exact.
struct TanhFunction
{
    explicit TanhFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const Vector one = hn::Set(d, 1.0f);
        Vector power;
        const Vector rest = split_exponent(hn::Mul(hn::Abs(x), hn::Set(d, -2.0f)), &power);
        const Vector even = even_part(rest);
        const Vector sum = hn::Add(one, power), difference = hn::Sub(one, power);
        const Vector top = hn::NegMulAdd(sum, rest, hn::Mul(difference, even));
        const Vector bottom = hn::NegMulAdd(difference, rest, hn::Mul(sum, even));
        return hn::CopySign(hn::Div(top, bottom), x);
    }
    Floats d;
};

// x times a polynomial of x^2, in its place in [-1, 1] where |x| is up to 3.85, made by Lawson's
// weighted least squares; from 3.75 on erf is 1 within 2 units in the last place. No exponential,
// no division: less than half the work of N. Juffa's two polynomials, which are within 2 ulp.
// Within 4 ulp of the exact value, 4.2 where multiply-adds round twice, and never beyond 1.
struct ErfFunction
{
    explicit ErfFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const Vector one = hn::Set(d, 1.0f);
        const Vector square = hn::Mul(x, x);
        const Vector place = hn::MulSub(square, hn::Set(d, 2.0f / (3.85f * 3.85f)), one);
        Vector sum = hn::Set(d, -6.00453466e-4f);
        for (const float next :
             {1.53727725e-3f, -1.19088462e-3f, 1.83211465e-3f, -6.41065231e-3f, 1.21087395e-2f,
              -1.80468131e-2f, 2.76838057e-2f, -4.12254781e-2f, 5.66113107e-2f, -7.31556788e-2f,
              9.07884091e-2f, -1.10388070e-1f, 1.36213228e-1f, -1.83301419e-1f, 3.67284805e-1f})
            sum = hn::MulAdd(sum, place, hn::Set(d, next));
        const auto is_large = hn::Gt(square, hn::Set(d, 3.75f * 3.75f));
        return hn::IfThenElse(is_large, hn::CopySign(one, x), hn::Mul(sum, x));
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

// SPDX-License-Identifier: Apache-2.0
// Functions of one fp32 value, a vector at a time: for elementwise.cc, and fused into others.
// Included once for each instruction set. Accuracy: see elementwise.cc.
#include <cstdint>
#include <limits>

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

// Splits x into n ln 2 and the rest, which is returned, |rest| <= ln 2 / 2; a NaN gives NaN. The
// last bits of the sum are n. S. Moshier's ln 2 in two parts (Cephes, expf.c).
inline Vector split_whole(Vector x, Vector* out_sum)
{
    const Floats d;
    // The sum with this has the nearest integer in its last bits.
    constexpr float kWhole = 12582912.0f;
    const Vector sum = hn::MulAdd(x, hn::Set(d, 1.44269504f), hn::Set(d, kWhole));
    const Vector powers = hn::Sub(sum, hn::Set(d, kWhole));
    const Vector rest = hn::NegMulAdd(powers, hn::Set(d, 0.693359375f), x);
    *out_sum = sum;
    return hn::MulAdd(powers, hn::Set(d, 2.12194440e-4f), rest);
}

// 2^n for n from -127, which gives 0, to 127.
inline Vector power_of_two(hn::Vec<hn::RebindToSigned<Floats>> n)
{
    const hn::RebindToSigned<Floats> di;
    return hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

constexpr int32_t kWholeBits = 0x4b400000;  // of split_whole()'s sum where n is 0

// Splits e^x for x <= 0: a power of two, and the rest, which is returned: e^x = power * e^rest. The
// power is 0 below 2^-126; a NaN gives NaN.
inline Vector split_exponent(Vector x, Vector* out_power)
{
    const Floats d;
    const hn::RebindToSigned<Floats> di;
    const Vector lowest = hn::Set(d, -88.0f);
    Vector sum;
    const Vector rest = split_whole(hn::IfThenElse(hn::Lt(x, lowest), lowest, x), &sum);
    *out_power = power_of_two(hn::Sub(hn::BitCast(di, sum), hn::Set(di, kWholeBits)));
    return rest;
}

// e^x of |x| <= ln 2 / 2. The polynomial is Moshier's.
inline Vector exp_of_rest(Vector x)
{
    const Floats d;
    const Vector one = hn::Set(d, 1.0f);
    Vector result = hn::Set(d, 1.9875691500e-4f);
    for (const float next :
         {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
        result = hn::MulAdd(result, x, hn::Set(d, next));
    return hn::MulAdd(hn::MulAdd(result, x, one), x, one);
}

// e^x of x <= 0 within 2 ulp, NaN of NaN; half the work of hn::Exp().
inline Vector exp_of_negative(Vector x)
{
    Vector power;
    const Vector rest = split_exponent(x, &power);
    return hn::Mul(exp_of_rest(rest), power);
}

// Multiplies by the power in two steps, since 2^n itself may be subnormal or infinite. Beyond the
// bounds the result is 0 or infinity.
struct ExpFunction
{
    explicit ExpFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const hn::RebindToSigned<Floats> di;
        const float bounds[] = {-104.0f, 89.0f};
        Vector sum;
        const Vector rest = split_whole(ClipFunction(bounds)(x), &sum);
        const auto n = hn::Sub(hn::BitCast(di, sum), hn::Set(di, kWholeBits));
        const auto half = hn::ShiftRight<1>(n);
        const Vector result = hn::Mul(exp_of_rest(rest), power_of_two(half));
        return hn::Mul(result, power_of_two(hn::Sub(n, half)));
    }
};

// The even part in e^r = (even + r) / (even - r), within 2^-25 for |r| <= ln 2 / 2: the first terms
// of r coth(r / 2). Sigmoid and Tanh then take one division, and fewer steps one after the other
// than with a polynomial for e^r.
inline Vector even_part(Vector r)
{
    const Floats d;
    const Vector square = hn::Mul(r, r);
    const Vector slope = hn::MulAdd(square, hn::Set(d, -1.0f / 360), hn::Set(d, 1.0f / 6));
    return hn::MulAdd(square, slope, hn::Set(d, 2.0f));
}

// e^-|x|, which never overflows, as a quotient: returns its numerator.
HWY_INLINE Vector find_negative_power(Vector x, Vector* bottom)
{
    Vector power;
    const Vector rest = split_exponent(hn::Neg(hn::Abs(x)), &power);
    const Vector even = even_part(rest);
    *bottom = hn::Sub(even, rest);
    return hn::Mul(hn::Add(even, rest), power);
}

// With z = e^-|x|: 1 / (1 + z) for positive x, z / (1 + z) for negative.
struct SigmoidFunction
{
    explicit SigmoidFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        Vector bottom;
        const Vector top = find_negative_power(x, &bottom);
        return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), top, bottom), hn::Add(bottom, top));
    }
    Floats d;
};

struct SiluFunction
{
    explicit SiluFunction(const float*) {}
    Vector operator()(Vector x) const { return hn::Mul(x, SigmoidFunction(nullptr)(x)); }
};

// x sigmoid(alpha x)
struct SwishFunction
{
    explicit SwishFunction(const float* parameters) : alpha(parameters[0]) {}
    Vector operator()(Vector x) const
    {
        return hn::Mul(x, SigmoidFunction(nullptr)(hn::Mul(hn::Set(d, alpha), x)));
    }
    Floats d;
    float alpha;
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

// Elu: `slope` x from 0 on, `scale` (e^x - 1) below, whose difference is that of Tanh: near 0,
// where the power is 1, it is exact.
struct EluFunction
{
    explicit EluFunction(const float* parameters) : scale(parameters[0]), slope(parameters[1]) {}
    Vector operator()(Vector x) const
    {
        const Vector one = hn::Set(d, 1.0f);
        const auto is_negative = hn::Lt(x, hn::Zero(d));
        Vector power;
        const Vector rest = split_exponent(hn::IfThenElseZero(is_negative, x), &power);
        const Vector even = even_part(rest);
        const Vector top =
            hn::MulAdd(hn::Add(power, one), rest, hn::Mul(hn::Sub(power, one), even));
        const Vector below = hn::Mul(hn::Set(d, scale), hn::Div(top, hn::Sub(even, rest)));
        return hn::IfThenElse(is_negative, below, hn::Mul(hn::Set(d, slope), x));
    }
    Floats d;
    float scale, slope;
};

// ln((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + s^5 / 5 + ...), divided by s, with terms for |s| <= 1
// / 3.
inline Vector log_of_quotient(Vector s)
{
    const Floats d;
    const Vector square = hn::Mul(s, s);
    Vector sum = hn::Set(d, 2.0f / 13);
    for (const float next : {2.0f / 11, 2.0f / 9, 2.0f / 7, 2.0f / 5, 2.0f / 3, 2.0f})
        sum = hn::MulAdd(sum, square, hn::Set(d, next));
    return sum;
}

// With z = e^-|x|: max(x, 0) + ln(1 + z), and 1 + z = (1 + s) / (1 - s) of s = z / (2 + z).
struct SoftplusFunction
{
    explicit SoftplusFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        Vector bottom;
        const Vector top = find_negative_power(x, &bottom);
        const Vector s = hn::Div(top, hn::MulAdd(bottom, hn::Set(d, 2.0f), top));
        const Vector positive = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
        return hn::MulAdd(log_of_quotient(s), s, positive);
    }
    Floats d;
};

// x = m 2^n with m from sqrt(1 / 2) to sqrt(2), of which s = (m - 1) / (m + 1); ln 2 in two parts.
struct LogFunction
{
    explicit LogFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const hn::RebindToSigned<Floats> di;
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        constexpr int32_t kLowest = 0x3f3504f3;  // sqrt(1 / 2)
        const Vector zero = hn::Zero(d), one = hn::Set(d, 1.0f);
        const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
        const Vector normal = hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, 0x1p24f)), x);
        const auto bits = hn::Sub(hn::BitCast(di, normal), hn::Set(di, kLowest));
        const Vector exponent = hn::ConvertTo(d, hn::ShiftRight<23>(bits));
        const auto mantissa = hn::And(bits, hn::Set(di, 0x007fffff));
        const Vector m = hn::BitCast(d, hn::Add(mantissa, hn::Set(di, kLowest)));
        const Vector n = hn::Sub(exponent, hn::IfThenElseZero(is_small, hn::Set(d, 24.0f)));
        const Vector s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
        const Vector low = hn::Mul(n, hn::Set(d, -2.12194440e-4f));
        const Vector sum = hn::MulAdd(log_of_quotient(s), s, low);
        const Vector result = hn::MulAdd(n, hn::Set(d, 0.693359375f), sum);
        const Vector infinity = hn::Set(d, kInfinity);
        const Vector of_large = hn::IfThenElse(hn::Lt(x, infinity), result, x);
        const Vector of_zero = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), of_large);
        return hn::IfThenElse(hn::Lt(x, zero), hn::Sub(infinity, infinity), of_zero);
    }
    Floats d;
};

// x tanh(ln(1 + e^x)) = x (y^2 - 1) / (y^2 + 1) with y = 1 + e^x, in terms of the quotient for
// z = e^-|x|: sums of positive numbers, which do not overflow.
struct MishFunction
{
    explicit MishFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const auto is_negative = hn::Lt(x, hn::Zero(d));
        Vector bottom;
        const Vector top = find_negative_power(x, &bottom);
        const Vector mine = hn::IfThenElse(is_negative, top, bottom);
        const Vector other = hn::IfThenElse(is_negative, bottom, top);
        const Vector product = hn::Mul(hn::Add(top, top), bottom);
        const Vector numerator = hn::MulAdd(mine, mine, product);
        const Vector denominator = hn::MulAdd(hn::Add(other, other), other, numerator);
        return hn::Mul(x, hn::Div(numerator, denominator));
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

// x / 2 (1 + tanh(u)) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanhFunction
{
    explicit GeluTanhFunction(const float*) {}
    Vector operator()(Vector x) const
    {
        const Vector cubic = hn::Mul(hn::Mul(x, x), hn::Set(d, 0.0713548163f));
        const Vector argument = hn::Mul(x, hn::Add(cubic, hn::Set(d, 1.59576912f)));
        return hn::Mul(x, SigmoidFunction(nullptr)(argument));
    }
    Floats d;
};

// Whole vectors.
template <class Function>
void map_vectors(const void* function, const float* input, float* output, int64_t count)
{
    const Floats d;
    const Function copy = *static_cast<const Function*>(function);
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d)))
        hn::StoreU(copy(hn::LoadU(d, input + i)), d, output + i);
}

// The common part of all functions: elements beyond the last whole vector are computed in a copy.
inline HWY_NOINLINE void map_all(void (*map)(const void*, const float*, float*, int64_t),
                                 const void* function, const float* input, float* output,
                                 int64_t count)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    const int64_t left = count % lanes, whole = count - left;
    map(function, input, output, whole);
    if (left == 0) return;
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
    for (int64_t i = 0; i < left; ++i)
        rest[i] = input[whole + i];
    map(function, rest, rest, lanes);
    for (int64_t i = 0; i < left; ++i)
        output[whole + i] = rest[i];
}

template <class Function>
void map(const float* input, float* output, int64_t count, const float* parameters)
{
    const Function function(parameters);
    map_all(map_vectors<Function>, &function, input, output, count);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_FUNCTION

// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul, in integers alone, so that the bits are those of the reference. Two
// inputs may broadcast (broadcast.h), and tensors may lie with channels last. Bytes are taken for
// unsigned, int8 with their highest bit flipped.
//
// The sum of two products with factors of 31 bits is that of products with 16 high bits and with 16
// low ones, see byte_scale-inl.h.
// Limits: some 30 operations on vectors for as many bytes as a vector has pairs of.
#include <cstdint>
#include <cstring>

#include "device/cpu/broadcast.h"
#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/reference/qlinear.h"

#ifdef TENGINE_HAVE_HIGHWAY
#ifndef TENGINE_CPU_QLINEAR_BINARY
#define TENGINE_CPU_QLINEAR_BINARY
namespace tengine::cpu {

struct ByteInput
{
    uint8_t flip;  // of all bytes
    int16_t zero;  // of flipped ones
    int64_t factor;
};

// The exact sum is a.factor * a + b.factor * b, or b.factor * a * b, by 2^-shift.
struct ByteFunction
{
    ByteInput a, b;
    int shift;
    uint8_t flip;  // of the results
    int16_t zero;
};

// What a run reads: each operand advances by a byte or stays.
struct ByteOperand
{
    const uint8_t* data;
    bool advances;
};

// Below this shift high and low halves of a sum are not shifted by the same amount. Not inline,
// since code for other instruction sets calls them.
constexpr int kLeastShift = 17;
void add_exactly(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count,
                 uint8_t* output);
void multiply_exactly(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count,
                      uint8_t* output);

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/qlinear_binary.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/byte_scale-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void add(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count, uint8_t* output)
{
    add_exactly(function, a, b, count, output);
}

void multiply(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count,
              uint8_t* output)
{
    multiply_exactly(function, a, b, count, output);
}

#else

using Shorts = hn::ScalableTag<int16_t>;
using ShortVector = hn::Vec<Shorts>;
using Words = hn::RepartitionToWide<Shorts>;
using WordVector = hn::Vec<Words>;
using Bytes = hn::Rebind<uint8_t, Shorts>;
using ByteVector = hn::Vec<Bytes>;

constexpr int64_t kMostBytes = HWY_MAX_BYTES / sizeof(int16_t);

// The sum of both products: the inputs are the zero points less the bytes, the factors negative, so
// that 2^31 fits.
class Sum
{
  public:
    HWY_INLINE explicit Sum(const ByteFunction& function)
        : high_(set_pair(function, [](int64_t factor) { return -((factor + 0x7fff) >> 16); })),
          low_(set_pair(
              function,
              [](int64_t factor) { return ((factor + 0x7fff) >> 16) * 0x10000 - factor; })),
          half_(hn::Set(Words(), 1 << (find_shift(function) - 1))),
          shift_(find_shift(function))
    {
    }

    HWY_INLINE ShortVector operator()(ShortVector a, ShortVector b) const
    {
        const Shorts d;
        return demote_words(d, sum(hn::InterleaveLower(d, a, b)),
                            sum(hn::InterleaveUpper(d, a, b)));
    }

  private:
    // Any longer one makes all sums 0 as well.
    static HWY_INLINE int find_shift(const ByteFunction& function)
    {
        return HWY_MIN(function.shift - 16, 31);
    }

    template <class Half>
    static HWY_INLINE ShortVector set_pair(const ByteFunction& function, const Half& half)
    {
        const auto a = static_cast<uint32_t>(half(function.a.factor) & 0xffff);
        const auto b = static_cast<uint32_t>(half(function.b.factor) & 0xffff);
        return hn::BitCast(Shorts(), hn::Set(Words(), static_cast<int32_t>(b << 16 | a)));
    }

    static HWY_INLINE WordVector multiply(ShortVector pairs, ShortVector factors)
    {
        WordVector other = hn::Zero(Words());
        const WordVector sum =
            hn::ReorderWidenMulAccumulate(Words(), pairs, factors, hn::Zero(Words()), other);
        return hn::RearrangeToOddPlusEven(sum, other);
    }

    HWY_INLINE WordVector sum(ShortVector pairs) const
    {
        return divide_sum(Words(), hn::Add(multiply(pairs, high_), half_), multiply(pairs, low_),
                          shift_);
    }

    ShortVector high_, low_;
    WordVector half_;
    int shift_;
};

// Of the magnitudes, which is below 2^16; the sign comes last.
class Product
{
  public:
    HWY_INLINE explicit Product(const ByteFunction& function)
        : scale_({static_cast<int32_t>(function.b.factor), function.shift})
    {
    }

    HWY_INLINE ShortVector operator()(ShortVector a, ShortVector b) const
    {
        return scale_(hn::Mul(hn::Abs(a), hn::Abs(b)), hn::BroadcastSignBit(hn::Xor(a, b)));
    }

  private:
    MagnitudeScale<Shorts> scale_;
};

// The zero point less the bytes.
class Centred
{
  public:
    HWY_INLINE Centred(const ByteInput& input, ByteOperand operand)
        : flip_(hn::Set(Bytes(), input.flip)),
          zero_(hn::Set(Shorts(), input.zero)),
          data_(operand.data),
          step_(operand.advances ? 1 : 0)
    {
        if (operand.advances) return;
        std::memset(all_, *operand.data, sizeof all_);
        data_ = all_;
    }
    Centred(const Centred&) = delete;
    Centred& operator=(const Centred&) = delete;

    HWY_INLINE ShortVector load(int64_t i) const
    {
        return centre(hn::LoadU(Bytes(), data_ + i * step_));
    }
    // Only so many are read.
    HWY_INLINE ShortVector load_first(int64_t i, int64_t count)
    {
        std::memcpy(all_, data_ + i * step_, static_cast<size_t>(count));
        return centre(hn::LoadU(Bytes(), all_));
    }

  private:
    HWY_INLINE ShortVector centre(ByteVector bytes) const
    {
        return hn::Sub(zero_, hn::PromoteTo(Shorts(), hn::Xor(bytes, flip_)));
    }

    ByteVector flip_;
    ShortVector zero_;
    const uint8_t* data_;
    int64_t step_;
    uint8_t all_[kMostBytes] = {};
};

template <class Function>
HWY_INLINE void combine(const ByteFunction& parameters, ByteOperand a_operand,
                        ByteOperand b_operand, int64_t count, uint8_t* output)
{
    const Bytes d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Function function(parameters);
    Centred a(parameters.a, a_operand), b(parameters.b, b_operand);
    const ShortVector zero = hn::Set(Shorts(), parameters.zero);
    const ByteVector flip = hn::Set(d, parameters.flip);
    const auto finish = [&](ShortVector value) HWY_ATTR {
        return hn::Xor(hn::DemoteTo(d, hn::SaturatedAdd(value, zero)), flip);
    };
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(finish(function(a.load(i), b.load(i))), d, output + i);
    if (i == count) return;
    uint8_t rest[kMostBytes];
    hn::StoreU(finish(function(a.load_first(i, count - i), b.load_first(i, count - i))), d, rest);
    std::memcpy(output + i, rest, static_cast<size_t>(count - i));
}

void add(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count, uint8_t* output)
{
    if (function.shift < kLeastShift) return add_exactly(function, a, b, count, output);
    combine<Sum>(function, a, b, count, output);
}

void multiply(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count,
              uint8_t* output)
{
    combine<Product>(function, a, b, count, output);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable qlinear_binary_kernels;
const KernelTable qlinear_binary_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(add);
HWY_EXPORT(multiply);

using Combine = void (*)(const ByteFunction&, ByteOperand, ByteOperand, int64_t, uint8_t*);

uint8_t find_flip(int data_type)
{
    return data_type == TENGINE_DT_INT8 ? 0x80 : 0;
}

// Of bytes that are flipped where they are int8.
int16_t find_zero(int data_type, int zero_point)
{
    return static_cast<int16_t>(zero_point + find_flip(data_type));
}

// All but factors and shift.
ByteFunction describe(const KernelContext& context)
{
    const auto describe_input = [&](int index) {
        const int type = context.input(index)->data_type;
        return ByteInput{find_flip(type),
                         find_zero(type, Quantization(context, index + 1).zero_point), 0};
    };
    ByteFunction function = {};
    function.a = describe_input(0);
    function.b = describe_input(3);
    const int type = context.output(0)->data_type;
    function.flip = find_flip(type);
    function.zero = find_zero(type, Quantization(context, 6).zero_point);
    return function;
}

int combine_bytes(const KernelContext& context, const ByteFunction& function, Combine combine)
{
    const tensor* const inputs[] = {context.input(0), context.input(3)};
    const uint8_t* a = inputs[0]->u8;
    const uint8_t* b = inputs[1]->u8;
    uint8_t* output = context.output(0)->u8;
    for_each_run(context, inputs, [=, &function](const BroadcastRun& run) {
        combine(function, {a + run.offsets[0], run.strides[0] != 0},
                {b + run.offsets[1], run.strides[1] != 0}, run.count, output + run.position);
    });
    return TENGINE_OK;
}

int run_add(KernelContext& context)
{
    const Quantization a(context, 1), b(context, 4), y(context, 6);
    const double reals[] = {a.scale / y.scale, b.scale / y.scale};
    ir_multiplier_t multipliers[2] = {};
    TENGINE_RETURN_IF_ERROR(make_multipliers(context, reals, 2, multipliers));
    ByteFunction function = describe(context);
    function.a.factor = multipliers[0].factor;
    function.b.factor = multipliers[1].factor;
    function.shift = multipliers[0].shift;
    return combine_bytes(context, function, HWY_DYNAMIC_DISPATCH(add));
}

int run_mul(KernelContext& context)
{
    const Quantization a(context, 1), b(context, 4), y(context, 6);
    const double real = a.scale * b.scale / y.scale;
    ir_multiplier_t multiplier = {};
    TENGINE_RETURN_IF_ERROR(make_multipliers(context, &real, 1, &multiplier));
    ByteFunction function = describe(context);
    function.b.factor = multiplier.factor;
    function.shift = multiplier.shift;
    return combine_bytes(context, function, HWY_DYNAMIC_DISPATCH(multiply));
}

constexpr Kernel rows[] = {
    {"com.microsoft.QLinearAdd", "qlinear_add.simd", nullptr, run_add, nullptr, 0, nullptr,
     Layout::kAny},
    {"com.microsoft.QLinearMul", "qlinear_mul.simd", nullptr, run_mul, nullptr, 0, nullptr,
     Layout::kAny},
};

// output[i] = (the sum of a and b) / 2^shift.
template <class Sum>
void combine_exactly(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count,
                     uint8_t* output, const Sum& sum)
{
    const auto centre = [](const ByteInput& input, ByteOperand operand, int64_t i) {
        return (operand.data[operand.advances ? i : 0] ^ input.flip) - input.zero;
    };
    const Requantizer requantize(TENGINE_DT_UINT8, function.zero);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t exact = sum(centre(function.a, a, i), centre(function.b, b, i));
        output[i] = requantize.saturate(round_ir_shift(exact, function.shift)) ^ function.flip;
    }
}

}  // namespace

void add_exactly(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count,
                 uint8_t* output)
{
    combine_exactly(function, a, b, count, output, [&](int left, int right) {
        return left * function.a.factor + right * function.b.factor;
    });
}

void multiply_exactly(const ByteFunction& function, ByteOperand a, ByteOperand b, int64_t count,
                      uint8_t* output)
{
    combine_exactly(function, a, b, count, output,
                    [&](int left, int right) { return left * right * function.b.factor; });
}

extern const KernelTable qlinear_binary_kernels;
const KernelTable qlinear_binary_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// Functions of two bytes, and those of rows with a value for each column. Included once for each
// instruction set.
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/vector/requantization.h"

#ifndef TENGINE_CPU_BYTE_PAIR
#define TENGINE_CPU_BYTE_PAIR
namespace tengine::cpu {

struct Int8Input
{
    uint8_t flip;  // of all elements
    int16_t zero;  // of flipped elements
    int64_t factor;
};

// The exact sum is a.factor * a + b.factor * b, or b.factor * a * b, by 2^-shift.
struct Int8Function
{
    Int8Input a, b;
    int shift;
    uint8_t flip;  // of the results
    int16_t zero;
    ir_rounding_t rounding;  // of products
};

// The factor of products.
inline float find_scale(const Int8Function& function)
{
    return round_multiplier({static_cast<int32_t>(function.b.factor), function.shift});
}

// An operand of a run, which advances by an element or stays.
struct Int8Operand
{
    const uint8_t* data;
    bool advances;
};

// Elements `begin` to before `end` of rows that are multiplied by one of `columns` elements.
struct Int8Rows
{
    const uint8_t* a;
    const uint8_t* b;
    // Those of the columns, then again as many as a vector has, and more. Products that are rounded
    // as floats have the elements without their scale.
    const float* scales;
    int64_t columns, begin, end;
    uint8_t* output;
};

// Columns that are repeated after the last.
constexpr int64_t kMoreScales = 64;

// Below this shift high and low halves of a sum are not shifted by the same amount. Not inline,
// since code for other instruction sets calls them.
constexpr int kLeastShift = 17;
void add_exactly(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count,
                 uint8_t* output);
void multiply_exactly(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count,
                      uint8_t* output);

}  // namespace tengine::cpu
#endif

// clang-format off
#if defined(TENGINE_CPU_ROW_PRODUCT) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_ROW_PRODUCT
#undef TENGINE_CPU_ROW_PRODUCT
#else
#define TENGINE_CPU_ROW_PRODUCT
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/requantize-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Computes a vector of elements of Int8Rows at a time.
class RowProduct
{
  public:
    HWY_INLINE RowProduct(const Int8Function& function, const Int8Rows& rows)
        : function_(function),
          rows_(rows),
          scaling_({function.zero - function.flip, -function.flip, UINT8_MAX - function.flip}),
          offset_(scaling_.find_offset(kTieBits)),
          zero_(hn::Set(typename L::Integers(), function.a.zero)),
          factor_(hn::Set(typename L::Reals(), find_scale(function))),
          flip_(hn::Set(Quarter(), function.a.flip))
    {
    }

    // A vector of elements, the first of which is in this column; may be in place.
    HWY_INLINE void multiply(const uint8_t* a, int64_t column, uint8_t* output) const
    {
        const typename L::Pairs d;
        const typename L::Bytes bytes;
        IntegerVector fraction = scaling_.no_fraction();
        const auto low =
            demote_words(d, multiply(a, column, 0, &fraction), multiply(a, column, 1, &fraction));
        const auto high =
            demote_words(d, multiply(a, column, 2, &fraction), multiply(a, column, 3, &fraction));
        const auto packed = put_in_order<L>(scaling_.pack(low, high));
        if (HWY_UNLIKELY(scaling_.is_tie(fraction, kTieBits)))
            store_mended(packed, a, column, output);
        else
            hn::StoreU(packed, bytes, output);
    }
    // Reads and writes `count` elements only.
    HWY_INLINE void multiply_first(const uint8_t* a, int64_t column, int64_t count,
                                   uint8_t* output) const
    {
        uint8_t rest[L::kWidth] = {};
        std::memcpy(rest, a, static_cast<size_t>(count));
        multiply(rest, column, rest);
        std::memcpy(output, rest, static_cast<size_t>(count));
    }

    static constexpr int64_t width() { return L::kWidth; }

  private:
    using L = Lanes<HWY_MAX_BYTES>;
    using IntegerVector = typename L::IntegerVector;
    using Quarter = hn::Rebind<uint8_t, typename L::Integers>;
    static constexpr int64_t kLanes = L::kWidth / 4;
    // Scales are rounded twice.
    static constexpr int32_t kTieBits = 2;

    HWY_INLINE IntegerVector multiply(const uint8_t* a, int64_t column, int64_t quarter,
                                      IntegerVector* fraction) const
    {
        const typename L::Reals d;
        const auto bytes = hn::Xor(hn::LoadU(Quarter(), a + quarter * kLanes), flip_);
        const auto x =
            hn::ConvertTo(d, hn::Sub(hn::PromoteTo(typename L::Integers(), bytes), zero_));
        const auto scales = hn::LoadU(d, rows_.scales + column + quarter * kLanes);
        if (HWY_LIKELY(function_.rounding == IR_ROUNDING_NEAREST))
            return scaling_.round(hn::MulAdd(x, scales, scaling_.zero), offset_, fraction);
        return scaling_.round_product(hn::Mul(hn::Mul(x, scales), factor_));
    }

    HWY_NOINLINE void store_mended(typename L::ByteVector packed, const uint8_t* a, int64_t column,
                                   uint8_t* output) const
    {
        HWY_ALIGN int32_t fractions[kLanes];
        HWY_ALIGN uint8_t bytes[L::kWidth];
        hn::Store(packed, typename L::Bytes(), bytes);
        for (int64_t i = 0; i < L::kWidth; i += kLanes) {
            IntegerVector fraction = scaling_.no_fraction();
            multiply(a, column, i / kLanes, &fraction);
            hn::Store(fraction, typename L::Integers(), fractions);
            for (int64_t j = i; j < i + kLanes; ++j)
                if (fractions[j - i] <= 2 * kTieBits)
                    multiply_exactly(function_, {a + j, true},
                                     {rows_.b + (column + j) % rows_.columns, true}, 1, bytes + j);
        }
        std::memcpy(output, bytes, sizeof bytes);
    }

    const Int8Function& function_;
    const Int8Rows& rows_;
    Int8Scaling<L> scaling_;
    IntegerVector offset_, zero_;
    typename L::RealVector factor_;  // of products that are rounded as floats
    hn::Vec<Quarter> flip_;
};

void multiply_rows(const Int8Function& function, const Int8Rows& rows)
{
    constexpr int64_t kWidth = RowProduct::width();
    static_assert(kWidth <= kMoreScales);
    const RowProduct product(function, rows);
    int64_t column = rows.begin % rows.columns, i = rows.begin;
    const int64_t step = kWidth % rows.columns;
    for (; i + kWidth <= rows.end; i += kWidth) {
        product.multiply(rows.a + i, column, rows.output + i);
        column += step;
        if (column >= rows.columns) column -= rows.columns;
    }
    if (i < rows.end) product.multiply_first(rows.a + i, column, rows.end - i, rows.output + i);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
#endif  // TENGINE_CPU_ROW_PRODUCT

// SPDX-License-Identifier: Apache-2.0
// The epilogue of the tiles of pixels_s8_impl.cc whose results are int8: accumulators are
// requantised, added to another tensor where the convolution does a QLinearAdd, and replaced by
// entries of a table. They are taken as one row, whatever the panel's width is, so that all vectors
// are full; the bytes lie in the L1 cache until they go to the rows of the output. Included once
// for each instruction set.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/product/panel_s8.h"

// clang-format off
#if defined(TENGINE_CPU_BYTE_STORE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_BYTE_STORE
#undef TENGINE_CPU_BYTE_STORE
#else
#define TENGINE_CPU_BYTE_STORE
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/product/table_s8-inl.h"
#include "device/cpu/kernel/vector/requantize-inl.h"
#include "device/cpu/shared/rounding.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMostTileRows = 16, kMostTileColumns = 64;
constexpr int64_t kMostTileSums = kMostTileRows * kMostTileColumns;

// Copies both ends of a row of `count` bytes, which may overlap.
template <int kBytes>
HWY_INLINE void copy_ends(const uint8_t* from, int64_t count, uint8_t* to)
{
    std::memcpy(to, from, kBytes);
    std::memcpy(to + count - kBytes, from + count - kBytes, kBytes);
}

// Rows of `count` bytes, 1 to 64.
HWY_INLINE void copy_byte_rows(const uint8_t* from, int64_t from_step, int64_t rows, int64_t count,
                               uint8_t* to, int64_t to_step)
{
    for (int64_t row = 0; row < rows; ++row, from += from_step, to += to_step) {
        if (count > 32)
            copy_ends<32>(from, count, to);
        else if (count == 32)
            std::memcpy(to, from, 32);
        else if (count == 16)
            std::memcpy(to, from, 16);
        else if (count > 16)
            copy_ends<16>(from, count, to);
        else if (count >= 8)
            copy_ends<8>(from, count, to);
        else if (count >= 4)
            copy_ends<4>(from, count, to);
        else
            for (int64_t i = 0; i < count; ++i)
                to[i] = from[i];
    }
}

#if HWY_TARGET != HWY_SCALAR

// A Int8Addition of vectors.
template <class L>
struct AdditionScaling
{
    using IntegerVector = typename L::IntegerVector;

    HWY_INLINE explicit AdditionScaling(const Int8Addition& addition)
        : a_scale_(hn::Set(typename L::Reals(), addition.a_scale)),
          b_scale_(hn::Set(typename L::Reals(), addition.b_scale)),
          zero_(hn::Set(typename L::Reals(), addition.offset)),
          offset_(Int8Scaling<L>::find_offset(addition.tie_bits)),
          flip_(hn::Set(Bytes(), addition.flip))
    {
    }

    // Adds numbers that are to be packed; so is the result.
    HWY_INLINE IntegerVector operator()(const Int8Scaling<L>& scaling, IntegerVector first,
                                        const uint8_t* second, IntegerVector* fraction) const
    {
        const typename L::Integers d;
        const typename L::Reals reals;
        const IntegerVector x = hn::Min(hn::Max(first, hn::Zero(d)), hn::Set(d, UINT8_MAX));
        const IntegerVector y = hn::PromoteTo(d, hn::Xor(hn::LoadU(Bytes(), second), flip_));
        const auto sum = hn::MulAdd(hn::ConvertTo(reals, y), b_scale_, zero_);
        return scaling.round(hn::MulAdd(hn::ConvertTo(reals, x), a_scale_, sum), offset_, fraction);
    }

  private:
    using Bytes = hn::Rebind<uint8_t, typename L::Integers>;

    typename L::RealVector a_scale_, b_scale_, zero_;
    IntegerVector offset_;
    hn::Vec<Bytes> flip_;
};

#endif

// The results of a panel: some rows of its width from each tile. Widths are powers of two.
class TileBytes
{
  public:
    HWY_INLINE TileBytes(const Int8Pixels& conv, const Int8Panel& panel, const Int8Run& run)
        : conv_(conv),
          panel_(panel),
          run_(run)
#if HWY_TARGET != HWY_SCALAR
          ,
          period_(std::max<int64_t>(panel.width, L::kWidth)),
          scaling_(conv.range)
    {
        for (int64_t i = 0; i < period_; i += panel.width)
            std::memcpy(scales_ + i, panel.scales(),
                        static_cast<size_t>(panel.width) * sizeof(float));
    }
#else
    {
    }
#endif

    // The first `columns` of each row, to the element `at` of the output and those below it. Sums
    // behind the last may change.
    HWY_INLINE void store(int32_t* sums, int64_t rows, int64_t columns, int64_t at) const
    {
        HWY_ALIGN uint8_t bytes[kMostTileSums];
        const int64_t step = conv_.output_step, width = panel_.width;
        if (run_.addend) {
            HWY_ALIGN uint8_t others[kMostTileSums];
            fill_gaps(rows, columns, others);
            copy_byte_rows(run_.addend + at, step, rows, columns, others, width);
            requantize<true>(sums, others, rows, bytes);
        } else {
            requantize<false>(sums, nullptr, rows, bytes);
        }
        if (run_.table) look_up(rows, bytes);
        copy_byte_rows(bytes, width, rows, columns, static_cast<uint8_t*>(run_.output) + at, step);
    }

  private:
    // Zeros where no bytes of rows will be: vectors are whole. Most tiles have no such places.
    HWY_INLINE void fill_gaps(int64_t rows, int64_t columns, uint8_t* bytes) const
    {
        if (columns < panel_.width || rows * panel_.width % HWY_MAX_BYTES != 0)
            std::fill_n(bytes, kMostTileSums, uint8_t{0});
    }

    // The byte of the column where this place of the row is.
    HWY_INLINE uint8_t make_exactly(int32_t sum, int64_t place, const uint8_t* others) const
    {
        uint8_t byte;
        requantize_exactly(conv_.range, &sum, panel_.multipliers() + (place & (panel_.width - 1)),
                           1, &byte);
        if (!others) return byte;
        const Int8Addition& addition = conv_.addition;
        const uint8_t flip = addition.flip;
        return add_bytes_exactly(addition, byte ^ flip, others[place] ^ flip) ^ flip;
    }

#if HWY_TARGET == HWY_SCALAR
    template <bool kAdds>
    void requantize(const int32_t* sums, const uint8_t* others, int64_t rows, uint8_t* bytes) const
    {
        for (int64_t i = 0; i < rows * panel_.width; ++i)
            bytes[i] = make_exactly(sums[i], i, others);
    }
    void look_up(int64_t rows, uint8_t* bytes) const
    {
        for (int64_t i = 0; i < rows * panel_.width; ++i)
            bytes[i] = run_.table[bytes[i]];
    }
#else
    using L = Lanes<HWY_MAX_BYTES>;
    static constexpr int kLanes = L::kWidth / 4;

    // The least of the fractions of accumulators, and of those of additions.
    struct Fractions
    {
        typename L::IntegerVector sum, addition;
    };

    // A vector of numbers that are to be packed, at this place of the row.
    template <bool kAdds>
    HWY_INLINE typename L::IntegerVector make(const AdditionScaling<L>& addition,
                                              const int32_t* sums, const uint8_t* others,
                                              int64_t place, Fractions* fractions) const
    {
        const auto values = scaling_(
            hn::LoadU(typename L::Integers(), sums + place),
            hn::LoadU(typename L::Reals(), scales_ + (place & (period_ - 1))), &fractions->sum);
        if constexpr (!kAdds) return values;
        return addition(scaling_, values, others + place, &fractions->addition);
    }

    template <bool kAdds>
    HWY_INLINE bool is_tie(const Fractions& fractions) const
    {
        return scaling_.is_tie(fractions.sum) ||
               (kAdds && scaling_.is_tie(fractions.addition, conv_.addition.tie_bits));
    }

    template <bool kAdds>
    HWY_INLINE void requantize(int32_t* sums, const uint8_t* others, int64_t rows,
                               uint8_t* bytes) const
    {
        const typename L::Pairs d;
        const AdditionScaling<L> addition(conv_.addition);
        const int64_t count = rows * panel_.width, whole = round_up(count, L::kWidth);
        std::fill(sums + count, sums + whole, 0);
        for (int64_t i = 0; i < whole; i += L::kWidth) {
            Fractions fractions = {scaling_.no_fraction(), scaling_.no_fraction()};
            const auto first = make<kAdds>(addition, sums, others, i, &fractions);
            const auto second = make<kAdds>(addition, sums, others, i + kLanes, &fractions);
            const auto low = demote_words(d, first, second);
            const auto third = make<kAdds>(addition, sums, others, i + 2 * kLanes, &fractions);
            const auto fourth = make<kAdds>(addition, sums, others, i + 3 * kLanes, &fractions);
            const auto high = demote_words(d, third, fourth);
            hn::StoreU(put_in_order<L>(scaling_.pack(low, high)), typename L::Bytes(), bytes + i);
            if (HWY_UNLIKELY(is_tie<kAdds>(fractions))) mend_ties<kAdds>(sums, others, i, bytes);
        }
    }

    // Recomputes those of a vector of bytes at this place that may lie on the other side of the
    // middle between two integers.
    template <bool kAdds>
    HWY_NOINLINE void mend_ties(const int32_t* sums, const uint8_t* others, int64_t place,
                                uint8_t* bytes) const
    {
        const AdditionScaling<L> addition(conv_.addition);
        HWY_ALIGN int32_t lanes[2][kLanes];
        for (int64_t i = place; i < place + L::kWidth; i += kLanes) {
            Fractions fractions = {scaling_.no_fraction(), scaling_.no_fraction()};
            make<kAdds>(addition, sums, others, i, &fractions);
            if (!is_tie<kAdds>(fractions)) continue;
            hn::Store(fractions.sum, typename L::Integers(), lanes[0]);
            hn::Store(fractions.addition, typename L::Integers(), lanes[1]);
            for (int64_t j = 0; j < kLanes; ++j)
                if (lanes[0][j] <= 2 * scaling_.kTieBits ||
                    (kAdds && lanes[1][j] <= 2 * conv_.addition.tie_bits))
                    bytes[i + j] = make_exactly(sums[i + j], i + j, others);
        }
    }

    HWY_INLINE void look_up(int64_t rows, uint8_t* bytes) const
    {
        const typename L::Bytes d;
        const Int8Table table(run_.table);
        const int64_t whole = round_up(rows * panel_.width, L::kWidth);
        for (int64_t i = 0; i < whole; i += L::kWidth)
            hn::StoreU(table(d, hn::LoadU(d, bytes + i)), d, bytes + i);
    }
#endif

    const Int8Pixels& conv_;
    const Int8Panel& panel_;
    const Int8Run& run_;
#if HWY_TARGET != HWY_SCALAR
    int64_t period_;  // after which columns come again in the row
    Int8Scaling<L> scaling_;
    HWY_ALIGN float scales_[kMostTileColumns];
#endif
};

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_BYTE_STORE
